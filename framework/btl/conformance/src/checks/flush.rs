//! Flushing: what was issued before is complete at its target afterwards.

use crate::harness::{Harness, Link};
use crate::message::Msg;
use crate::rma::{
    Buffer, Completion, Memory, Transfer, Verb, block, flush_all, flush_alone, offer, wait_for,
};
use crate::setup::Setup;
use oxmpi_btl::cap;
use oxmpi_mca::Status;

crate::check!(OneSided: flush_makes_data_visible, flush_of_nothing);

const PUTS: usize = 40;

/// Several puts to each rank, then one flush, to one or to everybody: all of it is there when that is done.
fn flush_makes_data_visible(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::PUT) || !h.ranks[0].can(cap::FLUSH) {
        return;
    }
    let contexts = h.ranks[0].contexts();
    for (round, everybody) in [false, true, false, true].into_iter().enumerate() {
        for ctx in 0..contexts {
            one_flush(&h, ctx, everybody, round as u64 * 100 + ctx as u64);
        }
    }
}

fn one_flush(h: &Harness, ctx: u32, everybody: bool, seed: u64) {
    let from = h.link().from;
    let links: Vec<Link> = h.links().into_iter().filter(|l| l.from == from).collect();
    let block = block(h);
    let mut near = Buffer::new(PUTS * block, 0);
    near.bytes().copy_from_slice(&Msg::new(seed, 0, PUTS * block).bytes());
    let local = Memory::of(h, from, near.bytes());
    let mut far: Vec<Buffer> = links.iter().map(|_| Buffer::new(PUTS * block, 0xab)).collect();
    let remote: Vec<Memory> =
        links.iter().zip(&mut far).map(|(l, b)| Memory::of(h, l.to, b.bytes())).collect();
    let mut pending = Vec::new();
    let all: Vec<Box<Completion>> = (0..PUTS * links.len()).map(|_| Completion::new(h, from, ctx)).collect();
    for i in 0..PUTS {
        for (n, link) in links.iter().enumerate() {
            let at = i * block;
            let t = Transfer { verb: Verb::Put, local: (&local, at), remote: (&remote[n], at), len: block };
            let c = &*all[i * links.len() + n];
            let status = offer(h, from, ctx, || t.start(h, *link, ctx, c));
            assert!(!status.is_err(), "{}: put: {status}", h.name);
            if status == Status::PENDING {
                pending.push(c);
            }
        }
    }
    if everybody {
        assert_eq!(flush_all(h, from, ctx), Status::OK, "{}: flush to everybody", h.name);
    }
    for (n, link) in links.iter().enumerate() {
        if !everybody {
            assert_eq!(flush_alone(h, *link, ctx), Status::OK, "{}: flush to {}", h.name, link.to);
        }
        let there = far[n].seen(0, PUTS * block);
        assert!(
            there == near.seen(0, PUTS * block),
            "{}: flushed to {}, but not all is there",
            h.name,
            link.to
        );
    }
    // Each put's own completion may come behind that of the flush.
    wait_for(h, from, ctx, pending);
    local.release(h);
    remote.into_iter().for_each(|m| m.release(h));
    assert!(all.iter().all(|c| c.calls() <= 1), "{}: done ran twice", h.name);
}

/// With nothing under way a flush is complete, to whomever.
fn flush_of_nothing(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::FLUSH) {
        return;
    }
    for link in h.links() {
        assert_eq!(flush_alone(&h, link, 0), Status::OK, "{}: {link:?}", h.name);
        assert_eq!(flush_all(&h, link.from, 0), Status::OK, "{}: everybody", h.name);
    }
}
