//! The author's side of a component: implement [`Component`], call [`crate::component!`] once.
//!
//! ```ignore
//! struct Shm;
//! impl Component for Shm { type Module = BtlModule; fn open(..) -> .. { .. } }
//! oxmpi_mca::component! {
//!     component: Shm, symbol: oxmpi_component_btl_shm, framework: "btl", framework_version: oxmpi_btl::VERSION,
//!     name: "shm", aliases: ["sm", "vader"], params: &params::PARAMS, help: include_str!("help.txt"),
//! }
//! ```
//!
//! The macro makes the one exported function (loaded form) and `pub fn descriptor()` (linked-in
//! form); both give the same descriptor. A panic in `open` is caught and refuses the component;
//! hot verbs abort on panic (`extern "C"`).

use crate::abi::{OpenArgs, Opened, ResolveArgs};
use crate::host::Host;
use crate::params::Params;
use crate::resolve::{Answers, Process, Refused};
use crate::status::Status;

/// The reason for which a component does not open. `NOT_AVAILABLE` is silent unless the user named the component.
#[derive(Debug)]
pub struct OpenError {
    /// The code that `open` answers to the host; a failure.
    pub status: Status,
    /// One sentence for people, logged by `open`: as an error, or at info level where the status is `NOT_AVAILABLE`.
    pub message: String,
}

impl OpenError {
    /// Nothing to offer on this machine or in this job.
    pub fn not_available(message: impl Into<String>) -> OpenError {
        OpenError { status: Status::NOT_AVAILABLE, message: message.into() }
    }
    /// An error with this failure code and a sentence for people.
    pub fn new(status: Status, message: impl Into<String>) -> OpenError {
        OpenError { status, message: message.into() }
    }
}

impl From<Refused> for OpenError {
    fn from(refused: Refused) -> OpenError {
        OpenError { status: refused.status, message: refused.why }
    }
}

/// A framework's `repr(C)` module struct.
pub trait Module: 'static {
    /// Version of the table that it points to.
    const TABLE_VERSION: u32;
}

/// A component of any framework. `Module` is the framework's `repr(C)` module struct.
pub trait Component {
    /// `repr(C)`, made by the framework crate (`BtlModule`, `PmlModule`, `CollModule`).
    type Module: Module;
    /// The component's name, for log lines.
    const NAME: &'static str;

    /// Makes the component's state for one runtime instance: priority, which decides in frameworks with one winner, and modules. An error:
    /// the component is not used; NOT_AVAILABLE in silence, BAD_PARAM for a value that cannot work, or any other failure with its message.
    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<Self::Module>), OpenError>;

    /// Tells which values are in force in a process, and how those follow that say 0 or `auto`; refuses what
    /// [`Component::open`] refuses. Both must use the same functions, so that there is one derivation. It makes and changes
    /// nothing, and the process need not exist. The error is the one value with which the component does not open: BAD_PARAM or
    /// NOT_SUPPORTED, as [`Refused`] says.
    ///
    /// Unless it is written all values are in force as they are set.
    fn resolve(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        let _ = (process, params, answers);
        Ok(())
    }
}

/// The flags of `open`, 0 from a host that has none.
///
/// # Safety
/// `args` must be what the host passes to `Descriptor::open`.
unsafe fn flags_of(args: *const OpenArgs) -> u64 {
    let end = core::mem::offset_of!(OpenArgs, flags) + size_of::<u64>();
    // SAFETY: `size` is the first field of every host's struct. `flags` is read only where that size covers it, and no reference to the whole
    // struct is made, which an older host's is too short for.
    unsafe { if (*args).size as usize >= end { (*args).flags } else { 0 } }
}

/// Body of the exported `open`; used by the macro. Answers the status of [`OpenError`], or PANICKED.
///
/// # Safety
/// `args` and `out` must be what the host passes to `Descriptor::open`.
pub unsafe fn open_thunk<C: Component>(args: *const OpenArgs, out: *mut Opened) -> Status {
    // SAFETY: every host of this ABI has the fields up to `values`, and `flags_of` asks for what is behind them.
    let (table, flags) = unsafe { ((*args).host, flags_of(args)) };
    // SAFETY: the host's table outlives the component's modules.
    let host = unsafe { Host::new(table, C::NAME) }.named(flags & OpenArgs::NAMED != 0);
    // No lock of the host is held here, so none stays taken.
    let opened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        // SAFETY: the values live as long as the host table.
        let values = unsafe { (*args).values.get() };
        C::open(host, Params(values))
    }));
    match opened {
        Ok(Ok((priority, modules))) => {
            // Freed never: components are not unloaded and a module lives as long as its instance.
            let modules: &'static mut [C::Module] = modules.leak();
            // SAFETY: `out` is the host's.
            unsafe {
                (*out).priority = priority;
                (*out).modules = modules.as_ptr().cast();
                (*out).count = modules.len();
                (*out).stride = core::mem::size_of::<C::Module>();
            }
            Status::OK
        }
        Ok(Err(e)) => {
            if e.status == Status::NOT_AVAILABLE {
                host.info(&e.message);
            } else {
                host.error(&e.message);
            }
            e.status
        }
        Err(_) => Status::PANICKED,
    }
}

/// Body of the exported `resolve`; used by the macro. OK, whatever the component refuses; PANICKED.
///
/// # Safety
/// `args` must be what the host passes to `Descriptor::resolve`.
pub unsafe fn resolve_thunk<C: Component>(args: *const ResolveArgs) -> Status {
    // SAFETY: the host passes full arguments, valid during the call.
    let (args, values) = unsafe { (&*args, (*args).values.get()) };
    // SAFETY: as above.
    let process = Process { job: unsafe { &*args.job }, num_cris: args.num_cris };
    let resolved = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut answers = Answers::new(args);
        if let Err(refused) = C::resolve(&process, Params(values), &mut answers) {
            answers.refuse(&refused);
        }
    }));
    match resolved {
        Ok(()) => Status::OK,
        Err(_) => Status::PANICKED,
    }
}

/// Makes the descriptor, the exported symbol and `descriptor()` of a component.
#[macro_export]
macro_rules! component {
    (
        component: $ty:ty, symbol: $symbol:ident, framework: $fw:expr, framework_version: $fwv:expr,
        name: $name:expr, aliases: [$($alias:expr),*], params: $params:expr, help: $help:expr $(,)?
    ) => {
        extern "C" fn oxmpi_open(
            args: *const $crate::OpenArgs,
            out: *mut $crate::abi::Opened,
        ) -> $crate::Status {
            // SAFETY: only the host calls this, through the descriptor.
            unsafe { $crate::component::open_thunk::<$ty>(args, out) }
        }

        extern "C" fn oxmpi_resolve(args: *const $crate::abi::ResolveArgs) -> $crate::Status {
            // SAFETY: as above.
            unsafe { $crate::component::resolve_thunk::<$ty>(args) }
        }

        static OXMPI_ALIASES: &[$crate::StrRef] = &[$($crate::StrRef::new($alias)),*];

        static OXMPI_DESCRIPTOR: $crate::Descriptor = $crate::Descriptor {
            magic: $crate::MAGIC,
            abi_major: $crate::ABI_MAJOR,
            abi_minor: $crate::ABI_MINOR,
            size: core::mem::size_of::<$crate::Descriptor>() as u32,
            target: $crate::StrRef::new($crate::abi::TARGET),
            framework: $crate::StrRef::new($fw),
            framework_version: $fwv,
            name: $crate::StrRef::new($name),
            version: $crate::component::package_version(
                env!("CARGO_PKG_VERSION_MAJOR"),
                env!("CARGO_PKG_VERSION_MINOR"),
                env!("CARGO_PKG_VERSION_PATCH"),
            ),
            aliases: $crate::SliceRef::new(OXMPI_ALIASES),
            params: $crate::SliceRef::new($params),
            help: $crate::StrRef::new($help),
            open: oxmpi_open,
            lock_protocol: $crate::LOCK_PROTOCOL,
            cri_stride: core::mem::size_of::<$crate::Cri>() as u32,
            resolve: Some(oxmpi_resolve),
            table_version: <<$ty as $crate::Component>::Module as $crate::component::Module>::TABLE_VERSION,
            reserved: 0,
        };

        /// The descriptor, for hosts that link this component in.
        pub fn descriptor() -> *const $crate::Descriptor {
            &OXMPI_DESCRIPTOR
        }

        /// The descriptor, for hosts that load this component.
        // SAFETY: the name carries framework and component, so it collides with nothing.
        #[unsafe(no_mangle)]
        pub extern "C" fn $symbol() -> *const $crate::Descriptor {
            &OXMPI_DESCRIPTOR
        }
    };
}

/// A crate's version from cargo's three variables.
pub const fn package_version(major: &str, minor: &str, patch: &str) -> crate::abi::Version {
    crate::abi::Version { major: decimal(major) as u16, minor: decimal(minor) as u16, patch: decimal(patch) }
}

const fn decimal(s: &str) -> u32 {
    let (b, mut i, mut n) = (s.as_bytes(), 0, 0u32);
    while i < b.len() && b[i].is_ascii_digit() {
        n = n * 10 + (b[i] - b'0') as u32;
        i += 1;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SliceRef;

    #[test]
    fn flags_are_read_only_where_the_host_has_them() {
        let told = |size: usize| {
            let args = OpenArgs {
                size: size as u32,
                reserved: 0,
                host: core::ptr::null(),
                values: SliceRef::new(&[]),
                flags: OpenArgs::NAMED,
            };
            // SAFETY: the struct is whole, whatever it says of its size.
            unsafe { flags_of(&args) }
        };
        let (full, as_frozen) = (size_of::<OpenArgs>(), core::mem::offset_of!(OpenArgs, flags));
        assert_eq!(told(full), OpenArgs::NAMED);
        assert_eq!(told(full + 8), OpenArgs::NAMED, "a newer host");
        assert_eq!(told(as_frozen), 0, "a host from before the field");
    }
}
