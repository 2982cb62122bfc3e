//! Puts a waiter to sleep on what the layer below names, and on the words that somebody waits for.
//!
//! **Sleep.** `Engine::arm` announces the sleep to the transports and gives the words and descriptors that will change (`sleep_set`).
//! No sleep is longer than [`LONGEST_SLEEP`]: that is a net under what no doorbell covers (a peer that
//! died), not a way of waiting; while a layer has work that no doorbell covers it is shorter. `disarm` follows every arm that answered OK or PENDING. Where a transport
//! cannot wake a sleeper (NOT_SUPPORTED) the thread naps for times that grow to [`LONGEST_NAP`](crate::policy::LONGEST_NAP).
//!
//! An owner that sleeps must also wake when another thread completes its requests or brings work: it
//! waits on several words at once, the transports' and its own state (`futex_waitv`). Kernels before 5.16 cannot;
//! there it sleeps on the first of them alone and for [`LONGEST_BLIND_SLEEP`] at most.
//!
//! Words of waits and plans come first (`words`), so that one who naps, for want of a doorbell, naps on these.

use crate::futex;
use crate::layer::{Layer, Waiter};
use crate::policy::{LONGEST_SLEEP, Policy};
use crate::sleep_set::SleepSet;
use crate::sync::SyncObject;
use crate::words::Awaited;
use oxmpi_mca::Status;
use oxmpi_mca::WaitWord;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use oxmpi_progress::thread::Slot;
use std::time::Duration;

/// Longest sleep on one word of several, where the kernel cannot wait for all.
const LONGEST_BLIND_SLEEP: Duration = Duration::from_millis(1);
/// Longest sleep while a layer has work that no doorbell knows of.
const LONGEST_SLEEP_WITH_WORK: Duration = Duration::from_micros(200);

/// A sleeping thread, counted in its CRI until this is dropped.
pub(crate) struct SleepingThread<'a>(&'a AtomicU32);

impl Drop for SleepingThread<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<'a, L: Layer> Waiter<'a, L> {
    /// Counts the calling thread as asleep in its CRI, so that the owner of progress looks at that CRI until the
    /// result is dropped. `None`: all threads look at the same CRIs.
    pub(crate) fn leaves_its_cri(&self) -> Option<SleepingThread<'a>> {
        if !self.progress_side_by_side() {
            return None;
        }
        let cri = self.layer.cris().get(Slot::of(self.entry)?.cri() as usize)?;
        cri.asleep.fetch_add(1, Ordering::Relaxed);
        // It may have gone to sleep while this thread was at its instance, and then no doorbell of that wakes it.
        self.waiting().waiters.rouse(0);
        Some(SleepingThread(&cri.asleep))
    }

    /// Sleeps once on what the transports name and on the words of waits and plans, or naps where transports cannot wake a
    /// sleeper. Returns at once if a word has changed. `sync`: the caller's object, if it owns progress for other threads;
    /// `own`: the word that the caller waits for.
    #[cold]
    pub(crate) fn sleep(&mut self, sync: Option<&SyncObject>, own: Option<Awaited>, policy: &mut Policy) {
        let mut sleep_set = SleepSet::new();
        let mut set = sleep_set.set();
        let Some(announced) = self.waiting().words.announce(own, &mut policy.seen, &mut set) else { return };
        let rung = self.waiting().bell.value();
        let armed = self.waiting().engine.arm(self.entry, &mut set);
        drop(set);
        let num_words = announced.num_words;
        match armed {
            Some(Status::OK) if sleep_set.make(&self.waiting().bell, rung) => {
                self.sleep_on(sleep_set.words(), sync, policy.longest)
            }
            // Something waits for room: whoever makes it may need this core.
            Some(Status::PENDING) if policy.yields_for_room() => std::thread::yield_now(),
            Some(Status::OK | Status::PENDING | Status::NO_RESOURCE) => {
                self.nap(&sleep_set.words()[..num_words], sync, policy)
            }
            _ => return self.nap(&sleep_set.words()[..num_words], sync, policy),
        }
        self.waiting().engine.disarm(self.entry);
    }

    /// Sleeps once as a parked waiter, on its own state and on the word that it waits for; who brings something else rouses it.
    /// The caller has parked `sync`, and looked once more.
    pub(crate) fn sleep_parked(&self, sync: &SyncObject, own: Option<Awaited>, nap: Duration) {
        let (state, parked) = sync.state_word();
        let Some(own) = own else {
            self.waiting().naps.fetch_add(1, Ordering::Relaxed);
            return futex::wait_private(state, parked, Some(nap));
        };
        if let Some(word) = own.announce() {
            self.sleep_while(&[word.wait_word()], Some((state, parked)), LONGEST_SLEEP);
        }
    }

    /// Sleeps once on the words, of which there is at least one, unless the gate, a nudge or work in the task pool
    /// forbids it.
    fn sleep_on(&self, words: &[WaitWord], sync: Option<&SyncObject>, longest: Duration) {
        let longest = if self.waiting().engine.sleeps_are_short() {
            longest.min(LONGEST_SLEEP_WITH_WORK)
        } else {
            longest
        };
        let Some(sync) = sync else {
            // A thread that wants to get in knocks until we are up.
            self.waiting().gate().sleeps_on(words[0].addr.expose_provenance());
            if !self.waiting().gate().wanted() {
                self.sleep_while(words, None, longest);
            }
            return self.waiting().gate().sleeps_on(0);
        };
        if !sync.park() {
            sync.take_nudge();
            return;
        }
        if self.waiting().tasks.may_not_sleep() {
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
            let all = self.waiting().several_words.load(Ordering::Relaxed) != 0
                // SAFETY: transports keep their words mapped until `disarm`; the bell's lives as long as the instance.
                && unsafe { futex::wait_many(words, own, longest) };
            if all {
                return;
            }
            self.waiting().several_words.store(0, Ordering::Relaxed);
            LONGEST_BLIND_SLEEP.min(longest)
        } else {
            longest
        };
        // SAFETY: the transports' words stay mapped until `disarm`, and the bell's as long as the instance.
        unsafe { futex::wait_shared(first.addr, first.expected, longest) };
    }

    /// Naps once, on words that may be none; an owner of progress wakes early if its sync object changes.
    fn nap(&self, words: &[WaitWord], sync: Option<&SyncObject>, policy: &mut Policy) {
        let nap = policy.next_nap();
        let rest = |own| match (words, own) {
            ([], None) => futex::nap(nap),
            ([], Some((state, parked))) => futex::wait_private(state, parked, Some(nap)),
            _ => self.sleep_while(words, own, nap),
        };
        match sync {
            None => rest(None),
            Some(sync) => {
                if sync.park() {
                    rest(Some(sync.state_word()));
                    sync.unpark();
                }
                sync.take_nudge();
            }
        }
    }
}
