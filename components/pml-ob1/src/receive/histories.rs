//! A communicator that goes from one shard to many and back, at any moment of its life, against the plain
//! model: receives with and without tag, with and without source, messages with and without stamps, probes,
//! cancels, and promises that change the layout.

use crate::matching::harness::*;
use crate::matching::*;
use crate::receive::incoming::{Envelope, Incoming};
use crate::receive::shard::ShardData;
use crate::receive::shards::{Entered, Lock, Shards};
use crate::receive::spread::{Layout, Spreading};
use crate::state::locked::ALWAYS;
use crate::wire::{kind, source_tag};
use core::ptr::{NonNull, null_mut};
use oxmpi_mca::{Entry as Way, LockServices};
use oxmpi_pml::ANY_TAG;
use proptest::prelude::*;

/// The stamps that order the messages of a history.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Stamps {
    None,
    All,
    /// A source's first messages have none, its later ones have.
    Later,
}

/// One communicator, the model, and all receives ever posted.
#[allow(clippy::vec_box, reason = "the engines hold the nodes' addresses")]
struct Spreadable {
    shards: Shards<ShardData>,
    model: Model,
    receives: Vec<Box<NumberedNode<Posted>>>,
    messages: usize,
    stamps: Stamps,
    /// Whether locks are taken, and receives counted.
    way: Way,
    changes: [usize; 2],
    /// Messages that waited at once, at most.
    most: u64,
}

impl Spreadable {
    fn new(setting: Setting, most: u32, stamps: Stamps) -> Spreadable {
        let layout = Layout::new(77, most, false);
        let shards = Shards::new(
            ShardData::new(Engine::new(setting), Spreading::new(layout)),
            Lock::new(LockServices::WITHOUT_OWNERS),
        );
        let (model, receives) = (Model::default(), Vec::new());
        // SAFETY: one thread has the shards.
        let way = unsafe { Way::of(false, null_mut()) };
        Spreadable { shards, model, receives, messages: 0, stamps, way, changes: [0; 2], most: 0 }
    }

    fn shard_for(&self, pattern: Pattern) -> Entered<'_, ShardData> {
        self.shards.enter(&self.way, None, |layout| layout.of_receive(pattern))
    }

    /// A message that was found, by the number that stands for its length.
    fn number_of(inc: Incoming<'_>) -> usize {
        inc.msg_len as usize
    }

    /// Whether the model agrees that a receive of `asked` finds this message; its place there.
    fn expect(&self, asked: (i32, i32), found: Option<usize>) -> Option<usize> {
        let first = self.model.message_for(asked.0, asked.1);
        let Some(number) = found else {
            assert_eq!(first, None, "{asked:?} finds nothing");
            return None;
        };
        let at = self.model.waiting.iter().position(|m| m.id == number).expect("nobody has it");
        let message = self.model.waiting[at];
        assert!(fits(asked, (message.source, message.tag)), "{asked:?} found {message:?}");
        // Messages of different sources have no order among themselves once some have stamps.
        let asked = if self.stamps == Stamps::Later { (message.source, asked.1) } else { asked };
        assert_eq!(self.model.message_for(asked.0, asked.1), Some(at), "{asked:?}: not the oldest");
        Some(at)
    }

    fn receive(&mut self, asked: (i32, i32)) {
        let pattern = Pattern::new(asked.0, asked.1);
        let mut shard = self.shard_for(pattern);
        if let Some(message) = shard.take(pattern) {
            let number = Self::number_of(message.incoming());
            shard.give(message);
            drop(shard);
            let at = self.expect(asked, Some(number)).expect("it was found");
            self.model.waiting.remove(at);
            return;
        }
        let mut stamp = shard.next_stamp();
        if self.way.is_among() && !pattern.has_tag() {
            stamp |= ShardData::COUNTED;
            shard.order.wild += 1;
        }
        let entry = Entry { id: self.receives.len(), source: asked.0, tag: asked.1, bytes: 0 };
        let node = Posted { next: null_mut(), pattern, stamp };
        let mut node = Box::new(NumberedNode { node, entry });
        // SAFETY: boxed, and kept to the end.
        unsafe { shard.engine.post(NonNull::from(&mut *node).cast()) };
        drop(shard);
        self.receives.push(node);
        assert_eq!(self.expect(asked, None), None);
        self.model.posted.push(entry);
    }

    fn arrive(&mut self, source: i32, tag: i32) {
        self.messages += 1;
        let number = self.messages;
        let stamped = match self.stamps {
            Stamps::None => false,
            Stamps::All => true,
            Stamps::Later => number > 20 * (source.unsigned_abs() as usize % 5),
        } && self.way.is_among();
        let key = source_tag(source, tag);
        let inc = Incoming::without_payload(Envelope {
            key,
            order_key: number as u64,
            len: 0,
            msg_len: number as u64,
            src_req: 0,
            proc: 0,
            kind: kind::RNDV,
            ctx: 0,
        });
        let mut shard = self.shards.enter(&self.way, None, |layout| layout.of(key));
        if stamped {
            shard.count_wild();
        }
        let found = shard.engine.match_arrival(Arrival { key, comm: 0, order_key: 0 });
        match found {
            // SAFETY: the shard gave it out.
            Some(node) => shard.uncount(unsafe { node.as_ref() }.stamp),
            None if stamped => {
                let record = shard.record(&inc, inc.order_key | ShardData::STAMPED).expect("memory");
                shard.add_waiting(record);
            }
            None => {
                let arrival = if shard.spreading.home { 0 } else { 1 << 32 | number as u64 };
                assert!(shard.keep(&inc, arrival));
            }
        }
        drop(shard);
        let expected = self.model.receive_for(source, tag).map(|i| self.model.posted.remove(i));
        // SAFETY: the shards have nodes of `receive` alone, which are numbered, and kept to the end.
        let found = found.map(|node| unsafe { entry_of(node) });
        assert_eq!(found, expected, "arrival of {source}, {tag}");
        if expected.is_none() {
            self.model.waiting.push(Entry { id: number, source, tag, bytes: 0 });
        }
    }

    fn probe(&mut self, asked: (i32, i32)) {
        let pattern = Pattern::new(asked.0, asked.1);
        let found = self.shard_for(pattern).find(pattern).map(Self::number_of);
        self.expect(asked, found);
    }

    fn cancel(&mut self, number: usize) {
        if self.receives.is_empty() {
            return;
        }
        let id = number % self.receives.len();
        let node: NonNull<Posted> = NonNull::from(&mut *self.receives[id]).cast();
        // SAFETY: boxed; nobody else is here.
        let pattern = unsafe { node.as_ref() }.pattern;
        let mut shard = self.shard_for(pattern);
        // SAFETY: boxed, and kept to the end; only this thread has it.
        let was_here = unsafe { shard.engine.cancel(node) };
        if was_here {
            // SAFETY: boxed; the engine has given it out.
            shard.uncount(unsafe { node.as_ref() }.stamp);
        }
        drop(shard);
        let before = self.model.posted.len();
        self.model.posted.retain(|p| p.id != id);
        assert_eq!(was_here, self.model.posted.len() < before, "cancel of {id}");
    }

    fn spread(&mut self) {
        if self.way.is_among() {
            let wild = self.model.posted.iter().any(|p| p.tag == ANY_TAG);
            let done = self.shards.spread(self.shards.home(&self.way));
            assert!(!(done && wild), "a receive of any tag fits into no shard");
            self.changes[0] += done as usize;
        }
    }

    fn step(&mut self, bytes: &mut Bytes<'_>) {
        match bytes.next() % 20 {
            0..6 => {
                let asked = bytes.asked();
                self.receive(asked);
            }
            6..12 => {
                let (source, tag) = (bytes.source(), bytes.tag());
                self.arrive(source, tag);
            }
            12 => self.probe(bytes.asked()),
            13 => self.cancel(bytes.next()),
            14 | 15 => self.spread(),
            16 => {
                self.changes[1] += 1;
                drop(self.shards.enter_in_mode_one(&self.way));
            }
            17 => {
                let no_any_source = bytes.next() > 127;
                self.shards.enter_in_mode_one(&self.way).spreading.promise(false, no_any_source);
            }
            18 => self.way = Way::among(),
            // Many messages at once, each with its tag.
            _ => {
                let (count, source) = (bytes.next() / 4, bytes.source());
                (0..count as i32).for_each(|tag| self.arrive(source, tag));
            }
        }
        let mut sums = (0, 0, 0);
        let mut posts = 0;
        let mut home = 0;
        self.shards.each(&self.way, |shard| {
            // Home's is that of all shards.
            if shard.spreading.home {
                sums.0 = shard.waiting.now();
                self.most = self.most.max(sums.0);
                assert!(shard.waiting.most() >= self.most);
            }
            sums.1 += shard.waiting.kept as usize;
            sums.2 += shard.engine.has_posted() as usize;
            posts += shard.posted(home);
            if shard.spreading.home {
                home = shard.stamp;
            }
        });
        assert_eq!(sums.0, self.model.waiting.len() as u64);
        assert!(sums.1 <= self.messages);
        assert_eq!(sums.2 > 0, !self.model.posted.is_empty());
        assert_eq!(posts, self.receives.len() as u64, "posted so far");
    }

    /// The messages that are left are those that the model has left, and every one of a source in its order.
    fn finish(mut self) {
        let sources: Vec<i32> = self.model.waiting.iter().map(|m| m.source).collect();
        for source in sources {
            self.receive((source, ANY_TAG));
        }
        let mut home = self.shards.enter_in_mode_one(&self.way);
        let left = home.take_waiting();
        assert_eq!(left.len(), self.model.waiting.len(), "only the library's own tags are left");
        left.into_iter().for_each(|message| home.give(message));
    }
}

fn drive_one(setting: Setting, most: u32, stamps: Stamps, history: &[u8]) -> [usize; 2] {
    let mut comm = Spreadable::new(setting, most, stamps);
    let mut bytes = Bytes(history);
    while !bytes.0.is_empty() {
        comm.step(&mut bytes);
    }
    let changes = comm.changes;
    comm.finish();
    changes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shards_agree_with_the_model(
        history in prop::collection::vec(any::<u8>(), 0..400),
        most in 1..65u32,
        stamps in prop::sample::select(vec![Stamps::None, Stamps::All, Stamps::Later]),
    ) {
        for choice in Choice::ALL {
            drive_one(Setting { walk: 5, ..setting(choice) }, most, stamps, &history);
        }
    }
}

/// The histories above do change the mode: this one in so many places.
#[test]
fn histories_spread_and_gather() {
    let mut seed = 1u32;
    let history: Vec<u8> = core::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    })
    .take(20_000)
    .collect();
    for stamps in [Stamps::None, Stamps::All, Stamps::Later] {
        let changes = drive_one(setting(Choice::Adaptive), 64, stamps, &history);
        assert!(changes[0] > 50 && changes[1] > 50, "{changes:?}");
    }
}

/// Moving is paid for: a communicator that is spread and gathered over and over takes longer each time, and
/// one that was spread for long begins again.
#[test]
fn the_limit_rises_and_falls() {
    let mut comm = Spreadable::new(setting(Choice::List), 64, Stamps::None);
    comm.way = Way::among();
    let mut taken = Vec::new();
    assert!(!comm.shards.home(ALWAYS).spreading.warm(2), "the first one of all");
    for round in 0..6 {
        let mut hands = 0;
        while !comm.shards.home(ALWAYS).spreading.warm(1 + hands % 2) {
            hands += 1;
        }
        taken.push(hands + 1);
        comm.spread();
        assert_eq!(comm.changes[0], round + 1);
        drop(comm.shards.enter_in_mode_one(ALWAYS));
    }
    assert_eq!(taken, [16, 32, 64, 128, 256, 512]);
    comm.spread();
    (0..70_000).for_each(|i| {
        comm.receive((1, i % 64));
        comm.arrive(1, i % 64);
    });
    drop(comm.shards.enter_in_mode_one(ALWAYS));
    let mut hands = 1;
    while !comm.shards.home(ALWAYS).spreading.warm(hands) {
        hands += 1;
    }
    assert_eq!(hands, 16);
    // MPI_ANY_TAG in between, and it does not come to that.
    comm.shards.home(ALWAYS).spreading.cool();
    for hands in 0..1000 {
        let mut home = comm.shards.home(ALWAYS);
        assert!(!home.spreading.warm(hands) || hands % 10 == 9);
        if hands % 10 == 9 {
            home.spreading.cool();
        }
    }
    // One thread alone spreads nothing, whatever was promised; the second one does.
    let mut promised = Spreading::new(Layout::new(0, 64, false));
    promised.promise(true, false);
    assert!(promised.changes_hands(1) && !promised.warm(1) && !promised.changes_hands(1));
    assert!(promised.changes_hands(2) && promised.warm(2));
    // Only one shard is allowed.
    let mut alone = Spreading::new(Layout::new(0, 1, false));
    assert!((0..100).all(|user| !alone.warm(user)));
}
