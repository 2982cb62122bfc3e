//! Messages are taken back whose sender asks for that by CANCEL (`ending/cancel.rs`).

use crate::communicators::comm::Comm;
use crate::receive::incoming::Envelope;
use crate::receive::receiver::Receiver;
use crate::requests::request::State;
use crate::state::hand::Hand;
use crate::wire::{self, Arrived, Header, kind};
use oxmpi_mca::{CriGuard, MsgStatus, RequestHeader};

pub const CANCELLED: MsgStatus = MsgStatus { cancelled: 1, ..MsgStatus::EMPTY };

impl Receiver {
    /// Handles CANCEL: takes the message out of the early, deferred or unexpected ones and answers CANCELLED. Does
    /// nothing if the message was matched.
    #[cold]
    pub fn withdraw(&self, held: &mut CriGuard<'_>, comm: &Comm, asked: &Envelope) {
        let source = wire::source_of(asked.key);
        if !comm.is_from(source, asked.proc) {
            return self.peers().bad_header(held, asked.proc, "a source rank that is not the sender's");
        }
        let is_it = |m: &Envelope| {
            m.src_req == asked.src_req && m.key == asked.key && m.proc == asked.proc && m.ctx == asked.ctx
        };
        // In this order: a message goes from the early ones to the shard, and never back.
        let early = comm
            .inbound_made(source as usize)
            .and_then(|inbound| inbound.with(|s| s.withdraw(|early| is_it(&early.incoming()))));
        let message = match early {
            Some(early) => Some(early.incoming().about),
            None => {
                let mut shard = comm.shard_of(asked.key, held.entry(), held.who());
                shard.withdraw(|m| is_it(m)).map(|message| {
                    let about = message.incoming().about;
                    shard.give(message);
                    about
                })
            }
        };
        let Some(message) = message else { return };
        self.peers().consumed(&message, Hand::Held(held));
        self.give_back(held, asked);
    }

    /// Discards a message that will never be received: its credit comes back, and it is noted for a CANCEL that may ask
    /// for it.
    pub fn discard_message(&self, held: &mut CriGuard<'_>, about: &Envelope) {
        if about.src_req != 0 {
            self.instance().own(held).discarded().insert((about.proc, about.src_req));
        }
        self.peers().consumed(about, Hand::Held(held));
    }

    /// Handles CANCEL on a communicator that does not exist here: takes the message out of the kept or discarded ones
    /// and answers CANCELLED.
    #[cold]
    pub fn withdraw_stray(&self, held: &mut CriGuard<'_>, asked: &Envelope) {
        if let Some(message) = self.withdraw_orphan(held, asked) {
            self.peers().consumed(&message, Hand::Held(held));
        } else if !self.instance().own(held).discarded().remove(&(asked.proc, asked.src_req)) {
            return;
        }
        self.give_back(held, asked);
    }

    /// Sends CANCELLED: a message that was asked back is not received.
    fn give_back(&self, held: &mut CriGuard<'_>, asked: &Envelope) {
        if let Ok(peer) = self.peers().flow(asked.proc, held.ctx(), held.entry()) {
            self.peers().control(
                held,
                peer,
                Header::new(&[wire::head(kind::CANCELLED, 0, 0, 0), asked.src_req]),
            );
        }
    }

    /// Handles CANCELLED: completes the send that was asked back as cancelled. `None`: the header is cut off.
    pub fn on_cancelled(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { rest: mut r, proc, .. } = *arrived;
        let id = r.word()?;
        let Some(req) = self.peers().quoted(held, id, proc, RequestHeader::SEND) else { return Some(()) };
        if !req.was_asked_back() || !matches!(req.state(), State::WaitAck | State::WaitFin | State::WaitPut) {
            self.peers().bad_header(held, proc, "a message given back that was not asked for");
            return Some(());
        }
        self.requests().drop_id(held, req);
        self.requests().release_memory(req);
        req.set_status(CANCELLED);
        self.requests().complete(req.claim(held), held.entry());
        Some(())
    }
}
