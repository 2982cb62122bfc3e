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
use crate::receive::incoming::Envelope;
use crate::receive::orphan::Orphan;
use crate::receive::receiver::Receiver;
use oxmpi_mca::CriGuard;

impl Receiver {
    /// Keeps a message as it came, on the CRI that is held, until its communicator is added.
    #[cold]
    pub fn keep_orphan(&self, held: &mut CriGuard<'_>, proc: u32, message: &[u8]) {
        if self.peers().is_unknown(proc) {
            // It has parted, and the communicator went before.
            return;
        }
        let orphan = Orphan { proc, bytes: message.into() };
        self.instance().own(held).orphans().push(orphan);
    }

    /// Drops what is kept of a process on the held CRI for communicators to come: it has parted.
    #[cold]
    pub fn drop_kept_of(&self, held: &mut CriGuard<'_>, proc: u32) {
        let own = self.instance().own(held);
        own.orphans().retain(|message| message.proc != proc);
        own.discarded().retain(|&(of, _)| of != proc);
    }

    /// Takes the message that a CANCEL asks back out of the kept ones. `asked`: the CANCEL. `None`: it is not among
    /// them. A message with a number is replaced by a SKIP.
    pub fn withdraw_orphan(&self, held: &mut CriGuard<'_>, asked: &Envelope) -> Option<Envelope> {
        let ctx = held.ctx();
        let orphans = self.instance().own(held).orphans();
        let (at, about) = orphans.iter().enumerate().find_map(|(at, o)| {
            let about = o.incoming(ctx)?.about;
            let is_it = about.src_req == asked.src_req && about.proc == asked.proc && about.key == asked.key;
            is_it.then_some((at, about))
        })?;
        if !orphans[at].skip() {
            orphans.remove(at);
        }
        Some(about)
    }

    /// Takes the messages that were kept on the held CRI for a communicator that has been added now; the caller handles
    /// them in their order.
    pub fn take_orphans(&self, held: &mut CriGuard<'_>, comm: &Comm) -> Vec<Orphan> {
        let orphans = self.instance().own(held).orphans();
        let (ours, others): (Vec<_>, Vec<_>) = core::mem::take(orphans)
            .into_iter()
            .partition(|o| o.address().is_some_and(|(head, prefix)| comm.claims(head, prefix.as_ref())));
        *orphans = others;
        ours
    }
}
