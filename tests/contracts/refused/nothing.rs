//! Does what the other programs do, in order: the compiler takes it.

use oxmpi_btl::{Arrival, BtlHandle, Completion, Endpoint, Entered, SendDesc};
use oxmpi_mca::{Completion as Word, Entry, Host, MsgStatus, PerCri, Status};
use oxmpi_pml::simple::Open;
use oxmpi_waiting::{Layer, Waiter};

/// # Safety
/// As for [`BtlHandle::send`].
pub unsafe fn send(host: &Host, entry: &mut Entry, btl: &BtlHandle, to: *mut Endpoint, desc: &SendDesc) {
    // SAFETY: the caller's promise.
    unsafe { btl.send(&mut host.hold(entry, 0), to, desc) };
}

pub fn hand_up(host: &Host, at: &mut Entered<'_, Vec<u8>>, arrival: Arrival<'_>) {
    at[0] = 1;
    at.deliver(host, arrival);
    at[0] = 2;
}

pub fn add(host: &Host, entry: &mut Entry, counts: &PerCri<u64>) {
    for ctx in 0..2 {
        *counts.get(&mut host.hold(entry, ctx)) += 1;
    }
}

pub fn wait<L: Layer>(layer: &L, host: &Host, entry: &mut Entry, word: &Word, counts: &PerCri<u64>) {
    *counts.get(&mut host.hold(entry, 0)) += 1;
    Waiter::new(layer, entry).wait(word);
    *counts.get(&mut host.hold(entry, 0)) += 1;
}

pub fn end(open: Open) {
    open.complete(MsgStatus::EMPTY);
}

pub fn tell(at: &mut Entered<'_, Vec<u8>>, completion: Completion) {
    at.complete(completion, Status::OK);
}

fn main() {}
