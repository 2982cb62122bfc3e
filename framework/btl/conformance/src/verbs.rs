//! The verbs of a rank's module as checks call them: a context's under its lock, with an endpoint by the number of its rank.
//!
//! Checks name memory of their own in descriptors and wait for the completion before it goes ([`finish`](crate::rma::finish)).

use crate::message::Msg;
use crate::rank::Rank;
use oxmpi_btl::{
    AtomicDesc, Endpoint, FlushDesc, KeptDesc, ListDesc, ProcInfo, ProcList, RegHandle, RmaDesc,
    RmaVectorDesc, SendDesc, WaitSet,
};
use oxmpi_mca::{MemKind, SliceRef, Status};

/// A verb on a context to a rank.
macro_rules! verb {
    ($($name:ident($desc:ty);)*) => {$(
        #[doc = concat!("Calls `", stringify!($name), "` on a context that nobody holds.")]
        pub(crate) fn $name(&self, to: usize, ctx: u32, desc: &$desc) -> Status {
            // SAFETY: the endpoint is this module's and lives as long as the rank; `on` has the context alone; what the descriptor names
            // belongs to the check, which waits for the end.
            self.on(ctx, || unsafe { (self.btl.$name)(self.btl.state, self.endpoint(to), ctx, desc) })
        }
    )*};
}

impl Rank {
    verb! {
        put(RmaDesc);
        get(RmaDesc);
        get_vector(RmaVectorDesc);
        flush(FlushDesc);
        atomic(AtomicDesc);
        list(ListDesc);
        send_kept(KeptDesc);
    }

    /// Sends a message that lives as long as the call, on a context that the caller holds or is inside of.
    pub(crate) fn send_desc(&self, to: usize, ctx: u32, desc: &SendDesc) -> Status {
        // SAFETY: the endpoint lives as long as the rank; the caller has the context.
        unsafe { (self.btl.send)(self.btl.state, self.endpoint(to), ctx, desc) }
    }

    /// Completes what was issued on a context to anybody.
    pub(crate) fn flush_all(&self, ctx: u32, desc: &FlushDesc) -> Status {
        let nobody = core::ptr::null_mut();
        // SAFETY: null stands for everybody; `on` has the context alone.
        self.on(ctx, || unsafe { (self.btl.flush)(self.btl.state, nobody, ctx, desc) })
    }

    /// Announces a sleep on a context.
    pub(crate) fn arm(&self, ctx: u32, set: &mut WaitSet) -> Status {
        // SAFETY: `on` has the context alone; the set lives as long as the call.
        self.on(ctx, || unsafe { (self.btl.arm)(self.btl.state, ctx, set) })
    }

    /// Ends an announcement.
    pub(crate) fn disarm(&self, ctx: u32) {
        // SAFETY: `on` has the context alone.
        self.on(ctx, || unsafe { (self.btl.disarm)(self.btl.state, ctx) })
    }

    /// One progress call of the component on a context that the caller holds.
    pub(crate) fn poll_held(&self, ctx: u32) -> i32 {
        // SAFETY: the caller has the context.
        unsafe { (self.btl.progress)(self.btl.state, ctx) }
    }

    /// Tells a rank what waits for room to it; one thread at a time does.
    pub(crate) fn hold(&self, to: usize, oldest: u64) {
        // SAFETY: the endpoint lives as long as the rank; checks call this from one thread.
        unsafe { (self.btl.hold)(self.btl.state, self.endpoint(to), oldest) }
    }

    /// The word that a rank has told by `hold`.
    pub(crate) fn held(&self, from: usize) -> u64 {
        // SAFETY: the endpoint lives as long as the rank.
        unsafe { (self.btl.held)(self.btl.state, self.endpoint(from)) }
    }

    /// Registers memory with the module.
    pub(crate) fn register(&self, addr: *mut u8, len: u64, access: u32, handle: *mut RegHandle) -> Status {
        // SAFETY: checks give a place for a handle, or null where the module's handles have no bytes.
        unsafe { (self.btl.register_mem)(self.btl.state, addr, len, access, MemKind::HOST, handle) }
    }

    /// Ends a registration by its handle.
    pub(crate) fn deregister(&self, handle: *const RegHandle) -> Status {
        // SAFETY: checks give each handle that `register` wrote once.
        unsafe { (self.btl.deregister_mem)(self.btl.state, handle) }
    }

    /// Meets processes.
    pub fn add_procs(&self, procs: &[ProcInfo]) -> Result<Vec<*mut Endpoint>, Status> {
        // Filled with nonsense, so that an entry nobody wrote is seen by a crash and not by luck.
        let mut endpoints = vec![core::ptr::dangling_mut::<Endpoint>(); procs.len()];
        // SAFETY: the list lives as long as the call, and there is a place for each endpoint.
        match unsafe { (self.btl.add_procs)(self.btl.state, ProcList::of(procs), endpoints.as_mut_ptr()) } {
            Status::OK => Ok(endpoints),
            s => Err(s),
        }
    }

    /// Parts from processes.
    pub fn del_procs(&self, endpoints: &[*mut Endpoint]) -> Status {
        let list = SliceRef { ptr: endpoints.as_ptr(), len: endpoints.len() };
        // SAFETY: checks give endpoints of `add_procs`, each once, and use them no more.
        unsafe { (self.btl.del_procs)(self.btl.state, list) }
    }

    /// The module's last call.
    pub(crate) fn end(&self) -> Status {
        // SAFETY: `finalize` of the rank calls this once, and nothing behind it.
        unsafe { (self.btl.finalize)(self.btl.state) }
    }

    /// Opens the service context.
    pub(crate) fn service_open(&self) -> Status {
        // SAFETY: a verb for any thread.
        unsafe { (self.btl.service_open)(self.btl.state) }
    }

    /// Sends a request on a context that the caller holds.
    pub(crate) fn service_request(&self, to: usize, ctx: u32, desc: &SendDesc) -> Status {
        // SAFETY: the endpoint lives as long as the rank; the caller has the context.
        unsafe { (self.btl.service_request)(self.btl.state, self.endpoint(to), ctx, desc) }
    }

    /// Takes requests; the caller has the service context.
    pub(crate) fn service_poll(&self) -> i32 {
        // SAFETY: the caller has the service context.
        unsafe { (self.btl.service_progress)(self.btl.state) }
    }

    /// Answers a request from inside its receiver, which has the service context.
    pub(crate) fn service_reply(&self, link: u64, desc: &SendDesc) -> Status {
        // SAFETY: the caller has the service context; header and payload live as long as the call.
        unsafe { (self.btl.service_reply)(self.btl.state, link, desc) }
    }

    /// The word that says whether requests may be there.
    pub(crate) fn service_pending(&self) -> *const u32 {
        // SAFETY: a verb for any thread.
        unsafe { (self.btl.service_pending)(self.btl.state) }
    }

    /// Announces a sleep on the service context.
    pub(crate) fn service_arm(&self, set: &mut WaitSet) -> Status {
        // SAFETY: `on_service` has the service context alone; the set lives as long as the call.
        self.on_service(|| unsafe { (self.btl.service_arm)(self.btl.state, set) })
    }

    /// Ends that announcement.
    pub(crate) fn service_disarm(&self) {
        // SAFETY: `on_service` has the service context alone.
        self.on_service(|| unsafe { (self.btl.service_disarm)(self.btl.state) })
    }

    /// Takes requests on the service context.
    pub fn serve(&self) -> i32 {
        self.on_service(|| self.host.serve(|| self.service_poll()))
    }

    pub fn send(&self, to: usize, ctx: u32, msg: &Msg) -> Status {
        self.on(ctx, || self.send_held(to, ctx, msg))
    }

    /// From inside a receive callback, where the context is held already.
    pub fn send_held(&self, to: usize, ctx: u32, msg: &Msg) -> Status {
        msg.describe(|desc| self.send_desc(to, ctx, desc))
    }

    pub fn progress(&self, ctx: u32) -> i32 {
        self.on(ctx, || self.host.turn(ctx, || self.poll_held(ctx)))
    }

    pub fn progress_all(&self) -> i32 {
        (0..self.contexts()).map(|ctx| self.progress(ctx)).sum()
    }

    /// Gives everything back. Runs at the end of every check, too.
    pub fn finalize(&mut self) -> Status {
        if std::mem::replace(&mut self.finalized, true) {
            return Status::OK;
        }
        let status = self.del_procs(&self.endpoints);
        if !status.is_ok() {
            self.host.violation(format!("del_procs: {status}"));
        }
        let status = self.end();
        if !status.is_ok() {
            self.host.violation(format!("finalize: {status}"));
        }
        status
    }
}
