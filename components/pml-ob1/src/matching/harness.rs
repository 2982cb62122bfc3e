//! Driver of the engines in tests: a history, read from bytes, goes through an engine and through a plain
//! model, and each step must give the same.
//!
//! A history is a string of bytes, so that whatever makes bytes can drive it: proptest here, a fuzzer
//! (`fuzz/` at the root) through [`every_engine`]. Three communicators have an engine each and do not see each
//! other's messages.

use super::*;
use crate::receive::incoming::Envelope;
use crate::receive::meet::status_of;
use crate::wire::{kind, source_tag};
use core::ptr::{NonNull, null_mut};
use oxmpi_mca::Status;
use oxmpi_pml::{ANY_SOURCE, ANY_TAG};
use std::collections::VecDeque;

/// Waits, in the model: number, source, tag and bytes; a receive's source and tag may be wildcards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) id: usize,
    pub(crate) source: i32,
    pub(crate) tag: i32,
    pub(crate) bytes: u64,
}

/// MPI's words, without masks.
pub(crate) fn fits(receive: (i32, i32), message: (i32, i32)) -> bool {
    (receive.0 == ANY_SOURCE || receive.0 == message.0)
        && if receive.1 == ANY_TAG { message.1 >= 0 } else { receive.1 == message.1 }
}

/// Two lists, searched from the front.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) posted: Vec<Entry>,
    pub(crate) waiting: Vec<Entry>,
}

impl Model {
    pub(crate) fn receive_for(&self, source: i32, tag: i32) -> Option<usize> {
        self.posted.iter().position(|p| fits((p.source, p.tag), (source, tag)))
    }
    pub(crate) fn message_for(&self, source: i32, tag: i32) -> Option<usize> {
        self.waiting.iter().position(|u| fits((source, tag), (u.source, u.tag)))
    }
}

/// A node that knows its number.
#[repr(C)]
pub(crate) struct NumberedNode<N> {
    pub(crate) node: N,
    pub(crate) entry: Entry,
}

/// Gives the number and what goes with it of a node.
///
/// # Safety
/// The node is the first field of a `NumberedNode` that lives.
pub(crate) unsafe fn entry_of<N>(node: NonNull<N>) -> Entry {
    // SAFETY: the caller's promise.
    unsafe { node.cast::<NumberedNode<N>>().as_ref() }.entry
}

/// Bytes that run out as zeros.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    pub(crate) fn next(&mut self) -> usize {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first as usize
            }
            None => 0,
        }
    }
    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.next() % list.len()]
    }
    /// Equal in some of their bits, so that fuzzy lanes meet.
    pub(crate) fn source(&mut self) -> i32 {
        self.of(&[0, 1, 2, 3, 0, 1, 2, 3, 40, 255, 256, 257, 0x1_0000, 0x100_0001])
    }
    pub(crate) fn tag(&mut self) -> i32 {
        self.of(&[0, 1, 2, 3, 0, 1, 2, 3, 255, 256, 0x1_0000, 0x100_0002, i32::MAX, -4, -5])
    }
    pub(crate) fn asked(&mut self) -> (i32, i32) {
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
pub(crate) struct Comm {
    pub(crate) engine: Engine,
    pub(crate) model: Model,
    pub(crate) receives: Vec<Box<NumberedNode<Posted>>>,
    pub(crate) messages: Vec<Box<NumberedNode<Unexpected>>>,
}

impl Comm {
    pub(crate) fn new(setting: Setting) -> Comm {
        let engine = Engine::new(setting);
        Comm { engine, model: Model::default(), receives: Vec::new(), messages: Vec::new() }
    }

    /// The number and what goes with it of a node that the engine of such a communicator gave.
    fn entry<N>(found: Option<NonNull<N>>) -> Option<Entry> {
        // SAFETY: the engines have nodes of `receive` and `arrive` alone, which are numbered, and kept to the end.
        found.map(|node| unsafe { entry_of(node) })
    }

    /// The receive and the message that were paired: what the status says.
    pub(crate) fn check_status(receive: Entry, message: Entry) {
        let about = Envelope {
            key: source_tag(message.source, message.tag),
            order_key: 0,
            len: 0,
            msg_len: message.bytes,
            src_req: 0,
            proc: 0,
            kind: kind::RNDV,
            ctx: 0,
        };
        let status = status_of(&about, receive.bytes);
        assert_eq!((status.source, status.tag), (message.source, message.tag));
        assert_eq!(status.bytes, message.bytes.min(receive.bytes));
        let truncated = message.bytes > receive.bytes;
        assert_eq!(status.error, if truncated { Status::TRUNCATED } else { Status::OK });
    }

    pub(crate) fn receive(&mut self, (source, tag): (i32, i32), bytes: u64) {
        let receive = Entry { id: self.receives.len(), source, tag, bytes };
        let found = Self::entry(self.engine.find_unexpected(Pattern::new(source, tag), true));
        let expected = self.model.message_for(source, tag).map(|i| self.model.waiting.remove(i));
        assert_eq!(found, expected, "receive of {source}, {tag}");
        if let Some(message) = found {
            return Comm::check_status(receive, message);
        }
        let node = Posted { next: null_mut(), pattern: Pattern::new(source, tag), stamp: receive.id as u64 };
        self.receives.push(Box::new(NumberedNode { node, entry: receive }));
        // SAFETY: boxed, and kept to the end.
        unsafe { self.engine.post(NonNull::from(&mut *self.receives[receive.id]).cast()) };
        self.model.posted.push(receive);
    }

    pub(crate) fn arrive(&mut self, source: i32, tag: i32, bytes: u64) {
        let message = Entry { id: self.messages.len(), source, tag, bytes };
        let arrival = Arrival { key: source_tag(source, tag), comm: 0, order_key: 0 };
        let shown = self.engine.peek_arrival(arrival);
        // SAFETY: shown by the engine, so a node of ours.
        let stamp = shown.map(|node| unsafe { node.as_ref() }.stamp);
        let found = self.engine.match_arrival(arrival);
        assert_eq!(shown, found, "what was shown is what is given");
        let expected = self.model.receive_for(source, tag).map(|i| self.model.posted.remove(i));
        assert_eq!(Self::entry(found), expected, "arrival of {source}, {tag}");
        if let Some(receive) = expected {
            assert_eq!(stamp, Some(receive.id as u64));
            return Comm::check_status(receive, message);
        }
        let node = Unexpected { next: null_mut(), key: arrival.key, order_key: 0 };
        self.messages.push(Box::new(NumberedNode { node, entry: message }));
        // SAFETY: boxed, and kept to the end.
        unsafe { self.engine.add_unexpected(NonNull::from(&mut *self.messages[message.id]).cast()) };
        self.model.waiting.push(message);
    }

    pub(crate) fn probe(&mut self, (source, tag): (i32, i32), take: bool) {
        let found = Self::entry(self.engine.find_unexpected(Pattern::new(source, tag), take));
        let expected = self
            .model
            .message_for(source, tag)
            .map(|i| if take { self.model.waiting.remove(i) } else { self.model.waiting[i] });
        assert_eq!(found, expected, "probe of {source}, {tag}");
    }

    pub(crate) fn cancel(&mut self, number: usize) {
        if self.receives.is_empty() {
            return;
        }
        let id = number % self.receives.len();
        // SAFETY: boxed, and kept to the end; only this thread has it.
        let was_here = unsafe { self.engine.cancel(NonNull::from(&mut *self.receives[id]).cast()) };
        let before = self.model.posted.len();
        self.model.posted.retain(|p| p.id != id);
        assert_eq!(was_here, self.model.posted.len() < before, "cancel of {id}");
    }

    pub(crate) fn step(&mut self, bytes: &mut Bytes<'_>) {
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
            // Entries that wait are received from one end or the other, or every second one.
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

    pub(crate) fn finish(mut self) {
        let mut left: VecDeque<Entry> = self.model.waiting.drain(..).collect();
        while let Some(node) = self.engine.pop_unexpected() {
            assert_eq!(Self::entry(Some(node)), left.pop_front());
        }
        assert!(left.is_empty());
    }
}

/// Runs a history with one setting.
pub(crate) fn drive(setting: Setting, history: &[u8]) {
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
pub(crate) fn settings() -> Vec<Setting> {
    let mut all = vec![setting(Choice::List)];
    all.extend([1, 7, 64].map(|walk| Setting { walk, ..setting(Choice::Adaptive) }));
    for simd in Level::ALL.into_iter().filter_map(Simd::new) {
        let indexed = Choice::ALL.into_iter().filter(|c| !matches!(c, Choice::List | Choice::Adaptive));
        all.extend(indexed.map(|choice| Setting { simd, ..setting(choice) }));
    }
    for windows in [Windows::of(1), Windows::of(9), Windows::of(24), Windows::default().for_ranks(4)] {
        let fuzzy = [Choice::Fuzzy32, Choice::Fuzzy16, Choice::Fuzzy8];
        all.extend(fuzzy.map(|choice| Setting { windows, ..setting(choice) }));
    }
    all
}

/// Runs a history with every engine. Fuzzers call it.
pub fn every_engine(history: &[u8]) {
    for setting in settings() {
        drive(setting, history);
    }
}

pub(crate) fn setting(choice: Choice) -> Setting {
    Setting { choice, simd: Simd::best(), walk: 64, windows: Windows::default() }
}
