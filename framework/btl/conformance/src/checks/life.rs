//! Opening, meeting, parting, closing.

use crate::harness::{Harness, local_proc};
use crate::message::Msg;
use crate::setup::Setup;
use oxmpi_btl::ProcInfo;
use oxmpi_mca::Status;

crate::check!(Life: endpoints_one_by_one_or_together, finalize_sends_what_is_queued, open_and_close_many_times, reaches_whom_it_should, two_jobs_do_not_meet);

/// Reaches exactly those it is meant to, and says so by a null endpoint, not by an error.
fn reaches_whom_it_should(setup: &Setup) {
    let h = Harness::new(setup);
    for (from, rank) in h.ranks.iter().enumerate() {
        for to in 0..h.ranks.len() {
            assert_eq!(
                rank.reaches(to),
                setup.reach.covers(from as u32, to as u32),
                "{}: does rank {from} reach rank {to}?",
                h.name
            );
        }
    }
}

/// Asked twice, one by one or together, in any order: the same answers, and endpoints that work.
fn endpoints_one_by_one_or_together(setup: &Setup) {
    let h = Harness::new(setup);
    let n = h.ranks.len();
    for rank in &h.ranks {
        assert_eq!(rank.add_procs(&[]).expect("no process is asked for").len(), 0);
        let mut endpoints = Vec::new();
        for to in (0..n).rev() {
            let one = rank.add_procs(&[local_proc(to as u32)]).expect("add_procs of one");
            assert_eq!(one[0].is_null(), !rank.reaches(to), "{}: another answer for rank {to}", h.name);
            endpoints.extend(one);
        }
        let reversed: Vec<ProcInfo> = (0..n as u32).rev().map(local_proc).collect();
        endpoints.extend(rank.add_procs(&reversed).expect("add_procs of all"));
        assert_eq!(rank.del_procs(&endpoints), Status::OK, "{}: del_procs", h.name);
    }
    // The first endpoints are untouched by that.
    for (i, link) in h.links().into_iter().enumerate() {
        let before = h.ranks[link.to].host.arrived();
        let msg = Msg::new(i as u64, 24, 8);
        h.push(link, 0, &msg);
        h.settle(link.to, before + 1);
        assert_eq!(h.ranks[link.to].host.take()[0].bytes, msg.bytes());
    }
}

/// Two jobs in one process are strangers, though they use one component.
fn two_jobs_do_not_meet(setup: &Setup) {
    let (a, b) = (Harness::new(setup), Harness::new(setup));
    for round in 0..20u64 {
        for (h, seed) in [(&a, 1000), (&b, 2000)] {
            let msg = Msg::new(seed + round, 16, 100);
            h.push(h.link(), 0, &msg);
            h.settle(h.link().to, round + 1);
            let got = h.ranks[h.link().to].host.take();
            assert_eq!(got.len(), 1);
            assert_eq!(got[0].bytes, msg.bytes(), "{}: a message of another job", h.name);
        }
    }
}

/// Messages that were sent before the sender's `finalize` arrive after it.
fn finalize_sends_what_is_queued(setup: &Setup) {
    let mut h = Harness::new(setup);
    let Some(link) = h.links().into_iter().find(|l| l.from != l.to) else {
        return; // Only to itself: who finalizes has nobody left to receive.
    };
    let msgs: Vec<Msg> = (0..5).map(|i| Msg::new(i, 24, 64)).collect();
    for msg in &msgs {
        h.push(link, 0, msg);
    }
    assert_eq!(h.ranks[link.from].finalize(), Status::OK, "{}: finalize", h.name);
    let receiver = &h.ranks[link.to];
    let start = std::time::Instant::now();
    while receiver.host.arrived() < msgs.len() as u64 {
        receiver.progress_all();
        assert!(start.elapsed() < h.patience, "{}: finalize lost what was sent before", h.name);
    }
    for (got, msg) in receiver.host.take().iter().zip(&msgs) {
        assert_eq!(got.bytes, msg.bytes());
    }
    // The others go on without the one that left.
    for other in h.links().into_iter().filter(|l| l.from != link.from && l.to != link.from) {
        let before = h.ranks[other.to].host.arrived();
        while h.ranks[other.from].send(other.to, 0, &msgs[0]) == Status::NO_RESOURCE {
            h.ranks[other.to].progress_all();
        }
        while h.ranks[other.to].host.arrived() == before {
            h.ranks[other.from].progress_all();
            h.ranks[other.to].progress_all();
            assert!(start.elapsed() < 2 * h.patience, "{}: {other:?} stopped when another left", h.name);
        }
    }
}

/// Nothing is left behind: neither file descriptors nor names that the next job would trip over.
fn open_and_close_many_times(setup: &Setup) {
    for i in 0..30 {
        let h = Harness::new(setup);
        let msg = Msg::new(i, 24, 8);
        h.push(h.link(), 0, &msg);
        h.settle(h.link().to, 1);
    }
}
