//! The temporary buffer of a communicator, kept from one collective to the next.
//!
//! **States.** Kept (the pointer is in `kept`) → leased (the pointer is null, a [`Lease`] owns the
//! memory) → kept. A collective that finds it leased gets memory of its own, and the larger of the
//! two is kept in the end. So no lock is held while a user's reduction function runs, and a program
//! that breaks MPI's rule of one collective at a time per communicator gets wrong answers but no
//! memory of somebody else.
//!
//! While the process has one thread in MPI, taking and giving back are a load and a store. A second one may come
//! between the two, so each looks anew ([`Threads`]).

use crate::data::{Place, Room, Span};
use crate::layout::ALIGN;
use core::ptr::null_mut;
use oxmpi_mca::Status;
use oxmpi_mca::sync::Ordering;
use oxmpi_mca::sync::unmodelled::AtomicPtr;

const SMALLEST: usize = 4096;

/// The buffer of one communicator.
pub struct Scratch {
    kept: AtomicPtr<Memory>,
    limit: usize,
}

/// Says whether several threads may be in MPI at this moment.
pub trait Threads: Copy {
    /// Whether they may.
    fn several(self) -> bool;
}

impl Threads for &oxmpi_mca::Host {
    fn several(self) -> bool {
        self.threaded()
    }
}

/// A cache line, of which memory consists.
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "it is reached by its address")] [u8; ALIGN]);

const _: () = assert!(size_of::<Line>() == ALIGN && align_of::<Line>() == ALIGN);

/// Room for lines, none of which is initialised.
struct Memory(Vec<Line>);

impl Memory {
    /// Memory of at least `len` bytes. `None`: there is not so much.
    fn new(len: usize) -> Option<Memory> {
        let size = len.max(SMALLEST).checked_next_power_of_two()?;
        let mut lines = Vec::new();
        lines.try_reserve_exact(size / ALIGN).ok()?;
        Some(Memory(lines))
    }

    /// Bytes of it.
    fn size(&self) -> usize {
        self.0.capacity() * ALIGN
    }

    /// Address of its first byte.
    fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl Scratch {
    /// Keeps no buffer of more than `limit` bytes.
    pub fn new(limit: usize) -> Scratch {
        Scratch { kept: AtomicPtr::new(null_mut()), limit }
    }

    /// Memory of at least `len` bytes, not initialised. OUT_OF_MEMORY: there is not so much.
    pub fn lease<T: Threads>(&self, len: usize, threads: T) -> Result<Lease<'_, T>, Status> {
        let mut memory = self.take(threads.several());
        if memory.as_ref().is_none_or(|m| m.size() < len) {
            // Before the larger one is made, so that both are never there.
            drop(memory.take());
            memory = Memory::new(len).map(Box::new);
        }
        match memory {
            Some(mut memory) => {
                // SAFETY: the memory is as large, and the lease owns it.
                let room = unsafe { Room::new(memory.start(), len as u64) };
                Ok(Lease { room, from: Some((self, threads)), memory: Some(memory) })
            }
            None => Err(Status::OUT_OF_MEMORY),
        }
    }

    fn take(&self, threaded: bool) -> Option<Box<Memory>> {
        let memory = if threaded {
            // SYNC POINT with `give`.
            self.kept.swap(null_mut(), Ordering::AcqRel)
        } else {
            let memory = self.kept.load(Ordering::Relaxed);
            self.kept.store(null_mut(), Ordering::Relaxed);
            memory
        };
        // SAFETY: what is kept came from `Box::into_raw` in `give`, and whoever takes it out owns it.
        (!memory.is_null()).then(|| unsafe { Box::from_raw(memory) })
    }

    fn give(&self, memory: Box<Memory>, threaded: bool) {
        if memory.size() > self.limit.max(SMALLEST) {
            return;
        }
        let memory = match self.take(threaded) {
            Some(other) if other.size() > memory.size() => other,
            _ => memory,
        };
        let memory = Box::into_raw(memory);
        if threaded {
            // SYNC POINT with `take`.
            let other = self.kept.swap(memory, Ordering::AcqRel);
            if !other.is_null() {
                // SAFETY: as in `take`.
                drop(unsafe { Box::from_raw(other) });
            }
        } else {
            self.kept.store(memory, Ordering::Relaxed);
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.take(true));
    }
}

/// Temporary memory until it is dropped.
pub struct Lease<'a, T: Threads = &'a oxmpi_mca::Host> {
    /// The memory, which is there as long as this.
    room: Room<'a>,
    /// Where it goes back to; a plan's memory is the plan's.
    from: Option<(&'a Scratch, T)>,
    memory: Option<Box<Memory>>,
}

impl<'a> Lease<'a> {
    /// Memory of a plan.
    pub fn of_plan(room: Room<'a>) -> Lease<'a> {
        Lease { room, from: None, memory: None }
    }
}

impl<T: Threads> Lease<'_, T> {
    /// All of it: as much as was asked for.
    pub fn room(&self) -> Room<'_> {
        self.room
    }
    /// Bytes `first..first + len`. Panics where not so many were asked for.
    pub fn bytes(&self, first: u64, len: u64) -> Place<'_> {
        self.room.bytes(first, len)
    }
    /// Elements whose span begins at byte `first`. Panics where not so much was asked for.
    pub fn elements<'s>(&'s self, first: u64, span: &Span<'s>) -> Place<'s> {
        self.room().elements(first, span)
    }
}

impl<T: Threads> Drop for Lease<'_, T> {
    fn drop(&mut self) {
        if let (Some(memory), Some((scratch, threads))) = (self.memory.take(), self.from) {
            scratch.give(memory, threads.several());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    impl Threads for bool {
        fn several(self) -> bool {
            self
        }
    }

    impl Threads for &Cell<bool> {
        fn several(self) -> bool {
            self.get()
        }
    }

    /// A reduction function of the user lets a second thread in.
    #[test]
    fn a_second_thread_comes_meanwhile() {
        let (scratch, threads) = (Scratch::new(1 << 20), Cell::new(false));
        let first = scratch.lease(100, &threads).unwrap();
        threads.set(true);
        let second = scratch.lease(100, &threads).unwrap();
        assert_ne!(first.bytes(0, 1).raw().0, second.bytes(0, 1).raw().0);
        drop(second);
        drop(first);
        assert!(!scratch.kept.load(Ordering::Relaxed).is_null());
    }

    #[test]
    fn memory_is_used_again() {
        for threaded in [false, true] {
            let scratch = Scratch::new(1 << 20);
            let first = scratch.lease(100, threaded).unwrap().bytes(0, 1).raw().0;
            assert_eq!(scratch.lease(4096, threaded).unwrap().bytes(0, 1).raw().0, first);
            let larger = scratch.lease(5000, threaded).unwrap().bytes(0, 1).raw().0;
            assert_eq!(
                scratch.lease(1, threaded).unwrap().bytes(0, 1).raw().0,
                larger,
                "the larger one is kept"
            );
            assert!((larger as usize).is_multiple_of(ALIGN));
        }
    }

    #[test]
    fn two_leases_are_two_memories() {
        let scratch = Scratch::new(1 << 20);
        let a = scratch.lease(64, true).unwrap();
        let b = scratch.lease(64, true).unwrap();
        assert_ne!(a.bytes(0, 1).raw().0, b.bytes(0, 1).raw().0);
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let scratch = Scratch::new(8192);
        drop(scratch.lease(8192, false).unwrap());
        assert!(!scratch.kept.load(Ordering::Relaxed).is_null());
        drop(scratch.lease(8193, false).unwrap());
        assert!(scratch.kept.load(Ordering::Relaxed).is_null());
        assert!(scratch.lease(usize::MAX / 2 + 2, false).is_err());
    }
}
