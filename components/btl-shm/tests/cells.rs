//! Messages in cells, which go with them from rank to rank (`src/cells.rs`).
#![cfg(not(loom))]

mod common;

use common::memory::{first_ring, peek, poke};
use common::*;
use oxmpi_mca::Status;

/// Where the cell of a ring of 128 KiB is: behind heads, lines and bulk, and a little aside of a page's beginning.
const CELL: u64 = 4096 + (32 << 10) + (128 << 10) + 128;

/// Long messages that go to and fro lie in one cell, those that cross in both.
#[test]
fn cells_go_with_the_messages() {
    let node = Node::new(2);
    let ranks = node.all(&[("ring_size", "128k"), ("nontemporal_min", "1073741824k")]);
    let to = [ranks[0].to(1), ranks[1].to(0)];
    let cells =
        [CELL, (CELL + (32 << 10) + 192).next_multiple_of(4096) + CELL].map(|at| first_ring(&node) + at);
    let mut sent = 0u64;
    let mut send = |from: usize, len: usize| {
        sent += 1;
        assert_eq!(ranks[from].send(to[from], 4, &sent.to_le_bytes(), &bytes(sent, len)), Status::OK);
        sent
    };
    let receive = |at: usize, number: u64, len: usize| {
        let got = ranks[at].drain();
        assert_eq!(got.len(), 1);
        assert!(got[0].bytes[..8] == number.to_le_bytes() && got[0].bytes[8..] == bytes(number, len)[..]);
    };
    // The rings, in the order of their cells.
    for from in [0, 1] {
        let number = send(from, 8);
        receive(1 - from, number, 8);
    }
    let inside = |cell: usize| peek(&node, cells[cell]) as u64;
    for len in [2000, 300, 5000, 1000, 16_000, 1500, 2000, 17_000] {
        for from in [0, 1] {
            let number = send(from, len);
            assert_eq!(inside(0), number, "to and fro, {len} bytes");
            receive(1 - from, number, len);
        }
    }
    assert_eq!(inside(1), 0);
    for turn in 0..5 {
        let (a, b) = (send(0, 3000), send(1, 4000));
        let (x, y) = if turn % 2 == 0 { (0, 1) } else { (1, 0) };
        assert_eq!((inside(x), inside(y)), (a, b), "crossing");
        receive(1, a, 3000);
        receive(0, b, 4000);
    }
    // One way: both cells are with the receiver, and nothing waits for them.
    for _ in 0..100 {
        let number = send(0, 6000);
        receive(1, number, 6000);
    }
    for from in [1, 1, 0, 1, 0, 0, 1] {
        let number = send(from, 2000);
        assert!(inside(0) == number || inside(1) == number, "there are cells again");
        receive(1 - from, number, 2000);
    }
}

/// A larger ring has eight cells where long messages go through them, and one else; what finds none goes through the bulk.
#[test]
fn several_cells_are_used_where_they_pay() {
    const LEN: usize = 12_000;
    const CELL: u64 = (64 << 10) + 192;
    let first = 4096 + (128 << 10) + (512 << 10) + 128;
    for (string, used) in [("1k", 8), ("1073741824k", 1)] {
        let node = Node::new(2);
        let ranks =
            node.all(&[("ring_size", "512k"), ("string_min", string), ("nontemporal_min", "1073741824k")]);
        let to = [ranks[0].to(1), ranks[1].to(0)];
        let mut sent = 1000u64;
        let mut send = |from: usize, count: u64| {
            let numbers = sent..sent + count;
            sent += count;
            for number in numbers.clone() {
                let payload = bytes(number, LEN);
                assert_eq!(ranks[from].send(to[from], 4, &number.to_le_bytes(), &payload), Status::OK);
            }
            numbers
        };
        let receive = |at: usize, numbers: core::ops::Range<u64>| {
            let got = ranks[at].drain();
            assert_eq!(got.len() as u64, numbers.end - numbers.start);
            for (message, number) in got.iter().zip(numbers) {
                assert!(
                    message.bytes[..8] == number.to_le_bytes()
                        && message.bytes[8..] == bytes(number, LEN)[..]
                );
            }
        };
        let ring = first_ring(&node);
        let in_cells = |numbers: &core::ops::Range<u64>| {
            let places = (0..2).flat_map(|side| {
                (0..used as u64).map(move |i| {
                    (first + used as u64 * CELL).next_multiple_of(4096) * side + first + i * CELL
                })
            });
            places.filter(|at| numbers.contains(&peek(&node, ring + at).into())).count()
        };
        // The rings, in this order.
        for from in [0, 1] {
            receive(1 - from, send(from, 1));
        }
        for round in 0..6 {
            let (a, b) = (send(0, 8), send(1, 8));
            assert_eq!((in_cells(&a), in_cells(&b)), (used, used), "round {round}");
            receive(1, a);
            receive(0, b);
        }
        let some = send(0, 12);
        assert_eq!(in_cells(&some), used, "the rest through the bulk");
        receive(1, some);
        let all = send(1, 16);
        assert_eq!(in_cells(&all), 2 * used, "one side has them all");
        receive(0, all);
    }
}

/// Cells of an earlier life may be lost or still be under way, and messages arrive all the same.
#[test]
fn cells_and_ranks_that_come_back() {
    let node = Node::new(2);
    let set = [("ring_size", "128k")];
    let stayer = node.open(0, &set);
    let out = stayer.to(1);
    let mut sent = 0u64;
    let mut next = || {
        sent += 1;
        sent
    };
    for life in 0..12u64 {
        let comer = node.open(1, &set);
        let back = comer.to(0);
        for i in 0..life % 4 {
            for turn in 0..20 {
                let (a, b) = (next(), next());
                assert_eq!(stayer.send(out, 1, &[], &bytes(a, 2500)), Status::OK);
                if (turn + i) % 3 == 0 {
                    assert_eq!(comer.drain()[0].bytes, bytes(a, 2500));
                }
                assert_eq!(comer.send(back, 2, &[], &bytes(b, 4500)), Status::OK);
                assert_eq!(stayer.drain()[0].bytes, bytes(b, 4500), "life {life}");
                if (turn + i) % 3 != 0 {
                    assert_eq!(comer.drain()[0].bytes, bytes(a, 2500), "life {life}");
                }
            }
        }
        // In both directions something is under way when it leaves.
        let (a, b) = (next(), next());
        assert_eq!(comer.send(back, 2, &[], &bytes(b, 3000)), Status::OK);
        comer.close();
        assert_eq!(stayer.send(out, 1, &[], &bytes(a, 3000)), Status::OK);
        if life % 2 == 0 {
            assert_eq!(stayer.drain()[0].bytes, bytes(b, 3000), "life {life}");
        }
        let comer = node.open(1, &set);
        assert_eq!(comer.drain()[0].bytes, bytes(a, 3000), "life {life}");
        if life % 2 == 1 {
            assert_eq!(stayer.drain()[0].bytes, bytes(b, 3000), "life {life}");
        }
    }
}

/// A line of one who lies about cells.
#[test]
fn a_cell_that_cannot_be_the_peers_closes_it() {
    let flag = |len: u64| 1u64 << 44 | 5 << 40 | len;
    // Second word, length, and how many such lines are right: the cell behind its own ring is the peer's once.
    for (which, len, right) in [
        (0, 100, 1),
        (0, (36 << 10) + 1, 0),
        (1, 100, 0),
        (2, 100, 0),
        (u64::MAX, 100, 0),
        (0, u32::MAX.into(), 0),
    ] {
        let node = Node::new(3);
        let ranks = node.all(&[("ring_size", "128k")]);
        assert_eq!(ranks[1].send(ranks[1].to(0), 1, b"x", &[]), Status::OK);
        assert_eq!(ranks[0].drain().len(), 1);
        for line in 1..=2 {
            let at = first_ring(&node) + 4096 + line * 64;
            poke(&node, at + 8, &u64::to_le_bytes(which));
            poke(&node, at, &flag(len).to_le_bytes());
        }
        assert_eq!(ranks[0].drain().len(), right);
        assert_eq!(ranks[0].reports().peer_errors.len(), 1, "{which} {len}");
        assert_eq!(ranks[0].reports().help[0].0, "garbage");
    }
}
