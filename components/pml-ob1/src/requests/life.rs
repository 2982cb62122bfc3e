//! Requests are taken, completed, released and given back (`request.rs` has their states, `thread_state.rs` where free ones are).

use crate::requests::pool::Requests;
use crate::requests::request::{Request, State};
use crate::requests::thread_state::{ThreadState, thread_state_of};
use crate::state::guarded::Held;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_mca::request::Attach;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{RequestHeader, Status, ThreadCtx};

/// Attached instead of a sync object's address: nobody waits. No object lies at this address.
pub(super) const ABANDONED: usize = 2;

impl Requests {
    /// Completes an operation whose request nobody but the caller has seen yet; `status` is set before.
    #[inline(always)]
    pub fn complete_unseen(&self, req: &'static Request, threaded: bool) {
        if !req.is_persistent() {
            req.drop_type(threaded);
        }
        req.complete_unseen();
    }

    /// Completes an operation: counts down the waiter's sync object, or recycles a request that the host has released.
    /// `status` is set before. The request may be gone when this returns.
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
            sync => self.instance().host().sync_update(sync),
        }
    }

    /// Recycles a request that completed after the host had released it.
    #[cold]
    fn complete_abandoned(&self, req: &'static Request, threaded: bool) {
        if req.kind() == RequestHeader::SEND {
            self.detached.fetch_sub(1, Ordering::Relaxed);
        }
        self.recycle(req, null_mut(), threaded);
    }

    /// Gives up a request for the host: recycles one that is complete, and leaves a pending one to its completion.
    pub fn release(&self, req: &'static Request, thread: *mut ThreadCtx) {
        let threaded = self.instance().threaded();
        if req.is_complete() {
            return self.recycle(req, thread, threaded);
        }
        self.abandon(req, threaded)
    }

    /// Marks a pending request as released, so that the thread that completes it recycles it.
    #[cold]
    fn abandon(&self, req: &'static Request, threaded: bool) {
        let send = (req.kind() == RequestHeader::SEND) as u32;
        self.detached.fetch_add(send, Ordering::Relaxed);
        if !threaded {
            req.released.set(true);
            return;
        }
        // SAFETY: the header lives for ever.
        match unsafe { &(*req.handle()).completion }.attach(ABANDONED) {
            Attach::Attached => {}
            Attach::AlreadyComplete => {
                self.detached.fetch_sub(send, Ordering::Relaxed);
                // Not complete either: another thread waits on what this one frees, which MPI
                // forbids. Leaking one request is the harm we choose.
                if req.is_complete() {
                    self.recycle(req, null_mut(), threaded);
                }
            }
        }
    }

    /// Takes a free request for one operation of `thread` and resets its header. `Err`: there is no memory for more.
    #[inline(always)]
    pub fn take_request(
        &self,
        thread: *mut ThreadCtx,
        threaded: bool,
        kind: u32,
        host_comm: *mut c_void,
    ) -> Result<&'static Request, Status> {
        let req = match thread_state_of(thread).and_then(|thread_state| thread_state.free.take()) {
            Some(req) => req,
            None => self.take_slowly(thread, threaded)?,
        };
        req.begin(kind, host_comm);
        Ok(req)
    }

    /// Takes a free request where the thread has none: makes its thread state if it has none, and more requests. A call
    /// without a context takes from the state that those calls share, under its lock. `Err`: there is no memory for
    /// more.
    #[cold]
    #[inline(never)]
    fn take_slowly(&self, thread: *mut ThreadCtx, threaded: bool) -> Result<&'static Request, Status> {
        if let Some(thread_state) = self.thread_state_for(thread) {
            return self.grow(thread_state);
        }
        let shared = self.shared.get_or_init(|| ThreadState::new(u32::MAX));
        let _guard = shared.lock.guard(threaded);
        match shared.free.take() {
            Some(req) => Ok(req),
            None => self.grow(shared),
        }
    }

    /// Gives the state of the calling thread, made on first use. `None`: the call has no context.
    #[inline(always)]
    pub fn thread_state_for(&self, thread: *mut ThreadCtx) -> Option<&'static ThreadState> {
        thread_state_of(thread).or_else(|| self.first_thread_state(thread))
    }

    /// Makes the state of the calling thread, which has none, and notes it in the thread's context. `None`: the call
    /// has no context.
    #[cold]
    #[inline(never)]
    fn first_thread_state(&self, thread: *mut ThreadCtx) -> Option<&'static ThreadState> {
        if thread.is_null() {
            return None;
        }
        // SAFETY: as in `thread_state_of`; the context is the calling thread's. Other threads read its seat meanwhile.
        let thread_state = ThreadState::new(unsafe { (*thread).index });
        // SAFETY: as above.
        unsafe { (*thread).pml_private = core::ptr::from_ref(thread_state).cast_mut().cast() };
        Some(thread_state)
    }

    /// Makes more requests for a thread state, takes one of them, and leaves the others free. By the state's owner, or
    /// under its lock. `Err`: there is no memory for them.
    fn grow(&self, thread_state: &'static ThreadState) -> Result<&'static Request, Status> {
        let owner = self.owner.get();
        let mut slab = Vec::new();
        slab.try_reserve_exact(self.instance().config().pool_step).map_err(|_| Status::OUT_OF_MEMORY)?;
        slab.extend(
            (0..self.instance().config().pool_step)
                .map(|_| Request::new(owner, self.operations, &thread_state.free)),
        );
        let slab: &'static [Request] = Vec::leak(slab);
        for req in slab {
            // SAFETY: in memory that stays.
            let status = unsafe { self.instance().host().request_slot(req.handle()) };
            if status.is_err() {
                break;
            }
            thread_state.free.give(req);
        }
        thread_state.free.take().ok_or(Status::OUT_OF_MEMORY)
    }

    /// Puts a request that nobody refers to any more back to its thread state. `thread`: the caller's context, or null.
    #[inline(always)]
    pub fn recycle(&self, req: &'static Request, thread: *mut ThreadCtx, threaded: bool) {
        req.leave(threaded);
        let own = || thread_state_of(thread).is_some_and(|thread_state| thread_state.is_of(req));
        if !threaded || own() {
            req.home().give(req);
        } else {
            req.home().give_from_outside(req);
        }
    }
}

impl Requests {
    /// The id by which peers quote a request, in the table of the held CRI; made when first needed and kept while the
    /// request waits for room.
    pub fn id_of(&self, held: &Held<'_>, req: &'static Request) -> u64 {
        if req.id.get() == 0 {
            req.id.set(self.instance().cri(held.ctx).ids().with(held, |t| t.insert(req)));
        }
        req.id.get()
    }

    /// Takes a request's id out of the table of the held CRI, and forgets its fragments that came ahead of their turn.
    pub fn drop_id(&self, held: &Held<'_>, req: &'static Request) {
        let id = req.id.replace(0);
        self.instance().cri(held.ctx).ids().with(held, |t| t.remove(id));
        self.instance().cri(held.ctx).ahead().with(held, |ahead| {
            if !ahead.is_empty() {
                ahead.forget(id);
            }
        });
    }
}
