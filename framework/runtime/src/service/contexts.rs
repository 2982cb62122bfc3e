//! The service contexts of an instance: which are open, and who has their lock.

use core::cell::UnsafeCell;
use oxmpi_btl::{BtlHandle, Listener, cap};
use oxmpi_emulation::{Memory, RegistrationName};
use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Entry, Guard, Lock, Status};
use oxmpi_system::locks::Mutex;
use oxmpi_wireup::random_id;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The service contexts of an instance.
#[derive(Default)]
pub(crate) struct Service {
    lock: Lock,
    /// Under the lock.
    memory: UnsafeCell<Memory>,
    /// The present list, or null: none is open.
    pub(crate) open: AtomicPtr<List>,
    /// Looks of waiters, counted by plain stores; the helper compares it with what it saw last.
    pub(crate) looks: AtomicU32,
    /// In so many idle turns from now on a transport without a word is asked, too.
    hurry: AtomicU32,
    /// Not 0: emulated operations wait for somebody to look after them.
    pub(crate) attention: AtomicU32,
    pub(crate) opening: Mutex<Opening>,
    /// Written under the lock.
    pub(crate) counts: [AtomicU64; 3],
}

// SAFETY: registered memory belongs to the process, not to a thread; everything else is Send by itself.
unsafe impl Send for Service {}

// SAFETY: `memory` is used under the lock, everything else is Sync by itself.
unsafe impl Sync for Service {}

/// A transport without a word that says whether requests may be there is asked once in so many idle turns, and in each of the [`HURRY`] turns behind one that brought some: a
/// peer that asks again does so within a round trip.
pub(super) const BLIND_EVERY: u32 = 64;
/// See [`BLIND_EVERY`].
const HURRY: u32 = 512;

/// A helper thread, and how it is told to end.
pub(crate) struct Helper {
    pub(crate) stop: Arc<Stop>,
    /// Not dropped in a forked child, which has no such thread.
    pub(crate) thread: ManuallyDrop<JoinHandle<()>>,
}

/// The word and the descriptor by which a helper is told to end.
pub(crate) struct Stop {
    pub(crate) word: AtomicU32,
    pub(crate) event: OwnedFd,
}

/// Lists of open service contexts, helpers, and whether waiters look: changed when a service context is opened.
#[derive(Default)]
pub(crate) struct Opening {
    /// Every list that there was.
    #[allow(clippy::vec_box, reason = "their addresses are in use")]
    pub(crate) lists: Vec<Box<List>>,
    pub(crate) helpers: Vec<Helper>,
    pub(crate) looking: bool,
}

/// The open service contexts, one for each transport with emulated verbs.
#[derive(Clone, Default)]
pub(crate) struct List(pub(crate) Vec<Open>);

/// An open service context.
#[derive(Clone, Copy)]
pub(crate) struct Open {
    pub(crate) raw: *const BtlHandle,
    /// Not 0 while requests may be there; null: one has to ask.
    pub(crate) pending: *const AtomicU32,
}

// SAFETY: handle and word live as long as the instance's components, whatever thread looks at them last.
unsafe impl Send for Open {}

// SAFETY: handles may be used from any thread under the lock of the context, and the word is atomic.
unsafe impl Sync for Open {}

impl Open {
    /// The transport whose service context this is.
    pub(crate) fn raw(&self) -> &BtlHandle {
        // SAFETY: accepted modules stay as long as the instance.
        unsafe { &*self.raw }
    }

    /// Whether requests may be there, read without a lock; `None`: the transport does not say.
    pub(crate) fn pending(&self) -> Option<bool> {
        // SAFETY: valid from `service_open` to `finalize`.
        unsafe { self.pending.as_ref() }.map(|word| word.load(Ordering::Relaxed) != 0)
    }
}

/// How often the service contexts were served, and by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceCounts {
    /// Times that a waiter took the service lock.
    pub by_waiters: u64,
    /// Times that the helper did.
    pub by_helper: u64,
    /// Requests (and what transports count as one event) that were handled.
    pub handled: u64,
    /// Helper threads that run.
    pub helpers: u64,
}

/// Proof of holding the service lock.
pub(crate) struct ServiceHeld<'g>(#[expect(dead_code, reason = "gives the lock back")] Guard<'g>);

impl Service {
    /// Runs `f` with the service lock, if nobody has it; `None`: somebody has.
    pub(crate) fn try_with<R>(&self, f: impl FnOnce(&ServiceHeld<'_>) -> R) -> Option<R> {
        self.lock.try_guard().map(|guard| f(&ServiceHeld(guard)))
    }

    /// Runs `f` on the registered memory, with the service lock.
    fn with_memory<R>(&self, f: impl FnOnce(&mut Memory) -> R) -> R {
        // Taken at every thread level: the helper is another thread.
        let entry = Entry::among();
        let _held = self.lock.guard(&entry);
        // SAFETY: the lock is held.
        f(unsafe { &mut *self.memory.get() })
    }

    /// The registered memory.
    ///
    /// # Safety
    /// The caller holds the service lock.
    pub unsafe fn memory(&self) -> &Memory {
        // SAFETY: the caller's promise.
        unsafe { &*self.memory.get() }
    }

    /// Registers memory for requests of peers; `access` says for which. The answer names the registration.
    ///
    /// # Safety
    /// It stays valid until [`Service::remove`].
    pub unsafe fn add(&self, addr: *mut u8, len: u64, access: u32) -> Result<RegistrationName, Status> {
        let key = random_id().map_err(|_| Status::INTERNAL)?;
        // SAFETY: the caller's promise.
        Ok(self.with_memory(|memory| unsafe { memory.add(key, addr, len, access) }))
    }

    /// Has a function carry out what peers ask at a registration.
    ///
    /// # Safety
    /// As [`Memory::listen`].
    pub unsafe fn listen(&self, name: RegistrationName, listener: Listener, ctx: *mut c_void) -> Status {
        // SAFETY: the caller's promise.
        self.with_memory(|memory| unsafe { memory.listen(name, listener, ctx) })
    }

    /// Removes a registration, so that no request touches the memory any more. False: there is no such registration.
    pub fn remove(&self, name: RegistrationName) -> bool {
        self.with_memory(|memory| memory.remove(name))
    }

    /// Asks the next waiter in an idle turn to look after emulated operations.
    pub fn ask_attention(&self) {
        self.attention.store(1, Ordering::Release);
    }

    /// Serves the requests that a service context has, and counts that for `by` (0: a waiter, 1: the helper). Returns
    /// the number of events.
    pub(crate) fn serve(&self, _held: &ServiceHeld<'_>, open: &Open, by: usize) -> i32 {
        let raw = open.raw();
        // SAFETY: the service lock is held.
        let handled = unsafe { (raw.service_progress)(raw.state) }.max(0);
        self.count(by, 1);
        self.count(2, handled.cast_unsigned().into());
        handled
    }

    /// Adds `n` to a count (0: by waiters, 1: by helpers, 2: events). The caller holds the service lock.
    fn count(&self, which: usize, n: u64) {
        let word = &self.counts[which];
        word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// How often the service contexts were served, and by whom.
    pub fn counts(&self) -> ServiceCounts {
        let [by_waiters, by_helper, handled] = self.counts.each_ref().map(|c| c.load(Ordering::Relaxed));
        let helpers = self.opening.lock().helpers.len() as u64;
        ServiceCounts { by_waiters, by_helper, handled, helpers }
    }

    /// The open service contexts; `None`: there is none.
    pub(crate) fn list(&self) -> Option<&List> {
        // SAFETY: lists are kept as long as this. SYNC POINT with `Instance::open_service`.
        unsafe { self.open.load(Ordering::Acquire).as_ref() }
    }

    /// Serves, as a waiter in a turn that brought nothing, the service contexts on which requests may be: a load for
    /// each of them. Returns the number of events.
    #[inline]
    pub(crate) fn look(&self) -> i32 {
        let Some(list) = self.list() else { return 0 };
        let looks = self.looks.load(Ordering::Relaxed).wrapping_add(1);
        // Another thread's look may be lost; the word changes all the same.
        self.looks.store(looks, Ordering::Relaxed);
        let mut handled = 0;
        for open in &list.0 {
            handled += match open.pending() {
                Some(true) => self.try_with(|held| self.serve(held, open, 0)).unwrap_or(0),
                Some(false) => 0,
                None => self.look_blindly(open, looks),
            };
        }
        handled
    }

    /// Serves a transport that does not say whether requests are there, if it is time to ask it.
    fn look_blindly(&self, open: &Open, looks: u32) -> i32 {
        let hurry = self.hurry.load(Ordering::Relaxed);
        if hurry == 0 && !looks.is_multiple_of(BLIND_EVERY) {
            return 0;
        }
        let handled = self.try_with(|held| self.serve(held, open, 0)).unwrap_or(0);
        let next = if handled > 0 { HURRY } else { hurry.saturating_sub(1) };
        // Another thread's may be lost.
        self.hurry.store(next, Ordering::Relaxed);
        handled
    }
}

/// Whether a transport can wake its helper, so that the helper may sleep.
pub(crate) fn can_sleep(raw: &BtlHandle) -> bool {
    raw.can(cap::SERVICE_SLEEP)
}
