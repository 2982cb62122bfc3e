//! A message that the network loses more often than it may be sent again: its process has failed, told once by name.

mod common;

use common::{set_up, setup};
use oxmpi_btl_conformance::{Harness, Link};
use oxmpi_mca::Status;
use std::time::Duration;

#[test]
fn a_lost_message_is_told() {
    // One in twenty is lost, and none is sent again.
    set_up("smsg_drop=20");
    let h = Harness::new(&setup().ranks(2).cris(1).param("smsg_max_retries", "0"));
    h.ranks.iter().for_each(|r| r.host.let_peers_fail());
    h.send_until_refused(Link { from: 0, to: 1 }, Duration::from_secs(60));
    assert_eq!(h.ranks[0].host.failures(), [(1, Status::PEER_FAILED)]);
    let log = h.ranks[0].host.logged();
    assert!(!log.contains("help ["), "the report is the runtime's alone: {log}");
    // Operations under way elsewhere end as well, and leaving does not hang.
}
