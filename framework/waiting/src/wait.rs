//! The loops in which a thread waits: poll, then give the core away, then sleep.
//!
//! **Below MULTIPLE** the waiter polls the completion word between turns of progress; nothing else
//! can complete its request. So it is at MULTIPLE while there is one thread (`gate`). **With several** it attaches a sync object and is either the owner of
//! progress or parked (`sync`), or it races (`race`).
//!
//! **Decisions.** One state machine says what a waiter does between two turns (`policy`): these loops make turns, tell it of events, and
//! do what it says. Below MULTIPLE the first turns of a wait for one request are made without it.
//!
//! **Work.** Before it yields or sleeps a waiter of several does a piece of what the task pool has, and
//! it does not sleep while there is any (`tasks`).

use crate::events::Events;
use crate::futex;
use crate::layer::{Layer, Waiter};
use crate::policy::Policy;
use crate::states::{Role, State};
use crate::sync::SyncObject;
use crate::words::Awaited;
use oxmpi_mca::RequestHeader;
use oxmpi_mca::request::Attach;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_progress::thread::{Slot, thread_pointer};

/// The completion word of a request a caller promised to be alive.
macro_rules! completion {
    ($req:expr) => {
        // SAFETY: the callers of the wait functions pass live requests.
        unsafe { &(*$req).completion }
    };
}

#[allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "requests are live: the callers' promise, checked in mpi/"
)]
impl<L: Layer> Waiter<'_, L> {
    /// Waits until the request is complete; its header has the status then. The caller holds no lock and `req` is a
    /// live request.
    #[inline]
    pub fn wait(self, req: *mut RequestHeader) {
        let done = completion!(req);
        if done.is_complete() {
            return;
        }
        if !self.waiting().threaded() {
            for _ in 0..self.waiting().patience.first_turns() {
                self.turn();
                if done.is_complete() {
                    return;
                }
            }
            if self.wait_alone(None, &mut || done.is_complete()) {
                return;
            }
        }
        if self.waiting().races {
            return self.race(&mut || done.is_complete());
        }
        self.wait_with_others(&[req]);
    }

    /// Waits until all requests are complete; null entries are skipped. The caller holds no lock.
    pub fn wait_all(self, reqs: &[*mut RequestHeader]) {
        let mut first = 0;
        let mut all_done = || {
            while first < reqs.len() && (reqs[first].is_null() || completion!(reqs[first]).is_complete()) {
                first += 1;
            }
            first == reqs.len()
        };
        if all_done() {
            return;
        }
        if !self.waiting().threaded() && self.wait_alone(None, &mut all_done) {
            return;
        }
        if self.waiting().races {
            return self.race(&mut all_done);
        }
        self.wait_with_others(&reqs[first..]);
    }

    /// Waits until at least one request is complete; null entries are skipped. With no request it returns at once.
    pub fn wait_any(self, reqs: &[*mut RequestHeader]) {
        let live = || reqs.iter().filter(|r| !r.is_null());
        let mut any_done = || live().any(|&r| completion!(r).is_complete());
        if live().next().is_none() || any_done() {
            return;
        }
        if !self.waiting().threaded() && self.wait_alone(None, &mut any_done) {
            return;
        }
        if self.waiting().races {
            return self.race(&mut any_done);
        }
        let sync = SyncObject::new(1);
        let mut attached = 0;
        for &req in live() {
            match completion!(req).attach(sync.address()) {
                Attach::Attached => attached += 1,
                Attach::AlreadyComplete => break,
            }
        }
        if attached == live().count() {
            self.run_sync(&sync);
        }
        // Those that cannot be taken off have completed, and their completers tell `sync`.
        let owed = live().take(attached).filter(|&&r| !completion!(r).detach(sync.address())).count();
        sync.settle(1, owed as u32);
    }

    /// Makes progress until `done` says so, for waits that no request stands for (a blocking probe). The caller holds
    /// no lock.
    pub fn wait_until(self, done: impl FnMut() -> bool) {
        self.wait_for(None, done);
    }

    /// Makes progress until a word has changed or `ends` says so: a question about what comes by progress or is told as news
    /// ([`crate::Waiting::tell_news`]). The writer of the word wakes the sleeper. The caller holds no lock.
    pub fn wait_word(self, word: Awaited, mut ends: impl FnMut() -> bool) {
        self.wait_for(Some(word), || word.has_changed() || ends());
    }

    /// Makes progress until `done` says so; `word`: the word by which it may become so.
    #[inline]
    fn wait_for(self, word: Option<Awaited>, mut done: impl FnMut() -> bool) {
        if done() {
            return;
        }
        if !self.waiting().threaded() && self.wait_alone(word, &mut done) {
            return;
        }
        if self.waiting().races {
            return self.race(&mut done);
        }
        let mut policy = Policy::new(Role::Passing, false, self.thread);
        loop {
            let events = self.turn();
            if done() {
                return;
            }
            if events > 0 {
                policy.event();
                continue;
            }
            if let Some(hooks) = self.waiting().cooperation.hooks() {
                // SAFETY: the program gave the function for this purpose; no lock is held.
                unsafe { (hooks.yield_now)(hooks.state) };
                continue;
            }
            match policy.next(&self.waiting().patience, || false) {
                Some(State::Spin | State::Look) => std::hint::spin_loop(),
                Some(_) => std::thread::yield_now(),
                None => break,
            }
        }
        drop(policy);
        self.wait_for_condition(word, &mut done);
    }

    /// Waits until `done` says so, among the threads that wait for requests: as the owner of progress, on the doorbell, or asleep
    /// until another thread's turn has brought something. No request stands for this wait, so nobody completes it: those who
    /// make turns wake condition waiters ([`Waiter::tell_condition_waiters`]). Turns inside a send that waits for room tell
    /// nobody, and a condition may be another thread's store; so no sleep is longer than [`LONGEST_NAP`](crate::policy::LONGEST_NAP), but that for a `word`.
    fn wait_for_condition(self, word: Option<Awaited>, done: &mut dyn FnMut() -> bool) {
        let sync = SyncObject::of_condition();
        let done = std::cell::RefCell::new(done);
        // Asking may change something (a matched probe takes its message), so a question that was answered is not asked again.
        let ends = |sync: &SyncObject| {
            let is_done = (done.borrow_mut())();
            if is_done {
                // SAFETY: it stands for the one completion that the object was made for.
                unsafe { SyncObject::update(sync, 1) };
            }
            is_done
        };
        let mut policy = Policy::new(Role::Owner, self.is_crowded(), self.thread);
        // It looks once and then sleeps, for times that grow.
        let mut parked = Policy::new(Role::Parked, true, self.thread);
        self.waiting().condition_waiters.fetch_add(1, Ordering::Relaxed);
        self.waiting().waiters.run(
            &sync,
            |sync| {
                let events = self.turn();
                if events > 0 {
                    self.tell_condition_waiters();
                    policy.event();
                }
                if ends(sync) || events > 0 || self.waiting().tasks.help() {
                    return;
                }
                if self.rests(&mut policy) {
                    if word.is_none() {
                        policy.longest = policy.next_nap();
                    }
                    self.sleep(Some(sync), word, &mut policy);
                }
            },
            |sync| {
                if self.turn() > 0 {
                    parked.event();
                    self.tell_condition_waiters();
                }
                if ends(sync) || !sync.park() {
                    return;
                }
                // From here on whoever brings something sees it parked; it looks at what came before that.
                if !ends(sync) && !self.waiting().tasks.may_not_sleep() {
                    let _ = parked.next(&self.waiting().patience, || false);
                    let away = self.leaves_its_cri();
                    self.sleep_parked(sync, word, parked.next_nap());
                    drop(away);
                }
                sync.unpark();
            },
        );
        self.waiting().condition_waiters.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes the threads that wait for something else than requests, behind a turn that brought something.
    #[inline(always)]
    pub(crate) fn tell_condition_waiters(self) {
        if self.waiting().condition_waiters.load(Ordering::Relaxed) != 0 {
            self.waiting().waiters.rouse_condition_waiters();
        }
    }

    /// Waits until `done` says so, as the only thread that makes calls, which is inside the gate. False: from now on
    /// there are several threads, and the caller waits in their way. `word`: by which it may become so.
    #[inline(never)]
    fn wait_alone(self, word: Option<Awaited>, done: &mut dyn FnMut() -> bool) -> bool {
        let mut policy = Policy::new(Role::Owner, false, self.thread);
        loop {
            if self.waiting().gate().wanted() {
                self.waiting().gate().let_raiser_in(thread_pointer());
            }
            // Also behind a turn that ran the user's code.
            if self.waiting().threaded() {
                return false;
            }
            let events = self.turn();
            if done() {
                return true;
            }
            if events > 0 {
                policy.event();
                continue;
            }
            let timed = || self.waiting().patience.has_none();
            match policy.next(&self.waiting().patience, || timed() && self.waiting().yield_limit.is_in_vain())
            {
                Some(State::Spin | State::Look) => {}
                Some(State::Yield) if timed() => self.waiting().yield_limit.yield_core(),
                Some(State::Yield) => std::thread::yield_now(),
                _ => self.sleep(None, word, &mut policy),
            }
        }
    }

    /// Waits for all of `reqs` where other threads make calls, too: a few turns of progress, then with a sync object.
    #[inline(never)]
    fn wait_with_others(self, reqs: &[*mut RequestHeader]) {
        let live = || reqs.iter().filter(|r| !r.is_null());
        let (beside, crowded) = (self.progress_side_by_side(), self.is_crowded());
        if beside || crowded || self.waiting().waiters.is_idle() {
            // Nobody else waits, or others progress instances of their own: a few turns may be all it takes.
            let done = || live().all(|&r| completion!(r).is_complete());
            let passed = match crowded {
                false => self.first_turns_complete(done),
                true if self.waiting().cooperation.hooks().is_none() => self.passes(done),
                true => false,
            };
            if passed {
                return;
            }
        }
        let count = live().count() as u32;
        if count == 0 {
            return;
        }
        let sync = SyncObject::new(count);
        let mut already = 0;
        for &req in live() {
            if completion!(req).attach(sync.address()) == Attach::AlreadyComplete {
                already += 1;
            }
        }
        if !sync.retire(already) {
            self.run_sync(&sync);
        }
    }

    /// Makes the first turns of progress of a wait, until `done`: true. False: that is not so behind them.
    #[inline(always)]
    fn first_turns_complete(self, done: impl Fn() -> bool) -> bool {
        (0..self.waiting().patience.first_turns()).any(|_| {
            self.turn();
            done()
        })
    }

    /// Makes turns of progress in a crowd until `done`: true. False: that is not so behind as many yields as a thread makes before it
    /// enters the list of waiters.
    fn passes(self, done: impl Fn() -> bool) -> bool {
        let mut policy = Policy::new(Role::Passing, true, self.thread);
        loop {
            let events = self.turn();
            if done() {
                self.steps_aside(policy.yields_before_this_turn());
                return true;
            }
            if events > 0 {
                policy.event();
                continue;
            }
            match policy.next(&self.waiting().patience, || false) {
                Some(State::Spin | State::Look) => {}
                Some(_) => std::thread::yield_now(),
                None => return false,
            }
        }
    }

    /// Counts a wait of a crowd that has ended, in its looks or behind so many `yields`, and moves the thread to another core if it has reason
    /// to think that those who answer it share this one.
    fn steps_aside(self, yields: u32) {
        if self.thread.is_null() {
            return;
        }
        // SAFETY: the calling thread's context of this instance.
        let aside = &unsafe { Slot::of(self.thread) }.aside;
        if aside.answered(yields) {
            aside.move_thread();
        }
    }

    /// Spends the time between two turns of an owner of progress, as its policy says. True: it is to sleep.
    #[inline(always)]
    fn rests(self, policy: &mut Policy) -> bool {
        match policy.next(&self.waiting().patience, || false) {
            Some(State::Spin | State::Look) => std::hint::spin_loop(),
            Some(State::Yield) => std::thread::yield_now(),
            Some(State::Sleep) | None => return true,
        }
        false
    }

    /// Waits until no request that is attached to `events` is incomplete. At any level, once the waiting part acts with
    /// several threads ([`crate::Waiting::begin_threads`]).
    pub fn wait_for_none(self, events: &Events) {
        events.wait_for_none(|sync| self.run_sync(sync));
    }

    /// Waits until a sync object is done, as the owner of progress or parked.
    fn run_sync(self, sync: &SyncObject) {
        if self.waiting().races {
            return self.race(&mut || sync.is_done());
        }
        if let Some(hooks) = self.waiting().cooperation.hooks() {
            return self.run_cooperative(sync, hooks);
        }
        let crowded = self.is_crowded();
        let mut policy = Policy::new(Role::Owner, crowded, self.thread);
        let mut parked = Policy::new(Role::Parked, crowded, self.thread);
        let beside = self.progress_side_by_side();
        self.waiting().waiters.run(
            sync,
            |sync| {
                let events = self.turn();
                if events > 0 {
                    self.tell_condition_waiters();
                    policy.event();
                    return;
                }
                if !self.waiting().tasks.help() && self.rests(&mut policy) {
                    self.sleep(Some(sync), None, &mut policy);
                }
            },
            |sync| {
                if self.waiting().tasks.help() {
                    return;
                }
                if parked.next(&self.waiting().patience, || false) == Some(State::Look) {
                    if !beside {
                        std::hint::spin_loop();
                    } else if self.turn() > 0 {
                        self.tell_condition_waiters();
                        parked.event();
                    }
                } else if sync.park() {
                    let (word, is_parked) = sync.state_word();
                    if !self.waiting().tasks.may_not_sleep() {
                        let away = self.leaves_its_cri();
                        futex::wait_private(word, is_parked, None);
                        drop(away);
                    }
                    sync.unpark();
                }
            },
        );
    }
}
