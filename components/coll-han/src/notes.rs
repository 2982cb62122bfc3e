//! Notes of failures in the memory of a node: a rank that hands on what did not come to it says so to the others of its node.
//!
//! The collective that hands data on within a node works whatever the data is. A rank for which the data is missing lets it run all the same, so that
//! nobody waits, and writes before that a note with the number of the call and the error. The others look for it behind the collective, in
//! which they met something that the rank sent after the note; so they see the note if it belongs to their call.
//!
//! Each rank has [`NOTES`] notes of its own, which it has in turn, and writes one only when it has failed. A rank that hands on may be ahead of the others, so a
//! note may be written anew before all have looked at it. A rank that finds one of a later call there knows that there was a failure so many calls
//! later, cannot know about its own, and takes it for failed, too.

use oxmpi_mca::Status;
use oxmpi_mca::sync::{AtomicU64, Ordering};

/// Notes of a rank.
#[cfg(not(loom))]
pub const NOTES: usize = 64;
#[cfg(loom)]
pub const NOTES: usize = 2;

/// The notes of one rank, which are zero when they are made. Nobody else writes them.
#[repr(C, align(64))]
pub struct Notes([AtomicU64; NOTES]);

impl Notes {
    /// No note yet.
    #[cfg(test)]
    pub fn new() -> Notes {
        Notes(core::array::from_fn(|_| AtomicU64::new(0)))
    }

    /// Writes that the call of this number has failed, as the rank whose notes they are. Calls count from 1.
    pub fn write(&self, call: u32, why: Status) {
        let note = u64::from(call) << 32 | u64::from(why.0.cast_unsigned());
        // SYNC POINT with `read`: pairs with what the rank sends behind it.
        self.0[call as usize % NOTES].store(note, Ordering::Release);
    }

    /// Reads, behind the collective of the call, whether it has failed in the rank whose notes they are. OK: it has not.
    pub fn read(&self, call: u32) -> Status {
        let note = self.0[call as usize % NOTES].load(Ordering::Acquire);
        let (other, why) = ((note >> 32) as u32, Status((note as u32).cast_signed()));
        // Calls are compared by distance, since they are counted modulo 2^32.
        let is_later = note != 0 && other.wrapping_sub(call) < 1 << 31;
        if is_later { why } else { Status::OK }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_of_its_call() {
        let notes = Notes::new();
        assert_eq!(notes.read(5), Status::OK);
        notes.write(5, Status::PEER_FAILED);
        assert_eq!(
            (notes.read(4), notes.read(5), notes.read(6)),
            (Status::OK, Status::PEER_FAILED, Status::OK)
        );
        assert_eq!(notes.read(5 + NOTES as u32), Status::OK, "an old note is no failure of a later call");
        notes.write(5 + NOTES as u32, Status::UNREACHABLE);
        assert_eq!(notes.read(5), Status::UNREACHABLE, "what cannot be known is taken for failed");
    }

    #[test]
    fn calls_count_on_beyond_the_largest_number() {
        let notes = Notes::new();
        notes.write(u32::MAX, Status::PEER_FAILED);
        assert_eq!(notes.read(u32::MAX), Status::PEER_FAILED);
        assert_eq!(notes.read(u32::MAX.wrapping_add(NOTES as u32)), Status::OK);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;
    use oxmpi_mca::sync::AtomicU32;

    /// A rank hands on in three calls, of which one fails, and is as far ahead as it likes; another one looks behind each.
    fn hands_on(fails: u32) {
        loom::model(move || {
            let shared = Arc::new((Notes::new(), AtomicU32::new(0)));
            let other = shared.clone();
            let rank = thread::spawn(move || {
                for call in 1..=3 {
                    if call == fails {
                        other.0.write(call, Status::PEER_FAILED);
                    }
                    // The data that is handed on.
                    other.1.store(call, Ordering::Release);
                }
            });
            for call in 1..=3 {
                while shared.1.load(Ordering::Acquire) < call {
                    thread::yield_now();
                }
                let read = shared.0.read(call);
                if call == fails {
                    assert_eq!(read, Status::PEER_FAILED, "call {call}");
                } else if call > fails || (call + fails) % 2 == 1 {
                    assert_eq!(read, Status::OK, "call {call}");
                }
            }
            rank.join().unwrap();
        });
    }

    #[test]
    fn a_failure_is_seen_by_those_whom_the_call_reached() {
        (1..=3).for_each(hands_on);
    }
}
