//! Devices that fail: a port that goes down, limits that are reached. A lost peer is reported once by name, and nothing hangs.

mod common;

use common::{port, setup};
use oxmpi_btl_conformance::{Harness, Link, Msg};
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// Sends until the peer is known to be lost.
fn until_lost(h: &Harness) {
    h.send_until_refused(Link { from: 0, to: 1 }, PATIENCE);
    assert_eq!(h.ranks[0].host.failures(), [(1, Status::PEER_FAILED)]);
}

/// One test, since port and set-up are the process's.
#[test]
fn what_fails_is_told() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", "max_qp=9") };
    // Each rank has one pair for datagrams; two ranks on one context have one more each.
    let two = || setup().ranks(2).cris(1).param("timeout", "8").param("retry_count", "2");
    let h = Harness::new(&two());
    h.ranks.iter().for_each(|r| r.host.let_peers_fail());
    port(false);
    until_lost(&h);
    let log = h.ranks[0].host.logged();
    port(true);
    drop(h);
    assert!(log.contains("transport retry counter exceeded"), "the device's own word: {log}");
    assert!(!log.contains("help ["), "the report is the runtime's alone: {log}");

    // Nobody answers: the port comes up too late.
    let h = Harness::open(&two().param("connect_timeout", "300")).expect("opens");
    h.ranks.iter().for_each(|r| r.host.let_peers_fail());
    port(false);
    until_lost(&h);
    let log = h.ranks[0].host.logged();
    port(true);
    drop(h);
    assert!(log.contains("is down"), "{log}");

    // More pairs than the device has: whichever side finds out, the caller hears of it.
    let h = Harness::open(&setup().ranks(2).cris(8)).expect("opens");
    h.ranks.iter().for_each(|r| r.host.let_peers_fail());
    let begun = Instant::now();
    while h.ranks.iter().all(|r| r.host.failures().is_empty()) {
        for ctx in 0..8 {
            h.ranks[0].send(1, ctx, &Msg::new(1, 24, 8));
        }
        h.progress();
        assert!(begun.elapsed() < PATIENCE, "the limit is never told");
    }
}
