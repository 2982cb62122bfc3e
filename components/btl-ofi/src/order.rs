//! Places of a link's messages: a provider keeps the order in which messages meet receive buffers (FI_ORDER_SAS), not that in which it reports them.
//!
//! A message that it negotiates with the other side, because it is long or the first one, is reported when its data is there, and those behind it
//! may be earlier. So every message of a direction has a number, and one that is early keeps its receive buffer until its turn.

/// Messages that came on one direction of a link, as far as they are early.
#[derive(Debug, Default)]
pub struct Order {
    /// Number of the next message to be handed up.
    due: u16,
    /// Messages behind that, with their receive buffers and lengths.
    early: Vec<(u16, Buffered)>,
}

/// A receive buffer's number, and the bytes in it.
pub type Buffered = (u32, usize);

/// The place of a message that has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    Due,
    /// It is kept.
    Early,
    /// Nobody who keeps to the protocol sends it: it was there already, or is further ahead than credits allow.
    Wrong,
}

/// Numbers that are further ahead than this are none of messages that may be under way.
const WINDOW: u16 = 512;

impl Order {
    /// Takes a message with that number, or keeps it where it is early.
    #[inline]
    pub fn take(&mut self, number: u16, buffer: Buffered) -> Place {
        if number == self.due {
            self.due = self.due.wrapping_add(1);
            return Place::Due;
        }
        self.keep(number, buffer)
    }

    #[cold]
    fn keep(&mut self, number: u16, buffer: Buffered) -> Place {
        let is_there = self.early.iter().any(|(other, _)| *other == number);
        if is_there || number.wrapping_sub(self.due) > WINDOW {
            return Place::Wrong;
        }
        self.early.push((number, buffer));
        Place::Early
    }

    /// The message that was early and is due now; it is to be taken again.
    #[inline]
    pub fn next(&mut self) -> Option<Buffered> {
        if self.early.is_empty() {
            return None;
        }
        let at = self.early.iter().position(|(number, _)| *number == self.due)?;
        Some(self.early.swap_remove(at).1)
    }

    /// Gives up what was kept.
    pub fn give_up(&mut self) -> impl Iterator<Item = Buffered> {
        core::mem::take(&mut self.early).into_iter().map(|(_, buffer)| buffer)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_comes_twice_or_from_beyond() {
        let mut order = Order { due: u16::MAX, ..Order::default() };
        assert_eq!(order.take(0, (1, 1)), Place::Early);
        assert_eq!(order.take(0, (2, 2)), Place::Wrong, "it is there");
        assert_eq!(order.take(u16::MAX - 1, (3, 3)), Place::Wrong, "it was there");
        assert_eq!(order.take(WINDOW, (3, 3)), Place::Wrong, "too far ahead");
        assert_eq!(order.next(), None);
        assert_eq!(order.take(u16::MAX, (4, 4)), Place::Due);
        assert_eq!(order.next(), Some((1, 1)));
        assert_eq!(order.take(0, (1, 1)), Place::Due);
        assert_eq!(order.take(2, (5, 5)), Place::Early);
        assert_eq!(order.give_up().collect::<Vec<_>>(), [(5, 5)]);
    }

    proptest! {
        /// Messages that are early by less than the window are handed up in order.
        #[test]
        fn any_sequence_comes_out_in_order(first in any::<u16>(), keys in proptest::collection::vec(0u32..40, 1..200)) {
            let mut sent: Vec<u32> = (0..keys.len() as u32).collect();
            sent.sort_by_key(|n| n + keys[*n as usize]);
            let (mut order, mut up) = (Order { due: first, ..Order::default() }, Vec::new());
            for n in sent {
                let mut next = Some((n, 0));
                while let Some((n, len)) = next {
                    if order.take(first.wrapping_add(n as u16), (n, len)) == Place::Due {
                        up.push(n);
                        next = order.next();
                    } else {
                        next = None;
                    }
                }
            }
            prop_assert_eq!(up, (0..keys.len() as u32).collect::<Vec<_>>());
        }
    }
}
