//! Messages whose payload is kept until it is acknowledged: who does not acknowledge it, and who never will.

#![expect(clippy::vec_box, reason = "the transport knows messages by their address")]

mod common;

use common::pair;
use oxmpi_btl_conformance::{Harness, Kept, Msg};
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

const LONG: usize = 100_000;

/// Two ranks that are connected.
fn connected() -> Harness {
    let h = Harness::open(&pair().param("retry_timeout", "600000")).unwrap_or_else(|e| panic!("{e}"));
    let msg = Msg::new(1, 24, 8);
    h.push(h.links()[0], 0, &msg);
    h.settle(h.links()[0].to, 1);
    h
}

/// As many as go out while the receiver does nothing.
fn send_all(h: &Harness) -> Vec<Box<Kept>> {
    let mut all = Vec::new();
    for i in 0..100 {
        let mut kept = Kept::new(Msg::new(i, 24, LONG));
        match kept.send(&h.ranks[0], 1, 0) {
            Status::PENDING => all.push(kept),
            Status::NO_RESOURCE => break,
            status => panic!("message {i}: {status}"),
        }
    }
    assert!(!all.is_empty(), "one goes at once");
    all
}

/// Makes turns of the sender alone until the end of all has been told.
fn wait_for_ends(h: &Harness, all: &mut [Box<Kept>]) {
    let begun = Instant::now();
    while !all.iter_mut().all(|kept| kept.is_over()) {
        h.ranks[0].progress(0);
        assert!(begun.elapsed() < Duration::from_secs(60), "the end of a message is not told");
    }
}

/// The end is told when the receiver has all of it, and not before.
#[test]
fn the_end_is_told_by_the_acknowledgement() {
    let h = connected();
    let mut all = send_all(&h);
    (0..1000).for_each(|_| _ = h.ranks[0].progress(0));
    assert!(all.iter().all(|kept| kept.told() == (0, 0)), "nobody has read anything");
    let begun = Instant::now();
    while h.ranks[1].host.arrived() < 1 + all.len() as u64 {
        h.progress();
        assert!(begun.elapsed() < Duration::from_secs(60), "messages do not come");
    }
    // The receiver has told it in the turns in which they came.
    wait_for_ends(&h, &mut all);
    assert!(all.iter().all(|kept| kept.told() == (1, 0)));
    for (i, got) in (0..).zip(h.ranks[1].host.take().iter().skip(1)) {
        assert!(got.bytes == Msg::new(i, 24, LONG).bytes(), "message {i}");
    }
}

/// The host has heard that the receiver is dead, which the network may not notice for long.
#[test]
fn the_end_is_told_when_the_host_tells_of_the_loss() {
    let h = connected();
    h.ranks.iter().for_each(|rank| rank.host.let_peers_fail());
    let mut all = send_all(&h);
    h.ranks[0].host.tell_failure(1);
    wait_for_ends(&h, &mut all);
    assert!(all.iter().all(|kept| kept.told() == (1, 1)), "each has failed");
    let mut late = Kept::new(Msg::new(1, 24, LONG));
    assert_eq!(late.send(&h.ranks[0], 1, 0), Status::PEER_FAILED);
}
