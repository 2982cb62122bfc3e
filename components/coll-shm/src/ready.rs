//! Getting a module ready, in the first collective and in all ranks: they get memory that they share, and each tries to read a word of each other's
//! process. All hear whether all could; if not, longer data goes by messages.

use crate::area::Area;
use crate::call::Call;
use crate::data::Room;
use crate::meet::meet;
use crate::module::{Ready, ShmModule};
use crate::protocol::{Desk, Protocol, Result, slot};
use core::ptr::null_mut;
use oxmpi_coll::{CollArgs, CollComm};
use oxmpi_mca::Status;

/// The mark of the posts of getting ready.
const READY_TAG: u64 = 200;

/// Gets a module ready; called by all ranks.
pub fn prepare(module: &ShmModule, comm: &CollComm) -> Result {
    // SAFETY: the host's table, valid as long as the communicator.
    let services = unsafe { &*comm.services };
    // `query` has seen that there is a size that fits.
    let cell = Area::cell_for(comm.num_ranks, module.settings.memory).ok_or(Status::NOT_AVAILABLE)?;
    let (bytes, mut base) = (Area::bytes(comm.num_ranks, cell), null_mut());
    let made = (services.node_memory)(comm, bytes, &mut base);
    if made.is_err() {
        if comm.rank == 0 {
            let words = [comm.num_ranks.to_string(), bytes.to_string(), made.name().to_owned()];
            module.host().help("no-memory", &[&words[0], &words[1], &words[2]]);
        }
        // All ranks have this answer, and the help text says it.
        return Err(Status::NOT_AVAILABLE);
    }
    // SAFETY: memory of this size, zero and aligned to pages, until the module is freed; only areas write to it.
    let area = unsafe { Area::new(base, comm.num_ranks, cell) };
    let trial = Ready { area, reads_peers: false };
    // SAFETY: no argument of a collective is asked for.
    let call = unsafe { Call::of(module, &trial, comm, &CollArgs::NONE) };
    let reads_peers = reaches_all(&call).inspect_err(|why| call.leave(*why))?;
    if !reads_peers && module.settings.single_copy && comm.rank == 0 {
        module.host().debug("ranks cannot read each other's memory; longer collectives go by messages");
    }
    module.set_ready(Ready { area, reads_peers });
    Ok(())
}

/// Whether every rank can read the memory of every other one; all hear the same.
fn reaches_all(call: &Call<'_>) -> Result<bool> {
    // A word that is different in each rank, to be read by the others.
    let word = core::hint::black_box(0x6f78_6d70_6900_0000 | u64::from(call.rank()));
    let step = call.begin();
    call.make_room(step)?;
    let post = [(&raw const word).expose_provenance() as u64, word];
    // SAFETY: this rank's slot, which is free; the payload has room for two words and is aligned to 16.
    unsafe { call.area().inline(call.rank(), slot(step)).cast::<[u64; 2]>().write(post) };
    call.post(step, READY_TAG << 1);
    meet(call, call.meeting(), READY_TAG, true)?;
    let mut reads = call.module().settings.single_copy;
    for other in call.others() {
        if !reads {
            break;
        }
        // SAFETY: the other rank's payload, which it has posted before it came to the meeting, and leaves alone until all are done with it.
        let [at, wanted] = unsafe { call.area().inline(other, slot(step)).cast::<[u64; 2]>().read() };
        let mut found = [0u64];
        reads = call.read_peer(other, at, Room::of(&mut found)).is_ok() && found == [wanted];
    }
    // Behind this nobody looks at the words any more.
    let all = meet(call, call.meeting(), READY_TAG, reads)?;
    call.all_are_beyond(step);
    call.finish();
    Ok(all)
}
