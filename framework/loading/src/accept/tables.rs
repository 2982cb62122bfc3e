//! From what `open` returned to the host's own tables.

use super::accepted::{Pml, Refusal};
use oxmpi_btl::{
    AtomicDesc, BtlAttrs, BtlHandle, BtlModule, BtlTable, Endpoint, FlushDesc, HANDLE_LIMIT, ListDesc,
    RegHandle, RmaDesc, RmaVectorDesc, SendDesc, WaitSet, cap,
};
use oxmpi_coll::CollModule;
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{MemKind, RequestHeader, SliceRef, Status, StrRef, ThreadCtx};
use oxmpi_osc::{OscModule, OscTable, OscWindow, RmaArgs, WinCounts, WinDesc};
use oxmpi_pml::{Counts, PmlModule, PmlTable, SendArgs};
use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};

/// More devices than this no component has.
const MODULES_LIMIT: usize = 1024;
/// Tables only grow, but not to this.
const TABLE_LIMIT: usize = 1 << 16;

/// A component's own state, passed back as the first argument of each of its functions.
type State = *mut c_void;

/// Real functions for slots that a module does not fill.
mod absent {
    use super::*;

    /// Stands in for a BTL's missing `del_procs`: nothing is kept for each process, so it succeeds.
    pub extern "C" fn del_procs(_: State, _: SliceRef<*mut Endpoint>) -> Status {
        Status::OK
    }
    /// Stands in for a BTL's missing `partner`: each module reaches that of its own number.
    pub extern "C" fn partner(_: State, _: *mut Endpoint) -> u32 {
        oxmpi_btl::SAME_NUMBER
    }
    /// Stands in for a BTL's missing `finalize`: nothing is to be given back, so it succeeds.
    pub extern "C" fn finalize(_: State) -> Status {
        Status::OK
    }
    /// Stands in for a BTL's missing `get` or `put`: refuses with NOT_SUPPORTED.
    pub extern "C" fn rma(_: State, _: *mut Endpoint, _: u32, _: *const RmaDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `get_vector`: refuses with NOT_SUPPORTED.
    pub extern "C" fn vector(_: State, _: *mut Endpoint, _: u32, _: *const RmaVectorDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `flush`: refuses with NOT_SUPPORTED.
    pub extern "C" fn flush(_: State, _: *mut Endpoint, _: u32, _: *const FlushDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `atomic`: refuses with NOT_SUPPORTED.
    pub extern "C" fn atomic(_: State, _: *mut Endpoint, _: u32, _: *const AtomicDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `list`: refuses with NOT_SUPPORTED.
    pub extern "C" fn list(_: State, _: *mut Endpoint, _: u32, _: *const ListDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `register_mem`: refuses with NOT_SUPPORTED.
    pub extern "C" fn register(
        _: State,
        _: *mut u8,
        _: u64,
        _: u32,
        _: MemKind,
        _: *mut RegHandle,
    ) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `deregister_mem`: refuses with NOT_SUPPORTED.
    pub extern "C" fn deregister(_: State, _: *const RegHandle) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `arm`: refuses with NOT_SUPPORTED, so no thread sleeps on the transport.
    pub extern "C" fn arm(_: State, _: u32, _: *mut WaitSet) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `disarm`: does nothing, since `arm` never succeeds.
    pub extern "C" fn disarm(_: State, _: u32) {}
    /// Stands in for a BTL's missing `hold`: the receiver is told nothing of messages that wait here.
    pub extern "C" fn hold(_: State, _: *mut Endpoint, _: u64) {}
    /// Stands in for a BTL's missing `held`: answers 0, no message of the peer is known to wait.
    pub extern "C" fn held(_: State, _: *mut Endpoint) -> u64 {
        0
    }
    /// Stands in for a BTL's missing `service_open`: refuses with NOT_SUPPORTED.
    pub extern "C" fn service_open(_: State) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `service_request`: refuses with NOT_SUPPORTED.
    pub extern "C" fn service_request(_: State, _: *mut Endpoint, _: u32, _: *const SendDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `service_progress`: answers 0 events.
    pub extern "C" fn service_progress(_: State) -> i32 {
        0
    }
    /// Stands in for a BTL's missing `service_reply`: refuses with NOT_SUPPORTED.
    pub extern "C" fn service_reply(_: State, _: u64, _: *const SendDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `service_pending`: answers null, so requests are found by `service_progress`
    /// alone.
    pub extern "C" fn service_pending(_: State) -> *const u32 {
        std::ptr::null()
    }
    /// Stands in for a BTL's missing `service_arm`: refuses with NOT_SUPPORTED, so nobody sleeps on the service
    /// context.
    pub extern "C" fn service_arm(_: State, _: *mut WaitSet) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a BTL's missing `service_disarm`: does nothing, since `service_arm` never succeeds.
    pub extern "C" fn service_disarm(_: State) {}
    /// Stands in for a PML's missing `revoke`: refuses with NOT_SUPPORTED.
    pub extern "C" fn revoke(_: State, _: *mut std::ffi::c_void) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a PML's missing `counts`: refuses with NOT_SUPPORTED.
    pub extern "C" fn counts(_: State, _: *mut std::ffi::c_void, _: *mut Counts) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a PML's missing `set_flags`: refuses with NOT_SUPPORTED.
    pub extern "C" fn set_flags(_: State, _: *mut std::ffi::c_void, _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a PML's missing `measure`: refuses with NOT_SUPPORTED.
    pub extern "C" fn measure(_: State, _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a PML's missing `progress_context`: answers 0 events; such a PML's `progress` covers all contexts
    /// and is called as well.
    pub extern "C" fn progress_context(_: State, _: *mut ThreadCtx, _: u32) -> i32 {
        0
    }
    /// Stands in for a PML's missing `send_failure`: refuses with NOT_SUPPORTED.
    pub extern "C" fn send_failure(
        _: State,
        _: *const SendArgs,
        _: Status,
        _: *mut *mut RequestHeader,
    ) -> Status {
        Status::NOT_SUPPORTED
    }
}

/// Real functions for slots of a window's table that a one-sided component does not fill.
mod absent_osc {
    use super::*;

    /// Stands in for a window's missing `put_notify` or `get_notify`: refuses with NOT_SUPPORTED.
    pub extern "C" fn notified(_: State, _: *const RmaArgs, _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a window's missing `notify_read`: refuses with NOT_SUPPORTED.
    pub extern "C" fn notify_read(_: State, _: *mut ThreadCtx, _: u32, _: u32, _: *mut u64) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a window's missing `notify_wait`: refuses with NOT_SUPPORTED.
    pub extern "C" fn notify_wait(_: State, _: *mut ThreadCtx, _: u32, _: u64, _: *mut u64) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a window's missing `dup`: refuses with NOT_SUPPORTED.
    pub extern "C" fn dup(_: State, _: *const WinDesc, _: *mut ThreadCtx, _: *mut OscWindow) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a window's missing `counts`: refuses with NOT_SUPPORTED.
    pub extern "C" fn counts(_: State, _: *mut WinCounts) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a window's missing `flush_begin`: refuses with NOT_SUPPORTED.
    pub extern "C" fn flush_begin(_: State, _: *mut ThreadCtx, _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
}

/// Checks the list of modules that a component's `open` gave and returns their addresses. `least`: bytes of the
/// smallest module; `most`: how many modules are taken.
fn modules(opened: &Opened, least: usize, most: usize, place: &str) -> Result<Vec<*const u8>, Refusal> {
    let refuse = |field, theirs: String, ours: String| Err(Refusal::new(field, theirs, ours, place));
    if opened.count == 0 {
        return Ok(Vec::new());
    }
    if opened.count > most {
        return refuse("module count", opened.count.to_string(), format!("at most {most}"));
    }
    let base = opened.modules.cast::<u8>();
    if base.is_null() || !(base as usize).is_multiple_of(8) {
        return refuse("modules", format!("{base:p}"), "an aligned address that is not null".into());
    }
    let stride = opened.stride;
    if stride < least || !stride.is_multiple_of(8) || stride > TABLE_LIMIT {
        let ours = format!("a multiple of 8 from {least} to {TABLE_LIMIT} bytes");
        return refuse("module stride", format!("{stride} bytes"), ours);
    }
    Ok((0..opened.count).map(|i| base.wrapping_add(i * stride)).collect())
}

/// Reads the first field of a module, table or attributes structure: how many bytes it has.
///
/// # Safety
/// `at` must be aligned and readable for four bytes.
unsafe fn size_at(at: *const u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe { *at.cast::<u32>() as usize }
}

/// Copies the part of a foreign struct that both sides know into `own`.
///
/// # Safety
/// `from` must be readable for `size` bytes, and any bytes of that layout a value of `T`.
unsafe fn overlay<T>(own: &mut T, from: *const u8, size: usize) {
    let n = size.min(size_of::<T>());
    // SAFETY: the caller's promise; `own` has `n` bytes.
    unsafe { std::ptr::copy_nonoverlapping(from, (own as *mut T).cast::<u8>(), n) }
}

/// Makes the host's tables of a BTL component's devices. `name` must live as long as they.
///
/// # Safety
/// `opened` must be what the component's `open` filled, its pointers valid for the sizes they say.
pub unsafe fn accept_btl(
    opened: &Opened,
    name: &'static str,
    place: &str,
) -> Result<Vec<BtlHandle>, Refusal> {
    let least = size_of::<BtlModule>();
    let mut handles = Vec::new();
    for at in modules(opened, least, MODULES_LIMIT, place)? {
        // SAFETY: `stride` bytes, at least `least`, are there for each.
        handles.push(unsafe { accept_device(at, opened.stride, name, place)? });
    }
    Ok(handles)
}

/// Makes the host's table of one BTL module (one device), after checks of its size, attributes and table.
///
/// # Safety
/// `at` must be readable for `stride` bytes, the pointers in it for the sizes they say.
unsafe fn accept_device(
    at: *const u8,
    stride: usize,
    name: &'static str,
    place: &str,
) -> Result<BtlHandle, Refusal> {
    let refuse = |field, theirs: String, ours: String| Err(Refusal::new(field, theirs, ours, place));
    let least = size_of::<BtlModule>();
    // SAFETY: readable by the caller's promise.
    let size = unsafe { size_at(at) };
    if size < least || size > stride {
        return refuse("module size", format!("{size} bytes"), format!("{least} to {stride} bytes"));
    }
    // SAFETY: inside the module; all of it is numbers and plain pointers.
    let BtlModule { state, table, attrs: said, .. } = unsafe { at.cast::<BtlModule>().read() };
    if said.is_null() || !said.is_aligned() {
        return refuse("attributes", format!("{said:p}"), "an aligned address that is not null".into());
    }
    // SAFETY: attributes begin with their size.
    let size = unsafe { size_at(said.cast()) };
    if !(8..=TABLE_LIMIT).contains(&size) {
        return refuse("attributes size", format!("{size} bytes"), format!("8 to {TABLE_LIMIT} bytes"));
    }
    // A field that an older component does not have keeps its default.
    let mut attrs = BtlAttrs::new();
    // SAFETY: `size` bytes are there; any bytes are valid integers.
    unsafe { overlay(&mut attrs, said.cast(), size) };
    attrs.size = size_of::<BtlAttrs>() as u32;
    if attrs.contexts == 0 {
        return refuse("contexts", "0".into(), "1 or more".into());
    }
    // SAFETY: the caller's promise about pointers.
    let table = unsafe { read_table(table, place)? };
    handle(state, &table, attrs, name, place)
}

/// Copies a BTL component's table into one of this library's layout; slots that the component's table does not have are
/// `None`.
///
/// # Safety
/// `table` must be null or readable for the size it says.
unsafe fn read_table(table: *const BtlTable, place: &str) -> Result<BtlTable, Refusal> {
    let refuse = |field, theirs: String, ours: String| Err(Refusal::new(field, theirs, ours, place));
    if table.is_null() || !table.is_aligned() {
        return refuse("table", format!("{table:p}"), "an aligned address that is not null".into());
    }
    let at = table.cast::<u8>();
    // SAFETY: every table begins with its size.
    let size = unsafe { size_at(at) };
    let basic = offset_of!(BtlTable, get);
    if size < basic || size > TABLE_LIMIT || !size.is_multiple_of(8) {
        let ours = format!("a multiple of 8 from {basic} to {TABLE_LIMIT} bytes");
        return refuse("table size", format!("{size} bytes"), ours);
    }
    let mut own = BtlTable {
        size: 0,
        version: 0,
        add_procs: None,
        del_procs: None,
        finalize: None,
        send: None,
        progress: None,
        get: None,
        put: None,
        flush: None,
        atomic: None,
        register_mem: None,
        deregister_mem: None,
        arm: None,
        disarm: None,
        get_vector: None,
        hold: None,
        held: None,
        service_open: None,
        service_request: None,
        service_progress: None,
        service_reply: None,
        service_pending: None,
        service_arm: None,
        service_disarm: None,
        list: None,
        partner: None,
    };
    // SAFETY: that many bytes are there; a slot is a pointer or null, which is `None`.
    unsafe { overlay(&mut own, at, size) };
    if own.version != oxmpi_btl::TABLE_VERSION {
        return refuse("table version", own.version.to_string(), oxmpi_btl::TABLE_VERSION.to_string());
    }
    Ok(own)
}

/// Builds the host's table of a BTL module: mandatory slots must be there, missing ones get a function of `absent`, and
/// capability bits tell which verbs are real. Leaks the attributes, which [`discard`] frees.
fn handle(
    state: State,
    table: &BtlTable,
    mut attrs: BtlAttrs,
    name: &'static str,
    place: &str,
) -> Result<BtlHandle, Refusal> {
    let missing = |slot: &'static str| Refusal::new("table", format!("no {slot}"), "one", place);
    // Half a pair is no offer.
    let register = table.register_mem.zip(table.deregister_mem);
    let sleep = table.arm.zip(table.disarm);
    let hold = table.hold.zip(table.held);
    let service =
        table.service_open.zip(table.service_request).zip(table.service_progress).zip(table.service_reply);
    let service_sleep = table.service_arm.zip(table.service_disarm);
    let caps = [
        (cap::GET, table.get.is_some()),
        (cap::PUT, table.put.is_some()),
        (cap::ATOMIC, table.atomic.is_some()),
        (cap::FLUSH, table.flush.is_some()),
        (cap::REGISTER, register.is_some()),
        (cap::SLEEP, sleep.is_some()),
        (cap::GET_VECTOR, table.get_vector.is_some()),
        (cap::HOLD, hold.is_some()),
        (cap::SERVICE, service.is_some() && attrs.service_limit > 0),
        (cap::SERVICE_SLEEP, service_sleep.is_some()),
        (cap::LIST, table.list.is_some() && attrs.list_limit > 0),
        (cap::PARTNER, table.partner.is_some()),
    ];
    let caps = caps.iter().filter(|(_, has)| *has).fold(0, |all, (bit, _)| all | bit);
    if caps & cap::ATOMIC == 0 {
        attrs.amo_ops = 0;
    }
    if attrs.registration_handle_size as usize > HANDLE_LIMIT {
        let ours = format!("at most {HANDLE_LIMIT}");
        return Err(Refusal::new("registration handle size", attrs.registration_handle_size, ours, place));
    }
    Ok(BtlHandle {
        size: size_of::<BtlHandle>() as u32,
        caps,
        state,
        send: table.send.ok_or_else(|| missing("send"))?,
        progress: table.progress.ok_or_else(|| missing("progress"))?,
        get: table.get.unwrap_or(absent::rma),
        put: table.put.unwrap_or(absent::rma),
        flush: table.flush.unwrap_or(absent::flush),
        atomic: table.atomic.unwrap_or(absent::atomic),
        register_mem: register.map_or(absent::register as _, |r| r.0),
        deregister_mem: register.map_or(absent::deregister as _, |r| r.1),
        arm: sleep.map_or(absent::arm as _, |s| s.0),
        disarm: sleep.map_or(absent::disarm as _, |s| s.1),
        add_procs: table.add_procs.ok_or_else(|| missing("add_procs"))?,
        del_procs: table.del_procs.unwrap_or(absent::del_procs),
        finalize: table.finalize.unwrap_or(absent::finalize),
        get_vector: table.get_vector.unwrap_or(absent::vector),
        hold: hold.map_or(absent::hold as _, |h| h.0),
        held: hold.map_or(absent::held as _, |h| h.1),
        service_open: table.service_open.unwrap_or(absent::service_open),
        service_request: table.service_request.unwrap_or(absent::service_request),
        service_progress: table.service_progress.unwrap_or(absent::service_progress),
        service_reply: table.service_reply.unwrap_or(absent::service_reply),
        service_pending: table.service_pending.unwrap_or(absent::service_pending),
        service_arm: service_sleep.map_or(absent::service_arm as _, |s| s.0),
        service_disarm: service_sleep.map_or(absent::service_disarm as _, |s| s.1),
        // Lives as long as the handle, which the PML may have until the end of the process.
        attrs: Box::leak(Box::new(attrs)),
        name: StrRef::new(name),
        emulated: 0,
        index: 0,
        list: table.list.unwrap_or(absent::list),
        partner: table.partner.unwrap_or(absent::partner),
    })
}

/// Frees a handle that was given to nobody.
pub fn discard(handle: BtlHandle) {
    // SAFETY: `handle` leaked it, and nobody else knows where it is.
    drop(unsafe { Box::from_raw(handle.attrs.cast_mut()) });
}

/// Checks that all pointers in bytes `from..to` of a foreign structure are not null, and refuses the component
/// otherwise.
///
/// # Safety
/// `at` must be aligned and readable up to `to`.
unsafe fn no_null(at: *const u8, from: usize, to: usize, place: &str) -> Result<(), Refusal> {
    for offset in (from..to).step_by(8) {
        // SAFETY: the caller's promise.
        if unsafe { at.add(offset).cast::<usize>().read() } == 0 {
            let theirs = format!("null at byte {offset}");
            return Err(Refusal::new("table", theirs, "a function in every slot", place));
        }
    }
    Ok(())
}

/// Makes the host's table of a PML. All verbs up to `finalize` are mandatory. `None`: the component opened no module.
///
/// # Safety
/// As [`accept_btl`].
pub unsafe fn accept_pml(opened: &Opened, place: &str) -> Result<Option<Pml>, Refusal> {
    let refuse = |field, theirs: String, ours: String| Err(Refusal::new(field, theirs, ours, place));
    let least = size_of::<PmlModule>();
    let Some(&at) = modules(opened, least, 1, place)?.first() else { return Ok(None) };
    // SAFETY: `stride`, at least `least`, bytes are there.
    let size = unsafe { size_at(at) };
    if size < least || size > opened.stride {
        return refuse("module size", format!("{size} bytes"), format!("{least} to {} bytes", opened.stride));
    }
    // SAFETY: as above; the module is numbers and raw pointers.
    let module = unsafe { at.cast::<PmlModule>().read() };
    let table = module.table;
    if table.is_null() || !table.is_aligned() {
        return refuse("table", format!("{table:p}"), "an aligned address that is not null".into());
    }
    let base = table.cast::<u8>();
    // SAFETY: every table begins with size and version.
    let (size, version) = unsafe { (size_at(base), *base.add(4).cast::<u32>()) };
    let least = offset_of!(PmlTable, counts);
    if size < least || size > TABLE_LIMIT {
        return refuse("table size", format!("{size} bytes"), format!("{least} to {TABLE_LIMIT} bytes"));
    }
    if version != oxmpi_pml::TABLE_VERSION {
        return refuse("table version", version.to_string(), oxmpi_pml::TABLE_VERSION.to_string());
    }
    // SAFETY: `least` bytes are there.
    unsafe { no_null(base, offset_of!(PmlTable, enable), least, place)? };
    if module.max_tag < 32767 {
        return refuse("largest tag", module.max_tag.to_string(), "32767 or more (MPI 5.0 §9.1.2)".into());
    }
    let mut own = MaybeUninit::<PmlTable>::zeroed();
    // SAFETY: `size` bytes are there; every mandatory slot holds a function, and one that the table does
    // not reach to, or leaves empty, gets one of ours before the value is taken as a table.
    let table = unsafe {
        std::ptr::copy_nonoverlapping(base, own.as_mut_ptr().cast(), size.min(size_of::<PmlTable>()));
        let bytes = own.as_mut_ptr().cast::<u8>();
        let is_empty = |at: usize| bytes.add(at).cast::<usize>().read() == 0;
        if is_empty(offset_of!(PmlTable, counts)) {
            (&raw mut (*own.as_mut_ptr()).counts).write(absent::counts);
        }
        if is_empty(offset_of!(PmlTable, set_flags)) {
            (&raw mut (*own.as_mut_ptr()).set_flags).write(absent::set_flags);
        }
        if is_empty(offset_of!(PmlTable, measure)) {
            (&raw mut (*own.as_mut_ptr()).measure).write(absent::measure);
        }
        if is_empty(offset_of!(PmlTable, revoke)) {
            (&raw mut (*own.as_mut_ptr()).revoke).write(absent::revoke);
        }
        if is_empty(offset_of!(PmlTable, progress_context)) {
            (&raw mut (*own.as_mut_ptr()).progress_context).write(absent::progress_context);
        }
        if is_empty(offset_of!(PmlTable, send_failure)) {
            (&raw mut (*own.as_mut_ptr()).send_failure).write(absent::send_failure);
        }
        own.assume_init()
    };
    Ok(Some(Pml { state: module.state, max_tag: module.max_tag, table }))
}

/// Copies the one module of a collective or one-sided component, whose module is a structure of functions from byte
/// `first` on. `None`: the component opened no module.
///
/// # Safety
/// As [`accept_btl`]; `T` is plain numbers and pointers up to `first`.
unsafe fn accept_module<T>(opened: &Opened, first: usize, place: &str) -> Result<Option<T>, Refusal> {
    let least = size_of::<T>();
    let Some(&at) = modules(opened, least, 1, place)?.first() else { return Ok(None) };
    // SAFETY: `stride`, at least `least`, bytes are there.
    let size = unsafe { size_at(at) };
    if size < least || size > opened.stride {
        let ours = format!("{least} to {} bytes", opened.stride);
        return Err(Refusal::new("module size", format!("{size} bytes"), ours, place));
    }
    // SAFETY: as above; then every function is there.
    unsafe {
        no_null(at, first, least, place)?;
        Ok(Some(at.cast::<T>().read()))
    }
}

/// Makes the host's copy of a collective component's module. `None`: the component opened none.
///
/// # Safety
/// As [`accept_btl`].
pub unsafe fn accept_coll(opened: &Opened, place: &str) -> Result<Option<CollModule>, Refusal> {
    // SAFETY: the caller's promise.
    unsafe { accept_module(opened, offset_of!(CollModule, comm_query), place) }
}

/// Makes the host's copy of a one-sided component's module. `None`: the component opened none.
///
/// # Safety
/// As [`accept_btl`].
pub unsafe fn accept_osc(opened: &Opened, place: &str) -> Result<Option<OscModule>, Refusal> {
    // SAFETY: the caller's promise.
    unsafe { accept_module(opened, offset_of!(OscModule, query), place) }
}

/// Makes the host's copy of a window's verbs. Those up to `free` are mandatory; of what follows the host fills the gaps.
///
/// # Safety
/// `table` must be null or readable for the size it says.
pub unsafe fn read_osc_table(table: *const OscTable, place: &str) -> Result<OscTable, Refusal> {
    let refuse = |field, theirs: String, ours: String| Err(Refusal::new(field, theirs, ours, place));
    if table.is_null() || !table.is_aligned() {
        return refuse("table", format!("{table:p}"), "an aligned address that is not null".into());
    }
    let base = table.cast::<u8>();
    // SAFETY: every table begins with size and version.
    let (size, version) = unsafe { (size_at(base), *base.add(4).cast::<u32>()) };
    let least = offset_of!(OscTable, put_notify);
    if size < least || size > TABLE_LIMIT {
        return refuse("table size", format!("{size} bytes"), format!("{least} to {TABLE_LIMIT} bytes"));
    }
    if version != oxmpi_osc::TABLE_VERSION {
        return refuse("table version", version.to_string(), oxmpi_osc::TABLE_VERSION.to_string());
    }
    // SAFETY: `least` bytes are there.
    unsafe { no_null(base, offset_of!(OscTable, put), least, place)? };
    let mut own = MaybeUninit::<OscTable>::zeroed();
    let slots = own.as_mut_ptr();
    // SAFETY: `size` bytes are there; every mandatory slot holds a function, and one that the table does not
    // reach to, or leaves empty, gets one of ours before the value is taken as a table.
    unsafe {
        std::ptr::copy_nonoverlapping(base, slots.cast(), size.min(size_of::<OscTable>()));
        macro_rules! or_absent {
            ($($slot:ident: $absent:path),*) => {$(
                if slots.cast::<u8>().add(offset_of!(OscTable, $slot)).cast::<usize>().read() == 0 {
                    (&raw mut (*slots).$slot).write($absent);
                }
            )*};
        }
        or_absent!(
            put_notify: absent_osc::notified,
            get_notify: absent_osc::notified,
            notify_read: absent_osc::notify_read,
            notify_wait: absent_osc::notify_wait,
            dup: absent_osc::dup,
            counts: absent_osc::counts,
            flush_begin: absent_osc::flush_begin
        );
        Ok(own.assume_init())
    }
}
