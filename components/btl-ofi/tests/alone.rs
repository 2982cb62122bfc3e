//! A process that only sends: its provider may have work that nobody but its calls does, so sending has to see to answers, credits and
//! receive buffers by itself. And messages that the provider negotiates keep their place among those that it does not.

mod common;

use oxmpi_btl_conformance::{Group, Harness, Link, Msg, Setup};
use oxmpi_mca::Status;
use std::time::Instant;

/// The first rank sends and does nothing else, the second makes progress; every message arrives, in order.
fn flood(setup: &Setup, messages: u64, payload: usize) {
    let h = Harness::new(setup);
    let link = Link { from: 0, to: 1 };
    let (from, to) = (&h.ranks[link.from], &h.ranks[link.to]);
    let before = to.host.arrived();
    let (mut last, mut since) = (before, Instant::now());
    for i in 0..messages {
        let msg = Msg::new(i, 24, payload);
        loop {
            match from.send(link.to, 0, &msg) {
                Status::OK => break,
                Status::NO_RESOURCE => to.progress_all(),
                s => panic!("message {i}: {s}"),
            };
            if to.host.arrived() != last {
                (last, since) = (to.host.arrived(), Instant::now());
            }
            let waited = since.elapsed();
            assert!(waited < h.patience, "message {i} finds no room, and {} have arrived", last - before);
        }
    }
    h.settle(link.to, before + messages);
    for (i, got) in to.host.take().iter().enumerate() {
        assert!(got.bytes == Msg::new(i as u64, 24, payload).bytes(), "message {i} is another one");
    }
}

#[test]
fn a_process_that_only_sends_gets_its_messages_through() {
    let Some(setup) = common::setup() else { return };
    let setup = setup.ranks(2).cris(1);
    flood(&setup, 40_000, 8);
    flood(&setup.clone().param("credits", "2").param("rd_num", "4").param("send_buffers", "2"), 2_000, 8);
    flood(&setup.param("disable_inject", "true"), 2_000, 4_000);
}

/// The link is made by nothing but sending at one end and progress at the other.
#[test]
fn a_process_that_only_sends_makes_its_link() {
    let Some(setup) = common::unconnected() else { return };
    flood(&setup.ranks(2).cris(1), 1_000, 8);
}

/// A message that was taken arrives though its sender never calls again.
#[test]
fn a_message_that_was_taken_arrives_without_its_sender() {
    let Some(setup) = common::setup() else { return };
    let setup =
        setup.ranks(2).cris(1).param("credits", "254").param("rd_num", "512").param("send_buffers", "512");
    let h = Harness::new(&setup);
    let (from, to) = (&h.ranks[0], &h.ranks[1]);
    let before = to.host.arrived();
    let mut sent = 0;
    while from.send(1, 0, &Msg::new(sent, 24, 16_000)) == Status::OK {
        sent += 1;
    }
    assert!(sent > 100, "{sent} found room");
    let begun = Instant::now();
    while to.host.arrived() < before + sent {
        to.progress_all();
        let has = to.host.arrived() - before;
        assert!(begun.elapsed() < h.patience, "{has} of {sent} have arrived, and nothing comes");
    }
}

/// Messages longer than the provider sends at once are negotiated, and those behind them come earlier.
#[test]
fn negotiated_messages_keep_their_place() {
    common::run(Group::Pressure, |setup| setup.param("max_send_size", "96k"));
    common::run(Group::Service, |setup| setup.param("max_send_size", "96k"));
}
