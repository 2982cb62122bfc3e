//! Where free requests are: a lane for each thread, and nothing that threads share.
//!
//! **A lane belongs to who has its context** (`ThreadCtx::pml_private` leads to it), one thread at a time. Only
//! that thread takes from it, and what it gives back itself goes on a list that nobody else touches: no lock,
//! no read-modify-write. Below THREAD_MULTIPLE whoever makes a call is alone and may do the same with any lane.
//!
//! **Objects given back by others** (a thread that completes a released request, or waits for one that another made)
//! goes on a second list, by compare-and-swap. The owner takes all of that at once when its own list is empty:
//! nothing is ever taken out of the middle, so a node that is on the list twice in a row does no harm (no ABA).
//!
//! **Calls without a context** share a lane, whose lock they hold while they take. Everything goes back to its
//! second list.
//!
//! The model at the end runs this very code.
//!
//! Lanes and requests are never freed: the host's handles refer to them.

use crate::again::{Note, Received, Sent};
use crate::care::Care;
use crate::fan::number_of;
use crate::module::Ob1;
use crate::request::Request;
use crate::stamp::Lease;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use oxmpi_mca::cache::fetch_to_write;
use oxmpi_mca::sync::unmodelled::AtomicU32;
use oxmpi_mca::sync::{AtomicPtr, Ordering};
use oxmpi_mca::{Caller, Lock, Seat, Status, ThreadCtx};
use std::sync::OnceLock;

/// Something that lies on a list of its kind while it is free.
pub trait Linked: 'static {
    fn next(&self) -> &Cell<*const Self>;
}

/// Free ones of one thread, see the module's head.
#[repr(align(128))]
pub struct Free<T: Linked> {
    own: Cell<*const T>,
    returned: Apart<T>,
}

/// On lines of its own: others write it.
#[repr(align(128))]
struct Apart<T>(AtomicPtr<T>);

impl<T: Linked> Free<T> {
    pub fn new() -> Free<T> {
        Free { own: Cell::new(null()), returned: Apart(AtomicPtr::new(null_mut())) }
    }

    /// Takes one. By the owner.
    #[inline(always)]
    pub fn take(&self) -> Option<&'static T> {
        // SAFETY: what the lists hold is never freed.
        let first = match unsafe { self.own.get().as_ref() } {
            Some(first) => first,
            None => self.take_returned()?,
        };
        let next = first.next().get();
        self.own.set(next);
        // The next one will be written from end to end in a moment, perhaps right before a lock is taken, which
        // waits for all that is being written.
        for line in 0..Self::LINES {
            fetch_to_write(next.cast::<u8>().wrapping_add(line * 64));
        }
        Some(first)
    }

    /// Cache lines of a thing that its taker writes.
    const LINES: usize = 3;

    #[inline(never)]
    fn take_returned(&self) -> Option<&'static T> {
        if self.returned.0.load(Ordering::Relaxed).is_null() {
            return None;
        }
        // SYNC POINT with `give_from_outside`: what was written to them before is seen.
        // SAFETY: as above.
        unsafe { self.returned.0.swap(null_mut(), Ordering::Acquire).as_ref() }
    }

    /// Gives one back. By the owner.
    #[inline(always)]
    pub fn give(&self, free: &'static T) {
        free.next().set(self.own.get());
        self.own.set(free);
    }

    /// Gives one back. By anybody.
    pub fn give_from_outside(&self, free: &'static T) {
        let mut head = self.returned.0.load(Ordering::Relaxed);
        loop {
            free.next().set(head);
            let new = core::ptr::from_ref(free).cast_mut();
            // SYNC POINT with `take_returned`.
            match self.returned.0.compare_exchange(head, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }
}

/// The lane of a thread, or of all calls without a context.
pub struct Lane {
    free: Free<Request>,
    /// The number of the thread, as the host counts them; the largest for the lane without one.
    pub index: u32,
    lock: Lock,
    /// How it stamps its messages (`stamp.rs`).
    lease: Lease,
    /// The thread's view when it last looked after others' CRIs (`care.rs`).
    pub care: Care,
    /// Where what it received last comes, and where what it sent last went (`again.rs`).
    pub received: Note<Received>,
    pub sent: Note<Sent>,
}

// SAFETY: see the module's head: the own list is the owner's, the rest is atomic.
unsafe impl Sync for Lane {}

impl Lane {
    fn new(index: u32) -> &'static Lane {
        Box::leak(Box::new(Lane {
            free: Free::new(),
            index,
            lock: Lock::new(),
            lease: Lease::default(),
            care: Care::default(),
            received: Note::default(),
            sent: Note::default(),
        }))
    }

    /// Takes a request, if there is one. By the owner.
    #[inline(always)]
    pub fn take(&self) -> Option<&'static Request> {
        self.free.take()
    }

    /// How it stamps its messages.
    #[inline(always)]
    pub fn lease(&'static self) -> &'static Lease {
        &self.lease
    }

    /// Where the request goes when it is free.
    #[inline(always)]
    pub fn is_of(&self, req: &Request) -> bool {
        core::ptr::eq(self, req.lane)
    }

    /// Takes back one of its own that nobody refers to any more. By the owner.
    #[inline(always)]
    pub fn give(&self, req: &'static Request) {
        self.free.give(req);
    }
}

impl Linked for Request {
    #[inline(always)]
    fn next(&self) -> &Cell<*const Request> {
        &self.next
    }
}

pub struct Pools {
    /// For calls without a context; made by the first.
    shared: OnceLock<&'static Lane>,
    step: usize,
    /// Sends that were released while pending and still are.
    pub detached: AtomicU32,
    /// Lanes of threads: as many threads as there were at once.
    pub lanes: AtomicU32,
}

impl Pools {
    pub fn new(step: usize) -> Pools {
        Pools { shared: OnceLock::new(), step, detached: AtomicU32::new(0), lanes: AtomicU32::new(0) }
    }
}

/// The lane of a thread that has one.
#[inline(always)]
pub fn lane_of(thread: *mut ThreadCtx) -> Option<&'static Lane> {
    // SAFETY: the host passes the context of the calling thread, or null; what is in it was put there by
    // `first_lane` and is never freed.
    unsafe { thread.as_ref()?.pml_private.cast::<Lane>().as_ref() }
}

/// Where a thread notes which locks it is inside.
#[inline(always)]
pub fn seat_of(thread: *mut ThreadCtx) -> Caller {
    // SAFETY: the host passes the context of the calling thread, or null, and outlives this component's locks.
    unsafe { ThreadCtx::seat_of(thread) }
}

/// The lane of a thread that has one, and its seat.
#[inline(always)]
pub fn lane_and_seat(thread: *mut ThreadCtx) -> Option<(&'static Lane, &'static Seat)> {
    lane_of(thread).zip(seat_of(thread))
}

/// The lease of a thread that has a lane.
#[inline(always)]
pub fn lease_of(thread: *mut ThreadCtx) -> Option<&'static Lease> {
    lane_of(thread).map(|lane| &lane.lease)
}

/// The number of a thread and its seat.
#[inline(always)]
pub fn identity(thread: *mut ThreadCtx) -> (u32, Caller) {
    (number_of(thread), seat_of(thread))
}

impl Ob1 {
    /// A request for one operation of `thread`.
    #[inline(always)]
    pub fn take_request(
        &self,
        thread: *mut ThreadCtx,
        threaded: bool,
        kind: u32,
        host_comm: *mut c_void,
    ) -> Result<&'static Request, Status> {
        let req = match lane_of(thread).and_then(|lane| lane.free.take()) {
            Some(req) => req,
            None => self.take_slowly(thread, threaded)?,
        };
        req.begin(kind, host_comm);
        Ok(req)
    }

    /// The thread has no lane yet, or there is nothing in it.
    #[cold]
    #[inline(never)]
    fn take_slowly(&self, thread: *mut ThreadCtx, threaded: bool) -> Result<&'static Request, Status> {
        if let Some(lane) = self.lane_for(thread) {
            return self.grow(lane);
        }
        let shared = self.pools.shared.get_or_init(|| Lane::new(u32::MAX));
        let _guard = shared.lock.guard(threaded);
        match shared.free.take() {
            Some(req) => Ok(req),
            None => self.grow(shared),
        }
    }

    /// The lane of a thread, made on first use. `None`: a call without a context.
    #[inline(always)]
    pub fn lane_for(&self, thread: *mut ThreadCtx) -> Option<&'static Lane> {
        lane_of(thread).or_else(|| self.first_lane(thread))
    }

    #[cold]
    #[inline(never)]
    fn first_lane(&self, thread: *mut ThreadCtx) -> Option<&'static Lane> {
        if thread.is_null() {
            return None;
        }
        // SAFETY: as in `lane_of`; the context is the calling thread's. Other threads read its seat meanwhile.
        let lane = Lane::new(unsafe { (*thread).index });
        // SAFETY: as above.
        unsafe { (*thread).pml_private = core::ptr::from_ref(lane).cast_mut().cast() };
        self.pools.lanes.fetch_add(1, Ordering::Relaxed);
        Some(lane)
    }

    /// Makes more requests for a lane and gives the first. By its owner, or under its lock.
    fn grow(&self, lane: &'static Lane) -> Result<&'static Request, Status> {
        let owner = self as *const Ob1 as *mut c_void;
        let mut slab = Vec::new();
        slab.try_reserve_exact(self.pools.step).map_err(|_| Status::OUT_OF_MEMORY)?;
        slab.extend((0..self.pools.step).map(|_| Request::new(owner, lane)));
        let slab: &'static [Request] = Vec::leak(slab);
        for req in slab {
            // SAFETY: in memory that stays.
            let status = unsafe { self.host.request_slot(req.handle()) };
            if status.is_err() {
                break;
            }
            lane.free.give(req);
        }
        lane.free.take().ok_or(Status::OUT_OF_MEMORY)
    }

    /// Puts a request back that nobody refers to any more. `thread`: of the caller, or null.
    #[inline(always)]
    pub fn recycle(&self, req: &'static Request, thread: *mut ThreadCtx, threaded: bool) {
        req.leave(threaded);
        let own = || lane_of(thread).is_some_and(|lane| lane.is_of(req));
        if !threaded || own() {
            req.lane.free.give(req);
        } else {
            req.lane.free.give_from_outside(req);
        }
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::thread;

    /// A free thing; the model sees every access of `written` that no order leads to.
    struct Thing {
        next: Cell<*const Thing>,
        written: UnsafeCell<u32>,
    }

    impl Linked for Thing {
        fn next(&self) -> &Cell<*const Thing> {
            &self.next
        }
    }

    #[derive(Clone, Copy)]
    struct Shared(&'static Free<Thing>);
    // SAFETY: the model calls what only the owner may call from one thread.
    unsafe impl Send for Shared {}

    #[derive(Clone, Copy)]
    struct Given(&'static Thing);
    // SAFETY: as a request, which goes from thread to thread.
    unsafe impl Send for Given {}

    /// Two threads give one each back, while the owner takes and gives its own: it gets each once, and sees
    /// what was written to it before.
    #[test]
    fn what_others_give_back_is_taken_once() {
        loom::model(|| {
            let free = Shared(Box::leak(Box::new(Free::new())));
            let things: [Given; 3] = std::array::from_fn(|i| {
                let thing = Thing { next: Cell::new(null()), written: UnsafeCell::new(i as u32) };
                Given(Box::leak(Box::new(thing)))
            });
            free.0.give(things[2].0);
            let others: Vec<_> = (0..2)
                .map(|i| {
                    let thing = things[i];
                    thread::spawn(move || {
                        let (free, thing) = (free, thing);
                        // SAFETY: the thread's own until it gives it back.
                        thing.0.written.with_mut(|w| unsafe { *w += 10 });
                        free.0.give_from_outside(thing.0);
                    })
                })
                .collect();
            // SAFETY: what was taken is the taker's.
            let read = |thing: &'static Thing| thing.written.with(|w| unsafe { *w });
            let mut seen = Vec::new();
            while seen.len() < things.len() {
                match free.0.take() {
                    Some(thing) => seen.push(read(thing)),
                    None => thread::yield_now(),
                }
            }
            assert!(free.0.take().is_none());
            for other in others {
                other.join().unwrap();
            }
            seen.sort_unstable();
            assert_eq!(seen, [2, 10, 11]);
        });
    }
}
