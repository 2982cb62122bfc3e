//! Atomic updates of one word from several contexts and ranks at once.

use crate::harness::{Harness, Link};
use crate::rma::{Buffer, Completion, Memory, flush_alone, offer, wait_for};
use crate::setup::Setup;
use core::sync::atomic::{AtomicU64, Ordering};
use oxmpi_btl::{AtomicDesc, BtlAttrs, amo, cap};
use oxmpi_mca::Status;
use std::collections::HashSet;

crate::check!(OneSided: atomics_are_atomic);

const EACH: u64 = 150;

/// Everybody fetches and adds 1, the target's processor too where the device is coherent with it: no two see the same value, and the sum is right.
fn atomics_are_atomic(setup: &Setup) {
    let h = Harness::new(&setup.clone().threaded(true));
    let a = h.ranks[0].btl.attrs();
    if !h.ranks[0].can(cap::ATOMIC)
        || a.amo_ops & (1 << amo::ADD) == 0
        || a.amo_operands & amo::operand::U64 == 0
    {
        return;
    }
    let to = h.link().to;
    let mut word = Buffer::new(8, 0);
    let remote = Memory::of(&h, to, word.bytes());
    let links: Vec<Link> = h.links().into_iter().filter(|l| l.to == to).collect();
    let coherent = a.flags & BtlAttrs::AMO_COHERENT != 0;
    let seen: Vec<u64> = std::thread::scope(|threads| {
        let mut all = Vec::new();
        for &link in &links {
            for ctx in 0..h.ranks[link.from].contexts() {
                let (h, remote) = (&h, &remote);
                all.push(
                    threads.spawn(move || (0..EACH).map(|_| add(h, link, ctx, remote)).collect::<Vec<u64>>()),
                );
            }
        }
        if coherent {
            let remote = &remote;
            all.push(threads.spawn(move || {
                // SAFETY: aligned and alive; only accessed atomically meanwhile.
                let word = unsafe { AtomicU64::from_ptr(remote.addr.cast()) };
                (0..EACH).map(|_| word.fetch_add(1, Ordering::AcqRel)).collect()
            }));
        }
        all.into_iter().flat_map(|t| t.join().expect("adds")).collect()
    });
    remote.release(&h);
    let total = seen.len() as u64;
    let bytes: [u8; 8] = word.seen(0, 8).try_into().expect("a word");
    assert_eq!(u64::from_ne_bytes(bytes), total, "{}: the sum", h.name);
    assert_eq!(
        seen.into_iter().collect::<HashSet<u64>>().len() as u64,
        total,
        "{}: two saw one value",
        h.name
    );
}

fn add(h: &Harness, link: Link, ctx: u32, remote: &Memory) -> u64 {
    let rank = &h.ranks[link.from];
    let mut result = Buffer::new(8, 0xff);
    let local = Memory::of(h, link.from, result.bytes());
    let c = Completion::new(h, link.from, ctx);
    let (done, done_ctx) = c.callback();
    let desc = AtomicDesc {
        result: local.addr.cast(),
        local_handle: local.handle(),
        remote: remote.addr as u64,
        remote_handle: remote.handle(),
        op: amo::ADD,
        flags: 0,
        operand: 1,
        compare: 0,
        done,
        done_ctx,
    };
    let start = || rank.atomic(link.to, ctx, &desc);
    let mut status = offer(h, link.from, ctx, start);
    if status == Status::PENDING {
        wait_for(h, link.from, ctx, [&*c]);
        status = c.status();
    }
    assert_eq!(status, Status::OK, "{}: fetch and add", h.name);
    if rank.can(cap::FLUSH) {
        assert_eq!(flush_alone(h, link, ctx), Status::OK, "{}: flush", h.name);
    }
    local.release(h);
    u64::from_ne_bytes(result.seen(0, 8).try_into().expect("a word"))
}
