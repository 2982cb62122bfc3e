//! Registration, where it is needed.

use crate::harness::Harness;
use crate::rma::Memory;
use crate::setup::Setup;
use oxmpi_btl::{HANDLE_LIMIT, access, cap};
use oxmpi_mca::MemKind;

crate::check!(Memory: registration);

/// Any piece of memory, often, and no memory of unknown kind.
fn registration(setup: &Setup) {
    let h = Harness::new(setup);
    let rank = &h.ranks[0];
    if !rank.can(cap::REGISTER) {
        return;
    }
    let btl = &rank.btl;
    let mut bytes = vec![0u8; 100_000];
    for i in 0..200usize {
        let (at, len) = (i * 37, 1 + i * 401);
        Memory::of(&h, 0, &mut bytes[at..at + len.min(90_000 - at)]).release(&h);
    }
    let mut handle = [0u64; HANDLE_LIMIT / 8];
    let (addr, handle) = (bytes.as_mut_ptr(), handle.as_mut_ptr().cast());
    // SAFETY: a place for the largest handle there may be.
    let status =
        unsafe { (btl.register_mem)(btl.state, addr, 100, access::REMOTE_READ, MemKind(999), handle) };
    assert!(status.is_err(), "{}: registered memory of an unknown kind", h.name);
}
