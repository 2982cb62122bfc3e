//! One call of a collective: its communicator, its messages, its work on data.
//!
//! **Blocking and planned.** In a plan the verbs write down what they do otherwise, and the host does it in the same order. An author cannot tell
//! the difference, and cannot look at data, so what is written over these verbs decides by arguments and ranks alone and can stand in both
//! tables. Everything that a step names outlives the plan: the user's buffers and types do by the contract, temporary memory is the plan's
//! ([`Call::make`]), and so is the type of bytes ([`ByteType`]).
//!
//! Where what comes next depends on data, [`Call::learn`] (`learn.rs`) has a function look at it when it is there.
//!
//! **Buffers outlive their receives.** A receive that was started is waited for before the borrow of its place ends: by the verb itself, or by
//! [`Call::together`] when its closure has ended. Nothing that an author holds, and could forget, stands for a receive.
//!
//! **Failures.** A message that fails does not end the call, since other ranks wait for those that come later. The verb notes it
//! and answers OK, and the call returns the first failure in the end. Once a receive has failed work on data is left undone, and each later
//! message is replaced by one that ends its receive with the error. Verbs answer an error where going on is of no use: for wrong
//! arguments, when there is no memory, and when a plan cannot be made.
//!
//! **Tags.** A call has one tag. All messages from one rank to another are received in the order in which they are sent.

use crate::safe::buffers::{Place, Result, Source};
use crate::safe::failure::Failure;
use crate::safe::memory::{Constant, Memory, Span};
use crate::table::{CollComm, CollServices};
use core::marker::PhantomData;
use core::ptr::null_mut;
use oxmpi_datatype::kernel::{OpDesc, reduce};
use oxmpi_datatype::{Base, TypeDesc, pack, unpack};
use oxmpi_mca::{RequestHeader, Status};

/// A collective in progress.
pub struct Call<'a> {
    pub(super) comm: &'a CollComm,
    pub(super) services: &'a CollServices,
    /// MPI_BYTE.
    byte: &'a TypeDesc,
    pub(super) tag: i32,
    pub(super) failure: Failure,
}

/// The operation of a reduction and the type of its operands.
#[derive(Clone, Copy)]
pub struct Op<'a> {
    pub(super) op: &'a OpDesc,
    pub(super) dtype: &'a TypeDesc,
}

impl<'a> Op<'a> {
    pub(super) fn new(op: &'a OpDesc, dtype: &'a TypeDesc) -> Op<'a> {
        Op { op, dtype }
    }

    /// True where operands may change places (MPI 5.0 §6.9.5).
    pub fn commutes(&self) -> bool {
        self.op.commutative != 0
    }
}

/// MPI_BYTE, which lives as long as a call.
pub(super) struct ByteType(Option<TypeDesc>);

impl ByteType {
    pub(super) fn new() -> ByteType {
        ByteType(TypeDesc::basic(Base::BYTE))
    }

    /// The type for a call. A plan keeps one of its own, since its steps name it when the call has returned.
    fn of<'a>(&'a self, comm: &'a CollComm, services: &CollServices) -> Result<&'a TypeDesc> {
        if comm.planning == 0 {
            return self.0.as_ref().ok_or(Status::INTERNAL);
        }
        let byte = TypeDesc::basic(Base::BYTE).ok_or(Status::INTERNAL)?;
        let mut start = null_mut();
        noted((services.memory)(comm, size_of::<TypeDesc>() as u64, &mut start))?;
        let at = start.cast::<TypeDesc>();
        // SAFETY: the plan's memory has room for one and is aligned to 64 bytes; it lives longer than the call.
        unsafe {
            at.write(byte);
            Ok(&*at)
        }
    }
}

/// A step that was written down, or not.
pub(super) fn noted(status: Status) -> Result {
    status.ok().map(drop)
}

impl<'a> Call<'a> {
    /// # Safety
    /// The services of `comm` must live as long as it.
    pub(super) unsafe fn new(comm: &'a CollComm, byte: &'a ByteType, tag: i32) -> Result<Call<'a>> {
        // SAFETY: the caller's promise.
        let services = unsafe { &*comm.services };
        let byte = byte.of(comm, services)?;
        Ok(Call { comm, services, byte, tag, failure: Failure::none() })
    }

    /// The status of a call whose function has returned `done`.
    pub(super) fn outcome(&self, done: Result) -> Status {
        self.failure.outcome(done)
    }

    /// This rank.
    pub fn rank(&self) -> u32 {
        self.comm.rank
    }

    /// Tells tools that this call goes by an algorithm: its number in the list of the component of that name ([`Coll::ALGORITHMS`](crate::Coll::ALGORITHMS)). To be told once for a
    /// call.
    pub fn tell_algorithm(&self, component: &'static str, algorithm: u32) {
        self.services.tell_algorithm(self.comm, component, algorithm);
    }

    /// Ranks of the communicator.
    pub fn num_ranks(&self) -> u32 {
        self.comm.num_ranks
    }

    /// More ranks than cores; the same answer in all ranks.
    pub fn oversubscribed(&self) -> bool {
        self.comm.oversubscribed != 0
    }

    /// Sends, and returns when the data may be changed. BAD_PARAM: there is no such rank. A message that fails is no error here (the file's text).
    pub fn send(&self, data: Source<'_>, to: u32) -> Result {
        self.has(to)?;
        if self.failure.has_spoiled() {
            return self.wait(&mut [self.tell(to)]);
        }
        let (at, count, dtype) = data.raw();
        let status = (self.services.send)(self.comm, at, count, dtype, to, self.tag);
        if status.is_err() { self.failed(status, false) } else { Ok(()) }
    }

    /// Receives, and returns when the data is there. BAD_PARAM: there is no such rank. A message that fails is no error here.
    pub fn recv(&self, mut into: Place<'_>, from: u32) -> Result {
        self.has(from)?;
        let (at, count, dtype) = into.raw();
        let status = (self.services.recv)(self.comm, at, count, dtype, from, self.tag, null_mut());
        if status.is_err() { self.failed(status, true) } else { Ok(()) }
    }

    /// Sends and receives at the same time. BAD_PARAM: there is no such rank.
    pub fn exchange(&self, data: Source<'_>, to: u32, into: Place<'_>, from: u32) -> Result {
        self.has(to)?;
        let receive = self.start_recv(into, from)?;
        let sent = self.send(data, to);
        self.wait(&mut [receive]).and(sent)
    }

    /// Runs `start`, which starts any number of messages, and waits for them all. Buffers are borrowed until then. The error is that of `start`, or
    /// in a plan the host's.
    pub fn together<'b>(&self, start: impl FnOnce(&mut Batch<'_, 'a, 'b>) -> Result) -> Result {
        let mut together = Batch { call: self, requests: Vec::new(), buffers: PhantomData };
        let started = start(&mut together);
        together.wait().and(started)
    }

    /// Copies as a message to oneself does: the types may differ, as long as the bytes are no more than `into` has room for. Otherwise the call
    /// ends with TRUNCATED, in a plan at once. OUT_OF_MEMORY: the plan has no room for the data in between.
    pub fn copy(&self, data: Source<'_>, mut into: Place<'_>) -> Result {
        if data.bytes() > into.bytes() {
            return self.failed(Status::TRUNCATED, true);
        }
        if self.failure.has_spoiled() {
            return Ok(());
        }
        let total = data.bytes();
        if self.comm.planning != 0 {
            return self.copy_later(data.raw(), into.raw(), total);
        }
        // SAFETY: source and place hold their elements, the place has room for all bytes, and the borrows keep them apart.
        unsafe { copy_now(data.raw(), into.raw(), total) };
        Ok(())
    }

    /// `right[i] = left[i] op right[i]`, for operands of the type that the operation came with. BAD_PARAM: they are not, or not equally many.
    pub fn reduce(&self, op: Op<'_>, left: Source<'_>, mut right: Place<'_>) -> Result {
        let ((from, count, from_type), (to, into, into_type)) = (left.raw(), right.raw());
        // A function of the user believes that operands are of the type that it was called for.
        let is_operand = |dtype| core::ptr::eq::<TypeDesc>(dtype, op.dtype);
        if count != into || !is_operand(from_type) || !is_operand(into_type) {
            return Err(Status::BAD_PARAM);
        }
        if self.comm.planning != 0 {
            return noted((self.services.reduce)(self.comm, op.dtype, count, from, to));
        }
        if self.failure.has_spoiled() {
            return Ok(());
        }
        // SAFETY: both hold `count` elements of the type, and the borrows keep them apart.
        let status = unsafe { reduce(op.op, from, to, count, op.dtype) };
        if status.is_err() { self.failed(status, true) } else { Ok(()) }
    }

    /// Temporary memory for so many operands. OUT_OF_MEMORY: there is not so much.
    pub fn operands<'b>(&self, op: Op<'b>, count: u64) -> Result<Memory<'b>> {
        self.make(op.dtype, count)
    }

    /// Temporary memory for packed data, as bytes. OUT_OF_MEMORY: there is not so much.
    pub fn bytes(&self, len: u64) -> Result<Memory<'a>> {
        self.make(self.byte, len)
    }

    /// Memory with these bytes in it, which are only read: numbers of the author's own that go into messages.
    pub fn constant(&self, bytes: &[u8]) -> Result<Constant<'a>> {
        Constant::new(self.bytes(bytes.len() as u64)?, bytes)
    }

    /// The buffers of a message without data: one to send from, one to receive into. It never fails.
    pub fn nothing(&self) -> Result<(Source<'a>, Place<'a>)> {
        // SAFETY: no element, so no byte is read or written.
        unsafe { Ok((Source::new(null_mut(), 0, self.byte)?, Place::new(null_mut(), 0, self.byte)?)) }
    }

    fn make<'b>(&self, dtype: &'b TypeDesc, count: u64) -> Result<Memory<'b>> {
        let span = Span::of(dtype, count)?;
        if self.comm.planning == 0 || span.len == 0 {
            return Memory::allocated(span, dtype, count);
        }
        let mut start = null_mut();
        noted((self.services.memory)(self.comm, span.len, &mut start))?;
        // SAFETY: the host gave memory of that length for the steps of this plan.
        Ok(unsafe { Memory::of_plan(start, span, dtype, count) })
    }

    /// Refuses a rank that the communicator does not have.
    fn has(&self, rank: u32) -> Result {
        if rank < self.comm.num_ranks { Ok(()) } else { Err(Status::BAD_PARAM) }
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
    fn tell(&self, to: u32) -> *mut RequestHeader {
        let mut request = null_mut();
        let status = (self.services.send_failure)(self.comm, to, self.tag, self.failure.told(), &mut request);
        if status.is_err() { null_mut() } else { request }
    }

    /// Null: it was refused, which is noted.
    fn start_send(&self, data: Source<'_>, to: u32) -> Result<*mut RequestHeader> {
        self.has(to)?;
        if self.failure.has_spoiled() {
            return Ok(self.tell(to));
        }
        let ((at, count, dtype), mut request) = (data.raw(), null_mut());
        let status = (self.services.isend)(self.comm, at, count, dtype, to, self.tag, &mut request);
        if status.is_err() {
            self.failed(status, false)?;
            return Ok(null_mut());
        }
        Ok(request)
    }

    /// Null: it was refused, which is noted.
    fn start_recv(&self, mut into: Place<'_>, from: u32) -> Result<*mut RequestHeader> {
        self.has(from)?;
        let ((at, count, dtype), mut request) = (into.raw(), null_mut());
        let status = (self.services.irecv)(self.comm, at, count, dtype, from, self.tag, &mut request);
        if status.is_err() {
            self.failed(status, true)?;
            return Ok(null_mut());
        }
        Ok(request)
    }

    /// Waits for all, of which none is null but a lone one, and releases them.
    fn wait(&self, requests: &mut [*mut RequestHeader]) -> Result {
        if requests.iter().all(|request| request.is_null()) {
            return Ok(());
        }
        let status = (self.services.wait_all)(self.comm, requests.as_mut_ptr(), requests.len());
        if status.is_err() { self.failed(status, true) } else { Ok(()) }
    }

    /// Writes down a copy of `total` bytes of data.
    fn copy_later(
        &self,
        (src, from, from_type): Read<'_>,
        (dst, to, to_type): Written<'_>,
        total: u64,
    ) -> Result {
        let pack = |dst| noted((self.services.pack)(self.comm, from_type, from, src, 0, dst, total));
        let unpack = |src| noted((self.services.unpack)(self.comm, to_type, to, dst, 0, src, total));
        // Contiguous data is packed data.
        if from_type.is_contiguous() {
            return unpack(src);
        }
        if to_type.is_contiguous() {
            return pack(dst);
        }
        let mut between = self.bytes(total)?;
        let (between, ..) = between.place()?.raw();
        pack(between)?;
        unpack(between)
    }
}

/// A source as services take it.
type Read<'a> = (*const u8, u64, &'a TypeDesc);
/// A place as services take it.
type Written<'a> = (*mut u8, u64, &'a TypeDesc);

/// Copies `total` bytes of data.
///
/// # Safety
/// The buffers must hold what their counts and types say, `total` bytes at least, and not overlap.
unsafe fn copy_now((src, from, from_type): Read<'_>, (dst, to, to_type): Written<'_>, total: u64) {
    let mut piece = [0u8; 8192];
    let mut done = 0;
    // SAFETY: the caller's promise; contiguous data is packed data, and a piece is no longer than its memory.
    unsafe {
        if from_type.is_contiguous() {
            unpack(to_type, to, dst, 0, src, total);
            return;
        }
        if to_type.is_contiguous() {
            pack(from_type, from, src, 0, dst, total);
            return;
        }
        while done < total {
            let n = pack(from_type, from, src, done, piece.as_mut_ptr(), piece.len() as u64);
            unpack(to_type, to, dst, done, piece.as_ptr(), n);
            done += n;
        }
    }
}

/// Messages that are under way together, until [`Call::together`] has waited for them.
pub struct Batch<'t, 'a, 'b> {
    call: &'t Call<'a>,
    requests: Vec<*mut RequestHeader>,
    /// The buffers are borrowed for longer than this value is there.
    buffers: PhantomData<&'b mut &'b [u8]>,
}

impl<'b> Batch<'_, '_, 'b> {
    /// Starts to send. BAD_PARAM: there is no such rank.
    pub fn send(&mut self, data: Source<'b>, to: u32) -> Result {
        let request = self.call.start_send(data, to)?;
        self.add(request);
        Ok(())
    }

    /// Starts to receive. BAD_PARAM: there is no such rank.
    pub fn recv(&mut self, into: Place<'b>, from: u32) -> Result {
        let request = self.call.start_recv(into, from)?;
        self.add(request);
        Ok(())
    }

    fn add(&mut self, request: *mut RequestHeader) {
        if !request.is_null() {
            self.requests.push(request);
        }
    }

    fn wait(&mut self) -> Result {
        self.call.wait(&mut core::mem::take(&mut self.requests))
    }
}

impl Drop for Batch<'_, '_, '_> {
    /// After a panic of what started the messages; else there is nothing left to wait for.
    fn drop(&mut self) {
        let _ = self.wait();
    }
}
