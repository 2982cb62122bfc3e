//! Point-to-point messages of a communicator, as one local rank sees it. How it comes and goes is in `lifetime`, making new ones in
//! `construct`.
//!
//! **Hot part.** The fields that a send or receive needs lie in the first cache line: the four verbs of the
//! PML, its state, its object for this communicator. The wrappers fill an argument struct on the stack
//! and make one call; waiting, where the PML gave a request, is in [`oxmpi_waiting`].

use crate::info::Info;
use crate::objects::Communicator;
use crate::plan::{assertions, in_force};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::{Message, RecvArgs, SendArgs, mode};
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
    #[allow(clippy::too_many_arguments, reason = "the arguments of MPI_Send")]
    fn send_args(
        &self,
        thread: *mut ThreadCtx,
        buf: *const u8,
        count: u64,
        dtype: &TypeDesc,
        dst: i32,
        tag: i32,
        mode: u32,
    ) -> SendArgs {
        SendArgs {
            comm: self.hot.comm,
            thread,
            buf,
            count,
            dtype,
            dst,
            tag,
            mode,
            reserved: 0,
            host_comm: self.host_comm_ptr(),
        }
    }

    /// Fills the PML's arguments of a receive or probe on this communicator.
    #[inline(always)]
    fn recv_args(
        &self,
        thread: *mut ThreadCtx,
        buf: *mut u8,
        count: u64,
        dtype: &TypeDesc,
        src: i32,
        tag: i32,
    ) -> RecvArgs {
        let host_comm = self.host_comm_ptr();
        RecvArgs { comm: self.hot.comm, thread, buf, count, dtype, src, tag, host_comm }
    }

    /// Starts a send by the PML's blocking verb, without waiting. `None`: the send is complete without an error; else
    /// the request that the caller waits for.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the arguments of MPI_Isend")]
    pub fn start_send(
        &self,
        thread: *mut ThreadCtx,
        buf: *const u8,
        count: u64,
        dtype: &TypeDesc,
        dst: i32,
        tag: i32,
        mode: u32,
    ) -> Result<Option<NonNull<RequestHeader>>, Status> {
        let args = self.send_args(thread, buf, count, dtype, dst, tag, mode);
        let mut req = MaybeUninit::uninit();
        match (self.hot.send)(self.hot.state, &args, req.as_mut_ptr()) {
            Status::OK => Ok(None),
            // SAFETY: the contract: with PENDING comes a request, which is written there.
            Status::PENDING => Ok(Some(unsafe { NonNull::new_unchecked(req.assume_init()) })),
            error => Err(error),
        }
    }

    /// Sends and waits until the buffer may be used again; `mode` is one of [`oxmpi_pml::mode`]. Returns the send's
    /// status.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the arguments of MPI_Send")]
    pub fn send(
        &self,
        thread: *mut ThreadCtx,
        buf: *const u8,
        count: u64,
        dtype: &TypeDesc,
        dst: i32,
        tag: i32,
        mode: u32,
    ) -> Status {
        let args = self.send_args(thread, buf, count, dtype, dst, tag, mode);
        let mut req = MaybeUninit::uninit();
        let status = (self.hot.send)(self.hot.state, &args, req.as_mut_ptr());
        if status != Status::PENDING {
            return status;
        }
        // SAFETY: as above.
        self.finish(thread, unsafe { req.assume_init() }).error
    }

    /// Starts a nonblocking send; the request may be complete already. `mode` is one of [`oxmpi_pml::mode`].
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the arguments of MPI_Isend")]
    pub fn isend(
        &self,
        thread: *mut ThreadCtx,
        buf: *const u8,
        count: u64,
        dtype: &TypeDesc,
        dst: i32,
        tag: i32,
        mode: u32,
    ) -> Result<*mut RequestHeader, Status> {
        let args = self.send_args(thread, buf, count, dtype, dst, tag, mode);
        let mut req = null_mut();
        let status = (self.hot.isend)(self.hot.state, &args, &mut req);
        if status.is_err() { Err(status) } else { Ok(req) }
    }

    /// Starts an empty message that ends its receive with `error`, in place of one whose data does not come. NOT_SUPPORTED: the PML
    /// has no such messages.
    pub fn isend_failure(
        &self,
        thread: *mut ThreadCtx,
        dst: i32,
        tag: i32,
        error: Status,
    ) -> Result<*mut RequestHeader, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        let args = self.send_args(thread, null(), 0, self.instance.byte_type(), dst, tag, mode::STANDARD);
        let mut req = null_mut();
        let status = (pml.table.send_failure)(pml.state, &args, error, &mut req);
        if status.is_err() { Err(status) } else { Ok(req) }
    }

    /// Receives a message, blocking. OK: `status` is filled, and its `error` says how the receive ended (TRUNCATED, for
    /// one); a failure: nothing was received.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "the arguments of MPI_Recv")]
    pub fn recv(
        &self,
        thread: *mut ThreadCtx,
        buf: *mut u8,
        count: u64,
        dtype: &TypeDesc,
        src: i32,
        tag: i32,
        status: &mut MsgStatus,
    ) -> Status {
        let args = self.recv_args(thread, buf, count, dtype, src, tag);
        let mut req = MaybeUninit::uninit();
        let answer = (self.hot.recv)(self.hot.state, &args, status, req.as_mut_ptr());
        if answer != Status::PENDING {
            return answer;
        }
        // SAFETY: as above.
        *status = self.finish(thread, unsafe { req.assume_init() });
        Status::OK
    }

    /// Starts a nonblocking receive; the request may be complete already.
    #[inline(always)]
    pub fn irecv(
        &self,
        thread: *mut ThreadCtx,
        buf: *mut u8,
        count: u64,
        dtype: &TypeDesc,
        src: i32,
        tag: i32,
    ) -> Result<*mut RequestHeader, Status> {
        let args = self.recv_args(thread, buf, count, dtype, src, tag);
        let mut req = null_mut();
        let status = (self.hot.irecv)(self.hot.state, &args, &mut req);
        if status.is_err() { Err(status) } else { Ok(req) }
    }

    /// Waits for a request that nobody else knows, takes its status and releases it.
    #[inline(never)]
    fn finish(&self, thread: *mut ThreadCtx, req: *mut RequestHeader) -> MsgStatus {
        // SAFETY: `self.instance` keeps it alive.
        unsafe { &*self.hot.instance }.wait(thread, req);
        // SAFETY: the request is complete and ours until it is released.
        unsafe {
            let status = (*req).status;
            ((*(*req).ops).release)(req, thread);
            status
        }
    }

    /// Makes a persistent send request, inactive until it is started.
    #[allow(clippy::too_many_arguments, reason = "the arguments of MPI_Send_init")]
    pub fn send_init(
        &self,
        thread: *mut ThreadCtx,
        buf: *const u8,
        count: u64,
        dtype: &TypeDesc,
        dst: i32,
        tag: i32,
        mode: u32,
    ) -> Result<*mut RequestHeader, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        let args = self.send_args(thread, buf, count, dtype, dst, tag, mode);
        let mut req = null_mut();
        let status = (pml.table.send_init)(pml.state, &args, &mut req);
        if status.is_err() { Err(status) } else { Ok(req) }
    }

    /// Makes a persistent receive request, inactive until it is started.
    pub fn recv_init(
        &self,
        thread: *mut ThreadCtx,
        buf: *mut u8,
        count: u64,
        dtype: &TypeDesc,
        src: i32,
        tag: i32,
    ) -> Result<*mut RequestHeader, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        let args = self.recv_args(thread, buf, count, dtype, src, tag);
        let mut req = null_mut();
        let status = (pml.table.recv_init)(pml.state, &args, &mut req);
        if status.is_err() { Err(status) } else { Ok(req) }
    }

    /// Looks once among the arrivals for a message that matches, without progress; true: found, and `status` is filled.
    /// With `message` not null the message is taken out of matching, with null it stays.
    fn look(
        &self,
        thread: *mut ThreadCtx,
        src: i32,
        tag: i32,
        status: &mut MsgStatus,
        message: *mut *mut Message,
    ) -> Result<bool, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        let args = self.recv_args(thread, null_mut(), 0, self.instance.byte_type(), src, tag);
        let answer = (pml.table.probe)(pml.state, &args, status, message);
        if answer.is_err() { Err(answer) } else { Ok(answer == Status::OK) }
    }

    /// Makes one turn of progress, then looks for a message that matches; true: found, and `status` is filled. The
    /// message stays where it is.
    pub fn iprobe(
        &self,
        thread: *mut ThreadCtx,
        src: i32,
        tag: i32,
        status: &mut MsgStatus,
    ) -> Result<bool, Status> {
        self.instance.poll(thread);
        self.look(thread, src, tag, status, null_mut())
    }

    /// Waits until there is a message that matches and fills `status`. The message stays where it is.
    pub fn probe(&self, thread: *mut ThreadCtx, src: i32, tag: i32, status: &mut MsgStatus) -> Status {
        let mut found = Ok(false);
        self.instance.wait_until(thread, || {
            found = self.look(thread, src, tag, status, null_mut());
            found != Ok(false)
        });
        found.err().unwrap_or(Status::OK)
    }

    /// Makes one turn of progress, then looks for a message that matches and takes it out of matching; `None`: there is
    /// none. The message is received by [`Communicator::imrecv`].
    pub fn improbe(
        &self,
        thread: *mut ThreadCtx,
        src: i32,
        tag: i32,
        status: &mut MsgStatus,
    ) -> Result<Option<*mut Message>, Status> {
        self.instance.poll(thread);
        let mut message = null_mut();
        Ok(self.look(thread, src, tag, status, &mut message)?.then_some(message))
    }

    /// Waits until there is a message that matches and takes it out of matching. The message is received by
    /// [`Communicator::imrecv`].
    pub fn mprobe(
        &self,
        thread: *mut ThreadCtx,
        src: i32,
        tag: i32,
        status: &mut MsgStatus,
    ) -> Result<*mut Message, Status> {
        let mut message = null_mut();
        let mut found = Ok(false);
        self.instance.wait_until(thread, || {
            found = self.look(thread, src, tag, status, &mut message);
            found != Ok(false)
        });
        found.map(|_| message)
    }

    /// Starts the receive of a message that `improbe` or `mprobe` has taken out of matching.
    pub fn imrecv(
        &self,
        thread: *mut ThreadCtx,
        message: *mut Message,
        buf: *mut u8,
        count: u64,
        dtype: &TypeDesc,
    ) -> Result<*mut RequestHeader, Status> {
        let pml = self.instance.pml().ok_or(Status::INTERNAL)?;
        let args = self.recv_args(thread, buf, count, dtype, oxmpi_pml::ANY_SOURCE, oxmpi_pml::ANY_TAG);
        let mut req = null_mut();
        let status = (pml.table.imrecv)(pml.state, message, &args, &mut req);
        if status.is_err() { Err(status) } else { Ok(req) }
    }
}

impl std::fmt::Debug for Communicator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (rank {} of {})", self.name(), self.rank(), self.size)
    }
}
