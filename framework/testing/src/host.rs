//! A rank's host: what it owns, what its functions answer, and the table made of both.

use crate::{Shared, held, services, text};
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::{from_ref, null_mut};
use oxmpi_mca::host::{HostTable, ProgressFn};
use oxmpi_mca::services::{HostServices, PeerFailed};
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{
    AmEntry, AmParts, Cri, JobInfo, LockServices, LockTable, RecvDesc, RequestHeader, SliceRef, Status,
    StrRef, ThreadCtx,
};
use std::sync::{Arc, Mutex};

/// A subscriber to failures of peers, and its context.
pub type Watcher = (PeerFailed, usize);

/// Data of the host of one rank. A component keeps pointers into it, so it stays where it is as long as the component's instance.
pub struct Desk {
    pub job: Box<JobInfo>,
    pub threaded: Box<AtomicU32>,
    pub cris: Box<[Cri]>,
    /// Receivers of active messages; written before anything is received.
    rows: Box<UnsafeCell<[AmEntry; 256]>>,
    parts: Box<UnsafeCell<[Option<AmParts>; 256]>>,
    slots: AtomicU32,
    /// Failures of peers that the component reported.
    pub failures: Mutex<Vec<(u32, Status)>>,
    pub watchers: Mutex<Vec<Watcher>>,
    pub shared: Arc<Shared>,
}

// SAFETY: what is not atomic or locked is written before anything is received.
unsafe impl Send for Desk {}
// SAFETY: as above.
unsafe impl Sync for Desk {}

extern "C" fn nobody(_: *mut c_void, _: *const RecvDesc) -> u32 {
    panic!("a message with a tag that nobody registered")
}

impl Desk {
    pub fn new(job: JobInfo, cris: u32, threaded: bool, shared: Arc<Shared>) -> Desk {
        Desk {
            job: Box::new(job),
            threaded: Box::new(AtomicU32::new(threaded.into())),
            cris: (0..cris).map(|_| Cri::new(LockServices::WITHOUT_OWNERS)).collect(),
            rows: Box::new(UnsafeCell::new([AmEntry { receive: nobody, ctx: null_mut() }; 256])),
            parts: Box::new(UnsafeCell::new([None; 256])),
            slots: AtomicU32::new(0),
            failures: Mutex::default(),
            watchers: Mutex::default(),
            shared,
        }
    }

    /// The facts of rank `rank` of `ranks` on one node.
    pub fn job_of(rank: u32, ranks: u32) -> JobInfo {
        JobInfo {
            size: size_of::<JobInfo>() as u32,
            rank,
            job_size: ranks,
            node: 0,
            local_rank: rank,
            local_size: ranks,
            job_id: 1,
            segment_fd: -1,
            oversubscribed: 0,
            cores: 1,
            keeper_pid: 0,
        }
    }

    pub fn is_threaded(&self) -> bool {
        self.threaded.load(Ordering::Relaxed) != 0
    }

    /// The receiver of a tag.
    pub fn row(&self, tag: u8) -> AmEntry {
        // SAFETY: nobody writes any more.
        unsafe { (*self.rows.get())[tag as usize] }
    }

    /// Sets the receiver of a tag, before anything is received.
    pub fn set_row(&self, tag: u8, entry: AmEntry) {
        // SAFETY: nobody reads yet.
        unsafe { (*self.rows.get())[tag as usize] = entry };
    }

    /// The same for messages in parts.
    pub fn set_parts(&self, tag: u8, take: AmParts) {
        // SAFETY: as above.
        unsafe { (*self.parts.get())[tag as usize] = Some(take) };
    }

    /// The table for the component of a rank, which stays where it is and owns this desk.
    pub fn table<H: FakeHost>(&self, rank: &H) -> HostTable {
        HostTable {
            size: size_of::<HostTable>() as u32,
            abi_minor: oxmpi_mca::ABI_MINOR as u32,
            instance: from_ref(rank).cast_mut().cast(),
            job: &*self.job,
            threaded: from_ref(&*self.threaded).cast(),
            cris: self.cris.as_ptr(),
            num_cris: self.cris.len() as u32,
            cri_modes: 0,
            am_table: self.rows.get().cast(),
            log: log::<H>,
            help: help::<H>,
            fatal: fatal::<H>,
            am_register: am_register::<H>,
            progress_register: progress_register::<H>,
            progress_unregister: progress_unregister::<H>,
            progress: progress::<H>,
            sync_update: sync_update::<H>,
            request_slot: request_slot::<H>,
            wait: wait::<H>,
            exchange_put: exchange_put::<H>,
            exchange_get: exchange_get::<H>,
            peer_error: peer_error::<H>,
            am_parts: self.parts.get().cast(),
            am_register_parts: am_register_parts::<H>,
            services: H::SERVICES,
            locking: LockTable::without_calls(LockServices::WITHOUT_OWNERS),
        }
    }
}

/// A rank's host. Methods run under the component's frames, so one that finds a fault notes it and goes on, or ends the process.
pub trait FakeHost: Sync + Sized + 'static {
    const SERVICES: &'static HostServices = &services::<Self>();

    fn desk(&self) -> &Desk;

    /// The component did what components of its framework never do, as a sentence without its subject. The answer goes to the component.
    fn unused(&self, what: &str) -> Status;

    /// A peer is reported as failed (OK: as broken, but the job may go on).
    fn failed(&self, proc: u32, status: Status, message: &str);

    /// Level as in `HostTable::log`.
    fn log(&self, level: i32, component: &str, message: &str) {
        if level <= 1 {
            eprintln!("rank {}: {component}: {message}", self.desk().job.rank);
        }
    }

    fn help(&self, component: &str, topic: &str, args: &[&str]) {
        self.log(0, component, &format!("help [{topic}] {}", args.join(", ")));
    }

    /// Said before `fatal` ends the process.
    fn last_words(&self) -> String {
        String::new()
    }

    fn am_register(&self, tag: u8, entry: AmEntry) -> Status {
        self.desk().set_row(tag, entry);
        Status::OK
    }

    fn am_register_parts(&self, tag: u8, take: AmParts) -> Status {
        self.desk().set_parts(tag, take);
        Status::OK
    }

    fn progress_register(&self, _: ProgressFn, _: *mut c_void) -> Status {
        self.unused("registered for progress")
    }

    fn progress_unregister(&self, _: ProgressFn, _: *mut c_void) -> Status {
        self.unused("unregistered from progress")
    }

    fn progress(&self, _: *mut ThreadCtx) -> i32 {
        self.unused("called the host's progress");
        0
    }

    fn sync_update(&self) {
        self.unused("told a sync object that nobody attached");
    }

    /// # Safety
    /// A live header of the component's.
    unsafe fn request_slot(&self, req: *mut RequestHeader) -> Status {
        // SAFETY: the caller's promise.
        unsafe { (*req).slot = self.desk().slots.fetch_add(1, Ordering::Relaxed) };
        Status::OK
    }

    fn wait(&self) -> Status {
        self.unused("waited for a request")
    }

    /// The rank behind a component's first argument.
    fn of<'a>(instance: *mut c_void) -> &'a Self {
        // SAFETY: nothing else is handed out as such, and ranks outlive their components.
        unsafe { &*instance.cast::<Self>() }
    }
}

extern "C" fn log<H: FakeHost>(i: *mut c_void, level: i32, component: StrRef, message: StrRef) {
    H::of(i).log(level, text(component), text(message));
}

extern "C" fn help<H: FakeHost>(i: *mut c_void, component: StrRef, topic: StrRef, args: SliceRef<StrRef>) {
    // SAFETY: borrowed for the call.
    let args: Vec<&str> = unsafe { args.get() }.iter().map(|a| text(*a)).collect();
    H::of(i).help(text(component), text(topic), &args);
}

extern "C" fn fatal<H: FakeHost>(i: *mut c_void, component: StrRef, message: StrRef) -> ! {
    let host = H::of(i);
    let (rank, component, message) = (host.desk().job.rank, text(component), text(message));
    eprintln!("rank {rank}: fatal error of {component}: {message}\n{}", host.last_words());
    std::process::abort()
}

extern "C" fn am_register<H: FakeHost>(i: *mut c_void, tag: u8, entry: AmEntry) -> Status {
    H::of(i).am_register(tag, entry)
}

extern "C" fn am_register_parts<H: FakeHost>(i: *mut c_void, tag: u8, take: AmParts) -> Status {
    H::of(i).am_register_parts(tag, take)
}

extern "C" fn progress_register<H: FakeHost>(
    i: *mut c_void,
    f: ProgressFn,
    ctx: *mut c_void,
    _: u32,
) -> Status {
    H::of(i).progress_register(f, ctx)
}

extern "C" fn progress_unregister<H: FakeHost>(i: *mut c_void, f: ProgressFn, ctx: *mut c_void) -> Status {
    H::of(i).progress_unregister(f, ctx)
}

extern "C" fn progress<H: FakeHost>(i: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    H::of(i).progress(thread)
}

extern "C" fn sync_update<H: FakeHost>(i: *mut c_void, _: usize) {
    H::of(i).sync_update();
}

extern "C" fn request_slot<H: FakeHost>(i: *mut c_void, req: *mut RequestHeader) -> Status {
    // SAFETY: the component's promise.
    unsafe { H::of(i).request_slot(req) }
}

extern "C" fn wait<H: FakeHost>(i: *mut c_void, _: *mut ThreadCtx, _: *mut RequestHeader) -> Status {
    H::of(i).wait()
}

extern "C" fn exchange_put<H: FakeHost>(i: *mut c_void, component: StrRef, data: SliceRef<u8>) -> Status {
    let desk = H::of(i).desk();
    // SAFETY: borrowed for the call.
    desk.shared.put(text(component), desk.job.rank, unsafe { data.get() });
    Status::OK
}

extern "C" fn exchange_get<H: FakeHost>(
    i: *mut c_void,
    component: StrRef,
    proc: u32,
    data: *mut u8,
    len: *mut usize,
) -> Status {
    // SAFETY: the caller's capacity and buffer.
    unsafe { H::of(i).desk().shared.get(text(component), proc, data, len) }
}

extern "C" fn peer_error<H: FakeHost>(i: *mut c_void, _: StrRef, proc: u32, fatal: u32, message: StrRef) {
    let status = if fatal != 0 { Status::PEER_FAILED } else { Status::OK };
    H::of(i).failed(proc, status, text(message));
}

impl Desk {
    /// Notes a failure and tells those who subscribed.
    pub fn tell_failure(&self, proc: u32, status: Status) {
        held(&self.failures).push((proc, status));
        // Outside of the lock: a subscriber may come or go meanwhile.
        let watchers = held(&self.watchers).clone();
        watchers.into_iter().for_each(|(f, ctx)| f(ctx as *mut c_void, proc, status));
    }
}
