//! Long messages that are brought to their place: whole and in order with all others, and to no place that has gone.
//!
//! The host notes the rest as it happens (`placer.rs`): bytes behind a place, a message to a place that nobody named. Messages of its tags have places in all
//! other checks, too.

use crate::harness::{Harness, Link};
use crate::message::Msg;
use crate::placer::place_by;
use crate::places::PLACED_TAGS;
use crate::setup::Setup;
use oxmpi_btl::cap;
use oxmpi_mca::Status;
use std::time::Instant;

crate::check!(Messages: placed_messages_are_whole, a_place_that_has_gone_is_left_alone, a_tag_has_one_place_giver);

const MESSAGES: u64 = 200;

/// A job of which the transport places; `None` otherwise.
fn placing(setup: &Setup) -> Option<Harness> {
    let h = Harness::new(setup);
    h.ranks[0].can(cap::PLACES).then_some(h)
}

/// Message `i`: of a tag with places, or one without, and short or as long as may be.
fn message(i: u64, most: usize) -> Msg {
    let payload = [most - 24, 100, most / 2, most / 3][i as usize % 4];
    let tag = if i % 3 == 2 { 6 } else { PLACED_TAGS[i as usize % PLACED_TAGS.len()] };
    Msg { tag, ..Msg::new(i, 24, payload.min(most - 24)) }
}

/// Makes progress until so many messages have come, or gone nowhere.
fn wait_for(h: &Harness, link: Link, count: u64) {
    let (host, begun) = (&h.ranks[link.to].host, Instant::now());
    while host.arrived() + host.places.count().1 < count {
        h.progress();
        let (arrived, (_, gone)) = (host.arrived(), host.places.count());
        assert!(
            begun.elapsed() < h.patience,
            "{}: {arrived} messages of {count} came, {gone} went nowhere",
            h.name
        );
    }
}

/// Sends the messages, and compares what comes.
fn exchange(h: &Harness, gone: bool) {
    let link = h.link();
    let (from, to) = (&h.ranks[link.from], &h.ranks[link.to]);
    to.host.places.let_go_away(gone);
    let most = from.btl.attrs().max_send_size as usize;
    let mut got = Vec::new();
    for i in 0..MESSAGES {
        h.push(link, 0, &message(i, most));
        if i % 8 == 7 {
            wait_for(h, link, i + 1);
            got.append(&mut to.host.take());
        }
    }
    let mut due = (0..MESSAGES).map(|i| message(i, most));
    for got in &got {
        // Those that went nowhere are left out, and no others.
        let sent = due.find(|msg| msg.tag == got.tag && msg.bytes() == got.bytes);
        assert!(
            sent.is_some(),
            "{}: a message of {} bytes came wrong, or out of order",
            h.name,
            got.bytes.len()
        );
    }
    let (_, lost) = to.host.places.count();
    assert_eq!(got.len() as u64 + lost, MESSAGES, "{}", h.name);
    assert!(gone || lost == 0, "{}: {lost} messages went nowhere", h.name);
}

fn placed_messages_are_whole(setup: &Setup) {
    let Some(h) = placing(setup) else { return };
    exchange(&h, false);
}

fn a_place_that_has_gone_is_left_alone(setup: &Setup) {
    let Some(h) = placing(setup) else { return };
    exchange(&h, true);
}

/// Nobody takes a tag away from another.
fn a_tag_has_one_place_giver(setup: &Setup) {
    let Some(h) = placing(setup) else { return };
    for rank in &h.ranks {
        let again = place_by(&rank.btl, &rank.host.rows[usize::from(PLACED_TAGS[0])]);
        assert_eq!(again, Status::BAD_PARAM, "{}", h.name);
    }
}
