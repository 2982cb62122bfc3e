//! The first thing the host reads of a component, and the small types everything else is made of.
//!
//! **The first 16 bytes of [`Descriptor`] never change.** Nothing behind them is read until magic,
//! versions and size have passed. All structs grow at the end only, and only in minor versions;
//! docs/abi.md holds a hash of this file so that it cannot change unnoticed.

use crate::host::{HostTable, JobInfo};
use crate::params::{ParamDecl, ParamValue};
pub use crate::refs::{SliceRef, StrRef};
use crate::status::Status;
use core::ffi::c_void;

/// First word of a descriptor: "OXMPICMP", little-endian.
pub const MAGIC: u64 = u64::from_le_bytes(*b"OXMPICMP");
/// Major version of the component ABI; a component of another major is refused (docs/abi.md, rules 3 and 15).
pub const ABI_MAJOR: u16 = 3;
/// Minor version of the component ABI; a component of the same major with this minor or an older one is accepted.
pub const ABI_MINOR: u16 = 0;

/// Pointer width, byte order and cache line a component was built for; equal or refused.
pub const TARGET: &str = concat_target();

const fn concat_target() -> &'static str {
    if cfg!(all(target_pointer_width = "64", target_endian = "little")) {
        "64-le-line64"
    } else {
        "unsupported"
    }
}

/// A version of a contract or a component: compared by major, then by minor, then by patch.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Number that changes when a component of the number before cannot be used any more.
    pub major: u16,
    /// Number that grows when something is appended.
    pub minor: u16,
    /// Number that grows when nothing changes that the other side sees; never compared for acceptance.
    pub patch: u32,
}

/// The descriptor that a component's one exported function returns a pointer to.
#[repr(C)]
pub struct Descriptor {
    // --- the 16 bytes that never change ---
    /// [`MAGIC`]; anything else is no descriptor, and is refused.
    pub magic: u64,
    /// [`ABI_MAJOR`] of what the component was built with; equal or refused.
    pub abi_major: u16,
    /// [`ABI_MINOR`] of what the component was built with; a newer one than the host's is refused.
    pub abi_minor: u16,
    /// Bytes of this struct as the component was built with it.
    pub size: u32,
    // --- checked next ---
    /// [`TARGET`] of what the component was built for; equal or refused.
    pub target: StrRef,
    /// Name of the component's framework (`btl`, `pml`, `coll`, `osc`); refused where it is not the one that the file's name says.
    pub framework: StrRef,
    /// Version of the framework's contract that the component implements; refused where its major is another than the host's, or its minor newer.
    pub framework_version: Version,
    /// The component's name: small letters, digits and `_`, and the one that the file's name says; refused otherwise.
    pub name: StrRef,
    /// The component's own version. It is shown, and nothing is decided by it.
    pub version: Version,
    /// Other names the component answers to (`sm`, `vader` for `shm`).
    pub aliases: SliceRef<StrRef>,
    /// The parameters that the component declares. `open` and `resolve` get their values in this order.
    pub params: SliceRef<ParamDecl>,
    /// The text of the component's `help.txt`.
    pub help: StrRef,
    /// Makes the component's state for one runtime instance; called once per instance, from one
    /// thread. Everything a component knows lies behind what this returns. NOT_AVAILABLE: it has nothing to offer here, and is left out in
    /// silence; other failures are reported with the component's last line in the log. PANICKED: it has panicked.
    pub open: extern "C" fn(args: *const OpenArgs, out: *mut Opened) -> Status,
    /// The component's way of taking the locks of CRIs: `LOCK_PROTOCOL` of what it was built with; equal or refused.
    pub lock_protocol: u32,
    /// Bytes of a `Cri` as the component was built with it; equal or refused.
    pub cri_stride: u32,
    /// Tells which values are in force; called any number of times, by several threads at a time, before and after `open` and
    /// without it. Values that are refused are no failure of the call. PANICKED: it has panicked. `None`: all values are in force as they are set.
    /// Since ABI 2.1.
    pub resolve: Option<extern "C" fn(args: *const ResolveArgs) -> Status>,
    /// Version of the framework's table that the component's modules have: what `version` says there; equal or refused, before
    /// anything of the component is called. 0: it is seen when a module comes. Since ABI 2.2.
    pub table_version: u32,
    /// Must be 0.
    pub reserved: u32,
}

// SAFETY: a descriptor is immutable and its pointers are to statics of the component.
unsafe impl Sync for Descriptor {}

/// Arguments of `open`.
#[repr(C)]
pub struct OpenArgs {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// 0 from the host; a component does not look at it.
    pub reserved: u32,
    /// Valid until the instance has closed the component.
    pub host: *const HostTable,
    /// One value per declared parameter, in the order of the declarations; valid as `host`.
    pub values: SliceRef<ParamValue>,
    /// [`OpenArgs::NAMED`], or 0. Appended to ABI 3.0: older hosts do not have it, so a component looks at `size` first.
    pub flags: u64,
}

impl OpenArgs {
    /// In `flags`: somebody has named the component in a list of those to use.
    pub const NAMED: u64 = 1;
}

/// Arguments of `resolve`: values as in `open`, and the process for which they are looked at. The process need not exist: there is no
/// host and no segment, and nothing may be made or changed. The machine may be read (its processor, devices, interfaces).
#[repr(C)]
pub struct ResolveArgs {
    /// Bytes of this struct as the host was built with it.
    pub size: u32,
    /// Communication resources (CRIs) of the process.
    pub num_cris: u32,
    /// Facts of the process in its job.
    pub job: *const JobInfo,
    /// As in [`OpenArgs`].
    pub values: SliceRef<ParamValue>,
    /// First argument of the functions below.
    pub ctx: *mut c_void,
    /// The value that the parameter of that index has in the process, written as a user would set it, and in one sentence how it
    /// follows. An empty value, or no call for a parameter: it is in force as it is set.
    pub in_force: extern "C" fn(*mut c_void, param: u32, value: StrRef, because: StrRef),
    /// A value with which `open` would fail, and why, with the parameter's full name and what it takes. `BAD_PARAM`: it is wrong
    /// anywhere, so that no process is started with it; `NOT_SUPPORTED`: this machine cannot do what it asks for.
    pub refuse: extern "C" fn(*mut c_void, param: u32, status: Status, why: StrRef),
}

/// Result of `open`. `module` is the framework's own table type; several modules (one per device)
/// stand one behind the other. The host reads `count` of them with the stride the table says.
#[repr(C)]
pub struct Opened {
    /// Bytes of this struct as the host was built with it; a component writes no field behind that.
    pub size: u32,
    /// The component's rank among those of a framework with one winner (pml), in which the highest number wins; others ignore it.
    pub priority: i32,
    /// The first module, aligned to 8 bytes, valid as long as the instance; null where `count` is 0.
    pub modules: *const c_void,
    /// Number of modules. 0: the component opens and has none. In pml, coll and osc more than 1 is refused.
    pub count: usize,
    /// Bytes from one module to the next: a multiple of 8, not less than the framework's module struct; looked at where `count` is not 0.
    pub stride: usize,
}

const _: () = {
    assert!(core::mem::offset_of!(Descriptor, magic) == 0);
    assert!(core::mem::offset_of!(Descriptor, abi_major) == 8);
    assert!(core::mem::offset_of!(Descriptor, abi_minor) == 10);
    assert!(core::mem::offset_of!(Descriptor, size) == 12);
    assert!(core::mem::offset_of!(Descriptor, target) == 16);
    assert!(core::mem::offset_of!(Descriptor, framework) == 32);
    assert!(core::mem::offset_of!(Descriptor, open) == 128);
    assert!(core::mem::offset_of!(Descriptor, resolve) == 144);
    assert!(core::mem::offset_of!(Descriptor, table_version) == 152);
    assert!(core::mem::size_of::<Descriptor>() == 160);
    assert!(core::mem::size_of::<ResolveArgs>() == 56);
    assert!(core::mem::size_of::<StrRef>() == 16);
    assert!(core::mem::size_of::<Version>() == 8);
    assert!(core::mem::size_of::<OpenArgs>() == 40);
    assert!(core::mem::size_of::<Opened>() == 32);
};
