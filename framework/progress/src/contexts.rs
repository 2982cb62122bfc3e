//! Contexts: the transports that are polled on each, the PML's hook behind them, and turns of single contexts.
//!
//! A turn of a context is made by whoever has the lock of its CRI. It polls the active transports, calls the PML's hook if the PML's words ask
//! for it, and counts itself at its end, so that others see that somebody is at this context. How much of it was wanted follows from the PML's
//! count of messages that met no receive.

use crate::attention::Attention;
use crate::thread::Slot;
use core::ffi::c_void;
use core::ptr::NonNull;
use oxmpi_btl::{BtlAttrs, BtlHandle};
use oxmpi_mca::cri::set_below;
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Cri, CriGuard, Cris, Entry};
use oxmpi_pml::{ContextWords, Polled, Polling, Words};
use std::sync::OnceLock;

/// The context on which everything starts, and the only one below MPI_THREAD_MULTIPLE.
pub(crate) const FIRST: u32 = 0;

/// Turns with events that a context may have before the next one gets its turn in any case.
const TURNS_IN_A_ROW: u64 = 16;

/// A PML's part in a turn of a context.
pub(crate) struct Hook {
    pub state: *mut c_void,
    pub after_turn: extern "C" fn(*mut c_void, ctx: u32) -> i32,
    /// As the PML filled them.
    pub words: Words,
}

// SAFETY: the state is a PML's, which may be dropped with the engine in any thread: the hook does not own it.
unsafe impl Send for Hook {}
// SAFETY: the state is a PML's, whose verbs any thread may call; the words are atomic.
unsafe impl Sync for Hook {}

/// Facts by which a thread guesses whether others share its core.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crowding {
    /// The launcher started more ranks than there are cores.
    pub oversubscribed: bool,
    /// Cores for each rank of the node, at least 1.
    pub cores: u32,
    /// Messages may come on any context whatever thread they are for, so that none can be left to others for long.
    pub anywhere: bool,
}

/// The transports and contexts that an earlier sleep armed, for the disarm that follows. One thread at a time does either.
#[derive(Default)]
pub(crate) struct Armed {
    /// By number, and by bits of contexts; 0: nothing.
    pub(crate) transports: AtomicU64,
    pub(crate) contexts: AtomicU64,
}

/// The contexts of an instance.
pub struct Contexts {
    cris: NonNull<[Cri]>,
    polling: Polling,
    /// The list that `polling` points to.
    _polled: Box<[Polled]>,
    hook: OnceLock<(Hook, Box<[ContextWords]>)>,
    crowding: Crowding,
    /// Threads that have made turns with a context of their own.
    threads: AtomicU32,
    pub(crate) armed: Armed,
    /// Words of a PML that gave none: the hook is called always, no message is unwanted.
    always: AtomicU32,
    never: AtomicU32,
}

// SAFETY: CRIs and transports are the instance's and not owned here; the rest says so of itself.
unsafe impl Send for Contexts {}
// SAFETY: CRIs and transports live as long as the instance and may be used from any thread; the lists are not changed any more.
unsafe impl Sync for Contexts {}

impl Contexts {
    /// The contexts of an instance. No hook is called before `set_hook`.
    ///
    /// # Safety
    /// CRIs and transports outlive the result.
    pub(crate) unsafe fn new(
        cris: &[Cri],
        btls: &[&BtlHandle],
        dormant: &dyn Fn(usize) -> bool,
        crowding: Crowding,
    ) -> Box<Contexts> {
        let polled = |(number, btl): (usize, &&BtlHandle)| Polled::new(btl, !is_own(btl) && !dormant(number));
        let polled: Box<[Polled]> = btls.iter().enumerate().map(polled).collect();
        Box::new(Contexts {
            cris: NonNull::from(cris),
            polling: Polling::new(&polled),
            _polled: polled,
            hook: OnceLock::new(),
            crowding: Crowding { cores: crowding.cores.max(1), ..crowding },
            threads: AtomicU32::new(0),
            armed: Armed::default(),
            always: AtomicU32::new(u32::MAX << 16),
            never: AtomicU32::new(0),
        })
    }

    /// How the transports are polled, for a PML.
    pub fn polling(&self) -> &Polling {
        &self.polling
    }

    /// Sets the PML's part, once, before the first turn.
    ///
    /// # Safety
    /// The state, the function and the words are those of an enabled PML, which outlives the last turn.
    pub(crate) unsafe fn set_hook(&self, mut hook: Hook) {
        // SAFETY: valid until the PML is finalized.
        let given = unsafe { hook.words.contexts.get() };
        let absent = ContextWords { work: &raw const self.always, unmatched: &raw const self.never };
        let words = (0..self.cris().len() as usize).map(|ctx| {
            let words = given.get(ctx).copied().unwrap_or(absent);
            ContextWords {
                work: if words.work.is_null() { absent.work } else { words.work },
                unmatched: if words.unmatched.is_null() { absent.unmatched } else { words.unmatched },
            }
        });
        let words = words.collect();
        if hook.words.always.is_null() {
            hook.words.always = &raw const self.never;
        }
        // There is none: it is set where the contexts come to be.
        let _ = self.hook.set((hook, words));
    }

    /// The CRIs, by number.
    #[inline(always)]
    pub(crate) fn cris(&self) -> Cris<'_> {
        // SAFETY: they outlive this, as the maker promised.
        Cris::new(unsafe { self.cris.as_ref() })
    }

    /// The bits of a context's word of work. Any thread may ask where a hint is enough.
    #[inline(always)]
    pub(crate) fn work(&self, ctx: u32) -> u32 {
        match self.hook.get() {
            // SAFETY: the PML's words are valid until it is finalized.
            Some((_, words)) => unsafe { &*words[ctx as usize].work }.load(Ordering::Relaxed),
            None => 0,
        }
    }

    /// How many messages came on a context and met no receive.
    pub(crate) fn unmatched(&self, ctx: u32) -> u32 {
        match self.hook.get() {
            // SAFETY: the words are the PML's or ours, valid until it is finalized.
            Some((_, words)) => unsafe { &*words[ctx as usize].unmatched }.load(Ordering::Relaxed),
            None => 0,
        }
    }

    /// Polls the transports on a context whose lock is held, and calls the hook if there is work for it. Returns the number of
    /// events.
    #[inline(always)]
    pub(crate) fn poll(&self, held: &mut CriGuard<'_>) -> i32 {
        let events = self.polling.poll(held);
        let Some((hook, words)) = self.hook.get() else { return events };
        // SAFETY: the PML's words, or ours, valid until it is finalized.
        let (always, work) = unsafe { (&*hook.words.always, &*words[held.ctx() as usize].work) };
        if always.load(Ordering::Relaxed) | work.load(Ordering::Relaxed) == 0 {
            return events;
        }
        events + (hook.after_turn)(hook.state, held.ctx())
    }

    /// Makes one turn of a context whose lock the thread of that number holds. Returns the number of events.
    #[inline(always)]
    pub fn turn(&self, held: &mut CriGuard<'_>, number: u32) -> i32 {
        let cri = self.cris().at(held.ctx());
        cri.count_holder(number);
        let events = self.poll(held);
        cri.count_progress(events);
        events
    }

    /// Makes a turn of every active context, waiting for each lock. Returns the number of events.
    pub(crate) fn turn_of_all(&self, entry: &mut Entry) -> i32 {
        let turn = |ctx| self.turn(&mut self.cris().hold(entry, ctx), u32::MAX);
        (0..self.cris().active()).map(turn).sum()
    }

    /// Makes a turn of one context if its lock is free. Returns the number of events, and whether it is time to look at the
    /// next one, too. `own`: the thread's messages come on it.
    #[inline(always)]
    pub(crate) fn try_turn(&self, ctx: u32, entry: &mut Entry, own: bool) -> (i32, bool) {
        let (number, cri) = (number(entry), self.cris().at(ctx));
        let Some(mut held) = self.cris().try_hold(entry, ctx) else {
            self.count_miss(ctx);
            return (0, true);
        };
        cri.count_holder(number);
        let events = self.poll(&mut held);
        cri.count_progress(events);
        let tired = cri.turns().is_multiple_of(TURNS_IN_A_ROW);
        if !own && events == 0 {
            held.leave_uncounted();
        }
        (events, tired)
    }

    /// Whether a thread other than the caller owns the lock of a context.
    #[inline(always)]
    pub(crate) fn is_anothers(&self, ctx: u32, entry: &Entry) -> bool {
        self.cris().at(ctx).is_anothers(entry.who())
    }

    /// The context where the messages of a thread come that uses a CRI first; the first one if that is not in use.
    #[inline(always)]
    pub(crate) fn own(&self, cri: u32) -> u32 {
        let active = |ctx| self.cris().at(ctx).active.load(Ordering::Relaxed) != 0;
        if cri < self.cris().len() && active(cri) { cri } else { FIRST }
    }

    /// Counts that the lock of a context was found taken.
    pub fn count_miss(&self, ctx: u32) {
        self.cris().at(ctx).lock_misses.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether threads share cores, as far as can be told.
    pub(crate) fn is_crowded(&self) -> bool {
        !self.crowding.anywhere
            && (self.crowding.oversubscribed || self.threads.load(Ordering::Relaxed) > self.crowding.cores)
    }

    /// The record of the calling thread, which is counted when it first asks.
    #[inline(always)]
    pub(crate) fn attention_of<'a>(&self, slot: &'a Slot) -> &'a Attention {
        if !slot.counted.get() {
            slot.counted.set(true);
            self.threads.fetch_add(1, Ordering::Relaxed);
        }
        &slot.attention
    }

    /// Notes that something of the entry's thread will come, or waits for room, on the contexts of a set, by bits ([`oxmpi_mca::cri::MOST_CRIS`]), so that the thread
    /// progresses them. Nothing happens where the thread has no context.
    pub fn expect(&self, entry: &Entry, set: u64) {
        if let Some(slot) = Slot::of(entry) {
            self.expect_in(slot, set);
        }
    }

    /// The same for the thread of that slot.
    pub(crate) fn expect_in(&self, slot: &Slot, set: u64) {
        let (attention, attended) = (self.attention_of(slot), slot.attended());
        let new = set & set_below(self.cris().len()) & !attended.get();
        let mut rest = new;
        while rest != 0 {
            let first = rest.trailing_zeros();
            rest &= rest - 1;
            for ctx in (first..self.cris().len()).step_by(u64::BITS as usize) {
                attention.seen(ctx).set(self.cris().at(ctx).turns());
            }
        }
        attended.set(attended.get() | new);
        attention.wanted.set(attention.wanted.get() | new);
    }
}

/// The number of the calling thread as counts have it.
#[inline(always)]
pub(crate) fn number(entry: &Entry) -> u32 {
    Slot::of(entry).map_or(u32::MAX, Slot::index)
}

/// Whether a transport reaches this process alone, so that nothing comes through it that we did not send.
pub(crate) fn is_own(btl: &BtlHandle) -> bool {
    btl.attrs().flags & BtlAttrs::ONLY_SELF != 0
}
