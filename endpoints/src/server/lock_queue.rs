//! The lock of a window at one target: granted in the order in which ranks asked for it.

use crate::abi::c_int;
use std::collections::VecDeque;

/// The lock of one target: who holds it, and who waits for it.
#[derive(Default)]
pub struct LockQueue {
    exclusive: bool,
    shared: u32,
    waiting: VecDeque<(c_int, bool)>,
}

impl LockQueue {
    pub fn ask(&mut self, rank: c_int, exclusive: bool) {
        self.waiting.push_back((rank, exclusive));
    }

    pub fn release(&mut self) {
        match self.exclusive {
            true => self.exclusive = false,
            false => self.shared = self.shared.saturating_sub(1),
        }
    }

    /// The next rank that gets the lock now.
    pub fn grant(&mut self) -> Option<c_int> {
        let (rank, exclusive) = *self.waiting.front()?;
        if self.exclusive || exclusive && self.shared > 0 {
            return None;
        }
        match exclusive {
            true => self.exclusive = true,
            false => self.shared += 1,
        }
        self.waiting.pop_front();
        Some(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::LockQueue;

    #[test]
    fn locks_are_granted_in_order_and_exclude() {
        let mut lock = LockQueue::default();
        let asked = [(0, false), (1, false), (2, true), (3, false), (4, true)];
        asked.into_iter().for_each(|(rank, exclusive)| lock.ask(rank, exclusive));
        assert_eq!([lock.grant(), lock.grant(), lock.grant()], [Some(0), Some(1), None]);
        lock.release();
        assert_eq!(lock.grant(), None);
        lock.release();
        // Nobody passes an exclusive one that waits.
        assert_eq!([lock.grant(), lock.grant()], [Some(2), None]);
        lock.release();
        assert_eq!([lock.grant(), lock.grant()], [Some(3), None]);
        lock.release();
        assert_eq!([lock.grant(), lock.grant()], [Some(4), None]);
    }
}
