//! Requests are taken, completed, released and given back (`state/request.rs` has their states, `state/lanes.rs` where free ones are).

use crate::state::instance::Ob1;
use crate::state::lanes::lane_of;
use crate::state::objects::{Lane, Request, State};
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_mca::request::Attach;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{RequestHeader, RequestOps, Status, ThreadCtx};

/// Attached instead of a sync object's address: nobody waits. No object lies at this address.
pub(super) const ABANDONED: usize = 2;

static OPS: RequestOps = RequestOps {
    size: size_of::<RequestOps>() as u32,
    reserved: 0,
    release: release_thunk,
    cancel: cancel_thunk,
    start: start_thunk,
};

impl Ob1 {
    /// The operation is over before anybody but the caller has seen the request; `status` is set.
    #[inline(always)]
    pub fn complete_unseen(&self, req: &'static Request, threaded: bool) {
        if !req.is_persistent() {
            req.drop_type(threaded);
        }
        req.complete_unseen();
    }

    /// The operation is over; `status` is set. The request may be gone when this returns.
    #[inline(always)]
    pub fn complete(&self, req: &'static Request, threaded: bool) {
        if !req.is_persistent() {
            req.drop_type(threaded);
        }
        req.state.set(State::Done);
        if req.released.get() {
            return self.complete_abandoned(req, threaded);
        }
        // SAFETY: the header lives for ever; it is completed once per start.
        let completion = unsafe { &(*req.handle()).completion };
        if !threaded {
            return completion.finish_alone();
        }
        match completion.finish() {
            0 => {}
            ABANDONED => self.complete_abandoned(req, threaded),
            sync => self.host.sync_update(sync),
        }
    }

    #[cold]
    fn complete_abandoned(&self, req: &'static Request, threaded: bool) {
        if req.kind() == RequestHeader::SEND {
            self.pools.detached.fetch_sub(1, Ordering::Relaxed);
        }
        self.recycle(req, null_mut(), threaded);
    }

    /// The host is done with the request, finished or not.
    fn release(&self, req: &'static Request, thread: *mut ThreadCtx) {
        let threaded = self.threaded();
        if req.is_complete() {
            return self.recycle(req, thread, threaded);
        }
        self.abandon(req, threaded)
    }

    #[cold]
    fn abandon(&self, req: &'static Request, threaded: bool) {
        let send = (req.kind() == RequestHeader::SEND) as u32;
        self.pools.detached.fetch_add(send, Ordering::Relaxed);
        if !threaded {
            req.released.set(true);
            return;
        }
        // SAFETY: the header lives for ever.
        match unsafe { &(*req.handle()).completion }.attach(ABANDONED) {
            Attach::Attached => {}
            Attach::AlreadyComplete => {
                self.pools.detached.fetch_sub(send, Ordering::Relaxed);
                // Not complete either: another thread waits on what this one frees, which MPI
                // forbids. Leaking one request is the harm we choose.
                if req.is_complete() {
                    self.recycle(req, null_mut(), threaded);
                }
            }
        }
    }
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
        slab.extend((0..self.pools.step).map(|_| Request::new(owner, lane, &OPS)));
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

/// The module of a request.
pub fn owner(req: &Request) -> &Ob1 {
    // SAFETY: `Request::new` put it there; the module outlives the use of its requests.
    unsafe { &*(*req.handle()).owner.cast::<Ob1>() }
}

extern "C" fn release_thunk(header: *mut RequestHeader, thread: *mut ThreadCtx) {
    // SAFETY: the host passes what we handed out.
    let req = unsafe { Request::of(header) };
    // The shape of nearly all: complete, of data in one piece, and of the caller's lane, where it goes without a look at
    // the number of threads.
    if req.is_complete() && req.dtype.get().is_null() && lane_of(thread).is_some_and(|own| own.is_of(req)) {
        debug_assert!(req.id.get() == 0 && !req.released.get(), "nobody else knows it");
        req.state.set(State::Free);
        return req.lane.give(req);
    }
    release_another(req, thread)
}

/// Apart, so that registers are saved for this only.
#[inline(never)]
extern "C" fn release_another(req: &'static Request, thread: *mut ThreadCtx) {
    owner(req).release(req, thread);
}

extern "C" fn cancel_thunk(header: *mut RequestHeader) -> Status {
    // SAFETY: as above.
    let req = unsafe { Request::of(header) };
    owner(req).cancel(req)
}

extern "C" fn start_thunk(header: *mut RequestHeader) -> Status {
    // SAFETY: as above.
    let req = unsafe { Request::of(header) };
    owner(req).start(req)
}
