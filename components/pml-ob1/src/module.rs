//! The verbs of the contract, handed to the files that do them.

use crate::receive::arrive;
use crate::receive::streamed;
use crate::state::fifos::FIFO;
use crate::state::instance::Ob1;
use crate::state::objects::Comm;
use crate::state::transport::Transport;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_btl::WaitSet;
use oxmpi_mca::host::am_tag;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::{CommDesc, Message, Pml, RecvArgs, SendArgs, Transports};

impl Pml for Ob1 {
    #[inline(always)]
    fn is_threaded(&self) -> bool {
        self.threaded()
    }
    fn enable(&self, transports: &Transports) -> Result<u64, Status> {
        // SAFETY: the host's list; accepted handles live as long as the instance.
        let btls = unsafe { transports.btls.get() }.iter().map(|&btl| unsafe { &*btl });
        let sorted: Vec<Transport> = btls.map(|btl| Transport { btl, own: btl.name() == "self" }).collect();
        let polled = sorted.iter().fold(0, |set, t| set | 1 << t.btl.index);
        self.services.set(transports.services);
        if sorted.len() > 64 || self.btls.set(sorted).is_err() {
            return Err(Status::BAD_PARAM);
        }
        let mut others = self.transports().iter().filter(|t| !t.own);
        if let (Some(only), None) = (others.next(), others.next()) {
            self.lone.store(core::ptr::from_ref(only.btl).cast_mut(), Ordering::Relaxed);
        }
        // As many as the widest has: to a peer there are as many as its transport has (`width_to`).
        let contexts = self.transports().iter().map(|t| t.btl.attrs().contexts.max(1)).max().unwrap_or(1);
        self.width.store(self.host.num_cris().min(contexts).max(1), Ordering::Relaxed);
        self.careful.store(self.host.threaded() as u32, Ordering::Relaxed);
        self.host.am_register(am_tag::PML, arrive::entry, self as *const Ob1 as *mut c_void).ok()?;
        self.host.am_register_parts(am_tag::PML, streamed::entry_parts).ok()?;
        Ok(polled)
    }
    fn add_comm(&self, desc: &CommDesc) -> Result<*mut c_void, Status> {
        self.add_communicator(desc).map(|c| c.cast())
    }
    fn del_comm(&self, comm: *mut c_void) -> Status {
        self.del_communicator(comm.cast::<Comm>())
    }
    #[inline(always)]
    fn send<const SEVERAL: bool>(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        self.send_blocking(args, SEVERAL)
    }
    #[inline(always)]
    fn isend<const SEVERAL: bool>(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        self.send_immediate(args, SEVERAL)
    }
    #[inline(always)]
    fn recv<const SEVERAL: bool>(
        &self,
        args: &RecvArgs,
        status: &mut MsgStatus,
    ) -> Result<*mut RequestHeader, Status> {
        self.recv_blocking(args, status, SEVERAL)
    }
    #[inline(always)]
    fn irecv<const SEVERAL: bool>(&self, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        self.recv_immediate(args, SEVERAL)
    }
    #[inline(always)]
    fn irecv_among(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        self.recv_among(args, out)
    }
    fn send_init(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        self.send_persistent(args)
    }
    fn recv_init(&self, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        self.recv_persistent(args)
    }
    fn probe(&self, args: &RecvArgs, status: &mut MsgStatus, take: bool) -> Option<*mut Message> {
        self.look(args, status, take)
    }
    fn imrecv(&self, message: *mut Message, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        self.recv_message(message, args)
    }
    #[inline(always)]
    fn progress(&self, thread: *mut ThreadCtx) -> i32 {
        self.poll(thread)
    }
    fn progress_context(&self, thread: *mut ThreadCtx, ctx: u32) -> i32 {
        self.poll_context(thread, ctx)
    }
    fn arm(&self, thread: *mut ThreadCtx, set: &mut WaitSet) -> Status {
        self.arm_transports(thread, set)
    }
    fn disarm(&self, thread: *mut ThreadCtx) {
        self.disarm_transports(thread)
    }
    fn threads_begin(&self) -> Status {
        self.enable_locking();
        Status::OK
    }
    fn flush(&self) -> Status {
        self.flush_queues()
    }
    fn peer_failed(&self, proc: u32) -> Status {
        self.lose_process(proc)
    }
    fn revoke(&self, comm: *mut c_void) -> Status {
        // SAFETY: the host passes a communicator that is alive.
        self.revoke_communicator(unsafe { Comm::of(comm) })
    }

    fn send_failure(&self, args: &SendArgs, error: Status) -> Result<*mut RequestHeader, Status> {
        self.send_failing(args, error)
    }

    fn set_flags(&self, comm: *mut c_void, flags: u32) -> Status {
        // SAFETY: the host passes a communicator that is alive.
        unsafe { Comm::of(comm) }.set_assertions(flags, self.threaded());
        Status::OK
    }
    fn counts(&self, comm: *mut c_void) -> Option<oxmpi_pml::Counts> {
        let mut sum = oxmpi_pml::Counts::default();
        let mut home = 0;
        // SAFETY: the host passes a communicator that is alive.
        let comm = unsafe { Comm::of(comm) };
        comm.shards.each(self.threaded(), |shard| {
            sum.unexpected += shard.waiting.kept;
            sum.posted += shard.posted(home);
            sum.posted_now += shard.engine.posted_len() as u64;
            if shard.spreading.home {
                sum.spreads = shard.spreading.count;
                home = shard.stamp;
                (sum.waiting, sum.most_waiting) = (shard.waiting.now(), shard.waiting.most());
            }
        });
        for kept in comm.all_inbound().map(|i| i.with(|s| s.kept())) {
            sum.out_of_sequence += kept.all;
            sum.out_of_sequence_now += kept.now;
            sum.most_out_of_sequence = sum.most_out_of_sequence.max(kept.most);
        }
        sum.match_time = self.match_time();
        Some(sum)
    }
    fn measure(&self, on: bool) -> Status {
        self.measure_matching(on);
        Status::OK
    }

    /// Gives endpoints back and frees what no handle of the host refers to. Requests stay.
    fn finalize(&self) -> Status {
        let all = self.hold_all(self.width(), false);
        self.comms.with(&all.held(FIFO), |t| t.clear());
        all.each().for_each(|held| self.forget_retired(&held));
        for slot in self.peers.iter() {
            let peer = slot.swap(null_mut(), Ordering::AcqRel);
            // SAFETY: peers stay until here.
            let Some(first) = (unsafe { peer.as_ref() }) else { continue };
            let base = core::ptr::from_ref(first.base).cast_mut();
            // SAFETY: made by Box::into_raw or Box::leak; this is the last call. FIFO 0 is among the flows.
            unsafe {
                for flow in (*base).flows.iter().map(|f| f.swap(null_mut(), Ordering::AcqRel)) {
                    if !flow.is_null() {
                        drop(Box::from_raw(flow));
                    }
                }
                drop(Box::from_raw(base));
            }
        }
        Status::OK
    }
}
