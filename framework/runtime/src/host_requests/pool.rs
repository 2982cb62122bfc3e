//! Pools of requests that the host makes: made, begun, watched, given back.

use crate::locked::LockedGuard;
use crate::objects::{Body, Instance, Made, MadeLists, Makers, POOLS};
use crate::request::Header;
use oxmpi_mca::host::ProgressFn;
use oxmpi_mca::request::RequestOps;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{Entry, MsgStatus, Owner, RequestHeader, Status};
use oxmpi_waiting::{Awaitable, events};
use std::any::{Any, TypeId};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;

impl Made {
    /// The request's header, by which the C interface and the PML know it.
    pub fn handle(&'static self) -> Header {
        // SAFETY: a request of the host's is never given back.
        unsafe { Header::new(NonNull::from(self).cast()) }
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
/// The caller is the request's owner and completes it, once per start.
pub(super) unsafe fn complete(req: Header, entry: &Entry) {
    let completion = req.completion();
    if !entry.is_among() {
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

    /// The lists of a pool, under its lock.
    pub(super) fn lists<'g>(&'g self, pool: u32, entry: &'g mut Entry) -> LockedGuard<'g, MadeLists> {
        self.pools[pool as usize].lists.enter(entry)
    }

    /// Sets or clears the pool's bit in the word that tells pollers which pools have watched requests, for the holder of the pool's lock.
    pub(super) fn set_busy(&self, pool: u32, busy: bool, held: &LockedGuard<'_, MadeLists>) {
        let (bit, now) = (1 << pool, self.busy.load(Ordering::Relaxed));
        if (now & bit != 0) == busy {
            return;
        }
        match (held.is_among(), busy) {
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
    /// A request whose body is what `fill` makes of one that was used before or is new. Nobody else has it yet, and `fill` starts nothing that could
    /// call back.
    pub fn make_request<B: Body + Default>(
        &self,
        entry: &mut Entry,
        fill: impl FnOnce(&B),
    ) -> Result<&'static Made, Status> {
        let pool = entry.context().map_or(0, |context| context.index % POOLS as u32);
        let kind = TypeId::of::<B>();
        let mut lists = self.makers().lists(pool, entry);
        let free = lists.free.iter_mut().find(|(k, _)| *k == kind).and_then(|(_, list)| list.pop());
        drop(lists);
        let made = match free {
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
        let header = RequestHeader::new(RequestHeader::OTHER, self.makers().ops, Owner::NOBODY);
        let made = Box::leak(Box::new(Made {
            header: UnsafeCell::new(header),
            body: Box::<B>::default(),
            instance: self,
            pool,
            watched: Cell::new(false),
            pending: Cell::new(false),
            released: Cell::new(false),
        }));
        // SAFETY: leaked, and nobody else knows it.
        unsafe { self.requests().insert(made.header.get()) }?;
        Ok(made)
    }

    /// Completes a request of the host that nothing below knows, and wakes who waits for it.
    ///
    /// # Safety
    /// The caller is its owner and completes it once per start.
    pub unsafe fn complete_request(&self, entry: &Entry, req: Header) {
        // SAFETY: the caller's promise.
        unsafe { complete(req, entry) }
    }

    /// Lets a request that `make_request` gave begin its life, once its parts are there.
    pub fn begin_request(&self, entry: &mut Entry, made: &'static Made, begin: Begin) {
        let mut held = self.makers().lists(made.pool, entry);
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
                self.watch(made, &mut held);
            }
            Begin::Inactive { at_rest } => {
                header.flags = RequestHeader::PERSISTENT;
                header.completion.finish_alone();
                if !at_rest {
                    self.watch(made, &mut held);
                }
            }
        }
    }

    /// Gives back a request that never began, and whose body has been reset.
    pub fn drop_request(&self, entry: &mut Entry, made: &'static Made) {
        made.recycle(&mut self.makers().lists(made.pool, entry));
    }

    /// Puts a request on its pool's list of watched ones, and has progress poll these lists from the first time on.
    pub(super) fn watch(&self, made: &'static Made, held: &mut LockedGuard<'_, MadeLists>) {
        if !made.watched.replace(true) {
            held.watched.push(made);
            self.makers().set_busy(made.pool, true, held);
        }
        self.makers().following.get_or_init(|| {
            // SAFETY: the function takes an instance, which clears its engine before it goes.
            unsafe { self.follow_progress(self.makers().poll, std::ptr::from_ref(self).cast_mut().cast()) };
        });
    }

    /// Polls all watched requests and does their claimed work; returns how many events there were. For threads that complete
    /// parts outside progress.
    pub fn poll_requests(&self, entry: &mut Entry) -> i32 {
        let events =
            (self.makers().poll)(std::ptr::from_ref(self).cast_mut().cast::<c_void>(), entry.thread());
        self.renew(entry);
        events
    }
}

impl Made {
    /// Puts the request, whose body has been reset, on the free list of its pool.
    pub(super) fn recycle(&'static self, lists: &mut MadeLists) {
        self.released.set(false);
        // Of one that was freed while it was pending nobody has heard that it is over.
        self.handle().completion().finish_alone();
        let kind = (*self.body).type_id();
        let free = &mut lists.free;
        match free.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, list)) => list.push(self),
            None => free.push((kind, vec![self])),
        }
    }
}
