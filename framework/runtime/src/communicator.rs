//! Communicators as one local rank sees them: point-to-point and collectives. Making new ones is in
//! `construct`.
//!
//! **Hot part.** The fields that a send or receive needs lie in the first cache line: the four verbs of the
//! PML, its state, its object for this communicator. The wrappers fill an argument struct on the stack
//! and make one call; waiting, where the PML gave a request, is in `progress::wait`.
//!
//! **Life.** MPI handles and pending operations hold [`Arc`]s. When the last goes, or when the instance
//! is finalized, the PML forgets the communicator and the collective modules are given back (once:
//! `closed`). The arrays a [`CommDesc`] points to live until the PML's object is gone, as the contract
//! demands: they are fields of this struct.

use crate::counts::CommCalls;
use crate::error::{Error, ErrorKind};
use crate::gid::Gid;
use crate::group::Group;
use crate::host_requests::partitioned::Meeting;
use crate::info::Info;
use crate::locks::Mutex;
use crate::objects::{CollStack, Communicator, Hot, Instance, Remote, Text};
use crate::plan::{Plan, assertions, in_force};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU64, Ordering};
use oxmpi_mca::{MsgStatus, RequestHeader, Status, StrRef, ThreadCtx};
use oxmpi_pml::{CommDesc, Message, RecvArgs, SendArgs};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null, null_mut};
use std::sync::{Arc, OnceLock};

/// Info key that names the matching engine of a communicator.
const MATCHING_KEY: &str = "oxmpi_matching";

impl Communicator {
    /// Makes it known to the PML and asks the collective components. The calling rank is a member.
    pub(crate) fn make(instance: &Arc<Instance>, plan: Plan) -> Result<Arc<Communicator>, Error> {
        let Some(rank) = plan.group.rank() else {
            return Err(Error::new(ErrorKind::Intern, "a communicator is made for a rank outside its group"));
        };
        let Some(pml) = instance.pml() else {
            return Err(Error::new(ErrorKind::Intern, "there is no point-to-point layer"));
        };
        // The communicator has the group, and that the lists, for as long as the PML has them.
        let peers = plan.remote.as_ref().map_or(&plan.group, |r| &r.group);
        let (procs, endpoints) = (peers.procs(), peers.endpoints());
        let matching = plan.info.get(MATCHING_KEY).unwrap_or_default().to_owned();
        let desc = CommDesc {
            size: size_of::<CommDesc>() as u32,
            flags: assertions(&plan.info),
            gid: plan.gid,
            my_rank: rank as i32,
            num_peers: peers.size(),
            procs: procs.as_ptr(),
            endpoints: if endpoints.is_empty() { null() } else { endpoints.as_ptr() },
            my_endpoint: plan.group.me().endpoint,
            has_fixed_index: plan.fixed_index.is_some().into(),
            fixed_index: plan.fixed_index.unwrap_or(0),
            matching: StrRef::of(&matching),
            fifo_hint: plan.hint.unwrap_or(oxmpi_pml::NO_HINT),
            reserved: 0,
        };
        let mut comm = null_mut();
        let status = (pml.table.add_comm)(pml.state, &desc, &mut comm);
        if status.is_err() {
            return Err(Error::status(status, "the point-to-point layer does not take the communicator"));
        }
        let hot = Hot {
            state: pml.state,
            comm,
            send: pml.table.send,
            isend: pml.table.isend,
            recv: pml.table.recv,
            irecv: pml.table.irecv,
            instance: Arc::as_ptr(instance),
            rank,
        };
        let num_remote = plan.remote.as_ref().map_or(0, |r| r.group.size());
        let communicator = Arc::new(Communicator {
            hot,
            size: plan.group.size(),
            gid: plan.gid,
            coll: match plan.bare {
                true => CollStack::none(instance),
                false => CollStack::build(instance, &plan, rank, num_remote),
            },
            group: plan.group,
            remote: plan.remote,
            hint: plan.hint,
            wires: Mutex::new([None, None]),
            children: AtomicU64::new(0),
            text: Mutex::new(Text { name: plan.name, info: plan.info }),
            closed: AtomicBool::new(false),
            reading: Mutex::new(()),
            calls: CommCalls::default(),
            meeting: OnceLock::new(),
            instance: instance.clone(),
            _matching: matching,
        });
        instance.remember(&communicator);
        Ok(communicator)
    }

    /// Gives everything back to the components; later calls do nothing.
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) || self.instance.in_child() {
            return;
        }
        self.coll.free();
        if let Some(counts) = self.ask_counts() {
            self.instance.keep_counts(&counts);
        }
        let _nobody_reads = self.reading.lock();
        if let Some(meeting) = self.meeting.get() {
            meeting.close();
        }
        if let Some(pml) = self.instance.pml() {
            let status = (pml.table.del_comm)(pml.state, self.hot.comm);
            if status.is_err() {
                self.instance.logger().warn("pml", &format!("communicator {}: {status}", self.name()));
            }
        }
    }

    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.hot.rank
    }
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.size
    }
    pub fn group(&self) -> &Group {
        &self.group
    }
    pub fn gid(&self) -> Gid {
        self.gid
    }
    /// The remote group of an inter-communicator.
    pub fn remote_group(&self) -> Option<&Group> {
        self.remote.as_ref().map(|r| &r.group)
    }
    /// Ranks that messages may name: of the remote group, if there is one.
    pub fn num_peers(&self) -> u32 {
        self.remote_group().map_or(self.size, Group::size)
    }
    pub(crate) fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }
    /// An inter-communicator's local group as a communicator.
    pub(crate) fn local(&self) -> Option<&Communicator> {
        self.remote.as_ref().map(|r| &*r.local)
    }
    pub(crate) fn wires(&self) -> &Mutex<[Option<Arc<Communicator>>; 2]> {
        &self.wires
    }
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }
    pub(crate) fn shared_instance(&self) -> &Arc<Instance> {
        &self.instance
    }
    pub(crate) fn meeting(&self) -> &Meeting {
        self.meeting.get_or_init(Meeting::default)
    }
    /// The context that messages of this rank prefer; `None`: that of its endpoint, or any.
    pub fn hint(&self) -> Option<u32> {
        self.hint
    }
    pub(crate) fn next_child(&self) -> u64 {
        self.children.fetch_add(1, Ordering::Relaxed)
    }
    /// The hints in force.
    pub fn info(&self) -> Info {
        in_force(&self.text.lock().info)
    }
    /// Adds hints. The PML learns of assertions at once; one that takes them with new communicators only
    /// (MPI_Comm_dup_with_info) loses nothing but what they would make cheaper.
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
    pub fn name(&self) -> String {
        self.text.lock().name.clone()
    }
    pub fn set_name(&self, name: &str) {
        name.clone_into(&mut self.text.lock().name);
    }
    /// The value of [`RequestHeader::comm`]: the address of this communicator.
    #[inline(always)]
    pub fn host_comm_ptr(&self) -> *mut c_void {
        self as *const Communicator as *mut c_void
    }

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

    /// Starts a send. `None`: it is complete, and nothing went wrong.
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

    /// Blocking send; `mode` is one of [`oxmpi_pml::mode`].
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

    /// Nonblocking send. The request may be complete already.
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

    /// Blocking receive. OK: `status` is filled, look at its `error` (TRUNCATED, for one); a
    /// failure: nothing was received.
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

    /// Nonblocking receive.
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

    /// Waits for a request that nobody else knows, takes its status and gives it back.
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

    /// Persistent send, inactive.
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

    /// Persistent receive, inactive.
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

    /// Looks once for a message; `message` null: it stays where it is.
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

    /// Progresses once, then looks.
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

    /// Blocks until there is a message.
    pub fn probe(&self, thread: *mut ThreadCtx, src: i32, tag: i32, status: &mut MsgStatus) -> Status {
        let mut found = Ok(false);
        self.instance.wait_until(thread, || {
            found = self.look(thread, src, tag, status, null_mut());
            found != Ok(false)
        });
        found.err().unwrap_or(Status::OK)
    }

    /// As `iprobe`, and takes the message out of matching.
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

    /// As `probe`, and takes the message out of matching.
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

    /// Receives a message that `improbe` or `mprobe` took out.
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

impl Drop for Communicator {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for Communicator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (rank {} of {})", self.name(), self.rank(), self.size)
    }
}
