//! Memory that proxies reach: MPI_Alloc_mem always takes it from the shared heap, and where OXMPI_EP_MALLOC_MIN is set, the
//! C library's allocation functions do for blocks of that many bytes and more.

use super::{heap, state};
use crate::abi::*;
use crate::pmpi;

mpi! {
    fn MPI_Alloc_mem(size: isize, info: Info, baseptr: *mut c_void) {
        if state::client().is_none_or(|c| c.proxies.is_empty()) || size < 0 {
            return pmpi::MPI_Alloc_mem(size, info, baseptr);
        }
        let block = heap::allocate((size as usize).max(1), 4096);
        if block.is_null() {
            return pmpi::MPI_Alloc_mem(size, info, baseptr);
        }
        *baseptr.cast::<*mut u8>() = block;
        SUCCESS
    }
}

mpi! {
    fn MPI_Free_mem(base: *mut c_void) {
        if !heap::holds(base.cast(), 1) {
            return pmpi::MPI_Free_mem(base);
        }
        heap::free(base.cast());
        SUCCESS
    }
}

/// The C library's functions. None of them allocates before it has decided, so they may be called from anywhere.
#[cfg(not(test))]
mod hooks {
    use super::heap;
    use core::ffi::{c_int, c_void};
    use core::sync::atomic::{AtomicUsize, Ordering};

    unsafe extern "C" {
        fn __libc_malloc(size: usize) -> *mut c_void;
        fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
        fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
        fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
        fn __libc_free(block: *mut c_void);
    }

    /// Smaller blocks are the C library's, whatever the variable says: making the segment needs some.
    const LEAST: usize = 4096;
    /// 0: not read yet.
    static LIMIT: AtomicUsize = AtomicUsize::new(0);

    #[inline]
    fn ours(size: usize) -> bool {
        let limit = match LIMIT.load(Ordering::Relaxed) {
            0 => read(),
            limit => limit,
        };
        size >= limit
    }

    /// By hand: nothing here may allocate. A value that is no number is complained about in MPI_Init.
    #[cold]
    fn read() -> usize {
        let mut limit = usize::MAX;
        // SAFETY: a string of the environment, read up to its end.
        unsafe {
            let mut text = libc::getenv(c"OXMPI_EP_MALLOC_MIN".as_ptr());
            if !text.is_null() && *text != 0 {
                let mut value = 0usize;
                while *text != 0 {
                    let digit = (*text as u8).wrapping_sub(b'0');
                    if digit > 9 {
                        value = usize::MAX;
                        break;
                    }
                    value = value.saturating_mul(10).saturating_add(digit.into());
                    text = text.add(1);
                }
                limit = value.max(LEAST);
            }
        }
        LIMIT.store(limit, Ordering::Relaxed);
        limit
    }

    // SAFETY: these take the place of the C library's functions and keep their contracts; blocks of the heap are told from
    // others by their address.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
        if ours(size) {
            let block = heap::allocate(size, 16);
            if !block.is_null() {
                return block.cast();
            }
        }
        // SAFETY: the same arguments.
        unsafe { __libc_malloc(size) }
    }

    // SAFETY: as above.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
        if let Some(bytes) = count.checked_mul(size)
            && ours(bytes)
        {
            let block = heap::allocate(bytes, 16);
            if !block.is_null() {
                // SAFETY: a fresh block of that length.
                unsafe { block.write_bytes(0, bytes) };
                return block.cast();
            }
        }
        // SAFETY: the same arguments.
        unsafe { __libc_calloc(count, size) }
    }

    // SAFETY: as above.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn free(block: *mut c_void) {
        // SAFETY: the caller's block, of whichever allocator.
        unsafe { if heap::holds(block.cast(), 1) { heap::free(block.cast()) } else { __libc_free(block) } }
    }

    // SAFETY: as above.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
        if !heap::holds(block.cast(), 1) {
            // SAFETY: the same arguments.
            return unsafe { __libc_realloc(block, size) };
        }
        // SAFETY: a block of the heap, copied into a new one of either kind.
        unsafe {
            if size == 0 {
                heap::free(block.cast());
                return core::ptr::null_mut();
            }
            let new = malloc(size);
            if !new.is_null() {
                let length = heap::size(block.cast()).min(size);
                core::ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), length);
                heap::free(block.cast());
            }
            new
        }
    }

    // SAFETY: as above.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
        if ours(size) && align.is_power_of_two() {
            let block = heap::allocate(size, align);
            if !block.is_null() {
                return block.cast();
            }
        }
        // SAFETY: the same arguments.
        unsafe { __libc_memalign(align, size) }
    }

    // SAFETY: as above.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
        // SAFETY: the same arguments.
        unsafe { memalign(align, size) }
    }

    // SAFETY: as above.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, align: usize, size: usize) -> c_int {
        if !align.is_power_of_two() || align < size_of::<usize>() {
            return libc::EINVAL;
        }
        // SAFETY: the caller's place for the result.
        unsafe {
            let block = memalign(align, size);
            if block.is_null() {
                return libc::ENOMEM;
            }
            *to = block;
        }
        0
    }

    // SAFETY: as above.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // SAFETY: a block of the heap, or one of the C library's, whose function is asked.
        unsafe {
            if heap::holds(block.cast(), 1) {
                return heap::size(block.cast());
            }
            if NEXT.load(Ordering::Relaxed) == 0 {
                let next = libc::dlsym(libc::RTLD_NEXT, c"malloc_usable_size".as_ptr());
                NEXT.store(next as usize, Ordering::Relaxed);
            }
            match NEXT.load(Ordering::Relaxed) {
                0 => 0,
                next => {
                    let next: unsafe extern "C" fn(*mut c_void) -> usize = core::mem::transmute(next);
                    next(block)
                }
            }
        }
    }
}
