//! Pools of requests that the host makes: made, begun, watched, given back.

use crate::objects::{Body, Instance, Made, MadeLists, Makers, POOLS};
use oxmpi_mca::host::ProgressFn;
use oxmpi_mca::request::RequestOps;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_waiting::events;
use std::any::{Any, TypeId};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::sync::OnceLock;

impl Made {
    /// The request's header, by which the C interface and the PML know it.
    pub fn handle(&self) -> *mut RequestHeader {
        self.header.get()
    }
    /// The body, if it is of this kind.
    pub fn body<B: Body>(&self) -> Option<&B> {
        let body: &dyn Any = &*self.body;
        body.downcast_ref()
    }
    /// The instance that made the request.
    pub(super) fn instance(&self) -> &Instance {
        // SAFETY: the instance that made it outlives the use of its requests.
        unsafe { &*self.instance }
    }
    /// Whether the request is a persistent one.
    pub(super) fn persistent(&self) -> bool {
        // SAFETY: flags change only while the request is the caller's.
        unsafe { (*self.header.get()).flags & RequestHeader::PERSISTENT != 0 }
    }
}

/// Sets the completion word and tells who waits.
///
/// # Safety
/// A live header whose owner completes it, once per start.
pub(super) unsafe fn complete(header: *const RequestHeader, threaded: bool) {
    // SAFETY: the caller's promise.
    let completion = unsafe { &(*header).completion };
    if !threaded {
        return completion.finish_alone();
    }
    let sync = completion.finish();
    if sync != 0 {
        // SAFETY: it stood in the completion word of the request.
        unsafe { events::tell(sync) };
    }
}

impl Makers {
    /// No requests yet. `ops`: the verbs of all requests; `poll`: the progress function that looks after them.
    pub(crate) fn new(ops: &'static RequestOps, poll: ProgressFn) -> Makers {
        Makers { busy: AtomicU32::new(0), following: OnceLock::new(), pools: Default::default(), ops, poll }
    }

    /// The lists of a pool, for the holder of its lock.
    #[allow(clippy::mut_from_ref, reason = "the lock's holder is alone")]
    pub(super) fn lists(&self, pool: u32) -> &mut MadeLists {
        // SAFETY: callers hold the pool's lock, or are the only thread, and use the lists briefly.
        unsafe { &mut *self.pools[pool as usize].lists.get() }
    }

    /// Sets or clears the pool's bit in the word that tells pollers which pools have watched requests. The caller holds
    /// the pool's lock.
    pub(super) fn set_busy(&self, pool: u32, busy: bool, threaded: bool) {
        let (bit, now) = (1 << pool, self.busy.load(Ordering::Relaxed));
        if (now & bit != 0) == busy {
            return;
        }
        match (threaded, busy) {
            (false, _) => self.busy.store(now ^ bit, Ordering::Relaxed),
            (true, true) => drop(self.busy.fetch_or(bit, Ordering::Relaxed)),
            (true, false) => drop(self.busy.fetch_and(!bit, Ordering::Relaxed)),
        }
    }
}

/// Whether a new request is done or under way.
pub enum Begin {
    Pending,
    Complete(MsgStatus),
    /// Persistent, not started. `at_rest`: nothing is under way on its behalf.
    Inactive {
        at_rest: bool,
    },
}

impl Instance {
    /// A request whose body is what `fill` makes of one that was used before or is new. `fill` runs
    /// under the pool's lock and starts nothing that could call back.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "callers pass their own live context or null")]
    pub fn make_request<B: Body + Default>(
        &self,
        thread: *mut ThreadCtx,
        fill: impl FnOnce(&B),
    ) -> Result<&'static Made, Status> {
        // SAFETY: the caller's own context.
        let pool = unsafe { thread.as_ref() }.map_or(0, |t| t.index % POOLS as u32);
        let made = {
            let _guard = self.makers().pools[pool as usize].lock.guard(self.threaded());
            let free = &mut self.makers().lists(pool).free;
            let kind = TypeId::of::<B>();
            free.iter_mut().find(|(k, _)| *k == kind).and_then(|(_, list)| list.pop())
        };
        let made = match made {
            Some(made) => made,
            None => self.another::<B>(pool)?,
        };
        // SAFETY: nobody else has it.
        let header = unsafe { &mut *made.header.get() };
        header.completion.rearm();
        header.status = MsgStatus::EMPTY;
        header.flags = 0;
        header.comm = std::ptr::null_mut();
        if let Some(body) = made.body::<B>() {
            fill(body);
        }
        Ok(made)
    }

    /// Allocates a new request with an empty body for a pool and enters it in the instance's list of requests.
    #[cold]
    fn another<B: Body + Default>(&self, pool: u32) -> Result<&'static Made, Status> {
        let header = RequestHeader::new(RequestHeader::OTHER, self.makers().ops, std::ptr::null_mut());
        let made = Box::leak(Box::new(Made {
            header: UnsafeCell::new(header),
            body: Box::<B>::default(),
            instance: self,
            pool,
            watched: Cell::new(false),
            pending: Cell::new(false),
            released: Cell::new(false),
        }));
        self.requests().insert(made.header.get())?;
        Ok(made)
    }

    /// Completes a request of the host that nothing below knows, and wakes who waits for it.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "the host completes its own requests")]
    pub fn complete_request(&self, req: *mut RequestHeader) {
        // SAFETY: a live request, completed once, by its owner.
        unsafe { complete(req, self.threaded()) }
    }

    /// Lets a request that `make_request` gave begin its life, once its parts are there.
    pub fn begin_request(&self, made: &'static Made, begin: Begin) {
        let threaded = self.threaded();
        let _guard = self.makers().pools[made.pool as usize].lock.guard(threaded);
        made.pending.set(false);
        // SAFETY: nobody else has it yet.
        let header = unsafe { &mut *made.header.get() };
        match begin {
            Begin::Complete(status) => {
                header.status = status;
                header.completion.finish_alone();
            }
            Begin::Pending => {
                made.pending.set(true);
                self.watch(made, threaded);
            }
            Begin::Inactive { at_rest } => {
                header.flags = RequestHeader::PERSISTENT;
                header.completion.finish_alone();
                if !at_rest {
                    self.watch(made, threaded);
                }
            }
        }
    }

    /// Gives back a request that never began, and whose body has been reset.
    pub fn drop_request(&self, made: &'static Made) {
        let _guard = self.makers().pools[made.pool as usize].lock.guard(self.threaded());
        self.recycle_made(made);
    }

    /// Puts a request on its pool's list of watched ones, and has progress poll these lists from the first time on. The
    /// caller holds the pool's lock.
    pub(super) fn watch(&self, made: &'static Made, threaded: bool) {
        if !made.watched.replace(true) {
            self.makers().lists(made.pool).watched.push(made);
            self.makers().set_busy(made.pool, true, threaded);
        }
        self.makers().following.get_or_init(|| {
            self.follow_progress(self.makers().poll, self as *const Instance as *mut c_void);
        });
    }

    /// Puts a request whose body has been reset on its pool's free list. The caller holds the pool's lock.
    pub(super) fn recycle_made(&self, made: &'static Made) {
        made.released.set(false);
        // Of one that was freed while it was pending nobody has heard that it is over.
        // SAFETY: the request is nobody's.
        unsafe { &*made.header.get() }.completion.finish_alone();
        let kind = (*made.body).type_id();
        let free = &mut self.makers().lists(made.pool).free;
        match free.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, list)) => list.push(made),
            None => free.push((kind, vec![made])),
        }
    }

    /// Polls all watched requests and does their claimed work; returns how many events there were. For threads that complete
    /// parts outside progress.
    pub fn poll_requests(&self, thread: *mut ThreadCtx) -> i32 {
        (self.makers().poll)(std::ptr::from_ref(self).cast_mut().cast(), thread)
    }
}
