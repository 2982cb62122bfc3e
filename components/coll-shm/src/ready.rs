//! Getting a module ready, in the first collective and in all ranks: they get memory that they share, and each tries to read a word of each other's
//! process. All hear whether all could; if not, longer data goes by messages.
//!
//! Where many have a core each, every rank says in the same post where it runs (`homes`). All read the same words, so all make the same groups of them; a rank that
//! does not know leaves all without.

use crate::area::Area;
use crate::call::Call;
use crate::data::Room;
use crate::homes::Home;
use crate::meet::{Meeting, meet};
use crate::module::{Ready, ShmModule, Trees};
use crate::protocol::{Desk, Protocol, Result, slot};
use core::ptr::null_mut;
use oxmpi_coll::{CollArgs, CollComm};
use oxmpi_mca::Status;
use std::collections::BTreeSet;

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
    let trial = Ready { area, reads_peers: false, trees: Trees::plain(comm.rank, comm.num_ranks) };
    // SAFETY: no argument of a collective is asked for.
    let call = unsafe { Call::of(module, &trial, comm, &CollArgs::NONE) };
    let (reads_peers, homes) = learn(&call).inspect_err(|why| call.leave(*why))?;
    let groups = groups(&homes, module.settings.group_size);
    let trees = Trees::in_groups(comm.rank, &groups);
    if comm.rank == 0 && call.meeting() == Meeting::Many {
        let count = |level: usize| groups.iter().map(|group| group[level]).collect::<BTreeSet<_>>().len();
        module.host().debug(&format!("{} ranks meet in {} groups of {}", groups.len(), count(1), count(0)));
    }
    if !reads_peers && module.settings.single_copy && comm.rank == 0 {
        module.host().debug("ranks cannot read each other's memory; longer collectives go by messages");
    }
    module.set_ready(Ready { area, reads_peers, trees });
    Ok(())
}

/// The groups of each rank, the outer one first, by where the ranks run, or of so many that follow each other. One of all where a rank does not know where it runs.
fn groups(homes: &[u64], size: u32) -> Vec<[u64; 2]> {
    if size > 0 {
        return (0..).take(homes.len()).map(|rank: u64| [rank / u64::from(size); 2]).collect();
    }
    let known: Option<Vec<Home>> = homes.iter().map(|word| Home::of(*word)).collect();
    let of = |home: Home| [home.numa.into(), home.cache.into()];
    known.map_or_else(|| vec![[0, 0]; homes.len()], |homes| homes.into_iter().map(of).collect())
}

/// Whether every rank can read the memory of every other one, and the word of each on where it runs; all hear the same.
fn learn(call: &Call<'_>) -> Result<(bool, Vec<u64>)> {
    // A word that is different in each rank, to be read by the others.
    let word = core::hint::black_box(0x6f78_6d70_6900_0000 | u64::from(call.rank()));
    let asks = call.meeting() == Meeting::Many && call.module().settings.group_size == 0;
    let home = Home::word(if asks { Home::of_this_thread() } else { None });
    let step = call.begin();
    call.make_room(step)?;
    let post = [(&raw const word).expose_provenance() as u64, word, home];
    // SAFETY: this rank's slot, which is free; the payload has room for three words and is aligned to 16.
    unsafe { call.area().inline(call.rank(), slot(step)).cast::<[u64; 3]>().write(post) };
    call.post(step, READY_TAG << 1);
    meet(call, call.meeting(), READY_TAG, true)?;
    let mut reads = call.module().settings.single_copy;
    let mut homes = vec![home; call.ranks() as usize];
    for other in call.others() {
        // SAFETY: the other rank's payload, which it has posted before it came to the meeting, and leaves alone until all are done with it.
        let [at, wanted, theirs] = unsafe { call.area().inline(other, slot(step)).cast::<[u64; 3]>().read() };
        homes[other as usize] = theirs;
        let mut found = [0u64];
        reads = reads && call.read_peer(other, at, Room::of(&mut found)).is_ok() && found == [wanted];
    }
    // Behind this nobody looks at the words any more.
    let all = meet(call, call.meeting(), READY_TAG, reads)?;
    call.all_are_beyond(step);
    call.finish();
    Ok((all, homes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_grouped_where_all_know_where_they_run() {
        let home = |numa, cache| Home::word(Some(Home { numa, cache }));
        let known = [home(0, 0), home(0, 2), home(4, 4)];
        assert_eq!(groups(&known, 0), [[0, 0], [0, 2], [4, 4]]);
        assert_eq!(groups(&[known[0], Home::word(None), known[2]], 0), [[0, 0]; 3]);
        assert_eq!(groups(&known, 2), [[0, 0], [0, 0], [1, 1]]);
    }
}
