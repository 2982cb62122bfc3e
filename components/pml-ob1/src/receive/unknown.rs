//! Messages for communicators we have not been told of yet.
//!
//! A process may be through with making a communicator, and send on it, while we are still at it.
//! Its messages are kept as they came, with the CRI they came on, and handled again, in order, by `add_comm`. Their eager payload
//! counts against the sender's credit until it is matched, so it is bounded like any other.
//!
//! A prefixed message that arrives after its communicator was freed here looks the same and stays to the
//! end. That takes a program that frees a communicator with a message nobody received, in the moment
//! before the sender knew the index, and costs it that message's credit.

use crate::communicators::comm::Comm;
use crate::receive::incoming::Incoming;
use crate::receive::orphan::Orphan;
use crate::receive::receiver::Receiver;
use crate::state::guarded::Held;

impl Receiver {
    /// Keeps a message as it came, on the CRI that is held, until its communicator is added.
    #[cold]
    pub fn keep_orphan(&self, held: &Held<'_>, proc: u32, message: &[u8]) {
        let orphan = Orphan { proc, bytes: message.into() };
        self.instance().cri(held.ctx).orphans().with(held, |o| o.push(orphan));
    }

    /// Takes the message that a CANCEL asks back out of the kept ones. `asked`: the CANCEL. `None`: it is not among
    /// them. A message with a number is replaced by a SKIP.
    pub fn withdraw_orphan(&self, held: &Held<'_>, asked: &Incoming) -> Option<Incoming> {
        self.instance().cri(held.ctx).orphans().with(held, |orphans| {
            let (at, inc) = orphans.iter().enumerate().find_map(|(at, o)| {
                let inc = o.incoming(held.ctx)?;
                let is_it = inc.src_req == asked.src_req && inc.proc == asked.proc && inc.key == asked.key;
                is_it.then_some((at, inc))
            })?;
            if !orphans[at].skip() {
                orphans.remove(at);
            }
            Some(inc)
        })
    }

    /// Takes the messages that were kept on the held CRI for a communicator that has been added now; the caller handles
    /// them in their order.
    pub fn take_orphans(&self, held: &Held<'_>, comm: &Comm) -> Vec<Orphan> {
        let all = self.instance().cri(held.ctx).orphans().with(held, core::mem::take);
        let (ours, others): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|o| o.address().is_some_and(|(head, prefix)| comm.claims(head, prefix.as_ref())));
        self.instance().cri(held.ctx).orphans().with(held, |o| *o = others);
        ours
    }
}
