//! Sleeping until a one-sided operation completes.

use crate::harness::Harness;
use crate::rma::{Buffer, Completion, Memory, Transfer, Verb, block, flush_alone, movers, offer};
use crate::setup::Setup;
use crate::waiting::Waits;
use core::time::Duration;
use oxmpi_btl::cap;
use oxmpi_mca::Status;
use std::time::Instant;

crate::check!(Sleep: completions_wake_sleepers);

/// Longer than any completion takes on a busy machine.
const NAP: Duration = Duration::from_secs(3);

/// A thread that arms while an operation is under way is told at once or woken when it completes.
fn completions_wake_sleepers(setup: &Setup) {
    let h = Harness::new(setup);
    let (link, len) = (h.link(), block(&h));
    let rank = &h.ranks[link.from];
    if !rank.can(cap::SLEEP) {
        return;
    }
    for round in 0..200 {
        for verb in movers(&h) {
            let ctx = round % rank.contexts();
            let (mut near, mut far) = (Buffer::new(len, 1), Buffer::new(len, 2));
            let (local, remote) =
                (Memory::of(&h, link.from, near.bytes()), Memory::of(&h, link.to, far.bytes()));
            let c = Completion::new(&h, link.from, ctx);
            let t = Transfer { verb, local: (&local, 0), remote: (&remote, 0), len };
            let status = offer(&h, link.from, ctx, || t.start(&h, link, ctx, &c));
            let begun = Instant::now();
            while status == Status::PENDING && c.calls() == 0 {
                let waits = Waits::arm(rank, ctx);
                let slept = waits.status == Status::OK && !waits.sleep(NAP);
                rank.disarm(ctx);
                rank.progress(ctx);
                assert!(
                    !slept || c.calls() == 0,
                    "{}: {verb:?} completed while its sleeper slept on",
                    h.name
                );
                assert!(begun.elapsed() < h.patience + NAP, "{}: {verb:?} never completes", h.name);
            }
            if verb == Verb::Put && rank.can(cap::FLUSH) {
                assert_eq!(flush_alone(&h, link, ctx), Status::OK, "{}: flush", h.name);
            }
            local.release(&h);
            remote.release(&h);
        }
    }
}
