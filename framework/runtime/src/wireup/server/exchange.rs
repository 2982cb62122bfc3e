//! The key-value store and the fence, as one node's daemon has them.
//!
//! **Values stay where they were put.** A rank that asks for a value of another node has its daemon fetch it
//! ([`Found::Far`]), once for all ranks of the node that ask at the same time, and the daemon keeps it until the next
//! fence, behind which it may be another. So a daemon holds what its own ranks published and what they asked for, and
//! nothing grows with the number of nodes.
//!
//! **A fence is passed in two steps:** when all ranks of the node have come, the daemon says so
//! ([`Entered::AllHere`]); when it hears that all of the job have, the ranks are told ([`Exchange::pass`]). On one node
//! the steps are one.

use std::collections::HashMap;

/// Everything one rank may have in the store.
const RANK_BYTES: usize = 16 << 20;

/// Values of other nodes that a rank may wait for at once.
const MOST_ASKED: usize = 1 << 16;

/// A value's name: the rank that put it, and its key.
type Name = (u32, String);

#[derive(Debug)]
pub(super) struct Exchange {
    /// Ranks of this node, and whether they are all of the job.
    here: usize,
    alone: bool,
    values: HashMap<Name, Vec<u8>>,
    /// Bytes that each rank has in the store.
    bytes: HashMap<u32, usize>,
    /// Values of other nodes, as of the last fence, and the connections that wait for some.
    far: HashMap<Name, Vec<u8>>,
    asked: HashMap<Name, Vec<u64>>,
    /// Who has come to the present fence: rank and connection.
    waiting: Vec<(u32, u64)>,
    /// The first rank that left: no fence can be complete any more.
    gone: Option<u32>,
}

/// What follows when a rank comes to the fence.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// It waits.
    Waits,
    /// All ranks of this node have come, and others are on other nodes.
    AllHere,
    /// It is complete, and these connections are to be told.
    Passed(Vec<u64>),
}

/// What there is to say to a rank that asks for a value of another node.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Here(Vec<u8>),
    /// It is being fetched already.
    Waits,
    /// It is to be fetched.
    Far,
}

impl Exchange {
    pub(super) fn new(here: usize, alone: bool) -> Exchange {
        Exchange {
            here,
            alone,
            values: HashMap::new(),
            bytes: HashMap::new(),
            far: HashMap::new(),
            asked: HashMap::new(),
            waiting: Vec::new(),
            gone: None,
        }
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

    /// What a rank of this node has published.
    pub(super) fn get(&self, proc: u32, key: &str) -> Option<Vec<u8>> {
        self.values.get(&(proc, key.to_owned())).cloned()
    }

    /// A value of another node's rank, for a connection.
    pub(super) fn get_far(&mut self, proc: u32, key: String, connection: u64) -> Result<Found, String> {
        let name = (proc, key);
        if let Some(value) = self.far.get(&name) {
            return Ok(Found::Here(value.clone()));
        }
        if self.asked.values().filter(|waiting| waiting.contains(&connection)).count() >= MOST_ASKED {
            return Err(format!("it asks for more than {MOST_ASKED} values at once"));
        }
        let waiting = self.asked.entry(name).or_default();
        if waiting.contains(&connection) {
            return Err("it asks for a value again before it has the answer".into());
        }
        waiting.push(connection);
        Ok(if waiting.len() == 1 { Found::Far } else { Found::Waits })
    }

    /// A value came from another node. Returns the connections that wait for it.
    pub(super) fn keep_far(&mut self, proc: u32, key: String, value: Option<&[u8]>) -> Vec<u64> {
        let name = (proc, key);
        let waiting = self.asked.remove(&name).unwrap_or_default();
        // What nobody asked for is no news, and what is not there may be at the next question.
        if let Some(value) = value.filter(|_| !waiting.is_empty()) {
            self.far.insert(name, value.to_vec());
        }
        waiting
    }

    pub(super) fn gone(&self) -> Option<u32> {
        self.gone
    }

    /// Somebody who waits at the fence.
    pub(super) fn first_waiting(&self) -> Option<u32> {
        self.waiting.iter().map(|(rank, _)| *rank).min()
    }

    /// A rank comes to the fence.
    pub(super) fn enter(&mut self, rank: u32, connection: u64) -> Result<Entered, String> {
        if self.waiting.iter().any(|(r, _)| *r == rank) {
            return Err("it came to a fence at which it waits already".into());
        }
        self.waiting.push((rank, connection));
        Ok(match self.waiting.len() < self.here {
            true => Entered::Waits,
            false if self.alone => Entered::Passed(self.pass()),
            false => Entered::AllHere,
        })
    }

    /// All ranks of the job have come. Returns the connections that wait.
    pub(super) fn pass(&mut self) -> Vec<u64> {
        self.far.clear();
        self.waiting.drain(..).map(|(_, connection)| connection).collect()
    }

    /// A rank is gone, here or elsewhere. Returns the connections that wait in vain.
    pub(super) fn lost(&mut self, rank: u32) -> Vec<u64> {
        self.gone.get_or_insert(rank);
        self.waiting.drain(..).filter(|(r, _)| *r != rank).map(|(_, connection)| connection).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_of_several_nodes_is_passed_in_two_steps() {
        let mut e = Exchange::new(2, false);
        assert_eq!(e.enter(4, 1), Ok(Entered::Waits));
        assert!(e.enter(4, 1).is_err(), "twice");
        assert_eq!(e.enter(5, 2), Ok(Entered::AllHere));
        assert_eq!(e.pass(), [1, 2]);
        assert_eq!(e.enter(5, 2), Ok(Entered::Waits));
        assert_eq!(e.lost(0), [2], "a rank of another node");
        assert_eq!(e.gone(), Some(0));
        let mut one = Exchange::new(1, true);
        assert_eq!(one.enter(0, 9), Ok(Entered::Passed(vec![9])));
    }

    #[test]
    fn a_far_value_is_fetched_once_and_forgotten_at_a_fence() {
        let mut e = Exchange::new(3, false);
        let get = |e: &mut Exchange, connection| e.get_far(7, "card".into(), connection);
        assert_eq!(get(&mut e, 1), Ok(Found::Far));
        assert_eq!(get(&mut e, 2), Ok(Found::Waits));
        assert!(get(&mut e, 2).is_err(), "the same question");
        assert_eq!(e.get_far(8, "card".into(), 2), Ok(Found::Far), "another one");
        assert_eq!(e.keep_far(8, "card".into(), None), [2]);
        assert_eq!(e.keep_far(7, "card".into(), Some(b"x")), [1, 2]);
        assert_eq!(get(&mut e, 3), Ok(Found::Here(b"x".to_vec())));
        e.pass();
        assert_eq!(get(&mut e, 3), Ok(Found::Far));
        assert_eq!(e.keep_far(7, "card".into(), None), [3]);
        assert_eq!(get(&mut e, 3), Ok(Found::Far), "what was not there may be now");
        assert_eq!(e.keep_far(8, "other".into(), Some(b"y")), [], "nobody asked");
    }
}
