//! Memory that ranks of a node share by name: which there is, and who has it.
//!
//! Somebody asks by a key and a size. The first to do so has the memory made, empty and without a name in any file system;
//! the others get the same. Each who gets it gives it the length (it grows and cannot shrink), so nobody relies on another. It
//! is forgotten when all who have it have given it up or are gone; whoever asks then gets new memory. Mappings
//! do not depend on that: the kernel keeps memory as long as somebody has it mapped.
//!
//! The node's daemon has one of these, or the processes of a job without one.

use super::machine::new_segment;
use rustix::process::{Resource, getrlimit};
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Memory of one node that ranks share, by key.
#[derive(Debug)]
pub(super) struct Shares {
    all: HashMap<String, Share>,
    /// Each costs a descriptor, and whoever keeps them needs others.
    most: usize,
}

/// One piece of shared memory.
#[derive(Debug)]
struct Share {
    memory: Arc<OwnedFd>,
    bytes: u64,
    /// Ranks.
    holders: Vec<u32>,
}

/// Why somebody does not get what he asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// It exists with another size.
    OtherSize(u64),
    Cannot(String),
}

impl Shares {
    /// Shares of a node without any; they take at most half of the descriptors that this process may have.
    pub(super) fn new() -> Shares {
        let limit = getrlimit(Resource::Nofile).current.map_or(1 << 20, |n| n as usize);
        Shares { all: HashMap::new(), most: limit / 2 }
    }

    /// Gives a rank a descriptor of the memory under a key, which is made if it is not there, and says whether the rank
    /// is the first.
    pub(super) fn take(&mut self, rank: u32, key: &str, bytes: u64) -> Result<(Arc<OwnedFd>, bool), Denied> {
        if let Some(share) = self.all.get_mut(key) {
            if share.bytes != bytes {
                return Err(Denied::OtherSize(share.bytes));
            }
            if !share.holders.contains(&rank) {
                share.holders.push(rank);
            }
            return Ok((Arc::clone(&share.memory), false));
        }
        if self.all.len() >= self.most {
            let limit = format!("{} pieces of shared memory are in use on the node (ulimit -n)", self.most);
            return Err(Denied::Cannot(limit));
        }
        let memory = Arc::new(new_segment().map_err(|why| Denied::Cannot(why.to_string()))?);
        self.all.insert(key.to_owned(), Share { memory: Arc::clone(&memory), bytes, holders: vec![rank] });
        Ok((memory, true))
    }

    /// The memory under a key, and its size, if somebody has it.
    pub(super) fn find(&self, key: &str) -> Option<(Arc<OwnedFd>, u64)> {
        self.all.get(key).map(|share| (Arc::clone(&share.memory), share.bytes))
    }

    /// Ends a rank's hold on the memory under a key. A key that it does not hold changes nothing.
    pub(super) fn give_up(&mut self, rank: u32, key: &str) {
        let Some(share) = self.all.get_mut(key) else { return };
        share.holders.retain(|holder| *holder != rank);
        if share.holders.is_empty() {
            self.all.remove(key);
        }
    }

    /// Ends all holds of a rank that is gone.
    pub(super) fn gone(&mut self, rank: u32) {
        self.all.retain(|_, share| {
            share.holders.retain(|holder| *holder != rank);
            !share.holders.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inode(memory: &OwnedFd) -> u64 {
        rustix::fs::fstat(memory).expect("a file").st_ino
    }

    #[test]
    fn one_memory_for_all_who_ask_until_nobody_has_it() {
        let mut shares = Shares::new();
        let (first, one) = shares.take(3, "a", 100).expect("there is memory");
        let (again, two) = shares.take(5, "a", 100).expect("as above");
        let (other, three) = shares.take(5, "b", 1).expect("as above");
        assert_eq!((one, two, three), (true, false, true));
        assert_eq!(inode(&first), inode(&again));
        assert_ne!(inode(&first), inode(&other));
        assert_eq!(shares.take(7, "a", 99).expect_err("another size"), Denied::OtherSize(100));
        shares.give_up(3, "a");
        shares.give_up(3, "a");
        assert!(!shares.take(6, "a", 100).expect("5 has it").1);
        shares.gone(5);
        assert!(shares.take(5, "b", 2).expect("nobody has it").1);
        shares.give_up(6, "a");
        let (new, is_first) = shares.take(3, "a", 7).expect("nobody has it");
        assert!(is_first && inode(&new) != inode(&first));
    }

    #[test]
    fn descriptors_are_left_for_others() {
        let mut shares = Shares { most: 2, ..Shares::new() };
        for key in ["a", "b"] {
            shares.take(0, key, 1).expect("room");
        }
        assert!(matches!(shares.take(0, "c", 1), Err(Denied::Cannot(why)) if why.contains("ulimit")));
        assert!(shares.take(1, "a", 1).is_ok(), "what is there costs nothing");
        shares.give_up(0, "b");
        assert!(shares.take(0, "c", 1).is_ok());
    }
}
