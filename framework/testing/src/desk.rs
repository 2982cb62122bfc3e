//! Data of a rank's host, and the trait by which a suite's rank answers.

use crate::held::held;
use crate::job_state::JobState;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_mca::host::ProgressFn;
use oxmpi_mca::services::{HostServices, PeerFailed};
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{
    AmEntry, AmParts, Cri, JobInfo, LayerFunction, LockServices, RecvDesc, RequestHeader, SharedSegment,
    Status, ThreadCtx,
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
    pub(crate) rows: Box<UnsafeCell<[AmEntry; 256]>>,
    pub(crate) parts: Box<UnsafeCell<[Option<AmParts>; 256]>>,
    pub(crate) slots: AtomicU32,
    /// Failures of peers that the component reported.
    pub failures: Mutex<Vec<(u32, Status)>>,
    pub watchers: Mutex<Vec<Watcher>>,
    pub shared: Arc<JobState>,
    /// Segments of this node beside that of the job, by number.
    segments: Mutex<Vec<(u32, SharedSegment)>>,
}

// SAFETY: what is not atomic or locked is written before anything is received.
unsafe impl Send for Desk {}

// SAFETY: as above.
unsafe impl Sync for Desk {}

extern "C" fn nobody(_: *mut c_void, _: *const RecvDesc) -> u32 {
    panic!("a message with a tag that nobody registered")
}

impl Desk {
    pub fn new(job: JobInfo, cris: u32, threaded: bool, shared: Arc<JobState>) -> Desk {
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
            segments: Mutex::default(),
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

    /// Shared segment `number` of this node, if there is one. Nobody tells its length.
    pub fn segment(&self, number: u32) -> Option<SharedSegment> {
        let job = &self.job;
        if number == 0 && job.segment_fd >= 0 {
            let (fd, local_rank, local_size) = (job.segment_fd, job.local_rank, job.local_size);
            return Some(SharedSegment { fd, local_rank, local_size, ..SharedSegment::default() });
        }
        held(&self.segments).iter().find(|(n, _)| *n == number).map(|(_, segment)| *segment)
    }

    /// Adds segment `number`, not 0, which has come with processes of another job; it takes the place of one with that number.
    pub fn add_segment(&self, number: u32, segment: SharedSegment) {
        self.remove_segment(number);
        held(&self.segments).push((number, segment));
    }

    /// Removes segment `number`, if there is one.
    pub fn remove_segment(&self, number: u32) {
        held(&self.segments).retain(|(n, _)| *n != number);
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
}

/// A rank's host. Methods run under the component's frames, so one that finds a fault notes it and goes on, or ends the process.
pub trait FakeHost: Sync + Sized + 'static {
    /// In place of the usual services (`services.rs`).
    const SERVICES: Option<&'static HostServices> = None;

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

    fn progress_register(&self, _: &LayerFunction) -> Status {
        self.unused("registered for progress")
    }

    fn expect(&self, _: *mut ThreadCtx, _: u64) {
        self.unused("said where something of a thread comes");
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
