//! One message at a time: its size, its tag, its bytes.

use crate::harness::{Harness, local_proc};
use crate::message::Msg;
use crate::setup::Setup;
use oxmpi_mca::Status;
use std::time::Instant;

crate::check!(Messages: every_tag, header_and_payload_are_copied, payload_is_packed_in_order, sizes_and_header_lengths, too_large_is_refused, visible_when_send_returns, whoever_has_sent_and_ended_is_reached);

/// Total sizes worth trying up to `max`: all small ones, and both sides of every power of two.
pub fn sizes(max: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = (0..=160.min(max)).collect();
    let mut power = 256;
    while power < max {
        sizes.extend([power - 9, power - 1, power, power + 1, power + 33]);
        power *= 2;
    }
    sizes.retain(|&s| s <= max);
    sizes.extend([max - 1, max]);
    sizes
}

/// Sends one message and takes it out at the other end, whole.
fn one(h: &Harness, msg: &Msg, ctx: u32, count: &mut u64) {
    let link = h.link();
    h.push(link, ctx, msg);
    *count += 1;
    h.settle(link.to, *count);
    let got = h.ranks[link.to].host.take();
    assert_eq!(got.len(), 1, "{}: one message was sent", h.name);
    assert_eq!(got[0].proc, link.from as u32, "{}: {msg:?} names another sender", h.name);
    assert_eq!(got[0].tag, msg.tag, "{}: {msg:?} came with another tag", h.name);
    assert_eq!(got[0].bytes.len(), msg.total(), "{}: {msg:?} came with another length", h.name);
    assert!(got[0].bytes == msg.bytes(), "{}: {msg:?} came with other bytes", h.name);
}

/// Every size from nothing to `max_send_size`, with headers of every length the layers above use.
fn sizes_and_header_lengths(setup: &Setup) {
    let h = Harness::new(setup);
    let max = h.ranks[0].btl.attrs().max_send_size as usize;
    let (mut seed, mut count) = (1, 0);
    for header in [0usize, 1, 7, 8, 16, 24, 31, 40, 64, 100, 128] {
        for total in sizes(max).into_iter().filter(|&t| t >= header) {
            seed += 1;
            one(&h, &Msg::new(seed, header, total - header), 0, &mut count);
        }
    }
    // Headers alone, without payload.
    for header in 0..=128 {
        one(&h, &Msg::new(header as u64, header, 0), 0, &mut count);
    }
}

/// Every tag finds its own row.
fn every_tag(setup: &Setup) {
    let h = Harness::new(setup);
    let mut count = 0;
    for tag in 0..=u8::MAX {
        one(&h, &Msg { tag, ..Msg::new(tag as u64, 24, 8) }, 0, &mut count);
    }
}

/// When `send` said OK the receiver finds the message, with no help from the sender.
fn visible_when_send_returns(setup: &Setup) {
    let h = Harness::new(setup);
    let link = h.link();
    for i in 0..200u64 {
        // The receiver looks elsewhere for a while, as one that waits for others does.
        for _ in 0..i % 7 * 40 {
            h.ranks[link.to].progress(0);
        }
        assert_eq!(h.ranks[link.from].send(link.to, 0, &Msg::new(i, 24, 40)), Status::OK, "{}: send", h.name);
        let start = Instant::now();
        while h.ranks[link.to].host.arrived() == i {
            h.ranks[link.to].progress_all();
            assert!(start.elapsed() < h.patience, "{}: a message needs its sender's progress", h.name);
        }
    }
}

/// Header and payload belong to the sender again when `send` returns. (Every message of the suite is
/// overwritten then; here the transport holds many at once.)
fn header_and_payload_are_copied(setup: &Setup) {
    let h = Harness::new(setup);
    let link = h.link();
    let max = h.ranks[0].btl.attrs().max_send_size as usize;
    let msgs: Vec<Msg> = (0..8).map(|i| Msg::new(i, 24, (max - 24) / 8 * i as usize)).collect();
    let mut sent = Vec::new();
    for msg in &msgs {
        if h.ranks[link.from].send(link.to, 0, msg) != Status::OK {
            break;
        }
        sent.push(msg);
    }
    assert!(!sent.is_empty(), "{}: no room for a first message", h.name);
    h.settle(link.to, sent.len() as u64);
    for (got, msg) in h.ranks[link.to].host.take().iter().zip(sent) {
        assert!(got.bytes == msg.bytes(), "{}: {msg:?} was not copied in time", h.name);
    }
}

/// A pack function is asked for each byte once, from the first to the last. A transport that has no room
/// may have packed already (a kernel says so late); then the next offer starts from the first byte again.
fn payload_is_packed_in_order(setup: &Setup) {
    let h = Harness::new(setup);
    let link = h.link();
    let rank = &h.ranks[link.from];
    let max = rank.btl.attrs().max_send_size as usize;
    let totals: Vec<usize> = sizes(max).into_iter().filter(|&t| t >= 24).collect();
    // Nothing is taken out until there is no room, so that refusals are part of it.
    let msgs: Vec<Msg> =
        (0..10 * totals.len()).map(|i| Msg::new(i as u64, 24, totals[i % totals.len()] - 24)).collect();
    for msg in &msgs {
        let start = Instant::now();
        loop {
            let (status, log) = msg.describe_packed(|desc| rank.on(0, || rank.send_desc(link.to, 0, desc)));
            assert_eq!(log.wrong, None, "{}: {msg:?}: packed out of order", h.name);
            if status == Status::OK {
                assert_eq!(log.bytes, msg.payload as u64, "{}: {msg:?}: not all was packed", h.name);
                break;
            }
            assert_eq!(status, Status::NO_RESOURCE, "{}: {msg:?}", h.name);
            assert!(start.elapsed() < h.patience, "{}: no room", h.name);
            h.progress();
        }
    }
    h.settle(link.to, msgs.len() as u64);
    for (got, msg) in h.ranks[link.to].host.take().iter().zip(&msgs) {
        assert!(got.bytes == msg.bytes(), "{}: {msg:?} was packed wrongly", h.name);
    }
}

/// More than `max_send_size` is an error that does no harm.
fn too_large_is_refused(setup: &Setup) {
    let h = Harness::new(setup);
    let link = h.link();
    let max = h.ranks[0].btl.attrs().max_send_size as usize;
    let s = h.ranks[link.from].send(link.to, 0, &Msg::new(1, 24, max - 23));
    assert!(
        s.is_err() && s != Status::NO_RESOURCE,
        "{}: {} bytes are more than max_send_size, but send said {s}",
        h.name,
        max + 1
    );
    let mut count = 0;
    one(&h, &Msg::new(2, 24, max - 24), 0, &mut count);
}

/// A process that sent something and has ended, before anybody here asked for it, is reached all the same: a receive that names it is not
/// in vain.
fn whoever_has_sent_and_ended_is_reached(setup: &Setup) {
    let mut h = Harness::known_to_one(setup);
    let Some(link) = h.links().into_iter().find(|link| link.to != link.from) else { return };
    let msg = Msg::new(7, 24, 8);
    h.push(link, 0, &msg);
    h.settle(link.to, 1);
    assert_eq!(h.ranks[link.to].host.take().len(), 1, "{}: the message did not come", h.name);
    assert_eq!(h.ranks[link.from].finalize(), Status::OK);
    let endpoints = h.ranks[link.to].add_procs(&[local_proc(link.from as u32)]).expect("add_procs");
    assert!(
        endpoints.iter().all(|e| !e.is_null()),
        "{}: a process that has sent something is not reached",
        h.name
    );
}
