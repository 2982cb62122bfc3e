//! The sending side: lanes to peers.
//!
//! A *lane* is the sender's end of one ring: one per peer and context, owned by the module, because a
//! peer may have several endpoints (each `add_procs` gives one) and all of them use the same ring. An
//! *endpoint* is no more than a pointer to its peer's lanes.
//!
//! A lane is touched only inside verbs of its context, which the caller serialises; that is the whole
//! of its safety. It is unconnected at first: its ring has no room, so the first message meets the slow
//! path, which makes the ring (or finds one from an earlier life of this rank) and tells the peer where
//! it lies. The peer need not exist yet: directory and ready bits wait for it.

use crate::doorbell::{self, light_barrier};
use crate::module::Shm;
use crate::ready::InboxMem;
use crate::ring::{Mapped, Producer, RingMem, Room};
use crate::segment::Inbox;
use crate::sys::{self, Mapping, Shortage};
use crate::wire::{Control, Place, slot};
use core::cell::UnsafeCell;
use oxmpi_btl::Message;
use oxmpi_mca::Status;
use oxmpi_mca::sync::Ordering;

/// The sender's end of a ring.
#[repr(align(64))]
pub struct Lane {
    producer: Producer<Mapped>,
    /// The notification word that says the receiver needs nothing more; no such word for a lane
    /// without ring.
    quiet: u32,
    // --- what follows is for the slow path ---
    peer: u32,
    inbox: Inbox,
    ring: Option<Mapping>,
    /// A place that was given to us while there was no memory for it.
    place: Option<Place>,
}

/// A lane as the module holds it.
#[repr(transparent)]
pub struct LaneCell(UnsafeCell<Lane>);

// SAFETY: touched only inside verbs of the lane's context, which the caller serialises.
unsafe impl Sync for LaneCell {}
// SAFETY: pointers in it are to shared memory, which belongs to no thread.
unsafe impl Send for LaneCell {}

/// A peer, as the layer above holds it.
pub struct Endpoint {
    pub peer: u32,
    /// The peer's lanes, one per context; alive as long as the module.
    pub lanes: *const LaneCell,
}

// SAFETY: see `LaneCell`.
unsafe impl Send for Endpoint {}
// SAFETY: as above.
unsafe impl Sync for Endpoint {}

impl LaneCell {
    pub fn new(peer: u32, inbox: Inbox) -> LaneCell {
        LaneCell(UnsafeCell::new(Lane {
            producer: Producer::detached(Mapped::NONE),
            quiet: u32::MAX,
            peer,
            inbox,
            ring: None,
            place: None,
        }))
    }

    /// # Safety
    /// Inside a verb of the lane's context, and not twice at once.
    #[expect(clippy::mut_from_ref, reason = "that is what a cell under the caller's serialisation is")]
    #[inline(always)]
    pub unsafe fn get(&self) -> &mut Lane {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.0.get() }
    }
}

/// Copies up to 32 bytes without a call; longer ones with one.
///
/// # Safety
/// As `copy_nonoverlapping`.
#[inline(always)]
unsafe fn copy(src: *const u8, dst: *mut u8, len: usize) {
    // Two moves that may overlap cover every length between one and two words. Larger messages go to
    // the C library, which picks its instructions by processor; stores that bypass the cache would
    // belong here, too.
    macro_rules! ends {
        ($word:ty) => {{
            let last = len - size_of::<$word>();
            // SAFETY: both moves lie within `len` bytes; the words are unaligned.
            unsafe {
                let (a, b) =
                    (src.cast::<$word>().read_unaligned(), src.add(last).cast::<$word>().read_unaligned());
                dst.cast::<$word>().write_unaligned(a);
                dst.add(last).cast::<$word>().write_unaligned(b);
            }
        }};
    }
    match len {
        0 => {}
        8..=16 => ends!(u64),
        17..=32 => ends!(u128),
        4..=7 => ends!(u32),
        2..=3 => ends!(u16),
        // SAFETY: the caller's promise.
        1 => unsafe { *dst = *src },
        // SAFETY: the caller's promise.
        _ => unsafe { core::ptr::copy_nonoverlapping(src, dst, len) },
    }
}

/// Writes header and payload.
///
/// # Safety
/// `dst` must be writable for the message's length.
#[inline(always)]
unsafe fn write(msg: &Message<'_>, dst: *mut u8) {
    let desc = msg.desc();
    let header = desc.hdr_len as usize;
    // SAFETY: the descriptor is valid for the call, and `dst` has room for both parts.
    unsafe {
        copy(desc.hdr, dst, header);
        match desc.pack {
            None => copy(desc.payload, dst.add(header), desc.len as usize),
            Some(pack) => pack(desc.pack_ctx, 0, dst.add(header), desc.len),
        }
    }
}

impl Shm {
    /// The verb. One cache line for a message of up to 56 bytes, no read-modify-write to a receiver
    /// that watches the ring.
    #[inline(always)]
    pub(crate) fn send_on(&self, endpoint: &Endpoint, ctx: u32, msg: &Message<'_>) -> Status {
        if ctx >= self.contexts() {
            return Status::BAD_PARAM;
        }
        // SAFETY: the module has a lane per peer and context, and this is a verb of that context.
        let lane = unsafe { (*endpoint.lanes.add(ctx as usize)).get() };
        let len = msg.total_len() as u64;
        let size = slot(len);
        if !lane.producer.has_room(size) || len > self.max_send_size() {
            let status = self.make_way(lane, ctx, len);
            if status != Status::OK {
                return status;
            }
        }
        // SAFETY: room for `size` bytes at the tail, of which `len` are behind the control word.
        unsafe { write(msg, lane.producer.mem().payload(lane.producer.tail())) };
        lane.producer.publish(size, Control::message(len, msg.tag()));
        light_barrier();
        // SYNC POINT with `doorbell::unwatch` and `arm`.
        if lane.producer.mem().notification().load(Ordering::Relaxed) != lane.quiet {
            self.tell(lane);
        }
        Status::OK
    }

    /// Tells a receiver that does not watch the ring.
    #[cold]
    #[inline(never)]
    fn tell(&self, lane: &Lane) {
        if doorbell::notify(lane.producer.mem().notification(), &lane.inbox, self.local_rank()) {
            sys::wake(core::ptr::from_ref(lane.inbox.bell()).cast());
        }
    }

    /// Everything that can stand between a message and its place in the ring. OK: go on.
    #[cold]
    #[inline(never)]
    fn make_way(&self, lane: &mut Lane, ctx: u32, len: u64) -> Status {
        if len > self.max_send_size() {
            return Status::BAD_PARAM;
        }
        if lane.ring.is_none() {
            let status = self.connect(lane, ctx);
            if status != Status::OK {
                return status;
            }
        }
        match lane.producer.make_room(slot(len)) {
            Room::Free => Status::OK,
            Room::Full => {
                // Filler may have been published, and a sleeping receiver would never free its space.
                self.tell(lane);
                Status::NO_RESOURCE
            }
            Room::Garbage(head) => {
                self.peer_broke(
                    lane.peer,
                    &format!("says it has read {head:#x} bytes, which were never sent"),
                );
                Status::PEER_FAILED
            }
        }
    }

    /// Gives the lane its ring: the one of an earlier life, or a new one.
    fn connect(&self, lane: &mut Lane, ctx: u32) -> Status {
        let (segment, me) = (self.segment(), self.local_rank());
        if segment.identity(lane.peer).is_some_and(|peer| ctx >= peer.contexts) {
            // It has fewer contexts than we; nobody would read there.
            return Status::NOT_SUPPORTED;
        }
        let (place, ring) = match segment.find_ring(lane.peer, ctx, me) {
            Ok(Some(place)) => match segment.map(place) {
                Ok(ring) => (place, ring),
                Err(errno) => return self.no_memory(place.len(), Shortage::Refused(errno)),
            },
            Ok(None) => match self.new_ring(lane) {
                Ok(made) => made,
                Err((bytes, why)) => return self.no_memory(bytes, why),
            },
            Err(word) => {
                self.peer_broke(lane.peer, &format!("has {word:#x} where our own ring's place should be"));
                return Status::PEER_FAILED;
            }
        };
        // SAFETY: the ring is mapped as long as the lane keeps `ring`, which is as long as the producer.
        let mem = unsafe { Mapped::new(ring.base(), place.log2) };
        let Some(producer) = Producer::adopt(mem) else {
            self.peer_broke(lane.peer, "left the ring to it in a state that no sender can go on from");
            return Status::PEER_FAILED;
        };
        lane.producer = producer;
        lane.quiet = self.barriers().quiet();
        lane.ring = Some(ring);
        segment.publish_ring(lane.peer, ctx, me, place);
        Status::OK
    }

    /// Makes a ring: of the usual size, or where memory is short the smallest that will do.
    fn new_ring(&self, lane: &mut Lane) -> Result<(Place, Mapping), (u64, Shortage)> {
        let mut shortage = None;
        for log2 in [self.ring_log2(), self.min_ring_log2()] {
            // The place of an earlier attempt serves a ring of its size and every smaller one.
            let place = match lane.place {
                Some(place) if place.log2 >= log2 => Place { offset: place.offset, log2 },
                _ => match self.segment().place_ring(log2) {
                    Some(place) => *lane.place.insert(place),
                    None => {
                        return Err((Place::len_for(log2), Shortage::Refused(rustix::io::Errno::OVERFLOW)));
                    }
                },
            };
            match self.segment().map_new(place) {
                Ok(ring) => return Ok((place, ring)),
                Err(why) => shortage = Some((place.len(), why)),
            }
        }
        Err(shortage.unwrap_or((0, Shortage::Refused(rustix::io::Errno::NOMEM))))
    }

    fn no_memory(&self, bytes: u64, why: Shortage) -> Status {
        self.report_shortage("ring-no-memory", bytes, &why.to_string());
        Status::OUT_OF_MEMORY
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::copy;

    #[test]
    fn copies_exactly_what_it_is_told() {
        let src: Vec<u8> = (1..=200).collect();
        for len in 0..=160 {
            let mut dst = vec![0u8; 200];
            // SAFETY: both have more than `len` bytes.
            unsafe { copy(src.as_ptr(), dst.as_mut_ptr(), len) };
            assert_eq!(dst[..len], src[..len]);
            assert!(dst[len..].iter().all(|&b| b == 0), "{len}");
        }
    }
}
