//! Communication resource instances (CRIs) and the guards that hold their locks.
//!
//! A CRI is what one flow of messages needs to communicate alone. Context c of every BTL module is guarded by the lock of CRI c
//! and by nothing else, whichever layer issues the operation: PML, one-sided component and host take it through this file.
//! The lock is biased (`biased.rs`).
//!
//! **Guards.** [`CriGuard`] is the proof of holding one CRI: made by taking the lock ([`Host::hold`](crate::Host::hold), [`Host::try_hold`](crate::Host::try_hold)), or
//! inside a transport's callback, whose caller holds it ([`Host::inherit`](crate::Host::inherit)). [`OwnerGuard`] is the same for the thread that owns
//! the lock, and costs two plain stores. [`CriSetGuard`](crate::CriSetGuard) holds several, taken in rising order, and lends one proof at a time. A thread that
//! is alone in MPI takes no lock: its [`Entry`] says so, which every guard borrows mutably. So a thread has one guard at a time, and none across a wait.
//!
//! **Inside.** A thread that holds a CRI, or runs in a transport's callback or a `done` function, calls only BTL verbs of that
//! context and host functions that are marked for it: no progress, no verb of a PML, no other CRI. A seat notes one lock of a
//! level; the exit from a nested one would clear the note, and another thread would get in. Checked builds abort when a seat
//! enters twice.
//!
//! **The holder.** Every way in writes the caller's seat to [`Cri::holder`], so that a callback knows whose thread it runs in.
//! The owner's short way does not, since the owner wrote it when it came in last, and nobody else came in since:
//! a set guard, which writes null there, writes the owner back.

use crate::biased::{Bias, Caller, LOCK_PROTOCOL, LockServices, Seat, level};
pub use crate::cri_set::{MOST_CRIS, is_in, members, set_below, set_of};
use crate::entry::{Entry, Seen};
use crate::lock::Lock;
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use crate::thread::ThreadCtx;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::null_mut;

/// Communication resource instance: what one flow of messages needs to communicate alone. Its index
/// is the `ctx` argument of every hot BTL verb; its lock serialises those verbs for that index.
#[repr(C, align(128))]
pub struct Cri {
    /// The lock's word; taken through `cri_enter` in C, through a guard in Rust, and never by itself: a thread may have left it
    /// taken because it owns the lock.
    pub lock: Lock,
    /// Times that somebody wanted to progress it and found the lock taken.
    pub lock_misses: AtomicU32,
    /// 1 once something may come on it, so that progressing it makes sense. Set before the first operation on it by whoever
    /// issues that (`Host::activate`).
    pub active: AtomicU32,
    /// The thread that wrote `lock` last (its number plus 1), where the process uses several instances.
    pub last_thread: AtomicU32,
    // Counts where several threads may make calls, plain words of the lock's holder.
    /// Times it was progressed.
    pub progress_calls: AtomicU64,
    /// Events that progressing it brought.
    pub completions: AtomicU64,
    /// Times that another thread than the one before took the lock: writes to a line of another core. Counted
    /// where the process uses several instances.
    pub shared_writes: AtomicU64,
    /// Threads that look there first and sleep: they do not progress it. Written by the host.
    pub asleep: AtomicU32,
    /// Seat of the thread that holds the lock, if that has one. The holder's.
    pub holder: AtomicPtr<Seat>,
    /// Not 0 once the context is nobody's in particular: messages come on it whatever thread they are for. A waiter looks after
    /// such a one soon. Any thread may set it; it stays.
    pub shared: AtomicU32,
    /// Keeps `bias` on lines of its own.
    pub reserved: [u32; 17],
    /// The lock's owner. These lines are not written while one thread enters and leaves.
    pub bias: Bias,
}

impl Cri {
    /// Of a host with these services.
    pub fn new(services: &'static LockServices) -> Cri {
        Cri {
            lock: Lock::new(),
            lock_misses: AtomicU32::new(0),
            active: AtomicU32::new(0),
            last_thread: AtomicU32::new(0),
            progress_calls: AtomicU64::new(0),
            completions: AtomicU64::new(0),
            shared_writes: AtomicU64::new(0),
            asleep: AtomicU32::new(0),
            holder: AtomicPtr::new(null_mut()),
            shared: AtomicU32::new(0),
            reserved: [0; 17],
            bias: Bias::new(services),
        }
    }

    /// The holder of the lock progressed it, and so many events came.
    #[inline(always)]
    pub fn count_progress(&self, events: i32) {
        add_alone(&self.completions, events.max(0).cast_unsigned().into());
        let turns = self.progress_calls.load(Ordering::Relaxed).wrapping_add(1);
        // SYNC POINT with who asks whether anything came (`framework/waiting/src/quiescence.rs`): all that this turn did is before it.
        self.progress_calls.store(turns, Ordering::Release);
    }

    /// The thread of that number has taken the lock.
    #[inline(always)]
    pub fn count_holder(&self, number: u32) {
        let me = number.wrapping_add(1);
        if self.last_thread.load(Ordering::Relaxed) != me {
            self.last_thread.store(me, Ordering::Relaxed);
            add_alone(&self.shared_writes, 1);
        }
    }

    /// Takes the lock, waiting for it or taking it from its owner. For guards and the host's functions for C; [`Cri::leave`] gives it back.
    ///
    /// # Safety
    /// The seat is the calling thread's, which holds no other CRI's lock and no shard lock.
    #[inline(always)]
    pub unsafe fn enter(&self, who: Caller) {
        self.bias.enter::<{ level::CRI }>(&self.lock, who);
        self.note_holder(who);
    }
    /// The same if that takes no waiting and no taking away.
    ///
    /// # Safety
    /// As for [`Cri::enter`].
    #[inline(always)]
    pub unsafe fn try_enter(&self, who: Caller) -> bool {
        let entered = self.bias.try_enter::<{ level::CRI }>(&self.lock, who);
        if entered {
            self.note_holder(who);
        }
        entered
    }
    /// Gives the lock back.
    ///
    /// # Safety
    /// The calling thread took it by [`Cri::enter`] or [`Cri::try_enter`] with the same seat, and has not given it back.
    #[inline(always)]
    pub unsafe fn leave(&self, who: Caller) {
        self.bias.leave::<{ level::CRI }>(&self.lock, who);
    }

    /// True where a thread other than `who` owns the lock, and enters and leaves by itself.
    #[inline(always)]
    pub fn is_anothers(&self, who: Caller) -> bool {
        self.bias.is_anothers(who)
    }

    /// Marks the context as nobody's in particular.
    #[inline(always)]
    pub fn share(&self) {
        if self.shared.load(Ordering::Relaxed) == 0 {
            self.shared.store(1, Ordering::Relaxed);
        }
    }

    /// Turns of progress that it has had; the number changes while some thread progresses it.
    #[inline(always)]
    pub fn turns(&self) -> u64 {
        self.progress_calls.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn note_holder(&self, who: Caller) {
        let seat = who.map_or(null_mut(), |seat| core::ptr::from_ref(seat).cast_mut());
        self.holder.store(seat, Ordering::Relaxed);
    }

    /// The seat of the thread that holds the lock, if it has one. Called by that thread, with several threads.
    #[inline(always)]
    pub fn holder(&self) -> Caller {
        // SAFETY: seats live as long as the instance.
        unsafe { self.holder.load(Ordering::Relaxed).as_ref() }
    }
}

/// The ways into CRIs: the part of the host table about locking. Fixed; another layout has another protocol number.
#[repr(C)]
pub struct LockTable {
    /// The meaning that the fields of a CRI's lock have to the host; a component says in its descriptor what they mean to it.
    pub protocol: u32,
    /// Bytes from one of the host's CRIs to the next.
    pub cri_stride: u32,
    /// For biased locks of a component's own.
    pub services: *const LockServices,
    // The rest is for components in C; those in Rust have guards. First argument: the host table's `instance`. They may be
    // called from any thread.
    /// Takes the lock of CRI `ctx`, if several threads may make calls. `thread`: the context of the calling thread, or null.
    /// The caller holds no other.
    pub enter: extern "C" fn(*mut c_void, ctx: u32, thread: *mut ThreadCtx),
    /// The same if it takes no waiting. 0: somebody else has it.
    pub try_enter: extern "C" fn(*mut c_void, ctx: u32, thread: *mut ThreadCtx) -> u32,
    /// Gives it back, with the same arguments, before the component returns to the host.
    pub leave: extern "C" fn(*mut c_void, ctx: u32, thread: *mut ThreadCtx),
    /// To be called before the first operation on CRI `ctx`; may be called while it is held.
    pub activate: extern "C" fn(*mut c_void, ctx: u32),
}

impl LockTable {
    /// Of a host whose components enter no CRI by calls, such as one in a test: the calls end the process.
    pub const fn without_calls(services: &'static LockServices) -> LockTable {
        extern "C" fn take(_: *mut c_void, _: u32, _: *mut ThreadCtx) {
            no_call()
        }
        extern "C" fn try_take(_: *mut c_void, _: u32, _: *mut ThreadCtx) -> u32 {
            no_call()
        }
        extern "C" fn activate(_: *mut c_void, _: u32) {
            no_call()
        }
        LockTable {
            protocol: LOCK_PROTOCOL,
            cri_stride: size_of::<Cri>() as u32,
            services,
            enter: take,
            try_enter: try_take,
            leave: take,
            activate,
        }
    }
}

fn no_call() -> ! {
    eprintln!("oxmpi: a component calls a function of the lock table that this host does not have");
    std::process::abort()
}

/// Adds to a word that only one thread at a time writes and others may read.
#[inline(always)]
fn add_alone(word: &AtomicU64, n: u64) {
    word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
}

/// Proof that a CRI's lock is held, or that no lock is needed.
pub struct CriGuard<'a> {
    pub(crate) lock: Option<&'a Cri>,
    pub(crate) ctx: u32,
    pub(crate) entry: Entry,
    pub(crate) who: Caller,
    /// The call's entry, or the guard of several, or what a callback was called with: it is not used while this lives.
    pub(crate) lent: PhantomData<&'a mut Entry>,
}

impl<'a> CriGuard<'a> {
    /// Inside a callback, or where no lock is needed.
    ///
    /// # Safety
    /// Somebody up the stack holds the lock of `ctx` for longer than this lives, the thread of the seat `who`, if that is known, and has lent its guard for
    /// the callback; or `among` is false, and the calling thread is the only one in MPI and holds no CRI.
    #[inline(always)]
    pub unsafe fn inherited(ctx: u32, among: bool, who: Caller) -> CriGuard<'a> {
        // SAFETY: the caller's promise.
        let entry = unsafe { Entry::of(among, null_mut()) };
        CriGuard { lock: None, ctx, entry, who, lent: PhantomData }
    }

    /// Number of the CRI.
    #[inline(always)]
    pub fn ctx(&self) -> u32 {
        self.ctx
    }

    /// True where there may be other threads, so that locks below a CRI's are taken.
    #[inline(always)]
    pub fn is_among(&self) -> bool {
        self.entry.is_among()
    }

    /// The way in of the call that holds it, for locks below a CRI's.
    #[inline(always)]
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The holder, where it is known.
    #[inline(always)]
    pub fn who(&self) -> Caller {
        self.who
    }

    /// The proof once more, as long as this one is borrowed; it gives nothing back. For calls that are not inlined: this one stays in registers.
    #[inline(always)]
    pub fn lend(&mut self) -> ManuallyDrop<CriGuard<'_>> {
        // SAFETY: this one is borrowed as long as the result lives.
        let entry = unsafe { self.entry.lent() };
        ManuallyDrop::new(CriGuard { lock: None, ctx: self.ctx, entry, who: self.who, lent: PhantomData })
    }

    /// The proof as a call sees it that is not inlined: this one stays in registers.
    #[inline(always)]
    pub fn seen(&self) -> Seen<'_, CriGuard<'_>> {
        // SAFETY: the copy is only shown, as long as this one is borrowed.
        let entry = unsafe { self.entry.lent() };
        Seen::of(CriGuard { lock: None, ctx: self.ctx, entry, who: self.who, lent: PhantomData })
    }

    /// Gives the lock back as if it had not been taken: a look that found nothing makes nobody's run of acquisitions
    /// shorter (`biased.rs`).
    #[inline(always)]
    pub fn leave_uncounted(mut self) {
        if let Some(cri) = self.lock.take() {
            cri.bias.leave_uncounted::<{ level::CRI }>(&cri.lock, self.who);
        }
    }
}

impl Drop for CriGuard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(cri) = self.lock {
            // SAFETY: who made the guard took it so, and a guard gives it back once.
            unsafe { cri.leave(self.who) };
        }
    }
}

/// A CRI whose lock is held by the thread that owns it, which enters and leaves by two plain stores.
pub struct OwnerGuard<'a> {
    cri: &'a Cri,
    ctx: u32,
    seat: &'static Seat,
    lent: PhantomData<&'a mut Entry>,
}

impl<'a> OwnerGuard<'a> {
    /// Enters the CRI of that number, if the entry's thread owns its lock.
    #[inline(always)]
    pub(crate) fn enter(entry: &'a mut Entry, cri: &'a Cri, ctx: u32) -> Option<OwnerGuard<'a>> {
        let seat = entry.seat()?;
        // Not `then_some`: a guard that is made leaves the lock.
        if cri.bias.enter_own::<{ level::CRI }>(seat) {
            Some(OwnerGuard { cri, ctx, seat, lent: PhantomData })
        } else {
            None
        }
    }

    /// The proof as a [`CriGuard`], which gives nothing back.
    #[inline(always)]
    pub fn held(&mut self) -> ManuallyDrop<CriGuard<'_>> {
        // SAFETY: the lock is held as long as `self` lives, which is borrowed as long as the proof.
        ManuallyDrop::new(unsafe { CriGuard::inherited(self.ctx, true, Some(self.seat)) })
    }
}

impl Drop for OwnerGuard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.cri.bias.leave_own::<{ level::CRI }>(self.seat);
    }
}

const _: () = {
    // The atomic words of the models are larger.
    assert!(cfg!(loom) || size_of::<Cri>() == 256);
    assert!(cfg!(loom) || core::mem::offset_of!(Cri, bias) == 128);
    assert!(size_of::<LockTable>() == 48);
};
