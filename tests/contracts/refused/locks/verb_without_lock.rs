//! A transport's verb with the number of a context instead of the proof of holding its lock.

use oxmpi_btl::{BtlHandle, Endpoint, SendDesc};

/// # Safety
/// As for [`BtlHandle::send`].
pub unsafe fn send(ctx: u32, btl: &BtlHandle, to: *mut Endpoint, desc: &SendDesc) {
    // SAFETY: the caller's promise.
    unsafe { btl.send(ctx, to, desc) };
}

fn main() {}
