//! Point-to-point messages of a communicator, as one local rank sees it. How it comes and goes is in `lifetime`, making new ones in
//! `construct`.
//!
//! **Hot part.** The fields that a send or receive needs lie in the first cache line: the four verbs of the
//! PML, its state, its object for this communicator. The wrappers fill an argument struct on the stack
//! and make one call; waiting, where the PML gave a request, is in [`oxmpi_waiting`].

use crate::info::Info;
use crate::message::{Envelope, RecvBuffer, SendBuffer};
use crate::objects::Communicator;
use crate::plan::{assertions, in_force};
use crate::request::Header;
use oxmpi_mca::{Entry, MsgStatus, RequestHeader, Status};
use oxmpi_pml::{Message, RecvArgs, SendArgs};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null, null_mut};

impl Communicator {
    /// The hints in force, with the defaults of assertions (MPI_Comm_get_info).
    pub fn info(&self) -> Info {
        in_force(&self.text.lock().info)
    }
    /// Adds hints, and tells the PML the assertions if they have changed. A PML that takes assertions with new
    /// communicators only refuses, which costs nothing but what they would make cheaper.
    pub fn set_info(&self, info: &Info) {
        let mut text = self.text.lock();
        let before = assertions(&text.info);
        text.info.merge(info);
        let now = assertions(&text.info);
        // Behind the lock, so that two threads' changes reach the PML in the order in which they were made.
        if before != now
            && let Some(pml) = self.instance.pml()
        {
            let status = (pml.table.set_flags)(pml.state, self.hot.comm, now);
            if status.is_err() {
                self.instance.logger().debug("pml", &format!("communicator {}: {status}", text.name));
            }
        }
    }
    /// Replaces the name that MPI_Comm_get_name returns.
    pub fn set_name(&self, name: &str) {
        name.clone_into(&mut self.text.lock().name);
    }
    /// Fills the PML's arguments of a send on this communicator.
    #[inline(always)]
    fn send_args(&self, entry: &Entry, data: SendBuffer<'_>, to: Envelope) -> SendArgs {
        let (buf, count, dtype) = data.parts();
        SendArgs {
            comm: self.hot.comm,
            thread: entry.thread(),
            buf,
            count,
            dtype,
            dst: to.rank,
            tag: to.tag,
            mode: to.mode,
            reserved: 0,
            host_comm: self.host_comm_ptr(),
        }
    }

    /// Fills the PML's arguments of a receive or probe on this communicator.
    #[inline(always)]
    fn recv_args(&self, entry: &Entry, place: RecvBuffer<'_>, from: Envelope) -> RecvArgs {
        let (buf, count, dtype) = place.parts();
        RecvArgs {
            comm: self.hot.comm,
            thread: entry.thread(),
            buf,
            count,
            dtype,
            src: from.rank,
            tag: from.tag,
            host_comm: self.host_comm_ptr(),
        }
    }

    /// Starts a send by the PML's blocking verb, without waiting. `None`: the send is complete without an error; else
    /// the request that the caller waits for.
    #[inline(always)]
    pub fn start_send(
        &self,
        entry: &mut Entry,
        data: SendBuffer<'static>,
        to: Envelope,
    ) -> Result<Option<Header>, Status> {
        let args = self.send_args(entry, data, to);
        let mut req = MaybeUninit::uninit();
        match (self.hot.send)(self.hot.state, &args, req.as_mut_ptr()) {
            Status::OK => Ok(None),
            // SAFETY: the contract: with PENDING comes a request of the PML's, which is written there.
            Status::PENDING => Ok(Some(unsafe { handed_out(req.assume_init()) })),
            error => Err(error),
        }
    }

    /// Sends and waits until the buffer may be used again. Returns the send's status.
    #[inline(always)]
    pub fn send(&self, entry: &mut Entry, data: SendBuffer<'_>, to: Envelope) -> Status {
        let args = self.send_args(entry, data, to);
        let mut req = MaybeUninit::uninit();
        let status = (self.hot.send)(self.hot.state, &args, req.as_mut_ptr());
        if status != Status::PENDING {
            return status;
        }
        // SAFETY: the contract: with PENDING comes a request of the PML's, which is written there.
        let req = unsafe { handed_out(req.assume_init()) };
        entry.apart(|entry| self.finish(entry, req)).error
    }

    /// Starts a nonblocking send; the request may be complete already.
    #[inline(always)]
    pub fn isend(
        &self,
        entry: &mut Entry,
        data: SendBuffer<'static>,
        to: Envelope,
    ) -> Result<Header, Status> {
        let args = self.send_args(entry, data, to);
        let mut req = null_mut();
        let status = (self.hot.isend)(self.hot.state, &args, &mut req);
        // SAFETY: the contract: without an error comes a request of the PML's.
        if status.is_err() { Err(status) } else { Ok(unsafe { handed_out(req) }) }
    }

    /// Starts an empty message that ends its receive with `error`, in place of one whose data does not come. NOT_SUPPORTED: the PML
    /// has no such messages.
    pub fn isend_failure(&self, entry: &mut Entry, to: Envelope, error: Status) -> Result<Header, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        // SAFETY: no elements.
        let nothing = unsafe { SendBuffer::new(null(), 0, self.instance.byte_type()) };
        let args = self.send_args(entry, nothing, to);
        let mut req = null_mut();
        (pml.table.send_failure)(pml.state, &args, error, &mut req).ok()?;
        // SAFETY: a request of the PML's, or none.
        unsafe { Header::given(req) }
    }

    /// Receives a message, blocking. OK: `status` is filled, and its `error` says how the receive ended (TRUNCATED, for
    /// one); a failure: nothing was received.
    #[inline(always)]
    pub fn recv(
        &self,
        entry: &mut Entry,
        place: RecvBuffer<'_>,
        from: Envelope,
        status: &mut MsgStatus,
    ) -> Status {
        let args = self.recv_args(entry, place, from);
        let mut req = MaybeUninit::uninit();
        let answer = (self.hot.recv)(self.hot.state, &args, status, req.as_mut_ptr());
        if answer != Status::PENDING {
            return answer;
        }
        // SAFETY: the contract: with PENDING comes a request of the PML's, which is written there.
        let req = unsafe { handed_out(req.assume_init()) };
        *status = entry.apart(|entry| self.finish(entry, req));
        Status::OK
    }

    /// Starts a nonblocking receive; the request may be complete already.
    #[inline(always)]
    pub fn irecv(
        &self,
        entry: &mut Entry,
        place: RecvBuffer<'static>,
        from: Envelope,
    ) -> Result<Header, Status> {
        let args = self.recv_args(entry, place, from);
        let mut req = null_mut();
        let status = (self.hot.irecv)(self.hot.state, &args, &mut req);
        // SAFETY: the contract: without an error comes a request of the PML's.
        if status.is_err() { Err(status) } else { Ok(unsafe { handed_out(req) }) }
    }

    /// Waits for a request that nobody else knows, takes its status and releases it.
    #[inline(never)]
    fn finish(&self, entry: &mut Entry, req: Header) -> MsgStatus {
        // SAFETY: `self.instance` keeps it alive.
        unsafe { &*self.hot.instance }.wait(entry, req);
        // SAFETY: complete, and ours until it is released.
        unsafe {
            let status = req.status();
            req.release(entry);
            status
        }
    }

    /// Makes a persistent send request, inactive until it is started.
    pub fn send_init(
        &self,
        entry: &mut Entry,
        data: SendBuffer<'static>,
        to: Envelope,
    ) -> Result<Header, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        let args = self.send_args(entry, data, to);
        let mut req = null_mut();
        (pml.table.send_init)(pml.state, &args, &mut req).ok()?;
        // SAFETY: a request of the PML's, or none.
        unsafe { Header::given(req) }
    }

    /// Makes a persistent receive request, inactive until it is started.
    pub fn recv_init(
        &self,
        entry: &mut Entry,
        place: RecvBuffer<'static>,
        from: Envelope,
    ) -> Result<Header, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        let args = self.recv_args(entry, place, from);
        let mut req = null_mut();
        (pml.table.recv_init)(pml.state, &args, &mut req).ok()?;
        // SAFETY: a request of the PML's, or none.
        unsafe { Header::given(req) }
    }

    /// Looks once among the arrivals for a message that matches, without progress; true: found, and `status` is filled.
    /// With a place in `message` the message is taken out of matching and put there, without one it stays.
    fn look(
        &self,
        entry: &mut Entry,
        from: Envelope,
        status: &mut MsgStatus,
        message: Option<&mut *mut Message>,
    ) -> Result<bool, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        // SAFETY: no elements.
        let nothing = unsafe { RecvBuffer::new(null_mut(), 0, self.instance.byte_type()) };
        let args = self.recv_args(entry, nothing, from);
        let message = message.map_or(null_mut(), core::ptr::from_mut);
        let answer = (pml.table.probe)(pml.state, &args, status, message);
        if answer.is_err() { Err(answer) } else { Ok(answer == Status::OK) }
    }

    /// Makes one turn of progress, then looks for a message that matches; true: found, and `status` is filled. The
    /// message stays where it is.
    pub fn iprobe(&self, entry: &mut Entry, from: Envelope, status: &mut MsgStatus) -> Result<bool, Status> {
        self.instance.poll(entry);
        self.look(entry, from, status, None)
    }

    /// Waits until there is a message that matches and fills `status`. The message stays where it is.
    pub fn probe(&self, entry: &mut Entry, from: Envelope, status: &mut MsgStatus) -> Status {
        let mut found = Ok(false);
        self.instance.wait_until(entry, |entry| {
            found = self.look(entry, from, status, None);
            found != Ok(false)
        });
        found.err().unwrap_or(Status::OK)
    }

    /// Makes one turn of progress, then looks for a message that matches and takes it out of matching; `None`: there is
    /// none. The message is received by [`Communicator::imrecv`].
    pub fn improbe(
        &self,
        entry: &mut Entry,
        from: Envelope,
        status: &mut MsgStatus,
    ) -> Result<Option<Matched>, Status> {
        self.instance.poll(entry);
        let mut message = null_mut();
        let found = self.look(entry, from, status, Some(&mut message))?;
        Ok(found.then_some(Matched(message)))
    }

    /// Waits until there is a message that matches and takes it out of matching. The message is received by
    /// [`Communicator::imrecv`].
    pub fn mprobe(
        &self,
        entry: &mut Entry,
        from: Envelope,
        status: &mut MsgStatus,
    ) -> Result<Matched, Status> {
        let mut message = null_mut();
        let mut found = Ok(false);
        self.instance.wait_until(entry, |entry| {
            found = self.look(entry, from, status, Some(&mut message));
            found != Ok(false)
        });
        found.map(|_| Matched(message))
    }

    /// Starts the receive of a message that `improbe` or `mprobe` of this communicator has taken out of matching.
    pub fn imrecv(
        &self,
        entry: &mut Entry,
        message: Matched,
        place: RecvBuffer<'static>,
    ) -> Result<Header, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        let any = Envelope::new(oxmpi_pml::ANY_SOURCE, oxmpi_pml::ANY_TAG);
        let args = self.recv_args(entry, place, any);
        let mut req = null_mut();
        (pml.table.imrecv)(pml.state, message.0, &args, &mut req).ok()?;
        // SAFETY: a request of the PML's, or none.
        unsafe { Header::given(req) }
    }
}

/// A message that a matched probe took out of matching, until it is received. It belongs to the PML of an instance.
#[derive(Debug)]
pub struct Matched(*mut Message);

// SAFETY: any thread may receive the message (contract of the PML, whose messages are `Send`).
unsafe impl Send for Matched {}
// SAFETY: what is shared only shows its address.
unsafe impl Sync for Matched {}

/// A request that a verb of the PML has handed out.
///
/// # Safety
/// It has.
#[inline(always)]
unsafe fn handed_out(req: *mut RequestHeader) -> Header {
    // SAFETY: never null, and in a pool of the PML's, which stays as long as the instance.
    unsafe { Header::new(NonNull::new_unchecked(req)) }
}

impl std::fmt::Debug for Communicator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (rank {} of {})", self.name(), self.rank(), self.size)
    }
}
