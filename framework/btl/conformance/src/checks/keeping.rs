//! Messages whose payload the sender keeps: in order with all others, and told once, when the payload may go.

use crate::harness::{Harness, Link};
use crate::kept::Kept;
use crate::message::Msg;
use crate::setup::Setup;
use oxmpi_btl::cap;
use oxmpi_mca::Status;
use std::time::Instant;

crate::check!(Messages: kept_messages_come_in_order, kept_messages_have_a_limit, kept_messages_end_with_their_peer);

const MESSAGES: u64 = 120;

/// A job of which the transport keeps; `None` otherwise.
fn keeping(setup: &Setup) -> Option<Harness> {
    let h = Harness::new(setup);
    h.ranks[0].can(cap::KEEPS).then_some(h)
}

/// Message `i`: short, or as long as may be.
fn message(i: u64, most: usize) -> Msg {
    let payload = [most - 24, 100, most / 2, most / 5][i as usize % 4];
    Msg::new(i, 24, payload.min(most - 24))
}

/// Sends one by `send_kept`, while everybody makes progress where there is no room.
fn push(h: &Harness, link: Link, msg: Msg) -> Box<Kept> {
    let (mut kept, begun) = (Kept::new(msg), Instant::now());
    loop {
        match kept.send(&h.ranks[link.from], link.to, 0) {
            Status::OK | Status::PENDING => return kept,
            Status::NO_RESOURCE => _ = h.progress(),
            status => panic!("{}: {msg:?} was refused: {status}\n{}", h.name, h.logs()),
        }
        assert!(begun.elapsed() < h.patience, "{}: no room for {msg:?}", h.name);
    }
}

fn kept_messages_come_in_order(setup: &Setup) {
    let Some(h) = keeping(setup) else { return };
    let link = h.link();
    let most = h.ranks[link.from].btl.attrs().max_send_size as usize;
    let mut all = Vec::new();
    for i in 0..MESSAGES {
        let msg = message(i, most);
        // Every third one is sent as ever.
        if i % 3 == 2 {
            h.push(link, 0, &msg);
        } else {
            all.push(push(&h, link, msg));
        }
        all.iter_mut().for_each(|kept| _ = kept.is_over());
    }
    h.settle(link.to, MESSAGES);
    let begun = Instant::now();
    while !all.iter_mut().all(|kept| kept.is_over()) {
        h.progress();
        assert!(begun.elapsed() < h.patience, "{}: the end of a message that has come is not told", h.name);
    }
    (0..10).for_each(|_| _ = h.progress());
    for (i, got) in (0..).zip(h.ranks[link.to].host.take()) {
        let due = message(i, most);
        assert!(got.tag == due.tag && got.bytes == due.bytes(), "{}: message {i} is not {due:?}", h.name);
    }
    for kept in all {
        assert_eq!(kept.told(), (kept.is_pending().into(), 0), "{}: {:?} is told once", h.name, kept.msg);
    }
}

fn kept_messages_have_a_limit(setup: &Setup) {
    let Some(h) = keeping(setup) else { return };
    let link = h.link();
    let most = h.ranks[link.from].btl.attrs().max_send_size as usize;
    let mut kept = Kept::new(Msg::new(1, 24, most));
    assert_eq!(kept.send(&h.ranks[link.from], link.to, 0), Status::BAD_PARAM, "{}", h.name);
    assert_eq!(kept.told(), (0, 0), "{}: what was refused is not told", h.name);
}

/// The end of each is told at the latest when the process that it goes to has gone.
fn kept_messages_end_with_their_peer(setup: &Setup) {
    let Some(mut h) = keeping(setup) else { return };
    let link = h.link();
    if link.from == link.to {
        return;
    }
    let most = h.ranks[link.from].btl.attrs().max_send_size as usize;
    h.push(link, 0, &message(1, most));
    h.settle(link.to, 1);
    h.ranks.iter().for_each(|rank| rank.host.let_peers_fail());
    let (mut all, from) = (Vec::new(), link.from);
    for i in 0..40 {
        let mut kept = Kept::new(message(4 * i, most));
        if !matches!(kept.send(&h.ranks[from], link.to, 0), Status::OK | Status::PENDING) {
            break;
        }
        all.push(kept);
    }
    h.ranks[link.to].finalize();
    let begun = Instant::now();
    while !all.iter_mut().all(|kept| kept.is_over()) {
        h.ranks[from].progress(0);
        assert!(begun.elapsed() < h.patience, "{}: the end of a message to nobody is not told", h.name);
    }
    assert!(all.iter().all(|kept| kept.told().0 == u32::from(kept.is_pending())), "{}", h.name);
}
