//! The wait of a piece for room at a transport: turns of progress, then yields, then naps between two offers.
//!
//! Room comes in a few turns where operations that are under way fill a queue. Where a connection is being made it may take seconds, in which the peer
//! needs a core, perhaps this one: so the core is given away after some turns, and the thread naps behind some yields, as in any wait.

use crate::call::Call;
use oxmpi_mca::Status;
use std::time::Duration;

/// Turns in want of room before the core is given away, and yields before the first nap.
const ROOM_TURNS: u32 = 256;
const ROOM_YIELDS: u32 = 64;
/// Each nap in want of room is twice as long as the one before.
const FIRST_NAP: Duration = Duration::from_micros(5);
const LONGEST_NAP: Duration = Duration::from_micros(500);

/// The wait of one piece for room at a transport.
#[derive(Default)]
pub struct RoomWait {
    /// Turns that brought none.
    turns: u32,
}

/// An act of a wait for room behind a turn that brought none.
#[derive(Debug, PartialEq, Eq)]
enum Act {
    Look,
    Yield,
    Nap(Duration),
}

impl RoomWait {
    fn next_act(&mut self) -> Act {
        self.turns = self.turns.saturating_add(1);
        match self.turns.checked_sub(ROOM_TURNS) {
            None | Some(0) => Act::Look,
            Some(behind) => match behind.checked_sub(ROOM_YIELDS) {
                None | Some(0) => Act::Yield,
                Some(naps) => Act::Nap((FIRST_NAP * (1 << (naps - 1).min(7))).min(LONGEST_NAP)),
            },
        }
    }
}

impl Call<'_> {
    /// Makes progress, of this context too, between two offers to a transport that has no room.
    pub fn wait_for_room(&mut self, ctx: u32, wait: &mut RoomWait) -> Status {
        match wait.next_act() {
            Act::Look => {}
            Act::Yield => std::thread::yield_now(),
            Act::Nap(nap) => std::thread::sleep(nap),
        }
        self.turn(ctx)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_room_gives_the_core_away() {
        let mut wait = RoomWait::default();
        let mut row = |n: u32| (0..n).map(|_| wait.next_act()).collect::<Vec<_>>();
        assert!(row(ROOM_TURNS).iter().all(|act| *act == Act::Look));
        assert!(row(ROOM_YIELDS).iter().all(|act| *act == Act::Yield));
        assert_eq!(row(2), [Act::Nap(FIRST_NAP), Act::Nap(FIRST_NAP * 2)]);
        assert_eq!(row(100).pop(), Some(Act::Nap(LONGEST_NAP)));
    }
}
