//! Collective accesses: a component writes down the steps, and the host carries them out ([`FcollServices`]).
//!
//! Behind the steps of the component stands one that waits for the transfers that were written down to go on by themselves, and says what came of the access.
//!
//! **Transfers.** A step only submits, since it may be done by any thread that makes progress. Only where the thread that called a blocking function does the step itself, and so
//! has nothing else to do, the component may transfer at once.

use super::object::File;
use super::planned::{Finish, Outcome, Sleep, conclude, write_step};
use super::presence::Presence;
use super::sieved_write::SievedWrite;
use super::submission::Submission;
use core::ffi::c_void;
use oxmpi_coll::{CollComm, step};
use oxmpi_fbtl::{Piece, transfer};
use oxmpi_fcoll::FcollServices;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicI32, AtomicU64, Ordering};
use oxmpi_system::locks::Mutex;
use std::sync::Arc;
use std::thread::ThreadId;

/// A collective access under way in this rank; the plan holds it, and each of its transfers.
pub(super) struct Collective {
    file: Arc<File>,
    outcome: Arc<Outcome>,
    /// The first failure of one of those.
    failed: AtomicI32,
    moved: AtomicU64,
    result: AtomicI32,
    /// The thread that waits for the end and does nothing else: it may transfer itself.
    waits: Option<ThreadId>,
    finish: Mutex<Option<Finish>>,
    /// Transfers that go on by themselves, until they have ended.
    later: Mutex<Vec<LaterTransfer>>,
}

/// A transfer that goes on by itself: the state of its step, which stays in the plan until all of them have ended.
#[derive(Clone, Copy)]
struct LaterTransfer(*mut Planned);

// SAFETY: steps of a plan are done by one thread at a time, and they alone look behind it.
unsafe impl Send for LaterTransfer {}

impl Collective {
    /// One that has not begun.
    pub(super) fn new(
        file: Arc<File>,
        outcome: Arc<Outcome>,
        waits: Option<ThreadId>,
        finish: Option<Finish>,
    ) -> Arc<Collective> {
        Arc::new(Collective {
            file,
            outcome,
            failed: AtomicI32::new(0),
            moved: AtomicU64::new(0),
            result: AtomicI32::new(0),
            waits,
            finish: Mutex::new(finish),
            later: Mutex::default(),
        })
    }

    /// The file.
    pub(super) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// The word that stands for it in services.
    pub(super) fn word(self: &Arc<Collective>) -> *mut c_void {
        Arc::as_ptr(self).cast_mut().cast()
    }

    /// Looks at the transfers that go on by themselves; whether all have ended.
    fn looked(&self) -> bool {
        let mut later = std::mem::take(&mut *self.later.lock());
        later.retain(|at| {
            // SAFETY: in the plan until this has let go of it; one thread at a time does steps.
            let planned = unsafe { &mut *at.0 };
            let Some((status, bytes)) = planned.advance() else { return true };
            let told = planned.tell(status, bytes);
            if told.is_err() {
                let _ = self.failed.compare_exchange(0, told.0, Ordering::Relaxed, Ordering::Relaxed);
            }
            false
        });
        let over = later.is_empty();
        *self.later.lock() = later;
        over
    }

    /// The failure of a transfer that went on by itself, if there was one that the planner did not want to be told.
    fn failure(&self) -> Status {
        Status(self.failed.load(Ordering::Relaxed))
    }

    /// Writes down the plan's last step.
    pub(super) fn write_end(self: Arc<Collective>, comm: &CollComm) -> Status {
        let end = Box::new(End { collective: self, last: true, sleep: Sleep::default() });
        // SAFETY: the step takes the box, which is its own.
        unsafe { write_step(comm, settled, Box::into_raw(end).cast()) }
    }
}

/// The services of a planner beside those of the plan.
pub(super) const SERVICES: &FcollServices = &FcollServices {
    size: size_of::<FcollServices>() as u32,
    reserved: 0,
    transfer: note_transfer,
    settle: note_settle,
    moved: note_moved,
};

/// The collective access that a service is called for.
///
/// # Safety
/// `access` is the word that the planner got, whose plan is being written or carried out.
unsafe fn collective(access: *mut c_void) -> Arc<Collective> {
    let at = access.cast::<Collective>().cast_const();
    // SAFETY: of an `Arc` that the plan holds.
    unsafe {
        Arc::increment_strong_count(at);
        Arc::from_raw(at)
    }
}

/// A transfer of a plan.
struct Planned {
    collective: Arc<Collective>,
    what: u32,
    submission: Submission,
    /// A write of a file whose writes are sieved, once it has begun.
    sieved: Option<Box<SievedWrite>>,
    later: bool,
    moved: *mut u64,
    outcome: *mut i32,
    sleep: Sleep,
}

/// Service: writes down a transfer.
extern "C" fn note_transfer(
    access: *mut c_void,
    comm: *const CollComm,
    what: u32,
    pieces: *const Piece,
    num_pieces: usize,
    moved: *mut u64,
    outcome: *mut i32,
    later: u32,
) -> Status {
    let pieces = match num_pieces {
        0 => Vec::new(),
        // SAFETY: the planner's list.
        n => unsafe { std::slice::from_raw_parts(pieces, n) }.to_vec(),
    };
    // SAFETY: what the planner got.
    let (collective, comm) = unsafe { (collective(access), &*comm) };
    let planned = Box::new(Planned {
        collective,
        what,
        submission: Submission::of(pieces),
        sieved: None,
        later: later != 0,
        moved,
        outcome,
        sleep: Sleep::default(),
    });
    // SAFETY: the step takes the box, which is its own.
    unsafe { write_step(comm, transferred, Box::into_raw(planned).cast()) }
}

impl Planned {
    /// Submits, or looks; the outcome once there is one.
    fn advance(&mut self) -> Option<(Status, u64)> {
        if self.submission.pieces.is_empty() {
            return Some((Status::OK, 0));
        }
        let file = self.collective.file.clone();
        let here = match file.presence_or_status() {
            Ok(here) => here,
            Err(status) => return Some((status, 0)),
        };
        let now = !self.later && self.collective.waits == Some(std::thread::current().id());
        let outcome = match self.begin_sieved(&file, &here) {
            Some(write) => write.advance(&file, &here, now),
            None => self.submission.transfer(&file, &here, self.what, now),
        }?;
        file.count_bytes(self.what, outcome.1);
        Some(outcome)
    }

    /// The write, where writes of the file are sieved.
    fn begin_sieved(&mut self, file: &File, here: &Presence) -> Option<&mut SievedWrite> {
        if self.sieved.is_none() && self.what == transfer::WRITE && !self.submission.is_under_way() {
            // Without locks that exclude all ranks pieces are written one by one.
            let measure = file.sieving(false).ok().flatten()?;
            let measure = here.disk.is_readable.then_some(measure);
            let mut write = Box::new(SievedWrite::new(measure, true));
            write.begin().extend_from_slice(&self.submission.pieces);
            self.sieved = Some(write);
        }
        self.sieved.as_deref_mut()
    }

    /// Whether it goes on by itself from here on.
    fn is_begun(&self) -> bool {
        self.submission.is_under_way() || self.sieved.is_some()
    }

    /// Tells the planner.
    fn tell(&self, status: Status, bytes: u64) -> Status {
        // SAFETY: null, or memory of the plan.
        unsafe {
            if let Some(moved) = self.moved.as_mut() {
                *moved = bytes;
            }
            if let Some(outcome) = self.outcome.as_mut() {
                *outcome = status.0;
                return Status::OK;
            }
        }
        if status.is_err() { status } else { Status::OK }
    }
}

/// Step: a transfer.
extern "C" fn transferred(ctx: *mut c_void, what: u32) -> Status {
    let at = ctx.cast::<Planned>();
    if what == step::DROP {
        // SAFETY: made by `note_transfer`, and not used again; it has ended, since a plan's last step has waited for it.
        drop(unsafe { Box::from_raw(at) });
        return Status::OK;
    }
    // SAFETY: as above; a step is called by one thread at a time.
    let this = unsafe { &mut *at };
    let file = this.collective.file.clone();
    let mut sleep = std::mem::take(&mut this.sleep);
    let found = sleep.look(&file, ctx.addr(), || this.advance());
    this.sleep = sleep;
    match found {
        Some((status, bytes)) => this.tell(status, bytes),
        // One that goes on by itself is looked at by the steps that wait for it.
        None if this.later && this.is_begun() => {
            this.sleep.leave(&file, ctx.addr());
            this.collective.later.lock().push(LaterTransfer(at));
            Status::OK
        }
        None => Status::PENDING,
    }
}

/// A step that waits for transfers that go on by themselves.
struct End {
    collective: Arc<Collective>,
    /// Says what came of the access.
    last: bool,
    sleep: Sleep,
}

/// Service: writes down a step that waits for the transfers before it.
extern "C" fn note_settle(access: *mut c_void, comm: *const CollComm) -> Status {
    // SAFETY: what the planner got.
    let (collective, comm) = unsafe { (collective(access), &*comm) };
    let end = Box::new(End { collective, last: false, sleep: Sleep::default() });
    // SAFETY: the step takes the box, which is its own.
    unsafe { write_step(comm, settled, Box::into_raw(end).cast()) }
}

/// Service: the planner says what came of the rank's own access.
extern "C" fn note_moved(access: *mut c_void, bytes: u64, outcome: Status) {
    // SAFETY: what the planner got.
    let collective = unsafe { collective(access) };
    collective.moved.store(bytes, Ordering::Relaxed);
    collective.result.store(outcome.0, Ordering::Relaxed);
}

/// Step: transfers that go on by themselves have ended.
extern "C" fn settled(ctx: *mut c_void, what: u32) -> Status {
    let at = ctx.cast::<End>();
    if what == step::DROP {
        // SAFETY: made by a service or `write_end`, and not used again.
        drop(unsafe { Box::from_raw(at) });
        return Status::OK;
    }
    // SAFETY: as above; a step is called by one thread at a time.
    let this = unsafe { &mut *at };
    let collective = &this.collective;
    let found = this.sleep.look(&collective.file, ctx.addr(), || collective.looked().then_some(()));
    match found {
        None => Status::PENDING,
        Some(()) if this.last => {
            let result = Status(collective.result.load(Ordering::Relaxed));
            let status = if result.is_err() { result } else { collective.failure() };
            let finish = collective.finish.lock().take();
            conclude(&collective.outcome, finish, status, collective.moved.load(Ordering::Relaxed))
        }
        Some(()) => collective.failure(),
    }
}
