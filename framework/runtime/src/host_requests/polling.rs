//! Progress of the requests that the host makes: bodies are asked, requests completed, work done. And the verbs of such a request.

use super::pool::complete;
use crate::locked::LockedGuard;
use crate::objects::{Instance, Made, MadeLists, Makers};
use crate::request::Header;
use oxmpi_mca::request::RequestOps;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Entry, MsgStatus, RequestHeader, Status, ThreadCtx};
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
pub fn of(header: Header) -> Option<&'static Made> {
    // SAFETY: the object is there; the table tells whose it is. One of the host's begins with its header and is never given back.
    unsafe {
        let req = header.as_ptr();
        std::ptr::eq((*req).ops, &OPS).then(|| &*req.cast::<Made>())
    }
}

impl Instance {
    /// Runs the body's work once in the calling thread, if the request is pending and has some ([`Body::claim`](crate::objects::Body::claim)), then polls
    /// the host's requests. Called right after a persistent request was started: its first messages would otherwise go when
    /// this thread next makes progress, and other processes may wait for them.
    pub fn run_first_work(&self, entry: &mut Entry, made: &'static Made) {
        let held = self.makers().lists(made.pool, entry);
        let mine = made.pending.get() && made.body.claim();
        drop(held);
        if mine {
            made.body.work(self, entry);
            self.poll_requests(entry);
        }
    }

    /// Polls all watched requests of all pools and does their claimed work; returns how many events there were. Called
    /// by progress.
    fn poll_all_requests(&self, entry: &mut Entry) -> i32 {
        let mut busy = self.makers().busy.load(Ordering::Relaxed);
        if busy == 0 {
            return 0;
        }
        let mut events = 0;
        'pools: while busy != 0 {
            let pool = busy.trailing_zeros();
            busy &= busy - 1;
            let mut todo = Todo::default();
            // Work may run the user's code, which may let a second thread in: then the entry says so behind it.
            while !entry.is_among() {
                events += self.poll_pool(pool, &mut self.makers().lists(pool, entry), &mut todo);
                match todo.work(self, entry) {
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
            while looks < 8
                && place.again.load(Ordering::SeqCst)
                && let Some(completed) = self.try_poll_pool(pool, entry, &mut todo)
            {
                events += completed;
                looks += 1;
                let done = todo.work(self, entry);
                if done > 0 {
                    events += done;
                    looks = 0;
                    place.again.store(true, Ordering::SeqCst);
                }
            }
        }
        events
    }

    /// Takes the note of a pool off and polls it; `None`: another thread has its lock.
    fn try_poll_pool(&self, pool: u32, entry: &mut Entry, todo: &mut Todo) -> Option<i32> {
        let place = &self.makers().pools[pool as usize];
        let mut held = place.lists.try_enter(entry)?;
        place.again.store(false, Ordering::SeqCst);
        Some(self.poll_pool(pool, &mut held, todo))
    }

    /// Polls the watched requests of one pool, completes those that are over and collects claimed work in `todo`;
    /// returns the number of completions.
    fn poll_pool(&self, pool: u32, held: &mut LockedGuard<'_, MadeLists>, todo: &mut Todo) -> i32 {
        let (mut i, mut events) = (0, 0);
        while let Some(&made) = held.watched.get(i) {
            if todo.has_room() && made.body.claim() {
                todo.add(made);
                i += 1;
                continue;
            }
            // SAFETY: it neither waits nor runs the user's code, and takes no lock of a pool (`Body::advance`).
            let over = made.body.advance(self, unsafe { held.entry() }).filter(|_| made.pending.get());
            if over.is_some() {
                made.pending.set(false);
                events += 1;
            }
            if made.pending.get() || !made.body.at_rest() {
                i += 1;
            } else {
                made.watched.set(false);
                held.watched.swap_remove(i);
                if made.released.get() {
                    // SAFETY: as `advance` (`Body::reset`).
                    made.body.reset(unsafe { held.entry() });
                    made.recycle(held);
                    continue;
                }
            }
            if let (Some(status), false) = (over, made.released.get()) {
                // SAFETY: pending until now, so the status is ours to write.
                unsafe { (*made.header.get()).status = status };
                // From here on the request may be the user's; `release` waits for the pool's lock.
                // SAFETY: ours, and pending until now.
                unsafe { complete(made.handle(), held.lent()) };
            }
        }
        if held.watched.is_empty() {
            self.makers().set_busy(pool, false, held);
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
    fn work(&mut self, instance: &Instance, entry: &mut Entry) -> i32 {
        let todo = self.list[..std::mem::take(&mut self.len)].iter().flatten();
        todo.map(|made| i32::from(made.body.work(instance, entry))).sum()
    }
}

/// Progress function of the instance: polls the host's requests and returns the number of events.
extern "C" fn poll(ctx: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    // SAFETY: registered with the instance, which clears its list of functions before it goes.
    let instance = unsafe { &*ctx.cast::<Instance>() };
    // SAFETY: called by a turn, or by `poll_requests`, which have borrowed the thread's entry.
    instance.poll_all_requests(&mut unsafe { instance.entry(thread) })
}

/// Request verb `release`: puts the request back in its pool, or marks it for the poller while it is watched.
extern "C" fn release_thunk(header: *mut RequestHeader, thread: *mut ThreadCtx) {
    // SAFETY: the host passes what we handed out, which is never given back.
    let made: &'static Made = unsafe { &*header.cast::<Made>() };
    let instance = made.instance();
    // SAFETY: `Header::release` has borrowed the thread's entry; made once for the call.
    let mut entry = unsafe { instance.entry(thread) };
    let mut held = instance.makers().lists(made.pool, &mut entry);
    if made.watched.get() {
        return made.released.set(true);
    }
    // SAFETY: it neither waits nor runs the user's code, and takes no lock of a pool (`Body::reset`).
    made.body.reset(unsafe { held.entry() });
    made.recycle(&mut held);
}

/// Request verb `cancel`: requests of the host cannot be cancelled, so it answers NOT_SUPPORTED.
extern "C" fn cancel_thunk(_: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}

/// Request verb `start`: starts an inactive persistent request and has progress watch it; an error leaves it inactive.
extern "C" fn start_thunk(header: *mut RequestHeader) -> Status {
    // SAFETY: the host passes what we handed out, which is never given back.
    let made: &'static Made = unsafe { &*header.cast::<Made>() };
    let instance = made.instance();
    // SAFETY: a call from inside the gate, in a thread that holds nothing, whose entry is not used meanwhile; made once for the call.
    let mut entry = unsafe { instance.entry(std::ptr::null_mut()) };
    let mut held = instance.makers().lists(made.pool, &mut entry);
    debug_assert!(made.persistent() && !made.pending.get());
    // SAFETY: inactive, so the user's thread alone has it.
    let header = unsafe { &mut *made.header.get() };
    header.status = MsgStatus::EMPTY;
    header.completion.rearm();
    // SAFETY: it neither waits nor runs the user's code, and takes no lock of a pool (`Body::start`).
    let status = made.body.start(instance, unsafe { held.entry() });
    if status == Status::PENDING {
        made.pending.set(true);
        instance.watch(made, &mut held);
        return Status::OK;
    }
    header.completion.finish_alone();
    status
}
