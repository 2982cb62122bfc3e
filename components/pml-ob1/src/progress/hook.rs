//! This component's work in a turn of progress: its part behind the transports of a context, its functions that need no lock, and
//! turns of its own.
//!
//! The host's engine polls the transports and calls [`Ob1::go_on`] behind them, under the same lock, while the CRI's word of work asks for it
//! (`Work`) or peers were lost. Arrivals leave deferred messages and owed deliveries to be done without a CRI's lock: two layer functions,
//! each with its count as word. A thread that holds a CRI anyway polls it itself: behind posting a blocking receive, before an end, and in ordered
//! mode.

use crate::ob1::Ob1;
use crate::requests::thread_state::number_of;
use crate::state::fifos::FIFO;
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_btl::WaitSet;
use oxmpi_mca::{CriGuard, Entry, LayerFunction, SliceRef, Status, ThreadCtx};
use oxmpi_pml::{ContextWords, Words};

/// The instance behind a layer function's first argument.
macro_rules! ob1 {
    ($ctx:expr) => {
        // SAFETY: registered with the module's address, which stays until it is finalized.
        unsafe { &*($ctx as *const Ob1) }
    };
}

/// Layer function: handles deferred messages whose turn is sure. There are such where locks are taken.
extern "C" fn resolve(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    ob1!(ctx).receiver().resolve_some(&mut Entry::among())
}

/// Layer function: makes deliveries that are owed under the locks of other CRIs. There are such where locks are taken.
extern "C" fn pay(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    ob1!(ctx).receiver().pay(&mut Entry::among())
}

/// Arms the two functions above, which are called while they have work: nobody sleeps meanwhile.
extern "C" fn stay_awake(_: *mut c_void, _: *mut ThreadCtx, _: *mut WaitSet) -> Status {
    Status::PENDING
}

impl Ob1 {
    /// Gives the words by which the host's engine calls [`Ob1::go_on`].
    pub fn words(&self) -> Words {
        let words = (0..self.instance().host().num_cris()).map(|ctx| ContextWords {
            work: self.instance().cri(ctx).work().word(),
            unmatched: self.instance().cri(ctx).kept_word(),
        });
        let words = self.words.get_or_init(|| words.collect());
        let contexts = SliceRef { ptr: words.as_ptr(), len: words.len() };
        Words { always: self.peers().lost_word(), contexts, ..Words::NONE }
    }

    /// Registers the functions for what arrivals leave to be done without a CRI's lock.
    pub fn register_layers(&self) -> Result<(), Status> {
        let works =
            [(resolve as _, self.receiver().deferred_word()), (pay as _, self.receiver().owed_word())];
        for (function, work) in works {
            let layer = LayerFunction::new(function, self, Some(work));
            let layer = LayerFunction { arm: Some(stay_awake), ..layer };
            // SAFETY: the functions take an `Ob1`, which with its words stays in the host's module until it is finalized, behind the last turn.
            unsafe { self.instance().host().progress_register(&layer) }.ok()?;
        }
        Ok(())
    }

    /// Takes the functions of [`Ob1::register_layers`] out of progress.
    pub fn unregister_layers(&self) {
        self.instance().host().progress_unregister(resolve, self);
        self.instance().host().progress_unregister(pay, self);
    }

    /// Makes a turn of the CRI where the messages of the calling thread come, which has just posted a receive, unless another thread is at it or owns
    /// it.
    #[inline(always)]
    pub fn poll_own(&self, entry: &mut Entry) {
        let host = self.instance().host();
        if !entry.is_among() {
            return self.take_turn(&mut self.instance().hold(entry, FIFO));
        }
        let own = entry.context().map_or(FIFO, |thread| thread.cri);
        let own = if own != FIFO && self.order().is_wide() { own } else { FIFO };
        if host.cri(own).is_anothers(entry.who()) {
            return;
        }
        let number = number_of(entry);
        let Some(mut held) = host.try_hold(entry, own) else {
            host.cri(own).lock_misses.fetch_add(1, Ordering::Relaxed);
            return;
        };
        host.cri(own).count_holder(number);
        self.take_turn(&mut held);
    }

    /// Makes a turn of a CRI that is held.
    #[inline(always)]
    fn take_turn(&self, held: &mut CriGuard<'_>) {
        let mut events = self.instance().polling().poll(held);
        if self.instance().cri(held.ctx()).work().is_marked() || self.peers().lost() != 0 {
            events += self.go_on(&mut held.lend());
        }
        if held.is_among() {
            self.instance().host().cri(held.ctx()).count_progress(events);
        }
    }

    /// Makes a turn of every CRI on which something may come, waiting for each lock, and does what arrivals leave to be done without one. Returns
    /// the number of events.
    pub fn poll_all(&self, entry: &mut Entry) -> i32 {
        let mut events = 0;
        for ctx in 0..self.instance().host().active_cris() {
            let mut held = self.instance().hold(entry, ctx);
            let came = self.instance().polling().poll(&mut held) + self.go_on(&mut held);
            self.instance().host().cri(ctx).count_progress(came);
            events += came;
        }
        events + self.follow_up(entry)
    }

    /// Does the work that arrivals leave to be done without a CRI's lock: deferred messages and owed deliveries.
    /// Returns the number of events.
    fn follow_up(&self, entry: &mut Entry) -> i32 {
        let mut events = 0;
        if self.receiver().has_deferred() {
            events += self.receiver().resolve_some(entry);
        }
        if self.receiver().owes() {
            events += self.receiver().pay(entry);
        }
        events
    }

    /// Makes a turn of all CRIs before this process goes, so that senders get their answers. PENDING while anything
    /// comes or waits for room, or sends that were released are under way.
    pub fn flush_queues(&self, entry: &mut Entry) -> Status {
        if self.poll_all(entry) > 0 {
            return Status::PENDING;
        }
        let mut waiting = false;
        self.instance().hold_wide(entry).for_each(|held| {
            let work = self.instance().cri(held.ctx()).work();
            // A transport may still touch the buffer of a request that was released.
            waiting |= self.instance().has_backlog(held) || work.is_flying(held);
        });
        let waiting = waiting || self.receiver().owes();
        if waiting || self.requests().detached() != 0 { Status::PENDING } else { Status::OK }
    }
}
