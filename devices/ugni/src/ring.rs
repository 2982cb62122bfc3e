//! Single-producer, single-consumer ring of records in shared memory.
//!
//! Head and tail count bytes and never wrap; a record is a length of four bytes and its bytes, which may continue at the beginning. SYNC
//! POINTs: the producer publishes by `head` (release), which the consumer acquires; the consumer gives room back by `tail` likewise.
//! `asleep` is set by a consumer before its last look and read by a producer after its push, with a full fence on both sides, so
//! that at least one sees the other; who sees it rings the socket beside the ring.

use crate::sys::SharedMemory;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Bytes of records.
const DATA: u64 = 1 << 18;
const START: usize = 4096;
const WHOLE: usize = START + DATA as usize;

#[repr(C)]
struct Head {
    head: AtomicU64,
    _apart: [u64; 15],
    tail: AtomicU64,
    _apart_too: [u64; 15],
    asleep: AtomicU32,
}

pub struct Ring {
    memory: SharedMemory,
}

impl Ring {
    /// A new ring, and the descriptor by which its other end maps it.
    pub fn make() -> io::Result<(Ring, OwnedFd)> {
        let (memory, fd) = SharedMemory::make(WHOLE)?;
        Ok((Ring { memory }, fd))
    }

    pub fn of(fd: &OwnedFd) -> io::Result<Ring> {
        Ok(Ring { memory: SharedMemory::of(fd, WHOLE)? })
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping begins with it, and it consists of atomics.
        unsafe { &*self.memory.base().cast::<Head>() }
    }

    /// Copies between the ring at `position` and `len` bytes elsewhere, in one or two pieces.
    fn pieces(&self, position: u64, len: usize, mut copy: impl FnMut(*mut u8, usize, usize)) {
        let at = (position % DATA) as usize;
        let first = len.min(DATA as usize - at);
        // SAFETY: `at + first` and `len - first` are within the data.
        unsafe {
            copy(self.memory.base().add(START + at), 0, first);
            copy(self.memory.base().add(START), first, len - first);
        }
    }

    fn put(&self, position: u64, bytes: &[u8]) {
        self.pieces(position, bytes.len(), |to, from, n| {
            // SAFETY: the place is the producer's; `bytes` has `from + n`.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr().add(from), to, n) }
        });
    }

    fn get(&self, position: u64, bytes: &mut [u8]) {
        self.pieces(position, bytes.len(), |from, to, n| {
            // SAFETY: the place is the consumer's; `bytes` has `to + n`.
            unsafe { core::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr().add(to), n) }
        });
    }

    /// Pushes a record of two parts. False: no room.
    pub fn push(&self, parts: [&[u8]; 2]) -> bool {
        let len = parts[0].len() + parts[1].len();
        let h = self.head();
        let head = h.head.load(Ordering::Relaxed);
        let used = head.wrapping_sub(h.tail.load(Ordering::Acquire));
        if used > DATA || used + 4 + len as u64 > DATA {
            return false;
        }
        self.put(head, &(len as u32).to_ne_bytes());
        self.put(head + 4, parts[0]);
        self.put(head + 4 + parts[0].len() as u64, parts[1]);
        h.head.store(head + 4 + len as u64, Ordering::Release);
        true
    }

    /// Pops the next record into `bytes`: its length. An error: what is there cannot be a record.
    pub fn pop(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        let h = self.head();
        let tail = h.tail.load(Ordering::Relaxed);
        let there = h.head.load(Ordering::Acquire).wrapping_sub(tail);
        if there == 0 {
            return Ok(None);
        }
        let mut len = [0; 4];
        self.get(tail, &mut len);
        let len = u32::from_ne_bytes(len) as usize;
        if there > DATA || there < 4 + len as u64 || len > bytes.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.get(tail + 4, &mut bytes[..len]);
        h.tail.store(tail + 4 + len as u64, Ordering::Release);
        Ok(Some(len))
    }

    pub fn is_empty(&self) -> bool {
        let h = self.head();
        h.head.load(Ordering::Acquire) == h.tail.load(Ordering::Relaxed)
    }

    /// Says whether the consumer sleeps; it looks once more afterwards.
    pub fn sleep(&self, asleep: bool) {
        self.head().asleep.store(asleep.into(), Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Whether the consumer must be woken for what was pushed; true once per sleep.
    pub fn must_wake(&self) -> bool {
        fence(Ordering::SeqCst);
        let asleep = &self.head().asleep;
        asleep.load(Ordering::SeqCst) != 0 && asleep.swap(0, Ordering::SeqCst) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of all lengths, with a consumer that sleeps by the flag and is woken by the producer alone.
    #[test]
    fn two_threads_lose_nothing() {
        const COUNT: u32 = 20_000;
        let (near, fd) = Ring::make().expect("memory");
        let far = Ring::of(&fd).expect("the same memory");
        let consumer = std::thread::spawn(move || {
            let mut bytes = vec![0; 20_000];
            let mut got = 0;
            while got < COUNT {
                match far.pop(&mut bytes).expect("a record") {
                    Some(len) => {
                        assert_eq!(len, 4 + got as usize * 37 % 16_000);
                        assert_eq!(bytes[..4], got.to_ne_bytes());
                        assert!(bytes[4..len].iter().all(|b| *b == got as u8));
                        got += 1;
                    }
                    None => {
                        far.sleep(true);
                        if far.is_empty() {
                            std::thread::park();
                        }
                        far.sleep(false);
                    }
                }
            }
        });
        for i in 0..COUNT {
            let body = vec![i as u8; i as usize * 37 % 16_000];
            while !near.push([&i.to_ne_bytes(), &body]) {
                std::thread::yield_now();
            }
            if near.must_wake() {
                consumer.thread().unpark();
            }
        }
        consumer.join().expect("everything arrived");
    }

    #[test]
    fn a_length_beyond_the_ring_is_an_error() {
        let (ring, _fd) = Ring::make().expect("memory");
        assert!(ring.push([&[1, 2, 3], &[]]));
        ring.put(0, &u32::MAX.to_ne_bytes());
        assert!(ring.pop(&mut [0; 64]).is_err());
    }
}
