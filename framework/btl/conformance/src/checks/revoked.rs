//! Memory whose registration has ended.

use crate::harness::{Harness, Link};
use crate::rma::{
    Buffer, Completion, Memory, Transfer, Verb, block, flush_alone, movers, offer, update, wait_for,
};
use crate::setup::Setup;
use oxmpi_btl::{AtomicDesc, amo, cap};
use oxmpi_mca::Status;

crate::check!(Memory: revoked_memory_is_not_reached);

/// The first failure that the verb, its completion or the flush behind it tells; OK if there is none.
pub fn outcome(h: &Harness, link: Link, t: Transfer<'_>) -> Status {
    let c = Completion::new(h, link.from, 0);
    let mut status = offer(h, link.from, 0, || t.start(h, link, 0, &c));
    if status == Status::PENDING {
        wait_for(h, link.from, 0, [&*c]);
        status = c.status();
    }
    if status.is_ok() && t.verb == Verb::Put && h.ranks[link.from].can(cap::FLUSH) {
        status = flush_alone(h, link, 0);
    }
    status
}

/// Peers with an old handle get an error and reach nothing, even where the same memory or the same place in the device's
/// table is registered anew.
fn revoked_memory_is_not_reached(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::REGISTER) {
        return;
    }
    let (link, len) = (h.link(), block(&h));
    for again in [false, true] {
        for verb in movers(&h) {
            let (mut near, mut far) = (Buffer::new(len, 1), Buffer::new(len, 2));
            let local = Memory::of(&h, link.from, near.bytes());
            let remote = Memory::of(&h, link.to, far.bytes());
            let t = Transfer { verb, local: (&local, 0), remote: (&remote, 0), len };
            assert_eq!(outcome(&h, link, t), Status::OK, "{}: {verb:?} while it is registered", h.name);
            near.bytes().fill(1);
            far.bytes().fill(2);
            remote.revoke(&h);
            let newer = again.then(|| Memory::of(&h, link.to, far.bytes()));
            let status = outcome(&h, link, t);
            assert!(status.is_err(), "{}: {verb:?} with a revoked handle (again {again}): {status}", h.name);
            assert_eq!(far.seen(0, len), vec![2; len], "{}: {verb:?} changed revoked memory", h.name);
            assert_eq!(near.seen(0, len), vec![1; len], "{}: {verb:?} read revoked memory", h.name);
            newer.into_iter().for_each(|m| m.release(&h));
            local.release(&h);
        }
        atomic(&h, link);
    }
}

fn atomic(h: &Harness, link: Link) {
    if !h.ranks[link.from].can(cap::ATOMIC) {
        return;
    }
    let mut far = Buffer::new(8, 0);
    let remote = Memory::of(h, link.to, far.bytes());
    remote.revoke(h);
    let desc = AtomicDesc {
        result: core::ptr::null_mut(),
        local_handle: core::ptr::null(),
        remote: remote.addr as u64,
        remote_handle: core::ptr::null(),
        op: amo::SWAP,
        flags: 0,
        operand: 99,
        compare: 0,
        done: None,
        done_ctx: core::ptr::null_mut(),
    };
    let mut status = update(h, link, &remote, desc);
    if status.is_ok() {
        status = flush_alone(h, link, 0);
    }
    assert!(status.is_err(), "{}: an atomic with a revoked handle: {status}", h.name);
    assert_eq!(far.seen(0, 8), vec![0; 8], "{}: an atomic changed revoked memory", h.name);
}
