//! Registered memory, for PML and one-sided components: the services `register`, `deregister`, `acquire` and `release`.
//!
//! `register` goes to the module each time. `acquire` goes by the registration cache ([`oxmpi_rcache`]), if the module pins memory and the
//! cache is not switched off; the cache and its watcher come to be with the first one. Where it cannot be had, `acquire`
//! is `register`.

use crate::objects::Instance;
use crate::transports::reach;
use oxmpi_btl::{BtlHandle, BtlServices, Listener, Registration, cap};
use oxmpi_loading::values::HostParams;
use oxmpi_loading::values::LeavePinned;
use oxmpi_mca::Status;
use oxmpi_rcache::{Cache, Counts, Limits, Registered, Watch};
use oxmpi_system::page_size;
use std::ffi::c_void;

/// The host's name in lines of the log.
const FRAMEWORK: &str = "btl";

impl Instance {
    /// The table of services for PML and one-sided components; made at the first call.
    pub(crate) fn btl_services(&self) -> *const BtlServices {
        let make = || {
            Box::new(BtlServices {
                size: size_of::<BtlServices>() as u32,
                reserved: 0,
                instance: std::ptr::from_ref(self).cast_mut().cast(),
                reach,
                register,
                deregister,
                acquire,
                release,
                listen,
            })
        };
        &raw const **self.transports().services.get_or_init(make)
    }

    /// The registration cache, and the number that a module has in it; the first call starts the watcher. `None`:
    /// registrations with this module are not kept.
    fn cache_for(&self, btl: &BtlHandle) -> Option<(&Cache<BtlHandle>, usize)> {
        if self.host_params().keeping.leave_pinned == LeavePinned::Never {
            return None;
        }
        let parts = self.parts()?;
        // The handle of an emulated transport registers for its own requests, too; only the transport's own registration pins.
        if !parts.btls().get(btl.index as usize)?.can(cap::REGISTER) {
            return None;
        }
        let cache = self.transports().cache.get_or_init(|| self.make_cache(parts.btls().len()));
        cache.as_deref().map(|cache| (cache, btl.index as usize * 2 + usize::from(btl.emulated != 0)))
    }

    /// Starts the registration cache for so many modules, with its watcher. `None`: it cannot be had, which is logged,
    /// and shown as a help text if `mpi_leave_pinned` asks for it.
    fn make_cache(&self, modules: usize) -> Option<Box<Cache<BtlHandle>>> {
        let HostParams { keeping, .. } = &self.host_params();
        let limits =
            Limits { entries: keeping.entries as usize, bytes: keeping.bytes, page: page_size() as u64 };
        let started = Cache::start(modules * 2, limits, |shared| match keeping.trusted {
            true => Ok(Watch::trusting(shared)),
            false => Watch::start(shared),
        });
        match started {
            Ok(cache) => Some(Box::new(cache)),
            Err(why) => {
                self.logger().debug(FRAMEWORK, &format!("registered memory is not kept: {why}"));
                if keeping.leave_pinned == LeavePinned::Asked {
                    let help = oxmpi_loading::help::HOST;
                    self.show_help(oxmpi_loading::log::HOST, help, "leave-pinned", &[&why]);
                }
                None
            }
        }
    }

    /// The registration cache, if it has been started.
    fn existing_cache(&self) -> Option<&Cache<BtlHandle>> {
        self.transports().cache.get().and_then(|cache| cache.as_deref())
    }

    /// Counts of the registration cache; all 0 where there is none.
    pub fn registration_counts(&self) -> Counts {
        self.existing_cache().map_or_else(Counts::default, Cache::counts)
    }

    /// Ends the kept registrations that nobody uses. `for_good`: from now on none is kept.
    pub(crate) fn empty_cache(&self, for_good: bool) {
        if let Some(cache) = self.existing_cache() {
            cache.empty(for_good);
        }
    }

    /// Ends the watcher of the registration cache, after all modules have been closed.
    pub(crate) fn end_cache(&self) {
        if let Some(cache) = self.existing_cache() {
            cache.end();
        }
    }

    /// Closes the watcher's descriptor in a forked child, where it would keep the parent's memory watched. Called
    /// before anything else of the child's runs; makes a system call and takes no lock.
    pub fn forked(&self) {
        if let Some(cache) = self.existing_cache() {
            cache.forget();
        }
    }
}

/// The instance and the module of a call.
macro_rules! at {
    ($ctx:expr, $btl:expr) => {
        // SAFETY: components pass `BtlServices::instance`, which lives as long as they do, and a handle that they were given.
        unsafe { (&*($ctx as *const Instance), &*$btl) }
    };
}

/// Stores a registration at a component's out pointer; returns OK, or why there is none.
fn give(made: Result<*const Registration, Status>, out: *mut *const Registration) -> Status {
    match made {
        Ok(registration) => {
            // SAFETY: the caller's out pointer.
            unsafe { *out = registration };
            Status::OK
        }
        Err(status) => status,
    }
}

/// Service: registers memory with a module for the caller alone.
extern "C" fn register(
    ctx: *mut c_void,
    btl: *const BtlHandle,
    addr: *mut u8,
    len: u64,
    access: u32,
    out: *mut *const Registration,
) -> Status {
    let (instance, btl) = at!(ctx, btl);
    let made = match instance.existing_cache() {
        Some(cache) => cache.register(btl, addr as u64, len, access),
        None => Registered::new(btl, addr as u64, len, access).map(Registered::give),
    };
    give(made, out)
}

/// Service: finds a kept registration that covers the memory, or registers it and keeps that; where nothing is kept,
/// registers it for the caller alone.
extern "C" fn acquire(
    ctx: *mut c_void,
    btl: *const BtlHandle,
    addr: *mut u8,
    len: u64,
    access: u32,
    out: *mut *const Registration,
) -> Status {
    let (instance, handle) = at!(ctx, btl);
    match instance.cache_for(handle) {
        Some((cache, number)) => give(cache.acquire(handle, number, addr as u64, len, access), out),
        None => register(ctx, btl, addr, len, access, out),
    }
}

/// Service: gives a registration back; when it returns, peers do not write to the memory by it any more.
extern "C" fn deregister(
    ctx: *mut c_void,
    btl: *const BtlHandle,
    registration: *const Registration,
) -> Status {
    let (instance, _) = at!(ctx, btl);
    match instance.existing_cache() {
        // SAFETY: the caller has it from `register` or `acquire`, and gives it back once.
        Some(cache) => unsafe { cache.deregister(registration) },
        // SAFETY: made by `register`, given back once.
        None => unsafe { Registered::<BtlHandle>::end_own(registration) },
    }
}

/// Service: gives a registration back, which may stay in the cache.
extern "C" fn release(ctx: *mut c_void, btl: *const BtlHandle, registration: *const Registration) -> Status {
    let (instance, _) = at!(ctx, btl);
    match instance.existing_cache() {
        // SAFETY: the caller has it from `acquire`, and gives it back once.
        Some(cache) => unsafe { cache.release(registration) },
        // SAFETY: made for the caller alone by `acquire`, without a cache.
        None => unsafe { Registered::<BtlHandle>::end_own(registration) },
    }
}

/// Service: refuses. Transports as they are have nobody who could call a listener; see `crate::emulation` for those that have.
unsafe extern "C" fn listen(
    _: *mut c_void,
    _: *const BtlHandle,
    _: *const Registration,
    _: Listener,
    _: *mut c_void,
) -> Status {
    Status::NOT_SUPPORTED
}
