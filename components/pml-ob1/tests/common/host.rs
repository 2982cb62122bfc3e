//! The host of the tests: one table per process, and a record of what the component said to it.

use super::net::{Net, Setup};
use super::spin::Spin;
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use oxmpi_btl::{BtlAttrs, BtlHandle, BtlServices, Listener, PlaceBy, Reach, Registration};
use oxmpi_mca::biased::System;
use oxmpi_mca::host::{HostTable, ProgressFn, cri_mode};
use oxmpi_mca::sync::unmodelled::{AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{
    AmEntry, AmParts, Cri, Descriptor, Entry, Host, JobInfo, LayerFunction, LockServices, LockTable,
    RecvDesc, RequestHeader, SliceRef, Status, StrRef, ThreadCtx,
};
use oxmpi_pml::PmlModule;
use oxmpi_progress::policy::kind::{Kind, Rule};
use oxmpi_progress::thread::lasting_context;
use oxmpi_progress::{Crowding, Engine, Served};
use oxmpi_testing::text;
use rustix::thread::{MembarrierCommand, membarrier};
use rustix::time::{ClockId, clock_gettime};

/// One process: its host table and what the host was told.
pub struct Proc {
    pub rank: u32,
    job: Box<JobInfo>,
    pub threaded: Box<AtomicU32>,
    pub cris: Box<[Cri]>,
    pub am: Spin<Box<[AmEntry; 256]>>,
    pub parts: Spin<Box<[Option<AmParts>; 256]>>,
    pub placer: Spin<Option<PlaceBy>>,
    table: Option<Box<HostTable>>,
    #[allow(clippy::vec_box, reason = "handles point to them while the list grows")]
    attrs: Vec<Box<BtlAttrs>>,
    btls: Vec<BtlHandle>,
    btl_services: Option<Box<BtlServices>>,
    reached: Vec<Vec<Reach>>,
    net: *const Net,
    modes: u32,
    rule: Rule,
    pub pml: Option<PmlModule>,
    pub errors: Spin<Vec<(u32, String)>>,
    pub logs: Spin<Vec<(i32, String)>>,
    pub helps: Spin<Vec<String>>,
    /// A process that is known no more.
    pub parted: AtomicU32,
    pub armed: AtomicU32,
    /// Contexts that were progressed, by bits.
    pub turned: AtomicU64,
    pub slots: AtomicU32,
    pub synced: AtomicU32,
    /// Times that a receive callback answered STOP.
    pub stops: AtomicU32,
    pub thread: *mut ThreadCtx,
    pub engine: Engine,
}

pub fn proc_of<'a>(p: *mut c_void) -> &'a Proc {
    // SAFETY: the harness passes processes of a world that lives.
    unsafe { &*p.cast::<Proc>() }
}
impl Proc {
    pub fn net(&self) -> &Net {
        // SAFETY: the net lives as long as the world.
        unsafe { &*self.net }
    }
}

extern "C" fn log(i: *mut c_void, level: i32, _c: StrRef, m: StrRef) {
    proc_of(i).logs.lock().push((level, text(m).to_owned()));
}
extern "C" fn help(i: *mut c_void, _c: StrRef, topic: StrRef, args: SliceRef<StrRef>) {
    // SAFETY: valid for the call.
    let args: Vec<&str> = unsafe { args.get() }.iter().map(|a| text(*a)).collect();
    proc_of(i).helps.lock().push(format!("{} {}", text(topic), args.join(" | ")));
}
extern "C" fn fatal(_: *mut c_void, _c: StrRef, m: StrRef) -> ! {
    eprintln!("fatal: {}", text(m));
    std::process::abort()
}
extern "C" fn am_register(i: *mut c_void, tag: u8, entry: AmEntry) -> Status {
    proc_of(i).am.lock()[tag as usize] = entry;
    Status::OK
}
extern "C" fn am_register_parts(i: *mut c_void, tag: u8, take: AmParts) -> Status {
    proc_of(i).parts.lock()[tag as usize] = Some(take);
    Status::OK
}
extern "C" fn progress_register(i: *mut c_void, function: *const LayerFunction) -> Status {
    // SAFETY: readable during the call, and the component's, which is never unloaded; processes stay.
    unsafe { proc_of(i).engine.register(&*function) }
}
extern "C" fn progress_unregister(i: *mut c_void, f: ProgressFn, ctx: *mut c_void) -> Status {
    proc_of(i).engine.unregister(f, ctx.addr())
}
extern "C" fn host_progress(i: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    // SAFETY: the component passes its thread's context.
    proc_of(i).engine.turn(&mut unsafe { proc_of(i).entry(thread) })
}
extern "C" fn expect(i: *mut c_void, thread: *mut ThreadCtx, set: u64) {
    // SAFETY: the component passes its thread's context.
    let entry = unsafe { proc_of(i).entry(thread) };
    proc_of(i).engine.contexts().expect("served").expect(&entry, set);
}
extern "C" fn sync_update(i: *mut c_void, _: usize) {
    proc_of(i).synced.fetch_add(1, Ordering::SeqCst);
}
extern "C" fn request_slot(i: *mut c_void, req: *mut RequestHeader) -> Status {
    // SAFETY: a live header.
    unsafe { (*req).slot = proc_of(i).slots.fetch_add(1, Ordering::SeqCst) };
    Status::OK
}
extern "C" fn host_wait(_: *mut c_void, _: *mut ThreadCtx, _: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn exchange_put(i: *mut c_void, _c: StrRef, data: SliceRef<u8>) -> Status {
    let p = proc_of(i);
    // SAFETY: valid for the call.
    p.net().cards.lock().insert(p.rank, unsafe { data.get() }.to_vec());
    Status::OK
}
extern "C" fn exchange_get(i: *mut c_void, _c: StrRef, proc: u32, data: *mut u8, len: *mut usize) -> Status {
    match proc_of(i).net().cards.lock().get(&proc) {
        None => Status::NOT_FOUND,
        Some(card) => {
            // SAFETY: the caller's buffer and length; cards are short.
            unsafe {
                core::ptr::copy_nonoverlapping(card.as_ptr(), data, card.len());
                *len = card.len();
            }
            Status::OK
        }
    }
}
extern "C" fn peer_error(i: *mut c_void, _c: StrRef, proc: u32, _fatal: u32, m: StrRef) {
    proc_of(i).errors.lock().push((proc, text(m).to_owned()));
}

extern "C" fn reach(i: *mut c_void, proc: u32, out: *mut SliceRef<Reach>) -> Status {
    if proc == proc_of(i).parted.load(Ordering::Relaxed) {
        return Status::BAD_PARAM;
    }
    match proc_of(i).reached.get(proc as usize) {
        None => Status::UNREACHABLE,
        Some(reached) => {
            // SAFETY: the caller's out pointer.
            unsafe { *out = SliceRef { ptr: reached.as_ptr(), len: reached.len() } };
            Status::OK
        }
    }
}

/// This component has nobody listen.
unsafe extern "C" fn listen(
    _: *mut c_void,
    _: *const BtlHandle,
    _: *const Registration,
    _: Listener,
    _: *mut c_void,
) -> Status {
    Status::NOT_SUPPORTED
}

extern "C" fn register(
    i: *mut c_void,
    _: *const BtlHandle,
    addr: *mut u8,
    len: u64,
    access: u32,
    out: *mut *const Registration,
) -> Status {
    let (net, rank) = (proc_of(i).net(), proc_of(i).rank);
    let mut registry = net.registry.lock();
    if registry.count_of(rank) >= net.setup.registrations {
        return Status::NO_RESOURCE;
    }
    // SAFETY: the caller's out pointer.
    unsafe { *out = registry.register(rank, addr, len, access) };
    Status::OK
}
extern "C" fn release(i: *mut c_void, _: *const BtlHandle, registration: *const Registration) -> Status {
    // SAFETY: the caller gives back what it was given.
    unsafe { proc_of(i).net().registry.lock().release(registration) };
    Status::OK
}
extern "C" fn deregister(i: *mut c_void, _: *const BtlHandle, registration: *const Registration) -> Status {
    // SAFETY: the caller gives back for good what it was given.
    unsafe { proc_of(i).net().registry.lock().deregister(registration) };
    Status::OK
}

extern "C" fn am_nobody(_: *mut c_void, _: *const RecvDesc) -> u32 {
    panic!("a message for nobody");
}

const LOCKS: &LockServices = &LockServices::of::<Kernel>();

/// As the host has it: locks have owners where this kernel has membarrier.
struct Kernel;

impl System for Kernel {
    fn has_barrier() -> bool {
        membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    }
    fn barrier() {
        membarrier(MembarrierCommand::PrivateExpedited).expect("it was there");
    }
    fn now() -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }
}

impl Proc {
    pub fn new(rank: u32, net: *const Net, setup: &Setup) -> &'static mut Proc {
        let nobody = AmEntry { receive: am_nobody, ctx: null_mut() };
        let locks = if rule(setup).kind.takes_from_owners() { LOCKS } else { LockServices::WITHOUT_OWNERS };
        // The component keeps pointers into it, and its pools are never given back either.
        Box::leak(Box::new(Proc {
            rank,
            job: Box::new(JobInfo {
                size: setup.procs,
                rank,
                // One more than there are: the last one cannot be reached.
                job_size: setup.procs + 1,
                node: 0,
                local_rank: rank,
                local_size: setup.procs,
                job_id: 1,
                segment_fd: -1,
                oversubscribed: 0,
                cores: 1,
                keeper_pid: 0,
            }),
            threaded: Box::new(AtomicU32::new(setup.threaded as u32)),
            cris: (0..setup.cris).map(|_| Cri::new(locks)).collect(),
            am: Spin::new(Box::new([nobody; 256])),
            parts: Spin::new(Box::new([None; 256])),
            table: None,
            attrs: Vec::new(),
            btls: Vec::new(),
            btl_services: None,
            reached: Vec::new(),
            net,
            modes: setup.modes,
            rule: rule(setup),
            pml: None,
            errors: Spin::default(),
            logs: Spin::default(),
            helps: Spin::default(),
            placer: Spin::default(),
            parted: AtomicU32::new(u32::MAX),
            armed: AtomicU32::new(0),
            turned: AtomicU64::new(0),
            slots: AtomicU32::new(0),
            synced: AtomicU32::new(0),
            stops: AtomicU32::new(0),
            thread: lasting_context(0, 0),
            engine: Engine::new(),
        }))
    }

    fn host_table(&self) -> HostTable {
        HostTable {
            size: size_of::<HostTable>() as u32,
            abi_minor: 0,
            instance: self as *const Proc as *mut c_void,
            job: &*self.job,
            threaded: &*self.threaded,
            cris: self.cris.as_ptr(),
            num_cris: self.cris.len() as u32,
            cri_modes: self.modes,
            am_table: self.am.lock().as_ptr(),
            log,
            help,
            fatal,
            am_register,
            progress_register,
            progress_unregister,
            progress: host_progress,
            sync_update,
            request_slot,
            wait: host_wait,
            exchange_put,
            exchange_get,
            peer_error,
            am_parts: self.parts.lock().as_ptr(),
            am_register_parts,
            // This component asks for none of them.
            services: null(),
            locking: LockTable::without_calls(LOCKS),
            expect,
        }
    }

    fn services_table(&self) -> BtlServices {
        BtlServices {
            size: size_of::<BtlServices>() as u32,
            reserved: 0,
            instance: self as *const Proc as *mut c_void,
            reach,
            register,
            deregister,
            acquire: register,
            release,
            listen,
        }
    }

    /// The way in of a call of the thread with this context.
    ///
    /// # Safety
    /// The calling thread's, or null; a process that is not threaded is used by one thread.
    pub unsafe fn entry(&self, thread: *mut ThreadCtx) -> Entry {
        // SAFETY: the caller's promise; contexts of tests stay.
        unsafe { Entry::of(self.threaded.load(Ordering::Relaxed) != 0, thread) }
    }

    /// As another component sees it.
    pub fn host(&self) -> Host {
        // SAFETY: the table stays as long as the process.
        unsafe { Host::new(&**self.table.as_ref().unwrap(), "another") }
    }

    /// Opens the component as a host does and gives it its transport. `all`: of all processes.
    pub fn open(&mut self, setup: &Setup, all: &[Setup]) {
        self.table = Some(Box::new(self.host_table()));
        self.attrs.push(Box::new(super::net::attrs_of(setup)));
        self.btls = vec![self.transport(setup, &self.attrs[0])];
        if setup.narrow {
            let wide = *self.attrs[0];
            self.attrs.push(Box::new(BtlAttrs { contexts: 1, exclusivity: wide.exclusivity + 1, ..wide }));
            self.btls.push(self.narrow(setup, &self.attrs[1]));
        }
        if setup.twin {
            self.attrs.push(Box::new(*self.attrs[0]));
            self.btls.push(self.twin(setup, &self.attrs[1]));
        }
        let several = if setup.twin { 2 } else { 1 };
        // An endpoint is a process's number plus 1, so that none is null. The narrow transport reaches nobody.
        let endpoint = |proc| (proc as usize + 1) as *mut c_void;
        let to = |(proc, other): (u32, &Setup)| {
            let width = setup.cris.min(other.cris);
            let by = |btl: &BtlHandle| Reach { btl, endpoint: endpoint(proc), width, reserved: 0 };
            self.btls[..several].iter().map(by).collect()
        };
        self.reached = (0..).zip(all).map(to).collect();
        self.btl_services = Some(Box::new(self.services_table()));
        // SAFETY: the descriptor is a static of the component.
        let descriptor: &Descriptor = unsafe { &*pml_ob1::descriptor() };
        let table: &HostTable = self.table.as_ref().expect("made above");
        let opened = oxmpi_testing::setup::open::<PmlModule>(descriptor, table, &params(setup));
        let (priority, modules) = opened.expect("the component opens");
        assert_eq!((modules.len(), priority), (1, 20));
        let pml = modules[0];
        self.pml = Some(pml);
        // The best by exclusivity stands first.
        let btls: Vec<&BtlHandle> = self.btls.iter().rev().collect();
        let served = Served {
            cris: &self.cris,
            btls: &btls,
            dormant: &|_| false,
            services: &**self.btl_services.as_ref().unwrap(),
            rule: self.rule,
            crowding: Crowding {
                oversubscribed: false,
                cores: 1,
                anywhere: self.modes & (cri_mode::DEDICATED | cri_mode::ROUND_ROBIN) != 0,
            },
        };
        // SAFETY: processes stay, with all that they have; the module was opened just now.
        assert_eq!(unsafe { self.engine.serve(&served, &pml) }, Status::OK);
        if setup.threaded {
            self.engine.begin_threads();
        }
    }
}

/// The rule by which threads of the processes make turns.
fn rule(setup: &Setup) -> Rule {
    let serial = setup.modes & cri_mode::SERIAL_PROGRESS != 0;
    Rule { kind: if serial { Kind::Serial } else { setup.progress }, most_threads: 0 }
}

/// Parameters that differ from their defaults get these values.
fn params(setup: &Setup) -> Vec<(String, String)> {
    let run = setup.min_get_run.max(0);
    let given = [
        ("eager_credit", setup.credit),
        ("min_get_run", run),
        ("min_get_run_local", run),
        ("max_get_pieces", 0),
        ("fork_turns", setup.fork_turns),
    ];
    given.map(|(name, value)| (name.to_owned(), value.to_string())).into()
}
