//! A queue at a window's target grants shared and exclusive locks in the order in which ranks ask for them.

use oxmpi_osc::lock_type;
use std::collections::VecDeque;

/// This is the lock of one rank's memory, as that rank keeps it.
#[derive(Default)]
pub struct Locks {
    holders: Vec<u32>,
    exclusive: bool,
    waiting: VecDeque<(u32, bool)>,
}

impl Locks {
    /// A rank asks for a lock of `kind` ([`lock_type`]); the result has the ranks that have the lock from now on. It is `None` if there is
    /// no such lock, or if the rank has or waits for one.
    pub fn request(&mut self, rank: u32, kind: u32) -> Option<Vec<u32>> {
        let exclusive = match kind {
            lock_type::SHARED => false,
            lock_type::EXCLUSIVE => true,
            _ => return None,
        };
        if self.holders.contains(&rank) || self.waiting.iter().any(|(r, _)| *r == rank) {
            return None;
        }
        self.waiting.push_back((rank, exclusive));
        Some(self.grant())
    }

    /// A rank gives its lock back; the result has the ranks that have the lock from now on. It is `None` if the rank has none.
    pub fn release(&mut self, rank: u32) -> Option<Vec<u32>> {
        let at = self.holders.iter().position(|holder| *holder == rank)?;
        self.holders.swap_remove(at);
        Some(self.grant())
    }

    fn grant(&mut self) -> Vec<u32> {
        let mut granted = Vec::new();
        while let Some(&(rank, exclusive)) = self.waiting.front() {
            let free = self.holders.is_empty();
            if !free && (exclusive || self.exclusive) {
                break;
            }
            self.waiting.pop_front();
            self.exclusive = exclusive;
            self.holders.push(rank);
            granted.push(rank);
        }
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lock_type::{EXCLUSIVE, SHARED};

    #[test]
    fn in_order_of_the_requests() {
        let mut locks = Locks::default();
        assert_eq!(locks.request(0, SHARED), Some(vec![0]));
        assert_eq!(locks.request(1, SHARED), Some(vec![1]));
        assert_eq!(locks.request(2, EXCLUSIVE), Some(vec![]));
        assert_eq!(locks.request(3, SHARED), Some(vec![]), "not before the exclusive one");
        assert_eq!(locks.request(0, SHARED), None, "has it");
        assert_eq!(locks.request(3, SHARED), None, "waits for it");
        assert_eq!(locks.request(4, 7), None, "no lock type");
        assert_eq!(locks.release(0), Some(vec![]));
        assert_eq!(locks.release(0), None);
        assert_eq!(locks.release(1), Some(vec![2]));
        assert_eq!(locks.request(5, EXCLUSIVE), Some(vec![]));
        assert_eq!(locks.release(2), Some(vec![3]));
        assert_eq!(locks.release(3), Some(vec![5]));
        assert_eq!(locks.release(5), Some(vec![]));
    }
}
