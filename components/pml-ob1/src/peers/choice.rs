//! Read or copied: how messages of middling length go to a peer whose transport can do both.
//!
//! Which is faster depends on where the data lies, and that nobody says. Data that the sender has just written is in the
//! sender's cache: to read it from there takes twice as long as to copy it through the transport's memory. Of a buffer that
//! nobody writes between two messages the reader has a copy of its own, and reading it takes half as long. So the sender
//! measures both, for each peer and class of length, takes what was faster, and looks again now and then ([`PERIOD`]).
//!
//! **The measured time** is that from one message to the next, which has all in it: what the reader does, what comes
//! back, and how long the program takes to write into a buffer that somebody has read. A look is a row of messages
//! that go the same way, of which the last ones count ([`LOOK`]): where copies went before, the reader has no copy of its
//! own yet, and the program may use several buffers in turn.
//!
//! **For which messages.** For those that are answered, one by one, as in MPI_Sendrecv: of others the time between two says
//! nothing of how long they take, since their sender does not wait for it. A message that fits the eager limit is never read:
//! a program that sends before it receives finds what it sends taken up to the same length every time.
//!
//! Everything belongs to the holder of the peer's CRI but `answered`, which is a hint.

use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_mca::{CriGuard, OfCri};

/// Shortest message for which a way is chosen, and classes of length from there on, each of twice the length.
pub const LEAST: u64 = 8 << 10;
const CLASSES: usize = 4;

/// Messages of a class between two looks at both ways, and of a look at one; its second half counts.
const PERIOD: u32 = 1024;
const LOOK: u32 = 16;

/// After so many messages that were answered the next is expected to be, too.
const SINGLES: u32 = 4;

/// The two ways of a message of middling length: read from the sender's memory, or copied through the transport's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    Read,
    Copy,
}

/// A look: how many messages counted, how long they took together, and the longest of them.
#[derive(Clone, Copy, Default)]
struct Sum {
    messages: u32,
    all: u32,
    longest: u32,
}

/// The record of one class. Nanoseconds from one message to the next, by [`Transfer`].
#[derive(Default)]
struct Class {
    takes: [u32; 2],
    sum: Sum,
    messages: u32,
}

/// The record of the two ways to one peer.
pub struct ProtocolChoice {
    record: OfCri<Record>,
    /// A message has come from the peer since.
    answered: AtomicBool,
}

/// Messages to one peer so far.
#[derive(Default)]
struct Record {
    classes: [Class; CLASSES],
    /// Messages in a row that were answered.
    singles: u32,
    /// The last message, if it counts: its class, how it went, and when.
    last: Option<(u8, Transfer, u32)>,
}

impl Class {
    /// Notes that a message which counts took `ns` nanoseconds; a completed look updates the time of its [`Transfer`].
    fn took(&mut self, transfer: Transfer, ns: u32) {
        let sum = &mut self.sum;
        sum.messages += 1;
        // No more than what eight of them fit in together.
        let ns = ns.min(u32::MAX / LOOK);
        (sum.all, sum.longest) = (sum.all + ns, sum.longest.max(ns));
        if sum.messages == LOOK / 2 {
            // Somebody may not have been running for one of them.
            let new = (sum.all - sum.longest) / (sum.messages - 1);
            let takes = &mut self.takes[transfer as usize];
            *takes = if *takes == 0 { new } else { *takes / 2 + new / 2 };
            self.sum = Sum::default();
        }
    }

    /// The transfer of the next message of this class, and whether its time is to be measured.
    fn next(&mut self) -> (Transfer, bool) {
        let look = self.messages % PERIOD;
        self.messages = self.messages.wrapping_add(1);
        if look.is_multiple_of(LOOK) {
            self.sum = Sum::default();
        }
        match look {
            _ if look < LOOK => (Transfer::Read, look >= LOOK / 2),
            _ if look < 2 * LOOK => (Transfer::Copy, look >= LOOK + LOOK / 2),
            _ if self.takes[Transfer::Read as usize] < self.takes[Transfer::Copy as usize] => {
                (Transfer::Read, false)
            }
            _ => (Transfer::Copy, false),
        }
    }
}

impl Record {
    /// The transfer of the next message; `answered`: a message has come from the peer since the last.
    fn next(&mut self, answered: bool, bytes: u64, clock: impl Fn() -> u32) -> Option<Transfer> {
        self.singles = if answered { (self.singles + 1).min(SINGLES) } else { 0 };
        let last = self.last.take();
        if self.singles < SINGLES {
            return None;
        }
        if let Some((class, transfer, then)) = last {
            self.classes[class as usize].took(transfer, clock().wrapping_sub(then));
        }
        let class = (bytes / LEAST).checked_ilog2().unwrap_or(0).min(CLASSES as u32 - 1) as u8;
        let (transfer, counts) = self.classes[class as usize].next();
        if counts {
            self.last = Some((class, transfer, clock()));
        }
        Some(transfer)
    }
}

impl ProtocolChoice {
    /// Makes the record of messages to a peer on FIFO `ctx`.
    pub fn new(ctx: u32) -> ProtocolChoice {
        ProtocolChoice { record: OfCri::new(ctx, Record::default()), answered: AtomicBool::new(false) }
    }

    /// The transfer of the next message, of so many bytes; `None`: by the usual limits, since messages to this peer are
    /// not answered one by one. `clock` gives the time in nanoseconds, of any beginning.
    pub fn next(&self, held: &mut CriGuard<'_>, bytes: u64, clock: impl Fn() -> u32) -> Option<Transfer> {
        let answered = self.answered.load(Ordering::Relaxed);
        self.answered.store(false, Ordering::Relaxed);
        self.record.get(held).next(answered, bytes, clock)
    }

    /// Notes that a message has come from the peer, which counts as an answer. Any thread may call it.
    pub fn note_arrival(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MANY: u32 = 16 * PERIOD;

    /// A program that sends `count` messages where a read one takes so long and a copied one so long, all with what
    /// the program does between them; reads behind a copy take four times as long at first. Says how many were read.
    struct Program {
        record: Record,
        now: u32,
        cold: u32,
    }

    impl Program {
        fn new() -> Program {
            Program { record: Record::default(), now: u32::MAX - 1_000_000, cold: 0 }
        }
        fn run(&mut self, count: u32, bytes: u64, read: u32, copy: u32) -> u32 {
            (0..count).filter(|_| self.sends(bytes, read, copy) == Some(Transfer::Read)).count() as u32
        }
        fn sends(&mut self, bytes: u64, read: u32, copy: u32) -> Option<Transfer> {
            let now = self.now;
            let transfer = self.record.next(true, bytes, || now);
            let cold = self.cold;
            let took = match transfer {
                Some(Transfer::Read) if cold > 0 => 4 * read,
                Some(Transfer::Read) => read,
                _ => copy,
            };
            self.cold = if transfer == Some(Transfer::Read) { cold.saturating_sub(1) } else { 4 };
            self.now = now.wrapping_add(took);
            transfer
        }
    }

    #[test]
    fn takes_what_is_faster_and_looks_at_the_other() {
        let mut program = Program::new();
        let read = program.run(MANY, 40_000, 5_000, 8_000);
        assert!(read > MANY - MANY / 16 && read < MANY, "{read} of {MANY}");
        let read = program.run(MANY, 40_000, 11_000, 8_000);
        assert!(read < MANY / 4 && read > 0, "the data is somewhere else now: {read} of {MANY}");
        let read = program.run(MANY, 40_000, 5_000, 8_000);
        assert!(read > MANY - MANY / 4, "and here again: {read} of {MANY}");
    }

    #[test]
    fn lengths_are_looked_at_apart() {
        let mut program = Program::new();
        let mut of = |bytes, read, copy| program.run(PERIOD, bytes, read, copy);
        of(9_000, 5_000, 2_000);
        let (short, long) = (of(9_000, 5_000, 2_000), of(60_000, 5_000, 8_000));
        assert!(short <= 2 * LOOK && long >= PERIOD - 2 * LOOK, "{short} and {long}");
    }

    #[test]
    fn only_messages_that_are_answered_are_looked_at() {
        let choice = ProtocolChoice::new(0);
        // SAFETY: nobody else is here.
        let held = &mut unsafe { CriGuard::inherited(0, false, None) };
        let clock = || 1;
        assert!((0..100).all(|_| choice.next(held, 40_000, clock).is_none()));
        choice.note_arrival();
        assert!(
            (0..100).all(|_| choice.next(held, 40_000, clock).is_none()),
            "one answer to a row of messages"
        );
        for _ in 0..SINGLES {
            choice.note_arrival();
            choice.next(held, 40_000, clock);
        }
        let record = choice.record.get(held);
        assert!(record.last.is_none() && record.singles == SINGLES);
        choice.note_arrival();
        assert!(choice.next(held, 40_000, clock).is_some());
    }

    #[test]
    fn one_that_took_very_long_does_not_count() {
        let mut class = Class::default();
        for ns in [1_000, 1_000, u32::MAX, 1_000, 1_000, 1_000, 1_000, 1_000] {
            class.took(Transfer::Read, ns);
        }
        assert_eq!(class.takes[Transfer::Read as usize], 1_000);
    }
}
