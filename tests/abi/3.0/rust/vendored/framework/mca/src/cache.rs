//! Hints to the processor's caches. They change nothing that a program can see.

/// Asks for the cache line of address `at`, which will be written soon: no other processor has it then. There need not be memory. A
/// processor without the instruction does nothing.
#[inline(always)]
pub fn fetch_to_write(at: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch faults on no address, and reads and writes nothing that a program can see.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) at, options(nostack, preserves_flags));
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) at, options(nostack, preserves_flags));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = at;
}
