//! The host of one rank: the tables that its component gets, and a record of what it said.

use crate::net::Net;
use crate::registry::Registry;
use crate::setup::Setup;
use crate::transport::{attrs_of, endpoint_of, handle_of};
use core::ffi::c_void;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use oxmpi_btl::{BtlAttrs, BtlHandle, BtlServices, Reach, Registration};
use oxmpi_mca::host::{HostTable, ProgressFn};
use oxmpi_mca::{AmParts, SliceRef, Status, ThreadCtx};
use oxmpi_pml::{PmlModule, PmlTable, Transports};
use oxmpi_testing::{Desk, FakeHost, setup};
use std::sync::{Arc, Mutex};

/// See the file's head. Lives as long as the process: components keep pointers into it.
pub struct Rank {
    pub number: u32,
    pub desk: Desk,
    net: Arc<Net>,
    tables: Option<Tables>,
    module: Option<PmlModule>,
    pub errors: Mutex<Vec<(u32, String)>>,
    pub armed: AtomicI32,
    turns: AtomicU64,
}

struct Tables {
    host: Box<HostTable>,
    _attrs: Box<BtlAttrs>,
    btl: Box<BtlHandle>,
    services: Box<BtlServices>,
    reached: Box<[Reach]>,
}

// SAFETY: what is not atomic or locked is written before the rank is shared.
unsafe impl Send for Rank {}
// SAFETY: as above.
unsafe impl Sync for Rank {}

impl FakeHost for Rank {
    fn desk(&self) -> &Desk {
        &self.desk
    }
    /// Nobody attaches a sync object here, and no verb of a PML waits.
    fn unused(&self, what: &str) -> Status {
        panic!("rank {} {what}", self.number)
    }
    fn failed(&self, proc: u32, _: Status, message: &str) {
        let mut errors = self.errors.lock().unwrap_or_else(|e| e.into_inner());
        errors.push((proc, message.to_owned()));
    }
    /// Messages are whole when they are handed up.
    fn am_register_parts(&self, _: u8, _: AmParts) -> Status {
        Status::OK
    }
    fn progress_register(&self, _: ProgressFn, _: *mut c_void) -> Status {
        Status::OK
    }
    fn progress_unregister(&self, _: ProgressFn, _: *mut c_void) -> Status {
        Status::OK
    }
    fn progress(&self, thread: *mut ThreadCtx) -> i32 {
        let (table, state) = self.pml();
        (table.progress)(state, thread)
    }
}

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
        }));
        rank.tables = Some(rank.make_tables());
        rank.module = Some(rank.open_component(setup));
        rank
    }

    pub fn net(&self) -> &Net {
        &self.net
    }
    /// True every third time.
    pub fn takes_turns(&self) -> bool {
        self.turns.fetch_add(1, Ordering::Relaxed) % 3 == 2
    }
    /// The component's table and state.
    pub fn pml(&self) -> (&'static PmlTable, *mut c_void) {
        let module = self.module.as_ref().expect("opened");
        // SAFETY: a component's table lives as long as the process.
        (unsafe { &*module.table }, module.state)
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
        });
        Tables { host, _attrs: attrs, btl, services, reached }
    }

    fn tables(&self) -> &Tables {
        self.tables.as_ref().expect("made")
    }

    fn open_component(&self, setup: &Setup) -> PmlModule {
        // SAFETY: a descriptor is a static of its component.
        let descriptor = unsafe { &*setup.descriptor };
        let (_, modules) = setup::open::<PmlModule>(descriptor, &self.tables().host, &setup.params)
            .unwrap_or_else(|status| panic!("open: {status}"));
        assert_eq!(modules.len(), 1, "a PML has one module");
        let module = modules[0];
        let btl: *const BtlHandle = &*self.tables().btl;
        let transports = Transports {
            size: size_of::<Transports>() as u32,
            reserved: 0,
            btls: SliceRef { ptr: &btl, len: 1 },
            services: &*self.tables().services,
        };
        let mut polled = u64::MAX;
        // SAFETY: a component's table lives as long as the process.
        let table = unsafe { &*module.table };
        assert_eq!((table.enable)(module.state, &transports, &mut polled), Status::OK, "enable");
        assert_eq!(polled, 1, "a PML polls what it sends over, and nothing that there is not");
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
    let mut registry = Rank::of(i).net.registry();
    // SAFETY: the caller's out pointer.
    unsafe { *out = Registry::register(&mut registry, addr, len, access) };
    Status::OK
}
extern "C" fn deregister(i: *mut c_void, _: *const BtlHandle, registration: *const Registration) -> Status {
    // SAFETY: the caller gives back what it was given.
    unsafe { Rank::of(i).net.registry().deregister(registration) };
    Status::OK
}
