//! The handle of an emulated transport: the transport's own verbs passed on, and the missing ones carried out by requests.
//!
//! `state` of such a handle is the [`Wrapped`]; an endpoint is an [`Endpoint`] of `requester`. Its registration handles are the
//! transport's own, followed by the name of an emulated registration, so both kinds of verbs find theirs.
//!
//! Of atomics the transport may have some. They stay its own if they are atomic to the target's processors, by which requests carry out the
//! others; else requests carry out all.
//!
//! A verb that the transport has and a peer refuses (process_vm_writev under Yama, another pid namespace) is carried out by
//! requests from then on for that peer.

use super::refusals::{add_procs, del_procs, finalize, partner, place_by, send_kept};
use crate::objects::{Instance, Wrapped};
use oxmpi_btl::amo::{ADD, FLOAT, MAX, MIN, SIGNED, WIDTH_32, operand};
use oxmpi_btl::{
    AtomicDesc, BtlAttrs, BtlHandle, Endpoint as RawEndpoint, FlushDesc, LIST_ASK, LIST_PUT, ListDesc,
    ListEntry, Listener, RegHandle, RmaDesc, RmaVectorDesc, SendDesc, WaitSet, cap,
};
use oxmpi_emulation::amo::{self, Update};
use oxmpi_emulation::requester::{Context, Endpoint, Route, Wish};
use oxmpi_emulation::target::payload_limits;
use oxmpi_emulation::wire::{self, ENTRY, Entry, NAME, RegistrationName, Request, Verb};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{MemKind, Status};
use std::ffi::c_void;

/// The state of an emulated transport's handle: a [`Wrapped`].
type State = *mut c_void;

/// Verbs that requests can carry out, and for which a transport is wrapped; it then has lists, too.
pub const EMULATED: u32 = cap::GET | cap::PUT | cap::ATOMIC | cap::FLUSH;

/// The message of a process to which no request goes any more.
const LOST: &str = "no request reaches it any more";

/// Something of the instance's that a function keeps which any thread calls.
struct Address<T>(*const T);

// SAFETY: an address alone, of what threads share (`T: Sync`).
unsafe impl<T: Sync> Send for Address<T> {}
// SAFETY: it gives its address and no more, of what threads share.
unsafe impl<T: Sync> Sync for Address<T> {}

impl<T> Address<T> {
    /// The address.
    fn get(&self) -> *const T {
        self.0
    }
}

impl Wrapped {
    /// Whether a transport lacks one-sided verbs and has the service links for their emulation.
    pub fn is_for(raw: &BtlHandle) -> bool {
        raw.can(cap::SERVICE)
            && EMULATED & !complete(raw) != 0
            && raw.attrs().service_limit as usize > wire::REQUEST
            && raw.attrs().registration_handle_size as usize + NAME + 8 <= oxmpi_btl::HANDLE_LIMIT
    }

    /// Makes the emulated transport over `raw`; in a box, since its handle points to it.
    pub fn new(instance: &Instance, raw: &BtlHandle) -> Box<Wrapped> {
        // Atomics of the transport's own are carried out only where they are coherent with what lists do.
        let lists = cap::LIST & !raw.caps;
        let emulated = EMULATED & !complete(raw) | lists;
        let asks = if lists != 0 { cap::ASK } else { 0 };
        let attrs = Box::new(attrs_with(raw.attrs(), emulated));
        let (put_most, get_most) = payload_limits(raw.attrs().service_limit);
        let contexts = (0..raw.attrs().contexts).map(|_| Context::default()).collect();
        let handle = BtlHandle {
            size: size_of::<BtlHandle>() as u32,
            caps: raw.caps & !(cap::PLACES | cap::KEEPS) | emulated | cap::REGISTER | asks,
            state: std::ptr::null_mut(),
            send,
            progress,
            get,
            put,
            flush,
            atomic,
            register_mem,
            deregister_mem,
            arm,
            disarm,
            get_vector,
            hold,
            held,
            service_open,
            service_request,
            service_progress,
            service_reply,
            service_pending,
            service_arm,
            service_disarm,
            add_procs,
            del_procs,
            finalize,
            attrs: &raw const *attrs,
            name: raw.name,
            emulated,
            index: raw.index,
            list,
            partner,
            place_by,
            send_kept,
        };
        let (host, raw_address) = (Address::<Instance>(instance), Address::<BtlHandle>(raw));
        let lost = Box::new(move |proc| {
            // SAFETY: the instance has the transport, and outlives it.
            let (instance, raw) = unsafe { (&*host.get(), &*raw_address.get()) };
            instance.process_failed("btl", raw.name(), proc, Status::PEER_FAILED, LOST);
        });
        let mut wrapped =
            Box::new(Wrapped { handle, _attrs: attrs, raw, instance, put_most, get_most, contexts, lost });
        wrapped.handle.state = (&raw mut *wrapped).cast();
        wrapped
    }

    /// The instance that has the transport.
    fn instance(&self) -> &Instance {
        // SAFETY: it has us.
        unsafe { &*self.instance }
    }

    /// The operations of a context, and the way its requests go; `None`: there is no such context.
    pub fn context(&self, ctx: u32) -> Option<(&Context, Route<'_>)> {
        let (put_most, get_most) = (self.put_most, self.get_most);
        let context = self.contexts.get(ctx as usize)?;
        Some((context, Route { raw: self.raw(), ctx, put_most, get_most, lost: &*self.lost }))
    }

    /// Number of contexts of the transport.
    pub fn contexts(&self) -> u32 {
        self.contexts.len() as u32
    }

    /// An endpoint of the emulated transport to process `proc`, over the transport's own endpoint `raw`.
    ///
    /// # Safety
    /// `raw` is the transport's endpoint of that process, and stays as long as the result.
    pub unsafe fn endpoint(&self, raw: *mut RawEndpoint, proc: u32) -> Endpoint {
        // SAFETY: the caller's promise.
        unsafe { Endpoint::new(raw, proc, self.contexts()) }
    }

    /// Offset in a registration handle at which the name of the emulated registration starts.
    fn name_at(&self) -> usize {
        (self.raw().attrs().registration_handle_size as usize).next_multiple_of(8)
    }

    /// The name of the emulated registration in a registration handle; `None`: the handle is null.
    ///
    /// # Safety
    /// `handle` is null or has as many bytes as the attributes say.
    unsafe fn name_in(&self, handle: *const RegHandle) -> Option<RegistrationName> {
        if handle.is_null() {
            return None;
        }
        // SAFETY: the caller's promise.
        let bytes = unsafe { handle.cast::<u8>().add(self.name_at()).cast::<[u8; NAME]>().read_unaligned() };
        Some(RegistrationName::decode(&bytes))
    }

    /// Has a function carry out what peers ask at a registration.
    ///
    /// # Safety
    /// The handle is of a registration with this transport; function and context as the service has them.
    pub unsafe fn listen(&self, handle: *const RegHandle, listener: Listener, ctx: *mut c_void) -> Status {
        // SAFETY: the caller's promise.
        match unsafe { self.name_in(handle) } {
            // SAFETY: the caller's promise.
            Some(name) => unsafe { self.instance().service().listen(name, listener, ctx) },
            None => Status::BAD_PARAM,
        }
    }

    /// Starts an emulated operation on a context, which becomes active. PENDING, or the reason why nothing has
    /// happened.
    fn issue(&self, endpoint: &Endpoint, ctx: u32, wish: Wish) -> Status {
        let Some((context, route)) = self.context(ctx) else { return Status::BAD_PARAM };
        let instance = self.instance();
        instance.activate(ctx);
        let status = context.issue(route, endpoint, wish);
        if context.needs_attention() {
            instance.service().ask_attention();
        }
        status
    }

    /// Starts a put or get (`verb`) by requests.
    fn issue_copy(&self, verb: Verb, endpoint: &Endpoint, ctx: u32, rma: &RmaDesc) -> Status {
        if rma.len == 0 {
            return Status::OK;
        }
        // SAFETY: the caller's handle, read during the call.
        let Some(registration) = (unsafe { self.name_in(rma.remote_handle) }) else {
            return Status::BAD_PARAM;
        };
        let request = Request {
            verb,
            flags: 0,
            op: 0,
            operand: 0,
            compare: 0,
            id: wire::NO_ID,
            registration,
            addr: rma.remote,
            len: rma.len,
        };
        let RmaDesc { local, done, done_ctx, .. } = *rma;
        self.issue(endpoint, ctx, Wish { request, local, results: Vec::new(), done, done_ctx })
    }

    /// Starts an atomic by a request.
    fn issue_atomic(&self, endpoint: &Endpoint, ctx: u32, desc: &AtomicDesc) -> Status {
        let AtomicDesc { op, flags, operand, compare, done, done_ctx, .. } = *desc;
        let update = Update { op, flags, operand, compare };
        // SAFETY: the caller has the handle of memory that is registered (contract of the verb).
        let (Status::OK, Some(registration)) = (update.check(), unsafe { self.name_in(desc.remote_handle) })
        else {
            return Status::BAD_PARAM;
        };
        let request = Request {
            verb: Verb::Atomic,
            flags: flags as u8,
            op,
            operand,
            compare,
            id: wire::NO_ID,
            registration,
            addr: desc.remote,
            len: update.width(),
        };
        let (local, results) = (desc.result.cast(), Vec::new());
        self.issue(endpoint, ctx, Wish { request, local, results, done, done_ctx })
    }

    /// Starts a list by one request, which must take all of its entries.
    fn issue_list(&self, endpoint: &Endpoint, ctx: u32, list: &ListDesc) -> Status {
        let Some((context, _)) = self.context(ctx) else { return Status::BAD_PARAM };
        // SAFETY: the caller's list.
        let entries = unsafe { list.entries.get() };
        let (mut bytes, mut results, mut answers) = (context.list(), Vec::new(), 0);
        for entry in entries {
            let (op, flags, len) = (entry.op, entry.flags, entry.len);
            let fetched = fetched_by(entry);
            answers += fetched.min(self.get_most + 1).next_multiple_of(8);
            // SAFETY: the caller's handle, read during the call.
            let registration = unsafe { self.name_in(entry.remote_handle) };
            let fits = bytes.len() as u64 + ENTRY as u64 <= self.put_most
                && len <= self.put_most - bytes.len() as u64 - ENTRY as u64
                && answers <= self.get_most;
            let (true, true, Some(registration)) = (is_sane(entry), fits, registration) else {
                return Status::BAD_PARAM;
            };
            let fetches = fetched > 0;
            let (addr, compare) = (entry.remote, entry.compare);
            let (len, op, flags) = (len as u32, op as u16, flags as u8);
            Entry { registration, addr, compare, len, op, flags, fetches }.encode(&mut bytes);
            if len > 0 {
                // SAFETY: the caller's data, as long as the entry.
                bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(entry.data, len as usize) });
            }
            let whole = bytes.len().next_multiple_of(8);
            bytes.resize(whole, 0);
            if fetches {
                results.push((entry.result, fetched as u32));
            }
        }
        if bytes.len() as u64 > self.put_most {
            return Status::BAD_PARAM;
        }
        if bytes.is_empty() {
            return Status::OK;
        }
        let request = Request {
            verb: Verb::List,
            flags: 0,
            op: 0,
            operand: 0,
            compare: 0,
            id: wire::NO_ID,
            registration: RegistrationName::default(),
            addr: 0,
            len: bytes.len() as u64,
        };
        let (local, done, done_ctx) = (bytes.as_mut_ptr(), list.done, list.done_ctx);
        self.issue(endpoint, ctx, Wish { request, local, results, done, done_ctx })
    }
}

/// Whether an entry of a list is one that there is.
fn is_sane(entry: &ListEntry) -> bool {
    let ListEntry { op, flags, len, compare, .. } = *entry;
    let update = Update { op, flags, operand: 0, compare };
    match op {
        LIST_PUT => true,
        LIST_ASK => entry.remote == 0 && flags == 0 && (compare > 0) != entry.result.is_null(),
        _ => update.check().is_ok() && len.is_multiple_of(update.width()),
    }
}

/// Bytes that come back for an entry of a list.
fn fetched_by(entry: &ListEntry) -> u64 {
    match entry.op {
        _ if entry.result.is_null() => 0,
        LIST_PUT => 0,
        LIST_ASK => entry.compare,
        _ => entry.len,
    }
}

/// The transport's verbs that need no emulation (bits of `cap`); atomics are among them only if it has each of them on
/// each operand.
fn complete(raw: &BtlHandle) -> u32 {
    let attrs = raw.attrs();
    let all_atomics = attrs.flags & BtlAttrs::AMO_COHERENT != 0
        && attrs.amo_ops & amo::ALL == amo::ALL
        && attrs.amo_operands & operand::ALL == operand::ALL;
    if all_atomics { raw.caps } else { raw.caps & !cap::ATOMIC }
}

/// Whether the transport itself carries out an atomic.
fn is_native(raw: &BtlHandle, desc: &AtomicDesc) -> bool {
    let attrs = raw.attrs();
    let Some(op) = 1u32.checked_shl(desc.op) else { return false };
    raw.can(cap::ATOMIC)
        && attrs.flags & BtlAttrs::AMO_COHERENT != 0
        && attrs.amo_ops & op != 0
        && attrs.amo_operands & kind(desc) != 0
        // Of words that lie elsewhere devices know nothing.
        && desc.remote.is_multiple_of(if desc.flags & WIDTH_32 != 0 { 4 } else { 8 })
}

/// The operand of an atomic as [`operand`] names it; unsigned where the operation does not compute.
fn kind(desc: &AtomicDesc) -> u32 {
    let (typed, narrow) = (matches!(desc.op, ADD | MIN | MAX), desc.flags & WIDTH_32 != 0);
    match (typed, desc.flags & FLOAT != 0, desc.flags & SIGNED != 0) {
        (true, true, _) if narrow => operand::F32,
        (true, true, _) => operand::F64,
        (true, false, true) if narrow => operand::I32,
        (true, false, true) => operand::I64,
        _ if narrow => operand::U32,
        _ => operand::U64,
    }
}

/// The attributes of a transport with the verbs `emulated` (bits of `cap`) carried out by requests.
fn attrs_with(raw: &BtlAttrs, emulated: u32) -> BtlAttrs {
    let mut attrs = *raw;
    attrs.registration_handle_size = raw.registration_handle_size.next_multiple_of(8) + NAME as u32;
    if emulated & cap::PUT != 0 {
        (attrs.put_limit, attrs.put_alignment) = (0, 0);
        // A put that stalls is overtaken.
        attrs.flags = attrs.flags & !BtlAttrs::PUTS_ORDERED | BtlAttrs::PUT_DONE_IS_REMOTE;
    }
    if emulated & cap::GET != 0 {
        (attrs.get_limit, attrs.get_alignment) = (0, 0);
    }
    if emulated & cap::ATOMIC != 0 {
        (attrs.amo_ops, attrs.amo_operands) = (amo::ALL, operand::ALL);
        attrs.flags |= BtlAttrs::AMO_COHERENT;
    }
    if emulated & cap::LIST != 0 {
        attrs.list_limit = payload_limits(raw.service_limit).0;
        // Each is one request, and requests are taken in their order.
        attrs.flags |= BtlAttrs::LISTS_ORDERED;
    }
    attrs
}

/// The pointers that a caller passes back: the state of a handle, an endpoint, a descriptor.
macro_rules! at {
    ($t:ty, $p:expr) => {
        // SAFETY: callers of a wrapped handle pass its state, its endpoints, and descriptors that live during the call.
        unsafe { &*($p as *const $t) }
    };
}

/// A verb of the transport itself, under what our own caller keeps to.
macro_rules! pass {
    ($raw:expr, $verb:ident($($argument:expr),*)) => {{
        let raw = $raw;
        // SAFETY: callers of a wrapped handle keep to the contract of its verbs, which is that of the transport's: the context's lock, endpoints that
        // live, descriptors that are valid. A raw endpoint lives as long as the one around it.
        unsafe { (raw.$verb)(raw.state, $($argument),*) }
    }};
}

/// Whether a native verb has done its part. False: the transport cannot with this peer, and requests do it from now
/// on.
fn answered(endpoint: &Endpoint, verb: u32, status: Status) -> bool {
    if matches!(status, Status::NOT_SUPPORTED | Status::NO_PERMISSION) {
        endpoint.refused.fetch_or(verb, Ordering::Relaxed);
        return false;
    }
    true
}

/// Whether the transport itself carries out `verb` to this endpoint: it has the verb, and the peer has not refused it.
fn native(w: &Wrapped, endpoint: &Endpoint, verb: u32) -> bool {
    w.raw().can(verb) && endpoint.refused.load(Ordering::Relaxed) & verb == 0
}

/// The verb put: by the transport itself, or by requests.
extern "C" fn put(s: State, e: *mut RawEndpoint, ctx: u32, d: *const RmaDesc) -> Status {
    let (w, endpoint) = (at!(Wrapped, s), at!(Endpoint, e));
    if native(w, endpoint, cap::PUT) {
        let status = pass!(w.raw(), put(endpoint.raw, ctx, d));
        if answered(endpoint, cap::PUT, status) {
            return status;
        }
    }
    w.issue_copy(Verb::Put, endpoint, ctx, at!(RmaDesc, d))
}

/// The verb get: by the transport itself, or by requests.
extern "C" fn get(s: State, e: *mut RawEndpoint, ctx: u32, d: *const RmaDesc) -> Status {
    let (w, endpoint) = (at!(Wrapped, s), at!(Endpoint, e));
    if native(w, endpoint, cap::GET) {
        let status = pass!(w.raw(), get(endpoint.raw, ctx, d));
        if answered(endpoint, cap::GET, status) {
            return status;
        }
    }
    w.issue_copy(Verb::Get, endpoint, ctx, at!(RmaDesc, d))
}

/// The verb atomic: by the transport itself if it has that operation on that operand, or by a request.
extern "C" fn atomic(s: State, e: *mut RawEndpoint, ctx: u32, d: *const AtomicDesc) -> Status {
    let (w, endpoint) = (at!(Wrapped, s), at!(Endpoint, e));
    if is_native(w.raw(), at!(AtomicDesc, d)) {
        return pass!(w.raw(), atomic(endpoint.raw, ctx, d));
    }
    w.issue_atomic(endpoint, ctx, at!(AtomicDesc, d))
}

/// The verb list: by the transport itself, or by one request.
extern "C" fn list(s: State, e: *mut RawEndpoint, ctx: u32, d: *const ListDesc) -> Status {
    let (w, endpoint) = (at!(Wrapped, s), at!(Endpoint, e));
    if w.raw().can(cap::LIST) {
        return pass!(w.raw(), list(endpoint.raw, ctx, d));
    }
    w.issue_list(endpoint, ctx, at!(ListDesc, d))
}

/// The verb flush: waits for operations by requests, and for those of the transport's own.
extern "C" fn flush(s: State, e: *mut RawEndpoint, ctx: u32, d: *const FlushDesc) -> Status {
    let (w, flush) = (at!(Wrapped, s), at!(FlushDesc, d));
    let endpoint = if e.is_null() { None } else { Some(at!(Endpoint, e)) };
    let Some((context, route)) = w.context(ctx) else { return Status::BAD_PARAM };
    context.flush(route, endpoint, flush, |flush| {
        let raw = endpoint.map_or(std::ptr::null_mut(), |e| e.raw);
        if w.raw().can(cap::FLUSH) { pass!(w.raw(), flush(raw, ctx, flush)) } else { Status::OK }
    })
}

/// Registers memory with the transport, if it needs that, and for requests; opens the service context at the first
/// call.
extern "C" fn register_mem(
    s: State,
    addr: *mut u8,
    len: u64,
    access: u32,
    kind: MemKind,
    out: *mut RegHandle,
) -> Status {
    let w = at!(Wrapped, s);
    if kind != MemKind::HOST {
        return Status::NOT_SUPPORTED;
    }
    let raw = w.raw();
    if raw.can(cap::REGISTER) {
        let status = pass!(raw, register_mem(addr, len, access, kind, out));
        if status.is_err() {
            return status;
        }
    }
    let opened = w.instance().open_service(raw);
    // SAFETY: who registers memory keeps it valid until it is deregistered (contract).
    let name = opened.and_then(|()| unsafe { w.instance().service().add(addr, len, access) });
    match name {
        Ok(name) => {
            // SAFETY: the caller's place has as many bytes as the attributes say.
            unsafe {
                let at = out.cast::<u8>().add(w.name_at());
                std::ptr::copy_nonoverlapping(name.encode().as_ptr(), at, NAME);
            }
            Status::OK
        }
        Err(status) => {
            if raw.can(cap::REGISTER) {
                pass!(raw, deregister_mem(out));
            }
            status
        }
    }
}

/// Removes a registration, first for requests, then with the transport.
extern "C" fn deregister_mem(s: State, handle: *const RegHandle) -> Status {
    let w = at!(Wrapped, s);
    // SAFETY: the caller's handle.
    let Some(name) = (unsafe { w.name_in(handle) }) else { return Status::BAD_PARAM };
    if !w.instance().service().remove(name) {
        return Status::BAD_PARAM;
    }
    let raw = w.raw();
    if raw.can(cap::REGISTER) { pass!(raw, deregister_mem(handle)) } else { Status::OK }
}

/// Makes progress on the transport's context, and goes on with pieces that stalled. Returns the transport's events.
extern "C" fn progress(s: State, ctx: u32) -> i32 {
    let w = at!(Wrapped, s);
    let events = pass!(w.raw(), progress(ctx));
    if let Some((context, route)) = w.context(ctx)
        && context.needs_attention()
    {
        context.settle(route);
    }
    events
}

// --- passed on ---

/// Passes a send on to the transport.
extern "C" fn send(s: State, e: *mut RawEndpoint, ctx: u32, d: *const SendDesc) -> Status {
    let (raw, endpoint) = (at!(Wrapped, s).raw(), at!(Endpoint, e).raw);
    pass!(raw, send(endpoint, ctx, d))
}
/// Passes a get of pieces on to the transport.
extern "C" fn get_vector(s: State, e: *mut RawEndpoint, ctx: u32, d: *const RmaVectorDesc) -> Status {
    let (raw, endpoint) = (at!(Wrapped, s).raw(), at!(Endpoint, e).raw);
    pass!(raw, get_vector(endpoint, ctx, d))
}
/// Passes the announcement of a sleep on to the transport.
extern "C" fn arm(s: State, ctx: u32, set: *mut WaitSet) -> Status {
    let raw = at!(Wrapped, s).raw();
    pass!(raw, arm(ctx, set))
}
/// Passes the end of a sleep on to the transport.
extern "C" fn disarm(s: State, ctx: u32) {
    let raw = at!(Wrapped, s).raw();
    pass!(raw, disarm(ctx))
}
/// Passes the stamp of the oldest message that waits on to the transport.
extern "C" fn hold(s: State, e: *mut RawEndpoint, oldest: u64) {
    let (raw, endpoint) = (at!(Wrapped, s).raw(), at!(Endpoint, e).raw);
    pass!(raw, hold(endpoint, oldest))
}
/// Asks the transport for the peer's stamp of the oldest message that waits.
extern "C" fn held(s: State, e: *mut RawEndpoint) -> u64 {
    let (raw, endpoint) = (at!(Wrapped, s).raw(), at!(Endpoint, e).raw);
    pass!(raw, held(endpoint))
}
/// Passes a service request on to the transport.
extern "C" fn service_request(s: State, e: *mut RawEndpoint, ctx: u32, d: *const SendDesc) -> Status {
    let (raw, endpoint) = (at!(Wrapped, s).raw(), at!(Endpoint, e).raw);
    pass!(raw, service_request(endpoint, ctx, d))
}

// --- the host's own business, not a caller's ---

/// Opens the transport's service context, which the host serves.
extern "C" fn service_open(s: State) -> Status {
    let w = at!(Wrapped, s);
    w.instance().open_service(w.raw()).map_or_else(|status| status, |()| Status::OK)
}
/// Does nothing: the host serves the transport itself.
extern "C" fn service_progress(_: State) -> i32 {
    0
}
/// Refuses: the host replies over the transport itself.
extern "C" fn service_reply(_: State, _: u64, _: *const SendDesc) -> Status {
    Status::NOT_SUPPORTED
}
/// Names no word: the host looks at that of the transport itself.
extern "C" fn service_pending(_: State) -> *const u32 {
    std::ptr::null()
}
/// Refuses: the helper sleeps on the transport itself.
extern "C" fn service_arm(_: State, _: *mut WaitSet) -> Status {
    Status::NOT_SUPPORTED
}
/// Does nothing: the helper sleeps on the transport itself.
extern "C" fn service_disarm(_: State) {}
