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

use core::alloc::Layout;
use core::ptr::{NonNull, null_mut};
use oxmpi_mca::Status;
use oxmpi_mca::sync::Ordering;
use oxmpi_mca::sync::unmodelled::AtomicPtr;
use std::alloc::{alloc, dealloc};

/// A cache line; enough for any C type.
pub const ALIGN: usize = 64;
const SMALLEST: usize = 4096;

pub struct Scratch {
    kept: AtomicPtr<Memory>,
    limit: usize,
}

/// Says whether several threads may be in MPI at this moment.
pub trait Threads: Copy {
    fn several(self) -> bool;
}

impl Threads for &oxmpi_mca::Host {
    fn several(self) -> bool {
        self.threaded()
    }
}

struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns what it points to.
unsafe impl Send for Memory {}

impl Memory {
    fn new(len: usize) -> Option<Memory> {
        let size = len.max(SMALLEST).checked_next_power_of_two()?;
        let layout = Layout::from_size_align(size, ALIGN).ok()?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        Some(Memory { start, layout })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

impl Scratch {
    pub fn new(limit: usize) -> Scratch {
        Scratch { kept: AtomicPtr::new(null_mut()), limit }
    }

    /// Memory of at least `len` bytes, not initialised.
    pub fn lease<T: Threads>(&self, len: usize, threads: T) -> Result<Lease<'_, T>, Status> {
        let mut memory = self.take(threads.several());
        if memory.as_ref().is_none_or(|m| m.layout.size() < len) {
            // Before the larger one is made, so that both are never there.
            drop(memory.take());
            memory = Memory::new(len).map(Box::new);
        }
        match memory {
            Some(memory) => {
                Ok(Lease { start: memory.start.as_ptr(), from: Some((self, threads)), memory: Some(memory) })
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
        if memory.layout.size() > self.limit.max(SMALLEST) {
            return;
        }
        let memory = match self.take(threaded) {
            Some(other) if other.layout.size() > memory.layout.size() => other,
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
    start: *mut u8,
    /// Where it goes back to; a plan's memory is the plan's.
    from: Option<(&'a Scratch, T)>,
    memory: Option<Box<Memory>>,
}

impl Lease<'static> {
    /// Memory of a plan, which lives as long as that.
    pub fn of_plan(start: *mut u8) -> Lease<'static> {
        Lease { start, from: None, memory: None }
    }
}

impl<T: Threads> Lease<'_, T> {
    /// Address of byte `offset`, which must be inside what was asked for.
    pub fn at(&self, offset: u64) -> *mut u8 {
        self.start.wrapping_add(offset as usize)
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
        assert_ne!(first.at(0), second.at(0));
        drop(second);
        drop(first);
        assert!(!scratch.kept.load(Ordering::Relaxed).is_null());
    }

    #[test]
    fn memory_is_used_again() {
        for threaded in [false, true] {
            let scratch = Scratch::new(1 << 20);
            let first = scratch.lease(100, threaded).unwrap().at(0);
            assert_eq!(scratch.lease(4096, threaded).unwrap().at(0), first);
            let larger = scratch.lease(5000, threaded).unwrap().at(0);
            assert_eq!(scratch.lease(1, threaded).unwrap().at(0), larger, "the larger one is kept");
            assert!((larger as usize).is_multiple_of(ALIGN));
        }
    }

    #[test]
    fn two_leases_are_two_memories() {
        let scratch = Scratch::new(1 << 20);
        let a = scratch.lease(64, true).unwrap();
        let b = scratch.lease(64, true).unwrap();
        assert_ne!(a.at(0), b.at(0));
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
