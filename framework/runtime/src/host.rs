//! The table the host gives to components.
//!
//! Each component gets a table of its own whose `instance` points to its [`ComponentCtx`], so that the
//! host knows who is calling (two components of different frameworks may have the same name); all
//! else in it is the same for all. Table and context live as long as the instance: from before `open`
//! until after `finalize`.
//!
//! Functions in here may be called from any thread. None of them runs user code.

use crate::cri_locks;
use crate::objects::{ComponentCtx, Instance};
use crate::request::Header;
use crate::services::exchange::{exchange_key, hand_out};
use oxmpi_loading::accept::accepted::Accepted;
use oxmpi_loading::values::Values;
use oxmpi_mca::host::{ProgressFn, am_tag, receive};
use oxmpi_mca::{
    ABI_MINOR, AmEntry, AmParts, Cri, Host, HostTable, LOCK_PROTOCOL, LayerFunction, LockTable, RecvDesc,
    RequestHeader, SliceRef, Status, StrRef, ThreadCtx,
};
use oxmpi_system::locks::Mutex;
use oxmpi_waiting::events;
use oxmpi_wireup::limits;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;

/// Receives a message with a tag that nobody has registered, and ends the job: the sender breaks the protocol.
pub(crate) extern "C" fn unclaimed(ctx: *mut c_void, msg: *const RecvDesc) -> u32 {
    // SAFETY: `report_to` set the instance; the message is valid during the call.
    let (instance, proc) = unsafe { (&*(ctx as *const Instance), (*msg).proc) };
    instance.peer_error(
        "btl",
        "am",
        proc,
        true,
        "sent an active message with a tag that nobody has registered",
    );
    receive::CONTINUE
}

impl ComponentCtx {
    /// Makes the record of a component before it is opened, and the table that it gets. Boxed, because the table points
    /// to it.
    pub fn new(instance: &Instance, component: &Accepted, values: Values) -> Box<ComponentCtx> {
        let mut ctx = Box::new(ComponentCtx {
            instance,
            framework: component.framework,
            name: component.name,
            place: component.place.clone(),
            component: component.clone(),
            values,
            table: table(instance),
            last_words: Mutex::default(),
            modules: AtomicPtr::default(),
        });
        ctx.table.instance = (&raw mut *ctx).cast();
        ctx
    }

    /// The last line that the component has logged.
    pub fn last_words(&self) -> String {
        self.last_words.lock().clone()
    }
}

/// Fills the host table, but for the component that it belongs to.
fn table(instance: &Instance) -> HostTable {
    HostTable {
        size: size_of::<HostTable>() as u32,
        abi_minor: ABI_MINOR.into(),
        instance: std::ptr::null_mut(),
        job: instance.job(),
        threaded: instance.waiting().threaded_word(),
        cris: instance.cris().as_ptr(),
        num_cris: instance.cris().len() as u32,
        cri_modes: instance.host_params().cri_modes,
        am_table: instance.am_table().as_ptr(),
        log,
        help,
        fatal,
        am_register,
        progress_register,
        progress_unregister,
        progress,
        sync_update,
        request_slot,
        wait,
        exchange_put,
        exchange_get,
        peer_error,
        am_parts: instance.am_table().parts_ptr(),
        am_register_parts,
        services: crate::services::table(),
        locking: LockTable {
            protocol: LOCK_PROTOCOL,
            cri_stride: size_of::<Cri>() as u32,
            services: cri_locks::SERVICES,
            enter: cri_enter,
            try_enter: cri_try_enter,
            leave: cri_leave,
            activate: cri_activate,
        },
        expect,
    }
}

/// The calling component and its instance.
macro_rules! at {
    ($ctx:expr) => {{
        // SAFETY: a component passes back the `instance` of its own table, which lives as long as it.
        let ctx = unsafe { &*($ctx as *const ComponentCtx) };
        // SAFETY: the instance outlives its components' contexts.
        (ctx, unsafe { &*ctx.instance })
    }};
}

/// A component's text, made harmless: what is not UTF-8 is said to be so.
macro_rules! text {
    ($s:expr) => {
        // SAFETY: a component's text is readable during the call.
        unsafe { $s.get() }.unwrap_or("(text that is not UTF-8)")
    };
}

/// Host table: prints a component's line, if the framework's verbosity asks for it, and keeps it as the component's
/// last words.
extern "C" fn log(ctx: *mut c_void, level: i32, component: StrRef, message: StrRef) {
    let (ctx, instance) = at!(ctx);
    let (component, message) = (text!(component), text!(message));
    let message = limits::beside_error(message);
    (*message).clone_into(&mut ctx.last_words.lock());
    let framework = ctx.framework.name();
    instance.logger().line(framework, level, &format!("{framework}:{component}"), &message);
}

/// Host table: shows a paragraph of the component's help text once per job, with `args` filled in.
extern "C" fn help(ctx: *mut c_void, _component: StrRef, topic: StrRef, args: SliceRef<StrRef>) {
    let (ctx, instance) = at!(ctx);
    // SAFETY: the component passes `len` texts.
    let args: Vec<&str> = unsafe { args.get() }.iter().map(|a| text!(a)).collect();
    let who = format!("{}:{}", ctx.framework.name(), ctx.name);
    instance.show_help(&who, ctx.component.help, text!(topic), &args);
}

/// Host table: ends the job with a component's message.
extern "C" fn fatal(ctx: *mut c_void, component: StrRef, message: StrRef) -> ! {
    let (ctx, instance) = at!(ctx);
    let message = limits::beside_error(text!(message));
    instance.fail(&format!("{}:{}: {message}", ctx.framework.name(), text!(component)))
}

/// Host table: registers the receiver of active messages with a tag; BAD_PARAM: the tag is the host's or taken.
extern "C" fn am_register(ctx: *mut c_void, tag: u8, entry: AmEntry) -> Status {
    // The host's own tags are nobody else's, in use or not.
    match tag < am_tag::BTL {
        true => Status::BAD_PARAM,
        false => at!(ctx).1.am_table().set(tag, entry),
    }
}

/// Host table: gives a registered tag a receiver of messages in parts; BAD_PARAM: the tag is not registered.
extern "C" fn am_register_parts(ctx: *mut c_void, tag: u8, take: AmParts) -> Status {
    at!(ctx).1.am_table().set_parts(tag, take)
}

/// Host table: adds a layer's function to turns of progress; BAD_PARAM: it is there already, or the registration is shorter than it
/// has to be.
extern "C" fn progress_register(ctx: *mut c_void, function: *const LayerFunction) -> Status {
    let engine = at!(ctx).1.waiting().engine();
    // SAFETY: the component's registration is readable during the call, as far as its size says.
    match unsafe { (*function).size } as usize >= size_of::<LayerFunction>() {
        // SAFETY: readable, and long enough; what it names stays until the component is finalized, behind the engine's end.
        true => unsafe { engine.register(&*function) },
        false => Status::BAD_PARAM,
    }
}

/// The way in of a component's call, which passes its thread's context or null and has lent its own entry for that.
macro_rules! entry {
    ($instance:expr, $thread:expr) => {
        // SAFETY: a call from inside a verb or a callback, thus inside the gate, whose entry is lent for it; made once for each.
        unsafe { $instance.entry($thread) }
    };
}

/// Host table: has the calling thread progress the CRIs of a set, on which something of it comes or waits.
extern "C" fn expect(ctx: *mut c_void, thread: *mut ThreadCtx, set: u64) {
    let instance = at!(ctx).1;
    if let Some(contexts) = instance.waiting().engine().contexts() {
        contexts.expect(&entry!(instance, thread), set);
    }
}

/// Host table: takes a function out of progress.
extern "C" fn progress_unregister(ctx: *mut c_void, f: ProgressFn, arg: *mut c_void) -> Status {
    at!(ctx).1.waiting().engine().unregister(f, arg.addr())
}

/// Host table: makes one turn of progress and returns the number of events.
extern "C" fn progress(ctx: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    let instance = at!(ctx).1;
    instance.progress(&mut entry!(instance, thread))
}

/// Host table: tells what is attached to a completed request, by the completion word `sync`, that it is complete.
extern "C" fn sync_update(_: *mut c_void, sync: usize) {
    // SAFETY: the component found it in the completion word of the request it completed.
    unsafe { events::tell(sync) }
}

/// Host table: gives a request object a slot in the request table for good; called once for each object.
extern "C" fn request_slot(ctx: *mut c_void, req: *mut RequestHeader) -> Status {
    let requests = at!(ctx).1.requests();
    // SAFETY: a component's new object, in a pool that stays, or null.
    match unsafe { requests.insert(req) } {
        Ok(_) => Status::OK,
        Err(status) => status,
    }
}

/// Host table: waits, with progress, until a request is complete and returns its error.
extern "C" fn wait(ctx: *mut c_void, thread: *mut ThreadCtx, req: *mut RequestHeader) -> Status {
    let instance = at!(ctx).1;
    let Some(req) = NonNull::new(req) else { return Status::BAD_PARAM };
    // SAFETY: a request of the component's, in a pool that stays.
    let req = unsafe { Header::new(req) };
    instance.wait(&mut entry!(instance, thread), req);
    // SAFETY: complete, and the caller's.
    unsafe { req.status() }.error
}

/// The CRI of a number; `None`: the process is not threaded, so that its lock is not taken.
fn cri_to_lock(instance: &Instance, index: u32) -> Option<&Cri> {
    instance.threaded().then(|| &instance.cris()[index as usize])
}

/// The seat of the thread with this context, for a lock of a CRI.
macro_rules! seat {
    ($thread:expr) => {
        // SAFETY: null, or the calling thread's context of this instance.
        unsafe { ThreadCtx::seat_of($thread) }
    };
}

/// Host table: takes the lock of a CRI, for components that cannot take it inline. Does nothing in a process that is
/// not threaded.
extern "C" fn cri_enter(ctx: *mut c_void, index: u32, thread: *mut ThreadCtx) {
    if let Some(cri) = cri_to_lock(at!(ctx).1, index) {
        let seat = seat!(thread);
        // SAFETY: the calling thread's seat; a component that calls this holds no other CRI (contract).
        unsafe { cri.enter(seat) };
    }
}

/// Host table: takes the lock of a CRI if it is free; 0: it is not. 1 in a process that is not threaded.
extern "C" fn cri_try_enter(ctx: *mut c_void, index: u32, thread: *mut ThreadCtx) -> u32 {
    let seat = seat!(thread);
    // SAFETY: the calling thread's own seat; a component that calls this holds no other CRI (contract).
    let enter = |cri: &Cri| unsafe { cri.try_enter(seat) };
    cri_to_lock(at!(ctx).1, index).is_none_or(enter).into()
}

/// Host table: releases the lock of a CRI. Does nothing in a process that is not threaded.
extern "C" fn cri_leave(ctx: *mut c_void, index: u32, thread: *mut ThreadCtx) {
    if let Some(cri) = cri_to_lock(at!(ctx).1, index) {
        let seat = seat!(thread);
        // SAFETY: the component took it with the same arguments, and gives it back once (contract).
        unsafe { cri.leave(seat) };
    }
}

/// Host table: marks a CRI and those of lower number as active, so that progress covers them; called before the first
/// operation on it.
extern "C" fn cri_activate(ctx: *mut c_void, index: u32) {
    let (ctx, _) = at!(ctx);
    // SAFETY: its own table, which lives as long as the context.
    unsafe { Host::new(&ctx.table, ctx.name) }.activate(index);
}

/// Host table: puts a component's bytes under its own key into the process's exchange of addresses, which the start
/// publishes.
extern "C" fn exchange_put(ctx: *mut c_void, _component: StrRef, data: SliceRef<u8>) -> Status {
    let (ctx, instance) = at!(ctx);
    // SAFETY: the component passes `len` bytes.
    instance.exchange_put(&exchange_key(ctx), unsafe { data.get() });
    Status::OK
}

/// Host table: gets the bytes that the calling component of process `proc` has published; NOT_FOUND: none. `len` is the
/// room at `data` and becomes the number of bytes.
extern "C" fn exchange_get(
    ctx: *mut c_void,
    _component: StrRef,
    proc: u32,
    data: *mut u8,
    len: *mut usize,
) -> Status {
    let (ctx, instance) = at!(ctx);
    let blob = match instance.exchange_get(proc, &exchange_key(ctx)) {
        Ok(Some(blob)) => blob,
        Ok(None) => return Status::NOT_FOUND,
        Err(_) => return Status::PEER_FAILED,
    };
    // SAFETY: `len` is the component's in-out pointer, `data` has as many bytes as it says.
    unsafe { hand_out(&blob, data, len) }
}

/// Host table: reports that process `proc` broke the protocol or died; `fatal` not 0: the job ends.
extern "C" fn peer_error(ctx: *mut c_void, _component: StrRef, proc: u32, fatal: u32, message: StrRef) {
    let (ctx, instance) = at!(ctx);
    instance.peer_error(ctx.framework.name(), ctx.name, proc, fatal != 0, text!(message));
}
