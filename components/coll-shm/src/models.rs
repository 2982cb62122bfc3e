//! Models under loom of steps, slots and words: a rank that runs ahead of its readers, meetings of a few and of a crowd, and a rank that leaves.
//!
//! Payload is in cells that loom watches, so a slot that is written while it is read is found. Waiting is a yield here; sleeping on words has models of its
//! own beside the host's code (`docs/models.md`).

use crate::meet::{Meeting, meet};
use crate::protocol::{Arrivals, Counters, Desk, Exit, Protocol, Result, SLOTS, slot};
use crate::tree::Branch;
use loom::sync::Arc;
use loom::thread;
use oxmpi_mca::sync::{AtomicU64, Cell};
use oxmpi_mca::{Status, WakingWord};

/// A rank's words, and a payload for each of its slots.
struct Words {
    posted: [WakingWord; SLOTS as usize],
    headers: [AtomicU64; SLOTS as usize],
    payload: [Cell<u64>; SLOTS as usize],
    done: WakingWord,
    /// A datum of the rank's for the others, outside of its slots.
    own: Cell<u64>,
}

// SAFETY: loom watches the cells.
unsafe impl Sync for Words {}
// SAFETY: as above.
unsafe impl Send for Words {}

struct View {
    words: Arc<Vec<Words>>,
    common: Arc<(Arrivals, Exit)>,
    rank: u32,
    counters: Counters,
    branch: Branch,
}

impl Desk for View {
    fn rank(&self) -> u32 {
        self.rank
    }
    fn ranks(&self) -> u32 {
        self.words.len() as u32
    }
    fn counters(&self) -> &Counters {
        &self.counters
    }
    fn posted(&self, rank: u32, slot: u32) -> &WakingWord {
        &self.words[rank as usize].posted[slot as usize]
    }
    fn header(&self, rank: u32, slot: u32) -> &AtomicU64 {
        &self.words[rank as usize].headers[slot as usize]
    }
    fn done(&self, rank: u32) -> &WakingWord {
        &self.words[rank as usize].done
    }
    fn branch(&self) -> &Branch {
        &self.branch
    }
    fn arrivals(&self) -> &Arrivals {
        &self.common.0
    }
    fn exit(&self) -> &Exit {
        &self.common.1
    }
    fn wait(&self, _: &WakingWord, _: u32) -> Result {
        thread::yield_now();
        Ok(())
    }
    fn wake(&self, _: &WakingWord) {}
    fn looks(&self) -> u32 {
        0
    }
    fn get_line(&self, _: u32, _: u32) {}
}

impl View {
    fn put(&self, step: u32, value: u64) {
        self.words[self.rank as usize].payload[slot(step) as usize].set(value);
    }
    fn get(&self, rank: u32, step: u32) -> u64 {
        self.words[rank as usize].payload[slot(step) as usize].get()
    }
}

/// Runs what each of the last two ranks does, in every order, behind `before`, which is done for rank 0. `groups`: of the ranks.
fn run_in_groups<const N: usize>(before: fn(&View), last: [fn(&View); 2], groups: [u64; N]) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.max_branches = 10_000;
    builder.check(move || {
        let words = |_| Words {
            posted: [(); SLOTS as usize].map(|()| WakingWord::new(0)),
            headers: [(); SLOTS as usize].map(|()| AtomicU64::new(0)),
            payload: [(); SLOTS as usize].map(|()| Cell::new(0)),
            done: WakingWord::new(0),
            own: Cell::new(0),
        };
        let words = Arc::new((0..N).map(words).collect::<Vec<_>>());
        let common = Arc::new(<(Arrivals, Exit)>::default());
        let view = |rank: usize| View {
            words: words.clone(),
            common: common.clone(),
            rank: rank as u32,
            counters: Counters::new(),
            branch: Branch::in_groups(rank as u32, &groups.map(|group| [group])),
        };
        before(&view(0));
        let (first, second) = (view(N - 2), view(N - 1));
        let other = thread::spawn(move || last[1](&second));
        last[0](&first);
        other.join().expect("no panic");
    });
}

/// The same of two ranks without groups.
fn run(ranks: [fn(&View); 2]) {
    run_in_groups(|_| (), ranks, [0; 2]);
}

/// A rank posts more often than it has slots; no post is overwritten while the other reads it.
#[test]
fn model_a_root_runs_ahead_of_its_reader() {
    fn root(view: &View) {
        for value in 1..=SLOTS + 1 {
            let step = view.begin();
            view.lead(step);
            view.make_room(step).expect("nobody leaves");
            view.put(step, value.into());
            view.post(step, 0);
            view.finish();
        }
    }
    fn reader(view: &View) {
        for value in 1..=SLOTS + 1 {
            let step = view.begin();
            view.follow(0, step);
            view.see(0, step).expect("nobody leaves");
            assert_eq!(view.get(0, step), u64::from(value));
            view.finish();
        }
    }
    run([root, reader]);
}

/// Both post and read, without done words: a later post of each tells that the one before is read.
#[test]
fn model_posts_of_all_tell_that_all_have_read() {
    fn rank(view: &View) {
        for value in 1..=SLOTS + 1 {
            let (step, other) = (view.begin(), 1 - view.rank());
            view.make_room(step).expect("nobody leaves");
            view.put(step, u64::from(value) * 2 + u64::from(view.rank()));
            view.post(step, 0);
            view.see(other, step).expect("nobody leaves");
            assert_eq!(view.get(other, step), u64::from(value) * 2 + u64::from(other));
            view.all_are_beyond(step);
        }
    }
    run([rank, rank]);
}

fn meets(view: &View, way: Meeting) {
    for turn in 1..=2 {
        let step = view.next();
        view.words[view.rank as usize].own.set(turn);
        assert_eq!(meet(view, way, 1, true), Ok(true));
        view.all_are_beyond(step);
        assert_eq!(view.words[1 - view.rank as usize].own.get(), turn);
        let step = view.next();
        // The answers differ: both hear of the no.
        assert_eq!(meet(view, way, 1, view.rank == 0), Ok(false));
        view.all_are_beyond(step);
    }
}

#[test]
fn model_a_few_meet() {
    run([|view| meets(view, Meeting::Few), |view| meets(view, Meeting::Few)]);
}

#[test]
fn model_many_meet() {
    run([|view| meets(view, Meeting::Many), |view| meets(view, Meeting::Many)]);
}

/// Two of three ranks are a group, of which the second one hears what the first one repeats, and each sees what the other one did before. Rank 0 has said it before, as if it had
/// met them: with three ranks that wait there are too many orders.
#[test]
fn model_a_group_hears_from_its_lowest_rank() {
    fn says(view: &View) {
        let (_, back) = (view.begin(), view.begin());
        view.words[0].own.set(1);
        view.post(back, 1 << 1 | 1);
    }
    fn hears(view: &View) {
        view.words[view.rank as usize].own.set(1);
        assert_eq!(meet(view, Meeting::Many, 1, true), Ok(true));
        for words in view.words.iter() {
            assert_eq!(words.own.get(), 1);
        }
    }
    run_in_groups(says, [hears, hears], [0, 1, 1]);
}

#[test]
fn model_a_crowd_meets() {
    run([|view| meets(view, Meeting::Crowd), |view| meets(view, Meeting::Crowd)]);
}

/// One rank leaves behind its arrival, and the other one, which lets it go on, hears of that in the next meeting.
#[test]
fn model_who_leaves_a_crowd_is_missed() {
    fn leaves(view: &View) {
        if view.arrive() {
            view.release(0);
        }
        view.leave(Status::REVOKED);
    }
    fn comes_again(view: &View) {
        let first = if view.arrive() { Ok(view.release(0)) } else { view.await_release().map(|_| ()) };
        // The error may have come over the first meeting's end.
        assert!(first.is_ok() || first == Err(Status::REVOKED));
        assert!(!view.arrive());
        assert_eq!(view.await_release(), Err(Status::REVOKED));
    }
    run([leaves, comes_again]);
}

/// A rank that has left ends the waits of the other one, whatever it waits for.
#[test]
fn model_who_leaves_ends_the_others_waits() {
    fn leaves(view: &View) {
        view.leave(Status::REVOKED);
    }
    fn waits(view: &View) {
        let step = view.begin();
        assert_eq!(view.see(0, step), Err(Status::REVOKED));
        assert_eq!(view.see_finished(0, step), Err(Status::REVOKED));
    }
    run([leaves, waits]);
}
