//! Emulation of one-sided verbs: for a transport that lacks put, get, atomics or flush and has service links, the
//! host carries them out by requests that the target's service context serves.
//!
//! Map: `verbs` (the handle with the missing verbs), `refusals` (those that nobody calls there) · `emulated` (all such handles). Requests, and what they do at the target, are
//! in `oxmpi_emulation`; the service context, its lock and its helper in `crate::service`.
//!
//! **Users.** One-sided components reach processes by [`Instance::btl_services_for_rma`], whose answers have
//! emulated handles in the place of those that need it. The point-to-point layer gets the transports as they are.
//!
//! **Opening.** A process opens its service context when it first registers memory with an emulated transport: nobody
//! can ask it for anything before, since requests name registrations.

pub(crate) mod emulated;
mod refusals;
mod verbs;

use crate::objects::{Instance, Reached, Wrapped};
use oxmpi_btl::{BtlHandle, BtlServices, Listener, Reach, Registration, SERVICE_CTX, SendDesc, cap};
use oxmpi_emulation::requester::Endpoint;
use oxmpi_emulation::target::payload_limits;
use oxmpi_emulation::wire::{self, Reply};
use oxmpi_mca::host::receive;
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{AmEntry, Cris, Entry, RecvDesc, SliceRef, Status, ThreadCtx};
use std::ffi::c_void;
use std::sync::OnceLock;

impl Instance {
    /// The services around transports for one-sided components: `reach` answers with transports that have all
    /// one-sided verbs where they can be had, native ones before emulated ones. Valid for the life of the instance.
    pub fn btl_services_for_rma(&self) -> *const BtlServices {
        let make = || {
            // SAFETY: the host's own table.
            let plain = unsafe { &*self.btl_services() };
            Box::new(BtlServices {
                size: size_of::<BtlServices>() as u32,
                reserved: 0,
                reach,
                listen,
                ..*plain
            })
        };
        &raw const **self.emulation().services.get_or_init(make)
    }

    /// The transports that reach a process, those with the fewest emulated verbs first.
    pub(crate) fn reach_for_rma(&self, proc: u32) -> Result<SliceRef<Reach>, Status> {
        let plain = self.reach(proc)?;
        let mut reached = self.emulation().reached.lock();
        let Reached { by_proc, endpoints } = &mut *reached;
        let found = by_proc.entry(proc).or_insert_with(|| {
            // SAFETY: the list stays as long as the instance.
            let plain = unsafe { plain.get() };
            let mut all: Vec<Reach> = plain.iter().map(|r| self.with_all_verbs(r, proc, endpoints)).collect();
            all.sort_by_key(|r| r.btl().emulated.count_ones());
            all.into()
        });
        // The box stays where it is.
        Ok(SliceRef { ptr: found.as_ptr(), len: found.len() })
    }

    /// The answer for one transport that reaches `proc`: emulated in its place if it lacks verbs, with an endpoint
    /// that `endpoints` keeps.
    #[allow(clippy::vec_box, reason = "their addresses are in use")]
    fn with_all_verbs(&self, plain: &Reach, proc: u32, endpoints: &mut Vec<Box<Endpoint>>) -> Reach {
        let raw = plain.btl();
        let Some(wrapped) = self.wrapped(raw) else { return *plain };
        // SAFETY: what the transport answered for the process.
        let mut endpoint = Box::new(unsafe { wrapped.endpoint(plain.endpoint, proc) });
        let reach = Reach { btl: &raw const wrapped.handle, endpoint: (&raw mut *endpoint).cast(), ..*plain };
        endpoints.push(endpoint);
        reach
    }

    /// The emulated transport over `raw`, made at the first call. `None`: it has all verbs, or cannot have them.
    fn wrapped(&self, raw: &BtlHandle) -> Option<&Wrapped> {
        if !Wrapped::is_for(raw) {
            return None;
        }
        let count = self.parts().map_or(0, |parts| parts.btls().len());
        let all = self.emulation().wrapped.get_or_init(|| (0..count).map(|_| OnceLock::new()).collect());
        let wrapped = all.get(raw.index as usize)?.get_or_init(|| {
            self.look_when_idle();
            Wrapped::new(self, raw)
        });
        Some(wrapped)
    }

    /// Registers the progress function by which waiters look after service contexts and emulated operations in idle
    /// turns; the first time only.
    pub(crate) fn look_when_idle(&self) {
        let mut opening = self.service().opening.lock();
        if !std::mem::replace(&mut opening.looking, true) {
            // SAFETY: the function takes an instance, which clears its engine before it goes.
            unsafe {
                self.waiting().engine().register_idle(idle, std::ptr::from_ref(self).cast_mut().cast())
            };
        }
    }

    /// Sets the receiver of requests and replies of emulated verbs, and asks to hear of failures. Before the first progress.
    pub(crate) fn take_requests(&self) {
        let entry = AmEntry { receive: take, ctx: std::ptr::from_ref(self).cast_mut().cast() };
        // It is the first to take a tag, and to subscribe.
        let _ = self.am_table().set(wire::TAG, entry);
        // SAFETY: the function takes an instance, in any thread.
        let _ = unsafe { self.subscribe_to_failures(fail, entry.ctx) };
    }

    /// Goes on with operations for which no reply is due, because they found no room or their peer has failed. False:
    /// there is still no room, look again. Each context is entered for that, and its lock taken from its owner.
    fn settle_emulated(&self, entry: &mut Entry) -> bool {
        let (mut all, cris) = (true, Cris::new(self.cris()));
        for wrapped in self.emulation().all() {
            for ctx in 0..wrapped.contexts() {
                let Some((context, route)) = wrapped.context(ctx) else { continue };
                let _held = (ctx < cris.len()).then(|| cris.hold(entry, ctx));
                context.settle(route);
                all &= !context.needs_attention();
            }
        }
        all
    }

    /// Fails the emulated operations to a process that has failed: those under way complete with PEER_FAILED in idle
    /// turns of whoever waits, and later ones answer so. Any thread, holding no lock.
    pub fn fail_emulated(&self, proc: u32) {
        for endpoint in self.emulation().reached.lock().endpoints.iter().filter(|e| e.proc == proc) {
            endpoint.set_failed();
        }
        self.service().ask_attention();
    }

    /// Ends all emulated operations that are under way, as failed. No other thread is in the library any more.
    pub(crate) fn end_emulation(&self) {
        for endpoint in &self.emulation().reached.lock().endpoints {
            endpoint.set_failed();
        }
        for wrapped in self.emulation().all() {
            for (context, route) in (0..wrapped.contexts()).filter_map(|ctx| wrapped.context(ctx)) {
                context.settle(route);
            }
        }
    }
}

/// The progress function of idle turns: goes on with emulated operations that ask for it, and serves requests. Returns
/// the number of events.
extern "C" fn idle(ctx: *mut c_void, _: *mut ThreadCtx) -> i32 {
    // SAFETY: registered with the instance, which outlives its progress.
    let instance = unsafe { &*(ctx as *const Instance) };
    let service = &instance.service();
    if service.attention.load(Ordering::Acquire) != 0 {
        service.attention.store(0, Ordering::Relaxed);
        // SAFETY: a turn calls this, which has borrowed the thread's entry. Without its seat, which has nothing to do with contexts that are others'.
        if !instance.settle_emulated(&mut unsafe { instance.entry(std::ptr::null_mut()) }) {
            service.ask_attention();
        }
    }
    service.look()
}

/// Fails the emulated operations to a process that has failed; a subscriber of failures.
extern "C" fn fail(ctx: *mut c_void, proc: u32, _: Status) {
    // SAFETY: the instance gave itself, which outlives its subscribers.
    unsafe { &*(ctx as *const Instance) }.fail_emulated(proc);
}

/// Writes the transports that reach `proc` to `out`, for one-sided components; in the table as `BtlServices::reach`.
extern "C" fn reach(ctx: *mut c_void, proc: u32, out: *mut SliceRef<Reach>) -> Status {
    // SAFETY: components pass `BtlServices::instance`, which lives as long as they do.
    match unsafe { &*(ctx as *const Instance) }.reach_for_rma(proc) {
        Ok(reached) => {
            // SAFETY: the caller's out pointer.
            unsafe { *out = reached };
            Status::OK
        }
        Err(status) => status,
    }
}

/// Has a function carry out what peers ask at a registration; in the table as `BtlServices::listen`.
unsafe extern "C" fn listen(
    ctx: *mut c_void,
    btl: *const BtlHandle,
    registration: *const Registration,
    listener: Listener,
    listener_ctx: *mut c_void,
) -> Status {
    // SAFETY: components pass `BtlServices::instance`, which lives as long as they do, a handle that they were given, and a registration with it.
    let (instance, btl, registration) = unsafe { (&*(ctx as *const Instance), &*btl, &*registration) };
    let wrapped = instance.emulation().all().find(|wrapped| wrapped.handle.state == btl.state);
    match wrapped.filter(|_| btl.can(cap::ASK)) {
        // SAFETY: the component's promise.
        Some(wrapped) => unsafe { wrapped.listen(registration.handle, listener, listener_ctx) },
        None => Status::NOT_SUPPORTED,
    }
}

/// The receiver of requests, on the service context, and of replies, on the others.
extern "C" fn take(ctx: *mut c_void, msg: *const RecvDesc) -> u32 {
    // SAFETY: `take_requests` gave the instance; the message is valid during the call.
    let (instance, msg) = unsafe { (&*(ctx as *const Instance), &*msg) };
    let bytes = match msg.len {
        0 => &[][..],
        // SAFETY: the message has so many bytes, which are valid during the call.
        len => unsafe { std::slice::from_raw_parts(msg.data, len as usize) },
    };
    let bad = |what: &str| instance.peer_error("btl", "emulation", msg.proc, false, what);
    let Some(wrapped) = instance.emulation().over(msg.module.addr()) else {
        bad("sent a message for emulated verbs over a transport that has none");
        return receive::CONTINUE;
    };
    if msg.ctx == SERVICE_CTX {
        // SAFETY: transports call receivers of requests from `service_progress` alone, under the service lock.
        unsafe { answer(instance, wrapped, msg, bytes) };
        return receive::CONTINUE;
    }
    let mistake = match (wrapped.context(msg.ctx), Reply::decode(bytes)) {
        (Some((context, route)), Some((reply, payload))) => {
            let mistake = context.take_reply(route, msg.proc, reply, payload);
            if context.needs_attention() {
                instance.service().ask_attention();
            }
            mistake
        }
        _ => true,
    };
    if mistake {
        bad("sent a reply that does not fit what it was asked");
    }
    receive::CONTINUE
}

/// Carries out a request of a peer and sends the reply.
///
/// # Safety
/// The caller holds the service lock.
unsafe fn answer(instance: &Instance, wrapped: &Wrapped, msg: &RecvDesc, bytes: &[u8]) {
    let raw = wrapped.raw();
    let most = payload_limits(raw.attrs().service_limit).1;
    // SAFETY: the caller's promise; who registers memory keeps it valid.
    let answer = unsafe { instance.service().memory().serve(bytes, most) };
    // A listener that has no time now says nothing of who asks.
    if answer.reply.status.is_err() && answer.reply.status != Status::NOT_AVAILABLE {
        let text = format!("rank {} asked for what it may not have: {}", msg.proc, answer.reply.status);
        instance.logger().info("btl", &text);
    }
    let header = answer.reply.encode();
    let desc = SendDesc {
        tag: wire::TAG.into(),
        hdr_len: header.len() as u32,
        hdr: header.as_ptr(),
        payload: answer.payload,
        len: answer.len,
        pack: None,
        pack_ctx: std::ptr::null_mut(),
    };
    // SAFETY: the caller holds the service lock, and the request's receiver is running; header and payload live as long as the call.
    let status = unsafe { (raw.service_reply)(raw.state, msg.link, &desc) };
    if status.is_err() {
        instance.peer_error("btl", raw.name(), msg.proc, false, &format!("no reply to it is sent: {status}"));
    }
}
