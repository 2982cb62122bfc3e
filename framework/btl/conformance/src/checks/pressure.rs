//! Many messages: their order, and what happens when there is no room.

use crate::harness::Harness;
use crate::message::{Msg, step};
use crate::setup::Setup;
use oxmpi_btl::cap;
use oxmpi_mca::Status;
use std::time::Instant;

crate::check!(Pressure: back_pressure_loses_nothing, order_with_many_sizes, what_waits_is_told);

/// Enough to go round any ring several times.
const MESSAGES: u64 = 20_000;
/// A transport that takes this much without a receiver is taken to have no bound.
const ENOUGH: usize = 64 << 20;

/// Messages of one link and context arrive in the order of their sends, whatever their sizes.
fn order_with_many_sizes(setup: &Setup) {
    let h = Harness::new(setup);
    for link in h.links() {
        let max = h.ranks[link.from].btl.attrs().max_send_size as usize;
        let before = h.ranks[link.to].host.arrived();
        let (mut expected, mut x) = (Vec::new(), link.from as u64 * 77 + link.to as u64);
        for i in 0..MESSAGES / h.links().len() as u64 {
            x = step(x);
            // Mostly small, now and then anything up to the largest.
            let room = if x.is_multiple_of(16) { max - 24 } else { 200.min(max - 24) };
            let msg = Msg::new(i, 24, (x >> 20) as usize % (room + 1));
            h.push(link, 0, &msg);
            expected.push(msg);
            if (x >> 8).is_multiple_of(50) {
                h.progress();
            }
        }
        h.settle(link.to, before + expected.len() as u64);
        let got = h.ranks[link.to].host.take();
        for (i, (got, msg)) in got.iter().zip(&expected).enumerate() {
            assert!(
                got.tag == msg.tag && got.bytes == msg.bytes(),
                "{}: {link:?}: message {i} is not the one that was sent as number {i}",
                h.name
            );
        }
    }
}

/// NO_RESOURCE means that nothing happened: exactly what was taken arrives, and then there is room.
fn back_pressure_loses_nothing(setup: &Setup) {
    let h = Harness::new(setup);
    let link = h.link();
    let max = h.ranks[link.from].btl.attrs().max_send_size as usize;
    let (mut count, mut seed) = (0u64, 0u64);
    for payload in [0, 8, 1000.min(max - 24), max - 24] {
        let (mut taken, begun) = (Vec::new(), Instant::now());
        let full = loop {
            seed += 1;
            let msg = Msg::new(seed, 24, payload);
            match h.ranks[link.from].send(link.to, 0, &msg) {
                Status::OK => taken.push(msg),
                // Room that others' progress has made may take a device a moment to come here.
                Status::NO_RESOURCE if taken.is_empty() && begun.elapsed() < h.patience => _ = h.progress(),
                Status::NO_RESOURCE => break true,
                s => panic!("{}: send said {s} where it had no room", h.name),
            }
            if taken.len() * (payload + 24) > ENOUGH {
                break false;
            }
        };
        assert!(!taken.is_empty(), "{}: no room for a message of {} bytes at all", h.name, payload + 24);
        // Asking again changes nothing, nor does the sender's progress alone.
        for i in 0..100 * full as u64 {
            if h.ranks[link.from].send(link.to, 0, &Msg::new(seed + i, 24, payload)) == Status::OK {
                taken.push(Msg::new(seed + i, 24, payload));
            }
        }
        seed += 100;
        assert_eq!(h.ranks[link.to].host.arrived(), count, "{}: delivered without progress", h.name);
        count += taken.len() as u64;
        h.settle(link.to, count);
        for (got, msg) in h.ranks[link.to].host.take().iter().zip(&taken) {
            assert!(got.bytes == msg.bytes(), "{}: {msg:?} suffered when there was no room", h.name);
        }
    }
}

/// `held` says what the other side said last by `hold`, each pair of processes for itself, and who sees a later
/// word finds what was sent before it.
fn what_waits_is_told(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::HOLD) {
        return;
    }
    let hold = |from: usize, to: usize, word| h.ranks[from].hold(to, word);
    let held = |at: usize, from: usize| h.ranks[at].held(from);
    for link in h.links() {
        assert_eq!(held(link.to, link.from), 0, "{}: {link:?}: nothing was said yet", h.name);
    }
    for (i, link) in h.links().into_iter().enumerate() {
        hold(link.from, link.to, 100 + i as u64);
    }
    for (i, link) in h.links().into_iter().enumerate() {
        assert_eq!(held(link.to, link.from), 100 + i as u64, "{}: {link:?}", h.name);
        let before = h.ranks[link.to].host.arrived();
        assert_eq!(h.ranks[link.from].send(link.to, 0, &Msg::new(i as u64, 24, 0)), Status::OK);
        hold(link.from, link.to, 0);
        assert_eq!(held(link.to, link.from), 0, "{}: {link:?}", h.name);
        h.ranks[link.to].progress_all();
        assert_eq!(h.ranks[link.to].host.arrived(), before + 1, "{}: {link:?}: not visible", h.name);
        h.ranks[link.to].host.take();
    }
}
