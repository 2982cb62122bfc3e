//! Collectives that complete later (MPI 5.0 §6.12, §6.13): a plan of steps that a component wrote down, carried
//! out by progress.
//!
//! ```text
//! MPI_Ibcast      record ── run ──► pending ── run ─ … ─ run ──► over ──► complete
//! MPI_Bcast_init  record ─────────► inactive ◄──────────────────────────────┘
//! MPI_Start                 run ──► pending …
//! ```
//!
//! **Recording.** The component that plans a collective on this communicator is called with services that write
//! steps down (`record`). The result is a program without branches: start a send, start a receive, wait
//! for these, pack, reduce. It depends on the arguments alone, so a persistent operation keeps it. Steps that depend on received data are
//! written by steps of their own kind when the plan has come to them, for one start (`extend`). Nonblocking accesses to files are plans, too
//! (`file/planned.rs`, `file/collective.rs`).
//!
//! **Running** (`run`). Steps are done in order until one has to wait for a message. Progress watches the request
//! (`host_requests`); when what the step waits for has come, whoever found that goes on with the steps, outside the
//! pool's lock, since a step may call a function of the user's or copy a lot. An error is noted and the steps
//! go on: other ranks wait for our messages.
//!
//! **Access.** `state` is IDLE between runs, CLAIMED while a thread runs steps, OVER when
//! there are none left (and before the first start). The thread that holds the claim has `core` to itself. The
//! claim is taken from IDLE under the pool's lock; the starting thread has it from the beginning. Under the
//! pool's lock an IDLE operation's core may be looked at. Nobody is overlooked: who found the operation CLAIMED
//! did so under the pool's lock, and the claim's holder looks under that lock again after it has let go.
//!
//! **Tags.** All messages of one operation have one tag of their own: the number of the nonblocking or persistent
//! operation on its communicator, which all ranks count alike. So operations under way at once do not meet, nor do
//! they meet blocking ones, and persistent ones may be started in any order. Numbers come round after 2^28
//! (persistent: 2^27) operations of one communicator.
//!
//! **Lifetimes.** Everything that a plan points to lives as long as it: buffers are the user's promise, types and the operation are held
//! by `kept`, memory for steps is its own, and the communicator is in use as long as the request is.

mod extend;
mod memory;
pub(crate) mod numbers;
mod record;
mod run;
mod steps;

use super::Begin;
use crate::coll::slot::Slot;
use crate::host_requests::schedule::steps::{Core, Kept};
use crate::objects::{Body, Communicator, Instance, Made};
use crate::request::Header;
use oxmpi_coll::{CollArgs, CollComm};
use oxmpi_datatype::kernel::OpDesc;
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{Entry, MsgStatus, Status};
use std::cell::UnsafeCell;
use std::sync::Arc;

/// State of an operation: no steps are left, or it was never started.
const OVER: u32 = 0;
/// State of an operation: steps are left and no thread runs them.
const IDLE: u32 = 1;
/// State of an operation: a thread runs its steps.
const CLAIMED: u32 = 2;

/// The body of such a request.
#[derive(Default)]
pub struct Operation {
    state: AtomicU32,
    core: UnsafeCell<Core>,
}

// SAFETY: the core is used by the holder of the claim, or looked at under the pool's lock while nobody has that (the essay).
unsafe impl Sync for Operation {}
// SAFETY: what a plan points to belongs to no thread.
unsafe impl Send for Operation {}

impl Operation {
    /// The plan and its progress, for the thread that has the claim.
    ///
    /// # Safety
    /// For the claim's holder; under the pool's lock, to look, where the state is not CLAIMED.
    #[allow(clippy::mut_from_ref, reason = "the claim's holder is alone")]
    unsafe fn core(&self) -> &mut Core {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.core.get() }
    }

    /// The status of an operation that is over; where a message was too long its source, the bytes of its place and, in
    /// `cancelled`, those that did not fit.
    fn outcome(&self) -> MsgStatus {
        // SAFETY: over, so nobody runs it.
        let core = unsafe { self.core() };
        let failed = core.truncated.filter(|_| core.error == Status::TRUNCATED);
        let status =
            MsgStatus { error: core.error, tag: MsgStatus::EMPTY.tag, ..failed.unwrap_or(MsgStatus::EMPTY) };
        match &core.bytes {
            Some(bytes) => MsgStatus { bytes: bytes.load(Ordering::Relaxed), ..status },
            None => status,
        }
    }
}

impl Body for Operation {
    fn advance(&self, _: &Instance, _: &mut Entry) -> Option<MsgStatus> {
        // SYNC POINT with `work`.
        (self.state.load(Ordering::Acquire) == OVER).then(|| self.outcome())
    }

    fn start(&self, _: &Instance, _: &mut Entry) -> Status {
        // SAFETY: inactive, and under the pool's lock.
        unsafe { self.core() }.rewind();
        self.state.store(IDLE, Ordering::Relaxed);
        Status::PENDING
    }

    fn claim(&self) -> bool {
        // SYNC POINT with `work`. SAFETY: idle, and the caller holds the pool's lock.
        let mine = self.state.load(Ordering::Acquire) == IDLE && unsafe { self.core() }.can_go_on();
        if mine {
            self.state.store(CLAIMED, Ordering::Relaxed);
        }
        mine
    }

    fn work(&self, instance: &Instance, entry: &mut Entry) -> bool {
        // SAFETY: the caller has the claim.
        let core = unsafe { self.core() };
        let before = core.at;
        let over = core.run(instance, entry);
        let moved = over || core.at != before;
        // SYNC POINT with `advance` and `claim`.
        self.state.store(if over { OVER } else { IDLE }, Ordering::Release);
        moved
    }

    fn reset(&self, _: &mut Entry) {
        // SAFETY: nobody runs it, and the request is given up.
        unsafe { self.core() }.clear();
    }
}

/// Whether the request is that of a nonblocking or persistent collective.
pub fn is_collective(made: &Made) -> bool {
    made.body::<Operation>().is_some()
}

impl Communicator {
    /// Begins a nonblocking collective. `kept` lives until it is over.
    ///
    /// # Safety
    /// What the arguments point to is there until the request is complete: types and the operation by `kept`, buffers as counts and types say. Lists are there
    /// during the call.
    pub unsafe fn begin_collective(
        &self,
        entry: &mut Entry,
        which: Slot,
        args: &CollArgs,
        kept: Kept,
    ) -> Result<Header, Status> {
        let tag = self.coll.numbers.later();
        // SAFETY: null, or the caller's operation.
        let op = unsafe { args.op.as_ref() }.copied();
        // SAFETY: the caller's promise.
        let write =
            |core: &mut Core, entry: &mut Entry| unsafe { record::plan(core, self, which, entry, args) };
        let planned = self.planned(entry, (op, kept, None), tag, write)?;
        Ok(self.begin(entry, planned))
    }

    /// Begins a plan whose steps `write` writes down by the services of the communicator that it gets. `kept` lives until it is over; `bytes` is what the
    /// request's status will say. `messages`: all ranks of the communicator begin it, in the same order of such operations, and its steps may send.
    ///
    /// # Safety
    /// What the steps point to is there until the request is complete.
    pub(crate) unsafe fn begin_plan(
        &self,
        entry: &mut Entry,
        messages: bool,
        (kept, bytes): (Kept, Arc<AtomicU64>),
        write: impl FnOnce(&CollComm) -> Status,
    ) -> Result<Header, Status> {
        let tag = if messages { self.coll.numbers.later() } else { 0 };
        // SAFETY: the caller's promise.
        let write = |core: &mut Core, entry: &mut Entry| unsafe { record::plan_by(core, self, entry, write) };
        let planned = self.planned(entry, (None, kept, Some(bytes)), tag, write)?;
        Ok(self.begin(entry, planned))
    }

    /// Does the first steps of an operation that was planned, and begins the life of its request.
    fn begin(&self, entry: &mut Entry, (made, operation): (&'static Made, &'static Operation)) -> Header {
        let instance = self.instance();
        operation.work(instance, entry);
        let over = operation.state.load(Ordering::Relaxed) == OVER;
        let begin = if over { Begin::Complete(operation.outcome()) } else { Begin::Pending };
        instance.begin_request(entry, made, begin);
        if !over && entry.is_among() {
            instance.poll_requests(entry);
        }
        made.handle()
    }

    /// A persistent collective, inactive. `kept` lives until the request is given up.
    ///
    /// # Safety
    /// As for [`Communicator::begin_collective`], until the request is given up.
    pub unsafe fn collective_init(
        &self,
        entry: &mut Entry,
        which: Slot,
        args: &CollArgs,
        kept: Kept,
    ) -> Result<Header, Status> {
        let tag = self.coll.numbers.again();
        // SAFETY: null, or the caller's operation.
        let op = unsafe { args.op.as_ref() }.copied();
        // SAFETY: the caller's promise.
        let write =
            |core: &mut Core, entry: &mut Entry| unsafe { record::plan(core, self, which, entry, args) };
        let (made, operation) = self.planned(entry, (op, kept, None), tag, write)?;
        operation.state.store(OVER, Ordering::Relaxed);
        self.instance().begin_request(entry, made, Begin::Inactive { at_rest: true });
        Ok(made.handle())
    }

    /// Makes a request with a plan that `write` records; the caller has the claim of its operation.
    fn planned(
        &self,
        entry: &mut Entry,
        (op, kept, bytes): (Option<OpDesc>, Kept, Option<Arc<AtomicU64>>),
        tag: i32,
        write: impl FnOnce(&mut Core, &mut Entry) -> Status,
    ) -> Result<(&'static Made, &'static Operation), Status> {
        let instance = self.instance();
        let made = instance.make_request(entry, |_: &Operation| {})?;
        let Some(operation) = made.body::<Operation>() else { return Err(Status::INTERNAL) };
        operation.state.store(CLAIMED, Ordering::Relaxed);
        // SAFETY: nobody else has the request yet.
        let core = unsafe { operation.core() };
        (core.comm, core.tag, core.kept, core.op, core.bytes) = (self, tag, kept, op, bytes);
        let status = write(core, entry);
        if status.is_err() {
            operation.state.store(OVER, Ordering::Relaxed);
            operation.reset(entry);
            instance.drop_request(entry, made);
            return Err(status);
        }
        core.rewind();
        Ok((made, operation))
    }
}
