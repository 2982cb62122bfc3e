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
//! **Sleep.** `pml.arm` announces the sleep to the transports and gives the words and descriptors that will change (`sleep_set`).
//! No sleep is longer than [`LONGEST_SLEEP`]: that is a net under what no doorbell covers (a peer that
//! died, a progress function that is not the PML's), not a way of waiting; with other progress functions
//! registered it is shorter. `disarm` follows every arm that answered OK or PENDING. Where a transport
//! cannot wake a sleeper (NOT_SUPPORTED) the thread naps for times that grow to [`LONGEST_NAP`].
//!
//! **Work.** Before it yields or sleeps a waiter of several does a piece of what the task pool has, and
//! it does not sleep while there is any (`tasks`).
//!
//! An owner that sleeps must also wake when another thread completes its requests or brings work: it
//! waits on several words at once, the transports' and its own state (`futex_waitv`). Kernels before 5.16 cannot;
//! there it sleeps on the first of them alone and for [`LONGEST_BLIND_SLEEP`] at most.

use super::events::Events;
use super::futex;
use super::sleep_set::SleepSet;
use super::sync::SyncObject;
use crate::objects::Instance;
use crate::progress::patience::Patience;
use crate::thread::thread_pointer;
use oxmpi_btl::WaitWord;
use oxmpi_mca::host::cri_mode;
use oxmpi_mca::request::Attach;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{RequestHeader, Status, ThreadCtx};
use std::time::Duration;

/// Longest sleep on doorbells.
pub(crate) const LONGEST_SLEEP: Duration = Duration::from_millis(10);
/// Longest sleep on one word of several, where the kernel cannot wait for all.
const LONGEST_BLIND_SLEEP: Duration = Duration::from_millis(1);
/// Longest nap where a transport cannot wake a sleeper.
const LONGEST_NAP: Duration = Duration::from_micros(500);
/// First nap of a wait; each further one is twice as long.
const FIRST_NAP: Duration = Duration::from_micros(5);
/// Longest sleep where there are progress functions that no doorbell knows of.
const LONGEST_SLEEP_WITH_POLLERS: Duration = Duration::from_micros(200);

/// A waiter's next step after a turn that brought nothing.
pub(super) enum Step {
    Spin,
    Yield,
    Sleep,
}

/// The turns of a waiter since its last event, and its next nap.
pub(super) struct Idle {
    turns: u32,
    nap: Duration,
    /// No sleep is longer.
    longest: Duration,
}

impl Idle {
    /// The count of a waiter at the beginning of a wait.
    pub(super) fn new() -> Idle {
        Idle { turns: 0, nap: FIRST_NAP, longest: LONGEST_SLEEP }
    }
    /// Starts the count again, after an event.
    #[inline(always)]
    pub(super) fn reset(&mut self) {
        self.turns = 0;
        self.nap = FIRST_NAP;
    }
    /// Counts a turn without an event, and says what the waiter does next. `crowded`: more threads wait than there are
    /// cores.
    #[inline(always)]
    pub(super) fn step(&mut self, patience: &Patience, crowded: bool) -> Step {
        self.turns = self.turns.saturating_add(1);
        let spins = if crowded { patience.crowd_turns() } else { patience.spins.load(Ordering::Relaxed) };
        if self.turns < spins {
            Step::Spin
        } else if self.turns < spins.saturating_add(patience.yields.load(Ordering::Relaxed)) {
            Step::Yield
        } else {
            Step::Sleep
        }
    }
    /// The length of the next nap; doubles each time, up to [`LONGEST_NAP`].
    fn next_nap(&mut self) -> Duration {
        let nap = self.nap;
        self.nap = (nap * 2).min(LONGEST_NAP);
        nap
    }
}

/// A sleeping thread, counted in its CRI until this is dropped.
struct SleepingThread<'a>(&'a AtomicU32);

impl Drop for SleepingThread<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

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
impl Instance {
    /// Waits until the request is complete; its header has the status then. The caller holds no lock and `req` is a
    /// live request.
    #[inline]
    pub fn wait(&self, thread: *mut ThreadCtx, req: *mut RequestHeader) {
        let done = completion!(req);
        if done.is_complete() {
            return;
        }
        if !self.threaded() {
            for _ in 0..self.patience.first_turns() {
                self.engine.turn(thread);
                if done.is_complete() {
                    return;
                }
            }
            if self.wait_alone(thread, &mut || done.is_complete()) {
                return;
            }
        }
        if self.races() {
            return self.race(thread, &mut || done.is_complete());
        }
        self.wait_with_others(thread, &[req]);
    }

    /// Waits until all requests are complete; null entries are skipped. The caller holds no lock.
    pub fn wait_all(&self, thread: *mut ThreadCtx, reqs: &[*mut RequestHeader]) {
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
        if !self.threaded() && self.wait_alone(thread, &mut all_done) {
            return;
        }
        if self.races() {
            return self.race(thread, &mut all_done);
        }
        self.wait_with_others(thread, &reqs[first..]);
    }

    /// Waits until at least one request is complete; null entries are skipped. With no request it returns at once.
    pub fn wait_any(&self, thread: *mut ThreadCtx, reqs: &[*mut RequestHeader]) {
        let live = || reqs.iter().filter(|r| !r.is_null());
        let mut any_done = || live().any(|&r| completion!(r).is_complete());
        if live().next().is_none() || any_done() {
            return;
        }
        if !self.threaded() && self.wait_alone(thread, &mut any_done) {
            return;
        }
        if self.races() {
            return self.race(thread, &mut any_done);
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
            self.run_sync(thread, &sync);
        }
        // Those that cannot be taken off have completed, and their completers tell `sync`.
        let owed = live().take(attached).filter(|&&r| !completion!(r).detach(sync.address())).count();
        sync.settle(1, owed as u32);
    }

    /// Makes progress until `done` says so, for waits that no request stands for (a blocking probe). The caller holds
    /// no lock.
    pub fn wait_until(&self, thread: *mut ThreadCtx, mut done: impl FnMut() -> bool) {
        if done() {
            return;
        }
        if !self.threaded() && self.wait_alone(thread, &mut done) {
            return;
        }
        if self.races() {
            return self.race(thread, &mut done);
        }
        let mut idle = Idle::new();
        loop {
            let events = self.engine.turn(thread);
            if done() {
                return;
            }
            if events > 0 {
                idle.reset();
                continue;
            }
            if let Some(hooks) = self.cooperation.hooks() {
                // SAFETY: the program gave the function for this purpose; no lock is held.
                unsafe { (hooks.yield_now)(hooks.state) };
                continue;
            }
            match idle.step(&self.patience, false) {
                Step::Spin => std::hint::spin_loop(),
                Step::Yield => std::thread::yield_now(),
                Step::Sleep => return self.wait_for_condition(thread, &mut done),
            }
        }
    }

    /// Waits until `done` says so, among the threads that wait for requests: as the owner of progress, on the doorbell, or asleep
    /// until another thread's turn has brought something. No request stands for this wait, so nobody completes it: those who
    /// make turns wake condition waiters ([`Instance::tell_condition_waiters`]). Turns inside a send that waits for room tell
    /// nobody, and a condition may be another thread's store; so no sleep is longer than [`LONGEST_NAP`].
    fn wait_for_condition(&self, thread: *mut ThreadCtx, done: &mut dyn FnMut() -> bool) {
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
        self.condition_waiters.fetch_add(1, Ordering::Relaxed);
        self.waiters.run(
            &sync,
            |sync| {
                let events = self.engine.turn(thread);
                if events > 0 {
                    self.tell_condition_waiters();
                    idle.reset();
                }
                if ends(sync) || events > 0 || self.tasks.help() {
                    return;
                }
                match idle.step(&self.patience, crowded) {
                    Step::Spin => std::hint::spin_loop(),
                    Step::Yield => std::thread::yield_now(),
                    Step::Sleep => {
                        idle.longest = idle.next_nap();
                        self.sleep(thread, Some(sync), &mut idle);
                    }
                }
            },
            |sync| {
                if self.engine.turn(thread) > 0 {
                    nap = FIRST_NAP;
                    self.tell_condition_waiters();
                }
                if ends(sync) || !sync.park() {
                    return;
                }
                // From here on whoever brings something sees it parked; it looks at what came before that.
                if !ends(sync) && !self.tasks.may_not_sleep() {
                    let (word, parked) = sync.state_word();
                    let away = self.leaves_its_cri(thread);
                    self.naps.fetch_add(1, Ordering::Relaxed);
                    futex::wait_private(word, parked, Some(nap));
                    nap = (nap * 2).min(LONGEST_NAP);
                    drop(away);
                }
                sync.unpark();
            },
        );
        self.condition_waiters.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes the threads that wait for something else than requests, behind a turn that brought something.
    #[inline(always)]
    pub(super) fn tell_condition_waiters(&self) {
        if self.condition_waiters.load(Ordering::Relaxed) != 0 {
            self.waiters.rouse_condition_waiters();
        }
    }

    /// Waits until `done` says so, as the only thread that makes calls, which is inside the gate. False: from now on
    /// there are several threads, and the caller waits in their way.
    #[inline(never)]
    fn wait_alone(&self, thread: *mut ThreadCtx, done: &mut dyn FnMut() -> bool) -> bool {
        let mut idle = Idle::new();
        loop {
            if self.gate().wanted() {
                self.gate().let_raiser_in(thread_pointer());
            }
            // Also behind a turn that ran the user's code.
            if self.threaded() {
                return false;
            }
            let events = self.engine.turn(thread);
            if done() {
                return true;
            }
            if events > 0 {
                idle.reset();
                continue;
            }
            match idle.step(&self.patience, false) {
                Step::Spin => {}
                Step::Yield if self.yields_core() => {}
                Step::Yield | Step::Sleep => self.sleep(thread, None, &mut idle),
            }
        }
    }

    /// Waits for all of `reqs` where other threads make calls, too: a few turns of progress, then with a sync object.
    #[inline(never)]
    fn wait_with_others(&self, thread: *mut ThreadCtx, reqs: &[*mut RequestHeader]) {
        let live = || reqs.iter().filter(|r| !r.is_null());
        let (beside, crowded) = (self.progress_side_by_side(), self.is_crowded());
        if beside || crowded || self.waiters.is_idle() {
            // Nobody else waits, or others progress instances of their own: a few turns may be all it takes.
            let (turns, yields) = match crowded {
                false => (self.patience.first_turns(), 0),
                // As processes would: each leaves the core to the others now and then, which costs less than
                // being put to sleep and woken for every few messages.
                true if self.cooperation.hooks().is_none() => {
                    (self.patience.crowd_turns(), self.patience.crowd_yields())
                }
                true => (1, 0),
            };
            if self.turns_complete(thread, (turns, yields), || live().all(|&r| completion!(r).is_complete()))
            {
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
            self.run_sync(thread, &sync);
        }
    }

    /// Makes turns of progress until `done`: true. False: that was not so after `yields` yields of the core, each behind so many `turns`
    /// in a row without an event; with no yields, after `turns` turns.
    #[inline(always)]
    fn turns_complete(
        &self,
        thread: *mut ThreadCtx,
        (turns, yields): (u32, u32),
        done: impl Fn() -> bool,
    ) -> bool {
        for _ in 0..yields.max(1) {
            let mut idle = 0;
            while idle < turns {
                let events = self.engine.turn(thread);
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

    /// Waits until no request that is attached to `events` is incomplete. At any level, after
    /// [`Instance::act_threaded`].
    pub fn wait_for_none(&self, thread: *mut ThreadCtx, events: &Events) {
        events.wait_for_none(|sync| self.run_sync(thread, sync));
    }

    /// Waits until a sync object is done, as the owner of progress or parked.
    fn run_sync(&self, thread: *mut ThreadCtx, sync: &SyncObject) {
        if self.races() {
            return self.race(thread, &mut || sync.is_done());
        }
        if let Some(hooks) = self.cooperation.hooks() {
            return self.run_cooperative(thread, sync, hooks);
        }
        let mut idle = Idle::new();
        let mut looks = 0;
        let crowded = self.is_crowded();
        let beside = self.progress_side_by_side();
        self.waiters.run(
            sync,
            |sync| {
                let events = self.engine.turn(thread);
                if events > 0 {
                    self.tell_condition_waiters();
                    idle.reset();
                    return;
                }
                if self.tasks.help() {
                    return;
                }
                match idle.step(&self.patience, crowded) {
                    Step::Spin => std::hint::spin_loop(),
                    Step::Yield => std::thread::yield_now(),
                    Step::Sleep => self.sleep(thread, Some(sync), &mut idle),
                }
            },
            |sync| {
                if self.tasks.help() {
                    return;
                }
                looks += 1;
                if looks < self.patience.parked_spins(crowded) {
                    if !beside {
                        std::hint::spin_loop();
                    } else if self.engine.turn(thread) > 0 {
                        self.tell_condition_waiters();
                        looks = 0;
                    }
                } else if sync.park() {
                    let (word, parked) = sync.state_word();
                    if !self.tasks.may_not_sleep() {
                        let away = self.leaves_its_cri(thread);
                        futex::wait_private(word, parked, None);
                        drop(away);
                    }
                    sync.unpark();
                }
            },
        );
    }

    /// Counts the calling thread as asleep in its CRI, so that the owner of progress looks at that CRI until the
    /// result is dropped. `None`: all threads look at the same CRIs.
    fn leaves_its_cri(&self, thread: *mut ThreadCtx) -> Option<SleepingThread<'_>> {
        if !self.progress_side_by_side() {
            return None;
        }
        // SAFETY: the context of the calling thread, or null.
        let cri = self.cris().get(unsafe { thread.as_ref() }?.cri as usize)?;
        cri.asleep.fetch_add(1, Ordering::Relaxed);
        // It may have gone to sleep while this thread was at its instance, and then no doorbell of that wakes it.
        self.waiters.rouse(0);
        Some(SleepingThread(&cri.asleep))
    }

    /// Whether more threads wait than there are cores for: whoever spins is in the way of one that has something to
    /// do.
    fn is_crowded(&self) -> bool {
        self.waiters.crowd() > self.room
    }

    /// Whether messages come on several CRIs, which waiting threads progress beside the owner of progress, each its
    /// own first (`runtime_progress`), before they are parked.
    fn progress_side_by_side(&self) -> bool {
        self.params.cri_modes & cri_mode::SERIAL_PROGRESS == 0
            && self.cris().get(1).is_some_and(|cri| cri.active.load(Ordering::Relaxed) != 0)
    }

    /// Gives the core away. False: it did not, because yields are in vain, and the thread had better sleep. For the
    /// one thread of a process.
    fn yields_core(&self) -> bool {
        if self.patience.has_none() {
            return self.yield_limit.yield_core();
        }
        std::thread::yield_now();
        true
    }

    /// Sleeps once on what the transports name, or naps where they cannot wake a sleeper. `sync`: the caller's object,
    /// if it owns progress for other threads.
    #[cold]
    fn sleep(&self, thread: *mut ThreadCtx, sync: Option<&SyncObject>, idle: &mut Idle) {
        let Some(pml) = self.pml() else {
            return futex::nap(idle.next_nap());
        };
        let mut sleep_set = SleepSet::new();
        let rung = self.bell.value();
        let armed = (pml.table.arm)(pml.state, thread, &mut *sleep_set.set());
        match armed {
            Status::OK if sleep_set.make(&self.bell, rung) => {
                self.sleep_on(sleep_set.words(), sync, idle.longest)
            }
            // Something waits for room: whoever makes it may need this core.
            Status::PENDING => std::thread::yield_now(),
            Status::OK | Status::NO_RESOURCE => self.nap(sync, idle),
            _ => return self.nap(sync, idle),
        }
        (pml.table.disarm)(pml.state, thread);
    }

    /// Sleeps once on the words, of which there is at least one, unless the gate, a nudge or work in the task pool
    /// forbids it.
    fn sleep_on(&self, words: &[WaitWord], sync: Option<&SyncObject>, longest: Duration) {
        let longest = if self.engine.is_single() { longest } else { longest.min(LONGEST_SLEEP_WITH_POLLERS) };
        let Some(sync) = sync else {
            // A thread that wants to get in knocks until we are up.
            self.gate().sleeps_on(words[0].addr.expose_provenance());
            if !self.gate().wanted() {
                self.sleep_while(words, None, longest);
            }
            return self.gate().sleeps_on(0);
        };
        if !sync.park() {
            sync.take_nudge();
            return;
        }
        if self.tasks.may_not_sleep() {
            return sync.unpark();
        }
        self.sleep_while(words, Some(sync.state_word()), longest);
        sync.unpark();
        sync.take_nudge();
    }

    /// Sleeps while all words, and `own`, have their values, at most for `longest`; on the first one alone where the
    /// kernel cannot wait for several.
    fn sleep_while(&self, words: &[WaitWord], own: Option<(&AtomicU32, u32)>, longest: Duration) {
        let first = &words[0];
        let longest = if words.len() > 1 || own.is_some() {
            let all = self.several_words.load(Ordering::Relaxed) != 0
                // SAFETY: transports keep their words mapped until `disarm`; the bell's lives as long as the instance.
                && unsafe { futex::wait_many(words, own, longest) };
            if all {
                return;
            }
            self.several_words.store(0, Ordering::Relaxed);
            LONGEST_BLIND_SLEEP.min(longest)
        } else {
            longest
        };
        // SAFETY: as above.
        unsafe { futex::wait_shared(first.addr, first.expected, longest) };
    }

    /// Naps once; an owner of progress wakes early if its sync object changes.
    fn nap(&self, sync: Option<&SyncObject>, idle: &mut Idle) {
        let nap = idle.next_nap();
        match sync {
            None => futex::nap(nap),
            Some(sync) => {
                if sync.park() {
                    let (state, parked) = sync.state_word();
                    futex::wait_private(state, parked, Some(nap));
                    sync.unpark();
                }
                sync.take_nudge();
            }
        }
    }
}
