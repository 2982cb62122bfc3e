//! Registrations of memory that outlive their operation, ended when the kernel says that the memory is gone.
//!
//! Registering memory with a device costs system calls and pins pages; programs send from the same buffers again and again.
//! `acquire` finds a registration that covers the pages asked for, or makes one; `release` leaves it where it is. A registration
//! names physical pages. When the program unmaps the address and maps it anew, other pages lie there and the device goes on with the
//! old ones: wrong data without an error. So everything here is about one question: is what was found still true?
//!
//! # How changes are told
//!
//! **userfaultfd** (`sys.rs`, `watch.rs`). Areas in which memory was registered are given to a userfaultfd descriptor in its
//! write-protect mode. No page is ever protected, so no fault is ever reported. Its events are used: the kernel tells of munmap, of
//! mmap over a mapping, of brk (UNMAP), of mremap (REMAP) and of madvise with DONTNEED, FREE or REMOVE (REMOVE), **and the thread that makes
//! the change waits in the kernel until the event has been read.**
//!
//! *Why not interception* of these functions, as other libraries do: the C library calls its own munmap and brk without a symbol that
//! could be interposed, so their code has to be overwritten in memory; raw system calls, static programs, language runtimes and sanitizers
//! go past it; and the hook runs inside of the allocator, under its locks. The kernel misses none of these.
//!
//! *Areas are given whole,* as the kernel has them at that moment ([`oxmpi_system::userfaultfd::Areas`]): giving it a part would split the area, and mremap
//! refuses a range of several areas, which the program could see.
//!
//! *Private anonymous memory only.* Pages of files and of shared memory can be replaced by truncation, by punching holes and by
//! other processes, and shmdt unmaps without an event. Such memory, and memory that another userfaultfd of the program's has, is registered
//! for each operation, as without a cache. Beyond what is told lies madvise with MADV_GUARD_INSTALL, which drops pages without an event: a
//! program that sends from memory, makes guard pages of it and sends from it again after taking them away has to switch the cache
//! off. Where there is no userfaultfd nothing is kept; `mpi_leave_pinned` 1 says so aloud.
//!
//! # Why an event is enough, and when
//!
//! Reading an event and acting on it are two steps, and before both the address may already be mapped anew:
//!
//! 1. The kernel raises a count of the descriptor (`mmap_changing`) before it takes pages away, under the lock of the address space.
//! 2. The range is free. Any thread may map it anew.
//! 3. The event can be read. Once it was, the changer returns and the count falls.
//! 4. The watcher marks the registrations in the range.
//!
//! A look-up asks for 1 to 3 by an ioctl that answers EAGAIN while the count is not 0 and fails without any effect otherwise
//! ([`watch::Watch::quiet`]), and for 3 to 4 by a number that is odd from before the watcher reads until it has marked ([`turns::Turns`]). It asks in this order: the
//! count falls only after the number is odd.
//!
//! *Proof.* Let a look-up be for memory that its caller has mapped, and let R be a registration for an earlier mapping of some of its
//! pages. The change that ended the earlier mapping raised the count (1) before the caller's mapping came to be, which was before the look-up.
//! If the ioctl found 0, the count has fallen, so the event was read (3), so the number was odd before that and the look-up
//! sees that or a later value. If it is even, the watcher has ended that turn, so R was marked before, and the
//! look-up, which acquires the number, sees the mark. Otherwise it does not use the cache.
//!
//! *Registering* has the same question the other way round: an event may be handled between looking at the memory and publishing the registration.
//! A publisher looks at the number again behind its store; either the watcher's look at the slots finds it, or the number has
//! changed and it marks its own (a store and a load on each side, with a fence between). Memory is given to the descriptor before it is registered.
//!
//! *madvise* is told before the pages go, so a registration made between its event and its end would be for pages about to vanish. A range
//! is registered exactly as asked for, in whole pages, never joined with others; so that takes a program which drops pages
//! of a buffer while it communicates from that buffer.
//!
//! # The watcher's thread
//!
//! A thread that unmaps waits for it, so **it waits for nobody: it takes no lock, allocates and frees nothing, and calls no device.** It marks; the
//! marked are taken back by the next thread that uses the cache. Its own stack is never watched. Nothing is watched any more before it ends.
//! A forked child closes the descriptor at once, for a descriptor that is open there would keep the parent's areas watched by nobody.
//!
//! # Objects
//!
//! A [`slots::Slot`] is a registration's state: empty → live → stale → empty, with the number of its users, and its life, which tells a slot that was
//! filled again from what a reader had seen. Slots are never freed. An index (`index.rs`) is a sorted list of ranges for each module and
//! kind of access, read under an epoch and replaced as a whole by writers. No range in it contains another, so ends rise with bases and
//! the ranges that cover a request are the last ones before its base.
//!
//! Registrations that let peers write are given to one user at a time, so that ending one reaches nobody else's.
//!
//! Limits: as many registrations as `rcache_base_max_entries`, bytes as `rcache_base_max_bytes`; those not used for the longest time go
//! first. A device that says that it has no room is given room in the same way.

mod cache;
mod index;
mod slots;
mod turns;
mod watch;

#[cfg(test)]
mod cache_tests;
#[cfg(all(test, loom))]
mod model;
#[cfg(test)]
mod watch_tests;

pub use cache::Counts;
pub use cache::{Cache, Device, Limits, Registered};
pub use watch::Watch;
