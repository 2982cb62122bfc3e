//! Messages that are taken while they are written (`src/parts.rs`).
#![cfg(not(loom))]

mod common;

use common::memory::{first_ring, peek, poke};
use common::*;
use oxmpi_mca::Status;
use std::thread;

/// Long messages go in cells and in pieces of 16 KiB, wherever this runs.
const SET: &[(&str, &str)] =
    &[("ring_size", "512k"), ("string_min", "1k"), ("nontemporal_min", "1073741824k")];
const HEADER: [u8; 8] = *b"header..";
const LEN: usize = 64 << 10;
/// The largest number of lines that a message of such a length is announced in.
const LINES: u64 = 4;

/// Where the flag of a line of the first ring is.
fn flag(node: &Node, line: u64) -> u64 {
    first_ring(node) + 4096 + line * 64
}

fn flags(node: &Node, lines: core::ops::Range<u64>) -> Vec<[u8; 8]> {
    let word = |at| u64::from(peek(node, at)) | u64::from(peek(node, at + 4)) << 32;
    lines.map(|line| word(flag(node, line)).to_le_bytes()).collect()
}

fn whole(number: u64) -> Vec<u8> {
    [&HEADER[..], &bytes(number, LEN)].concat()
}

/// A pair of ranks with a message from the second to the first, in a cell or in the bulk, of whose pieces only the first has been
/// announced.
struct Half {
    node: Node,
    ranks: Vec<Rank>,
    /// Where its first line is.
    line: u64,
    /// The flags of the others.
    rest: Vec<[u8; 8]>,
}

impl Half {
    fn written(in_cell: bool) -> Half {
        let node = Node::new(2);
        let ranks = node.all(SET);
        let to = ranks[1].to(0);
        // So many go in cells, of which none comes back.
        let before = if in_cell { 0 } else { 8 };
        assert_eq!(ranks[1].send(to, 1, b"first", &[]), Status::OK);
        for _ in 0..before {
            assert_eq!(ranks[1].send(to, 1, &HEADER, &bytes(1, 20_000)), Status::OK);
        }
        assert_eq!(ranks[0].drain().len(), 1 + before);
        assert_eq!(ranks[1].send(to, 4, &HEADER, &bytes(7, LEN)), Status::OK);
        let line = 1 + before as u64;
        let kind = flags(&node, line..line + 1)[0][5] & 15;
        assert_eq!(kind, if in_cell { 6 } else { 7 });
        let rest = flags(&node, line + 1..line + LINES);
        let half = Half { node, ranks, line, rest };
        (1..LINES).for_each(|line| half.poke(line, &[0; 8]));
        half
    }

    fn poke(&self, line: u64, word: &[u8; 8]) {
        poke(&self.node, flag(&self.node, self.line + line), word);
    }

    fn announce(&self, line: u64) {
        self.poke(line, &self.rest[line as usize - 1]);
    }
}

const BOTH: [bool; 2] = [true, false];

#[test]
fn what_is_there_is_offered_and_the_rest_when_it_comes() {
    for (takes, in_cell) in BOTH.into_iter().flat_map(|takes| BOTH.map(|in_cell| (takes, in_cell))) {
        let half = Half::written(in_cell);
        let (me, record) = (&half.ranks[0], &half.ranks[0].record);
        record.takes_parts.set(takes);
        let offers = || record.offers.take();
        assert_eq!(me.drain(), []);
        let first = offers();
        // The payload starts where a line does, a header in front of it.
        let piece = |number: u64| number << 14;
        let about = |to: u64, end: u64| to <= end && to > end - 64;
        assert!(!first.is_empty() && first.iter().all(|&to| about(to, piece(1))), "{first:?}");
        assert_eq!(first.len() == 1, takes, "what was taken is not offered again");
        assert!(me.arm(0).is_some(), "who waits for the rest may sleep: its sender rings");
        me.disarm(0);
        half.announce(1);
        assert_eq!(me.drain(), []);
        assert!(about(*offers().last().expect("an offer"), piece(2)));
        half.announce(2);
        half.announce(3);
        let got = me.drain();
        assert_eq!((got.len(), got[0].tag), (1, 4));
        assert!(got[0].bytes == whole(7));
        assert_eq!(offers(), if takes { vec![whole(7).len() as u64] } else { vec![] });
        // The cell came with it.
        assert_eq!(me.send(me.to(1), 3, &HEADER, &bytes(8, LEN)), Status::OK);
        assert!(half.ranks[1].drain()[0].bytes == whole(8));
        assert_eq!(me.reports().peer_errors.len(), 0);
    }
}

/// One that is all there is nobody's part.
#[test]
fn what_is_all_there_comes_whole() {
    let node = Node::new(2);
    let ranks = node.all(SET);
    ranks[0].record.takes_parts.set(true);
    for len in [20_000, 32 << 10, 40_000, LEN] {
        assert_eq!(ranks[1].send(ranks[1].to(0), 2, &HEADER, &bytes(1, len)), Status::OK);
        assert!(ranks[0].drain()[0].bytes[8..] == bytes(1, len)[..]);
    }
    assert_eq!(*ranks[0].record.offers.borrow(), []);
    for header in [16 << 10, 40_000, 60_000] {
        let (header, payload) = (bytes(2, header), bytes(3, 5000));
        assert_eq!(ranks[1].send(ranks[1].to(0), 2, &header, &payload), Status::OK);
        assert!(ranks[0].drain()[0].bytes == [header, payload].concat(), "a header longer than a piece");
    }
}

#[test]
fn a_line_that_is_no_later_one_of_the_message_closes_the_peer() {
    for (takes, in_cell) in [(true, true), (false, true), (true, false)] {
        let half = Half::written(in_cell);
        let me = &half.ranks[0];
        me.record.takes_parts.set(takes);
        assert_eq!(me.drain(), []);
        half.poke(1, &(1u64 << 44 | 1 << 40 | 8).to_le_bytes());
        assert_eq!(me.drain(), []);
        assert_eq!(me.reports().peer_errors.len(), 1);
        assert_eq!(me.progress(), 0, "nobody looks there again");
    }
}

/// A peer that takes back what it said when a part has gone up.
#[test]
fn a_message_that_becomes_another_closes_the_peer() {
    for in_cell in BOTH {
        let half = Half::written(in_cell);
        let me = &half.ranks[0];
        me.record.takes_parts.set(true);
        assert_eq!(me.drain(), []);
        let word = u64::from_le_bytes(flags(&half.node, half.line..half.line + 1)[0]);
        half.poke(0, &(word - (20 << 10)).to_le_bytes());
        assert_eq!(me.drain(), []);
        assert_eq!(me.reports().peer_errors.len(), 1);
    }
}

#[test]
fn a_message_in_more_pieces_than_there_can_be_closes_the_peer() {
    for (kind, len) in
        [(6, 69_505_u64), (6, 1 << 20), (6, u32::MAX.into()), (7, 1 << 20), (7, u32::MAX.into())]
    {
        let node = Node::new(2);
        let ranks = node.all(SET);
        assert_eq!(ranks[1].send(ranks[1].to(0), 1, b"first", &[]), Status::OK);
        assert_eq!(ranks[0].drain().len(), 1);
        poke(&node, flag(&node, 1), &(1u64 << 44 | kind << 40 | len).to_le_bytes());
        assert_eq!(ranks[0].drain(), []);
        assert_eq!(ranks[0].reports().peer_errors.len(), 1, "{len}");
    }
}

/// In earnest: while one side writes, the other reads, now taking parts and now not.
#[test]
fn every_byte_comes_as_it_was_written() {
    const COUNT: u64 = 3000;
    let len = |number: u64| 30_000 + (number * 7919 % 35_000) as usize;
    let node = Node::new(2);
    let mut ranks = node.all(SET);
    let (sender, receiver) = (ranks.pop().expect("two"), ranks.pop().expect("two"));
    let to = sender.to(0);
    let writer = thread::spawn(move || {
        let sender = sender;
        let to = { to };
        for number in 0..COUNT {
            let payload = bytes(number, len(number));
            while sender.send(to, 5, &number.to_le_bytes(), &payload) == Status::NO_RESOURCE {
                thread::yield_now();
            }
        }
        sender
    });
    let mut next = 0;
    while next < COUNT {
        // A message that has been taken in part goes on in parts.
        if receiver.record.part.borrow().is_empty() {
            receiver.record.takes_parts.set(next % 3 > 0);
        }
        receiver.progress();
        for message in receiver.record.arrived.take() {
            assert!(
                message.bytes[..8] == next.to_le_bytes() && message.bytes[8..] == bytes(next, len(next))[..]
            );
            next += 1;
        }
    }
    drop(writer.join().expect("the writer"));
    assert_eq!(receiver.reports().peer_errors.len(), 0);
}

/// Each cell gets memory with the first message in it, and a ring for all of its bulk when rows of long messages have filled what
/// had some at first.
#[test]
fn a_large_ring_gets_its_memory_when_it_needs_it() {
    let node = Node::new(2);
    let ranks = node.all(&[("ring_size", "4096k"), ("string_min", "1k"), ("nontemporal_min", "1073741824k")]);
    let to = ranks[0].to(1);
    let taken = || rustix::fs::fstat(&node.fd).expect("stat").st_blocks * 512;
    let sent = std::cell::Cell::new(0u64);
    // At most so many; returns how many there was room for.
    let send = |most: usize| {
        let room = |&_: &usize| {
            let number = sent.get();
            let status = ranks[0].send(to, 1, &number.to_le_bytes(), &bytes(number, LEN));
            assert!(status == Status::OK || status == Status::NO_RESOURCE);
            sent.set(number + u64::from(status == Status::OK));
            status == Status::OK
        };
        (0..most).take_while(room).count()
    };
    let receive = |count: usize| {
        let got = ranks[1].drain();
        assert_eq!(got.len(), count);
        for (message, number) in got.iter().zip(sent.get() - count as u64..) {
            assert!(
                message.bytes[..8] == number.to_le_bytes() && message.bytes[8..] == bytes(number, LEN)[..]
            );
        }
    };
    assert_eq!(ranks[0].send(to, 1, b"first", &[]), Status::OK);
    assert_eq!(ranks[1].drain().len(), 1);
    let before = taken();
    assert!(before < 1 << 20, "{before} bytes");
    for cells in 1..=8 {
        receive(send(1));
        let all = before + cells * (256 << 10);
        assert!((all..all + (64 << 10)).contains(&taken()), "{} bytes with {cells} cells", taken());
    }
    let first = taken();
    // The allocated part of the bulk, over its end again and again.
    for _ in 0..20 {
        assert_eq!(send(3), 3);
        receive(3);
    }
    assert_eq!(taken(), first);
    // More than that at once: it has it when the receiver has come after it.
    (0..2).for_each(|_| receive(send(100)));
    assert!(taken() > first + (3 << 20));
    let all = send(100);
    assert!(all > 55, "{all}");
    receive(all);
}
