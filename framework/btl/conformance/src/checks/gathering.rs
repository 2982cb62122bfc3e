//! Messages that may wait for others, where a transport gathers.

use crate::harness::{Harness, Link};
use crate::message::{Msg, step};
use crate::setup::Setup;
use oxmpi_btl::{BtlAttrs, MAY_WAIT, SendDesc};
use oxmpi_mca::Status;
use std::time::Instant;

crate::check!(Pressure: gathered_messages_keep_their_order, gathered_messages_go_with_the_next_turn, gathered_messages_go_by_themselves);

/// Messages that are sent one behind the other.
const ROW: u64 = 64;
const ROWS: u64 = 50;

/// A job of which the transport gathers; `None` otherwise.
fn gathering(setup: &Setup) -> Option<Harness> {
    let h = Harness::new(setup);
    (h.ranks[0].btl.attrs().flags & BtlAttrs::GATHERS != 0).then_some(h)
}

/// Sends a message that may wait, while everybody makes progress where there is no room; the answer.
fn offer(h: &Harness, link: Link, msg: &Msg) -> Status {
    let (rank, begun) = (&h.ranks[link.from], Instant::now());
    loop {
        let send = |desc: &SendDesc| {
            let flagged = SendDesc { tag: desc.tag | MAY_WAIT, ..*desc };
            rank.on(0, || rank.send_desc(link.to, 0, &flagged))
        };
        match msg.describe(send) {
            Status::NO_RESOURCE => _ = h.progress(),
            status => return status,
        }
        assert!(begun.elapsed() < h.patience, "{}: {link:?}: no room for {:?}", h.name, h.patience);
    }
}

/// Sends one, which OK and PENDING take.
fn push(h: &Harness, link: Link, msg: &Msg) {
    let status = offer(h, link, msg);
    let taken = matches!(status, Status::OK | Status::PENDING);
    assert!(taken, "{}: {link:?} {msg:?} was refused: {status}\n{}", h.name, h.logs());
}

/// Compares what came with what was sent.
fn compare(h: &Harness, link: Link, expected: &[Msg]) {
    let got = h.ranks[link.to].host.take();
    for (i, (got, msg)) in got.iter().zip(expected).enumerate() {
        let same = got.tag == msg.tag && got.bytes == msg.bytes();
        assert!(same, "{}: {link:?}: message {i} is not the one that was sent as number {i}", h.name);
    }
}

/// Messages that may wait, and messages that may not, arrive in the order of their sends.
fn gathered_messages_keep_their_order(setup: &Setup) {
    let Some(h) = gathering(setup) else { return };
    for link in h.links() {
        let max = h.ranks[link.from].btl.attrs().max_send_size as usize;
        let before = h.ranks[link.to].host.arrived();
        let (mut expected, mut x) = (Vec::new(), link.from as u64 * 91 + link.to as u64 + 7);
        for i in 0..ROWS * ROW {
            x = step(x);
            let room = if x.is_multiple_of(32) { max - 24 } else { 100.min(max - 24) };
            let msg = Msg::new(i, 24, (x >> 20) as usize % (room + 1));
            if (x >> 8).is_multiple_of(8) {
                h.push(link, 0, &msg)
            } else {
                push(&h, link, &msg)
            }
            expected.push(msg);
            if (x >> 16).is_multiple_of(40) {
                h.progress();
            }
        }
        h.settle(link.to, before + expected.len() as u64);
        compare(&h, link, &expected);
    }
}

/// A turn of the sender's sends them.
fn gathered_messages_go_with_the_next_turn(setup: &Setup) {
    let Some(h) = gathering(setup) else { return };
    let link = h.link();
    let mut expected = Vec::new();
    for row in 0..ROWS {
        expected.extend((0..ROW).map(|i| Msg::new(row * ROW + i, 24, 8)));
        expected[(row * ROW) as usize..].iter().for_each(|msg| push(&h, link, msg));
        h.ranks[link.from].progress(0);
        h.settle(link.to, (row + 1) * ROW);
    }
    compare(&h, link, &expected);
}

/// They go though the sender never calls again.
fn gathered_messages_go_by_themselves(setup: &Setup) {
    let Some(h) = gathering(setup) else { return };
    let link = h.link();
    let (mut expected, mut waited) = (Vec::new(), false);
    for row in 0..ROWS {
        let before = h.ranks[link.to].host.arrived();
        for i in 0..ROW {
            let msg = Msg::new(row * ROW + i, 24, 8);
            waited |= offer(&h, link, &msg) == Status::PENDING;
            expected.push(msg);
        }
        let begun = Instant::now();
        while h.ranks[link.to].host.arrived() < before + ROW {
            h.ranks[link.to].progress_all();
            let arrived = h.ranks[link.to].host.arrived() - before;
            assert!(
                begun.elapsed() < h.patience,
                "{}: {link:?}: {arrived} of {ROW} messages came while the sender did nothing\n{}",
                h.name,
                h.logs()
            );
        }
    }
    // A machine that is slow at every message may find none of them close behind another.
    if !waited {
        eprintln!("{}: no message waited", h.name);
    }
    compare(&h, link, &expected);
}
