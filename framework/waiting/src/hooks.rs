//! User-level threads: a program whose own scheduler switches threads (Argobots, Qthreads and their like) says
//! how a waiting one gives its core to the others.
//!
//! With hooks set no thread spins or sleeps in the kernel while it waits: the owner of progress calls `yield_now`
//! between turns, the others call `park` and are resumed alone by `unpark` when their requests are complete or
//! they are to be the owner.
//!
//! **Every park has one unpark.** A thread parks after it has set its sync object to STOPPED; who takes the
//! object out of STOPPED owes it one call of `unpark`, and nobody else calls it. So the object, on the stack of
//! the parked thread, lives until then, though its state may say DONE.
//!
//! **No hook is called under a lock.** Completers may hold locks of the transports. They put the object on
//! the stack [`Sleepers`](crate::sync::Sleepers) instead, and it is emptied behind each turn of progress and behind each wait, where no
//! lock is held. While somebody is parked there is an owner, which makes turns, so nobody is forgotten.
//!
//! A thread is to go on in the kernel thread that it was in when it called MPI: what the library knows of
//! a thread belongs to that one.

use crate::cooperation::Cooperation;
use crate::cooperation::Hooks;
use crate::layer::{Layer, Waiter};
use crate::sync::{SyncObject, UserThread};
use crate::waiting::Waiting;
use oxmpi_mca::ThreadCtx;
use std::ffi::c_void;

/// The progress function that unparks user-level threads, behind all others in each turn. Returns how many.
extern "C" fn resume(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    // SAFETY: registered with the instance's own address, which outlives its progress.
    let cooperation = unsafe { &*ctx.cast::<Cooperation>() };
    cooperation.hooks().map_or(0, |hooks| cooperation.resume(hooks))
}

impl Waiting {
    /// Sets the functions by which waiting threads let others run; with `None` they sleep in the kernel again. Not to
    /// be called while another thread is in a call.
    pub fn set_hooks(&self, hooks: Option<Hooks>) {
        let has_some = hooks.is_some();
        let had_some = self.cooperation.replace(hooks);
        let ctx = &raw const self.cooperation;
        match (had_some, has_some) {
            // SAFETY: the instance, which this is a part of, clears its engine before it goes.
            (false, true) => unsafe { self.engine.register_follower(resume, ctx.cast_mut().cast()) },
            (true, false) => self.engine.unfollow(resume, ctx.addr()),
            _ => {}
        }
    }
}

impl<L: Layer> Waiter<'_, L> {
    /// Waits for a sync object as a user-level thread: yields between turns as the owner of progress, else parks. There are several threads.
    #[inline(never)]
    pub(crate) fn run_cooperative(&mut self, sync: &SyncObject, hooks: &'static Hooks) {
        let waiting = self.waiting();
        // SAFETY: the program gave the function for this purpose, and no lock is held.
        let me = UserThread(unsafe { (hooks.current)(hooks.state) });
        waiting.waiters.run(
            sync,
            self,
            |waiter, sync| {
                sync.take_nudge();
                if waiter.turn() == 0 && !sync.is_done() && !waiting.tasks.help() {
                    // SAFETY: the program gave this one for giving its core away, and no lock is held.
                    unsafe { (hooks.yield_now)(hooks.state) };
                }
            },
            |_, sync| {
                if !waiting.tasks.help() && sync.stop(&waiting.cooperation.sleepers, me) {
                    // SAFETY: given for this, and no lock is held. It returns when somebody took the object out of STOPPED.
                    unsafe { (hooks.park)(hooks.state, me.0) };
                }
            },
        );
        // The next owner, if we were the last one.
        waiting.cooperation.resume(hooks);
    }
}
