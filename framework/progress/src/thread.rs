//! Thread contexts: what each thread brings along on every call.
//!
//! **Contexts.** The MPI layer looks a [`ThreadCtx`] up once per call and passes it down; nothing
//! below uses thread-locals. The instance makes contexts when threads come and reuses those of
//! threads that went, so their number is that of the most threads there ever were at once. A
//! context belongs to one thread at a time: what lies in it is written without synchronisation. Below the MPI layer a thread's context comes with its
//! [`Entry`], by which [`Slot::of`] finds what the host keeps for the thread.
//!
//! **One thread or several.** While one thread at a time makes calls nobody takes a lock on a message's path.
//! The flag `threaded`, which says that there are several, may only turn 1 while no thread is on such a path:
//! the gate of `framework/waiting` has how that is known. **A thread that calls a function of an instance that is not threaded stands
//! inside its gate**, unless nothing turns the flag meanwhile. The level (what was asked for) and the flag are two things:
//! an instance at MULTIPLE whose host keeps a gate is not threaded before a second thread comes.

use crate::aside::Aside;
use crate::attention::Attention;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_mca::{Entry, ThreadCtx};
use oxmpi_system::locks::Mutex;
use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;

/// Reads the thread pointer, a number that no other thread of the process has at the same time, and not 0: one
/// instruction.
#[inline(always)]
pub fn thread_pointer() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let pointer: usize;
        // SAFETY: the ABI has the thread pointer at the first word of the thread's control block, and it does
        // not change while the thread lives.
        unsafe {
            core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags))
        };
        pointer
    }
    #[cfg(target_arch = "aarch64")]
    {
        let pointer: usize;
        // SAFETY: reads the register that the ABI gives the thread pointer.
        unsafe {
            core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags))
        };
        pointer
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    compile_error!("the register with the thread pointer of this processor is not known here");
}

/// How often waits of a thread did what each state of their policy says.
pub type WaitWords = [AtomicU64; WAIT_STATES];

/// The states of a wait's policy.
pub const WAIT_STATES: usize = 4;

/// The host's data per thread beside the context that components see. `host_private` of the
/// context points here. A cache line pair of its own: threads write it on every call.
#[repr(C, align(128))]
pub struct Slot {
    /// As components see it, by its address: they write some of its fields in calls of this thread, so nobody has a reference to it for long.
    ctx: UnsafeCell<ThreadCtx>,
    /// Turns of progress made by this thread; every eighth runs the low-priority functions.
    pub turns: Cell<u32>,
    /// Looks that brought nothing since it last gave its core away (`waiting::poll`).
    pub looks: Cell<u32>,
    /// Its waits, by what they did (the states of a wait's policy in `framework/waiting`). Others read it.
    pub waits: WaitWords,
    /// Whether its core is a good one, in a crowd.
    pub aside: Aside,
    /// Whether the thread is among those that share cores, as the policy counts them.
    pub(crate) counted: Cell<bool>,
    pub(crate) attention: Attention,
}

impl Slot {
    /// The host's part of a new context, which refers to it.
    fn make(ctx: ThreadCtx) -> *mut Slot {
        let aside = Aside::new(std::process::id().wrapping_mul(64).wrapping_add(ctx.index));
        let slot = Box::into_raw(Box::new(Slot {
            ctx: UnsafeCell::new(ctx),
            turns: Cell::new(0),
            looks: Cell::new(0),
            waits: WaitWords::default(),
            aside,
            counted: Cell::new(false),
            attention: Attention::default(),
        }));
        // SAFETY: just made, nobody else has it.
        unsafe { (*slot).ctx.get_mut().host_private = slot.cast() };
        slot
    }

    /// The host's part of the context of an entry's thread; `None`: the thread has no context, or one without such a part.
    #[inline(always)]
    pub fn of(entry: &Entry) -> Option<&Slot> {
        // SAFETY: an entry's context, and the entry is borrowed as long as the result.
        unsafe { Slot::beside(entry.thread()) }
    }

    /// The same, and the entry, of which the slot is no part.
    #[inline(always)]
    pub fn and_entry(entry: &mut Entry) -> (Option<&Slot>, &mut Entry) {
        // SAFETY: an entry's context, and the entry is borrowed as long as both results.
        (unsafe { Slot::beside(entry.thread()) }, entry)
    }

    /// The host's part of a context.
    ///
    /// # Safety
    /// Null, or the context of an entry that outlives the result, in its thread.
    #[inline(always)]
    unsafe fn beside<'a>(context: *mut ThreadCtx) -> Option<&'a Slot> {
        if context.is_null() {
            return None;
        }
        // SAFETY: an entry's context is the calling thread's, of an instance that outlives the entry (`Entry::of`).
        let slot: *const Slot = unsafe { (*context).host_private }.cast();
        // SAFETY: null, or what `make` wrote, for contexts of instances and of hosts of tests; both live as long as the context. Components leave it alone.
        unsafe { slot.as_ref() }
    }

    /// Number of the thread within the instance.
    #[inline(always)]
    pub(crate) fn index(&self) -> u32 {
        // SAFETY: it never changes.
        unsafe { (*self.ctx.get()).index }
    }

    /// The CRI that the thread uses first.
    #[inline(always)]
    pub fn cri(&self) -> u32 {
        // SAFETY: the thread's own components write it, in calls of this thread, which is here.
        unsafe { (*self.ctx.get()).cri }
    }

    /// The CRIs, by bits, that the thread progresses beside its own.
    #[inline(always)]
    pub(crate) fn attended(&self) -> &Cell<u64> {
        // SAFETY: a cell, which nobody writes but by itself.
        unsafe { &(*self.ctx.get()).attended }
    }
}

/// A context that stays for the life of the process, as hosts of tests need it.
pub fn lasting_context(cri: u32, index: u32) -> *mut ThreadCtx {
    Slot::make(ThreadCtx::new(cri, index)).cast()
}

/// All contexts of an instance.
pub struct Threads {
    num_cris: u32,
    num_counters: usize,
    state: Mutex<State>,
}

/// All contexts, and those that no thread has.
#[derive(Default)]
struct State {
    slots: Vec<*mut Slot>,
    free: Vec<*mut Slot>,
}

// SAFETY: the pointers are to boxes that live as long as `Threads`, which may be dropped by any thread: no thread uses a slot then.
unsafe impl Send for Threads {}
// SAFETY: the list is under its lock; of slots that threads have, only words are read that others may read while they are written (counters, waits).
unsafe impl Sync for Threads {}

impl Threads {
    /// Makes the set of contexts, none yet. `num_counters` 0: software counters are off.
    pub fn new(num_cris: u32, num_counters: usize) -> Threads {
        Threads { num_cris: num_cris.max(1), num_counters, state: Mutex::default() }
    }

    /// Takes a context for the calling thread: the free one of the lowest number, else a new one, whose CRI is the next
    /// in turn.
    pub fn attach(&self) -> *mut ThreadCtx {
        let mut state = self.state.lock();
        // The lowest number first, so that few threads, however many there were, share instances as late as
        // possible.
        // SAFETY: slots live as long as `self`; a number never changes.
        let lowest = (0..state.free.len()).min_by_key(|&i| unsafe { (*state.free[i]).index() });
        if let Some(slot) = lowest.map(|i| state.free.swap_remove(i)) {
            // `ctx` is the slot's first field.
            return slot.cast();
        }
        let index = state.slots.len() as u32;
        let counters = match self.num_counters {
            0 => null_mut(),
            n => Box::into_raw(vec![0u64; n].into_boxed_slice()).cast(),
        };
        // Round robin over the resource instances, so that threads share as late as possible.
        let ctx = ThreadCtx { counters, ..ThreadCtx::new(index % self.num_cris, index) };
        let slot = Slot::make(ctx);
        state.slots.push(slot);
        slot.cast()
    }

    /// Takes a context back that `attach` gave, and no other. The thread makes no call with it any more.
    pub fn detach(&self, ctx: *mut ThreadCtx) {
        let mut state = self.state.lock();
        let slot: *mut Slot = ctx.cast();
        if state.slots.contains(&slot) && !state.free.contains(&slot) {
            state.free.push(slot);
        }
    }

    /// Sums each counter over all threads that ever were; a running thread's last few counts may be missing.
    pub fn counters(&self) -> Vec<u64> {
        let state = self.state.lock();
        let mut sums = vec![0u64; self.num_counters];
        for &slot in &state.slots {
            // SAFETY: slots live as long as `self`.
            let counters = unsafe { (*(*slot).ctx.get()).counters };
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: `num_counters` of them stand there; another thread may be counting, which a
                // volatile read of a word tolerates.
                *sum += unsafe { counters.add(i).read_volatile() };
            }
        }
        sums
    }
}

impl Threads {
    /// How often waits of all threads that ever were did what each state of a policy says, by state.
    pub fn waits(&self) -> [u64; WAIT_STATES] {
        let state = self.state.lock();
        // SAFETY: slots live as long as `self`.
        let all = || state.slots.iter().map(|&slot| unsafe { &(*slot).waits });
        std::array::from_fn(|at| all().map(|waits| waits[at].load(Ordering::Relaxed)).sum())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for slot in self.state.get_mut().slots.drain(..) {
            // SAFETY: made by Box::into_raw in `attach`; the instance is going, no thread is in it.
            let mut slot = unsafe { Box::from_raw(slot) };
            let counters = slot.ctx.get_mut().counters;
            if !counters.is_null() {
                let all = std::ptr::slice_from_raw_parts_mut(counters, self.num_counters);
                // SAFETY: made by Box::into_raw of a slice of that length.
                drop(unsafe { Box::from_raw(all) });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_reused_and_spread() {
        let threads = Threads::new(2, 3);
        let (a, b, c) = (threads.attach(), threads.attach(), threads.attach());
        // SAFETY: live contexts of this test.
        let seen = unsafe { [(*a).cri, (*b).cri, (*c).cri, (*a).index, (*b).index, (*c).index] };
        assert_eq!(seen, [0, 1, 0, 0, 1, 2]);
        // SAFETY: live contexts of this test alone, with three counters each.
        unsafe {
            *(*a).counters.add(1) += 5;
            *(*b).counters.add(1) += 2;
        }
        threads.detach(b);
        assert_eq!(threads.attach(), b);
        assert_eq!(threads.counters(), [0, 7, 0]);
        threads.detach(b);
        threads.detach(a);
        threads.detach(a);
        threads.detach(null_mut());
        assert_eq!([threads.attach(), threads.attach()], [a, b], "the lowest number first");
        // SAFETY: a live context of this test, which is alone with it.
        let entry = unsafe { Entry::of(false, c) };
        let slot = Slot::of(&entry).expect("a context of `Threads` has one");
        assert_eq!(std::ptr::from_ref(slot).cast_mut().cast(), c);
        assert!(Slot::of(&Entry::among()).is_none());
    }
}
