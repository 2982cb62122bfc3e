//! The receiver's end of a ring is made when its sender is first heard of, or was here before this process.

use crate::context::Context;
use crate::device::Shm;
use crate::receiver::incoming::Incoming;
use crate::ring::{Mapped, RingMem};
use crate::segment::doorbell;
use crate::segment::ready;
use crate::wire::NEED_BIT;
use oxmpi_mca::sync::Ordering;

/// Sets the ready bit of a peer's ring in which something was left, or may have been.
fn mark_again(cx: &Context, source: u32) {
    match cx.outgoing.get(source as usize) {
        Some(_) => ready::mark_again(&cx.receiver.inbox, source),
        None => cx.further.mark_again(source),
    }
}

impl Shm {
    /// Maps the ring from peer `source` and makes its receiver's end. `None`: nobody is known there, the peer broke the protocol, or memory is
    /// short, and then a later turn tries again.
    pub(super) fn attach(&self, cx: &Context, ctx: u32, source: u32) -> Option<Box<Incoming>> {
        let joined = self.segment_of(source)?;
        let proc = match joined.proc(source) {
            Some(proc) if source >= self.ranks() || proc < self.host().job().job_size => proc,
            // It has no endpoint here: what it sends waits until it has.
            _ if source >= self.ranks() => return None,
            _ => {
                self.host().error(&format!("local rank {source} sends, but has not said who it is"));
                return None;
            }
        };
        let place = match joined.segment.find_ring(joined.me, ctx, joined.place(source)) {
            Ok(Some(place)) => place,
            Ok(None) => {
                self.peer_broke(source, "announced a message in a ring that does not exist");
                return None;
            }
            Err(word) => {
                self.peer_broke(source, &format!("has {word:#x} where its ring's place should be"));
                return None;
            }
        };
        let mapping = match joined.segment.map(place) {
            Ok(mapping) => mapping,
            Err(errno) => {
                // Its messages stay where they are; the next turn tries again.
                self.report_shortage("ring-no-memory", place.len(), &errno.to_string());
                mark_again(cx, source);
                return None;
            }
        };
        // SAFETY: mapped as long as the mapping, which lives beside the consumer.
        let mem = unsafe { Mapped::new(mapping.base(), place.log2, place.several) };
        Some(Box::new(Incoming::new(mem, proc, source, mapping)))
    }

    /// Maps the rings that peers of the first segment have made before this rank came, or in an earlier life of it, and sets their ready
    /// bits, since their senders may believe them watched. False: the barrier for that failed.
    #[must_use]
    pub(crate) fn take_up_old_rings(&self, contexts: &mut [Context]) -> bool {
        let mut old = Vec::new();
        for (ctx, cx) in (0..).zip(contexts.iter_mut()) {
            for source in 0..self.ranks() {
                if !matches!(self.segment().find_ring(self.local_rank(), ctx, source), Ok(None))
                    && let Some(incoming) = self.attach(cx, ctx, source)
                {
                    doorbell::abandon(&incoming.ring);
                    cx.receiver.put_back(incoming, None);
                    old.push((ctx, source));
                }
            }
        }
        if !old.is_empty() && !self.barriers().full_barrier() {
            return false;
        }
        for (ctx, source) in old {
            ready::mark_again(&contexts[ctx as usize].receiver.inbox, source);
        }
        true
    }

    /// The same for the rings of a context in its further segments that are not mapped yet and whose senders are known.
    #[must_use]
    pub(super) fn take_up_further(&self, cx: &mut Context, ctx: u32) -> bool {
        let (mut old, mut unordered) = (Vec::new(), false);
        for at in 0..cx.further.all.len() {
            let part = &cx.further.all[at];
            let (joined, rings) = (&part.joined, (0..).zip(&part.rings));
            let missing: Vec<u32> = rings
                .filter(|(place, ring)| {
                    ring.is_none() && !matches!(joined.segment.find_ring(joined.me, ctx, *place), Ok(None))
                })
                .map(|(place, _)| joined.base() + place)
                .collect();
            for source in missing {
                if let Some(incoming) = self.attach(cx, ctx, source) {
                    unordered |= incoming.ring.mem().notification().load(Ordering::Relaxed) != NEED_BIT;
                    doorbell::abandon(&incoming.ring);
                    old.push(incoming);
                }
            }
        }
        if unordered && !self.barriers().full_barrier() {
            return false;
        }
        for incoming in old {
            let source = incoming.source;
            cx.further.put_back(incoming);
            cx.further.mark_again(source);
        }
        true
    }
}
