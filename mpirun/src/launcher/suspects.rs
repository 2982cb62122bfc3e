//! Ranks that end the job because a peer does not answer: whose fault is it?
//!
//! When a rank dies, ranks of other nodes notice by their transports, perhaps before its own daemon has said how it
//! ended. So what they say is kept for a moment; if meanwhile anything else is found to be wrong, that is the report.
//! Where the blamed rank itself says that it ends because of a peer, that is nearer to the cause, and is kept in the place of the
//! first, which may have overtaken it from another node.

use crate::link::FromNode;
use std::time::{Duration, Instant};

/// How long the end of a rank may be on its way behind those who noticed it.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct Suspects {
    /// The first, the node it came from, and until when it waits.
    first: Option<(Instant, usize, FromNode)>,
    /// Ranks whose own endings follow from what they noticed.
    ranks: Vec<u32>,
}

impl Suspects {
    /// True: the message tells of no cause, and is kept or of no interest.
    pub fn keep(&mut self, node: usize, message: &FromNode) -> bool {
        match message {
            FromNode::Abort { rank, peer: Some(_), .. } => {
                self.ranks.push(*rank);
                match &mut self.first {
                    Some((_, at, kept)) if blames(kept, *rank) => (*at, *kept) = (node, message.clone()),
                    Some(_) => {}
                    None => self.first = Some((Instant::now() + PATIENCE, node, message.clone())),
                }
                true
            }
            FromNode::Exited { rank, .. } => self.ranks.contains(rank),
            _ => false,
        }
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.first.as_ref().map(|(until, ..)| *until)
    }

    /// Nothing else was found: the node and what was said.
    pub fn due(&mut self, now: Instant) -> Option<(usize, FromNode)> {
        self.first.take_if(|(until, ..)| *until <= now).map(|(_, node, message)| (node, message))
    }

    /// The job is decided.
    pub fn forget(&mut self) {
        self.first = None;
    }
}

/// Whether a message says that its rank ends because of rank `blamed`.
fn blames(message: &FromNode, blamed: u32) -> bool {
    matches!(message, FromNode::Abort { peer: Some(peer), .. } if *peer == blamed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Ending, Mpi};

    fn abort(rank: u32, peer: Option<u32>) -> FromNode {
        FromNode::Abort { rank, pid: 1, code: 1, origin: "a failure".into(), message: "m".into(), peer }
    }

    #[test]
    fn a_blamed_rank_that_blames_another_is_nearer_to_the_cause() {
        let mut s = Suspects::default();
        assert!(s.keep(1, &abort(3, Some(0))));
        let until = s.deadline().expect("it waits");
        assert!(s.keep(1, &abort(2, Some(1))) && s.keep(0, &abort(0, Some(2))));
        assert_eq!(s.deadline(), Some(until), "no longer than for the first");
        assert_eq!(s.due(until), Some((0, abort(0, Some(2)))));
    }

    #[test]
    fn who_blames_a_peer_waits_for_a_better_cause() {
        let exit = |rank| FromNode::Exited { rank, pid: 1, ending: Ending::Exit(1), mpi: Mpi::Inside };
        let mut s = Suspects::default();
        assert!(!s.keep(0, &abort(1, None)) && !s.keep(0, &exit(1)), "a cause");
        assert!(s.keep(2, &abort(3, Some(5))) && s.keep(2, &exit(3)) && s.keep(1, &abort(4, Some(5))));
        assert!(!s.keep(1, &exit(5)), "the peer itself");
        let until = s.deadline().expect("it waits");
        assert_eq!(s.due(until - PATIENCE), None);
        assert_eq!(s.due(until), Some((2, abort(3, Some(5)))));
        assert_eq!((s.due(until), s.deadline()), (None, None));
    }
}
