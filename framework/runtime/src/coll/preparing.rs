//! Preparing a component for a communicator, in a blocking collective that it would serve (`CollModule::comm_prepare`), and the agreement of
//! all ranks on what came of it.
//!
//! **When.** A preparation costs as much as some hundred short collectives, and memory. So the first ones of a communicator, `coll_base_prepare_after` of
//! those that would be served, go to the next component that is ready. All ranks call the same collectives in the same order, so they count alike.
//!
//! **Agreement.** Each rank says how its own preparation ended, and which component of which priority it was. That spreads by dissemination: in round k
//! a rank tells the one 2^k ahead all that it knows and hears from the one 2^k behind. The combined words (a least status, the least and the
//! greatest digest) may be heard twice, so any number of ranks will do. The messages are the host's own, so nothing here depends on a component.
//!
//! **Those who do not hear.** A pair of ranks that do not reach each other spoils the dissemination in the ranks behind it, and only in those. So it is
//! done twice, and the second time the ranks say whether the first one went well: a rank that learns of no failure in the second has heard in it from all
//! ranks that the first one went well in all. Where it did not, because of ranks that are not reached, the component is refused in all, and those below
//! it answer as they always do. Where a process was lost meanwhile, ranks may know different things, so nothing is decided: the collectives that
//! the component would serve answer that error from then on, and nobody waits for a rank that took another way.

use crate::objects::{Communicator, Readiness};
use crate::wires::tag;
use oxmpi_coll::{CollArgs, CollComm};
use oxmpi_mca::{Entry, Status};
use std::ffi::c_void;

/// The word that a rank says, or has heard from many. Little-endian on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    /// The least status.
    status: Status,
    /// The lowest rank that has it.
    rank: u32,
    /// The least and the greatest digest of component and priority.
    digests: [u64; 2],
}

const BYTES: usize = 24;

impl Word {
    fn with(self, other: Word) -> Word {
        let first = |word: &Word| (word.status.0, word.rank);
        let least = if first(&other) < first(&self) { other } else { self };
        let digests = [self.digests[0].min(other.digests[0]), self.digests[1].max(other.digests[1])];
        Word { digests, ..least }
    }
    fn encode(self) -> [u8; BYTES] {
        let mut out = [0; BYTES];
        out[..4].copy_from_slice(&self.status.0.to_le_bytes());
        out[4..8].copy_from_slice(&self.rank.to_le_bytes());
        out[8..16].copy_from_slice(&self.digests[0].to_le_bytes());
        out[16..].copy_from_slice(&self.digests[1].to_le_bytes());
        out
    }
    fn decode(bytes: &[u8; BYTES]) -> Word {
        let word = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("eight bytes"));
        let first = word(0);
        let status = Status((first as u32).cast_signed());
        Word { status, rank: (first >> 32) as u32, digests: [word(8), word(16)] }
    }
}

/// A number that differs for another component or priority (FNV-1a).
fn digest(name: &str, priority: i32) -> u64 {
    let bytes = name.bytes().chain(priority.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Combines what the ranks said, and whether all heard it, to the outcome.
fn verdict(said: Result<Word, Status>, all_heard: Result<Word, Status>) -> Readiness {
    let heard = said.map_or_else(|failure| failure, |_| Status::OK);
    let failure = match all_heard {
        Ok(all) => all.status,
        Err(failure) => failure,
    };
    match (said, failure) {
        (Ok(said), Status::OK) => match said {
            Word { digests: [least, most], .. } if least != most => Readiness::Undecided(Status::MISMATCH),
            Word { status, .. } if status.is_err() => Readiness::Refused,
            _ => Readiness::Ready,
        },
        (_, Status::UNREACHABLE) if heard == Status::OK || heard == Status::UNREACHABLE => Readiness::Refused,
        (_, Status::OK) => Readiness::Undecided(heard),
        (_, failure) => Readiness::Undecided(failure),
    }
}

impl Communicator {
    /// Has all ranks hear what each says; called by all.
    fn disseminate(&self, entry: &mut Entry, own: Word) -> Result<Word, Status> {
        let (n, me) = (self.size() as usize, self.rank() as usize);
        let (mut known, mut step) = (Ok(own), 1);
        while step < n {
            let mut into = [0; BYTES];
            let out = known.map(Word::encode);
            let out = out.as_ref().map(|bytes| &bytes[..]).map_err(|status| *status);
            let met =
                self.exchange(entry, out, (me + step) % n, &mut into, (me + n - step) % n, tag::PREPARE);
            known = known.and_then(|known| met.map(|()| known.with(Word::decode(&into))));
            step *= 2;
        }
        known
    }

    /// Prepares the component of an offer and agrees on it with all ranks.
    fn prepare(&self, entry: &mut Entry, at: usize, comm: &CollComm) -> Readiness {
        let (component, priority, module) = self.coll.offered(at);
        // A rank whose data did not come says what it has to say in the preparation all the same.
        let lost = self.coll.replace_lost(Status::OK);
        let own = match component.module.comm_prepare {
            Some(prepare) => prepare(component.module.state, module, comm),
            None => Status::OK,
        };
        self.coll.replace_lost(lost);
        // Ranks that go on would wait for this one.
        if own == Status::PANICKED {
            self.instance().component_panicked("coll", component.name, "being prepared for a communicator");
        }
        let rank = self.rank();
        let digests = [digest(component.name, priority); 2];
        let said = self
            .disseminate(entry, Word { status: if own.is_err() { own } else { Status::OK }, rank, digests });
        let heard = said.map_or_else(|failure| failure, |_| Status::OK);
        let all_heard = self.disseminate(entry, Word { status: heard, rank, digests });
        let outcome = verdict(said, all_heard);
        self.tell_of(component.name, priority, own, said, outcome);
        outcome
    }

    /// Writes to the log what came of a preparation.
    fn tell_of(
        &self,
        component: &str,
        priority: i32,
        own: Status,
        said: Result<Word, Status>,
        outcome: Readiness,
    ) {
        let (logger, name) = (self.instance().logger(), self.name());
        match (outcome, said) {
            (Readiness::Undecided(Status::MISMATCH), _) => logger.error(
                "coll",
                &format!(
                    "communicator {name}: its ranks have chosen different components, or priorities, for a collective; here it is {component} \
                     with priority {priority}. Parameters of collectives must be the same for all programs of a job"
                ),
            ),
            (Readiness::Undecided(why), _) => logger.error(
                "coll",
                &format!("communicator {name}: the ranks could not agree whether {component} serves it: {why}"),
            ),
            (Readiness::Refused, _) if own.is_err() && own != Status::NOT_AVAILABLE => {
                logger.warn("coll", &format!("{component}: cannot serve communicator {name}: {own}"));
            }
            (Readiness::Refused, Ok(word)) => logger.debug(
                "coll",
                &format!("communicator {name}: without {component}, refused by rank {}: {}", word.rank, word.status),
            ),
            _ => logger.debug("coll", &format!("communicator {name}: {component} after preparation: {outcome:?}")),
        }
    }
}

/// Stands in the stack for a component that is not prepared: prepares it if it is time, and calls whoever serves the collective then.
/// `slot`: the number of the collective.
pub(crate) extern "C" fn prepare_first(
    slot: *mut c_void,
    comm: *const CollComm,
    args: *const CollArgs,
) -> Status {
    // SAFETY: `run` calls it with the communicator of the call.
    let (seen, c) = unsafe { (&*comm, &*((*comm).comm as *const Communicator)) };
    let slot = slot.addr();
    if let Some(at) = c.coll.decide(slot) {
        if let Some((f, module)) = c.coll.meanwhile(slot, c.instance().prepare_after()) {
            return f(module, comm, args);
        }
        if !c.coll.begin_preparing(at) {
            // Two collectives at a time on one communicator, which MPI forbids.
            return Status::BAD_PARAM;
        }
        // SAFETY: the thread of the collective, whose entry `run` has borrowed; made once for this call.
        let entry = &mut unsafe { c.instance().entry(seen.thread) };
        let outcome = c.prepare(entry, at, seen);
        c.coll.end_preparing(at, outcome, prepare_first);
    }
    let (f, module) = c.coll.layers().blocking[slot];
    f(module, comm, args)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(status: Status, rank: u32, digest: u64) -> Word {
        Word { status, rank, digests: [digest; 2] }
    }

    #[test]
    fn words_survive_the_wire_and_are_combined_in_any_order() {
        let words =
            [word(Status::OK, 3, 7), word(Status::NOT_SUPPORTED, 5, 7), word(Status::NOT_SUPPORTED, 1, 9)];
        for own in words {
            assert_eq!(Word::decode(&own.encode()), own);
        }
        let [a, b, c] = words;
        let all = a.with(b).with(c).with(a);
        assert_eq!(all, c.with(a).with(b));
        assert_eq!(all, Word { status: Status::NOT_SUPPORTED, rank: 1, digests: [7, 9] });
    }

    #[test]
    fn a_component_is_ready_only_where_all_know_that_all_are() {
        let (fine, bad) = (word(Status::OK, 0, 1), word(Status::NO_PERMISSION, 2, 1));
        let (cut, lost) = (Status::UNREACHABLE, Status::PEER_FAILED);
        let other = Word { digests: [1, 2], ..fine };
        assert_eq!(verdict(Ok(fine), Ok(fine)), Readiness::Ready);
        assert_eq!(verdict(Ok(bad), Ok(fine)), Readiness::Refused);
        assert_eq!(verdict(Ok(other), Ok(fine)), Readiness::Undecided(Status::MISMATCH));
        for said in [Ok(fine), Ok(bad), Err(cut)] {
            assert_eq!(verdict(said, Ok(word(cut, 1, 1))), Readiness::Refused);
            assert_eq!(verdict(said, Err(cut)), Readiness::Refused);
            assert_eq!(verdict(said, Err(lost)), Readiness::Undecided(lost));
        }
        assert_eq!(verdict(Err(lost), Ok(word(lost, 1, 1))), Readiness::Undecided(lost));
        assert_eq!(verdict(Err(lost), Err(cut)), Readiness::Undecided(cut));
    }
}
