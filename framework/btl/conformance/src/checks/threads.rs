//! Several threads, and several contexts.

use crate::harness::Harness;
use crate::message::Msg;
use crate::rank::Rank;
use crate::setup::Setup;
use oxmpi_mca::Status;
use std::time::Instant;

crate::check!(Threads: contexts_are_independent, contexts_on_threads, everyone_to_everyone, ranks_on_threads);

/// Messages sent on different contexts keep to themselves; each arrives, each context in order.
fn contexts_are_independent(setup: &Setup) {
    let h = Harness::new(setup);
    let link = h.link();
    let contexts = h.ranks[link.from].contexts();
    const EACH: u64 = 500;
    for i in 0..EACH {
        for ctx in 0..contexts {
            h.push(link, ctx, &Msg { tag: ctx as u8, ..Msg::new(i, 24, (i % 300) as usize) });
        }
    }
    h.settle(link.to, EACH * contexts as u64);
    let mut next = vec![0u64; contexts as usize];
    for got in h.ranks[link.to].host.take() {
        let n = &mut next[got.tag as usize];
        assert!(
            got.bytes == Msg::new(*n, 24, (*n % 300) as usize).bytes(),
            "{}: context {} is out of order at message {n}",
            h.name,
            got.tag
        );
        *n += 1;
    }
}

fn keep_trying(h: &Harness, rank: &Rank, to: usize, ctx: u32, msg: &Msg) {
    let start = Instant::now();
    loop {
        match rank.send(to, ctx, msg) {
            Status::OK => return,
            Status::NO_RESOURCE => {
                rank.progress(ctx);
                std::thread::yield_now();
            }
            s => panic!("send said {s}"),
        }
        assert!(start.elapsed() < h.patience, "{}: no room", h.name);
    }
}

/// Ping-pong with each rank on a thread of its own: what one CPU publishes the other sees whole.
fn ranks_on_threads(setup: &Setup) {
    const ROUNDS: u64 = 5000;
    let h = Harness::new(setup);
    let Some(link) = h.links().into_iter().find(|l| l.from != l.to) else {
        return; // Only to itself: that is one thread.
    };
    let play = |me: usize, other: usize, first: bool| {
        let rank = &h.ranks[me];
        for i in 0..ROUNDS {
            let msg = Msg::new(i, 24, (i % 1000) as usize);
            if first {
                keep_trying(&h, rank, other, 0, &msg);
            }
            let start = Instant::now();
            while rank.host.arrived() == i {
                if rank.progress(0) == 0 {
                    std::thread::yield_now();
                }
                assert!(start.elapsed() < h.patience, "round {i} never ends");
            }
            let got = rank.host.take();
            assert!(got.len() == 1 && got[0].bytes == msg.bytes(), "round {i} brought something else");
            if !first {
                keep_trying(&h, rank, other, 0, &msg);
            }
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(|| play(link.to, link.from, false));
        play(link.from, link.to, true);
    });
}

/// One thread per context and rank, all at once, under MPI_THREAD_MULTIPLE.
fn contexts_on_threads(setup: &Setup) {
    const EACH: u64 = 2000;
    let h = Harness::new(&setup.clone().threaded(true));
    let link = h.link();
    let contexts = h.ranks[link.from].contexts();
    let total = EACH * contexts as u64;
    std::thread::scope(|threads| {
        for ctx in 0..contexts {
            let h = &h;
            threads.spawn(move || {
                for i in 0..EACH {
                    let msg = Msg { tag: ctx as u8, ..Msg::new(i, 24, (i % 500) as usize) };
                    keep_trying(h, &h.ranks[link.from], link.to, ctx, &msg);
                }
            });
            threads.spawn(move || {
                let start = Instant::now();
                while h.ranks[link.to].host.arrived() < total {
                    if h.ranks[link.to].progress(ctx) == 0 {
                        std::thread::yield_now();
                    }
                    assert!(start.elapsed() < 3 * h.patience, "not all arrived");
                }
            });
        }
    });
    let mut next = vec![0u64; contexts as usize];
    for got in h.ranks[link.to].host.take() {
        let n = &mut next[got.tag as usize];
        assert!(got.bytes == Msg::new(*n, 24, (*n % 500) as usize).bytes(), "{}: order", h.name);
        *n += 1;
    }
}

/// Every rank on its own thread sends to every rank it reaches, and takes what the others send.
fn everyone_to_everyone(setup: &Setup) {
    const EACH: u64 = 1000;
    let h = Harness::new(&setup.clone().ranks(setup.ranks.max(4)));
    let links = h.links();
    std::thread::scope(|threads| {
        for me in 0..h.ranks.len() {
            let (h, links) = (&h, &links);
            threads.spawn(move || {
                let rank = &h.ranks[me];
                let expected = EACH * links.iter().filter(|l| l.to == me).count() as u64;
                for i in 0..EACH {
                    for link in links.iter().filter(|l| l.from == me) {
                        keep_trying(h, rank, link.to, 0, &Msg::new(i, 24, (i % 200) as usize));
                    }
                }
                let start = Instant::now();
                while rank.host.arrived() < expected {
                    if rank.progress(0) == 0 {
                        std::thread::yield_now();
                    }
                    assert!(start.elapsed() < 3 * h.patience, "rank {me}: not all arrived");
                }
            });
        }
    });
    for rank in &h.ranks {
        let mut next = vec![0u64; h.ranks.len()];
        for got in rank.host.take() {
            let n = &mut next[got.proc as usize];
            assert!(got.bytes == Msg::new(*n, 24, (*n % 200) as usize).bytes(), "{}: order", h.name);
            *n += 1;
        }
    }
}
