//! Waiting in an instance: what its waiters stand on ([`Layer`]), and the calls that wait.

use crate::objects::Instance;
use crate::request::Header;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{Cri, Entry, ThreadCtx};
use oxmpi_waiting::events::Events;
use oxmpi_waiting::gate::Gate;
use oxmpi_waiting::{Awaitable, Awaited, Hooks, Layer, WaitCounts, Waiter, Waiting};

impl Layer for Instance {
    #[inline(always)]
    fn waiting(&self) -> &Waiting {
        self.waiting()
    }
    #[inline(always)]
    fn cris(&self) -> &[Cri] {
        self.cris()
    }
}

impl Instance {
    /// The calling thread as one that waits in this instance. Behind the wait its entry takes locks if that has to be from then on.
    #[inline(always)]
    fn waiter<'a>(&'a self, entry: &'a mut Entry) -> Waiter<'a, Instance> {
        Waiter::new(self, entry)
    }

    /// Waits until the request is complete; its header has the status then. The caller holds no lock.
    #[inline]
    pub fn wait(&self, entry: &mut Entry, req: Header) {
        self.waiter(entry).wait(req.completion());
    }

    /// Waits until all requests are complete; `None`s are skipped. The caller holds no lock.
    pub fn wait_all(&self, entry: &mut Entry, reqs: &[Option<Header>]) {
        self.waiter(entry).wait_all(reqs);
    }

    /// Waits until at least one request is complete; `None`s are skipped. With no request it returns at once.
    pub fn wait_any(&self, entry: &mut Entry, reqs: &[Option<Header>]) {
        self.waiter(entry).wait_any(reqs);
    }

    /// Makes progress until `done`, which gets the way in, says so, for waits that no request stands for (a blocking probe). The caller holds
    /// no lock.
    pub fn wait_until(&self, entry: &mut Entry, done: impl FnMut(&mut Entry) -> bool) {
        self.waiter(entry).wait_until(done);
    }

    /// Makes progress, or sleeps, until a word has changed or `ends` says so, which is a question about what comes by progress.
    /// The caller holds no lock.
    pub fn wait_word(&self, entry: &mut Entry, word: Awaited, ends: impl FnMut() -> bool) {
        self.waiter(entry).wait_word(word, ends);
    }

    /// Waits until no request that is attached to `events` is incomplete. At any level, after
    /// [`Instance::act_threaded`].
    pub fn wait_for_none(&self, entry: &mut Entry, events: &Events) {
        self.waiter(entry).wait_for_none(events);
    }

    /// Waits until `outstanding` answers 0. It says on which contexts, by bit, something is under way that the
    /// caller waits for; those of them that nobody progresses are entered. The caller holds no lock.
    pub fn wait_contexts(&self, entry: &mut Entry, outstanding: impl FnMut() -> u64) {
        self.waiter(entry).wait_contexts(outstanding);
    }

    /// Makes one turn of progress and returns the number of events.
    #[inline(always)]
    pub fn progress(&self, entry: &mut Entry) -> i32 {
        self.waiting().engine().turn(entry)
    }

    /// Makes one turn of progress for a call that looks and does not wait. Returns the number of events.
    #[inline(always)]
    pub fn poll(&self, entry: &mut Entry) -> i32 {
        self.waiter(entry).poll()
    }

    /// Makes turns of progress until one brings an event (false), or until every CRI in use has been looked at and
    /// there was nothing (true). The caller holds no lock.
    pub fn is_quiescent(&self, entry: &mut Entry) -> bool {
        self.waiter(entry).is_quiescent()
    }

    /// Makes one turn of progress on one context, and takes its lock from the owner for that. Returns the number
    /// of events. The caller holds no lock.
    pub fn progress_context(&self, entry: &mut Entry, ctx: u32) -> i32 {
        self.waiting().engine().turn_of_context(entry, ctx)
    }

    /// Brings an entry up to date behind the user's code: it takes locks from now on if several threads may make calls.
    #[inline(always)]
    pub fn renew(&self, entry: &mut Entry) {
        self.waiting().renew(entry);
    }

    /// The way in of a call of this instance, as its flag says.
    ///
    /// # Safety
    /// The calling thread has come in by the gate and holds nothing, and its entry, if it has one, is lent. `thread` is its context, or null.
    #[inline(always)]
    pub(crate) unsafe fn entry(&self, thread: *mut ThreadCtx) -> Entry {
        // SAFETY: where the flag is not set the thread is the only one in MPI: the gate turns it while nobody is inside but those who wait or run the user's
        // code. The rest is the caller's promise.
        unsafe { Entry::of(self.threaded(), thread) }
    }

    /// Number of contexts of the instance, one for each CRI.
    pub fn contexts(&self) -> usize {
        self.cris().len()
    }

    /// Sets the functions by which waiting threads let others run; with `None` they sleep in the kernel again. Not to
    /// be called while another thread is in a call.
    pub fn set_hooks(&self, hooks: Option<Hooks>) {
        self.waiting().set_hooks(hooks);
    }

    /// Whether several threads may make calls: the question of who changes that, or who chooses how to wait. Whether a call takes locks its [`Entry`] says.
    #[inline(always)]
    pub fn threaded(&self) -> bool {
        self.waiting().threaded()
    }

    /// The gate at which threads that make calls are marked: the host's, or this instance's own.
    #[inline(always)]
    pub fn gate(&self) -> &Gate {
        self.waiting().gate()
    }

    /// The context used while only one thread makes calls at a time.
    #[inline(always)]
    pub fn main_thread(&self) -> *mut ThreadCtx {
        self.waiting().main_thread()
    }

    /// Takes a thread context for the calling thread, which gives it back by [`Instance::detach_thread`].
    pub fn attach_thread(&self) -> *mut ThreadCtx {
        self.waiting().attach_thread()
    }

    /// Gives a thread context back, with which the thread makes no call any more. Does nothing with the main thread's.
    pub fn detach_thread(&self, thread: *mut ThreadCtx) {
        if !self.in_child() {
            self.waiting().detach_thread(thread);
        }
    }

    /// Counts of parked waits, of naps and of pieces of work: how threads waited while others had the progress.
    pub fn wait_counts(&self) -> WaitCounts {
        self.waiting().counts()
    }

    /// Makes a CRI active, and those below it, because somebody uses it; as `Host::activate` says.
    #[inline]
    pub(crate) fn activate(&self, ctx: u32) {
        if let Some(cri) = self.cris().get(ctx as usize)
            && cri.active.load(Ordering::Relaxed) == 0
        {
            self.cris()[..=ctx as usize].iter().rev().for_each(|cri| cri.active.store(1, Ordering::Release));
        }
    }
}
