//! From what `open` returned to the host's own tables.

use super::accepted::{Pml, Refusal};
use oxmpi_btl::{BtlAttrs, BtlHandle, BtlModule, BtlTable, HANDLE_LIMIT};
use oxmpi_coll::CollModule;
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{RequestHeader, Status, StrRef, ThreadCtx};
use oxmpi_osc::{OscModule, OscTable, OscWindow, RmaArgs, WinCounts, WinDesc};
use oxmpi_pml::{Counts, PmlModule, PmlTable, SendArgs};
use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};
use std::ops::Range;

/// More devices than this no component has.
const MODULES_LIMIT: usize = 1024;
/// Tables only grow, but not to this.
pub(super) const TABLE_LIMIT: usize = 1 << 16;

/// A component's own state, passed back as the first argument of each of its functions.
type State = *mut c_void;

/// Real functions for slots that a PML does not fill.
mod absent {
    use super::*;

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
    /// Stands in for a PML's missing `send_failure`: refuses with NOT_SUPPORTED.
    pub extern "C" fn send_failure(
        _: State,
        _: *const SendArgs,
        _: Status,
        _: *mut *mut RequestHeader,
    ) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a PML's missing `peer_parted`: refuses with NOT_SUPPORTED.
    pub extern "C" fn peer_parted(_: State, _: u32) -> Status {
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
pub(super) unsafe fn size_at(at: *const u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe { *at.cast::<u32>() as usize }
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
    // SAFETY: `size` bytes are there, and it is 8 or more.
    let attrs = BtlAttrs { size: size_of::<BtlAttrs>() as u32, ..unsafe { BtlAttrs::read(said) } };
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
    // SAFETY: `size` bytes are there, more than 8; a slot is a pointer or null.
    let own = unsafe { BtlTable::read(table) };
    if own.version != oxmpi_btl::TABLE_VERSION {
        return refuse("table version", own.version.to_string(), oxmpi_btl::TABLE_VERSION.to_string());
    }
    Ok(own)
}

/// Builds the host's table of a BTL module from what its table and attributes offer. Leaks the attributes, which live
/// as long as the handle.
fn handle(
    state: State,
    table: &BtlTable,
    mut attrs: BtlAttrs,
    name: &'static str,
    place: &str,
) -> Result<BtlHandle, Refusal> {
    if table.atomic.is_none() {
        attrs.amo_ops = 0;
    }
    if attrs.registration_handle_size as usize > HANDLE_LIMIT {
        let ours = format!("at most {HANDLE_LIMIT}");
        return Err(Refusal::new("registration handle size", attrs.registration_handle_size, ours, place));
    }
    // SAFETY: table and state of one module, which is never unloaded and is used until it is finalized.
    match unsafe { table.complete(state, &attrs, StrRef::new(name)) } {
        // They live as long as the handle, which the PML may have until the end of the process.
        Ok(handle) => Ok(BtlHandle { attrs: Box::leak(Box::new(attrs)), ..handle }),
        Err(slot) => Err(Refusal::new("table", format!("no {slot}"), "one", place)),
    }
}

/// Checks that all pointers in bytes `from..to` of a foreign structure are not null, and refuses the component
/// otherwise.
///
/// # Safety
/// `at` must be aligned and readable up to `to`.
pub(super) unsafe fn no_null(at: *const u8, from: usize, to: usize, place: &str) -> Result<(), Refusal> {
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
        if is_empty(offset_of!(PmlTable, send_failure)) {
            (&raw mut (*own.as_mut_ptr()).send_failure).write(absent::send_failure);
        }
        if is_empty(offset_of!(PmlTable, peer_parted)) {
            (&raw mut (*own.as_mut_ptr()).peer_parted).write(absent::peer_parted);
        }
        own.assume_init()
    };
    Ok(Some(Pml { state: module.state, max_tag: module.max_tag, table }))
}

/// Copies the one module of a component of a framework with one module each, whose module is a structure with functions in
/// `mandatory`. `None`: the component opened no module.
///
/// # Safety
/// As [`accept_btl`]; `T` is plain numbers and pointers up to `mandatory`, and behind it has only what zero bytes are a value of.
pub(super) unsafe fn accept_module<T>(
    opened: &Opened,
    mandatory: Range<usize>,
    place: &str,
) -> Result<Option<T>, Refusal> {
    let least = mandatory.end;
    let Some(&at) = modules(opened, least, 1, place)?.first() else { return Ok(None) };
    // SAFETY: `stride`, at least `least`, bytes are there.
    let size = unsafe { size_at(at) };
    if size < least || size > opened.stride {
        let ours = format!("{least} to {} bytes", opened.stride);
        return Err(Refusal::new("module size", format!("{size} bytes"), ours, place));
    }
    let mut own = MaybeUninit::<T>::zeroed();
    // SAFETY: as above; then every function is there, and what the module does not reach to is zero.
    unsafe {
        no_null(at, mandatory.start, least, place)?;
        std::ptr::copy_nonoverlapping(at, own.as_mut_ptr().cast(), size.min(size_of::<T>()));
        Ok(Some(own.assume_init()))
    }
}

/// Makes the host's copy of a collective component's module. `None`: the component opened none.
///
/// # Safety
/// As [`accept_btl`].
pub unsafe fn accept_coll(opened: &Opened, place: &str) -> Result<Option<CollModule>, Refusal> {
    // SAFETY: the caller's promise.
    unsafe {
        accept_module(opened, offset_of!(CollModule, comm_query)..offset_of!(CollModule, comm_prepare), place)
    }
}

/// Makes the host's copy of a one-sided component's module. `None`: the component opened none.
///
/// # Safety
/// As [`accept_btl`].
pub unsafe fn accept_osc(opened: &Opened, place: &str) -> Result<Option<OscModule>, Refusal> {
    // SAFETY: the caller's promise.
    unsafe { accept_module(opened, offset_of!(OscModule, query)..size_of::<OscModule>(), place) }
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
