//! More operations at once than any device takes.

use crate::harness::{Harness, Link};
use crate::message::Msg;
use crate::rma::{Buffer, Completion, Memory, Transfer, Verb, block, flush_alone, movers, offer, wait_for};
use crate::setup::Setup;
use oxmpi_btl::cap;
use oxmpi_mca::Status;

crate::check!(OneSided: many_outstanding);

const OPERATIONS: usize = 700;

/// Hundreds of operations are issued before one is waited for; NO_RESOURCE ends by progress of their context; each completes
/// once, in any order, with its own bytes.
fn many_outstanding(setup: &Setup) {
    let h = Harness::new(setup);
    let verbs = movers(&h);
    for ctx in 0..h.ranks[0].contexts() {
        for &verb in &verbs {
            many(&h, h.link(), ctx, verb);
        }
    }
}

fn many(h: &Harness, link: Link, ctx: u32, verb: Verb) {
    let block = block(h);
    let data = Msg::new(ctx as u64 + 9, 0, OPERATIONS * block).bytes();
    let (mut near, mut far) = (Buffer::new(data.len(), 0xab), Buffer::new(data.len(), 0xab));
    (if verb == Verb::Get { &mut far } else { &mut near }).bytes().copy_from_slice(&data);
    let (local, remote) = (Memory::of(h, link.from, near.bytes()), Memory::of(h, link.to, far.bytes()));
    let all: Vec<Box<Completion>> = (0..OPERATIONS).map(|_| Completion::new(h, link.from, ctx)).collect();
    let mut pending = Vec::new();
    for (i, c) in all.iter().enumerate() {
        // Block i comes to where block n - 1 - i would lie, so that a mistaken place is seen.
        let there = (OPERATIONS - 1 - i) * block;
        let t = Transfer { verb, local: (&local, i * block), remote: (&remote, there), len: block };
        match offer(h, link.from, ctx, || t.start(h, link, ctx, c)) {
            Status::OK => {}
            Status::PENDING => pending.push(i),
            s => panic!("{}: {verb:?} number {i}: {s}", h.name),
        }
    }
    wait_for(h, link.from, ctx, pending.iter().map(|&i| &*all[i]));
    if verb == Verb::Put && h.ranks[link.from].can(cap::FLUSH) {
        assert_eq!(flush_alone(h, link, ctx), Status::OK, "{}: flush", h.name);
    }
    (0..10).for_each(|_| _ = h.ranks[link.from].progress(ctx));
    for (i, c) in all.iter().enumerate() {
        assert_eq!(c.calls(), pending.contains(&i) as u32, "{}: {verb:?} {i}: done runs once", h.name);
        assert_eq!(c.status(), Status::OK, "{}: {verb:?} {i}", h.name);
    }
    local.release(h);
    remote.release(h);
    for i in 0..OPERATIONS {
        let mirrored = (OPERATIONS - 1 - i) * block;
        let ok = near.seen(i * block, block) == far.seen(mirrored, block);
        assert!(ok, "{}: {verb:?} {i} of context {ctx} brought other bytes", h.name);
    }
}
