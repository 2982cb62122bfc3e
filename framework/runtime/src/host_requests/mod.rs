//! Requests that the host makes itself, out of those of the point-to-point layer or out of nothing:
//! both halves of a send-receive as one, the flush of a buffer, partitioned messages, nonblocking and persistent
//! collectives.
//!
//! A [`Made`] is a request header with a [`Body`]: what the operation is. It completes because
//! progress **watches** it: behind each turn of the point-to-point layer the bodies under watch are
//! asked whether their parts are complete. A program that makes none of these requests never runs any
//! of this; one that does pays one load per turn while nothing is watched.
//!
//! **States.** free (in its pool's list) → pending (watched) → complete → released (free again); a
//! persistent one goes from complete back to pending when it is started, and may be watched while it is
//! inactive, as long as its body is not at rest. MPI_Request_free of one that is pending or not at rest
//! sets `released`; the poller that finds it over and at rest puts it back.
//!
//! **Access.** Each request belongs to a pool for good; `watched`, `pending`, `released` and
//! the lists are the holder's of the pool's lock, which is taken at MULTIPLE only. A pool's lock comes
//! before all locks of the point-to-point layer; nothing below ever calls up. A body's `advance`, `start`
//! and `reset` run under that lock, one at a time; what else a body offers (a partition is ready) it
//! guards itself. No user code runs under the lock: a body that has such to run, or much to do, says so
//! (`claim`, under the lock) and does it in `work`, with no lock held, in the thread that asked; then it
//! is looked at again.
//!
//! **Nobody is overlooked.** A thread that finds a pool's lock taken leaves a note (`again`) and looks
//! once more at the lock; the holder looks at the note after it has let go. Either sees the other, since
//! both write before they look (SeqCst).

pub mod partitioned;
pub mod schedule;
pub mod sendrecv;

pub use crate::objects::{Body, Made};
use crate::objects::{Instance, MadeLists, Makers, POOLS};
use oxmpi_mca::request::RequestOps;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_waiting::events;
use std::any::{Any, TypeId};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;

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
    fn instance(&self) -> &Instance {
        // SAFETY: the instance that made it outlives the use of its requests.
        unsafe { &*self.instance }
    }
    /// Whether the request is a persistent one.
    fn persistent(&self) -> bool {
        // SAFETY: flags change only while the request is the caller's.
        unsafe { (*self.header.get()).flags & RequestHeader::PERSISTENT != 0 }
    }
}

/// Sets the completion word and tells who waits.
///
/// # Safety
/// A live header whose owner completes it, once per start.
unsafe fn complete(header: *const RequestHeader, threaded: bool) {
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
    /// The lists of a pool, for the holder of its lock.
    #[allow(clippy::mut_from_ref, reason = "the lock's holder is alone")]
    fn lists(&self, pool: u32) -> &mut MadeLists {
        // SAFETY: callers hold the pool's lock, or are the only thread, and use the lists briefly.
        unsafe { &mut *self.pools[pool as usize].lists.get() }
    }

    /// Sets or clears the pool's bit in the word that tells pollers which pools have watched requests. The caller holds
    /// the pool's lock.
    fn set_busy(&self, pool: u32, busy: bool, threaded: bool) {
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
    /// Persistent, not started.
    Inactive,
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
            let _guard = self.makers.pools[pool as usize].lock.guard(self.threaded());
            let free = &mut self.makers.lists(pool).free;
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
        let header = RequestHeader::new(RequestHeader::OTHER, &OPS, std::ptr::null_mut());
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
        let _guard = self.makers.pools[made.pool as usize].lock.guard(threaded);
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
            Begin::Inactive => {
                header.flags = RequestHeader::PERSISTENT;
                header.completion.finish_alone();
                if !made.body.at_rest() {
                    self.watch(made, threaded);
                }
            }
        }
    }

    /// Runs the body's work once in the calling thread, if the request is pending and has some ([`Body::claim`]), then polls
    /// the host's requests. Called right after a persistent request was started: its first messages would otherwise go when
    /// this thread next makes progress, and other processes may wait for them.
    pub fn run_first_work(&self, thread: *mut ThreadCtx, made: &'static Made) {
        let guard = self.makers.pools[made.pool as usize].lock.guard(self.threaded());
        let mine = made.pending.get() && made.body.claim();
        drop(guard);
        if mine {
            made.body.work(self, thread);
            self.poll_requests(thread);
        }
    }

    /// Gives back a request that never began.
    pub fn drop_request(&self, made: &'static Made) {
        let _guard = self.makers.pools[made.pool as usize].lock.guard(self.threaded());
        self.recycle_made(made);
    }

    /// Puts a request on its pool's list of watched ones, and has progress poll these lists from the first time on. The
    /// caller holds the pool's lock.
    fn watch(&self, made: &'static Made, threaded: bool) {
        if !made.watched.replace(true) {
            self.makers.lists(made.pool).watched.push(made);
            self.makers.set_busy(made.pool, true, threaded);
        }
        self.makers.following.get_or_init(|| {
            self.follow_progress(poll, self as *const Instance as *mut c_void);
        });
    }

    /// Resets a request's body and puts the request on its pool's free list. The caller holds the pool's lock.
    fn recycle_made(&self, made: &'static Made) {
        made.body.reset();
        made.released.set(false);
        // Of one that was freed while it was pending nobody has heard that it is over.
        // SAFETY: the request is nobody's.
        unsafe { &*made.header.get() }.completion.finish_alone();
        let kind = (*made.body).type_id();
        let free = &mut self.makers.lists(made.pool).free;
        match free.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, list)) => list.push(made),
            None => free.push((kind, vec![made])),
        }
    }

    /// Polls all watched requests of all pools and does their claimed work; returns how many events there were. Called
    /// by progress, and by threads that complete parts outside progress.
    pub fn poll_requests(&self, thread: *mut ThreadCtx) -> i32 {
        let mut busy = self.makers.busy.load(Ordering::Relaxed);
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
            let place = &self.makers.pools[pool as usize];
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
        while let Some(&made) = self.makers.lists(pool).watched.get(i) {
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
                self.makers.lists(pool).watched.swap_remove(i);
                if made.released.get() {
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
        if self.makers.lists(pool).watched.is_empty() {
            self.makers.set_busy(pool, false, threaded);
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
    unsafe { &*ctx.cast::<Instance>() }.poll_requests(thread)
}

/// Request verb `release`: puts the request back in its pool, or marks it for the poller while it is watched.
extern "C" fn release_thunk(header: *mut RequestHeader, _: *mut ThreadCtx) {
    // SAFETY: the host passes what we handed out.
    let made: &'static Made = unsafe { &*header.cast::<Made>() };
    let instance = made.instance();
    let _guard = instance.makers.pools[made.pool as usize].lock.guard(instance.threaded());
    if made.watched.get() { made.released.set(true) } else { instance.recycle_made(made) }
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
    let _guard = instance.makers.pools[made.pool as usize].lock.guard(threaded);
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
