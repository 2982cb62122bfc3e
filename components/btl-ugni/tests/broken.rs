//! A message that the network loses more often than it may be sent again: its process has failed, told once by name.

mod common;

use common::{set_up, setup};
use oxmpi_btl_conformance::{Harness, Msg};
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

#[test]
fn a_lost_message_is_told() {
    // One in twenty is lost, and none is sent again.
    set_up("smsg_drop=20");
    let h = Harness::new(&setup().ranks(2).cris(1).param("smsg_max_retries", "0"));
    h.ranks.iter().for_each(|r| r.host.let_peers_fail());
    let begun = Instant::now();
    while h.ranks[0].host.failures().is_empty() {
        let status = h.ranks[0].send(1, 0, &Msg::new(1, 24, 8));
        assert!(matches!(status, Status::OK | Status::NO_RESOURCE | Status::PEER_FAILED), "{status}");
        let is_told = !h.ranks[0].host.failures().is_empty();
        assert!(status != Status::PEER_FAILED || is_told, "the host hears why before a send fails");
        h.progress();
        assert!(begun.elapsed() < Duration::from_secs(60), "it is never told");
    }
    assert_eq!(h.ranks[0].host.failures(), [(1, Status::PEER_FAILED)]);
    assert_eq!(h.ranks[0].send(1, 0, &Msg::new(1, 24, 8)), Status::PEER_FAILED, "from then on");
    let log = h.ranks[0].host.logged();
    assert!(!log.contains("help ["), "the report is the runtime's alone: {log}");
    // Operations under way elsewhere end as well, and leaving does not hang.
}
