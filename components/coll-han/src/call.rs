//! One call of a collective: its phases in the parts of the communicator, and its failures.
//!
//! **Failures.** A phase that fails leaves data missing, in this rank and in those that it hands data on to; others wait for it all the same. So the rank goes on: between
//! nodes it takes part without data (`call_lost`), which tells the other nodes; within its node it hands on what there is, and writes a note (`notes`). The call
//! answers the first failure.

use crate::counted;
use crate::module::{HanModule, Part, Ready};
use crate::params::Op;
use crate::shape::{Seat, Shape};
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use oxmpi_coll::{CollArgs, CollComm, CollServices, FIRST_TAG, IN_PLACE};
use oxmpi_coll_support::layout::Result;
use oxmpi_coll_support::{Lease, Place, Source};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

/// The tag of the message that brings a result to a root which is not the rank that speaks for its node.
const TAG: i32 = FIRST_TAG - 64;

/// See the head of this file.
pub struct Call<'a> {
    module: &'a HanModule,
    ready: &'a Ready,
    comm: &'a CollComm,
    services: &'a CollServices,
    pub args: &'a CollArgs,
    number: u32,
    failed: Cell<Status>,
    is_below: Cell<bool>,
}

impl<'a> Call<'a> {
    /// # Safety
    /// The communicator is valid for `'a`, with its services. The arguments are those of the collective whose function gets the call, as
    /// the contract has them: what it asks for is there, and its buffers are the call's.
    pub unsafe fn new(
        module: &'a HanModule,
        ready: &'a Ready,
        comm: &'a CollComm,
        args: &'a CollArgs,
    ) -> Call<'a> {
        // SAFETY: the caller's promise.
        let services = unsafe { &*comm.services };
        let number = module.next_call();
        let (failed, is_below) = (Cell::new(Status::OK), Cell::new(false));
        Call { module, ready, comm, services, args, number, failed, is_below }
    }

    pub fn module(&self) -> &'a HanModule {
        self.module
    }

    pub fn shape(&self) -> &'a Shape {
        &self.ready.shape
    }

    pub fn rank(&self) -> u32 {
        self.comm.rank
    }

    /// This rank's seat.
    pub fn me(&self) -> Seat {
        self.shape().seat(self.rank())
    }

    /// Whether this node has no other rank.
    pub fn is_alone(&self) -> bool {
        self.shape().on(self.me().node).len() == 1
    }

    /// The root of a collective that has one. BAD_PARAM: there is no such rank.
    pub fn root(&self) -> Result<u32> {
        let root = u32::try_from(self.args.root).ok();
        root.filter(|root| *root < self.comm.num_ranks).ok_or(Status::BAD_PARAM)
    }

    /// Whether the data lies in the receive buffer.
    pub fn in_place(&self) -> bool {
        self.args.sendbuf == IN_PLACE
    }

    /// Notes a failure of this rank, and goes on.
    fn note(&self, status: Status) {
        if self.failed.get().is_ok() && status.is_err() {
            self.failed.set(status);
        }
    }

    /// Whether data is missing.
    pub fn has_failed(&self) -> bool {
        self.failed.get().is_err()
    }

    /// The error that others hear of. A length that does not fit is told in its own words where it is found.
    fn told(&self) -> Status {
        match self.failed.get() {
            Status::TRUNCATED => Status::MISMATCH,
            status => status,
        }
    }

    /// The answer of a call of an operation that ended so.
    pub fn answer(&self, op: Op, ended: Result) -> Status {
        self.services.tell_algorithm(self.comm, "han", counted::number(op, self.is_below.get()));
        match (self.failed.get(), ended) {
            (Status::OK, Ok(())) => Status::OK,
            (Status::OK, Err(why)) => why,
            (failed, _) => failed,
        }
    }

    /// Runs a collective of a part; `lost`: without data, for that reason.
    fn run(&self, part: Part, which: u32, args: &CollArgs, lost: Status) -> Status {
        let mut view = MaybeUninit::<CollComm>::uninit();
        let seen = (self.services.sub_view)(self.comm, part.0, view.as_mut_ptr());
        if seen.is_err() {
            return seen;
        }
        // SAFETY: filled by the host.
        let view = unsafe { view.assume_init_ref() };
        match lost {
            Status::OK => (self.services.call)(view, which, args),
            error => (self.services.call_lost)(view, which, args, error),
        }
    }

    /// A phase within the node, in which data comes together.
    pub fn in_node(&self, which: u32, args: &CollArgs) {
        self.note(self.run(self.ready.node, which, args, Status::OK));
    }

    /// A phase between the nodes, of the ranks with this rank's number on their nodes. Every node has one.
    pub fn across(&self, which: u32, args: &CollArgs) {
        self.note(self.run(self.ready.across, which, args, self.told()));
    }

    /// A phase within the node, in which the rank of number `from` hands on what came to it.
    pub fn down(&self, from: u32, which: u32, args: &CollArgs) {
        if self.is_alone() {
            return;
        }
        if self.me().local == from && self.has_failed() {
            self.ready.notes(from).write(self.number, self.told());
        }
        self.in_node(which, args);
        if self.me().local != from {
            self.note(self.ready.notes(from).read(self.number));
        }
    }

    /// The whole collective, by the components below.
    pub fn below(&self, which: u32) -> Status {
        self.is_below.set(true);
        self.run(self.ready.all, which, self.args, Status::OK)
    }

    /// Sends a result to a rank of this node, or, if it is missing, that it is.
    pub fn bring(&self, what: Source<'_>, to: u32) {
        let (data, count, dtype) = what.raw();
        if !self.has_failed() {
            return self.note((self.services.send)(self.comm, data, count, dtype, to, TAG));
        }
        let mut request = null_mut();
        let started = (self.services.send_failure)(self.comm, to, TAG, self.told(), &mut request);
        if started.is_ok() {
            (self.services.wait_all)(self.comm, &mut request, 1);
        }
    }

    /// Receives what [`bring`](Call::bring) sends.
    pub fn take(&self, into: Place<'_>, from: u32) {
        let (place, count, dtype) = into.raw();
        self.note((self.services.recv)(self.comm, place, count, dtype, from, TAG, null_mut()));
    }

    /// Temporary memory.
    pub fn scratch(&self, len: u64) -> Result<Lease<'a>> {
        let host = &self.module.host;
        let lease = match usize::try_from(len) {
            Ok(len) => self.module.scratch.lease(len, host),
            Err(_) => Err(Status::OUT_OF_MEMORY),
        };
        lease.inspect_err(|_| host.help("no-memory", &[&len.to_string()]))
    }

    /// The type of the send buffer.
    pub fn sendtype(&self) -> &'a TypeDesc {
        // SAFETY: the collective's own function asks for it, so it is there (`new`).
        unsafe { &*self.args.sendtype }
    }

    /// The type of the receive buffer.
    pub fn recvtype(&self) -> &'a TypeDesc {
        // SAFETY: the collective's own function asks for it, so it is there (`new`).
        unsafe { &*self.args.recvtype }
    }

    /// Whether the operation of a reduction may take its operands in any order.
    pub fn commutes(&self) -> bool {
        // SAFETY: a reduction's function asks for it, so it is there (`new`).
        unsafe { (*self.args.op).commutative != 0 }
    }

    /// `count` elements of the receive buffer.
    pub fn gets(&self, count: u64) -> Place<'a> {
        // SAFETY: the collective's own function asks for as many as there are (`new`).
        unsafe { Place::new(self.args.recvbuf, count, self.recvtype()) }
    }

    /// `count` elements of the send buffer.
    pub fn gives(&self, count: u64) -> Source<'a> {
        // SAFETY: the collective's own function asks for as many as there are (`new`).
        unsafe { Source::new(self.args.sendbuf, count, self.sendtype()) }
    }

    /// This rank's operand of a reduction, wherever it lies.
    pub fn operand(&self) -> Source<'a> {
        let count = self.args.recvcount;
        match self.in_place() {
            true => self.gets(count).source(),
            // SAFETY: a reduction's function asks for it (`new`).
            false => unsafe { Source::new(self.args.sendbuf, count, self.recvtype()) },
        }
    }

    /// How many elements each rank gives.
    pub fn recvcounts(&self) -> &'a [u64] {
        // SAFETY: the collective's function asks for them, so there is one for each rank (`new`).
        unsafe { core::slice::from_raw_parts(self.args.recvcounts, self.comm.num_ranks as usize) }
    }

    /// Where each rank's elements lie in the receive buffer.
    pub fn rdispls(&self) -> &'a [i64] {
        // SAFETY: as `recvcounts`.
        unsafe { core::slice::from_raw_parts(self.args.rdispls, self.comm.num_ranks as usize) }
    }
}
