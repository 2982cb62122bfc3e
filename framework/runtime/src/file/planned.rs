//! An access of one rank as a step of a plan, and how steps of files sleep.
//!
//! It is a step of the plan's own kind: it begins when the plan has come to it, and is looked at in turns of progress until it has ended. While it is under way whoever sleeps for
//! the transports sleeps on the bell, too. No thread that makes progress waits for a file.
//!
//! **The end.** A reading access may have something to do with the data when it is there ([`Finish`]); that runs with no lock held, and may be the user's.

use super::access::Access;
use super::object::File;
use core::ffi::c_void;
use oxmpi_coll::{CollComm, step};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use std::sync::Arc;

/// All that is done with the data of an access that has ended: gets bytes of the file that were moved, answers bytes of the program's data.
pub type Finish = Box<dyn FnOnce(u64) -> Result<u64, Status> + Send>;

/// All that came of an access: kept by its plan, and read when the request is complete.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) bytes: Arc<AtomicU64>,
}

/// The sleepers' word for one step: entered with the bell's value that the step has seen.
#[derive(Default)]
pub(super) struct Sleep {
    entered: Option<u32>,
}

impl Sleep {
    /// Has sleepers sleep on the bell while it is what `advance` saw before it looked in vain.
    pub(super) fn look<T>(
        &mut self,
        file: &File,
        owner: usize,
        advance: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        let instance = file.host();
        let (seen, awaited) = instance.file_bell_rung();
        let found = advance();
        match (&found, self.entered) {
            (Some(_), None) => {}
            (None, Some(value)) if value == seen => {}
            (_, before) => {
                if before.is_some() {
                    instance.waiting().leave_word(owner);
                }
                self.entered = None;
                if found.is_none() {
                    instance.waiting().enter_word(owner, awaited);
                    self.entered = Some(seen);
                }
            }
        }
        found
    }

    /// Takes the word back.
    pub(super) fn leave(&mut self, file: &File, owner: usize) {
        if self.entered.take().is_some() {
            file.host().waiting().leave_word(owner);
        }
    }
}

/// A rank's own access as a step.
struct Independent {
    file: Arc<File>,
    access: Access,
    outcome: Arc<Outcome>,
    finish: Option<Finish>,
    sleep: Sleep,
}

/// Writes down the access of one rank.
pub(super) fn write_access(
    comm: &CollComm,
    file: Arc<File>,
    access: Access,
    outcome: Arc<Outcome>,
    finish: Option<Finish>,
) -> Status {
    let state = Box::new(Independent { file, access, outcome, finish, sleep: Sleep::default() });
    // SAFETY: the step takes the box, which is its own.
    unsafe { write_step(comm, independent, Box::into_raw(state).cast()) }
}

/// Writes a step down by the services of the plan.
///
/// # Safety
/// `ctx` is what the function takes, and its own from here on.
pub(super) unsafe fn write_step(comm: &CollComm, function: oxmpi_coll::StepFn, ctx: *mut c_void) -> Status {
    // SAFETY: a plan's communicator has its services.
    let services = unsafe { &*comm.services };
    (services.step)(comm, function, ctx)
}

/// Step: a rank's own access.
extern "C" fn independent(ctx: *mut c_void, what: u32) -> Status {
    let at = ctx.cast::<Independent>();
    if what == step::DROP {
        // SAFETY: made by `write_access`, and not used again.
        drop(unsafe { Box::from_raw(at) });
        return Status::OK;
    }
    // SAFETY: as above; a step is called by one thread at a time.
    let this = unsafe { &mut *at };
    let Independent { file, access, .. } = this;
    let found = this.sleep.look(file, ctx.addr(), || access.advance(false));
    match found {
        None => Status::PENDING,
        Some((status, bytes)) => conclude(&this.outcome, this.finish.take(), status, bytes),
    }
}

/// Says what came of an access, behind what has to be done with its data.
pub(super) fn conclude(outcome: &Outcome, finish: Option<Finish>, status: Status, bytes: u64) -> Status {
    let (bytes, finished) = match finish.map(|finish| finish(bytes)) {
        None => (bytes, Status::OK),
        Some(Ok(bytes)) => (bytes, Status::OK),
        Some(Err(status)) => (0, status),
    };
    outcome.bytes.store(bytes, Ordering::Relaxed);
    if status.is_err() { status } else { finished }
}
