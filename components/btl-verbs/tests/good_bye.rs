//! A process that leaves has sent all it had: what lies here arrives, whichever of its connections is looked at first.

mod common;

use common::setup;
use oxmpi_btl_conformance::{Harness, Msg};
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
    }
}

/// The connection of the second context is made and its message has come, and nobody has looked there, when the peer's good-bye is read on the first.
#[test]
fn a_message_is_not_lost_behind_a_good_bye_elsewhere() {
    let mut h = Harness::open(&setup().ranks(2).cris(2)).expect("opens");
    for (ctx, seed) in [(0, 1), (1, 2)] {
        until("rank 1 cannot send", || {
            h.ranks[0].progress(0);
            h.ranks[1].progress(ctx);
            h.ranks[1].send(0, ctx, &Msg::new(seed, 24, 40)) == Status::OK
        });
    }
    until("the first message does not come", || {
        h.ranks[0].progress(0);
        h.ranks[0].host.arrived() == 1
    });
    assert_eq!(h.ranks[1].finalize(), Status::OK);
    until("the good-bye does not come", || {
        h.ranks[0].progress(0);
        h.ranks[0].send(1, 0, &Msg::new(3, 24, 8)) == Status::PEER_FAILED
    });
    assert_eq!(h.ranks[0].host.arrived(), 1, "the other context has not been looked at");
    until("the second message is lost", || {
        h.ranks[0].progress(1);
        h.ranks[0].host.arrived() == 2
    });
    assert_eq!(h.ranks[0].host.failures(), [], "the peer has left, and has not failed");
}
