//! A transport's verb without the lock of its context.

use oxmpi_btl::{BtlHandle, Endpoint, SendDesc};
use oxmpi_mca::Entry;

/// # Safety
/// As for [`BtlHandle::send`].
pub unsafe fn send(entry: &mut Entry, btl: &BtlHandle, to: *mut Endpoint, desc: &SendDesc) {
    // SAFETY: the caller's promise.
    unsafe { btl.send(entry, to, desc) };
}

fn main() {}
