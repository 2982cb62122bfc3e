//! The key-value store and the fence of one job.

use std::collections::HashMap;

/// Everything one rank may have in the store.
const RANK_BYTES: usize = 16 << 20;

#[derive(Debug)]
pub(super) struct Exchange {
    size: u32,
    values: HashMap<(u32, String), Vec<u8>>,
    /// Bytes that each rank has in the store.
    bytes: HashMap<u32, usize>,
    /// Who has come to the present fence: rank and connection.
    waiting: Vec<(u32, u64)>,
    /// The first rank that left: no fence can be complete any more.
    gone: Option<u32>,
}

impl Exchange {
    pub(super) fn new(size: u32) -> Exchange {
        Exchange { size, values: HashMap::new(), bytes: HashMap::new(), waiting: Vec::new(), gone: None }
    }

    pub(super) fn publish(&mut self, rank: u32, pairs: Vec<(String, Vec<u8>)>) -> Result<(), String> {
        for (key, value) in pairs {
            let (key_bytes, more) = (key.len(), value.len());
            let less = match self.values.insert((rank, key), value) {
                Some(old) => old.len(),
                None => 0,
            };
            let held = self.bytes.entry(rank).or_default();
            // A replaced value's key is counted again: a bound, not a balance.
            *held = (*held + key_bytes + more).saturating_sub(less);
            if *held > RANK_BYTES {
                return Err(format!("it published more than {RANK_BYTES} bytes"));
            }
        }
        Ok(())
    }

    pub(super) fn get(&self, proc: u32, key: &str) -> Option<Vec<u8>> {
        self.values.get(&(proc, key.to_owned())).cloned()
    }

    pub(super) fn gone(&self) -> Option<u32> {
        self.gone
    }

    /// Somebody who waits at the fence.
    pub(super) fn first_waiting(&self) -> Option<u32> {
        self.waiting.iter().map(|(rank, _)| *rank).min()
    }

    /// A rank comes to the fence. Some: it is complete, and these connections are to be told.
    pub(super) fn enter(&mut self, rank: u32, connection: u64) -> Result<Option<Vec<u64>>, String> {
        if self.waiting.iter().any(|(r, _)| *r == rank) {
            return Err("it came to a fence at which it waits already".into());
        }
        self.waiting.push((rank, connection));
        if self.waiting.len() < self.size as usize {
            return Ok(None);
        }
        Ok(Some(self.waiting.drain(..).map(|(_, connection)| connection).collect()))
    }

    /// A rank is gone. Returns the connections that wait in vain.
    pub(super) fn lost(&mut self, rank: u32) -> Vec<u64> {
        self.gone.get_or_insert(rank);
        self.waiting.drain(..).filter(|(r, _)| *r != rank).map(|(_, connection)| connection).collect()
    }
}
