//! Swap layer for atomics: the standard library's in every real build, loom's under `--cfg loom`, and under
//! `--cfg oxmpi_annotated` ones that tell valgrind's helgrind and DRD what they order.
//! Protocol code names atomics through this module alone, so that the model checker sees all of it.

#[cfg(oxmpi_annotated)]
mod annotated;

/// For what is not modelled: the standard library's under loom, too.
pub mod unmodelled {
    #[cfg(oxmpi_annotated)]
    pub use super::annotated::{
        AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    };
    #[cfg(not(oxmpi_annotated))]
    pub use core::sync::atomic::{
        AtomicBool, AtomicI32, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    };
}

#[cfg(oxmpi_annotated)]
pub use annotated::{
    AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};
#[cfg(not(any(loom, oxmpi_annotated)))]
pub use core::sync::atomic::{
    AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence, fence,
};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

/// Plain memory whose accesses an atomic orders: under loom one that is read or written without such an order is found.
#[cfg(not(loom))]
pub use core::cell::Cell;
#[cfg(loom)]
pub use loom::cell::Cell;

/// loom does not model compiler fences; under it the caller's protocol states a full fence instead.
#[cfg(loom)]
pub fn compiler_fence(order: Ordering) {
    fence(order)
}

/// Runs a sequentially consistent fence. x86-64's own instruction for one also orders stores that bypass caches, of which there are none here, and takes longer than an
/// atomic operation on the thread's own stack, which orders all other accesses in the same way: 46 ns and 7 ns on an AMD EPYC of 2023.
#[inline(always)]
pub fn full_fence() {
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri, oxmpi_annotated))))]
    // SAFETY: an `or` with 0 changes nothing, and so near below its top the stack is there. Without `nomem` the compiler moves no access across it.
    unsafe {
        core::arch::asm!("lock or dword ptr [rsp - 64], 0", options(nostack));
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri, oxmpi_annotated)))))]
    fence(Ordering::SeqCst);
}

/// One turn of a spin loop.
#[inline(always)]
pub fn spin_hint() {
    #[cfg(not(loom))]
    core::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Gives the core away: the holder of what we wait for may need it.
pub fn yield_now() {
    #[cfg(not(loom))]
    std::thread::yield_now();
    #[cfg(loom)]
    loom::thread::yield_now();
}
