//! A ring of packets in memory that two processes share: one pushes, one pops.
//!
//! The heads count bytes and never wrap. A record is its length, a packet and its payload, padded to eight bytes, in one piece; where
//! the rest of the ring is too short for it a mark says so. SYNC POINTs: `push` publishes by `head` (release) what `pop` reads (acquire);
//! `pop` gives room back by `tail` likewise. `asleep` goes with a full fence on both sides: the popper sets it and looks
//! once more, the pusher pushes and looks at it, so at least one of them sees the other.
//!
//! Beside the packets the pusher may ask for a sign of life: it raises `asked` (release, behind its packets), and the popper sets `served` to what it
//! has read (acquire) once it has taken all that was there then, and its answers lie in the ring the other way (release). A pusher that has read `served`
//! (acquire) and takes what lies there has every answer.

use crate::packet::{PAYLOAD, Packet};
use crate::sys;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

const DATA: usize = 1 << 18;
const START: usize = 4096;
const WHOLE: usize = START + DATA;
/// In place of a length: go on at the beginning.
const SKIP: u32 = u32::MAX;

#[repr(C)]
struct Head {
    head: AtomicU64,
    _a: [u64; 7],
    tail: AtomicU64,
    _b: [u64; 7],
    asleep: AtomicU32,
    _c: [u32; 15],
    asked: AtomicU64,
    _d: [u64; 7],
    served: AtomicU64,
}

pub struct Ring {
    base: *mut u8,
}

// SAFETY: shared memory, used by the protocol above.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

impl Ring {
    /// A new ring, and what its other end maps.
    pub fn make() -> io::Result<(Ring, OwnedFd)> {
        let fd = sys::memory(WHOLE)?;
        Ok((Ring { base: sys::map(&fd, WHOLE)? }, fd))
    }

    pub fn of(fd: &OwnedFd) -> io::Result<Ring> {
        Ok(Ring { base: sys::map(fd, WHOLE)? })
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping begins with it; atomics alone.
        unsafe { &*self.base.cast::<Head>() }
    }

    fn at(&self, position: u64) -> *mut u8 {
        // SAFETY: inside of the data.
        unsafe { self.base.add(START + position as usize % DATA) }
    }

    /// Pushes a packet whose payload `fill` writes; `Ok(false)`: no room. `fill`'s failure leaves the ring as it was.
    pub fn push<E>(&self, packet: &Packet, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<bool, E> {
        let need = (8 + Packet::BYTES + packet.len as usize).next_multiple_of(8) as u64;
        let h = self.head();
        let mut at = h.head.load(Ordering::Relaxed);
        let rest = DATA as u64 - at % DATA as u64;
        let skip = if rest < need { rest } else { 0 };
        if at + skip + need - h.tail.load(Ordering::Acquire) > DATA as u64 {
            return Ok(false);
        }
        // SAFETY: between head and tail is ours; records are in one piece, and `rest` is at least eight.
        unsafe {
            if skip > 0 {
                self.at(at).cast::<u32>().write(SKIP);
                at += skip;
            }
            let place = self.at(at);
            fill(core::slice::from_raw_parts_mut(place.add(8 + Packet::BYTES), packet.len as usize))?;
            place.add(8).cast::<Packet>().write(*packet);
            place.cast::<u32>().write(packet.len);
        }
        h.head.store(at + need, Ordering::Release);
        Ok(true)
    }

    /// Hands the next packet to `take`. `None`: there is none. `Some(false)`: what is there is none of ours.
    pub fn pop(&self, take: impl FnOnce(&Packet, &[u8])) -> Option<bool> {
        let h = self.head();
        let mut at = h.tail.load(Ordering::Relaxed);
        let head = h.head.load(Ordering::Acquire);
        if at == head {
            return None;
        }
        // SAFETY: between tail and head is ours to read; nothing is believed that would lead out of the data.
        unsafe {
            if self.at(at).cast::<u32>().read() == SKIP {
                at += DATA as u64 - at % DATA as u64;
            }
            let len = self.at(at).cast::<u32>().read() as usize;
            let need = (8 + Packet::BYTES + len).next_multiple_of(8);
            if len > PAYLOAD || at + need as u64 > head || at as usize % DATA + need > DATA {
                return Some(false);
            }
            let packet = self.at(at).add(8).cast::<Packet>().read();
            if packet.len as usize != len {
                return Some(false);
            }
            take(&packet, core::slice::from_raw_parts(self.at(at).add(8 + Packet::BYTES), len));
            h.tail.store(at + need as u64, Ordering::Release);
        }
        Some(true)
    }

    /// Position behind the last packet that has been pushed.
    pub fn end(&self) -> u64 {
        self.head().head.load(Ordering::Acquire)
    }
    /// The popper has taken what lies before a position.
    pub fn is_past(&self, position: u64) -> bool {
        self.head().tail.load(Ordering::Acquire) >= position
    }
    pub fn has_more(&self) -> bool {
        let h = self.head();
        h.tail.load(Ordering::Relaxed) != h.head.load(Ordering::Acquire)
    }

    /// The pusher asks: its question's number, which `served` reaches.
    pub fn ask(&self) -> u64 {
        // SYNC POINT with `asked`.
        self.head().asked.fetch_add(1, Ordering::Release) + 1
    }
    pub fn served(&self) -> u64 {
        // SYNC POINT with `serve`.
        self.head().served.load(Ordering::Acquire)
    }
    /// The popper reads the last question.
    pub fn asked(&self) -> u64 {
        // SYNC POINT with `ask`.
        self.head().asked.load(Ordering::Acquire)
    }
    /// The popper has taken everything that preceded this question, and has answered it.
    pub fn serve(&self, question: u64) {
        // SYNC POINT with `served`.
        self.head().served.store(question, Ordering::Release);
    }

    /// The popper says whether it sleeps.
    pub fn sleep(&self, asleep: bool) {
        self.head().asleep.store(asleep.into(), Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }
    /// Behind pushes: whether the popper has to be woken; says so once.
    pub fn must_wake(&self) -> bool {
        fence(Ordering::SeqCst);
        let asleep = &self.head().asleep;
        asleep.load(Ordering::SeqCst) != 0 && asleep.swap(0, Ordering::SeqCst) != 0
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our mapping, used no more.
        unsafe { sys::unmap(self.base, WHOLE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_as_they_went() {
        let (near, fd) = Ring::make().expect("memory");
        let far = Ring::of(&fd).expect("the same");
        let (mut sent, mut got) = (0u64, 0u64);
        while got < 5000 {
            let len = (sent * 37 % 4097) as u32;
            let packet = Packet { a: sent, len, ..Packet::default() };
            let pushed = near.push(&packet, |p| {
                p.fill(sent as u8);
                Ok::<(), ()>(())
            });
            if pushed == Ok(true) {
                sent += 1;
                continue;
            }
            for _ in 0..=(sent % 7) {
                far.pop(|p, bytes| {
                    assert_eq!((p.a, bytes.len()), (got, (got * 37 % 4097) as usize));
                    assert!(bytes.iter().all(|b| *b == got as u8));
                    got += 1;
                });
            }
        }
    }

    /// One pushes while the other pops, and each sleeps by the flag: nothing is lost, and nobody sleeps on.
    #[test]
    fn two_threads_lose_nothing() {
        const COUNT: u64 = 50_000;
        let (near, fd) = Ring::make().expect("memory");
        let far = Ring::of(&fd).expect("the same");
        let popper = std::thread::spawn(move || {
            let mut got = 0;
            while got < COUNT {
                let one = far.pop(|p, bytes| {
                    assert_eq!(p.a, got);
                    assert!(bytes.iter().all(|b| *b == got as u8));
                    got += 1;
                });
                if one.is_none() {
                    far.sleep(true);
                    if far.has_more() {
                        far.sleep(false);
                        continue;
                    }
                    // Woken by the pusher alone.
                    std::thread::park();
                }
            }
        });
        let mut sent = 0;
        while sent < COUNT {
            let packet = Packet { a: sent, len: (sent % 129) as u32, ..Packet::default() };
            let fill = |p: &mut [u8]| {
                p.fill(sent as u8);
                Ok::<(), ()>(())
            };
            if near.push(&packet, fill) == Ok(true) {
                sent += 1;
            } else {
                std::thread::yield_now();
            }
            if near.must_wake() {
                popper.thread().unpark();
            }
        }
        popper.join().expect("it got everything");
    }

    #[test]
    fn what_cannot_be_read_leaves_the_ring_alone() {
        let (ring, _) = Ring::make().expect("memory");
        let packet = Packet { len: 8, ..Packet::default() };
        assert_eq!(ring.push(&packet, |_| Err("no")), Err("no"));
        assert!(!ring.has_more() && ring.pop(|_, _| ()).is_none());
    }
}
