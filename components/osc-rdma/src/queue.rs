//! Those who issue operations on a context, in the order in which they came: where one of them finds no room, and gives the CRI back until there is, the
//! others wait behind it. So lists that a transport carries out in the order of the calls ([`crate::peer::Link::lines`]) are offered in the order in which they were
//! begun, also where threads share a context, or send each other's batches.

use oxmpi_mca::{CriGuard, OfCri};

/// Of one lane, used under its CRI.
pub struct Queue(OfCri<Turns>);

#[derive(Default)]
struct Turns {
    /// The next to come.
    last: u64,
    /// Whose turn it is.
    now: u64,
    /// Those who have left before their turn.
    gone: Vec<u64>,
}

/// A place in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

impl Queue {
    /// Of the lane of a context.
    pub fn new(ctx: u32) -> Queue {
        Queue(OfCri::new(ctx, Turns::default()))
    }

    /// A place behind all others, to be left once.
    pub fn join(&self, held: &mut CriGuard<'_>) -> Ticket {
        let turns = self.0.get(held);
        turns.last += 1;
        Ticket(turns.last - 1)
    }

    pub fn is_next(&self, held: &mut CriGuard<'_>, ticket: Ticket) -> bool {
        self.0.get(held).now == ticket.0
    }

    /// Its turn is over, which it has had, or has given up because its operation failed.
    pub fn leave(&self, held: &mut CriGuard<'_>, ticket: Ticket) {
        let turns = self.0.get(held);
        turns.gone.push(ticket.0);
        while let Some(i) = turns.gone.iter().position(|gone| *gone == turns.now) {
            turns.gone.swap_remove(i);
            turns.now += 1;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_whoever_leaves() {
        let queue = Queue::new(1);
        // SAFETY: one thread.
        let held = &mut unsafe { CriGuard::inherited(1, false, None) };
        let all: Vec<Ticket> = (0..5).map(|_| queue.join(held)).collect();
        let next = |held: &mut CriGuard<'_>| all.iter().position(|ticket| queue.is_next(held, *ticket));
        assert_eq!(next(held), Some(0));
        queue.leave(held, all[2]);
        queue.leave(held, all[1]);
        assert_eq!(next(held), Some(0), "those behind it have left");
        queue.leave(held, all[0]);
        assert_eq!(next(held), Some(3));
        queue.leave(held, all[3]);
        queue.leave(held, all[4]);
        let late = queue.join(held);
        assert!(queue.is_next(held, late));
    }
}
