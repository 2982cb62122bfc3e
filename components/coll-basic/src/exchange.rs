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

use crate::failure::Failure;
use crate::layout::{BYTE, displaced};
use crate::local::Local;
use crate::module::BasicModule;
use crate::scratch::Lease;
use core::ops::Range;
use core::ptr::null_mut;
use oxmpi_coll::{CollArgs, CollComm, CollServices, FIRST_TAG};
use oxmpi_datatype::TypeDesc;
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

pub use crate::layout::Result;

/// Requests that are pending at once.
pub const WINDOW: usize = 64;

/// Data to send: address, count, type.
pub type SendData<'a> = (*const u8, u64, &'a TypeDesc);
/// Where to receive: address, count, type.
pub type ReceiveData<'a> = (*mut u8, u64, &'a TypeDesc);

/// Packed bytes to send.
pub fn out_bytes(buf: *const u8, len: u64) -> SendData<'static> {
    (buf, len, &BYTE)
}

/// Where to receive packed bytes.
pub fn in_bytes(buf: *mut u8, len: u64) -> ReceiveData<'static> {
    (buf, len, &BYTE)
}

/// A collective in progress.
pub struct Call<'a> {
    module: &'a BasicModule,
    comm: &'a CollComm,
    services: &'a CollServices,
    pub args: &'a CollArgs,
    failure: &'a Failure,
}

impl<'a> Call<'a> {
    /// # Safety
    /// All three pointers must be valid for `'a`.
    pub unsafe fn new(
        module: *const BasicModule,
        comm: *const CollComm,
        args: *const CollArgs,
        failure: &'a Failure,
    ) -> Call<'a> {
        // SAFETY: the caller's promise; the services live as long as the communicator.
        unsafe {
            Call { module: &*module, comm: &*comm, services: &*(*comm).services, args: &*args, failure }
        }
    }

    /// The same collective call with other arguments.
    pub fn with<'b>(&self, args: &'b CollArgs) -> Call<'b>
    where
        'a: 'b,
    {
        Call { module: self.module, comm: self.comm, services: self.services, args, failure: self.failure }
    }

    /// A step of a collective on an inter-communicator, inside the local group.
    pub fn locally<'b>(&self, args: &'b CollArgs) -> Call<'b>
    where
        'a: 'b,
    {
        // SAFETY: the host gives it with every inter-communicator, for as long as that.
        let comm = unsafe { &*self.comm.local };
        // SAFETY: as in `new`.
        let services = unsafe { &*comm.services };
        Call { module: self.module, comm, services, args, failure: self.failure }
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
        // SAFETY: valid during the call; asked for only where the collective has it.
        unsafe { &*self.args.recvtype }
    }

    /// The type of `sendbuf`.
    pub fn sendtype(&self) -> &'a TypeDesc {
        // SAFETY: as above.
        unsafe { &*self.args.sendtype }
    }

    /// Entry of an array with one for each peer.
    fn entry<T: Copy>(array: *const T, peer: u32) -> T {
        // SAFETY: the arrays of the arguments have an entry for each peer; asked for only where the
        // collective has them.
        unsafe { *array.add(peer as usize) }
    }

    /// The data that goes to a peer, where counts and displacements are given for each.
    pub fn out_block(&self, peer: u32) -> SendData<'a> {
        let (count, disp) = (Self::entry(self.args.sendcounts, peer), Self::entry(self.args.sdispls, peer));
        let dtype = self.sendtype();
        (displaced(self.args.sendbuf, dtype, disp), count, dtype)
    }

    /// The data that comes from a peer, where counts and displacements are given for each.
    pub fn in_block(&self, peer: u32) -> ReceiveData<'a> {
        let (count, disp) = (Self::entry(self.args.recvcounts, peer), Self::entry(self.args.rdispls, peer));
        let dtype = self.recvtype();
        (displaced(self.args.recvbuf, dtype, disp).cast_mut(), count, dtype)
    }

    /// As [`Call::out_block`], where types are given, too, and displacements are bytes.
    pub fn typed_out_block(&self, peer: u32) -> SendData<'a> {
        let (count, disp) = (Self::entry(self.args.sendcounts, peer), Self::entry(self.args.sdispls, peer));
        // SAFETY: valid during the call.
        let dtype = unsafe { &*Self::entry(self.args.sendtypes, peer) };
        (self.args.sendbuf.wrapping_offset(disp as isize), count, dtype)
    }

    /// As [`Call::in_block`], where types are given, too, and displacements are bytes.
    pub fn typed_in_block(&self, peer: u32) -> ReceiveData<'a> {
        let (count, disp) = (Self::entry(self.args.recvcounts, peer), Self::entry(self.args.rdispls, peer));
        // SAFETY: valid during the call.
        let dtype = unsafe { &*Self::entry(self.args.recvtypes, peer) };
        (self.args.recvbuf.wrapping_offset(disp as isize), count, dtype)
    }

    /// How many elements each rank gets in a reduce_scatter.
    pub fn recvcounts(&self) -> &'a [u64] {
        // SAFETY: one entry per rank of the local group.
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

    pub fn send(&self, (buf, count, dtype): SendData<'_>, to: u32, tag: i32) -> Result {
        if self.failure.has_spoiled() {
            return self.wait_all(&mut [self.tell(to, tag)]);
        }
        let status = (self.services.send)(self.comm, buf, count, dtype, to, tag);
        if status.is_err() { self.failed(status, false) } else { Ok(()) }
    }

    pub fn recv(&self, (buf, count, dtype): ReceiveData<'_>, from: u32, tag: i32) -> Result {
        let status = (self.services.recv)(self.comm, buf, count, dtype, from, tag, null_mut());
        if status.is_err() { self.failed(status, true) } else { Ok(()) }
    }

    /// As [`Call::recv`], for a message that has to fill its place. `Some`: it did not; the error, and how long the message was, or
    /// that it was longer than its place. The caller ends the call with that error, and passes on what came.
    pub fn recv_whole(
        &self,
        (buf, count, dtype): ReceiveData<'_>,
        from: u32,
        tag: i32,
    ) -> Result<Option<(Status, u64)>> {
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
    pub fn isend(&self, (buf, count, dtype): SendData<'_>, to: u32, tag: i32) -> Result<*mut RequestHeader> {
        if self.failure.has_spoiled() {
            return Ok(self.tell(to, tag));
        }
        let mut request = null_mut();
        let status = (self.services.isend)(self.comm, buf, count, dtype, to, tag, &mut request);
        if status.is_err() {
            self.failed(status, false)?;
            return Ok(null_mut());
        }
        Ok(request)
    }

    /// Starts a receive, which somebody has to wait for. Null: it was refused, which is noted.
    pub fn irecv(
        &self,
        (buf, count, dtype): ReceiveData<'_>,
        from: u32,
        tag: i32,
    ) -> Result<*mut RequestHeader> {
        let mut request = null_mut();
        let status = (self.services.irecv)(self.comm, buf, count, dtype, from, tag, &mut request);
        if status.is_err() {
            self.failed(status, true)?;
            return Ok(null_mut());
        }
        Ok(request)
    }

    /// Waits for all, of which none is null but a lone one, and releases them.
    pub fn wait_all(&self, requests: &mut [*mut RequestHeader]) -> Result {
        if let [request] = requests
            && request.is_null()
        {
            return Ok(());
        }
        let status = (self.services.wait_all)(self.comm, requests.as_mut_ptr(), requests.len());
        if status.is_err() { self.failed(status, true) } else { Ok(()) }
    }

    /// Sends and receives at the same time.
    pub fn exchange(&self, out: SendData<'_>, to: u32, into: ReceiveData<'_>, from: u32, tag: i32) -> Result {
        let mut pending = Pending::<1>::new(self);
        pending.recv(into, from, tag)?;
        self.send(out, to, tag)?;
        pending.wait()
    }
}

/// Up to `N` requests that a collective waits for together.
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
    pub fn recv(&mut self, into: ReceiveData<'_>, from: u32, tag: i32) -> Result {
        self.room()?;
        let request = self.call.irecv(into, from, tag)?;
        self.add(request);
        Ok(())
    }

    /// Starts a send; waits for the others first if there is no room.
    pub fn send(&mut self, out: SendData<'_>, to: u32, tag: i32) -> Result {
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
