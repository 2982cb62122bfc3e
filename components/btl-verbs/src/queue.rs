//! Completion queues of one lane or of several.
//!
//! Where lanes share one, whoever looks at it takes what is there for all of them: its own, and those of others into their in-boxes, whose sleepers
//! it wakes. Taking and sorting are under one lock, a leaf, so that the reports of a queue pair stay in order. Each request says in the upper
//! bits of its identifier which lane it is of, so that the device's report needs no table of queue pairs.
//!
//! **Depth.** A queue has room for so many requests under way. Half of them are divided among the lanes, and each of these shares is its lane's
//! alone: a lane that has no room left has requests of its own under way, of which a report will come, and waits for nobody else. The other
//! half is common, by one counter.

use crate::link::held;
use crate::objects::{Completions, Pair, Poller, Refused};
use core::sync::atomic::{AtomicU32, Ordering};
use oxmpi_verbs_abi::Wc;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Bits of an identifier below its lane's number: addresses of a process, and numbers of requests by their lower bits.
const SHIFT: u32 = 48;
const LOW: u64 = (1 << SHIFT) - 1;

/// The identifier of a lane's request.
#[inline(always)]
pub fn marked(lane: u16, id: u64) -> u64 {
    u64::from(lane) << SHIFT | id & LOW
}
/// The same without its lane.
#[inline(always)]
pub fn unmarked(id: u64) -> u64 {
    id & LOW
}
fn lane_of(id: u64) -> u16 {
    (id >> SHIFT) as u16
}
/// The number of a request whose identifier is `id`, of which `last` is not before it.
#[inline(always)]
pub fn number_of(id: u64, last: u64) -> u64 {
    last - (last.wrapping_sub(unmarked(id) >> 1) & LOW >> 1)
}

/// Entries of a queue for each of its lanes at least: two requests and two that are received.
const LEAST: u32 = 4;
/// Taken at once.
const BATCH: usize = 32;

/// Room for requests under way, of each lane's own and of all.
pub struct Room {
    share: u32,
    most_common: u32,
    common: AtomicU32,
}

impl Room {
    /// For so many requests of so many lanes. `None`: there is not one for each.
    fn new(most: u32, lanes: u32) -> Option<Room> {
        let share = if lanes > 1 { most / 2 / lanes } else { most.max(1) };
        let most_common = if lanes > 1 { most - share * lanes } else { 0 };
        (share > 0).then_some(Room { share, most_common, common: AtomicU32::new(0) })
    }

    /// Takes room for as many of `wanted` further requests as there is, for a lane that has so many under way.
    #[inline(always)]
    pub fn reserve(&self, under_way: u32, wanted: u32) -> u32 {
        let own = self.share.saturating_sub(under_way).min(wanted);
        if own == wanted || self.most_common == 0 { own } else { own + self.reserve_common(wanted - own) }
    }

    #[cold]
    fn reserve_common(&self, wanted: u32) -> u32 {
        let mut got = 0;
        // A count alone: whoever is given room looks at nothing that another has written.
        let taken = self.common.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |there| {
            got = (self.most_common - there).min(wanted);
            (got > 0).then_some(there + got)
        });
        taken.map_or(0, |_| got)
    }

    /// A lane has no longer `before` requests under way, but `now`.
    #[inline(always)]
    pub fn release(&self, before: u32, now: u32) {
        let common = before.max(self.share) - now.max(self.share);
        if common > 0 && self.most_common > 0 {
            self.common.fetch_sub(common, Ordering::Relaxed);
        }
    }

    /// Whether a lane with so many under way should have each further one reported: more than half of its own room is taken.
    #[inline(always)]
    pub fn is_scarce(&self, under_way: u32) -> bool {
        under_way * 2 > self.share
    }
    /// Requests that a lane may have under way where nobody else has any.
    pub fn most(&self) -> u32 {
        self.share + self.most_common
    }
}

pub struct Queue {
    pub completions: Arc<Completions>,
    first: u16,
    lanes: u16,
    pub room: Room,
    /// Receive requests of a lane at most.
    pub receives: u32,
    /// Of a queue of one lane, until that lane's holder has it.
    unclaimed: Mutex<Option<Poller>>,
    /// Where it is of several lanes.
    sorting: Option<Mutex<Sorting>>,
}

/// A lane's end of its queue, by which the lane's holder takes reports.
pub struct Reports {
    /// `None`: the queue is of several lanes.
    alone: Option<Poller>,
}

/// Entries on their way.
struct Sorting {
    poller: Poller,
    entries: Box<[Wc]>,
    boxes: Box<[VecDeque<Wc>]>,
}

/// Lanes, and how deep their queue is.
#[derive(Clone, Copy)]
pub struct Depth {
    pub first: u16,
    pub lanes: u16,
    /// Entries that are wanted, and that the device has at most.
    pub entries: u32,
    pub limit: u32,
}

impl Queue {
    /// `make`: a queue of so many entries; whether one thread at a time uses it.
    pub fn new(
        depth: Depth,
        alone: bool,
        make: impl FnOnce(u32, bool) -> Result<(Arc<Completions>, Poller), Refused>,
    ) -> Result<Arc<Queue>, Refused> {
        let lanes = u32::from(depth.lanes.max(1));
        let entries = depth.entries.max(LEAST * lanes).min(depth.limit);
        let most = entries / 2;
        let room = Room::new(most, lanes).ok_or_else(|| {
            format!(
                "a completion queue of {entries} entries cannot be that of {lanes} (btl_verbs_share_queues)"
            )
        })?;
        let several = lanes > 1;
        let (completions, poller) = make(entries, alone && !several)?;
        let (unclaimed, sorting) = if several {
            let boxes = (0..lanes).map(|_| VecDeque::new()).collect();
            let entries = vec![Wc::default(); BATCH].into();
            (None, Some(Mutex::new(Sorting { poller, entries, boxes })))
        } else {
            (Some(poller), None)
        };
        Ok(Arc::new(Queue {
            completions,
            first: depth.first,
            lanes: depth.lanes.max(1),
            room,
            receives: (most / lanes).max(1),
            unclaimed: Mutex::new(unclaimed),
            sorting,
        }))
    }

    pub fn is_shared(&self) -> bool {
        self.sorting.is_some()
    }
    /// Lanes that report to it.
    pub fn lanes(&self) -> core::ops::Range<usize> {
        usize::from(self.first)..usize::from(self.first) + usize::from(self.lanes)
    }

    /// Gives a new lane its end.
    pub fn join(&self) -> Reports {
        Reports { alone: held(&self.unclaimed).take() }
    }

    /// Writes reports of a lane to the front of `out`, and adds lanes that have got some from here to `others`. How many; Err: the queue is
    /// lost.
    #[inline]
    pub fn take(
        &self,
        lane: u16,
        reports: &mut Reports,
        out: &mut [Wc],
        others: &mut Vec<u16>,
    ) -> Result<usize, ()> {
        match (&mut reports.alone, &self.sorting) {
            (Some(poller), _) => poller.poll(out),
            (None, Some(sorting)) => self.sort(&mut held(sorting), lane, out, others),
            // It is another lane's.
            (None, None) => Ok(0),
        }
    }

    fn sort(
        &self,
        sorting: &mut Sorting,
        lane: u16,
        out: &mut [Wc],
        others: &mut Vec<u16>,
    ) -> Result<usize, ()> {
        let own = usize::from(lane - self.first);
        let mut count = 0;
        loop {
            while let Some(wc) = sorting.boxes[own].pop_front_if(|_| count < out.len()) {
                out[count] = wc;
                count += 1;
            }
            if count > 0 {
                return Ok(count);
            }
            let got = sorting.poller.poll(&mut sorting.entries)?;
            for wc in &sorting.entries[..got] {
                let of = lane_of(wc.wr_id);
                let Some(to) = sorting.boxes.get_mut(usize::from(of.wrapping_sub(self.first))) else {
                    continue;
                };
                to.push_back(*wc);
                if of != lane && !others.contains(&of) {
                    others.push(of);
                }
            }
            // A thread that is about to sleep must have seen all reports that were there.
            if got < sorting.entries.len() && sorting.boxes[own].is_empty() {
                return Ok(0);
            }
        }
    }

    /// Destroys a pair of a lane, by its holder, and drops its reports that wait in the lane's in-box, because a later pair may have its
    /// number. Returns the identifiers of the receives among them.
    pub fn end(&self, lane: u16, _holder: &mut Reports, pair: Pair) -> Vec<u64> {
        let Some(sorting) = &self.sorting else { return Vec::new() };
        let number = pair.number();
        let mut sorting = held(sorting);
        // Nobody takes reports meanwhile, and the device has none of it behind this.
        drop(pair);
        let mut received = Vec::new();
        sorting.boxes[usize::from(lane - self.first)].retain(|wc| {
            if wc.qp_num == number && wc.wr_id & 1 == 0 {
                received.push(unmarked(wc.wr_id));
            }
            wc.qp_num != number
        });
        received
    }

    /// Reports that were waited for before are over, and the next one is waited for. Whether there was one.
    pub fn listen(&self, reports: &mut Reports) -> bool {
        match (&mut reports.alone, &self.sorting) {
            (Some(poller), _) => poller.listen(),
            (None, Some(sorting)) => held(sorting).poller.listen(),
            (None, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_keep_lane_and_number() {
        let address = 0x7fff_dead_bee0 - 32;
        let id = marked(1024, address);
        assert_eq!((lane_of(id), unmarked(id)), (1024, address));
        // Also behind the numbers that fit.
        for number in [1u64, 77, (1 << 47) - 1, 1 << 47, (1 << 47) + 5, 1 << 60] {
            let id = marked(3, number << 1 | 1);
            assert_eq!((lane_of(id), number_of(id, number + 1000), id & 1), (3, number, 1));
        }
    }

    #[test]
    fn each_lane_has_room_of_its_own_beside_the_common_one() {
        let room = Room::new(32, 4).expect("enough");
        assert_eq!((room.share, room.most_common, room.most()), (4, 16, 20));
        assert_eq!(room.reserve(0, 3), 3, "own");
        assert_eq!(room.reserve(3, 5), 5, "one is own");
        assert_eq!(room.reserve(8, 64), 12, "what is left");
        assert_eq!(room.reserve(20, 1), 0);
        assert_eq!((room.reserve(0, 4), room.reserve(4, 1)), (4, 0), "another lane has its own all the same");
        room.release(20, 18);
        assert_eq!((room.reserve(4, 5), room.reserve(6, 1)), (2, 0));
        // The first lane has given back all but its own part.
        room.release(18, 1);
        assert_eq!(room.reserve(6, 64), 14);
        room.release(20, 0);
        room.release(1, 0);
        assert_eq!(room.common.load(Ordering::Relaxed), 0, "all is there again");
        assert!(Room::new(7, 4).is_none());

        let alone = Room::new(32, 1).expect("enough");
        assert_eq!((alone.reserve(0, 40), alone.reserve(32, 1), alone.most()), (32, 0, 32));
        alone.release(32, 0);
        assert!(alone.is_scarce(17) && !alone.is_scarce(16));
    }
}
