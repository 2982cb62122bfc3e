//! Packets that get lost, and receivers that have no buffer now and then: nothing is lost, and all comes once and in order.

mod common;

use common::setup;
use oxmpi_btl_conformance::{Harness, Msg};

#[test]
fn messages_survive_a_bad_network() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", "drop=50,rnr=40") };
    let h = Harness::new(&setup().ranks(2).cris(2).param("timeout", "8").param("rnr_timer", "1"));
    let links = h.links();
    for link in &links {
        let before = h.ranks[link.to].host.arrived();
        let msgs: Vec<Msg> = (0..500).map(|i| Msg::new(i, 24, (i % 700) as usize)).collect();
        msgs.iter().for_each(|m| h.push(*link, 0, m));
        h.settle(link.to, before + msgs.len() as u64);
        let got = h.ranks[link.to].host.take();
        assert!(got.iter().zip(&msgs).all(|(g, m)| g.bytes == m.bytes()), "{link:?}: other bytes, or order");
    }
}
