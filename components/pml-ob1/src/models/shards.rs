//! Models under loom of `shards.rs`: from one shard to many and back, against messages and receives in flight.
//!
//! The content is small: lists of messages and receives in a cell that loom watches, so two threads in one
//! shard at a time are an error of the model. Matched pairs are written down; each scenario says what may
//! come out of it.

use crate::receive::content::Content;
use crate::receive::place::Place;
use crate::receive::shards::{Entered, Owned, Shards, Spot};
use crate::state::locked::ALWAYS;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex, MutexGuard};
use loom::thread;
use oxmpi_mca::{Caller, Entry, LockServices, Seat};

/// The library's lock spins, which a model checker follows for ever; what is checked here is what happens
/// under it.
pub struct Lock {
    mutex: Mutex<()>,
    /// Of who holds it.
    guard: core::cell::UnsafeCell<Option<MutexGuard<'static, ()>>>,
}
/// Whether it was taken.
#[derive(Clone, Copy)]
pub struct Pass(bool);

impl Pass {
    pub fn of(_seat: &'static Seat) -> Pass {
        Pass(true)
    }
}

impl Lock {
    pub fn new(_services: &'static LockServices) -> Lock {
        Lock::free()
    }
    fn free() -> Lock {
        Lock { mutex: Mutex::new(()), guard: core::cell::UnsafeCell::new(None) }
    }
    pub fn another(&self) -> Lock {
        Lock::free()
    }
    pub fn enter(&self, entry: &Entry, _who: Caller) -> Pass {
        if entry.is_among() {
            let guard = self.mutex.lock().expect("no thread panics");
            // SAFETY: the guard goes before the lock does, in `leave`; the place is the holder's.
            unsafe { *self.guard.get() = Some(core::mem::transmute::<MutexGuard<'_, ()>, _>(guard)) };
        }
        Pass(entry.is_among())
    }
    /// A thread that asks is an owner.
    pub fn enter_own(&self, _seat: &'static Seat) -> bool {
        self.enter(ALWAYS, None);
        true
    }
    /// # Safety
    /// The calling thread entered as the owner.
    pub unsafe fn leave_own(&self, _seat: &'static Seat) {
        // SAFETY: the caller's promise; that is how an owner enters.
        unsafe { self.leave(Pass(true)) };
    }
    /// # Safety
    /// The calling thread entered with this pass.
    pub unsafe fn leave(&self, pass: Pass) {
        if pass.0 {
            // SAFETY: the place is the holder's, who gives the lock up when the guard has left it.
            drop(unsafe { (*self.guard.get()).take() });
        }
    }
}

#[derive(Clone, Copy)]
struct Receive {
    /// `None`: any.
    tag: Option<usize>,
    number: usize,
    stamp: usize,
}
#[derive(Clone, Copy)]
struct Message {
    tag: usize,
    number: usize,
}
enum Part {
    Posted(Receive),
    Waiting(Message),
}

#[derive(Default)]
struct Lists {
    posted: Vec<Receive>,
    waiting: Vec<Message>,
    stamp: usize,
}

#[derive(Default)]
struct ShardLists(UnsafeCell<Lists>);

impl ShardLists {
    fn with<R>(&self, f: impl FnOnce(&mut Lists) -> R) -> R {
        // SAFETY: loom stops the model if another thread is in here.
        self.0.with_mut(|lists| f(unsafe { &mut *lists }))
    }
}

impl Content for ShardLists {
    type Layout = ();
    type Part = Part;
    fn layout(&self) {}
    fn another(&self) -> ShardLists {
        let lists = ShardLists::default();
        lists.with(|new| new.stamp = self.with(|home| home.stamp));
        lists
    }
    fn begin(&mut self, home: &ShardLists) {
        self.with(|new| new.stamp = home.with(|home| home.stamp));
    }
    fn take_apart(&mut self) -> Option<Vec<(usize, Part)>> {
        self.with(|lists| {
            let places: Option<Vec<usize>> = lists.posted.iter().map(|r| r.tag).collect();
            let mut parts: Vec<_> =
                places?.into_iter().zip(lists.posted.drain(..).map(Part::Posted)).collect();
            parts.extend(lists.waiting.drain(..).map(|m| (m.tag, Part::Waiting(m))));
            Some(parts)
        })
    }
    fn accept(&mut self, part: Part) {
        self.with(|lists| match part {
            Part::Posted(receive) => lists.posted.push(receive),
            Part::Waiting(message) => lists.waiting.push(message),
        });
    }
    fn gather(&mut self, shards: &mut [&mut ShardLists]) {
        self.with(|home| {
            for shard in shards {
                shard.with(|lists| {
                    home.posted.append(&mut lists.posted);
                    home.waiting.append(&mut lists.waiting);
                    home.stamp = home.stamp.max(lists.stamp);
                });
            }
            home.posted.sort_by_key(|r| r.stamp);
        });
    }
    fn clear(&mut self) {}
}

/// Nobody has it.
const NOBODY: usize = usize::MAX;

struct World {
    shards: Shards<ShardLists>,
    /// Of whoever enters as an owner.
    seat: &'static Seat,
    /// By message: the receive that has it.
    matched: [AtomicUsize; 3],
}

// SAFETY: loom watches what is in the shards, and the rest is atomic or never changes.
unsafe impl Sync for World {}
// SAFETY: nothing of it is bound to a thread.
unsafe impl Send for World {}

impl World {
    fn new() -> Arc<World> {
        let matched = core::array::from_fn(|_| AtomicUsize::new(NOBODY));
        let seat = Box::leak(Box::new(Seat::new()));
        Arc::new(World { shards: Shards::new(ShardLists::default(), Lock::free()), seat, matched })
    }
    fn many() -> Arc<World> {
        let world = World::new();
        assert!(world.shards.spread(world.shards.home(ALWAYS)));
        world
    }
    fn pair(&self, message: usize, receive: usize) {
        let before = self.matched[message].swap(receive, Ordering::Relaxed);
        assert_eq!(before, NOBODY, "message {message} went to two receives");
    }
    fn arrive(&self, tag: usize, number: usize) {
        let shard = self.shards.enter(ALWAYS, None, |()| Place::In(tag));
        shard.with(|lists| match lists.posted.iter().position(|r| r.tag.is_none_or(|t| t == tag)) {
            Some(at) => self.pair(number, lists.posted.remove(at).number),
            None => lists.waiting.push(Message { tag, number }),
        });
    }
    /// As an owner, if that leads to an open shard, and else as anybody (`receive/arrive.rs`). `spot`: where the same place was before.
    fn enter_to_receive(&self, place: Place, spot: Option<Spot<ShardLists>>) -> Entered<'_, ShardLists> {
        // SAFETY: it is of these shards.
        let again = spot.and_then(|spot| unsafe { spot.enter_own(ALWAYS, self.seat) });
        let own = again.or_else(|| self.shards.enter_own(ALWAYS, self.seat, |()| place));
        own.map(Owned::into_entered).unwrap_or_else(|| self.shards.enter(ALWAYS, None, |()| place))
    }
    fn receive(&self, tag: Option<usize>, number: usize) -> Spot<ShardLists> {
        self.receive_at(None, tag, number)
    }
    /// Returns where that was.
    fn receive_at(
        &self,
        spot: Option<Spot<ShardLists>>,
        tag: Option<usize>,
        number: usize,
    ) -> Spot<ShardLists> {
        let shard = self.enter_to_receive(tag.map_or(Place::AllOver, Place::In), spot);
        shard.with(|lists| match lists.waiting.iter().position(|m| tag.is_none_or(|t| t == m.tag)) {
            Some(at) => self.pair(lists.waiting.remove(at).number, number),
            None => {
                lists.stamp += 1;
                lists.posted.push(Receive { tag, number, stamp: lists.stamp });
            }
        });
        shard.spot()
    }
    fn matched(&self) -> [usize; 3] {
        core::array::from_fn(|i| self.matched[i].load(Ordering::Relaxed))
    }
    /// Messages and receives that are left.
    fn left(&self) -> (Vec<usize>, Vec<usize>) {
        self.shards.enter_in_mode_one(ALWAYS).with(|lists| {
            (
                lists.waiting.iter().map(|m| m.number).collect(),
                lists.posted.iter().map(|r| r.number).collect(),
            )
        })
    }
}

fn beside(world: &Arc<World>, f: impl FnOnce(&World) + 'static) -> thread::JoinHandle<()> {
    let world = world.clone();
    thread::spawn(move || f(&world))
}

/// Two messages and two receives of one tag while the communicator is spread: first to first.
#[test]
fn spreading_keeps_the_order_of_a_tag() {
    loom::model(|| {
        let world = World::new();
        let sender = beside(&world, |w| {
            w.arrive(0, 0);
            w.arrive(0, 1);
        });
        let changer = beside(&world, |w| {
            w.shards.spread(w.shards.home(ALWAYS));
        });
        world.receive(Some(0), 0);
        world.receive(Some(0), 1);
        sender.join().unwrap();
        changer.join().unwrap();
        assert_eq!(world.matched(), [0, 1, NOBODY]);
        assert_eq!(world.left(), (vec![], vec![]));
    });
}

/// A wildcard gathers while messages of two tags arrive and an exact receive is posted: nothing is lost, nothing goes
/// twice, and the exact one takes no other tag.
#[test]
fn escalation_against_arrivals_and_exact_receives() {
    loom::model(|| {
        let world = World::many();
        let sender = beside(&world, |w| {
            w.arrive(0, 0);
            w.arrive(1, 1);
        });
        let receiver = beside(&world, |w| {
            w.receive(Some(0), 0);
        });
        world.receive(None, 7);
        sender.join().unwrap();
        receiver.join().unwrap();
        match world.matched() {
            // The thread that was first has the first message; then the second goes to the wildcard or waits.
            [0, 7, NOBODY] => assert_eq!(world.left(), (vec![], vec![])),
            [7, NOBODY, NOBODY] => assert_eq!(world.left(), (vec![1], vec![0])),
            other => panic!("{other:?}"),
        }
    });
}

/// Receives that the program orders, exact then wildcard, while somebody spreads again: the first has the first.
#[test]
fn posts_keep_their_order_over_both_changes() {
    loom::model(|| {
        let world = World::many();
        let sender = beside(&world, |w| {
            w.arrive(0, 0);
            w.arrive(0, 1);
        });
        let changer = beside(&world, |w| {
            w.shards.spread(w.shards.home(ALWAYS));
        });
        world.receive(Some(0), 0);
        world.receive(None, 1);
        sender.join().unwrap();
        changer.join().unwrap();
        assert_eq!(world.matched(), [0, 1, NOBODY]);
        assert_eq!(world.left(), (vec![], vec![]));
    });
}

/// Two threads are the first in a shard: there is only one.
#[test]
fn a_shard_is_made_once() {
    loom::model(|| {
        let world = World::many();
        let sender = beside(&world, |w| w.arrive(1, 0));
        let gatherer = beside(&world, |w| drop(w.shards.enter_in_mode_one(ALWAYS)));
        world.receive(Some(1), 0);
        sender.join().unwrap();
        gatherer.join().unwrap();
        assert_eq!(world.matched(), [0, NOBODY, NOBODY]);
        assert_eq!(world.left(), (vec![], vec![]));
    });
}

/// A thread that goes where the tag was before, in one mode or the other, while another gathers and spreads: that shard is the
/// right one, or closed.
#[test]
fn a_spot_is_right_or_closed() {
    for world in [World::new, World::many] {
        loom::model(move || {
            let world = world();
            let spot = world.receive(Some(0), 0);
            let sender = beside(&world, |w| {
                w.arrive(0, 0);
                w.arrive(0, 1);
            });
            let changer = beside(&world, |w| {
                w.shards.spread(w.shards.home(ALWAYS));
                drop(w.shards.enter_in_mode_one(ALWAYS));
            });
            world.receive_at(Some(spot), Some(0), 1);
            sender.join().unwrap();
            changer.join().unwrap();
            assert_eq!(world.matched(), [0, 1, NOBODY]);
            assert_eq!(world.left(), (vec![], vec![]));
        });
    }
}
