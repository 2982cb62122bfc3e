//! Entry points, by chapter of the interface. All return `gni_return_t`.
//!
//! Each is unsafe for one reason: pointers of a C program. Their targets belong to the program and are valid for the call; a pointer is
//! NULL only where a function permits it (else the result is INVALID_PARAM). Handles are numbers (`handles.rs`), so a wrong one is harmless.

pub mod cancellation;
pub mod datagrams;
pub mod domains;
pub mod endpoints;
pub mod memory;
pub mod names;
pub mod posts;
pub mod queues;
pub mod smsg;
pub mod unsupported;

/// Writes through a pointer of the program's. False: it is NULL.
///
/// # Safety
/// `to` is NULL or valid for a write.
unsafe fn give<T>(to: *mut T, value: T) -> bool {
    if to.is_null() {
        return false;
    }
    // SAFETY: the caller's promise.
    unsafe { to.write_unaligned(value) };
    true
}
