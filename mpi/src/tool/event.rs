//! Events (MPI 5.0 §15.3.8): which there are, who listens, and how they are delivered.
//!
//! **Raising.** [`raise`] is called where something happens that a tool may want to hear of, never on a
//! message's path, and where no lock and no guard is alive. It costs one load and a branch while nobody
//! listens.
//!
//! **Delivery.** Events are handed over at once, in the thread in which they happen, so nothing is
//! queued and threads are not ordered among each other: the one source is unordered. A registration
//! whose callbacks do not promise enough for the place misses the event, which is counted and told to its
//! handler of dropped events with the next one that reaches it. An event that a callback itself causes is
//! dropped for the same reason: the callback would be called again while it runs.
//!
//! **Instances** lie on the stack of the thread that raises, and are found only by that thread and only
//! while the callback runs; any other handle is told to be invalid.
//!
//! **The end of a registration** is the drop of its last reference, so the free callback runs when no
//! callback of it is under way any more.

use super::handles::Handles;
use crate::call::gate;
use crate::call::process;
use crate::constants::*;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr::{null, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::Entry;
use parking_lot::Mutex;
use std::sync::OnceLock;
use std::time::Instant;

/// Events; the numbers are the indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Kind {
    ParameterWritten = 0,
    CommCreated = 1,
    CommFreed = 2,
    ErrorRaised = 3,
}

/// A type of event.
pub struct Type {
    pub name: &'static str,
    pub category: &'static str,
    pub desc: &'static str,
    pub level: u32,
    /// How many elements it has, of MPI_INT each.
    pub elements: usize,
}

pub static TYPES: [Type; 4] = [
    Type {
        name: "mpi_t_cvar_written",
        category: "mpi",
        desc: "A control variable was written. Elements: its index",
        level: 4,
        elements: 1,
    },
    Type {
        name: "mpi_comm_created",
        category: "mpi",
        desc: "This process became a member of a new communicator. Elements: its handle as MPI_Comm_toint gives it, its size, the rank in it",
        level: 4,
        elements: 3,
    },
    Type {
        name: "mpi_comm_freed",
        category: "mpi",
        desc: "The program gave a communicator back. Elements: the handle it had, as MPI_Comm_toint gives it",
        level: 4,
        elements: 1,
    },
    Type {
        name: "mpi_error_raised",
        category: "mpi",
        desc: "An MPI function failed; its error handler is called next. Elements: the error code",
        level: 1,
        elements: 1,
    },
];

/// One event while it is delivered.
pub struct Instance {
    pub kind: Kind,
    pub ticks: MpiCount,
    pub values: Vec<c_int>,
}
type MpiCount = crate::types::Count;

type Callback = unsafe extern "C-unwind" fn(usize, usize, c_int, *mut c_void);
type DroppedCallback = unsafe extern "C-unwind" fn(MpiCount, usize, c_int, c_int, *mut c_void);
type FreeCallback = unsafe extern "C-unwind" fn(usize, c_int, *mut c_void);

/// The user's promise about a callback, from the least (MPI 5.0 §15.3.8.4).
pub const SAFETIES: [c_int; 4] = [
    MPI_T_CB_REQUIRE_NONE,
    MPI_T_CB_REQUIRE_MPI_RESTRICTED,
    MPI_T_CB_REQUIRE_THREAD_SAFE,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
];

/// A function and what it is called with.
#[derive(Clone, Copy)]
pub struct Target<F> {
    function: F,
    user_data: usize,
}

impl<F: Copy> Target<F> {
    /// `user_data`: the address that the program gave, exposed.
    pub fn new(function: F, user_data: usize) -> Target<F> {
        Target { function, user_data }
    }
    fn user_data(&self) -> *mut c_void {
        with_exposed_provenance_mut(self.user_data)
    }
}

/// A handle on a type of event.
pub struct Registration {
    pub kind: c_int,
    /// Its own number, from its insertion on.
    pub number: AtomicU64,
    /// By place in [`SAFETIES`].
    pub callbacks: Mutex<[Option<Target<Callback>>; 4]>,
    pub dropped_handler: Mutex<Option<DroppedCallback>>,
    dropped: AtomicU64,
    pub at_end: Mutex<Option<Target<FreeCallback>>>,
}

pub(super) static REGISTRATIONS: Handles<Registration> = Handles::new();
/// A bit for each kind that has a registration.
static LISTENED: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static CURRENT: Cell<*const Instance> = const { Cell::new(null()) };
}

impl Registration {
    pub fn new(kind: c_int) -> Registration {
        Registration {
            kind,
            number: AtomicU64::new(0),
            callbacks: Mutex::new([None; 4]),
            dropped_handler: Mutex::new(None),
            dropped: AtomicU64::new(0),
            at_end: Mutex::new(None),
        }
    }

    fn handle(&self) -> usize {
        self.number.load(Ordering::Relaxed) as usize
    }

    /// Hands an event over where `needed`, a place in [`SAFETIES`], must be promised.
    fn deliver(&self, event: &Instance, needed: usize, busy: bool) {
        let target = self.callbacks.lock()[needed..].iter().flatten().next().copied();
        let Some(target) = target.filter(|_| !busy) else {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let handler = *self.dropped_handler.lock();
        let safety = SAFETIES[needed];
        let (handle, user_data) = (self.handle(), target.user_data());
        if let Some(handler) = handler {
            match self.dropped.swap(0, Ordering::Relaxed) {
                0 => {}
                // SAFETY: the function the user gave for this; source 0 is the only one.
                n => gate::run_outside_without_entry(|| unsafe {
                    handler(n as MpiCount, handle, 0, safety, user_data)
                }),
            }
        }
        CURRENT.set(event);
        // SAFETY: the function that the user gave for events; the handle is good while `CURRENT` says so.
        gate::run_outside_without_entry(|| unsafe {
            (target.function)(&raw const *event as usize, handle, safety, user_data)
        });
        CURRENT.set(null());
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(target) = self.at_end.get_mut().take() {
            // SAFETY: the function the user gave for this.
            gate::run_outside_without_entry(|| unsafe {
                (target.function)(self.handle(), MPI_T_CB_REQUIRE_NONE, target.user_data())
            })
        }
    }
}

/// Something happened in a call, which may run the user's code.
#[inline]
pub fn raise_in_call(entry: &mut Entry, kind: Kind, values: impl FnOnce() -> Vec<c_int>) {
    raise(kind, values);
    entry.raise(gate::is_open_to_all());
}

/// Something happened, where no call has an entry.
#[inline]
pub fn raise(kind: Kind, values: impl FnOnce() -> Vec<c_int>) {
    if LISTENED.load(Ordering::Relaxed) & 1 << kind as u32 != 0 {
        deliver(kind, values());
    }
}

#[cold]
fn deliver(kind: Kind, values: Vec<c_int>) {
    debug_assert_eq!(values.len(), TYPES[kind as usize].elements);
    let event = Instance { kind, ticks: now(), values };
    // Two threads could be in a callback at once, the second while this one is the first to come.
    let threads =
        process::current().is_some_and(|p| p.instance.threaded() || p.level() == MPI_THREAD_MULTIPLE);
    let needed = if threads { 2 } else { 0 };
    let busy = !CURRENT.get().is_null();
    for (_, registration) in REGISTRATIONS.all() {
        if registration.kind == kind as c_int {
            registration.deliver(&event, needed, busy);
        }
    }
}

/// The event whose callback the calling thread is in, if that is what the handle names.
pub fn instance(handle: usize) -> Option<&'static Instance> {
    let current = CURRENT.get();
    // SAFETY: set while the event is alive in a frame below, and the reference is used within the call.
    if current as usize == handle { unsafe { current.as_ref() } } else { None }
}

/// The set of registrations has changed.
pub fn listen() {
    let kinds = REGISTRATIONS.all().iter().fold(0, |bits, (_, r)| bits | 1 << r.kind);
    LISTENED.store(kinds, Ordering::Relaxed);
}

/// Nobody uses the interface any more.
pub fn forget() {
    REGISTRATIONS.clear();
    listen();
}

/// Ticks of the source in a second.
pub const TICKS: MpiCount = 1_000_000_000;

/// Ticks since the source's clock began.
pub fn now() -> MpiCount {
    static START: OnceLock<Instant> = OnceLock::new();
    let since = START.get_or_init(Instant::now).elapsed();
    MpiCount::try_from(since.as_nanos()).unwrap_or(MpiCount::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C-unwind" fn seen(event: usize, _: usize, safety: c_int, data: *mut c_void) {
        let of_event = instance(event).unwrap();
        assert_eq!((of_event.values[0], safety), (42, MPI_T_CB_REQUIRE_NONE));
        assert!(instance(event + 8).is_none());
        // SAFETY: the test's counter.
        unsafe { *data.cast::<u32>() += 1 };
        // Would be called again.
        raise(Kind::CommFreed, || vec![42]);
    }
    unsafe extern "C-unwind" fn lost(n: MpiCount, _: usize, _: c_int, _: c_int, data: *mut c_void) {
        // SAFETY: the test's counter.
        unsafe { *data.cast::<u32>() += 100 * n as u32 };
    }
    unsafe extern "C-unwind" fn gone(_: usize, _: c_int, data: *mut c_void) {
        // SAFETY: the test's counter.
        unsafe { *data.cast::<u32>() += 10_000 };
    }

    #[test]
    fn an_event_reaches_its_callback_and_no_other() {
        let mut count = 0u32;
        let data = (&raw mut count).expose_provenance();
        let r = Registration::new(Kind::CommFreed as c_int);
        r.callbacks.lock()[0] = Some(Target::new(seen as Callback, data));
        *r.dropped_handler.lock() = Some(lost);
        let number = REGISTRATIONS.insert(r);
        listen();
        raise(Kind::CommFreed, || vec![42]);
        // SAFETY: only this thread counts.
        let read = || unsafe { (&raw const count).read_volatile() };
        assert_eq!(read(), 1);
        raise(Kind::ParameterWritten, || panic!("nobody listens"));
        raise(Kind::CommFreed, || vec![42]);
        assert_eq!(read(), 102, "the event inside the callback was dropped, and that was told");
        let r = REGISTRATIONS.remove(number).unwrap();
        *r.at_end.lock() = Some(Target::new(gone as FreeCallback, data));
        drop(r);
        listen();
        raise(Kind::CommFreed, || panic!("nobody listens"));
        assert_eq!(read(), 10_102);
        assert!(instance(0).is_none());
    }
}
