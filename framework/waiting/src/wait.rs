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
use crate::layer::{Awaitable, Layer, Waiter};
use crate::policy::Policy;
use crate::states::{Role, State};
use crate::sync::SyncObject;
use crate::words::Awaited;
use oxmpi_mca::request::Attach;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Completion, Entry};
use oxmpi_progress::thread::{Slot, thread_pointer};

/// The requests of a list, and whether all of them, or one, are complete.
#[inline(always)]
fn live<R: Awaitable>(reqs: &[Option<R>]) -> impl Iterator<Item = &Completion> {
    reqs.iter().flatten().map(Awaitable::completion)
}

impl<L: Layer> Waiter<'_, L> {
    /// Waits until the request of that word is complete; its header has the status then. The caller holds no lock.
    #[inline]
    pub fn wait(mut self, done: &Completion) {
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
        }
        self.apart(|waiter| waiter.wait_on(done));
    }

    /// Goes on with a wait behind its first turns.
    #[inline(never)]
    fn wait_on(mut self, done: &Completion) {
        if !self.are_several() && self.wait_alone(None, &mut |_| done.is_complete()) {
            return;
        }
        match self.waiting().races {
            true => self.race(&mut |_| done.is_complete()),
            false => self.wait_with_others(&[Some(done)]),
        }
    }

    /// Waits until all requests are complete; `None`s are skipped. The caller holds no lock.
    pub fn wait_all<R: Awaitable>(mut self, reqs: &[Option<R>]) {
        let mut first = 0;
        let mut all_done = || {
            while first < reqs.len() && reqs[first].is_none_or(|req| req.completion().is_complete()) {
                first += 1;
            }
            first == reqs.len()
        };
        if all_done() {
            return;
        }
        if !self.are_several() && self.wait_alone(None, &mut |_| all_done()) {
            return;
        }
        if self.waiting().races {
            return self.race(&mut |_| all_done());
        }
        self.wait_with_others(&reqs[first..]);
    }

    /// Waits until at least one request is complete; `None`s are skipped. With no request it returns at once.
    pub fn wait_any<R: Awaitable>(mut self, reqs: &[Option<R>]) {
        let any_done = || live(reqs).any(Completion::is_complete);
        if live(reqs).next().is_none() || any_done() {
            return;
        }
        if !self.are_several() && self.wait_alone(None, &mut |_| any_done()) {
            return;
        }
        if self.waiting().races {
            return self.race(&mut |_| any_done());
        }
        let sync = SyncObject::new(1);
        let mut attached = 0;
        for done in live(reqs) {
            match done.attach(sync.address()) {
                Attach::Attached => attached += 1,
                Attach::AlreadyComplete => break,
            }
        }
        if attached == live(reqs).count() {
            self.run_sync(&sync);
        }
        // Those that cannot be taken off have completed, and their completers tell `sync`.
        let owed = live(reqs).take(attached).filter(|done| !done.detach(sync.address())).count();
        sync.settle(1, owed as u32);
    }

    /// Makes progress until `done`, which gets the thread's way in, says so, for waits that no request stands for (a blocking probe). The caller holds
    /// no lock.
    pub fn wait_until(self, done: impl FnMut(&mut Entry) -> bool) {
        self.wait_for(None, done);
    }

    /// Makes progress until a word has changed or `ends` says so: a question about what comes by progress or is told as news
    /// ([`crate::Waiting::tell_news`]). The writer of the word wakes the sleeper. The caller holds no lock.
    pub fn wait_word(self, word: Awaited, mut ends: impl FnMut() -> bool) {
        self.wait_for(Some(word), |_| word.has_changed() || ends());
    }

    /// Makes progress until `done` says so; `word`: the word by which it may become so.
    #[inline]
    fn wait_for(mut self, word: Option<Awaited>, mut done: impl FnMut(&mut Entry) -> bool) {
        if done(self.entry) {
            return;
        }
        if !self.are_several() && self.wait_alone(word, &mut done) {
            return;
        }
        match self.waiting().races {
            true => self.race(&mut done),
            false => self.wait_for_with_others(word, &mut done),
        }
    }

    /// Makes progress until `done` says so where other threads make calls, too: first as one that passes.
    fn wait_for_with_others(&mut self, word: Option<Awaited>, done: &mut dyn FnMut(&mut Entry) -> bool) {
        let (slot, mut waiter) = self.and_slot();
        let mut policy = Policy::new(Role::Passing, false, slot);
        loop {
            let events = waiter.turn();
            if done(waiter.entry) {
                return;
            }
            if events > 0 {
                policy.event();
                continue;
            }
            if let Some(hooks) = waiter.waiting().cooperation.hooks() {
                // SAFETY: the program gave the function for this purpose; no lock is held, and the entry is not used before it takes locks again.
                unsafe { (hooks.yield_now)(hooks.state) };
                waiter.are_several();
                continue;
            }
            match policy.next(&waiter.waiting().patience, || false) {
                Some(State::Spin | State::Look) => std::hint::spin_loop(),
                Some(_) => std::thread::yield_now(),
                None => break,
            }
        }
        drop(policy);
        self.wait_for_condition(word, done);
    }

    /// Waits until `done` says so, among the threads that wait for requests: as the owner of progress, on the doorbell, or asleep
    /// until another thread's turn has brought something. No request stands for this wait, so nobody completes it: those who
    /// make turns wake condition waiters ([`Waiter::tell_condition_waiters`]). Turns inside a send that waits for room tell
    /// nobody, and a condition may be another thread's store; so no sleep is longer than [`LONGEST_NAP`](crate::policy::LONGEST_NAP), but that for a `word`.
    fn wait_for_condition(&mut self, word: Option<Awaited>, done: &mut dyn FnMut(&mut Entry) -> bool) {
        let sync = SyncObject::of_condition();
        let (slot, waiter) = self.and_slot();
        let waiting = waiter.waiting();
        let mut policy = Policy::new(Role::Owner, waiter.is_crowded(), slot);
        // It looks once and then sleeps, for times that grow.
        let mut parked = Policy::new(Role::Parked, true, slot);
        let mut asking = Asking { waiter, done };
        waiting.condition_waiters.fetch_add(1, Ordering::Relaxed);
        waiting.waiters.run(
            &sync,
            &mut asking,
            |asking, sync| {
                let events = asking.turn();
                if events > 0 {
                    policy.event();
                }
                if asking.ends(sync) || events > 0 || waiting.tasks.help() {
                    return;
                }
                if asking.waiter.rests(&mut policy) {
                    if word.is_none() {
                        policy.longest = policy.next_nap();
                    }
                    asking.waiter.sleep(Some(sync), word, &mut policy);
                }
            },
            |asking, sync| {
                if asking.turn() > 0 {
                    parked.event();
                }
                if asking.ends(sync) || !sync.park() {
                    return;
                }
                // From here on whoever brings something sees it parked; it looks at what came before that.
                if !asking.ends(sync) && !waiting.tasks.may_not_sleep() {
                    let _ = parked.next(&waiting.patience, || false);
                    let away = asking.waiter.leaves_its_cri();
                    asking.waiter.sleep_parked(sync, word, parked.next_nap());
                    drop(away);
                }
                sync.unpark();
            },
        );
        waiting.condition_waiters.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes the threads that wait for something else than requests, behind a turn that brought something.
    #[inline(always)]
    pub(crate) fn tell_condition_waiters(&self) {
        if self.waiting().condition_waiters.load(Ordering::Relaxed) != 0 {
            self.waiting().waiters.rouse_condition_waiters();
        }
    }

    /// Waits until `done` says so, as the only thread that makes calls, which is inside the gate. False: from now on
    /// there are several threads, and the caller waits in their way. `word`: by which it may become so.
    #[inline(never)]
    fn wait_alone(&mut self, word: Option<Awaited>, done: &mut dyn FnMut(&mut Entry) -> bool) -> bool {
        let (slot, mut waiter) = self.and_slot();
        let waiting = waiter.waiting();
        let mut policy = Policy::new(Role::Owner, false, slot);
        loop {
            if waiting.gate().wanted() {
                waiting.gate().let_raiser_in(thread_pointer());
            }
            // Also behind a turn that ran the user's code.
            if waiter.are_several() {
                return false;
            }
            let events = waiter.turn();
            if done(waiter.entry) {
                return true;
            }
            if events > 0 {
                policy.event();
                continue;
            }
            let timed = || waiting.patience.has_none();
            match policy.next(&waiting.patience, || timed() && waiting.yield_limit.is_in_vain()) {
                Some(State::Spin | State::Look) => {}
                Some(State::Yield) if timed() => waiting.yield_limit.yield_core(),
                Some(State::Yield) => std::thread::yield_now(),
                _ => waiter.sleep(None, word, &mut policy),
            }
        }
    }

    /// Waits for all of `reqs` where other threads make calls, too: a few turns of progress, then with a sync object.
    #[inline(never)]
    fn wait_with_others<R: Awaitable>(&mut self, reqs: &[Option<R>]) {
        let (beside, crowded) = (self.progress_side_by_side(), self.is_crowded());
        if beside || crowded || self.waiting().waiters.is_idle() {
            // Nobody else waits, or others progress instances of their own: a few turns may be all it takes.
            let done = || live(reqs).all(Completion::is_complete);
            let passed = match crowded {
                false => self.first_turns_complete(done),
                true if self.waiting().cooperation.hooks().is_none() => self.passes(done),
                true => false,
            };
            if passed {
                return;
            }
        }
        let count = live(reqs).count() as u32;
        if count == 0 {
            return;
        }
        let sync = SyncObject::new(count);
        let mut already = 0;
        for done in live(reqs) {
            if done.attach(sync.address()) == Attach::AlreadyComplete {
                already += 1;
            }
        }
        if !sync.retire(already) {
            self.run_sync(&sync);
        }
    }

    /// Makes the first turns of progress of a wait, until `done`: true. False: that is not so behind them.
    #[inline(always)]
    fn first_turns_complete(&mut self, done: impl Fn() -> bool) -> bool {
        (0..self.waiting().patience.first_turns()).any(|_| {
            self.turn();
            done()
        })
    }

    /// Makes turns of progress in a crowd until `done`: true. False: that is not so behind as many yields as a thread makes before it
    /// enters the list of waiters.
    fn passes(&mut self, done: impl Fn() -> bool) -> bool {
        let (slot, mut waiter) = self.and_slot();
        let mut policy = Policy::new(Role::Passing, true, slot);
        loop {
            let events = waiter.turn();
            if done() {
                steps_aside(slot, policy.yields_before_this_turn());
                return true;
            }
            if events > 0 {
                policy.event();
                continue;
            }
            match policy.next(&waiter.waiting().patience, || false) {
                Some(State::Spin | State::Look) => {}
                Some(_) => std::thread::yield_now(),
                None => return false,
            }
        }
    }

    /// Spends the time between two turns of an owner of progress, as its policy says. True: it is to sleep.
    #[inline(always)]
    fn rests(&self, policy: &mut Policy) -> bool {
        match policy.next(&self.waiting().patience, || false) {
            Some(State::Spin | State::Look) => std::hint::spin_loop(),
            Some(State::Yield) => std::thread::yield_now(),
            Some(State::Sleep) | None => return true,
        }
        false
    }

    /// Waits until no request that is attached to `events` is incomplete. At any level, once the waiting part acts with
    /// several threads ([`crate::Waiting::begin_threads`]).
    pub fn wait_for_none(mut self, events: &Events) {
        self.are_several();
        events.wait_for_none(|sync| self.run_sync(sync));
    }

    /// Waits until a sync object is done, as the owner of progress or parked.
    fn run_sync(&mut self, sync: &SyncObject) {
        if self.waiting().races {
            return self.race(&mut |_| sync.is_done());
        }
        if let Some(hooks) = self.waiting().cooperation.hooks() {
            return self.run_cooperative(sync, hooks);
        }
        let (slot, mut waiter) = self.and_slot();
        let (waiting, crowded) = (waiter.waiting(), waiter.is_crowded());
        let mut policy = Policy::new(Role::Owner, crowded, slot);
        let mut parked = Policy::new(Role::Parked, crowded, slot);
        let beside = waiter.progress_side_by_side();
        waiting.waiters.run(
            sync,
            &mut waiter,
            |waiter, sync| {
                let events = waiter.turn();
                if events > 0 {
                    waiter.tell_condition_waiters();
                    policy.event();
                    return;
                }
                if !waiting.tasks.help() && waiter.rests(&mut policy) {
                    waiter.sleep(Some(sync), None, &mut policy);
                }
            },
            |waiter, sync| {
                if waiting.tasks.help() {
                    return;
                }
                if parked.next(&waiting.patience, || false) == Some(State::Look) {
                    if !beside {
                        std::hint::spin_loop();
                    } else if waiter.turn() > 0 {
                        waiter.tell_condition_waiters();
                        parked.event();
                    }
                } else if sync.park() {
                    let (word, is_parked) = sync.state_word();
                    if !waiting.tasks.may_not_sleep() {
                        let away = waiter.leaves_its_cri();
                        futex::wait_private(word, is_parked, None);
                        drop(away);
                    }
                    sync.unpark();
                }
            },
        );
    }
}

/// A wait that no request stands for, and its question.
struct Asking<'a, L> {
    waiter: Waiter<'a, L>,
    done: &'a mut dyn FnMut(&mut Entry) -> bool,
}

impl<L: Layer> Asking<'_, L> {
    /// Makes a turn, and tells others who wait so if it brought something.
    fn turn(&mut self) -> i32 {
        let events = self.waiter.turn();
        if events > 0 {
            self.waiter.tell_condition_waiters();
        }
        events
    }

    /// Whether the wait ends. Asking may change something (a matched probe takes its message), so a question that was answered is not asked again.
    fn ends(&mut self, sync: &SyncObject) -> bool {
        let is_done = (self.done)(self.waiter.entry);
        if is_done {
            // SAFETY: it stands for the one completion that the object was made for.
            unsafe { SyncObject::update(sync, 1) };
        }
        is_done
    }
}

/// Counts a wait of a crowd that has ended, in its looks or behind so many `yields`, and moves the thread to another core if it has reason
/// to think that those who answer it share this one.
fn steps_aside(slot: Option<&Slot>, yields: u32) {
    if let Some(Slot { aside, .. }) = slot
        && aside.answered(yields)
    {
        aside.move_thread();
    }
}
