//! Memory that the ranks of a communicator share (MPI 5.0 §12.2.3): one segment without a name, in which each rank has a
//! part. Rank 0 makes it and hands its descriptor to the others; every rank makes the pages of its own part exist, so that
//! a lack of memory is an error here and not a signal later, and pages lie near those who asked for them. It is
//! gone with the last process that has it.
//!
//! All ranks learn whether all have it. So they succeed or fail together.

use crate::coll::Slot;
use crate::communicator::Communicator;
use crate::error::{Error, ErrorKind};
use crate::wireup::handing::{self, Handing, TICKET};
use oxmpi_coll::CollArgs;
use oxmpi_mca::ThreadCtx;
use oxmpi_mca::sync::unmodelled::{AtomicBool, Ordering};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::process::{Resource, getrlimit};
use std::ffi::c_void;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::null_mut;

/// What one rank asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    pub bytes: u64,
    /// Told to all, not looked at.
    pub disp_unit: i64,
    /// Parts may lie apart, each on pages of its own. Rank 0's word counts.
    pub apart: bool,
}

/// A rank's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub offset: u64,
    pub bytes: u64,
    pub disp_unit: i64,
}

/// The segment as one process sees it; unmapped when dropped.
#[derive(Debug)]
pub struct SharedMemory {
    base: *mut c_void,
    len: usize,
    parts: Box<[Part]>,
}

// SAFETY: a mapping belongs to the process, not to a thread; what is in it is the user's.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Where a rank's part begins, here.
    pub fn at(&self, part: &Part) -> *mut u8 {
        self.base.cast::<u8>().wrapping_add(part.offset as usize)
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: mapped in `map`, dropped once; who has pointers into it after that broke MPI's rules.
            let _ = unsafe { munmap(self.base, self.len) };
        }
    }
}

/// On the wire: bytes, unit, node, apart; little-endian words.
const WORDS: usize = 4;

/// Where the parts lie, and the length of all. Without gaps, or each on pages of its own.
fn places(wishes: &[Wish], page: u64) -> Option<(Box<[Part]>, u64)> {
    let apart = wishes.first().is_some_and(|w| w.apart);
    let mut end = 0u64;
    let mut parts = Vec::with_capacity(wishes.len());
    for wish in wishes {
        parts.push(Part { offset: end, bytes: wish.bytes, disp_unit: wish.disp_unit });
        end = end.checked_add(wish.bytes)?;
        if apart {
            end = end.checked_next_multiple_of(page)?;
        }
    }
    usize::try_from(end).ok().filter(|end| isize::try_from(*end).is_ok())?;
    Some((parts.into(), end))
}

/// Makes the pages of a range exist. Growing a file beyond the limit on file sizes would be a signal.
fn reserve(memory: &OwnedFd, offset: u64, bytes: u64) -> Result<(), String> {
    if bytes == 0 {
        return Ok(());
    }
    loop {
        match fallocate(memory, FallocateFlags::empty(), offset, bytes) {
            Err(rustix::io::Errno::INTR) => {}
            other => return other.map_err(|why| format!("there are no {bytes} bytes: {why}")),
        }
    }
}

/// What the node's memory still has. The kernel sets a segment without a name no limit: it would kill processes to give
/// what is asked for.
fn left() -> Option<u64> {
    available(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available(meminfo: &str) -> Option<u64> {
    let of = |name: &str| {
        let value = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    };
    of("MemAvailable")?.checked_add(of("SwapFree").unwrap_or(0))
}

fn make(len: u64) -> Result<OwnedFd, String> {
    if let Some(limit) = getrlimit(Resource::Fsize).current
        && len > limit
    {
        return Err(format!("the limit on file sizes is {limit} bytes (ulimit -f), {len} are asked for"));
    }
    if let Some(left) = left()
        && len > left
    {
        return Err(format!("the node has {left} bytes left, {len} are asked for"));
    }
    let memory = memfd_create("oxmpi-window", MemfdFlags::CLOEXEC).map_err(|why| why.to_string())?;
    ftruncate(&memory, len).map_err(|why| why.to_string())?;
    Ok(memory)
}

/// A new segment, once to map and once to hand out. What fails here fails before the others wait for a ticket.
fn given_out(len: u64) -> Result<(OwnedFd, OwnedFd, Handing), String> {
    let memory = make(len)?;
    let descriptor = memory.try_clone().map_err(|why| why.to_string())?;
    let handing = Handing::new().map_err(|why| why.message)?;
    Ok((memory, descriptor, handing))
}

fn map(memory: &OwnedFd, len: u64, parts: Box<[Part]>) -> Result<SharedMemory, String> {
    let len = usize::try_from(len).map_err(|why| why.to_string())?;
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
    let base =
        unsafe { mmap(null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, memory, 0) };
    base.map(|base| SharedMemory { base, len, parts })
        .map_err(|why| format!("{len} bytes cannot be mapped: {why}"))
}

impl Communicator {
    /// Called by all ranks, which must be on one node. Zeroed memory.
    pub fn share_memory(&self, thread: *mut ThreadCtx, wish: Wish) -> Result<SharedMemory, Error> {
        let node = u64::from(self.instance().job().node);
        let words = [wish.bytes, wish.disp_unit as u64, node, wish.apart.into()];
        let all = self.tell_all(thread, &words.map(u64::to_le))?;
        let word = |rank: usize, at: usize| u64::from_le(all[rank * WORDS + at]);
        let ranks = 0..self.size() as usize;
        if let Some(far) = ranks.clone().find(|rank| word(*rank, 2) != node) {
            let message =
                format!("rank {far} of the communicator is on another node; memory cannot be shared with it");
            return Err(Error::new(ErrorKind::RmaShared, message));
        }
        let wishes: Vec<Wish> = ranks
            .map(|r| Wish { bytes: word(r, 0), disp_unit: word(r, 1) as i64, apart: word(r, 3) != 0 })
            .collect();
        let Some((parts, len)) = places(&wishes, crate::system::page_size() as u64) else {
            return Err(Error::new(
                ErrorKind::NoMem,
                "the ranks ask for more memory than there are addresses",
            ));
        };
        if len == 0 {
            return Ok(SharedMemory { base: null_mut(), len: 0, parts });
        }
        self.segment(thread, parts, len)
    }

    fn segment(&self, thread: *mut ThreadCtx, parts: Box<[Part]>, len: u64) -> Result<SharedMemory, Error> {
        let own = parts[self.rank() as usize];
        let taken = |memory: Result<OwnedFd, String>| {
            let memory = memory?;
            reserve(&memory, own.offset, own.bytes)?;
            map(&memory, len, parts)
        };
        if self.rank() != 0 {
            let ticket = self.ticket(thread, None)?;
            let memory = match &ticket {
                Some(ticket) => handing::take(ticket).map_err(|why| why.message),
                None => Err("rank 0 could not make it".to_string()),
            };
            return self.agreed(thread, taken(memory));
        }
        let (memory, descriptor, handing) = match given_out(len) {
            Ok(made) => made,
            Err(why) => {
                self.ticket(thread, Some(None))?;
                return self.agreed(thread, Err(why));
            }
        };
        let (others, stop) = (self.size() as usize - 1, AtomicBool::new(false));
        std::thread::scope(|scope| {
            // The thread makes system calls alone; messages go on meanwhile, and tell when nobody comes any more.
            let server = (others > 0).then(|| {
                let serve = || handing.serve(descriptor.as_fd(), others, &stop);
                std::thread::Builder::new().name("oxmpi-handing".into()).spawn_scoped(scope, serve)
            });
            let hands = !matches!(server, Some(Err(_)));
            let told = self.ticket(thread, Some(hands.then(|| handing.ticket())));
            let memory = if hands { Ok(memory) } else { Err("no thread could be started".to_string()) };
            let outcome = told.and_then(|_| self.agreed(thread, taken(memory)));
            stop.store(true, Ordering::Relaxed);
            outcome
        })
    }

    /// Rank 0's ticket (`own`, if it has one) to all.
    fn ticket(
        &self,
        thread: *mut ThreadCtx,
        own: Option<Option<[u8; TICKET]>>,
    ) -> Result<Option<[u8; TICKET]>, Error> {
        let byte = self.instance().byte_type();
        let mut packet = [0u8; 1 + TICKET];
        if let Some(Some(ticket)) = own {
            packet[0] = 1;
            packet[1..].copy_from_slice(&ticket);
        }
        let args = CollArgs {
            sendbuf: packet.as_ptr(),
            sendcount: packet.len() as u64,
            sendtype: byte,
            recvbuf: packet.as_mut_ptr(),
            recvcount: packet.len() as u64,
            recvtype: byte,
            ..CollArgs::NONE
        };
        crate::agreement::did(self.coll.run(Slot::Bcast, self, thread, &args))?;
        let [has, ticket @ ..] = packet;
        Ok((has != 0).then_some(ticket))
    }

    /// Our outcome, if it is everybody's.
    fn agreed(
        &self,
        thread: *mut ThreadCtx,
        own: Result<SharedMemory, String>,
    ) -> Result<SharedMemory, Error> {
        let missing = self.first_without(thread, own.is_ok())?;
        match (own, missing) {
            (Ok(memory), None) => Ok(memory),
            (Err(why), _) => Err(Error::new(ErrorKind::NoMem, format!("shared memory: {why}"))),
            (Ok(_), Some(rank)) => Err(Error::new(
                ErrorKind::NoMem,
                format!("shared memory: rank {rank} of the communicator has none"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(bytes: u64, apart: bool) -> Wish {
        Wish { bytes, disp_unit: 1, apart }
    }

    #[test]
    fn parts_lie_side_by_side_or_on_pages_of_their_own() {
        let offsets = |wishes: &[Wish]| {
            places(wishes, 4096).map(|(parts, end)| (parts.iter().map(|p| p.offset).collect::<Vec<_>>(), end))
        };
        let close = [wish(10, false), wish(0, false), wish(7, true)];
        assert_eq!(offsets(&close), Some((vec![0, 10, 10], 17)));
        let apart = [wish(10, true), wish(0, true), wish(4097, false), wish(1, true)];
        assert_eq!(offsets(&apart), Some((vec![0, 4096, 4096, 12288], 16384)));
        assert_eq!(offsets(&[wish(u64::MAX, false), wish(2, false)]), None);
        assert_eq!(offsets(&[wish(1 << 63, false)]), None);
    }

    #[test]
    fn more_than_the_node_has_is_refused() {
        let meminfo = "MemTotal:       100 kB\nMemAvailable:    10 kB\nSwapFree:  3 kB\n";
        assert_eq!(available(meminfo), Some(13 << 10));
        assert_eq!(available("MemAvailable: many"), None);
        assert!(left().is_some());
        assert!(make(1 << 60).is_err());
    }

    #[test]
    fn two_mappings_of_a_segment_are_one_memory() {
        let memory = make(5000).unwrap();
        reserve(&memory, 0, 5000).unwrap();
        let parts: Box<[Part]> = [Part { offset: 100, bytes: 10, disp_unit: 1 }].into();
        let one = map(&memory, 5000, parts.clone()).unwrap();
        let other = map(&memory, 5000, parts).unwrap();
        let at = |m: &SharedMemory| m.at(&m.parts()[0]);
        // SAFETY: inside both mappings; one thread.
        unsafe {
            at(&one).write_volatile(77);
            assert_eq!(at(&other).read_volatile(), 77);
        }
    }
}
