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
use oxmpi_mca::{Cri, CriGuard, Cris, Entry, ThreadCtx};
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

// SAFETY: the state is a PML's, whose verbs any thread may call.
unsafe impl Send for Hook {}
// SAFETY: as above.
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

// SAFETY: CRIs and transports live as long as the instance and may be used from any thread; the rest says so of itself.
unsafe impl Send for Contexts {}
// SAFETY: as above.
unsafe impl Sync for Contexts {}

impl Contexts {
    /// The contexts of an instance whose CRIs and transports outlive the result. No hook is called before `set_hook`.
    pub(crate) fn new(cris: &[Cri], btls: &[&BtlHandle], crowding: Crowding) -> Box<Contexts> {
        let polled: Box<[Polled]> = btls.iter().map(|btl| Polled::new(btl, !is_own(btl))).collect();
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
    pub(crate) fn set_hook(&self, mut hook: Hook) {
        // SAFETY: the PML's words, valid until it is finalized.
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
            // SAFETY: as above.
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
        // SAFETY: as above.
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
    pub(crate) fn turn_of_all(&self) -> i32 {
        let mut entry = self.entry(core::ptr::null_mut());
        let turn = |ctx| self.turn(&mut self.cris().hold(&mut entry, ctx), u32::MAX);
        (0..self.cris().active()).map(turn).sum()
    }

    /// Makes a turn of one context if its lock is free. Returns the number of events, and whether it is time to look at the
    /// next one, too. `own`: the thread's messages come on it.
    pub(crate) fn try_turn(&self, ctx: u32, thread: *mut ThreadCtx, own: bool) -> (i32, bool) {
        let mut entry = self.entry(thread);
        let Some(mut held) = self.cris().try_hold(&mut entry, ctx) else {
            self.count_miss(ctx);
            return (0, true);
        };
        let events = self.turn(&mut held, number(thread));
        let tired = self.cris().at(ctx).turns().is_multiple_of(TURNS_IN_A_ROW);
        if !own && events == 0 {
            held.leave_uncounted();
        }
        (events, tired)
    }

    /// Whether a thread other than the caller owns the lock of a context.
    #[inline(always)]
    pub(crate) fn is_anothers(&self, ctx: u32, thread: *mut ThreadCtx) -> bool {
        self.cris().at(ctx).is_anothers(seat(thread))
    }

    /// The context where the thread's messages come; the first one if that is not in use.
    #[inline(always)]
    pub(crate) fn own(&self, thread: &ThreadCtx) -> u32 {
        let active = |ctx| self.cris().at(ctx).active.load(Ordering::Relaxed) != 0;
        if thread.cri < self.cris().len() && active(thread.cri) { thread.cri } else { FIRST }
    }

    /// The way in of a turn of the calling thread, which holds nothing: a turn is asked for outside of all guards.
    #[inline(always)]
    pub(crate) fn entry(&self, thread: *mut ThreadCtx) -> Entry {
        // SAFETY: where no care is to be taken the thread is the only one in MPI. Who asks for a turn has lent its own entry for that, and a turn makes
        // the next one when the guard by the one before is gone.
        unsafe { Entry::of(self.polling.is_careful(), thread) }
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

    /// The record of the calling thread, which is counted when it first asks. `thread` is not null.
    #[inline(always)]
    pub(crate) fn attention_of<'a>(&self, thread: *mut ThreadCtx) -> &'a Attention {
        // SAFETY: the context of the calling thread, made by `Threads`.
        let slot = unsafe { Slot::of(thread) };
        if !slot.counted.get() {
            slot.counted.set(true);
            self.threads.fetch_add(1, Ordering::Relaxed);
        }
        &slot.attention
    }

    /// Notes that something of this thread will come, or waits for room, on the contexts of a set, by bits, so that the thread
    /// progresses them.
    #[allow(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "a thread passes its own context, or null: the callers' promise, checked in mpi/"
    )]
    pub fn expect(&self, thread: *mut ThreadCtx, set: u64) {
        // SAFETY: the context of the calling thread, or null.
        let Some(context) = (unsafe { thread.as_ref() }) else { return };
        let attention = self.attention_of(thread);
        let new = set & set_below(self.cris().len()) & !context.attended.get();
        let mut rest = new;
        while rest != 0 {
            let ctx = rest.trailing_zeros();
            rest &= rest - 1;
            attention.seen(ctx).set(self.cris().at(ctx).turns());
        }
        context.attended.set(context.attended.get() | new);
        attention.wanted.set(attention.wanted.get() | new);
    }
}

/// The number of the calling thread as counts have it.
#[inline(always)]
pub(crate) fn number(thread: *mut ThreadCtx) -> u32 {
    // SAFETY: the context of the calling thread, or null.
    unsafe { thread.as_ref() }.map_or(u32::MAX, |t| t.index)
}

/// The seat of the calling thread.
#[inline(always)]
fn seat(thread: *mut ThreadCtx) -> oxmpi_mca::Caller {
    // SAFETY: the context of the calling thread, or null; it outlives the instance's locks.
    unsafe { ThreadCtx::seat_of(thread) }
}

/// Whether a transport reaches this process alone, so that nothing comes through it that we did not send.
pub(crate) fn is_own(btl: &BtlHandle) -> bool {
    btl.attrs().flags & BtlAttrs::ONLY_SELF != 0
}
