//! The task pool: threads that wait for messages lend a hand with large work of other threads.
//!
//! The pool has no threads of its own. A thread with large work cuts it into pieces and puts them on a
//! deque; it takes pieces from one end, and threads that wait in MPI steal from the other, one at a time,
//! between two looks at what they wait for. Where nobody waits, or the work is small, nothing of this runs: the
//! caller does the work as if there were no pool.
//!
//! **A piece** is work that is ours, short (some ten microseconds), takes no lock and runs no code
//! of the user's. Reductions with a user's function never come here.
//!
//! **Objects.** A [`Job`] lies on its caller's stack: what to do, and how many pieces are not done. A piece is the job's
//! address and a number. The caller does not leave before the count of pieces left is zero; the subtraction is
//! the last thing a helper does with the job. `open` has a stealer of each job's deque; who finds one there may
//! keep it as long as it likes, because deques are counted by reference, and steals nothing from it once the caller has emptied it.
//!
//! **Nobody sleeps over a piece.** The caller publishes the job (`open`, then `busy`) and then wakes those
//! who sleep; a thread that is about to sleep sets its state to parked, and then looks at `busy`, with a full
//! fence between on both sides, so one of them sees the other. If a helper were missed nothing would be wrong,
//! only slower: the caller does all pieces that nobody takes.

use crate::lock::{Mutex, lock};
#[cfg(not(loom))]
use crossbeam_deque::{Steal, Stealer, Worker};
#[cfg(loom)]
use model::deque::{Steal, Stealer, Worker};
use oxmpi_mca::sync::{AtomicU32, AtomicUsize, Ordering, fence, unmodelled, yield_now};

/// Bytes of a piece: large enough that fetching it costs little, small enough that a message is not kept
/// waiting by the thread that has it.
pub const PIECE: u64 = 64 << 10;

/// A function that does the piece with the given number, in any thread.
type Work<'a> = dyn Fn(u64) + Sync + 'a;

/// Work in pieces, and how many of them are not done.
struct Job<'a> {
    work: &'a Work<'a>,
    left: AtomicUsize,
}

/// One piece: a job that lives until all its pieces are done.
struct Piece {
    job: *const Job<'static>,
    number: u64,
}

// SAFETY: the job is shared by reference (`Work` is Sync) and alive, see the module's head.
unsafe impl Send for Piece {}

impl Piece {
    /// Does the piece, and counts it as done; the job may be gone afterwards.
    fn run(self) {
        // SAFETY: alive until `left` is zero, and this piece still counts.
        let job = unsafe { &*self.job };
        (job.work)(self.number);
        // SYNC POINT with `Tasks::share`: the caller sees what this piece wrote. The job may be gone afterwards.
        job.left.fetch_sub(1, Ordering::Release);
    }
}

/// A job that others may steal from.
struct Open {
    job: usize,
    stealer: Stealer<Piece>,
}

/// The pool of an instance.
#[derive(Default)]
#[repr(align(128))]
pub struct Tasks {
    /// Jobs in `open`.
    busy: AtomicU32,
    open: Mutex<Vec<Open>>,
    /// Pieces that waiting threads have done.
    helped: unmodelled::AtomicU64,
}

impl Tasks {
    /// Number of pieces that waiting threads have done.
    pub fn helped(&self) -> u64 {
        self.helped.load(Ordering::Relaxed)
    }

    /// Whether there is work in the pool, so that a thread that has announced its sleep must not sleep.
    pub fn may_not_sleep(&self) -> bool {
        // SYNC POINT with `share`.
        fence(Ordering::SeqCst);
        self.busy.load(Ordering::Relaxed) != 0
    }

    /// Does one piece of another thread's work. False: there is none.
    #[inline]
    pub fn help(&self) -> bool {
        self.busy.load(Ordering::Relaxed) != 0 && self.steal_one()
    }

    /// Steals a piece from the first deque that has one, and does it. False: all are empty.
    #[inline(never)]
    fn steal_one(&self) -> bool {
        let open: Vec<Stealer<Piece>> = lock(&self.open).iter().map(|o| o.stealer.clone()).collect();
        for stealer in &open {
            loop {
                match stealer.steal() {
                    Steal::Success(piece) => {
                        self.helped.fetch_add(1, Ordering::Relaxed);
                        piece.run();
                        return true;
                    }
                    Steal::Retry => yield_now(),
                    Steal::Empty => break,
                }
            }
        }
        false
    }

    /// Does pieces 0 to `pieces` of `work`, together with the threads that `wake` wakes and that call [`Tasks::help`].
    /// Returns when all are done. A piece must not panic.
    pub fn share(&self, pieces: u64, work: &Work<'_>, wake: impl FnOnce()) {
        let job = Job { work, left: AtomicUsize::new(pieces as usize) };
        let at = (&raw const job).cast::<Job<'static>>();
        let deque = Worker::new_fifo();
        for number in 0..pieces {
            deque.push(Piece { job: at, number });
        }
        lock(&self.open).push(Open { job: at.addr(), stealer: deque.stealer() });
        self.busy.fetch_add(1, Ordering::Relaxed);
        // SYNC POINT with `may_not_sleep`.
        fence(Ordering::SeqCst);
        wake();
        while let Some(piece) = deque.pop() {
            piece.run();
        }
        lock(&self.open).retain(|o| o.job != at.addr());
        self.busy.fetch_sub(1, Ordering::Relaxed);
        // SYNC POINT with `Piece::run`.
        while job.left.load(Ordering::Acquire) != 0 {
            yield_now();
        }
    }
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;

/// The model's stand-in for the deque: the model checker does not see into that of the crate.
#[cfg(loom)]
mod model {
    pub mod deque {
        use crate::lock::{Mutex, lock};
        use loom::sync::Arc;
        use std::collections::VecDeque;

        pub struct Worker<T>(Arc<Mutex<VecDeque<T>>>);
        pub struct Stealer<T>(Arc<Mutex<VecDeque<T>>>);
        pub enum Steal<T> {
            Empty,
            Success(T),
            #[allow(dead_code, reason = "the crate's deque has it")]
            Retry,
        }

        impl<T> Worker<T> {
            pub fn new_fifo() -> Worker<T> {
                Worker(Arc::new(Mutex::new(VecDeque::new())))
            }
            pub fn push(&self, item: T) {
                lock(&self.0).push_back(item);
            }
            pub fn pop(&self) -> Option<T> {
                lock(&self.0).pop_front()
            }
            pub fn stealer(&self) -> Stealer<T> {
                Stealer(self.0.clone())
            }
        }

        impl<T> Clone for Stealer<T> {
            fn clone(&self) -> Stealer<T> {
                Stealer(self.0.clone())
            }
        }

        impl<T> Stealer<T> {
            pub fn steal(&self) -> Steal<T> {
                lock(&self.0).pop_front().map_or(Steal::Empty, Steal::Success)
            }
        }
    }
}
