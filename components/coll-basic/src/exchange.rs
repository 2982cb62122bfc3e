//! One call of a collective, and the messages it sends.
//!
//! **Buffers outlive their receives.** A posted receive is always waited for, whatever else fails:
//! its buffer may be the communicator's temporary one or the user's, and neither is ours any more
//! once the call has returned. The point-to-point layer completes receives whose peer is gone. Where a message is refused (no
//! transport reaches its peer), those that were started beside it are cancelled first: nobody may be left to send.
//!
//! **Order.** Collectives of one kind use one tag. Messages from one rank to another are received
//! in the order they were sent, so two calls in a row cannot mix.
//!
//! **Plans.** The same functions make the plans of nonblocking and persistent collectives: what to do follows from
//! the arguments alone, messages go through the services, which then write them down, and work on data goes
//! through [`Local`].

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
}

impl<'a> Call<'a> {
    /// # Safety
    /// All three must be valid for `'a`.
    pub unsafe fn new(module: *const BasicModule, comm: *const CollComm, args: *const CollArgs) -> Call<'a> {
        // SAFETY: the caller's promise; the services live as long as the communicator.
        unsafe { Call { module: &*module, comm: &*comm, services: &*(*comm).services, args: &*args } }
    }

    /// The same collective call with other arguments.
    pub fn with<'b>(&self, args: &'b CollArgs) -> Call<'b>
    where
        'a: 'b,
    {
        Call { module: self.module, comm: self.comm, services: self.services, args }
    }

    /// A step of a collective on an inter-communicator, inside the local group.
    pub fn locally<'b>(&self, args: &'b CollArgs) -> Call<'b>
    where
        'a: 'b,
    {
        // SAFETY: the host gives it with every inter-communicator, for as long as that.
        let comm = unsafe { &*self.comm.local };
        // SAFETY: as in `new`.
        Call { module: self.module, comm, services: unsafe { &*comm.services }, args }
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
        Local::new(self.comm, self.services)
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

    pub fn send(&self, (buf, count, dtype): SendData<'_>, to: u32, tag: i32) -> Result {
        (self.services.send)(self.comm, buf, count, dtype, to, tag).ok().map(drop)
    }

    pub fn recv(&self, (buf, count, dtype): ReceiveData<'_>, from: u32, tag: i32) -> Result {
        (self.services.recv)(self.comm, buf, count, dtype, from, tag, null_mut()).ok().map(drop)
    }

    /// As [`Call::recv`], for a message that has to fill its place: a shorter one is an error. Tells how long it was,
    /// or that it was longer than its place.
    pub fn recv_whole(&self, (buf, count, dtype): ReceiveData<'_>, from: u32, tag: i32) -> (Result, u64) {
        let mut status = MsgStatus::EMPTY;
        let room = dtype.packed.wrapping_mul(count);
        let done = (self.services.recv)(self.comm, buf, count, dtype, from, tag, &mut status).ok();
        match done.and(status.error.ok()) {
            Err(Status::TRUNCATED) => (Err(Status::TRUNCATED), room + 1),
            Err(e) => (Err(e), 0),
            Ok(_) if status.bytes != room => (Err(Status::MISMATCH), status.bytes),
            Ok(_) => (Ok(()), room),
        }
    }

    /// Starts a send, which somebody has to wait for.
    pub fn isend(&self, (buf, count, dtype): SendData<'_>, to: u32, tag: i32) -> Result<*mut RequestHeader> {
        let mut request = null_mut();
        (self.services.isend)(self.comm, buf, count, dtype, to, tag, &mut request).ok()?;
        Ok(request)
    }

    /// Starts a receive, which somebody has to wait for.
    pub fn irecv(
        &self,
        (buf, count, dtype): ReceiveData<'_>,
        from: u32,
        tag: i32,
    ) -> Result<*mut RequestHeader> {
        let mut request = null_mut();
        (self.services.irecv)(self.comm, buf, count, dtype, from, tag, &mut request).ok()?;
        Ok(request)
    }

    /// Waits for all, and releases them.
    pub fn wait_all(&self, requests: &mut [*mut RequestHeader]) -> Result {
        (self.services.wait_all)(self.comm, requests.as_mut_ptr(), requests.len()).ok().map(drop)
    }

    /// Sends and receives at the same time.
    pub fn exchange(&self, out: SendData<'_>, to: u32, into: ReceiveData<'_>, from: u32, tag: i32) -> Result {
        let mut pending = Pending::<1>::new(self);
        pending.recv(into, from, tag)?;
        let sent = self.send(out, to, tag);
        pending.refused = sent.is_err();
        let received = pending.wait();
        sent.and(received)
    }
}

/// Up to `N` requests that a collective waits for together.
pub struct Pending<'a, 'b, const N: usize = WINDOW> {
    call: &'a Call<'b>,
    requests: [*mut RequestHeader; N],
    len: usize,
    /// A message of those that belong together could not be started.
    refused: bool,
}

impl<'a, 'b, const N: usize> Pending<'a, 'b, N> {
    pub fn new(call: &'a Call<'b>) -> Pending<'a, 'b, N> {
        Pending { call, requests: [null_mut(); N], len: 0, refused: false }
    }

    /// Starts a receive; waits for the others first if there is no room.
    pub fn recv(&mut self, into: ReceiveData<'_>, from: u32, tag: i32) -> Result {
        self.room()?;
        let request = self.call.irecv(into, from, tag);
        self.add(request)
    }

    /// Starts a send; waits for the others first if there is no room.
    pub fn send(&mut self, out: SendData<'_>, to: u32, tag: i32) -> Result {
        self.room()?;
        let request = self.call.isend(out, to, tag);
        self.add(request)
    }

    /// Adds a request that was started, or notes that it was refused.
    fn add(&mut self, request: Result<*mut RequestHeader>) -> Result {
        self.requests[self.len] = request.inspect_err(|_| self.refused = true)?;
        self.len += 1;
        Ok(())
    }

    fn room(&mut self) -> Result {
        if self.len == N { self.wait() } else { Ok(()) }
    }

    /// Waits for all that were started, and cancels them first where one was refused.
    pub fn wait(&mut self) -> Result {
        if self.len == 0 {
            return Ok(());
        }
        let n = core::mem::take(&mut self.len);
        if core::mem::take(&mut self.refused) && self.call.comm.planning == 0 {
            cancel(&self.requests[..n]);
        }
        self.call.wait_all(&mut self.requests[..n])
    }
}

/// Cancels requests that are under way; they are waited for afterwards. Not for plans, whose requests are numbers.
#[cold]
fn cancel(requests: &[*mut RequestHeader]) {
    for &request in requests {
        // SAFETY: live requests of the services, which nobody else has.
        unsafe { ((*(*request).ops).cancel)(request) };
    }
}

impl<const N: usize> Drop for Pending<'_, '_, N> {
    /// After a failure: see the top of the file. The failure itself is on its way already.
    fn drop(&mut self) {
        let _ = self.wait();
    }
}
