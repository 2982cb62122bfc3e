//! The service contexts of this process: requests of peers that are served though the program makes no MPI call.
//!
//! **Servers.** A thread that waits in MPI looks at one word of each open transport in turns that brought nothing, and serves if it
//! is set; where a transport has no such word, once in [`BLIND_EVERY`] such turns. If nobody has looked for a while, the helper
//! thread of the transport serves (`helper`, `watch`). Nothing else touches a service context.
//!
//! **The service lock** guards all service contexts of the instance and the memory that requests reach. It is a plain lock, taken
//! at every thread level, since the helper is a thread; it is a leaf: whoever holds it calls `service_*` verbs, whose receivers touch window
//! memory and answer, and nothing that takes another lock. Waiters and helper only try it. Who takes memory back takes it, so no
//! request is at that memory afterwards. A message's path never comes here: the look is a progress function of idle turns, and there is
//! none before the first transport with emulated verbs is used.
//!
//! **Lists of open transports** are immutable and kept until the instance goes, as those of progress functions are.
//!
//! **fork.** The child has no helper and never comes here: it finalizes nothing, and rings and joins nobody.

mod helper;
mod watch;

use crate::emulation::{Memory, RegistrationName};
use crate::instance::Instance;
use crate::locks::Mutex;
use crate::wireup::random_id;
use helper::Helper;
use oxmpi_btl::{BtlHandle, cap};
use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Lock, Status, ThreadCtx};
use std::cell::UnsafeCell;
use std::ffi::c_void;

/// A transport without a word that says whether requests may be there is asked once in so many idle turns.
const BLIND_EVERY: u32 = 64;

/// The service contexts of an instance.
#[derive(Default)]
pub(crate) struct Service {
    lock: Lock,
    /// Under the lock.
    memory: UnsafeCell<Memory>,
    /// The present list, or null: none is open.
    open: AtomicPtr<List>,
    /// Looks of waiters, counted by plain stores; the helper compares it with what it saw last.
    looks: AtomicU32,
    /// Not 0: emulated operations wait for somebody to look after them.
    attention: AtomicU32,
    opening: Mutex<Opening>,
    /// Written under the lock.
    counts: [AtomicU64; 3],
}

// SAFETY: `memory` is used under the lock, everything else is Sync by itself.
unsafe impl Send for Service {}
// SAFETY: as above.
unsafe impl Sync for Service {}

#[derive(Default)]
struct Opening {
    /// Every list that there was.
    #[allow(clippy::vec_box, reason = "their addresses are in use")]
    lists: Vec<Box<List>>,
    helpers: Vec<Helper>,
    looking: bool,
}

#[derive(Clone, Default)]
struct List(Vec<Open>);

/// An open service context.
#[derive(Clone, Copy)]
struct Open {
    raw: *const BtlHandle,
    /// Not 0 while requests may be there; null: one has to ask.
    pending: *const AtomicU32,
}

// SAFETY: handle and word live as long as the instance's components.
unsafe impl Send for Open {}
// SAFETY: as above.
unsafe impl Sync for Open {}

impl Open {
    fn raw(&self) -> &BtlHandle {
        // SAFETY: accepted modules stay as long as the instance.
        unsafe { &*self.raw }
    }

    /// Whether requests may be there; `None`: the transport does not say.
    fn pending(&self) -> Option<bool> {
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

impl Service {
    /// Runs `f` with the service lock, if nobody has it.
    fn try_with<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        if !self.lock.try_lock() {
            return None;
        }
        let result = f();
        self.lock.unlock();
        Some(result)
    }

    fn with_memory<R>(&self, f: impl FnOnce(&mut Memory) -> R) -> R {
        let _held = self.lock.guard(true);
        // SAFETY: the lock is held.
        f(unsafe { &mut *self.memory.get() })
    }

    /// Registered memory.
    ///
    /// # Safety
    /// The caller holds the service lock.
    pub unsafe fn memory(&self) -> &Memory {
        // SAFETY: the caller's promise.
        unsafe { &*self.memory.get() }
    }

    /// Makes memory accessible to requests. It stays valid until `remove`.
    pub fn add(&self, addr: *mut u8, len: u64, access: u32) -> Result<RegistrationName, Status> {
        let key = random_id().map_err(|_| Status::INTERNAL)?;
        Ok(self.with_memory(|memory| memory.add(key, addr, len, access)))
    }

    /// No request touches the memory any more. False: there is no such registration.
    pub fn remove(&self, name: RegistrationName) -> bool {
        self.with_memory(|memory| memory.remove(name))
    }

    /// Somebody who waits is to look after emulated operations.
    pub fn ask_attention(&self) {
        self.attention.store(1, Ordering::Release);
    }

    /// Serves what is there; events handled. Under the lock.
    fn serve(&self, open: &Open, by: usize) -> i32 {
        let raw = open.raw();
        let handled = (raw.service_progress)(raw.state).max(0);
        self.count(by, 1);
        self.count(2, handled.cast_unsigned().into());
        handled
    }

    fn count(&self, which: usize, n: u64) {
        let word = &self.counts[which];
        word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    pub fn counts(&self) -> ServiceCounts {
        let [by_waiters, by_helper, handled] = self.counts.each_ref().map(|c| c.load(Ordering::Relaxed));
        let helpers = self.opening.lock().helpers.len() as u64;
        ServiceCounts { by_waiters, by_helper, handled, helpers }
    }

    fn list(&self) -> Option<&List> {
        // SAFETY: lists are kept as long as this. SYNC POINT with `Instance::open_service`.
        unsafe { self.open.load(Ordering::Acquire).as_ref() }
    }

    /// A waiter's look in a turn that brought nothing: a load per open transport. Events handled.
    #[inline]
    fn look(&self) -> i32 {
        let Some(list) = self.list() else { return 0 };
        let looks = self.looks.load(Ordering::Relaxed).wrapping_add(1);
        // Another thread's look may be lost; the word changes all the same.
        self.looks.store(looks, Ordering::Relaxed);
        let mut handled = 0;
        for open in &list.0 {
            if open.pending().unwrap_or_else(|| looks.is_multiple_of(BLIND_EVERY)) {
                handled += self.try_with(|| self.serve(open, 0)).unwrap_or(0);
            }
        }
        handled
    }
}

/// The progress function of idle turns.
extern "C" fn idle(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    // SAFETY: registered with the instance, which outlives its progress.
    let instance = unsafe { &*(ctx as *const Instance) };
    let service = &instance.service;
    if service.attention.load(Ordering::Acquire) != 0 {
        service.attention.store(0, Ordering::Relaxed);
        if !instance.settle_emulated() {
            service.ask_attention();
        }
    }
    service.look()
}

impl Instance {
    /// Waiters look after service contexts and emulated operations from now on, in turns that brought nothing.
    pub(crate) fn look_when_idle(&self) {
        let mut opening = self.service.opening.lock();
        if !std::mem::replace(&mut opening.looking, true) {
            self.engine.when_idle(idle, std::ptr::from_ref(self).cast_mut().cast());
        }
    }

    /// Opens the service context of a transport and starts its helper, if that has not happened.
    pub(crate) fn open_service(&self, raw: &BtlHandle) -> Result<(), Status> {
        self.look_when_idle();
        let mut opening = self.service.opening.lock();
        let mut list = self.service.list().cloned().unwrap_or_default();
        if list.0.iter().any(|open| std::ptr::eq(open.raw, raw)) {
            return Ok(());
        }
        let status = (raw.service_open)(raw.state);
        if status.is_err() {
            return Err(status);
        }
        let pending = (raw.service_pending)(raw.state).cast::<AtomicU32>();
        let open = Open { raw, pending };
        let helper = Helper::start(self, open).map_err(|why| {
            self.logger().error("btl", &format!("no thread to serve requests can be started: {why}"));
            Status::OUT_OF_MEMORY
        })?;
        opening.helpers.push(helper);
        list.0.push(open);
        let list = Box::new(list);
        // SYNC POINT with `Service::list`.
        self.service.open.store((&raw const *list).cast_mut(), Ordering::Release);
        opening.lists.push(list);
        Ok(())
    }

    /// Ends the helpers; nobody serves any more. Not in a forked child.
    pub(crate) fn end_service(&self) {
        let helpers = std::mem::take(&mut self.service.opening.lock().helpers);
        for helper in helpers {
            helper.end();
        }
        self.service.open.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Counts of the service contexts of this process so far.
    pub fn service_counts(&self) -> ServiceCounts {
        self.service.counts()
    }
}

/// Whether the transport can put its helper to sleep.
fn can_sleep(raw: &BtlHandle) -> bool {
    raw.can(cap::SERVICE_SLEEP)
}
