//! Collective accesses in atomic mode (MPI 5.0 §14.6.1): each rank's is one access, atomic towards all others, and all ranks agree on how they ended.
//!
//! A rank carries out its own under the lock of its range, from the first byte to the last; what ranks write to the same bytes is one rank's from end to end. No lock is held while ranks
//! wait for each other: the agreement stands behind the access, which has given its lock back by then.

use super::access::Access;
use super::collective::Collective;
use super::planned::{Sleep, write_step};
use core::ffi::c_void;
use oxmpi_coll::step;
use oxmpi_fcoll::{Call, Outcome, PlanArgs};
use oxmpi_mca::Status;
use oxmpi_system::locks::Mutex;
use std::sync::Arc;

/// All that came of a rank's own access.
type Ended = Arc<Mutex<(Status, u64)>>;

/// A rank's own access as a step that no failure of its ends the plan.
struct OwnAccess {
    collective: Arc<Collective>,
    access: Access,
    ended: Ended,
    sleep: Sleep,
}

/// Writes down the plan of one rank.
pub(super) fn write_plan(args: &PlanArgs, collective: &Arc<Collective>, access: Access) -> Status {
    // SAFETY: the arguments are those of a plan that is being written, and what they lead to is kept by it.
    let (call, comm) = unsafe { (Call::of(args), &*args.comm) };
    let ended = Ended::new(Mutex::new((Status::OK, 0)));
    let own =
        OwnAccess { collective: collective.clone(), access, ended: ended.clone(), sleep: Sleep::default() };
    // SAFETY: the step takes the box, which is its own.
    let status = unsafe { write_step(comm, transferred, Box::into_raw(Box::new(own)).cast()) };
    if status.is_err() {
        return status;
    }
    let agree = call.then(move |call, _| {
        let (status, bytes) = *ended.lock();
        call.agree(Outcome { status, ..Outcome::FINE }, move |call, outcome| {
            call.moved(bytes, outcome.map_or(Status::OK, |outcome| outcome.status));
            Ok(())
        })
    });
    agree.err().unwrap_or(Status::OK)
}

/// Step: a rank's own access.
extern "C" fn transferred(ctx: *mut c_void, what: u32) -> Status {
    let at = ctx.cast::<OwnAccess>();
    if what == step::DROP {
        // SAFETY: made by `write_plan`, and not used again.
        drop(unsafe { Box::from_raw(at) });
        return Status::OK;
    }
    // SAFETY: as above; a step is called by one thread at a time.
    let this = unsafe { &mut *at };
    let OwnAccess { collective, access, .. } = this;
    match this.sleep.look(collective.file(), ctx.addr(), || access.advance(false)) {
        None => Status::PENDING,
        Some(ended) => {
            *this.ended.lock() = ended;
            Status::OK
        }
    }
}
