//! Ranks in threads of this process: real races, and receivers that sleep whenever they may.
//!
//! A lost wake-up shows as a sleep that ends by time and finds a message; nothing else is timed.
#![cfg(not(loom))]

mod common;

use common::*;
use oxmpi_mca::Status;
use std::thread;
use std::time::Duration;

/// Longer than any scheduling delay; only a lost wake-up takes it.
const NEVER: Duration = Duration::from_secs(60);

/// Waits until `count` messages have come in all, sleeping in between. How often it slept.
fn wait_for(rank: &Rank, ctx: u32, count: usize, spins: u32) -> u32 {
    let mut slept = 0;
    while rank.record.count.get() < count {
        let before = rank.record.count.get();
        for _ in 0..=spins {
            rank.progress_on(ctx);
        }
        if rank.record.count.get() == before {
            if let Some(word) = rank.arm(ctx) {
                assert!(sleep(word, NEVER), "nobody rang");
                slept += 1;
            }
            rank.disarm(ctx);
        }
    }
    slept
}

fn send_patiently(rank: &Rank, to: PeerEndpoint, ctx: u32, tag: u8, header: &[u8], payload: &[u8]) {
    loop {
        match rank.send_on(to, ctx, tag, header, payload) {
            Status::OK => return,
            Status::NO_RESOURCE => thread::yield_now(),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_dialogue_of_sleepers() {
    for watched in ["0", "4"] {
        let node = Node::new(2);
        let mut ranks = node.all(&[("watched_rings", watched)]);
        let (b, a) = (ranks.pop().expect("b"), ranks.pop().expect("a"));
        let rounds = 5000;
        let (to_b, to_a) = (a.to(1), b.to(0));
        let answerer = thread::spawn(move || {
            let b = b;
            let to_a = { to_a };
            let mut slept = 0;
            for i in 0..rounds {
                slept += wait_for(&b, 0, i + 1, i as u32 % 3 * 50);
                assert_eq!(b.send(to_a, 1, &i.to_le_bytes(), &[]), Status::OK);
            }
            slept
        });
        let mut slept = 0;
        for i in 0..rounds {
            assert_eq!(a.send(to_b, 1, &i.to_le_bytes(), &[]), Status::OK);
            slept += wait_for(&a, 0, i + 1, i as u32 % 5 * 20);
        }
        slept += answerer.join().expect("answerer");
        assert!(slept > 0, "nobody ever slept");
        for (i, m) in a.record.arrived.borrow().iter().enumerate() {
            assert_eq!(m.bytes, i.to_le_bytes());
        }
    }
}

#[test]
fn a_stream_with_back_pressure() {
    let node = Node::new(2);
    let set = [
        ("ring_size", "8k"),
        ("max_send_size", "4096"),
        ("eager_limit", "4096"),
        ("rndv_eager_limit", "4096"),
    ];
    let mut ranks = node.all(&set);
    let (b, a) = (ranks.pop().expect("b"), ranks.pop().expect("a"));
    let messages = 30_000u64;
    let size = |i: u64| {
        (i.wrapping_mul(2_654_435_761) >> 7) as usize % if i.is_multiple_of(16) { 4000 } else { 100 }
    };
    let to_b = a.to(1);
    let sender = thread::spawn(move || {
        let to_b = { to_b };
        for i in 0..messages {
            send_patiently(&a, to_b, 0, i as u8, &i.to_le_bytes(), &bytes(i, size(i)));
            if i % 1000 == 0 {
                thread::sleep(Duration::from_micros(200));
            }
        }
        a
    });
    let mut next = 0u64;
    while next < messages {
        wait_for(&b, 0, next as usize + 1, 10);
        for m in b.record.arrived.take() {
            assert_eq!(m.bytes[..8], next.to_le_bytes());
            assert_eq!(m.bytes[8..], bytes(next, size(next)));
            next += 1;
        }
    }
    drop(sender.join().expect("sender"));
}

#[test]
fn seven_senders_and_one_that_sleeps() {
    let node = Node::new(8);
    let mut ranks = node.all(&[("ring_size", "64k")]);
    let each = 4000u32;
    let senders: Vec<_> = ranks
        .drain(1..)
        .map(|rank| {
            let to = rank.to(0);
            thread::spawn(move || {
                let to = { to };
                for i in 0..each {
                    send_patiently(&rank, to, 0, 1, &i.to_le_bytes(), &[rank.local as u8; 40]);
                    // Busy and silent by turns, so that watched rings change.
                    if i / 500 % 7 == rank.local {
                        thread::sleep(Duration::from_micros(10));
                    }
                }
                rank
            })
        })
        .collect();
    wait_for(&ranks[0], 0, 7 * each as usize, 20);
    for sender in senders {
        drop(sender.join().expect("sender"));
    }
    let mut next = [0u32; 8];
    for m in ranks[0].record.arrived.take() {
        let from = (m.proc - 100) as usize;
        assert_eq!(m.bytes[..4], next[from].to_le_bytes(), "order of sender {from}");
        assert_eq!(m.bytes[4], from as u8);
        next[from] += 1;
    }
}

/// A rank that two threads use, each its own context, as the contract permits.
struct SharedRank(Rank);
// SAFETY: contexts are independent; the record keeps nothing here but a count per context.
unsafe impl Sync for SharedRank {}

#[test]
fn contexts_are_independent() {
    let mut node = Node::new(2);
    node.cris = 2;
    let a = SharedRank(node.open(0, &[]));
    let b = node.open(1, &[]);
    assert_eq!(a.0.attrs().contexts, 2);
    let to_b = a.0.to(1);
    let each = 20_000u32;
    thread::scope(|scope| {
        for ctx in 0..2u32 {
            let a = &a;
            scope.spawn(move || {
                let to_b = { to_b };
                for i in 0..each {
                    send_patiently(&a.0, to_b, ctx, ctx as u8, &i.to_le_bytes(), &[ctx as u8; 30]);
                }
            });
        }
        // One thread receives on both.
        let mut next = [0u32; 2];
        while next != [each; 2] {
            for ctx in 0..2 {
                b.progress_on(ctx);
            }
            for m in b.record.arrived.take() {
                assert_eq!(m.tag as u32, m.ctx, "a message of the other context");
                assert_eq!(m.bytes[..4], next[m.ctx as usize].to_le_bytes());
                assert_eq!(m.bytes[4], m.ctx as u8);
                next[m.ctx as usize] += 1;
            }
        }
    });
    // A rank with fewer contexts is not sent to where it does not read.
    let node = {
        let mut node = Node::new(3);
        node.cris = 3;
        node
    };
    let first = node.open(0, &[]);
    let second = node.open(1, &[("virtual_device_count", "1")]);
    assert_eq!((first.attrs().contexts, second.attrs().contexts), (3, 1));
    assert_eq!(first.send_on(first.to(1), 0, 0, b"x", &[]), Status::OK);
    assert_eq!(first.send_on(first.to(1), 2, 0, b"x", &[]), Status::NOT_SUPPORTED);
    assert_eq!(second.drain().len(), 1);
}
