//! Opening the component for a rank: the tables that it gets.

use crate::host::{Rank, Tables};
use crate::net::Net;
use crate::setup::Setup;
use crate::transport::{attrs_of, endpoint_of, handle_of};
use core::ffi::c_void;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use oxmpi_btl::{BtlHandle, BtlServices, Listener, Reach, Registration};
use oxmpi_mca::{SliceRef, Status};
use oxmpi_pml::PmlModule;
use oxmpi_progress::policy::kind::Rule;
use oxmpi_progress::{Crowding, Engine, Served};
use oxmpi_testing::{Desk, FakeHost, setup};
use std::sync::{Arc, Mutex};

impl Rank {
    /// Opens the component for a rank.
    pub fn open(setup: &Setup, net: &Arc<Net>, number: u32, threaded: bool) -> &'static Rank {
        let rank = Box::leak(Box::new(Rank {
            number,
            desk: Desk::new(Desk::job_of(number, net.ranks), net.cris, threaded, net.shared.clone()),
            net: net.clone(),
            tables: None,
            module: None,
            errors: Mutex::default(),
            armed: AtomicI32::new(0),
            turns: AtomicU64::new(0),
            engine: Engine::new(),
        }));
        rank.tables = Some(rank.make_tables());
        rank.module = Some(rank.open_component(setup));
        rank
    }

    fn make_tables(&self) -> Tables {
        let instance: *mut c_void = core::ptr::from_ref(self).cast_mut().cast();
        let host = Box::new(self.desk.table(self));
        let attrs = Box::new(attrs_of(self.net.wire, self.net.cris));
        let btl = Box::new(handle_of(self, &attrs));
        let reach_of =
            |proc| Reach { btl: &*btl, endpoint: endpoint_of(proc), width: attrs.contexts, reserved: 0 };
        let reached = (0..self.net.ranks).map(reach_of).collect();
        let services = Box::new(BtlServices {
            size: size_of::<BtlServices>() as u32,
            reserved: 0,
            instance,
            reach,
            register,
            deregister,
            acquire: register,
            release: deregister,
            listen,
        });
        Tables { host, _attrs: attrs, btl, services, reached }
    }

    fn open_component(&self, setup: &Setup) -> PmlModule {
        // SAFETY: a descriptor is a static of its component.
        let descriptor = unsafe { &*setup.descriptor };
        let (_, modules) = setup::open::<PmlModule>(descriptor, &self.tables().host, &setup.params)
            .unwrap_or_else(|status| panic!("open: {status}"));
        assert_eq!(modules.len(), 1, "a PML has one module");
        let module = modules[0];
        let served = Served {
            cris: &self.desk.cris,
            btls: &[&*self.tables().btl],
            dormant: &|_| false,
            services: &*self.tables().services,
            rule: Rule::default(),
            crowding: Crowding::default(),
        };
        // SAFETY: ranks stay, with all that they have; the module was opened just now.
        assert_eq!(unsafe { self.engine.serve(&served, &module) }, Status::OK, "enable");
        if self.desk.threaded.load(Ordering::Relaxed) != 0 {
            self.engine.begin_threads();
        }
        module
    }
}

extern "C" fn reach(i: *mut c_void, proc: u32, out: *mut SliceRef<Reach>) -> Status {
    let Some(reached) = Rank::of(i).tables().reached.get(proc as usize) else { return Status::UNREACHABLE };
    // SAFETY: the caller's out pointer.
    unsafe { *out = SliceRef { ptr: reached, len: 1 } };
    Status::OK
}
extern "C" fn register(
    i: *mut c_void,
    _: *const BtlHandle,
    addr: *mut u8,
    len: u64,
    access: u32,
    out: *mut *const Registration,
) -> Status {
    let rank = Rank::of(i);
    // SAFETY: the caller's out pointer.
    unsafe { *out = rank.net.registry().register(rank.number, addr, len, access) };
    Status::OK
}
extern "C" fn deregister(i: *mut c_void, _: *const BtlHandle, registration: *const Registration) -> Status {
    // SAFETY: the caller gives back what it was given.
    unsafe { Rank::of(i).net.registry().deregister(registration) };
    Status::OK
}

/// Nobody listens.
unsafe extern "C" fn listen(
    _: *mut c_void,
    _: *const BtlHandle,
    _: *const Registration,
    _: Listener,
    _: *mut c_void,
) -> Status {
    Status::NOT_SUPPORTED
}
