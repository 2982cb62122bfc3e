//! Ranks that end the job because a peer does not answer: whose fault is it?
//!
//! When a rank dies, ranks of other nodes notice by their transports, perhaps before its own daemon has said how it
//! ended. So what they say is kept for a moment; if meanwhile anything else is found to be wrong, that is the report.

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
                let until = Instant::now() + PATIENCE;
                self.first.get_or_insert_with(|| (until, node, message.clone()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Ending, Mpi};

    #[test]
    fn who_blames_a_peer_waits_for_a_better_cause() {
        let abort = |rank, peer| FromNode::Abort {
            rank,
            pid: 1,
            code: 1,
            origin: "a failure".into(),
            message: "m".into(),
            peer,
        };
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
