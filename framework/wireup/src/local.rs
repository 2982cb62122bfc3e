//! The store of a job that lives in one process: a singleton, or a test's several ranks.

use super::error::Error;
use super::shares::Shares;
use oxmpi_system::locks::{Condvar, Mutex};
use std::collections::HashMap;

/// One store, shared by all clients of the job.
#[derive(Debug)]
pub(super) struct Store {
    size: u32,
    state: Mutex<State>,
    /// Memory that ranks of a node share, by node.
    shares: Mutex<HashMap<u32, Shares>>,
    /// Signalled when a fence is complete.
    passed: Condvar,
}

/// Values of a [`Store`], and how far its fence is.
#[derive(Debug, Default)]
struct State {
    values: HashMap<(u32, String), Vec<u8>>,
    /// How many have come to the present fence, and how many fences are complete.
    waiting: u32,
    fences: u64,
}

impl Store {
    /// An empty store for a job of `size` ranks.
    pub(super) fn new(size: u32) -> Store {
        Store { size, state: Mutex::default(), shares: Mutex::default(), passed: Condvar::new() }
    }

    /// Keeps the pairs that a rank commits; a later value replaces an earlier one.
    pub(super) fn publish(&self, rank: u32, pairs: Vec<(String, Vec<u8>)>) {
        let mut state = self.state.lock();
        for (key, value) in pairs {
            state.values.insert((rank, key), value);
        }
    }

    /// The value that a rank has published under a key; `None`: none.
    pub(super) fn get(&self, proc: u32, key: &str) -> Option<Vec<u8>> {
        self.state.lock().values.get(&(proc, key.to_owned())).cloned()
    }

    /// Calls `f` with the memory that ranks of a node share, under its lock.
    pub(super) fn shares<T>(&self, node: u32, f: impl FnOnce(&mut Shares) -> T) -> T {
        f(self.shares.lock().entry(node).or_insert_with(Shares::new))
    }

    /// Waits until all ranks of the job have come to the fence.
    pub(super) fn fence(&self) -> Result<(), Error> {
        let mut state = self.state.lock();
        let mine = state.fences;
        state.waiting += 1;
        if state.waiting == self.size {
            state.waiting = 0;
            state.fences += 1;
            self.passed.notify_all();
        }
        while state.fences == mine {
            self.passed.wait(&mut state);
        }
        Ok(())
    }
}
