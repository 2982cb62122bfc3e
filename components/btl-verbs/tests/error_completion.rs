//! A request that the device fails ends its peer, by name.

mod common;

use common::setup;
use oxmpi_btl_conformance::{Harness, Msg};
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

#[test]
fn a_failed_request_is_told() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", "error_at=60") };
    let h = Harness::open(&setup().ranks(2).cris(1)).expect("opens");
    h.ranks.iter().for_each(|r| r.host.let_peers_fail());
    let begun = Instant::now();
    while h.ranks.iter().all(|r| r.host.failures().is_empty()) {
        h.ranks[0].send(1, 0, &Msg::new(1, 24, 8));
        h.progress();
        assert!(begun.elapsed() < Duration::from_secs(60), "it is never told");
    }
    // Whose request it was depends on how many the connection took.
    let told: Vec<_> = h.ranks.iter().flat_map(|r| r.host.failures()).collect();
    assert!(told.iter().all(|(_, status)| *status == Status::PEER_FAILED) && told.len() <= 2, "{told:?}");
    let log: String = h.ranks.iter().map(|r| r.host.logged()).collect();
    assert!(log.contains("status 21"), "the status is named: {log}");
}
