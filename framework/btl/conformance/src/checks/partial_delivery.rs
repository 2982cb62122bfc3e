//! Messages that are delivered while they come: announced, whole in the end, and in order, whatever the receiver takes.
//!
//! The host notes the rest as it happens (`host.rs`): a part that does not follow the one before, one of a module that has not announced it,
//! another message between the parts.

use crate::harness::{Harness, Link};
use crate::host::Taking;
use crate::message::Msg;
use crate::setup::Setup;
use oxmpi_btl::BtlAttrs;
use oxmpi_mca::Status;
use std::time::Instant;

crate::check!(Messages: parts_are_taken_or_refused);

/// Messages of each way to take them.
const MESSAGES: u64 = 300;

/// Message `i`: every third one is short, and the others are as long as may be, or half of that.
fn message(i: u64, most: usize) -> Msg {
    let payload = [most - 24, (i % 400) as usize, most / 2][i as usize % 3];
    Msg::new(i, 24, payload.min(most - 24))
}

/// Long and short messages by turns, sent by a thread of its own: so a transport that can has parts to offer.
fn parts_are_taken_or_refused(setup: &Setup) {
    for taking in [Taking::All, Taking::None, Taking::EveryOther] {
        let h = Harness::new(setup);
        let link = h.link();
        let attrs = h.ranks[link.from].btl.attrs();
        if attrs.flags & BtlAttrs::PARTIAL_DELIVERY == 0 {
            // Offers are violations then, in this check and in all others.
            return;
        }
        h.ranks[link.to].host.take_parts(taking);
        let most = attrs.max_send_size as usize;
        if link.from == link.to {
            (0..MESSAGES).for_each(|i| h.push(link, 0, &message(i, most)));
            h.settle(link.to, MESSAGES);
        } else {
            std::thread::scope(|threads| {
                threads.spawn(|| send_all(&h, link, most));
                receive_all(&h, link);
            });
        }
        let got = h.ranks[link.to].host.take();
        for (i, got) in (0..).zip(&got) {
            let wanted = message(i, most);
            assert!(got.bytes == wanted.bytes(), "{}: message {i} with {taking:?}: {wanted:?}", h.name);
        }
        assert_eq!(got.len() as u64, MESSAGES, "{}: with {taking:?}", h.name);
    }
}

fn send_all(h: &Harness, link: Link, most: usize) {
    let rank = &h.ranks[link.from];
    for i in 0..MESSAGES {
        let (msg, start) = (message(i, most), Instant::now());
        loop {
            match rank.send(link.to, 0, &msg) {
                Status::OK => break,
                Status::NO_RESOURCE => {
                    rank.progress(0);
                    std::thread::yield_now();
                }
                status => panic!("send said {status}"),
            }
            assert!(start.elapsed() < h.patience, "{}: no room for message {i}", h.name);
        }
    }
}

fn receive_all(h: &Harness, link: Link) {
    let rank = &h.ranks[link.to];
    let mut last = (0, Instant::now());
    while rank.host.arrived() < MESSAGES {
        if rank.progress(0) == 0 {
            std::thread::yield_now();
        }
        let arrived = rank.host.arrived();
        if arrived > last.0 {
            last = (arrived, Instant::now());
        }
        assert!(last.1.elapsed() < h.patience, "{}: nothing comes behind message {arrived}", h.name);
    }
}
