//! The loops in which a thread waits: poll, then give the core away, then sleep.
//!
//! **Below MULTIPLE** the waiter polls the completion word between turns of progress; nothing else
//! can complete its request. So it is at MULTIPLE while there is one thread (`gate`). **With several** it attaches a sync object and is either the owner of
//! progress or parked (`sync`), or it races (`race`).
//!
//! **Patience.** Turns without events are counted: so many turns at full speed, then so many with a
//! `sched_yield`, then sleep on the transports' doorbell. An event starts the count again. Where more
//! threads than cores want to run there is no full-speed phase: the thread we wait for may need this
//! core. While more threads of this process wait than there are cores for each of the node's
//! processes (`Waiters::crowd`), that phase is as short as an answer takes, and follows each yield.
//!
//! **Limit of yields.** A yield among ranks that wait costs little; one to a program that computes costs its time slice. Where more
//! ranks than cores run and yields take so long, the one thread of a process sleeps instead (`yield_limit`). Ranks with a core for
//! each meet at full speed between slices, and the threads of one process yield to each other: there it stays at yields.
//!
//! **Work.** Before it yields or sleeps a waiter of several does a piece of what the task pool has, and
//! it does not sleep while there is any (`tasks`).

use crate::events::Events;
use crate::futex;
use crate::idle::{FIRST_NAP, Idle, LONGEST_NAP, Step};
use crate::layer::{Layer, Waiter};
use crate::sync::SyncObject;
use crate::words::Awaited;
use oxmpi_mca::RequestHeader;
use oxmpi_mca::request::Attach;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_progress::thread::thread_pointer;

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
        let mut idle = Idle::new();
        loop {
            let events = self.turn();
            if done() {
                return;
            }
            if events > 0 {
                idle.reset();
                continue;
            }
            if let Some(hooks) = self.waiting().cooperation.hooks() {
                // SAFETY: the program gave the function for this purpose; no lock is held.
                unsafe { (hooks.yield_now)(hooks.state) };
                continue;
            }
            match idle.step(&self.waiting().patience, false) {
                Step::Spin => std::hint::spin_loop(),
                Step::Yield => std::thread::yield_now(),
                Step::Sleep => return self.wait_for_condition(word, &mut done),
            }
        }
    }

    /// Waits until `done` says so, among the threads that wait for requests: as the owner of progress, on the doorbell, or asleep
    /// until another thread's turn has brought something. No request stands for this wait, so nobody completes it: those who
    /// make turns wake condition waiters ([`Waiter::tell_condition_waiters`]). Turns inside a send that waits for room tell
    /// nobody, and a condition may be another thread's store; so no sleep is longer than [`LONGEST_NAP`], but that for a `word`.
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
        let mut idle = Idle::new();
        let mut nap = FIRST_NAP;
        let crowded = self.is_crowded();
        self.waiting().condition_waiters.fetch_add(1, Ordering::Relaxed);
        self.waiting().waiters.run(
            &sync,
            |sync| {
                let events = self.turn();
                if events > 0 {
                    self.tell_condition_waiters();
                    idle.reset();
                }
                if ends(sync) || events > 0 || self.waiting().tasks.help() {
                    return;
                }
                match idle.step(&self.waiting().patience, crowded) {
                    Step::Spin => std::hint::spin_loop(),
                    Step::Yield => std::thread::yield_now(),
                    Step::Sleep => {
                        if word.is_none() {
                            idle.longest = idle.next_nap();
                        }
                        self.sleep(Some(sync), word, &mut idle);
                    }
                }
            },
            |sync| {
                if self.turn() > 0 {
                    nap = FIRST_NAP;
                    self.tell_condition_waiters();
                }
                if ends(sync) || !sync.park() {
                    return;
                }
                // From here on whoever brings something sees it parked; it looks at what came before that.
                if !ends(sync) && !self.waiting().tasks.may_not_sleep() {
                    let away = self.leaves_its_cri();
                    self.sleep_parked(sync, word, nap);
                    nap = (nap * 2).min(LONGEST_NAP);
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
        let mut idle = Idle::new();
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
                idle.reset();
                continue;
            }
            match idle.step(&self.waiting().patience, false) {
                Step::Spin => {}
                Step::Yield if self.yields_core() => {}
                Step::Yield | Step::Sleep => self.sleep(None, word, &mut idle),
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
            let (turns, yields) = match crowded {
                false => (self.waiting().patience.first_turns(), 0),
                // As processes would: each leaves the core to the others now and then, which costs less than
                // being put to sleep and woken for every few messages.
                true if self.waiting().cooperation.hooks().is_none() => {
                    (self.waiting().patience.crowd_turns(), self.waiting().patience.crowd_yields())
                }
                true => (1, 0),
            };
            if self.turns_complete((turns, yields), || live().all(|&r| completion!(r).is_complete())) {
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

    /// Makes turns of progress until `done`: true. False: that was not so after `yields` yields of the core, each behind so many `turns`
    /// in a row without an event; with no yields, after `turns` turns.
    #[inline(always)]
    fn turns_complete(self, (turns, yields): (u32, u32), done: impl Fn() -> bool) -> bool {
        for _ in 0..yields.max(1) {
            let mut idle = 0;
            while idle < turns {
                let events = self.turn();
                if done() {
                    return true;
                }
                idle = if events > 0 && yields > 0 { 0 } else { idle + 1 };
            }
            if yields > 0 {
                std::thread::yield_now();
            }
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
        let mut idle = Idle::new();
        let mut looks = 0;
        let crowded = self.is_crowded();
        let beside = self.progress_side_by_side();
        self.waiting().waiters.run(
            sync,
            |sync| {
                let events = self.turn();
                if events > 0 {
                    self.tell_condition_waiters();
                    idle.reset();
                    return;
                }
                if self.waiting().tasks.help() {
                    return;
                }
                match idle.step(&self.waiting().patience, crowded) {
                    Step::Spin => std::hint::spin_loop(),
                    Step::Yield => std::thread::yield_now(),
                    Step::Sleep => self.sleep(Some(sync), None, &mut idle),
                }
            },
            |sync| {
                if self.waiting().tasks.help() {
                    return;
                }
                looks += 1;
                if looks < self.waiting().patience.parked_spins(crowded) {
                    if !beside {
                        std::hint::spin_loop();
                    } else if self.turn() > 0 {
                        self.tell_condition_waiters();
                        looks = 0;
                    }
                } else if sync.park() {
                    let (word, parked) = sync.state_word();
                    if !self.waiting().tasks.may_not_sleep() {
                        let away = self.leaves_its_cri();
                        futex::wait_private(word, parked, None);
                        drop(away);
                    }
                    sync.unpark();
                }
            },
        );
    }

    /// Gives the core away. False: it did not, because yields are in vain, and the thread had better sleep. For the
    /// one thread of a process.
    fn yields_core(self) -> bool {
        if self.waiting().patience.has_none() {
            return self.waiting().yield_limit.yield_core();
        }
        std::thread::yield_now();
        true
    }
}
