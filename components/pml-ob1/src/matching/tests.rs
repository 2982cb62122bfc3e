//! Every engine at every SIMD level against a plain model: each history gives the same pairs in the
//! same order. `memory` counts what the engines take, `sharded` does the same with a communicator that is spread
//! over shards and gathered again.
//!
//! A history is a string of bytes, so that whatever makes bytes can drive it: proptest here, a fuzzer
//! through [`drive`]. Three communicators have an engine each and do not see each other's messages.

mod memory;
mod sharded;

use super::*;
use crate::recv::status_of;
use crate::shard::Incoming;
use crate::wire::{kind, source_tag};
use oxmpi_mca::Status;
use proptest::prelude::*;
use std::collections::VecDeque;

/// Waits, in the model: number, source, tag and bytes; a receive's source and tag may be wildcards.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    id: usize,
    source: i32,
    tag: i32,
    bytes: u64,
}

/// MPI's words, without masks.
fn fits(receive: (i32, i32), message: (i32, i32)) -> bool {
    (receive.0 == ANY_SOURCE || receive.0 == message.0)
        && if receive.1 == ANY_TAG { message.1 >= 0 } else { receive.1 == message.1 }
}

/// Two lists, searched from the front.
#[derive(Default)]
struct Model {
    posted: Vec<Entry>,
    waiting: Vec<Entry>,
}

impl Model {
    fn receive_for(&self, source: i32, tag: i32) -> Option<usize> {
        self.posted.iter().position(|p| fits((p.source, p.tag), (source, tag)))
    }
    fn message_for(&self, source: i32, tag: i32) -> Option<usize> {
        self.waiting.iter().position(|u| fits((source, tag), (u.source, u.tag)))
    }
}

/// A node that knows its number.
#[repr(C)]
struct Numbered<N> {
    node: N,
    entry: Entry,
}

fn entry_of<N>(node: NonNull<N>) -> Entry {
    // SAFETY: all nodes in these tests are the first field of a `Numbered`.
    unsafe { node.cast::<Numbered<N>>().as_ref() }.entry
}

/// Bytes that run out as zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> usize {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first as usize
            }
            None => 0,
        }
    }
    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.next() % list.len()]
    }
    /// Equal in some of their bits, so that fuzzy lanes meet.
    fn source(&mut self) -> i32 {
        self.of(&[0, 1, 2, 3, 0, 1, 2, 3, 40, 255, 256, 257, 0x1_0000, 0x100_0001])
    }
    fn tag(&mut self) -> i32 {
        self.of(&[0, 1, 2, 3, 0, 1, 2, 3, 255, 256, 0x1_0000, 0x100_0002, i32::MAX, -4, -5])
    }
    fn asked(&mut self) -> (i32, i32) {
        match self.next() % 8 {
            0 => (ANY_SOURCE, self.tag()),
            1 => (self.source(), ANY_TAG),
            2 => (ANY_SOURCE, ANY_TAG),
            _ => (self.source(), self.tag()),
        }
    }
}

/// One communicator: its engine, the model, and all nodes ever made.
#[allow(clippy::vec_box, reason = "the engine holds the nodes' addresses")]
struct Comm {
    engine: Engine,
    model: Model,
    receives: Vec<Box<Numbered<Posted>>>,
    messages: Vec<Box<Numbered<Unexpected>>>,
}

impl Comm {
    fn new(setting: Setting) -> Comm {
        let engine = Engine::new(setting);
        Comm { engine, model: Model::default(), receives: Vec::new(), messages: Vec::new() }
    }

    /// The receive and the message that were paired: what the status says.
    fn check_status(receive: Entry, message: Entry) {
        let inc = Incoming {
            key: source_tag(message.source, message.tag),
            order_key: 0,
            payload: core::ptr::null(),
            len: 0,
            msg_len: message.bytes,
            src_req: 0,
            addr: 0,
            proc: 0,
            kind: kind::RNDV,
            ctx: 0,
        };
        let status = status_of(&inc, receive.bytes);
        assert_eq!((status.source, status.tag), (message.source, message.tag));
        assert_eq!(status.bytes, message.bytes.min(receive.bytes));
        let truncated = message.bytes > receive.bytes;
        assert_eq!(status.error, if truncated { Status::TRUNCATED } else { Status::OK });
    }

    fn receive(&mut self, (source, tag): (i32, i32), bytes: u64) {
        let receive = Entry { id: self.receives.len(), source, tag, bytes };
        let found = self.engine.find_unexpected(Pattern::new(source, tag), true).map(entry_of);
        let expected = self.model.message_for(source, tag).map(|i| self.model.waiting.remove(i));
        assert_eq!(found, expected, "receive of {source}, {tag}");
        if let Some(message) = found {
            return Comm::check_status(receive, message);
        }
        let node = Posted { next: null_mut(), pattern: Pattern::new(source, tag), stamp: receive.id as u64 };
        self.receives.push(Box::new(Numbered { node, entry: receive }));
        // SAFETY: boxed, and kept to the end.
        unsafe { self.engine.post(NonNull::from(&mut *self.receives[receive.id]).cast()) };
        self.model.posted.push(receive);
    }

    fn arrive(&mut self, source: i32, tag: i32, bytes: u64) {
        let message = Entry { id: self.messages.len(), source, tag, bytes };
        let arrival = Arrival { key: source_tag(source, tag), comm: 0, order_key: 0 };
        let shown = self.engine.peek_arrival(arrival);
        // SAFETY: shown by the engine, so a node of ours.
        let stamp = shown.map(|node| unsafe { node.as_ref() }.stamp);
        let found = self.engine.match_arrival(arrival);
        assert_eq!(shown, found, "what was shown is what is given");
        let expected = self.model.receive_for(source, tag).map(|i| self.model.posted.remove(i));
        assert_eq!(found.map(entry_of), expected, "arrival of {source}, {tag}");
        if let Some(receive) = expected {
            assert_eq!(stamp, Some(receive.id as u64));
            return Comm::check_status(receive, message);
        }
        let node = Unexpected { next: null_mut(), key: arrival.key, order_key: 0 };
        self.messages.push(Box::new(Numbered { node, entry: message }));
        // SAFETY: boxed, and kept to the end.
        unsafe { self.engine.add_unexpected(NonNull::from(&mut *self.messages[message.id]).cast()) };
        self.model.waiting.push(message);
    }

    fn probe(&mut self, (source, tag): (i32, i32), take: bool) {
        let found = self.engine.find_unexpected(Pattern::new(source, tag), take).map(entry_of);
        let expected = self
            .model
            .message_for(source, tag)
            .map(|i| if take { self.model.waiting.remove(i) } else { self.model.waiting[i] });
        assert_eq!(found, expected, "probe of {source}, {tag}");
    }

    fn cancel(&mut self, number: usize) {
        if self.receives.is_empty() {
            return;
        }
        let id = number % self.receives.len();
        let was_here = self.engine.cancel(NonNull::from(&mut *self.receives[id]).cast());
        let before = self.model.posted.len();
        self.model.posted.retain(|p| p.id != id);
        assert_eq!(was_here, self.model.posted.len() < before, "cancel of {id}");
    }

    fn step(&mut self, bytes: &mut Bytes<'_>) {
        match bytes.next() % 16 {
            0..4 => {
                let asked = bytes.asked();
                self.receive(asked, bytes.next() as u64 % 4);
            }
            4..8 => {
                let (source, tag) = (bytes.source(), bytes.tag());
                self.arrive(source, tag, bytes.next() as u64 % 4);
            }
            8 => self.probe(bytes.asked(), false),
            9 => self.probe(bytes.asked(), true),
            10 => self.cancel(bytes.next() << 8 | bytes.next()),
            // Many at once, so that queues become long: equal ones, or each its own tag.
            11 | 12 => {
                let (count, asked, apart) = (bytes.next() / 2, bytes.asked(), bytes.next() as i32 % 3);
                for i in 0..count as i32 {
                    let tag = if asked.1 < 0 { asked.1 } else { (asked.1 ^ (i * apart)) & i32::MAX };
                    self.receive((asked.0, tag), 1);
                }
            }
            13 | 14 => {
                let (count, source, tag) = (bytes.next() / 2, bytes.source(), bytes.tag());
                let apart = bytes.next() as i32 % 3;
                for i in 0..count as i32 {
                    self.arrive(source, if tag < 0 { tag } else { (tag ^ (i * apart)) & i32::MAX }, 1);
                }
            }
            // What waits is received from one end or the other, or every second one.
            _ => {
                let (count, from) = (bytes.next(), bytes.next() % 3);
                for _ in 0..count {
                    let waiting = &self.model.waiting;
                    let entry = match from {
                        0 => waiting.first(),
                        1 => waiting.last(),
                        _ => waiting.get(waiting.len() / 2),
                    };
                    let Some(entry) = entry.copied() else { break };
                    self.receive((entry.source, entry.tag), 1);
                }
                for _ in 0..count {
                    let posted = &self.model.posted;
                    let entry = match from {
                        0 => posted.last(),
                        1 => posted.first(),
                        _ => posted.get(posted.len() / 2),
                    };
                    let Some(entry) = entry.copied() else { break };
                    let source = if entry.source == ANY_SOURCE { 7 } else { entry.source };
                    self.arrive(source, if entry.tag == ANY_TAG { 9 } else { entry.tag }, 1);
                }
            }
        }
        assert_eq!(self.engine.has_posted(), !self.model.posted.is_empty());
    }

    fn finish(mut self) {
        let mut left: VecDeque<Entry> = self.model.waiting.drain(..).collect();
        while let Some(node) = self.engine.pop_unexpected() {
            assert_eq!(Some(entry_of(node)), left.pop_front());
        }
        assert!(left.is_empty());
    }
}

/// Runs a history with one setting.
fn drive(setting: Setting, history: &[u8]) {
    let mut comms: [Comm; 3] = core::array::from_fn(|_| Comm::new(setting));
    let mut bytes = Bytes(history);
    while !bytes.0.is_empty() {
        // Most of it on one, so that its queues become long.
        let at = bytes.of(&[0, 0, 0, 0, 0, 1, 1, 2]);
        comms[at].step(&mut bytes);
    }
    comms.into_iter().for_each(Comm::finish);
}

/// Every engine at every level that this processor has; the adaptive one with several limits.
fn settings() -> Vec<Setting> {
    let simd = Simd::best();
    let mut all = vec![setting(Choice::List)];
    all.extend([1, 7, 64].map(|walk| Setting { choice: Choice::Adaptive, simd, walk }));
    for simd in Level::ALL.into_iter().filter_map(Simd::new) {
        let indexed = Choice::ALL.into_iter().filter(|c| !matches!(c, Choice::List | Choice::Adaptive));
        all.extend(indexed.map(|choice| Setting { choice, simd, walk: 64 }));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engines_agree_with_the_model(history in prop::collection::vec(any::<u8>(), 0..300)) {
        for setting in settings() {
            drive(setting, &history);
        }
    }
}

fn setting(choice: Choice) -> Setting {
    Setting { choice, simd: Simd::best(), walk: 64 }
}

#[test]
fn names_lead_to_engines() {
    for choice in Choice::ALL {
        assert_eq!(Choice::by_name(choice.name()), Some(choice));
    }
    assert_eq!(Choice::by_name(""), None);
    assert_eq!(Choice::by_name("quantum"), None);
}

/// A queue that stays long but loses its nodes out of order keeps its memory in proportion.
#[test]
fn holes_are_reclaimed() {
    for choice in Choice::ALL {
        let mut comm = Comm::new(setting(choice));
        // A long-lived receive and message in every stretch, others come and go between them.
        for round in 0..200 {
            for i in 0..100 {
                comm.receive((1, i), 0);
                comm.arrive(2, i, 0);
            }
            for i in 0..100 {
                if i != round % 100 {
                    comm.arrive(1, i, 0);
                    comm.receive((2, i), 0);
                }
            }
        }
        assert_eq!((comm.model.posted.len(), comm.model.waiting.len()), (200, 200));
        // 20000 of each were there, never more than 300 at a time.
        let bytes = comm.engine.bytes();
        assert!(bytes < 120_000, "{}: {bytes} bytes for at most 300 of each", choice.name());
        comm.finish();
    }
}

/// After a long queue has been emptied and short ones have come, the list is in front again; and its
/// index keeps what it has allocated.
#[test]
fn the_adaptive_engine_returns_to_its_list() {
    let mut comm = Comm::new(setting(Choice::Adaptive));
    let at_rest = comm.engine.bytes();
    let mut peaks = Vec::new();
    for _ in 0..3 {
        (0..1000).for_each(|i| comm.receive((1, i), 0));
        (0..1000).rev().for_each(|i| comm.arrive(1, i, 0));
        peaks.push(comm.engine.bytes());
    }
    assert!(peaks[0] > at_rest, "a search of 1000 has made an index");
    assert!(comm.engine.posted.uses_index(), "the last filling was long");
    comm.receive((1, 1), 0);
    comm.arrive(1, 1, 0);
    assert!(!comm.engine.posted.uses_index(), "the last filling was short");
    assert_eq!(peaks[0], peaks[2], "no allocation in the steady state");
    assert!(!comm.engine.waiting.uses_index());
    comm.finish();
}
