//! The host of one rank: the tables that its component gets, and a record of what it said.

use crate::net::Net;
use crate::registry::Registry;
use crate::services::SERVICES;
use crate::setup::{Setup, text};
use crate::transport::{attrs_of, endpoint_of, handle_of};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use oxmpi_btl::{BtlAttrs, BtlHandle, BtlServices, Reach, Registration};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::host::{HostTable, ProgressFn};
use oxmpi_mca::{
    AmEntry, AmParts, Cri, Descriptor, JobInfo, LockServices, LockTable, OpenArgs, RecvDesc, RequestHeader,
    SliceRef, Status, StrRef, ThreadCtx,
};
use oxmpi_pml::{PmlModule, PmlTable, Transports};
use std::sync::{Arc, Mutex};

/// See the file's head. Lives as long as the process: components keep pointers into it.
pub struct Rank {
    pub number: u32,
    job: Box<JobInfo>,
    pub threaded: Box<AtomicU32>,
    pub cris: Box<[Cri]>,
    /// Written before anything is received.
    rows: Box<UnsafeCell<[AmEntry; 256]>>,
    parts: Box<[Option<AmParts>; 256]>,
    net: Arc<Net>,
    tables: Option<Tables>,
    module: Option<PmlModule>,
    pub errors: Mutex<Vec<(u32, String)>>,
    pub armed: AtomicI32,
    slots: AtomicU32,
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

extern "C" fn nobody(_: *mut c_void, _: *const RecvDesc) -> u32 {
    panic!("a message with a tag that nobody registered")
}

impl Rank {
    /// Opens the component for a rank.
    pub fn open(setup: &Setup, net: &Arc<Net>, number: u32, threaded: bool) -> &'static Rank {
        let rank = Box::leak(Box::new(Rank {
            number,
            job: Box::new(JobInfo {
                size: net.ranks,
                rank: number,
                job_size: net.ranks,
                node: 0,
                local_rank: number,
                local_size: net.ranks,
                job_id: 1,
                segment_fd: -1,
                oversubscribed: 0,
                cores: 1,
                keeper_pid: 0,
            }),
            threaded: Box::new(AtomicU32::new(threaded.into())),
            cris: (0..net.cris).map(|_| Cri::new(LockServices::WITHOUT_OWNERS)).collect(),
            rows: Box::new(UnsafeCell::new([AmEntry { receive: nobody, ctx: null_mut() }; 256])),
            parts: Box::new([None; 256]),
            net: net.clone(),
            tables: None,
            module: None,
            errors: Mutex::default(),
            armed: AtomicI32::new(0),
            slots: AtomicU32::new(0),
            turns: AtomicU64::new(0),
        }));
        rank.tables = Some(rank.make_tables());
        rank.module = Some(rank.open_component(setup));
        rank
    }

    /// The rank behind a component's first argument.
    pub fn of<'a>(instance: *mut c_void) -> &'a Rank {
        // SAFETY: ranks live as long as the process, and nothing else is handed out as such.
        unsafe { &*instance.cast::<Rank>() }
    }
    pub fn net(&self) -> &Net {
        &self.net
    }
    pub fn is_threaded(&self) -> bool {
        self.threaded.load(Ordering::Relaxed) != 0
    }
    /// Who takes messages with that tag.
    pub fn row(&self, tag: u8) -> AmEntry {
        // SAFETY: nobody writes any more.
        unsafe { (*self.rows.get())[tag as usize] }
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
        let host = Box::new(HostTable {
            size: size_of::<HostTable>() as u32,
            abi_minor: oxmpi_mca::ABI_MINOR as u32,
            instance,
            job: &*self.job,
            threaded: (&raw const *self.threaded).cast(),
            cris: self.cris.as_ptr(),
            num_cris: self.cris.len() as u32,
            cri_modes: 0,
            am_table: self.rows.get().cast(),
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
            am_parts: self.parts.as_ptr(),
            am_register_parts,
            services: &SERVICES,
            locking: LockTable::without_calls(LockServices::WITHOUT_OWNERS),
        });
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
        });
        Tables { host, _attrs: attrs, btl, services, reached }
    }

    fn tables(&self) -> &Tables {
        self.tables.as_ref().expect("made")
    }

    fn open_component(&self, setup: &Setup) -> PmlModule {
        // SAFETY: a descriptor is a static of its component.
        let descriptor: &Descriptor = unsafe { &*setup.descriptor };
        // SAFETY: as above.
        let values = setup.values(unsafe { descriptor.params.get() });
        let args = OpenArgs {
            size: size_of::<OpenArgs>() as u32,
            reserved: 0,
            host: &*self.tables().host,
            values: SliceRef { ptr: values.as_ptr(), len: values.len() },
        };
        let mut opened =
            Opened { size: size_of::<Opened>() as u32, priority: 0, modules: null(), count: 0, stride: 0 };
        assert_eq!((descriptor.open)(&args, &mut opened), Status::OK, "open");
        assert_eq!(opened.count, 1, "a PML has one module");
        assert!(!opened.modules.is_null());
        // SAFETY: one module stands there.
        let module = unsafe { opened.modules.cast::<PmlModule>().read() };
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

extern "C" fn log(i: *mut c_void, level: i32, _: StrRef, message: StrRef) {
    if level <= 1 {
        eprintln!("rank {}: {}", Rank::of(i).number, text(message));
    }
}
extern "C" fn help(i: *mut c_void, _: StrRef, topic: StrRef, _: SliceRef<StrRef>) {
    eprintln!("rank {}: help {}", Rank::of(i).number, text(topic));
}
extern "C" fn fatal(i: *mut c_void, _: StrRef, message: StrRef) -> ! {
    eprintln!("rank {}: fatal: {}", Rank::of(i).number, text(message));
    std::process::abort()
}
extern "C" fn am_register(i: *mut c_void, tag: u8, entry: AmEntry) -> Status {
    // SAFETY: nothing is received yet.
    unsafe { (*Rank::of(i).rows.get())[tag as usize] = entry };
    Status::OK
}
/// Messages are whole when they are handed up.
extern "C" fn am_register_parts(_: *mut c_void, _: u8, _: AmParts) -> Status {
    Status::OK
}
extern "C" fn progress_register(_: *mut c_void, _: ProgressFn, _: *mut c_void, _: u32) -> Status {
    Status::OK
}
extern "C" fn progress_unregister(_: *mut c_void, _: ProgressFn, _: *mut c_void) -> Status {
    Status::OK
}
extern "C" fn progress(i: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    let (table, state) = Rank::of(i).pml();
    (table.progress)(state, thread)
}
/// Nobody attaches a sync object here: waiters look at the completion word.
extern "C" fn sync_update(_: *mut c_void, _: usize) {
    panic!("a completion tells a sync object that was not attached")
}
extern "C" fn request_slot(i: *mut c_void, req: *mut RequestHeader) -> Status {
    // SAFETY: a live header of the component's.
    unsafe { (*req).slot = Rank::of(i).slots.fetch_add(1, Ordering::Relaxed) };
    Status::OK
}
extern "C" fn wait(_: *mut c_void, _: *mut ThreadCtx, _: *mut RequestHeader) -> Status {
    panic!("no verb of a PML waits")
}
extern "C" fn exchange_put(i: *mut c_void, component: StrRef, data: SliceRef<u8>) -> Status {
    let rank = Rank::of(i);
    // SAFETY: valid for the call.
    let card = unsafe { data.get() }.to_vec();
    rank.net.cards().insert((text(component).to_owned(), rank.number), card);
    Status::OK
}
extern "C" fn exchange_get(
    i: *mut c_void,
    component: StrRef,
    proc: u32,
    data: *mut u8,
    len: *mut usize,
) -> Status {
    let cards = Rank::of(i).net.cards();
    let Some(card) = cards.get(&(text(component).to_owned(), proc)) else { return Status::NOT_FOUND };
    // SAFETY: the caller's buffer and its length.
    unsafe {
        let room = core::mem::replace(&mut *len, card.len());
        if room < card.len() {
            return Status::NO_RESOURCE;
        }
        core::ptr::copy_nonoverlapping(card.as_ptr(), data, card.len());
    }
    Status::OK
}
extern "C" fn peer_error(i: *mut c_void, _: StrRef, proc: u32, _: u32, message: StrRef) {
    let mut errors = Rank::of(i).errors.lock().unwrap_or_else(|e| e.into_inner());
    errors.push((proc, text(message).to_owned()));
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
