//! Progress of the requests that the host makes: bodies are asked, requests completed, work done. And the verbs of such a request.

use super::pool::complete;
use crate::objects::{Instance, Made, Makers};
use oxmpi_mca::request::RequestOps;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use std::ffi::c_void;

/// The pools of an instance, empty.
pub(crate) fn makers() -> Makers {
    Makers::new(&OPS, poll)
}

static OPS: RequestOps = RequestOps {
    size: size_of::<RequestOps>() as u32,
    reserved: 0,
    release: release_thunk,
    cancel: cancel_thunk,
    start: start_thunk,
};

/// The request of a header, if the host made it.
///
/// # Safety
/// `header` must be that of a request of a living instance.
pub unsafe fn of<'a>(header: *mut RequestHeader) -> Option<&'a Made> {
    // SAFETY: the caller's promise; the table tells whose object this is, which begins with its header.
    unsafe { std::ptr::eq((*header).ops, &OPS).then(|| &*header.cast::<Made>()) }
}

impl Instance {
    /// Runs the body's work once in the calling thread, if the request is pending and has some ([`Body::claim`](crate::objects::Body::claim)), then polls
    /// the host's requests. Called right after a persistent request was started: its first messages would otherwise go when
    /// this thread next makes progress, and other processes may wait for them.
    pub fn run_first_work(&self, thread: *mut ThreadCtx, made: &'static Made) {
        let guard = self.makers().pools[made.pool as usize].lock.guard(self.threaded());
        let mine = made.pending.get() && made.body.claim();
        drop(guard);
        if mine {
            made.body.work(self, thread);
            self.poll_requests(thread);
        }
    }

    /// Polls all watched requests of all pools and does their claimed work; returns how many events there were. Called
    /// by progress.
    fn poll_all_requests(&self, thread: *mut ThreadCtx) -> i32 {
        let mut busy = self.makers().busy.load(Ordering::Relaxed);
        if busy == 0 {
            return 0;
        }
        let mut events = 0;
        'pools: while busy != 0 {
            let pool = busy.trailing_zeros();
            busy &= busy - 1;
            let mut todo = Todo::default();
            // Looked at anew behind work, which may run the user's code: that may let a second thread in.
            while !self.threaded() {
                events += self.poll_pool(pool, thread, false, &mut todo);
                match todo.work(self, thread) {
                    0 => continue 'pools,
                    done => events += done,
                }
            }
            let place = &self.makers().pools[pool as usize];
            // SYNC POINT of `again` with itself in other threads, see the essay.
            place.again.store(true, Ordering::SeqCst);
            // Bounded, so that others who keep leaving notes do not keep us here; what we worked on is looked
            // at again in any case.
            let mut looks = 0;
            while looks < 8 && place.again.load(Ordering::SeqCst) && place.lock.try_lock() {
                place.again.store(false, Ordering::SeqCst);
                events += self.poll_pool(pool, thread, true, &mut todo);
                place.lock.unlock();
                looks += 1;
                let done = todo.work(self, thread);
                if done > 0 {
                    events += done;
                    looks = 0;
                    place.again.store(true, Ordering::SeqCst);
                }
            }
        }
        events
    }

    /// Polls the watched requests of one pool, completes those that are over and collects claimed work in `todo`;
    /// returns the number of completions. The caller holds the pool's lock.
    fn poll_pool(&self, pool: u32, thread: *mut ThreadCtx, threaded: bool, todo: &mut Todo) -> i32 {
        let (mut i, mut events) = (0, 0);
        while let Some(&made) = self.makers().lists(pool).watched.get(i) {
            if todo.has_room() && made.body.claim() {
                todo.add(made);
                i += 1;
                continue;
            }
            let over = made.body.advance(self, thread).filter(|_| made.pending.get());
            if over.is_some() {
                made.pending.set(false);
                events += 1;
            }
            if made.pending.get() || !made.body.at_rest() {
                i += 1;
            } else {
                made.watched.set(false);
                self.makers().lists(pool).watched.swap_remove(i);
                if made.released.get() {
                    made.body.reset();
                    self.recycle_made(made);
                    continue;
                }
            }
            if let (Some(status), false) = (over, made.released.get()) {
                // SAFETY: pending until now, so the status is ours to write.
                unsafe { (*made.header.get()).status = status };
                // From here on the request may be the user's; `release` waits for the pool's lock.
                // SAFETY: as above.
                unsafe { complete(made.header.get(), threaded) };
            }
        }
        if self.makers().lists(pool).watched.is_empty() {
            self.makers().set_busy(pool, false, threaded);
        }
        events
    }
}

/// Claimed work, to be done when the pool's lock is free again.
#[derive(Default)]
struct Todo {
    list: [Option<&'static Made>; 8],
    len: usize,
}

impl Todo {
    /// Whether another claimed request fits.
    fn has_room(&self) -> bool {
        self.len < self.list.len()
    }
    /// Appends a request whose work the caller has claimed; there must be room.
    fn add(&mut self, made: &'static Made) {
        self.list[self.len] = Some(made);
        self.len += 1;
    }
    /// Does the work of all claimed requests and empties the list; returns how many of them moved. No lock is held.
    fn work(&mut self, instance: &Instance, thread: *mut ThreadCtx) -> i32 {
        let todo = self.list[..std::mem::take(&mut self.len)].iter().flatten();
        todo.map(|made| i32::from(made.body.work(instance, thread))).sum()
    }
}

/// Progress function of the instance: polls the host's requests and returns the number of events.
extern "C" fn poll(ctx: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    // SAFETY: registered with the instance, which clears its list of functions before it goes.
    unsafe { &*ctx.cast::<Instance>() }.poll_all_requests(thread)
}

/// Request verb `release`: puts the request back in its pool, or marks it for the poller while it is watched.
extern "C" fn release_thunk(header: *mut RequestHeader, _: *mut ThreadCtx) {
    // SAFETY: the host passes what we handed out.
    let made: &'static Made = unsafe { &*header.cast::<Made>() };
    let instance = made.instance();
    let _guard = instance.makers().pools[made.pool as usize].lock.guard(instance.threaded());
    if made.watched.get() {
        return made.released.set(true);
    }
    made.body.reset();
    instance.recycle_made(made);
}

/// Request verb `cancel`: requests of the host cannot be cancelled, so it answers NOT_SUPPORTED.
extern "C" fn cancel_thunk(_: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}

/// Request verb `start`: starts an inactive persistent request and has progress watch it; an error leaves it inactive.
extern "C" fn start_thunk(header: *mut RequestHeader) -> Status {
    // SAFETY: as in `release_thunk`.
    let made: &'static Made = unsafe { &*header.cast::<Made>() };
    let (instance, threaded) = (made.instance(), made.instance().threaded());
    let _guard = instance.makers().pools[made.pool as usize].lock.guard(threaded);
    debug_assert!(made.persistent() && !made.pending.get());
    // SAFETY: inactive, so the user's thread alone has it.
    let header = unsafe { &mut *made.header.get() };
    header.status = MsgStatus::EMPTY;
    header.completion.rearm();
    let status = made.body.start(instance);
    if status == Status::PENDING {
        made.pending.set(true);
        instance.watch(made, threaded);
        return Status::OK;
    }
    header.completion.finish_alone();
    status
}
