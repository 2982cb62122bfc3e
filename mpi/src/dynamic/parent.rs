//! The processes that started this job: the inter-communicator with them, from MPI_Init on.

use crate::call::memory::{Out, write};
use crate::call::process::Process;
use crate::call::{entry, gate};
use crate::comm;
use crate::comm::lifetime;
use crate::constants::*;
use crate::error::{Failure, Res, call, initial};
use crate::types::Comm;
use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Its handle; MPI_COMM_NULL where nobody started this job.
static PARENT: AtomicUsize = AtomicUsize::new(MPI_COMM_NULL);

/// Meets those who started this job, while MPI starts; all its processes do so.
pub fn meet(process: &'static Process) -> Res {
    if process.instance.facts().parent.is_empty() {
        return Ok(());
    }
    let marked = entry::enter();
    // SAFETY: the thread was let in just now, and this is the one proof until it leaves.
    let inside = unsafe { entry::Inside::new() };
    let mut context = inside.of(process);
    let met = process.instance.meet_parent(&mut context.entry);
    let made = met.map_err(Failure::from).and_then(|met| match met {
        None => Ok(()),
        Some(met) => {
            met.set_name("MPI_COMM_PARENT");
            let handle = lifetime::adopt_with(&mut context.entry, initial(), met)?;
            PARENT.store(handle.0, Ordering::Release);
            Ok(())
        }
    });
    gate::leave_own(marked);
    made
}

mpi_fn! {
    fn MPI_Comm_get_parent(parent: Out<Comm>) -> c_int |here| {
        call(here, NAME, None, |_, _| {
            let handle = Comm(PARENT.load(Ordering::Acquire));
            // It may have been freed or disconnected.
            let there = comm::get(handle).is_some();
            write(parent, "parent", if there { handle } else { Comm(MPI_COMM_NULL) })
        })
    }
}
