//! Eager credit: what bounds the payload of messages that nobody receives yet.
//!
//! A sender may have `pml_ob1_eager_credit` bytes of eager payload per FIFO at a peer that the peer has not
//! matched; messages of up to 64 bytes are free, because the receiver keeps them inside a record. The
//! receiver counts what it consumed and returns it in a CREDIT message when half the sender's credit
//! has come together, so a sender whose messages are received always has half of it. Without credit a
//! message goes as a bare RNDV header: it costs the receiver 128 bytes and waits for its receive.
//!
//! `consumed` is counted by whoever matched: the callback, or a receiving thread without the CRI lock,
//! hence an atomic (a plain load and store below MULTIPLE).

use crate::peers::choice;
use crate::peers::peer::Peer;
use crate::peers::table::Peers;
use crate::receive::incoming::Envelope;
use crate::state::hand::Hand;
use crate::wire::{self, Arrived, FREE_BYTES, Header, kind};
use core::sync::atomic::Ordering;
use oxmpi_mca::CriGuard;

impl Peers {
    /// Counts the eager payload of a matched message as consumed, for the credit of its sender.
    #[inline(always)]
    pub fn consumed(&self, about: &Envelope, hand: Hand<'_, '_>) {
        if about.len > FREE_BYTES {
            self.count_consumed(about.proc, about.ctx.into(), about.len, hand);
        }
    }

    /// Counts `bytes` of consumed payload that cost credit, and returns credit to the sender when half of it has come
    /// together. `ctx`: the CRI on which the payload came.
    #[inline(never)]
    pub fn count_consumed(&self, proc: u32, ctx: u32, bytes: u64, hand: Hand<'_, '_>) {
        // Without a way back there is nobody to return the credit to; sending to it says why.
        let Ok(peer) = self.flow(proc, ctx, hand.entry()) else { return };
        if bytes >= choice::LEAST {
            peer.choice().note_arrival();
        }
        let total = if hand.entry().is_among() {
            peer.consumed.fetch_add(bytes, Ordering::Relaxed) + bytes
        } else {
            let total = peer.consumed.load(Ordering::Relaxed) + bytes;
            peer.consumed.store(total, Ordering::Relaxed);
            total
        };
        if total >= peer.return_at {
            hand.with(self.instance(), ctx, |held| self.return_credit(held, peer));
        }
    }

    /// Sends CREDIT for all bytes that have been consumed since the last one.
    fn return_credit(&self, held: &mut CriGuard<'_>, peer: &Peer) {
        let bytes = if held.is_among() {
            peer.consumed.swap(0, Ordering::Relaxed)
        } else {
            let bytes = peer.consumed.load(Ordering::Relaxed);
            peer.consumed.store(0, Ordering::Relaxed);
            bytes
        };
        if bytes > 0 {
            self.control(held, peer, Header::new(&[wire::head(kind::CREDIT, 0, 0, 0), bytes]));
        }
    }

    /// Handles CREDIT: adds the bytes to the credit that we have at the peer. `None`: the header is cut off.
    pub fn on_credit(&self, held: &mut CriGuard<'_>, arrived: &Arrived<'_>) -> Option<()> {
        let Arrived { rest: mut r, proc, .. } = *arrived;
        let bytes = r.word()?;
        let Ok(peer) = self.flow(proc, held.ctx(), held.entry()) else { return Some(()) };
        let flow = peer.flow(held);
        match flow.credit.checked_add(bytes) {
            Some(credit) if credit <= self.instance().config().eager_credit => flow.credit = credit,
            _ => self.bad_header(held, proc, "more credit than it was given bytes"),
        }
        Some(())
    }
}
