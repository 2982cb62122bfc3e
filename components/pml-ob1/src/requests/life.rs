//! Requests are taken, completed, released and given back (`request.rs` has their states, `thread_state.rs` where free ones are).

use crate::requests::completer::Completer;
use crate::requests::pool::Requests;
use crate::requests::request::{Request, State};
use crate::requests::thread_state::{ThreadState, thread_state_of};
use core::ffi::c_void;
use oxmpi_mca::request::Attach;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Completion, CriGuard, Entry, Owner, RequestHeader};
use oxmpi_pml::{Care, Incoming, Outgoing};

/// Attached instead of a sync object's address: nobody waits. No object lies at this address.
pub(super) const ABANDONED: usize = 2;

/// The completion word of a request.
#[inline(always)]
fn completion(req: &'static Request) -> &'static Completion {
    // SAFETY: the header lives for ever, and the word is atomic.
    unsafe { &(*req.handle()).completion }
}

impl Requests {
    /// Completes an operation whose request nobody but the caller has seen yet; `status` is set before. Gives the request.
    #[inline(always)]
    pub fn complete_unseen(&self, completer: Completer, entry: &Entry) -> &'static Request {
        if !completer.is_persistent() {
            completer.drop_type(entry);
        }
        completer.complete_unseen()
    }

    /// Completes an operation: counts down the waiter's sync object, or recycles a request that the host has released.
    /// `status` is set before. The request may be gone when this returns.
    #[inline(always)]
    pub fn complete(&self, completer: Completer, entry: &Entry) {
        let req = completer.request();
        if !req.is_persistent() {
            req.drop_type(entry);
        }
        req.state.set(State::Done);
        if req.released.get() {
            return self.complete_abandoned(req, &entry.seen());
        }
        if !entry.is_among() {
            return completion(req).finish_alone();
        }
        match completion(req).finish() {
            0 => {}
            ABANDONED => self.complete_abandoned(req, &entry.seen()),
            sync => self.instance().host().sync_update(sync),
        }
    }

    /// Recycles a request that completed after the host had released it.
    #[cold]
    fn complete_abandoned(&self, req: &'static Request, entry: &Entry) {
        if req.kind() == RequestHeader::SEND {
            self.detached.fetch_sub(1, Ordering::Relaxed);
        }
        self.recycle(req, entry);
    }

    /// Gives up a request for the host: recycles one that is complete, and leaves a pending one to its completion.
    pub fn release(&self, req: &'static Request, entry: &Entry) {
        if req.is_complete() {
            return self.recycle(req, entry);
        }
        self.abandon(req, entry)
    }

    /// Marks a pending request as released, so that the thread that completes it recycles it.
    #[cold]
    fn abandon(&self, req: &'static Request, entry: &Entry) {
        let send = (req.kind() == RequestHeader::SEND) as u32;
        self.detached.fetch_add(send, Ordering::Relaxed);
        if !entry.is_among() {
            req.released.set(true);
            return;
        }
        match completion(req).attach(ABANDONED) {
            Attach::Attached => {}
            Attach::AlreadyComplete => {
                self.detached.fetch_sub(send, Ordering::Relaxed);
                // Not complete either: another thread waits on what this one frees, which MPI
                // forbids. Leaking one request is the harm we choose.
                if req.is_complete() {
                    self.recycle(req, entry);
                }
            }
        }
    }

    /// Takes a free request for a send of the calling thread. `None`: there is no memory for more.
    #[inline(always)]
    pub fn take_for_send(&self, entry: &Entry, args: Outgoing<'_>) -> Option<Completer> {
        self.take_request(entry, RequestHeader::SEND, args.host_comm)
    }

    /// Takes a free request for a receive of the calling thread. `None`: there is no memory for more.
    #[inline(always)]
    pub fn take_for_receive(&self, entry: &Entry, args: Incoming<'_>) -> Option<Completer> {
        self.take_request(entry, RequestHeader::RECV, args.host_comm)
    }

    /// Takes a free request for one operation of the calling thread and resets its header. `None`: there is no memory for more.
    #[inline(always)]
    fn take_request(&self, entry: &Entry, kind: u32, host_comm: *mut c_void) -> Option<Completer> {
        let req = match thread_state_of(entry).and_then(|thread_state| thread_state.free.take()) {
            Some(req) => req,
            None => self.take_slowly(&entry.seen())?,
        };
        // SAFETY: it was free, and is taken by this call alone: from the thread's own list, or from the shared one under its lock.
        Some(unsafe { Completer::begin(req, kind, host_comm) })
    }

    /// Takes a free request for a receive of the calling thread, whose state that is. `None`: it has none.
    #[inline(always)]
    pub fn take_own(&self, thread_state: &'static ThreadState, args: Incoming<'_>) -> Option<Completer> {
        let req = thread_state.free.take()?;
        // SAFETY: it was free, and only the thread itself takes from its own list.
        Some(unsafe { Completer::begin(req, RequestHeader::RECV, args.host_comm) })
    }

    /// Takes a free request where the thread has none: makes its thread state if it has none, and more requests. A call
    /// without a context takes from the state that those calls share, under its lock. `None`: there is no memory for
    /// more.
    #[cold]
    #[inline(never)]
    fn take_slowly(&self, entry: &Entry) -> Option<&'static Request> {
        if let Some(thread_state) = self.thread_state_for(entry) {
            return self.grow(thread_state);
        }
        let shared = self.shared.get_or_init(|| ThreadState::new(u32::MAX));
        let _guard = shared.lock.guard(entry);
        shared.free.take().or_else(|| self.grow(shared))
    }

    /// Gives the state of the calling thread, made on first use. `None`: the call has no context.
    #[inline(always)]
    pub fn thread_state_for(&self, entry: &Entry) -> Option<&'static ThreadState> {
        thread_state_of(entry).or_else(|| self.first_thread_state(&entry.seen()))
    }

    /// Makes the state of the calling thread, which has none, and notes it in the thread's context. `None`: the call
    /// has no context.
    #[cold]
    #[inline(never)]
    fn first_thread_state(&self, entry: &Entry) -> Option<&'static ThreadState> {
        let thread_state = ThreadState::new(entry.context()?.index);
        // SAFETY: the context of the calling thread, which alone touches this field. Other threads read its seat meanwhile.
        unsafe { (*entry.thread()).pml_private = core::ptr::from_ref(thread_state).cast_mut().cast() };
        Some(thread_state)
    }

    /// Makes more requests for a thread state, takes one of them, and leaves the others free. By the state's owner, or
    /// under its lock. `None`: there is no memory for them.
    fn grow(&self, thread_state: &'static ThreadState) -> Option<&'static Request> {
        let owner = self.instance().care().map_or(Owner::NOBODY, Care::owner);
        let mut slab = Vec::new();
        slab.try_reserve_exact(self.instance().config().pool_step).ok()?;
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
        thread_state.free.take()
    }

    /// Puts a request that nobody refers to any more back to its thread state.
    #[inline(always)]
    pub fn recycle(&self, req: &'static Request, entry: &Entry) {
        req.leave(entry);
        let own = || thread_state_of(entry).is_some_and(|thread_state| thread_state.is_of(req));
        if !entry.is_among() || own() {
            req.home().give(req);
        } else {
            req.home().give_from_outside(req);
        }
    }

    /// Gives up the right to complete a request that nobody has seen, since its operation failed at once, and recycles it.
    #[inline(always)]
    pub fn give_up(&self, completer: Completer, entry: &Entry) {
        self.recycle(completer.request(), entry);
    }
}

impl Requests {
    /// The id by which peers quote a request, in the table of the held CRI; made when first needed and kept while the
    /// request waits for room.
    pub fn id_of(&self, held: &mut CriGuard<'_>, req: &'static Request) -> u64 {
        if req.id.get() == 0 {
            req.id.set(self.instance().own(held).ids().insert(req));
        }
        req.id.get()
    }

    /// Takes a request's id out of the table of the held CRI, and forgets its fragments that came ahead of their turn.
    pub fn drop_id(&self, held: &mut CriGuard<'_>, req: &'static Request) {
        let id = req.id.replace(0);
        let own = self.instance().own(held);
        own.ids().remove(id);
        if !own.ahead().is_empty() {
            own.ahead().forget(id);
        }
    }
}
