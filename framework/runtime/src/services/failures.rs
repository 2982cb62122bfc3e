//! Failures of peers as events: subscribers, and what happens where nobody carries on.
//!
//! A transport that loses a process for good says so by `peer_failed`, from wherever it is, a receive callback under a
//! CRI's lock included. So nothing is called there: the failure is put on a list, and the next turn of progress, which holds
//! no lock, tells the PML and everybody who subscribed, once per process. **Unless the instance was told to survive
//! failures the job ends at once, with one report.** Waits for a word, which the lost process may never change, are woken and end
//! (`Waiting::tell_news`).

use super::caller::caller;
use crate::objects::Instance;
use crate::services::failed::Subscriber;
use oxmpi_mca::services::PeerFailed;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Status, StrRef, ThreadCtx};
use std::ffi::c_void;

impl Instance {
    /// Sets whether the job goes on without processes that fail. By default it ends.
    pub fn survive_failures(&self, yes: bool) {
        self.failures().survive.store(yes, Ordering::Relaxed);
    }

    /// Notes that process `proc` has failed for good, for the next turn of progress to tell; ends the job unless it
    /// survives failures. The caller may hold locks.
    pub(crate) fn process_failed(
        &self,
        framework: &str,
        name: &str,
        proc: u32,
        status: Status,
        message: &str,
    ) {
        if !self.failures().survive.load(Ordering::Relaxed) {
            return self.peer_error(framework, name, proc, true, message);
        }
        let mut state = self.failures().state.lock();
        if state.failed.iter().any(|(p, _)| *p == proc) {
            return;
        }
        state.failed.push((proc, status));
        let first = state.failed.len() == state.told + 1;
        drop(state);
        let who = if self.is_stranger(proc) { self.describe_process(proc) } else { format!("rank {proc}") };
        self.logger().error(framework, &format!("{framework}:{name}: {who}: {message}"));
        if first {
            self.tell_in_next_turn();
        }
        // A thread that sleeps for a word of the lost process makes the turn that tells.
        self.waiting().tell_news();
    }

    /// Number of processes that have failed and have been told to all who subscribed.
    pub(crate) fn failures_told(&self) -> u32 {
        // SYNC POINT with `tell_failures`.
        self.failures().told.load(Ordering::Acquire)
    }

    /// Whether a failure was told of a process that `is_wanted`.
    pub(crate) fn has_lost(&self, is_wanted: impl Fn(u32) -> bool) -> bool {
        self.failures_told() != 0 && {
            let state = self.failures().state.lock();
            state.failed[..state.told].iter().any(|(proc, _)| is_wanted(*proc))
        }
    }

    /// Registers a function that is told of failures, and tells it of those so far. `BAD_PARAM`: it is registered already.
    ///
    /// # Safety
    /// It may be called with the argument in any thread, until the instance ends or it is removed.
    pub(crate) unsafe fn subscribe_to_failures(&self, f: PeerFailed, arg: *mut c_void) -> Status {
        let mut state = self.failures().state.lock();
        if state.subscribers.iter().any(|s| s.is(f, arg.addr())) {
            return Status::BAD_PARAM;
        }
        state.subscribers.push(Subscriber { f, ctx: arg });
        let before = state.failed[..state.told].to_vec();
        drop(state);
        for (proc, status) in before {
            f(arg, proc, status);
        }
        Status::OK
    }

    /// Tells the PML and all subscribers of the processes that have failed since the last call.
    /// Returns how many.
    fn tell_failures(&self) -> i32 {
        let mut state = self.failures().state.lock();
        let news = state.failed[state.told..].to_vec();
        if news.is_empty() {
            return 0;
        }
        state.told += news.len();
        let subscribers = state.subscribers.clone();
        drop(state);
        for (proc, status) in &news {
            if let Some(pml) = self.pml() {
                (pml.table.peer_failed)(pml.state, *proc);
            }
            for s in &subscribers {
                (s.f)(s.ctx, *proc, *status);
            }
        }
        // SYNC POINT with `failures_told`.
        self.failures().told.fetch_add(news.len() as u32, Ordering::Release);
        self.waiting().engine().unfollow(tell, std::ptr::from_ref(self).addr());
        // One that failed meanwhile asked for a turn before this one was taken back.
        let state = self.failures().state.lock();
        let more = state.failed.len() > state.told;
        drop(state);
        if more {
            self.tell_in_next_turn();
        }
        news.len() as i32
    }

    /// Has the next turn of progress tell of failures.
    fn tell_in_next_turn(&self) {
        // SAFETY: the function takes an instance, which clears its engine before it goes.
        unsafe { self.follow_progress(tell, std::ptr::from_ref(self).cast_mut().cast()) };
    }
}

/// The progress function that tells of failures, from the first failure on until it has run.
extern "C" fn tell(instance: *mut c_void, _: *mut ThreadCtx) -> i32 {
    // SAFETY: registered with the instance, which outlives its progress.
    unsafe { &*(instance as *const Instance) }.tell_failures()
}

/// Registers a component's function that is told of failures, and tells it of those so far; in the table as
/// `HostServices::on_peer_failure`. `BAD_PARAM`: it is registered already.
pub(super) extern "C" fn subscribe(ctx: *mut c_void, f: PeerFailed, arg: *mut c_void) -> Status {
    let instance = caller!(ctx).1;
    // SAFETY: a component's function and argument may be used from any thread (contract).
    unsafe { instance.subscribe_to_failures(f, arg) }
}

/// Removes a component's function that is told of failures; in the table as `HostServices::off_peer_failure`.
/// `NOT_FOUND`: it is not registered.
pub(super) extern "C" fn unsubscribe(ctx: *mut c_void, f: PeerFailed, arg: *mut c_void) -> Status {
    let subscribers = &mut caller!(ctx).1.failures().state.lock().subscribers;
    let before = subscribers.len();
    subscribers.retain(|s| !s.is(f, arg.addr()));
    if subscribers.len() < before { Status::OK } else { Status::NOT_FOUND }
}

/// Notes that a component has lost process `proc` for good; in the table as `HostServices::peer_failed`. `NOT_FOUND`:
/// there is no such process.
pub(super) extern "C" fn failed(ctx: *mut c_void, proc: u32, status: Status, message: StrRef) -> Status {
    let (ctx, instance) = caller!(ctx);
    if instance.name_of(proc).is_none() {
        // Or one that is not connected any more, whose end concerns nobody here.
        return Status::NOT_FOUND;
    }
    // SAFETY: the component's text is readable during the call.
    let message = unsafe { message.get() }.unwrap_or("(text that is not UTF-8)");
    instance.process_failed(ctx.framework.name(), ctx.name, proc, status, message);
    Status::OK
}
