//! The verbs of the contract, handed to the files that do them.

use crate::communicators::comm::Comm;
use crate::ob1::Ob1;
use crate::receive::post::Begun;
use crate::receive::{arrive, streamed};
use crate::state::fifos::FIFO;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_mca::host::am_tag;
use oxmpi_mca::{MsgStatus, RequestHeader, Status};
use oxmpi_pml::{CommDesc, Message, Pml, RecvArgs, SendArgs, Transports, Words};

impl Pml for Ob1 {
    #[inline(always)]
    fn is_threaded(&self) -> bool {
        self.instance().threaded()
    }
    fn enable(&self, transports: &Transports) -> Result<Words, Status> {
        self.instance().enable(transports);
        self.requests().set_owner(core::ptr::from_ref(self).cast_mut().cast());
        let receiver = core::ptr::from_ref(self.receiver()).cast_mut().cast();
        self.instance().host().am_register(am_tag::PML, arrive::entry, receiver).ok()?;
        self.instance().host().am_register_parts(am_tag::PML, streamed::entry_parts).ok()?;
        self.register_layers()?;
        Ok(self.words())
    }
    fn add_comm(&self, desc: &CommDesc) -> Result<*mut c_void, Status> {
        self.receiver().add_communicator(desc).map(|c| c.cast())
    }
    fn del_comm(&self, comm: *mut c_void) -> Status {
        self.receiver().del_communicator(comm.cast::<Comm>())
    }
    #[inline(always)]
    fn send<const SEVERAL: bool>(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        self.sender().send_blocking(args, SEVERAL)
    }
    #[inline(always)]
    fn isend<const SEVERAL: bool>(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        self.sender().send_immediate(args, SEVERAL)
    }
    #[inline(always)]
    fn recv<const SEVERAL: bool>(
        &self,
        args: &RecvArgs,
        status: &mut MsgStatus,
    ) -> Result<*mut RequestHeader, Status> {
        let req = match self.receiver().recv_blocking(args, status, SEVERAL)? {
            Begun::Received => return Ok(null_mut()),
            Begun::Goes(req) => return Ok(req.handle()),
            Begun::Posted(req) => req,
        };
        self.poll_own(args.thread, SEVERAL);
        Ok(self.receiver().received(req, args, status, SEVERAL))
    }
    #[inline(always)]
    fn irecv<const SEVERAL: bool>(&self, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        self.receiver().recv_immediate(args, SEVERAL)
    }
    #[inline(always)]
    fn irecv_among(&self, args: &RecvArgs, out: &mut *mut RequestHeader) -> Status {
        self.receiver().recv_among(args, out)
    }
    fn send_init(&self, args: &SendArgs) -> Result<*mut RequestHeader, Status> {
        self.sender().send_persistent(args)
    }
    fn recv_init(&self, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        self.receiver().recv_persistent(args)
    }
    fn probe(&self, args: &RecvArgs, status: &mut MsgStatus, take: bool) -> Option<*mut Message> {
        self.receiver().look(args, status, take)
    }
    fn imrecv(&self, message: *mut Message, args: &RecvArgs) -> Result<*mut RequestHeader, Status> {
        self.receiver().recv_message(message, args)
    }
    fn after_turn(&self, ctx: u32) -> i32 {
        // SAFETY: the host holds the CRI's lock, or no lock is needed.
        self.go_on(&unsafe { self.instance().inherit(ctx, self.instance().threaded()) })
    }
    fn threads_begin(&self) -> Status {
        self.instance().enable_locking();
        Status::OK
    }
    fn flush(&self) -> Status {
        self.flush_queues()
    }
    fn peer_failed(&self, proc: u32) -> Status {
        self.peers().lose_process(proc)
    }
    fn revoke(&self, comm: *mut c_void) -> Status {
        // SAFETY: the host passes a communicator that is alive.
        self.revoke_communicator(unsafe { Comm::of(comm) })
    }

    fn send_failure(&self, args: &SendArgs, error: Status) -> Result<*mut RequestHeader, Status> {
        self.sender().send_failing(args, error)
    }

    fn set_flags(&self, comm: *mut c_void, flags: u32) -> Status {
        // SAFETY: the host passes a communicator that is alive.
        unsafe { Comm::of(comm) }.set_assertions(flags, self.instance().threaded());
        Status::OK
    }
    fn counts(&self, comm: *mut c_void) -> Option<oxmpi_pml::Counts> {
        // SAFETY: the host passes a communicator that is alive.
        Some(self.receiver().counts(unsafe { Comm::of(comm) }))
    }
    fn measure(&self, on: bool) -> Status {
        self.receiver().measure_matching(on);
        Status::OK
    }

    /// Gives endpoints back and frees what no handle of the host refers to. Requests stay.
    fn finalize(&self) -> Status {
        self.unregister_layers();
        let all = self.instance().hold_all(self.instance().width(), false);
        self.receiver().clear(&all.held(FIFO));
        all.each().for_each(|held| self.requests().forget_retired(&held));
        self.peers().free();
        Status::OK
    }
}
