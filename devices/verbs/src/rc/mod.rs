//! A queue pair in the device: the requester and the responder of a reliable connection, and datagrams.
//!
//! Messages are numbered, packets of a message follow each other by offset. The responder takes what it expects, answers in order, and
//! says where it wants the requester to begin again; the requester goes back to that message. Requests are complete in order, each with its
//! acknowledgement or its answer. A repeated request is answered again, an atomic out of memory. A request counts as unanswered when its time is over and
//! the other process's device has said, asked behind that, that it has taken and answered everything: a process without a core, or stopped,
//! costs no retry. One that has ended fails its requests as soon as the program has taken the completions before them.

mod pair;
mod requester;
mod responder;

use crate::links::Links;
use crate::objects::{Nic, Pair};
use crate::packet::PSN;
use crate::requests::locked;
use oxmpi_verbs_abi::numbers::{qp_state, qp_type};
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Step {
    pub did: usize,
    pub goes_on: bool,
}

impl Pair {
    /// A change of state by the program.
    pub fn change(&mut self, state: u32) {
        let attr = self.attr();
        match state {
            qp_state::RESET => *self = Pair { is_active: self.is_active, ..Pair::new(self.core.clone()) },
            qp_state::RTR => self.expected = attr.rq_psn & PSN,
            qp_state::RTS => self.next_psn = attr.sq_psn & PSN,
            qp_state::ERR => self.flush(),
            _ => {}
        }
    }

    pub fn step(&mut self, nic: &Nic, links: &mut Links, up: bool) -> Step {
        let mut did = self.pay(nic, links);
        let state = self.core.state();
        if state == qp_state::ERR {
            self.flush();
        } else if state == qp_state::RTS {
            let mut incoming = std::mem::take(&mut *locked(&self.core.incoming));
            for wqe in &mut incoming {
                (wqe.psn, self.next_psn) = (self.next_psn, (self.next_psn + 1) & PSN);
                wqe.doomed = is_doomed(nic);
            }
            self.queue.append(&mut incoming);
            if self.core.kind == qp_type::UD {
                did += self.datagrams(nic, links);
            } else {
                did += self.transmit(nic, links, up);
                self.watch(links, up);
            }
        }
        Step { did, goes_on: !self.queue.is_empty() || !self.replies.is_empty() }
    }
}

/// The fault on demand: the n-th request of the process.
fn is_doomed(nic: &Nic) -> bool {
    static REQUESTS: AtomicU64 = AtomicU64::new(0);
    nic.config.error_at != 0 && REQUESTS.fetch_add(1, Ordering::Relaxed) + 1 == nic.config.error_at
}
