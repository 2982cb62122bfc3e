//! Completion counters of one flow: the operations of one context to one target through one module, which complete in any order.
//!
//! **A count alone** would not do. A flush waits for the operations issued before it. "As many have completed as were issued then" may be
//! said by later ones that were faster. A contiguous prefix would need a place for each operation under way. So operations are
//! counted in *epochs*, two of which have something under way at most: the present one, and the one before it. An operation
//! belongs to the epoch that was present when it was issued. A new epoch begins with the next operation once the one before the present is
//! complete, and whenever nothing is under way any more. *Complete up to epoch e* therefore comes to be while operations go on being issued: the epoch before e drains, the next
//! operation begins e + 1, and e drains, too.
//!
//! **Access.** [`Flow::next`], [`Flow::count`] and [`Flow::done`] run under the lock of the context's CRI, the last one from
//! the transport's `progress`. [`Flow::mark`] and [`Flow::is_complete`] are for anybody, without a lock: all words are written by plain
//! stores of the lock's holder. An operation that was issued before the mark was taken, in the same thread or in one that the program ordered
//! before it, is covered by the mark.
//!
//! **Visibility.** Completion is published by a release store behind all that progress did for the operation, and read by an
//! acquire: who sees that a get is complete sees its data.
//!
//! The totals are read in this order: completed first, issued then. The other way round an operation issued in between and
//! completed would make up for one that is still under way.

use core::ffi::c_void;
use oxmpi_mca::Status;
use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering};

/// The two epochs that may have something under way.
const EPOCHS: usize = 2;

/// Counters of one flow; see the file's text. Starts empty; stays in its place while operations are under way.
#[repr(C, align(64))]
pub struct Flow {
    /// Operations that answered PENDING, and those of them that are done.
    issued: AtomicU64,
    completed: AtomicU64,
    /// The present epoch.
    present: AtomicU64,
    /// Epochs below this one are complete.
    finished: AtomicU64,
    /// Operations under way, by the lowest bit of their epoch. The holder's.
    under_way: [AtomicU64; EPOCHS],
    /// The first failure since somebody asked.
    failure: AtomicU32,
}

/// The place of one operation in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(*mut c_void);

impl Token {
    /// For `done_ctx`, with [`Flow::done`].
    pub fn done_ctx(self) -> *mut c_void {
        self.0
    }
    fn row(self) -> usize {
        self.0.addr() & (EPOCHS - 1)
    }
}

impl Flow {
    /// A flow in which nothing has been issued.
    pub fn new() -> Flow {
        Flow {
            issued: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            present: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            under_way: core::array::from_fn(|_| AtomicU64::new(0)),
            failure: AtomicU32::new(Status::OK.0.cast_unsigned()),
        }
    }

    /// The place of the operation that is issued next. Under the CRI's lock; nothing is counted yet.
    pub fn next(&self) -> Token {
        let mut present = self.present.load(Ordering::Relaxed);
        // Nothing of the epoch before is under way, so its row is free for one behind the present, if that is worth one.
        if self.finished.load(Ordering::Relaxed) == present && self.row(present) > 0 {
            present += 1;
            // SYNC POINT with `mark`.
            self.present.store(present, Ordering::Release);
        }
        let row = (present as usize) & (EPOCHS - 1);
        Token(core::ptr::from_ref(self).cast_mut().cast::<c_void>().wrapping_byte_add(row))
    }

    /// The verb answered PENDING. Under the CRI's lock, which was not left since `next`.
    pub fn count(&self, token: Token) {
        add(&self.under_way[token.row()], 1);
        // SYNC POINT with `is_complete`.
        self.issued.store(self.issued.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }

    /// The completion of a verb whose `done_ctx` a token of `next` gave. Under the CRI's lock.
    ///
    /// # Safety
    /// `done_ctx` is of a token that was counted, for which this is called once; the flow has stayed in its place since.
    pub unsafe extern "C" fn done(done_ctx: *mut c_void, status: Status) {
        let token = Token(done_ctx);
        let flow = done_ctx.wrapping_byte_sub(token.row()).cast::<Flow>();
        // SAFETY: a token's address is its flow's, and the number of a row, which is less than the alignment; the flow is there by the caller's promise.
        unsafe { &*flow }.end(token, status);
    }

    fn end(&self, token: Token, status: Status) {
        if status.is_err() && self.failure.load(Ordering::Relaxed) == Status::OK.0.cast_unsigned() {
            self.failure.store(status.0.cast_unsigned(), Ordering::Relaxed);
        }
        let row = &self.under_way[token.row()];
        row.store(row.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        let (present, mut finished) =
            (self.present.load(Ordering::Relaxed), self.finished.load(Ordering::Relaxed));
        if finished < present && self.row(finished) == 0 {
            finished += 1;
        }
        if finished == present && self.row(present) == 0 {
            // Nothing is under way. Operations that come now do not join those that a flush waits for.
            finished += 1;
            // SYNC POINT with `mark`.
            self.present.store(finished, Ordering::Release);
        }
        let publish = if weakened(Form::Unpublished) { Ordering::Relaxed } else { Ordering::Release };
        // SYNC POINT with `is_complete`: what was completed is seen.
        self.finished.store(finished, publish);
        // SYNC POINT with `is_complete`, as above.
        self.completed.store(self.completed.load(Ordering::Relaxed).wrapping_add(1), publish);
    }

    fn row(&self, epoch: u64) -> u64 {
        self.under_way[(epoch as usize) & (EPOCHS - 1)].load(Ordering::Relaxed)
    }

    /// Up to where a flush waits that begins now. Any thread.
    pub fn mark(&self) -> u64 {
        // SYNC POINT with `next`.
        self.present.load(Ordering::Acquire)
    }

    /// True once all that was issued before the mark was taken is done. Any thread.
    pub fn is_complete(&self, mark: u64) -> bool {
        if weakened(Form::CountAlone) {
            // As many as there were when the flush began: one, in the models.
            return self.completed.load(Ordering::Acquire) > mark;
        }
        self.finished.load(Ordering::Acquire) > mark || self.is_empty()
    }

    /// True while nothing is under way. Any thread.
    pub fn is_empty(&self) -> bool {
        if weakened(Form::IssuedFirst) {
            let issued = self.issued.load(Ordering::Acquire);
            return self.completed.load(Ordering::Acquire) == issued;
        }
        let completed = self.completed.load(Ordering::Acquire);
        self.issued.load(Ordering::Acquire) == completed
    }

    /// The first failure of an operation since this was last asked, or OK. Any thread; one at a time.
    pub fn take_failure(&self) -> Status {
        let found = self.failure.load(Ordering::Relaxed);
        if found != Status::OK.0.cast_unsigned() {
            self.failure.store(Status::OK.0.cast_unsigned(), Ordering::Relaxed);
        }
        Status(found.cast_signed())
    }
}

impl Default for Flow {
    fn default() -> Flow {
        Flow::new()
    }
}

/// Adds to a word of the lock's holder.
fn add(word: &AtomicU64, n: u64) {
    word.store(word.load(Ordering::Relaxed) + n, Ordering::Relaxed);
}

/// Steps that the models leave out or turn round, to see that they miss them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// The totals are read the other way round.
    IssuedFirst,
    /// Completion is told without what was completed.
    Unpublished,
    /// A flush compares a number.
    CountAlone,
}

#[cfg(not(all(test, loom)))]
#[inline(always)]
const fn weakened(_: Form) -> bool {
    false
}
#[cfg(all(test, loom))]
use model::weakened;

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn issue(flow: &Flow) -> Token {
        let token = flow.next();
        flow.count(token);
        token
    }

    fn complete(token: Token) {
        end(token, Status::OK);
    }

    fn end(token: Token, status: Status) {
        // SAFETY: the flow is the test's, which ends each token once.
        unsafe { Flow::done(token.done_ctx(), status) };
    }

    #[test]
    fn a_mark_covers_what_was_issued_before_it() {
        let flow = Flow::new();
        assert!(flow.is_complete(flow.mark()) && flow.is_empty());
        let (a, b) = (issue(&flow), issue(&flow));
        let mark = flow.mark();
        complete(b);
        assert!(!flow.is_complete(mark));
        complete(a);
        assert!(flow.is_complete(mark) && flow.is_empty());
    }

    /// Later operations that are faster make up for nothing.
    #[test]
    fn others_do_not_count_for_it() {
        let flow = Flow::new();
        let slow = issue(&flow);
        let mark = flow.mark();
        for _ in 0..100 {
            complete(issue(&flow));
        }
        assert!(!flow.is_complete(mark));
        complete(slow);
        assert!(flow.is_complete(mark));
    }

    /// Nor do they keep it waiting where each is complete before the next is issued, but the flush looks in between only.
    #[test]
    fn one_after_the_other() {
        let flow = Flow::new();
        for _ in 0..5 {
            let first = issue(&flow);
            let mark = flow.mark();
            complete(first);
            let second = issue(&flow);
            assert!(flow.is_complete(mark) && !flow.is_empty());
            complete(second);
        }
    }

    /// Operations that go on being issued keep no flush waiting: some are under way all the time.
    #[test]
    fn it_comes_to_an_end_while_others_are_issued() {
        let flow = Flow::new();
        let mut under_way = std::collections::VecDeque::from([issue(&flow)]);
        for _ in 0..100 {
            let mark = flow.mark();
            let mut turns = 0;
            while !flow.is_complete(mark) {
                under_way.push_back(issue(&flow));
                complete(under_way.pop_front().expect("one is under way"));
                turns += 1;
                assert!(turns < 10);
                assert!(!flow.is_empty());
            }
        }
    }

    /// Against a plain model, in random order.
    #[test]
    fn as_a_list_of_operations_would_say() {
        let mut seed = 88_172_645_463_325_252u64;
        let mut random = |n: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % n as u64) as usize
        };
        for _ in 0..200 {
            let flow = Flow::new();
            let mut ops: Vec<(u64, Token)> = Vec::new();
            let mut marks: Vec<(u64, u64)> = Vec::new();
            for number in 0..200 {
                match random(3) {
                    0 => marks.push((flow.mark(), number)),
                    1 => ops.push((number, issue(&flow))),
                    _ if ops.is_empty() => {}
                    _ => complete(ops.swap_remove(random(ops.len())).1),
                }
                for &(mark, before) in &marks {
                    let left = ops.iter().any(|(number, _)| *number < before);
                    assert!(!(left && flow.is_complete(mark)), "operations before {before} are under way");
                }
                assert_eq!(flow.is_empty(), ops.is_empty());
            }
            ops.drain(..).for_each(|(_, token)| complete(token));
            assert!(marks.iter().all(|(mark, _)| flow.is_complete(*mark)));
        }
    }

    #[test]
    fn the_first_failure_is_kept() {
        let flow = Flow::new();
        for status in [Status::OK, Status::PEER_FAILED, Status::RMA_RANGE] {
            end(issue(&flow), status);
        }
        assert_eq!(flow.take_failure(), Status::PEER_FAILED);
        assert_eq!(flow.take_failure(), Status::OK);
    }
}
