//! The key-value store and the fence, as one node's daemon has them.
//!
//! **Values stay where they were put.** A rank that asks for a value of another node has its daemon fetch it
//! ([`Found::Far`]), and gets with it what the other ranks of that node have under the same key, since who talks to one
//! of them mostly talks to more: so a daemon asks each other node once for a key, however many ranks both have. It keeps that until the next
//! fence, behind which it may be another. So a daemon holds what its own ranks published and what is on the nodes
//! that they asked, and nothing grows with the number of nodes they do not ask.
//!
//! **A fence is passed in two steps:** when all ranks of the node have come, the daemon says so
//! ([`Entered::AllHere`]); when it hears that all of the job have, the ranks are told ([`Exchange::pass`]). On one node
//! the steps are one.

use std::collections::{HashMap, HashSet};

/// Everything one rank may have in the store.
const RANK_BYTES: usize = 16 << 20;

/// Values of other nodes that a rank may wait for at once.
const MOST_ASKED: usize = 1 << 16;

/// Ranks, and what they have under a key.
pub type Values = Vec<(u32, Option<Vec<u8>>)>;

/// A value's name: the rank that put it, and its key.
type Name = (u32, String);

/// The values and the fence of one node; see the module's head.
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
    /// Questions under way: node and key.
    asking: HashSet<(u32, String)>,
    /// Ranks that have come to the present fence, each with its connection.
    waiting: Vec<(u32, u64)>,
    /// The first rank that left: no fence can be complete any more.
    gone: Option<u32>,
}

/// The consequence of a rank's arrival at the fence.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// It waits.
    Waits,
    /// All ranks of this node have come, and others are on other nodes.
    AllHere,
    /// It is complete, and these connections are to be told.
    Passed(Vec<u64>),
}

/// The answer to a rank that asks for a value of another node.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Here(Vec<u8>),
    /// It is being fetched already.
    Waits,
    /// It is to be fetched.
    Far,
}

impl Exchange {
    /// An empty store of a node with `here` ranks; `alone`: they are all of the job.
    pub(super) fn new(here: usize, alone: bool) -> Exchange {
        Exchange {
            here,
            alone,
            values: HashMap::new(),
            bytes: HashMap::new(),
            far: HashMap::new(),
            asked: HashMap::new(),
            asking: HashSet::new(),
            waiting: Vec::new(),
            gone: None,
        }
    }

    /// Keeps the pairs that a rank publishes; an error where it has more than it may.
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

    /// The value that a rank of this node has published.
    pub(super) fn get(&self, proc: u32, key: &str) -> Option<Vec<u8>> {
        self.values.get(&(proc, key.to_owned())).cloned()
    }

    /// The values that all ranks of this node have published under a key, that of `first` before the others; at most `limit` bytes
    /// beside that. False: there is more.
    pub(super) fn all_under(&self, first: u32, key: &str, ranks: &[u32], limit: usize) -> (Values, bool) {
        let mut values = vec![(first, self.get(first, key))];
        let mut bytes = 0;
        for &rank in ranks.iter().filter(|rank| **rank != first) {
            let Some(value) = self.get(rank, key) else { continue };
            bytes += value.len();
            if bytes > limit {
                return (values, false);
            }
            values.push((rank, Some(value)));
        }
        (values, true)
    }

    /// Looks for a value of rank `proc` on another node, and notes that the connection waits for it if it is not here.
    pub(super) fn get_far(
        &mut self,
        node: u32,
        proc: u32,
        key: String,
        connection: u64,
    ) -> Result<Found, String> {
        let name = (proc, key);
        if let Some(value) = self.far.get(&name) {
            return Ok(Found::Here(value.clone()));
        }
        if self.asked.values().filter(|waiting| waiting.contains(&connection)).count() >= MOST_ASKED {
            return Err(format!("it asks for more than {MOST_ASKED} values at once"));
        }
        let question = (node, name.1.clone());
        let waiting = self.asked.entry(name).or_default();
        if waiting.contains(&connection) {
            return Err("it asks for a value again before it has the answer".into());
        }
        waiting.push(connection);
        Ok(if self.asking.insert(question) { Found::Far } else { Found::Waits })
    }

    /// Ends the question to a node under a key; returns those of its ranks for whose values connections still wait.
    pub(super) fn still_asked(&mut self, node: u32, key: &str, is_there: impl Fn(u32) -> bool) -> Vec<u32> {
        self.asking.remove(&(node, key.to_owned()));
        let waiting = self.asked.keys().filter(|(proc, k)| k == key && is_there(*proc));
        waiting.map(|(proc, _)| *proc).collect()
    }

    /// Notes that a node is asked for a key again.
    pub(super) fn ask_again(&mut self, node: u32, key: &str) {
        self.asking.insert((node, key.to_owned()));
    }

    /// Keeps a value that came from another node until the next fence; returns the connections that wait for it.
    pub(super) fn keep_far(&mut self, proc: u32, key: String, value: Option<&[u8]>) -> Vec<u64> {
        let name = (proc, key);
        let waiting = self.asked.remove(&name).unwrap_or_default();
        // A value that is not there may be at the next question.
        if let Some(value) = value {
            self.far.insert(name, value.to_vec());
        }
        waiting
    }

    /// The first rank that left; `None`: none has.
    pub(super) fn gone(&self) -> Option<u32> {
        self.gone
    }

    /// The lowest rank that waits at the fence; `None`: none does.
    pub(super) fn first_waiting(&self) -> Option<u32> {
        self.waiting.iter().map(|(rank, _)| *rank).min()
    }

    /// Notes that a rank has come to the fence; an error where it waits there already.
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

    /// Passes the fence, to which all ranks of the job have come; forgets values of other nodes and returns the
    /// connections that wait.
    pub(super) fn pass(&mut self) -> Vec<u64> {
        self.far.clear();
        self.waiting.drain(..).map(|(_, connection)| connection).collect()
    }

    /// Notes that a rank is gone, here or elsewhere; returns the connections that wait at the fence in vain.
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

    /// All ranks of a node ask for all ranks of all others: one question for each other node.
    #[test]
    fn questions_go_by_nodes() {
        let (nodes, ranks) = (50_u32, 64_u32);
        let mut e = Exchange::new(ranks as usize, false);
        let (mut questions, mut answers) = (0, 0);
        for mine in 0..ranks {
            for node in 1..nodes {
                for other in 0..ranks {
                    match e
                        .get_far(node, node * ranks + other, "card".into(), mine.into())
                        .expect("one at a time")
                    {
                        Found::Here(_) => answers += 1,
                        Found::Waits => panic!("nobody else asks"),
                        Found::Far => {
                            questions += 1;
                            for rank in node * ranks..(node + 1) * ranks {
                                e.keep_far(rank, "card".into(), Some(b"x"));
                            }
                            assert_eq!(e.still_asked(node, "card", |_| true), []);
                        }
                    }
                }
            }
        }
        assert_eq!((questions, answers), (nodes - 1, (nodes - 1) * (ranks * ranks - 1)));
        // Of the answerer: all ranks in one answer, the one that was asked for first.
        let mut e = Exchange::new(3, false);
        for rank in [4, 5, 6] {
            e.publish(rank, vec![("card".into(), vec![rank as u8; 100])]).expect("short");
        }
        let (values, whole) = e.all_under(5, "card", &[4, 5, 6], 1000);
        assert_eq!((values.iter().map(|v| v.0).collect::<Vec<_>>(), whole), (vec![5, 4, 6], true));
        let (values, whole) = e.all_under(5, "card", &[4, 5, 6], 150);
        assert_eq!((values.len(), whole), (2, false));
    }

    #[test]
    fn a_far_value_is_fetched_once_and_forgotten_at_a_fence() {
        let mut e = Exchange::new(3, false);
        let get = |e: &mut Exchange, connection| e.get_far(1, 7, "card".into(), connection);
        assert_eq!(get(&mut e, 1), Ok(Found::Far));
        assert_eq!(get(&mut e, 2), Ok(Found::Waits));
        assert!(get(&mut e, 2).is_err(), "the same question");
        assert_eq!(e.get_far(2, 8, "card".into(), 2), Ok(Found::Far), "another one");
        assert_eq!(e.keep_far(8, "card".into(), None), [2]);
        assert_eq!(e.keep_far(7, "card".into(), Some(b"x")), [1, 2]);
        assert_eq!(get(&mut e, 3), Ok(Found::Here(b"x".to_vec())));
        e.pass();
        assert_eq!(e.still_asked(1, "card", |_| true), [0; 0]);
        assert_eq!(get(&mut e, 3), Ok(Found::Far));
        assert_eq!(e.keep_far(7, "card".into(), None), [3]);
        e.still_asked(1, "card", |_| true);
        assert_eq!(get(&mut e, 3), Ok(Found::Far), "what was not there may be now");
        assert_eq!(e.keep_far(8, "other".into(), Some(b"y")), [], "nobody asked");
        assert_eq!(
            e.get_far(1, 8, "other".into(), 5),
            Ok(Found::Here(b"y".to_vec())),
            "it came beside another"
        );
    }
}
