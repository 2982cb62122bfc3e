//! Bounded queue of record indices: many producers (the client's threads), one consumer (the proxy).
//!
//! A producer takes a ticket by one fetch-add and owns the cell `ticket % N` for that lap. It waits until the consumer has
//! passed the cell's previous lap, then publishes index and ticket by one store of 8 bytes. The consumer takes cells in the order of
//! tickets, so commands of one thread are started in the order in which it issued them. Memory full of zeros is an empty
//! ring.
//!
//! Waiting for room ends: the consumer takes commands without waiting for any of them to complete.

use super::sync::{AtomicU32, AtomicU64, Ordering};

#[repr(C, align(64))]
struct Line<T>(T);

/// N is a power of two, so that tickets may wrap around.
#[repr(C)]
pub struct Ring<const N: usize> {
    tail: Line<AtomicU32>,
    head: Line<AtomicU32>,
    cells: [AtomicU64; N],
}

impl<const N: usize> Ring<N> {
    pub fn new() -> Self {
        Ring {
            tail: Line(AtomicU32::new(0)),
            head: Line(AtomicU32::new(0)),
            cells: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Publishes a value. `full` is called between looks at a ring without room.
    pub fn push(&self, value: u32, mut full: impl FnMut()) {
        let ticket = self.tail.0.fetch_add(1, Ordering::Relaxed);
        // SYNC POINT with `pop`'s store of head: the cell's last value was read.
        while ticket.wrapping_sub(self.head.0.load(Ordering::Acquire)) >= N as u32 {
            full();
        }
        let word = u64::from(ticket.wrapping_add(1)) << 32 | u64::from(value);
        // SYNC POINT with `pop`'s load: what the value names was written before.
        self.cells[ticket as usize % N].store(word, Ordering::Release);
    }

    /// The oldest value that is published, if any. One thread only.
    pub fn pop(&self) -> Option<u32> {
        let head = self.head.0.load(Ordering::Relaxed);
        // SYNC POINT with `push`'s store.
        let word = self.cells[head as usize % N].load(Ordering::Acquire);
        if (word >> 32) as u32 != head.wrapping_add(1) {
            return None;
        }
        // SYNC POINT with `push`'s load of head.
        self.head.0.store(head.wrapping_add(1), Ordering::Release);
        Some(word as u32)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Ring;
    use std::sync::Arc;

    #[test]
    fn values_of_each_producer_come_in_order_and_none_is_lost() {
        const EACH: u32 = 20_000;
        let ring = Arc::new(Ring::<8>::new());
        let producers: Vec<_> = (0..3u32)
            .map(|p| {
                let ring = ring.clone();
                std::thread::spawn(move || {
                    (0..EACH).for_each(|i| ring.push(p * EACH + i, std::thread::yield_now));
                })
            })
            .collect();
        let mut next = [0; 3];
        while next.iter().sum::<u32>() < 3 * EACH {
            match ring.pop() {
                Some(value) => {
                    let (p, i) = ((value / EACH) as usize, value % EACH);
                    assert_eq!(i, next[p]);
                    next[p] += 1;
                }
                None => std::thread::yield_now(),
            }
        }
        producers.into_iter().for_each(|p| p.join().unwrap());
        assert_eq!(ring.pop(), None);
    }
}
