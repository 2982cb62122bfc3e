//! Fragments over several transports at once: which takes the next, and what came ahead of its turn.
//!
//! **Sending.** A process may be reached by several transports of one rank (`BtlAttrs::STRIPES`: two networks, several
//! links). Headers go over the first alone, and so keep their order; a long message's fragments go over all: each to
//! the one that has least to do for its bandwidth, or, where that has no room, to the next. So a network that is slower than it
//! says gets less.
//!
//! **Get and put** (`rdma.rs`) take turns over all in the same way, in pieces, where each of them can ([`Rails::for_rdma`]): the memory is
//! registered with each, and the peer is told all handles, in the order of its transports, which is that of ours. Memory that is named by
//! another transport's handle is refused by the network, and the message goes by fragments.
//!
//! **Receiving.** Fragments of one transport come in order, but those of another may be ahead of them. They are stored where they
//! belong, and noted until what is missing has come ([`FragmentsAhead`]): `done` of a receive is what is there without a gap. A peer's
//! word is not believed: a fragment that overlaps another closes it.
//!
//! **Failure.** A transport that loses the process for good says so to the host, which ends everything with that process,
//! whichever of the transports it was.

use crate::peers::abilities::{can_get, can_put};
use crate::peers::link::Link;
use crate::wire::FRAG_BYTES;
use oxmpi_btl::{BtlAttrs, Reach};
use oxmpi_mca::{CriGuard, OfCri, Status};
use std::collections::BTreeMap;

/// All transports that share a process's fragments on one FIFO; empty where one has them all.
pub struct Rails {
    all: Box<[Link]>,
    /// The work that each has been given, as time: bytes by bandwidth.
    loads: OfCri<Box<[u64]>>,
    /// They share gets and puts, too.
    have_memory: bool,
}

impl Rails {
    /// Chooses the rails among the transports that reach a process on FIFO `ctx`, the first of which carries headers.
    /// Empty if fewer than two can share fragments.
    pub fn new(reached: &[Reach], ctx: u32) -> Rails {
        let Some(first) = reached.first().map(|r| r.btl().attrs()) else { return Rails::none(ctx) };
        let fits = |a: &BtlAttrs| {
            let as_large =
                a.max_send_size == 0 || (first.max_send_size != 0 && a.max_send_size >= first.max_send_size);
            a.flags & BtlAttrs::STRIPES != 0 && a.contexts > ctx && a.contexts == first.contexts && as_large
        };
        let rails: Box<[Link]> = reached.iter().filter(|r| fits(r.btl().attrs())).map(Link::new).collect();
        if rails.len() < 2 || !fits(first) {
            return Rails::none(ctx);
        }
        let like_first = |rail: &Link| {
            let a = rail.btl().attrs();
            let same = a.registration_handle_size == first.registration_handle_size
                && (a.get_alignment, a.put_alignment) == (first.get_alignment, first.put_alignment);
            let verbs = |rail: &Link| (can_get(rail.btl()), can_put(rail.btl()));
            // A put that is not over with `done` would need a flush on each.
            let whole = !can_put(rail.btl()) || a.flags & BtlAttrs::PUT_DONE_IS_REMOTE != 0;
            same && whole && verbs(rail) == verbs(&rails[0])
        };
        let have_memory = first.registration_handle_size > 0 && rails.iter().all(like_first);
        let loads = OfCri::new(ctx, rails.iter().map(|_| 0).collect());
        Rails { all: rails, loads, have_memory }
    }

    /// No rails: one transport carries all fragments.
    fn none(ctx: u32) -> Rails {
        Rails { all: Box::default(), loads: OfCri::new(ctx, Box::default()), have_memory: false }
    }

    /// The rails that gets and puts of a message go over; empty: only its peer's transport.
    #[inline(always)]
    pub fn for_rdma(&self) -> &[Link] {
        if self.have_memory { &self.all } else { &[] }
    }

    /// Calls `issue` with the first `count` rails that share memory, the one with the least load first, until one has room, and charges
    /// that one for `bytes`. NO_RESOURCE: none has room.
    pub fn issue(
        &self,
        held: &mut CriGuard<'_>,
        count: usize,
        bytes: u64,
        issue: impl Fn(&mut CriGuard<'_>, usize, &Link) -> Status,
    ) -> Status {
        self.try_each(held, count.min(self.for_rdma().len()), bytes, issue)
    }

    /// Whether one transport carries all fragments of the process.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Calls `send`, for a fragment of so many bytes, with the rail with the least load that has room. NO_RESOURCE: none has room.
    pub fn transmit(
        &self,
        held: &mut CriGuard<'_>,
        bytes: u64,
        send: impl Fn(&mut CriGuard<'_>, &Link) -> Status,
    ) -> Status {
        self.try_each(held, self.all.len(), bytes, |held, _, rail| send(held, rail))
    }

    /// Calls `issue` with the first `count` rails, the one with the least load first, until one has room, and charges that one for `bytes` if it has
    /// taken them. NO_RESOURCE: none has room.
    fn try_each(
        &self,
        held: &mut CriGuard<'_>,
        count: usize,
        bytes: u64,
        issue: impl Fn(&mut CriGuard<'_>, usize, &Link) -> Status,
    ) -> Status {
        let mut tried = 0u64;
        for _ in 0..count {
            let loads = self.loads.get(held)[..count].iter().enumerate();
            let least = loads.filter(|(i, _)| tried & (1 << (i % 64)) == 0).min_by_key(|(_, load)| **load);
            let Some(i) = least.map(|(i, _)| i) else { break };
            match issue(held, i, &self.all[i]) {
                Status::NO_RESOURCE => tried |= 1 << (i % 64),
                status => {
                    if !status.is_err() {
                        self.charge(held, i, bytes);
                    }
                    return status;
                }
            }
        }
        Status::NO_RESOURCE
    }

    /// Adds the time that `bytes` take by a rail's bandwidth to its load; loads of all rails are lowered together
    /// before they get too large.
    fn charge(&self, held: &mut CriGuard<'_>, rail: usize, bytes: u64) {
        let bandwidth = u64::from(self.all[rail].btl().attrs().bandwidth.max(1));
        let loads = self.loads.get(held);
        loads[rail] += (bytes + FRAG_BYTES as u64) * 1024 / bandwidth + 1;
        if loads[rail] > 1 << 60 {
            let least = loads.iter().copied().min().unwrap_or(0);
            loads.iter_mut().for_each(|load| *load -= least);
        }
    }
}

/// Fragments that are stored and have a gap in front, by the id of their receive.
#[derive(Default)]
pub struct FragmentsAhead(BTreeMap<(u64, u64), u64>);

impl FragmentsAhead {
    /// Notes stored bytes `[at, at + len)` of the receive with this id. `false`: some of them were noted before, and
    /// nothing changed.
    pub fn add(&mut self, id: u64, at: u64, len: u64) -> bool {
        let free = self.is_free(id, at, len);
        if free {
            self.0.insert((id, at), len);
        }
        free
    }

    /// Whether none of the bytes `[at, at + len)` of a receive is noted.
    pub fn is_free(&self, id: u64, at: u64, len: u64) -> bool {
        let before = self.0.range((id, 0)..(id, at + len)).next_back();
        before.is_none_or(|(&(_, from), &len)| from + len <= at)
    }

    /// The end of the gapless part of a receive of which everything before `done` has come; fragments that this reaches
    /// are forgotten, those behind a gap stay.
    pub fn pass(&mut self, id: u64, mut done: u64) -> u64 {
        while let Some(len) = self.0.remove(&(id, done)) {
            done += len;
        }
        done
    }

    /// Forgets all noted fragments of a receive that has ended.
    pub fn forget(&mut self, id: u64) {
        let left: Vec<_> = self.0.range((id, 0)..=(id, u64::MAX)).map(|(key, _)| *key).collect();
        left.iter().for_each(|key| _ = self.0.remove(key));
    }

    /// Whether no fragment is noted, of any receive.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Fragments in any order, some of them twice: all is there once, and what overlaps is refused.
        #[test]
        fn any_order_comes_together(
            lens in prop::collection::vec(1..50u64, 1..40),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
        ) {
            let pieces: Vec<(u64, u64)> = lens.iter().scan(0, |at, len| { *at += len; Some((*at - len, *len)) }).collect();
            let (mut ahead, mut done) = (FragmentsAhead::default(), 0);
            let mut there = vec![false; pieces.len()];
            let mut other = FragmentsAhead::default();
            prop_assert!(other.add(8, 3, 5));
            let rest = (0..pieces.len()).collect::<Vec<_>>();
            for i in order.iter().map(|i| i.index(pieces.len())).chain(rest) {
                let (at, len) = pieces[i];
                let new = at >= done && ahead.is_free(7, at, len);
                prop_assert_eq!(new, !there[i]);
                if new && at == done {
                    done = ahead.pass(7, at + len);
                } else if new {
                    prop_assert!(ahead.add(7, at, len));
                    prop_assert!(!ahead.add(7, at, len));
                    prop_assert!(!ahead.add(7, at - 1, 2));
                }
                there[i] = true;
                let due: u64 = pieces.iter().zip(&there).take_while(|(_, there)| **there).map(|(p, _)| p.1).sum();
                prop_assert_eq!(done, due);
            }
            prop_assert_eq!(done, lens.iter().sum::<u64>());
            prop_assert!(ahead.is_empty());
        }
    }

    #[test]
    fn receives_do_not_meet() {
        let mut ahead = FragmentsAhead::default();
        assert!(ahead.add(1, 100, 10) && ahead.add(2, 100, 10) && ahead.add(2, 50, 50));
        assert_eq!((ahead.pass(1, 50), ahead.pass(2, 50), ahead.pass(1, 100)), (50, 110, 110));
        assert!(ahead.is_empty() && ahead.add(3, 10, 1) && ahead.add(4, 10, 1));
        ahead.forget(3);
        assert!(ahead.is_free(3, 10, 1) && !ahead.is_free(4, 10, 1));
    }
}
