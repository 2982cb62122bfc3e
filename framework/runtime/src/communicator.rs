//! Communicators as one local rank sees them: point-to-point and collectives. Making new ones is in
//! `construct`.
//!
//! **Hot part.** The fields that a send or receive needs lie in the first cache line: the four verbs of the
//! PML, its state, its object for this communicator. The wrappers fill an argument struct on the stack
//! and make one call; waiting, where the PML gave a request, is in [`oxmpi_waiting`].
//!
//! **Life.** MPI handles and pending operations hold [`Arc`]s. When the last goes, or when the instance
//! is finalized, the PML forgets the communicator and the collective modules are given back (once:
//! `closed`). The arrays a [`CommDesc`] points to live until the PML's object is gone, as the contract
//! demands: they are fields of this struct.

use crate::counts::CommCalls;
use crate::gid::Gid;
use crate::group::Group;
use crate::host_requests::partitioned::Meeting;
use crate::info::Info;
use crate::objects::{CollStack, Communicator, Hot, Instance, Remote, Text};
use crate::plan::{Plan, assertions, in_force};
use oxmpi_datatype::TypeDesc;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU64, Ordering};
use oxmpi_mca::{MsgStatus, RequestHeader, Status, StrRef, ThreadCtx};
use oxmpi_pml::{CommDesc, Message, RecvArgs, SendArgs, mode};
use oxmpi_system::locks::Mutex;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null, null_mut};
use std::sync::{Arc, OnceLock};

/// Info key that names the matching engine of a communicator.
const MATCHING_KEY: &str = "oxmpi_matching";

impl Communicator {
    /// Makes a communicator: adds it to the PML and builds its stack of collective components. An error if the calling
    /// rank is not in the plan's group.
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
            truncated: Mutex::new(None),
            calls: CommCalls::default(),
            meeting: OnceLock::new(),
            instance: instance.clone(),
            _matching: matching,
        });
        instance.remember(&communicator);
        Ok(communicator)
    }

    /// Frees the collective modules, keeps the PML's counts and takes the communicator from the PML; later calls do
    /// nothing, nor does one in a forked child.
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

    /// The calling rank's number in the (local) group.
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.hot.rank
    }
    /// The number of ranks in the (local) group.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.size
    }
    /// The group; of an inter-communicator the local one.
    pub fn group(&self) -> &Group {
        &self.group
    }
    /// The global id, equal at all ranks.
    pub fn gid(&self) -> Gid {
        self.gid
    }
    /// The remote group; `None`: it is no inter-communicator.
    pub fn remote_group(&self) -> Option<&Group> {
        self.remote.as_ref().map(|r| &r.group)
    }
    /// The number of ranks that messages may name: those of the remote group, if there is one, else of the group.
    pub fn num_peers(&self) -> u32 {
        self.remote_group().map_or(self.size, Group::size)
    }
    /// The other side of an inter-communicator: remote group and local communicator.
    pub(crate) fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }
    /// The local group of an inter-communicator as a communicator of the library's own; `None`: it is no
    /// inter-communicator.
    pub(crate) fn local(&self) -> Option<&Communicator> {
        self.remote.as_ref().map(|r| &*r.local)
    }
    /// Keeps what is known of a collective's message that was longer than its place, for [`Communicator::take_truncated`].
    #[cold]
    pub(crate) fn note_truncated(&self, status: &MsgStatus) {
        self.truncated.lock().get_or_insert(*status);
    }
    /// Takes what is known of the message by which the last blocking collective failed with TRUNCATED: its `source`, the
    /// bytes of its place, and in `cancelled` those that did not fit. `None`: it was no message (data of this process).
    pub fn take_truncated(&self) -> Option<MsgStatus> {
        let of_local = self.local().and_then(Communicator::take_truncated);
        self.truncated.lock().take().or(of_local)
    }
    /// The internal communicators over which constructors send that only some ranks call, by
    /// [`crate::construct::Wire`].
    pub(crate) fn wires(&self) -> &Mutex<[Option<Arc<Communicator>>; 2]> {
        &self.wires
    }
    /// The instance of the calling rank.
    #[inline(always)]
    pub fn instance(&self) -> &Instance {
        &self.instance
    }
    /// The shared pointer to the instance, for objects that keep it alive.
    pub(crate) fn shared_instance(&self) -> &Arc<Instance> {
        &self.instance
    }
    /// The place where partitioned messages find their partners; made at the first call.
    pub(crate) fn meeting(&self) -> &Meeting {
        self.meeting.get_or_init(Meeting::default)
    }
    /// The context on which this rank prefers to send; `None`: that of its endpoint, or any.
    pub fn hint(&self) -> Option<u32> {
        self.hint
    }
    /// Counts a constructor call on this communicator and returns its number from 0. All ranks make those calls in the
    /// same order, so the number is equal at all.
    pub(crate) fn next_child(&self) -> u64 {
        self.children.fetch_add(1, Ordering::Relaxed)
    }
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
    /// The name that MPI_Comm_get_name returns.
    pub fn name(&self) -> String {
        self.text.lock().name.clone()
    }
    /// Replaces the name that MPI_Comm_get_name returns.
    pub fn set_name(&self, name: &str) {
        name.clone_into(&mut self.text.lock().name);
    }
    /// The value of [`RequestHeader::comm`]: the address of this communicator.
    #[inline(always)]
    pub fn host_comm_ptr(&self) -> *mut c_void {
        self as *const Communicator as *mut c_void
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
