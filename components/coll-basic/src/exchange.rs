//! One call of a collective, and the messages it sends.
//!
//! **Buffers outlive their receives.** A posted receive is always waited for, whatever else fails:
//! its buffer may be the communicator's temporary one or the user's, and neither is ours any more
//! once the call has returned. The point-to-point layer completes receives whose peer is gone.
//!
//! **Failures.** A message that fails (no transport reaches its peer, say) does not end the call of this rank: the others go on
//! by the pattern of the algorithm and wait for its messages, also those that never speak to the peer that is not reached. So a call notes its
//! first failure, follows the rest of its pattern, and returns the failure in the end ([`Failure`]). From the first receive that failed
//! on, what this rank would send rests on data that it has not: in place of each message goes one that ends its receive with the
//! error, so that every rank whose result depends on what is missing returns an error, too, by however many ranks it would have come. A
//! send that is refused spoils nothing: its receiver, which is not reached either way, refuses the receive and tells its own.
//! Work on data that did not come is left undone: operations of the user would be given garbage.
//! No message is ever left over, since every rank has sent and received what its pattern says; so a second call begins as the first
//! did and ends like it.
//!
//! **Order.** Collectives of one kind use one tag. Messages from one rank to another are received
//! in the order they were sent, so two calls in a row cannot mix.
//!
//! **Plans.** The same functions make the plans of nonblocking and persistent collectives: what to do follows from
//! the arguments alone, messages go through the services, which then write them down, and work on data goes
//! through [`Local`].

use crate::algorithm::Algorithm;
use crate::module::BasicModule;
use core::ops::Range;
use core::ptr::null_mut;
use oxmpi_coll::{CollArgs, CollComm, CollServices, FIRST_TAG, Neighbors};
use oxmpi_coll_support::Failure;
use oxmpi_coll_support::Lease;
use oxmpi_coll_support::Local;
use oxmpi_coll_support::layout::distance;
use oxmpi_coll_support::{Place, Source};
use oxmpi_datatype::TypeDesc;
use oxmpi_datatype::kernel::OpDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, Status};

/// Tags of the collectives.
pub mod tag {
    use super::FIRST_TAG;
    pub const BARRIER: i32 = FIRST_TAG;
    pub const BCAST: i32 = FIRST_TAG - 1;
    pub const REDUCE: i32 = FIRST_TAG - 2;
    pub const ALLREDUCE: i32 = FIRST_TAG - 3;
    pub const ALLGATHER: i32 = FIRST_TAG - 4;
    pub const GATHER: i32 = FIRST_TAG - 5;
    pub const SCATTER: i32 = FIRST_TAG - 6;
    pub const ALLTOALL: i32 = FIRST_TAG - 7;
    pub const SCAN: i32 = FIRST_TAG - 8;
    pub const NEIGHBOR: i32 = FIRST_TAG - 9;
    pub const REDUCE_SCATTER: i32 = FIRST_TAG - 10;
}

pub use oxmpi_coll_support::layout::Result;

/// Requests that are pending at once.
pub const WINDOW: usize = 64;

/// A collective in progress.
pub struct Call<'a> {
    module: &'a BasicModule,
    comm: &'a CollComm,
    services: &'a CollServices,
    pub args: &'a CollArgs,
    failure: &'a Failure,
    /// It is the collective that was called, and no phase of one.
    is_whole: bool,
}

impl<'a> Call<'a> {
    /// A call of the host's.
    ///
    /// # Safety
    /// All three pointers are valid for `'a`. The arguments are those of the collective whose function gets the call, as the contract has them
    /// ([`CollArgs`]): what it asks for is there, and its buffers are the call's, and the plan's that it makes.
    pub unsafe fn new(
        module: *const BasicModule,
        comm: *const CollComm,
        args: *const CollArgs,
        failure: &'a Failure,
    ) -> Call<'a> {
        // SAFETY: the caller's promise; the services live as long as the communicator.
        unsafe {
            let services = &*(*comm).services;
            Call { module: &*module, comm: &*comm, services, args: &*args, failure, is_whole: true }
        }
    }

    /// The same collective call with other arguments.
    ///
    /// # Safety
    /// The arguments are as for [`Call::new`].
    pub unsafe fn with<'b>(&self, args: &'b CollArgs) -> Call<'b>
    where
        'a: 'b,
    {
        let Call { module, comm, services, failure, is_whole, .. } = *self;
        Call { module, comm, services, args, failure, is_whole }
    }

    /// A step of a collective on an inter-communicator, inside the local group.
    ///
    /// # Safety
    /// The arguments are as for [`Call::new`], of a collective inside that group.
    pub unsafe fn locally<'b>(&self, args: &'b CollArgs) -> Call<'b>
    where
        'a: 'b,
    {
        // SAFETY: the host gives it with every inter-communicator, for as long as that.
        let comm = unsafe { &*self.comm.local };
        // SAFETY: the host's, as long as the communicator.
        let services = unsafe { &*comm.services };
        Call { module: self.module, comm, services, args, failure: self.failure, is_whole: false }
    }

    /// Tells tools that the collective goes by this algorithm.
    pub fn goes_by(&self, algorithm: Algorithm) {
        if self.is_whole {
            self.services.tell_algorithm(self.comm, "basic", algorithm as u32);
        }
    }

    pub fn is_inter(&self) -> bool {
        self.comm.num_remote != 0
    }

    /// Ranks that messages may name: of the remote group, if there is one.
    pub fn num_peers(&self) -> u32 {
        if self.is_inter() { self.comm.num_remote } else { self.comm.num_ranks }
    }

    /// All peers but this rank.
    pub fn others(&self) -> impl Iterator<Item = u32> + Clone {
        let myself = (!self.is_inter()).then_some(self.comm.rank);
        (0..self.num_peers()).filter(move |peer| Some(*peer) != myself)
    }

    /// Numbers of the rounds in which everybody exchanges with everybody, for [`Call::round`].
    pub fn rounds(&self) -> Range<u32> {
        match self.is_inter() {
            false => 1..self.comm.num_ranks,
            true => 0..self.comm.num_ranks.max(self.comm.num_remote),
        }
    }

    /// To whom we send and from whom we receive in a round, in which they receive from us and send to us; `None`:
    /// this one is not for us. Nobody is in two pairs of a round.
    pub fn round(&self, round: u32) -> Option<(u32, u32)> {
        let (n, rank) = (self.comm.num_ranks, self.comm.rank);
        if !self.is_inter() {
            return Some(((rank + round) % n, (rank + n - round) % n));
        }
        // Those whose ranks have this sum, modulo the larger group's size, are a pair.
        let larger = self.rounds().end;
        let peer = (round + larger - rank) % larger;
        (peer < self.comm.num_remote).then_some((peer, peer))
    }

    pub fn rank(&self) -> u32 {
        self.comm.rank
    }

    pub fn num_ranks(&self) -> u32 {
        self.comm.num_ranks
    }

    /// More ranks than cores; the same answer in all ranks.
    pub fn oversubscribed(&self) -> bool {
        self.comm.oversubscribed != 0
    }

    pub fn root(&self) -> u32 {
        self.args.root as u32
    }

    pub fn module(&self) -> &BasicModule {
        self.module
    }

    /// The type of `recvbuf`.
    pub fn recvtype(&self) -> &'a TypeDesc {
        // SAFETY: the collective's own function asks for it, so it is there (`new`).
        unsafe { &*self.args.recvtype }
    }

    /// The type of `sendbuf`.
    pub fn sendtype(&self) -> &'a TypeDesc {
        // SAFETY: the collective's own function asks for it, so it is there (`new`).
        unsafe { &*self.args.sendtype }
    }

    /// The operation of a reduction.
    pub fn op(&self) -> &'a OpDesc {
        // SAFETY: a reduction's function asks for it, so it is there (`new`).
        unsafe { &*self.args.op }
    }

    /// The neighbors of a neighborhood collective.
    pub fn neighbors(&self) -> &'a Neighbors {
        // SAFETY: such a collective's function asks for them, so they are there (`new`).
        unsafe { &*self.args.neighbors }
    }

    /// The data that this rank gives, where that is one block.
    pub fn gives(&self) -> Source<'a> {
        // SAFETY: the collective's own function asks for it (`new`).
        unsafe { Source::new(self.args.sendbuf, self.args.sendcount, self.sendtype()) }
    }

    /// This rank's operand of a reduction, where it is not given in place.
    pub fn operand(&self) -> Source<'a> {
        // SAFETY: a reduction's function asks for it (`new`); it has as many elements as are received.
        unsafe { Source::new(self.args.sendbuf, self.args.recvcount, self.recvtype()) }
    }

    /// The place of the data that this rank gets, where that is one block.
    pub fn gets(&self) -> Place<'a> {
        self.receives(self.args.recvcount)
    }

    /// The receive buffer of `count` elements, as many as the collective's has.
    pub fn receives(&self, count: u64) -> Place<'a> {
        // SAFETY: the collective's own function asks for it (`new`).
        unsafe { Place::new(self.args.recvbuf, count, self.recvtype()) }
    }

    /// Blocks `first..first + blocks` of the equal ones that are sent, one for each peer or neighbor.
    pub fn blocks_out(&self, first: u32, blocks: u32) -> Source<'a> {
        let (each, dtype) = (self.args.sendcount, self.sendtype());
        let at = first_of(self.args.sendbuf.cast_mut(), dtype, first, each);
        // SAFETY: the collective's own function asks for some of its blocks (`new`).
        unsafe { Source::new(at, u64::from(blocks) * each, dtype) }
    }

    /// Blocks `first..first + blocks` of the equal ones that are received, one for each peer or neighbor.
    pub fn blocks_in(&self, first: u32, blocks: u32) -> Place<'a> {
        let (each, dtype) = (self.args.recvcount, self.recvtype());
        let at = first_of(self.args.recvbuf, dtype, first, each);
        // SAFETY: the collective's own function asks for some of its blocks (`new`).
        unsafe { Place::new(at, u64::from(blocks) * each, dtype) }
    }

    /// Entry of an array with one for each peer.
    fn entry<T: Copy>(array: *const T, peer: u32) -> T {
        // SAFETY: the arrays of the arguments have an entry for each peer or neighbor, and are there where the collective's own function asks for them
        // (`new`).
        unsafe { *array.add(peer as usize) }
    }

    /// The data that goes to a peer, where counts and displacements are given for each.
    pub fn out_block(&self, peer: u32) -> Source<'a> {
        let (count, disp) = (Self::entry(self.args.sendcounts, peer), Self::entry(self.args.sdispls, peer));
        let dtype = self.sendtype();
        let at = self.args.sendbuf.wrapping_offset(distance(dtype, disp));
        // SAFETY: the block of the peer, which the arguments describe (`new`).
        unsafe { Source::new(at, count, dtype) }
    }

    /// The data that comes from a peer, where counts and displacements are given for each.
    pub fn in_block(&self, peer: u32) -> Place<'a> {
        let (count, disp) = (Self::entry(self.args.recvcounts, peer), Self::entry(self.args.rdispls, peer));
        let dtype = self.recvtype();
        let at = self.args.recvbuf.wrapping_offset(distance(dtype, disp));
        // SAFETY: the block of the peer, which the arguments describe (`new`).
        unsafe { Place::new(at, count, dtype) }
    }

    /// As [`Call::out_block`], where types are given, too, and displacements are bytes.
    pub fn typed_out_block(&self, peer: u32) -> Source<'a> {
        let (count, disp) = (Self::entry(self.args.sendcounts, peer), Self::entry(self.args.sdispls, peer));
        let at = self.args.sendbuf.wrapping_offset(disp as isize);
        // SAFETY: the block of the peer and its type, which the arguments describe (`new`).
        unsafe { Source::new(at, count, &*Self::entry(self.args.sendtypes, peer)) }
    }

    /// As [`Call::in_block`], where types are given, too, and displacements are bytes.
    pub fn typed_in_block(&self, peer: u32) -> Place<'a> {
        let (count, disp) = (Self::entry(self.args.recvcounts, peer), Self::entry(self.args.rdispls, peer));
        let at = self.args.recvbuf.wrapping_offset(disp as isize);
        // SAFETY: the block of the peer and its type, which the arguments describe (`new`).
        unsafe { Place::new(at, count, &*Self::entry(self.args.recvtypes, peer)) }
    }

    /// How many elements each rank gets in a reduce_scatter.
    pub fn recvcounts(&self) -> &'a [u64] {
        // SAFETY: such a collective's function asks for them (`new`): one for each rank of the local group.
        unsafe { core::slice::from_raw_parts(self.args.recvcounts, self.comm.num_ranks as usize) }
    }

    /// Work on data in this process.
    #[inline(always)]
    pub fn local(&self) -> Local<'a> {
        Local::new(self.comm, self.services, self.failure)
    }

    /// Temporary memory of `len` bytes.
    pub fn scratch(&self, len: u64) -> Result<Lease<'a>> {
        if self.comm.planning != 0 {
            return self.local().memory(len).map(Lease::of_plan);
        }
        let host = &self.module.host;
        let lease = match usize::try_from(len) {
            Ok(len) => self.module.scratch.lease(len, host),
            Err(_) => Err(Status::OUT_OF_MEMORY),
        };
        lease.inspect_err(|_| host.help("no-memory", &[&len.to_string()]))
    }

    /// Notes a failure, behind which the call goes on; an error of a plan that is made ends the making.
    #[cold]
    fn failed(&self, status: Status, spoils: bool) -> Result {
        if self.comm.planning != 0 {
            return Err(status);
        }
        self.failure.note(status, spoils);
        Ok(())
    }

    /// Starts a message that says that the data of the next one is missing. Null: the peer cannot be told. It knows by itself
    /// then, since it does not reach this rank either.
    #[cold]
    fn tell(&self, to: u32, tag: i32) -> *mut RequestHeader {
        let mut request = null_mut();
        let status = (self.services.send_failure)(self.comm, to, tag, self.failure.told(), &mut request);
        if status.is_err() { null_mut() } else { request }
    }

    /// Sends; the data may change when this returns.
    pub fn send(&self, data: Source<'_>, to: u32, tag: i32) -> Result {
        if self.failure.has_spoiled() {
            return self.wait_all(&mut [self.tell(to, tag)]);
        }
        let (buf, count, dtype) = data.raw();
        let status = (self.services.send)(self.comm, buf, count, dtype, to, tag);
        if status.is_err() { self.failed(status, false) } else { Ok(()) }
    }

    /// Receives.
    pub fn recv(&self, into: Place<'_>, from: u32, tag: i32) -> Result {
        let (buf, count, dtype) = into.raw();
        let status = (self.services.recv)(self.comm, buf, count, dtype, from, tag, null_mut());
        if status.is_err() { self.failed(status, true) } else { Ok(()) }
    }

    /// As [`Call::recv`], for a message that has to fill its place. `Some`: it did not; the error, and how long the message was, or
    /// that it was longer than its place. The caller ends the call with that error, and passes on what came.
    pub fn recv_whole(&self, into: Place<'_>, from: u32, tag: i32) -> Result<Option<(Status, u64)>> {
        let (buf, count, dtype) = into.raw();
        let mut status = MsgStatus::EMPTY;
        let room = dtype.packed.wrapping_mul(count);
        let done = (self.services.recv)(self.comm, buf, count, dtype, from, tag, &mut status).ok();
        match done.and(status.error.ok()) {
            // Nobody is told this error (`Failure::told`): it is this rank's own.
            Err(Status::TRUNCATED) => Ok(Some((Status::TRUNCATED, room + 1))),
            Err(e) => self.failed(e, true).map(|()| None),
            Ok(_) if status.bytes != room => Ok(Some((Status::MISMATCH, status.bytes))),
            Ok(_) => Ok(None),
        }
    }

    /// Starts a send, which somebody has to wait for. Null: it was refused, which is noted.
    fn isend(&self, data: Source<'_>, to: u32, tag: i32) -> Result<*mut RequestHeader> {
        if self.failure.has_spoiled() {
            return Ok(self.tell(to, tag));
        }
        let (buf, count, dtype) = data.raw();
        let mut request = null_mut();
        let status = (self.services.isend)(self.comm, buf, count, dtype, to, tag, &mut request);
        if status.is_err() {
            self.failed(status, false)?;
            return Ok(null_mut());
        }
        Ok(request)
    }

    /// Starts a receive, which somebody has to wait for. Null: it was refused, which is noted.
    fn irecv(&self, into: Place<'_>, from: u32, tag: i32) -> Result<*mut RequestHeader> {
        let (buf, count, dtype) = into.raw();
        let mut request = null_mut();
        let status = (self.services.irecv)(self.comm, buf, count, dtype, from, tag, &mut request);
        if status.is_err() {
            self.failed(status, true)?;
            return Ok(null_mut());
        }
        Ok(request)
    }

    /// Waits for all, of which none is null but a lone one, and releases them.
    fn wait_all(&self, requests: &mut [*mut RequestHeader]) -> Result {
        if let [request] = requests
            && request.is_null()
        {
            return Ok(());
        }
        let status = (self.services.wait_all)(self.comm, requests.as_mut_ptr(), requests.len());
        if status.is_err() { self.failed(status, true) } else { Ok(()) }
    }

    /// Sends and receives at the same time.
    pub fn exchange(&self, out: Source<'_>, to: u32, into: Place<'_>, from: u32, tag: i32) -> Result {
        let mut pending = Pending::<1>::new(self);
        pending.recv(into, from, tag)?;
        self.send(out, to, tag)?;
        pending.wait()
    }
}

/// Address of the first element of block `first` of those with `each` elements.
fn first_of(buf: *mut u8, dtype: &TypeDesc, first: u32, each: u64) -> *mut u8 {
    buf.wrapping_offset(distance(dtype, u64::from(first).wrapping_mul(each).cast_signed()))
}

/// Up to `N` requests that a collective waits for together. Their data outlives it: they are waited for when it goes, whatever else fails.
pub struct Pending<'a, 'b, const N: usize = WINDOW> {
    call: &'a Call<'b>,
    requests: [*mut RequestHeader; N],
    len: usize,
}

impl<'a, 'b, const N: usize> Pending<'a, 'b, N> {
    pub fn new(call: &'a Call<'b>) -> Pending<'a, 'b, N> {
        Pending { call, requests: [null_mut(); N], len: 0 }
    }

    /// Starts a receive; waits for the others first if there is no room.
    pub fn recv(&mut self, into: Place<'a>, from: u32, tag: i32) -> Result {
        self.room()?;
        let request = self.call.irecv(into, from, tag)?;
        self.add(request);
        Ok(())
    }

    /// Starts a send; waits for the others first if there is no room.
    pub fn send(&mut self, out: Source<'a>, to: u32, tag: i32) -> Result {
        self.room()?;
        let request = self.call.isend(out, to, tag)?;
        self.add(request);
        Ok(())
    }

    /// Adds a request that was started.
    fn add(&mut self, request: *mut RequestHeader) {
        if !request.is_null() {
            self.requests[self.len] = request;
            self.len += 1;
        }
    }

    fn room(&mut self) -> Result {
        if self.len == N { self.wait() } else { Ok(()) }
    }

    /// Waits for all that were started.
    pub fn wait(&mut self) -> Result {
        match core::mem::take(&mut self.len) {
            0 => Ok(()),
            n => self.call.wait_all(&mut self.requests[..n]),
        }
    }
}

impl<const N: usize> Drop for Pending<'_, '_, N> {
    /// After an error that ends the call, which is on its way already.
    fn drop(&mut self) {
        let _ = self.wait();
    }
}

/// All requests of a call that starts everything before it waits for anything. Their data outlives it: they are waited for when it goes.
pub struct Flight<'a, 'b> {
    call: &'a Call<'b>,
    few: [*mut RequestHeader; WINDOW],
    /// Where there are more of them.
    many: Vec<*mut RequestHeader>,
    len: usize,
}

impl<'a, 'b> Flight<'a, 'b> {
    /// Room for `most` requests.
    pub fn new(call: &'a Call<'b>, most: usize) -> Flight<'a, 'b> {
        let many = if most > WINDOW { vec![null_mut(); most] } else { Vec::new() };
        Flight { call, few: [null_mut(); WINDOW], many, len: 0 }
    }

    fn requests(&mut self) -> &mut [*mut RequestHeader] {
        if self.many.is_empty() { &mut self.few } else { &mut self.many }
    }

    /// Starts a receive. Panics where there is no room for it.
    pub fn recv(&mut self, into: Place<'a>, from: u32, tag: i32) -> Result {
        assert!(self.len < self.requests().len(), "more requests than there is room for");
        let request = self.call.irecv(into, from, tag)?;
        self.add(request);
        Ok(())
    }

    /// Starts a send. Panics where there is no room for it.
    pub fn send(&mut self, out: Source<'a>, to: u32, tag: i32) -> Result {
        assert!(self.len < self.requests().len(), "more requests than there is room for");
        let request = self.call.isend(out, to, tag)?;
        self.add(request);
        Ok(())
    }

    fn add(&mut self, request: *mut RequestHeader) {
        if !request.is_null() {
            let len = self.len;
            self.requests()[len] = request;
            self.len += 1;
        }
    }

    /// Waits for all that were started.
    pub fn wait(&mut self) -> Result {
        let (n, call) = (core::mem::take(&mut self.len), self.call);
        if n == 0 { Ok(()) } else { call.wait_all(&mut self.requests()[..n]) }
    }
}

impl Drop for Flight<'_, '_> {
    /// After a failure, which is on its way already.
    fn drop(&mut self) {
        let _ = self.wait();
    }
}
