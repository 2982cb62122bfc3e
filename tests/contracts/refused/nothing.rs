//! Does what the other programs do, in order: the compiler takes it.

use oxmpi_btl::{Arrival, BtlHandle, Completion, Endpoint, Entered, SendDesc};
use oxmpi_mca::{CriGuard, Host, Status};

/// # Safety
/// As for [`BtlHandle::send`].
pub unsafe fn send(held: &CriGuard<'_>, btl: &BtlHandle, to: *mut Endpoint, desc: &SendDesc) {
    // SAFETY: the caller's promise.
    unsafe { btl.send(held, to, desc) };
}

pub fn hand_up(host: &Host, at: &mut Entered<'_, Vec<u8>>, arrival: Arrival<'_>) {
    at[0] = 1;
    at.deliver(host, arrival);
    at[0] = 2;
}

pub fn tell(at: &mut Entered<'_, Vec<u8>>, completion: Completion) {
    at.complete(completion, Status::OK);
}

fn main() {}
