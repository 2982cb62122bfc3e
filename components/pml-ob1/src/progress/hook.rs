//! This component's work in a turn of progress: its part behind the transports of a context, its functions that need no lock, and
//! turns of its own.
//!
//! The host's engine polls the transports and calls [`Ob1::go_on`] behind them, under the same lock, while the CRI's word of work asks for it
//! (`Work`) or peers were lost. Arrivals leave deferred messages and owed deliveries to be done without a CRI's lock: two layer functions,
//! each with its count as word. A thread that holds a CRI anyway polls it itself: behind posting a blocking receive, before an end, and in ordered
//! mode.

use crate::ob1::Ob1;
use crate::requests::thread_state::{number_of, seat_of};
use crate::state::fifos::FIFO;
use crate::state::guarded::Held;
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use oxmpi_btl::WaitSet;
use oxmpi_mca::{LayerFunction, SliceRef, Status, ThreadCtx};
use oxmpi_pml::{ContextWords, Words};

/// The instance behind a layer function's first argument.
macro_rules! ob1 {
    ($ctx:expr) => {
        // SAFETY: registered with the module's address, which stays until it is finalized.
        unsafe { &*($ctx as *const Ob1) }
    };
}

/// Layer function: handles deferred messages whose turn is sure.
extern "C" fn resolve(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    ob1!(ctx).receiver().resolve_some()
}

/// Layer function: makes deliveries that are owed under the locks of other CRIs.
extern "C" fn pay(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    ob1!(ctx).receiver().pay()
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
        let ctx = core::ptr::from_ref(self).cast_mut().cast();
        let works =
            [(resolve as _, self.receiver().deferred_word()), (pay as _, self.receiver().owed_word())];
        for (function, work) in works {
            let function = LayerFunction { arm: Some(stay_awake), ..LayerFunction::new(function, ctx, work) };
            self.instance().host().progress_register(&function).ok()?;
        }
        Ok(())
    }

    /// Takes the functions of [`Ob1::register_layers`] out of progress.
    pub fn unregister_layers(&self) {
        let ctx: *mut c_void = core::ptr::from_ref(self).cast_mut().cast();
        self.instance().host().progress_unregister(resolve, ctx);
        self.instance().host().progress_unregister(pay, ctx);
    }

    /// Makes a turn of the CRI where the messages of a thread come that has just posted a receive, unless another thread is at it or owns
    /// it. The caller holds nothing.
    #[inline(always)]
    pub fn poll_own(&self, thread: *mut ThreadCtx, threaded: bool) {
        if !threaded {
            // SAFETY: the calling thread is the only one in MPI.
            return self.take_turn(&unsafe { self.instance().inherit(FIFO, false) });
        }
        let who = seat_of(thread);
        // SAFETY: the context of the calling thread, or null.
        let own = unsafe { thread.as_ref() }.map_or(FIFO, |t| t.cri);
        let own = if own != FIFO && self.order().is_wide() { own } else { FIFO };
        if self.instance().host().cri(own).is_anothers(who) {
            return;
        }
        let Some(held) = self.instance().try_hold(own, who, true) else {
            self.instance().host().cri(own).lock_misses.fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.instance().host().cri(own).count_holder(number_of(thread));
        self.take_turn(&held);
    }

    /// Makes a turn of a CRI whose lock is held.
    #[inline(always)]
    fn take_turn(&self, held: &Held<'_>) {
        let mut events = self.instance().polling().poll(held);
        if self.instance().cri(held.ctx).work().is_marked() || self.peers().lost() != 0 {
            events += self.go_on(held);
        }
        if held.threaded {
            self.instance().host().cri(held.ctx).count_progress(events);
        }
    }

    /// Makes a turn of every CRI on which something may come, waiting for each lock, and does what arrivals leave to be done without one. Returns
    /// the number of events. The caller holds nothing.
    pub fn poll_all(&self) -> i32 {
        let threaded = self.instance().threaded();
        let turn = |ctx| {
            let held = self.instance().hold(ctx, None, threaded);
            let events = self.instance().polling().poll(&held) + self.go_on(&held);
            self.instance().host().cri(ctx).count_progress(events);
            events
        };
        let events: i32 = (0..self.instance().host().active_cris()).map(turn).sum();
        events + self.follow_up()
    }

    /// Does the work that arrivals leave to be done without a CRI's lock: deferred messages and owed deliveries.
    /// Returns the number of events.
    fn follow_up(&self) -> i32 {
        let mut events = 0;
        if self.receiver().has_deferred() {
            events += self.receiver().resolve_some();
        }
        if self.receiver().owes() {
            events += self.receiver().pay();
        }
        events
    }

    /// Makes a turn of all CRIs before this process goes, so that senders get their answers. PENDING while anything
    /// comes or waits for room, or sends that were released are under way.
    pub fn flush_queues(&self) -> Status {
        if self.poll_all() > 0 {
            return Status::PENDING;
        }
        let all = self.instance().hold_all(self.instance().width(), self.instance().threaded());
        let waiting = all.each().any(|held| self.instance().has_backlog(&held));
        let waiting = waiting || self.receiver().owes();
        // A transport may still touch the buffer of a request that was released.
        let waiting = waiting || all.each().any(|held| self.instance().cri(held.ctx).work().is_flying());
        if waiting || self.requests().detached() != 0 { Status::PENDING } else { Status::OK }
    }
}
