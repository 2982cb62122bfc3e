//! The segments that this process has joined, and the peers in each.
//!
//! The **first** one is that of the process's own job. It is there from opening to the end, all its processes are known from the start, and
//! nothing on a message's path asks for another. **Further** ones come with processes of other jobs (`ProcInfo::segment`): the first
//! endpoint to a process of such a segment maps it, and when the last one goes the segment is left.
//!
//! **Numbers.** A peer has a number in this module: in the first segment its place there, in a further one its place behind the segment's
//! `base`. Bases are given out so that the numbers of all mapped segments are apart, and one may come again when its segment has been left.
//!
//! **Leaving.** The thread that takes back the last endpoint cannot touch what contexts keep of the segment: rings, inboxes, links. So it only says
//! that the segment is *leaving* and that something has changed ([`FurtherSegments::version`]). Each holder (a context, or the service context)
//! lets go when it next looks, in a thread that has it to itself, and the last one to do so leaves the segment, whose
//! mappings go with what the holders kept. A segment that comes back before that is kept as it is.

use crate::segment::map::{Identity, Segment, SegmentError};
use oxmpi_mca::sync::unmodelled::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// In a list of processes: none is known at this place.
const NOBODY: u32 = u32::MAX;

/// A segment in which this process has a place.
pub struct Joined {
    pub segment: Segment,
    /// Place of this process.
    pub me: u32,
    /// Number of the peer at place 0.
    base: u32,
    /// Indices of the processes, by place; empty for the first segment, whose processes say themselves who they are.
    procs: Box<[AtomicU32]>,
    /// Number of contexts that are armed; of a further segment.
    armed: AtomicI32,
}

impl Joined {
    /// The first segment, which this process has entered at place `me`.
    pub fn first(segment: Segment, me: u32) -> Joined {
        Joined { segment, me, base: 0, procs: Box::default(), armed: AtomicI32::new(0) }
    }

    /// A further one, whose peers' numbers begin with `base`. Nobody is known yet.
    fn further(segment: Segment, me: u32, base: u32) -> Joined {
        let procs = (0..segment.layout().ranks).map(|_| AtomicU32::new(NOBODY)).collect();
        Joined { segment, me, base, procs, armed: AtomicI32::new(0) }
    }

    /// Number of the peer at place 0; no other mapped segment has the same.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Number of peers that may be here, this process included.
    pub fn ranks(&self) -> u32 {
        self.segment.layout().ranks
    }

    /// True: the peer with that number is here.
    pub fn has(&self, peer: u32) -> bool {
        peer.wrapping_sub(self.base) < self.ranks()
    }

    /// The place of a peer that is here.
    #[inline(always)]
    pub fn place(&self, peer: u32) -> u32 {
        peer - self.base
    }

    /// Facts about a peer that is here; `None` before it has come.
    #[inline(always)]
    pub fn identity(&self, peer: u32) -> Option<Identity> {
        self.segment.identity(self.place(peer))
    }

    /// Index of a peer that is here, as this process's host counts processes. `None`: it has not come, or, in a further segment, has no endpoint.
    pub fn proc(&self, peer: u32) -> Option<u32> {
        match self.procs.get(self.place(peer) as usize) {
            Some(proc) => Some(proc.load(Ordering::Acquire)).filter(|&proc| proc != NOBODY),
            None => self.identity(peer).map(|who| who.proc),
        }
    }

    /// Places of the stamps of the oldest messages that wait for room: from us to the peer, and from it to us.
    pub fn stamps(&self, peer: u32) -> [u64; 2] {
        let (layout, place) = (self.segment.layout(), self.place(peer));
        [layout.oldest_pending(place, self.me), layout.oldest_pending(self.me, place)]
    }

    /// Adds `change` to the number of armed contexts; true: there was none before. The caller of `arm` serialises all contexts.
    pub fn count_armed(&self, change: i32) -> bool {
        let before = self.armed.load(Ordering::Relaxed);
        self.armed.store(before + change, Ordering::Relaxed);
        before == 0
    }
}

/// A further segment with those who use it.
struct Mapped {
    joined: Arc<Joined>,
    /// Number of the segment, as the host has it.
    number: u32,
    /// Device and inode of the segment's file: a number may come again with another one.
    file: (u64, u64),
    /// Endpoints by place.
    endpoints: Box<[u32]>,
    /// Contexts, the service context included, that keep something of it.
    holders: u32,
}

impl Mapped {
    fn is_leaving(&self) -> bool {
        self.endpoints.iter().all(|&count| count == 0)
    }
}

/// The further segments of a module.
pub struct FurtherSegments {
    mapped: Mutex<Vec<Mapped>>,
    version: AtomicU64,
    /// Number of the first peer that is not in the first segment.
    from: u32,
}

/// The process that a further segment is asked for.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// Index of the process.
    pub proc: u32,
    /// Number of the segment, as the host has it, and what tells its file.
    pub number: u32,
    pub file: (u64, u64),
    /// The process's place, and this process's own, of so many.
    pub place: u32,
    pub me: u32,
    pub ranks: u32,
}

/// A segment that a thread has mapped and entered for the list.
pub struct Fresh {
    pub segment: Segment,
    pub me: u32,
}

/// Reasons for which no endpoint is added.
#[derive(Debug)]
pub enum NotAdded {
    /// The segment cannot be mapped or entered.
    Segment(SegmentError),
    /// It has no such place, or that is our own, or another process is known there.
    Place,
    /// There are no numbers left for its peers.
    Numbers,
}

/// Changes for a holder since it last asked.
pub struct Changes {
    pub version: u64,
    /// Segments that it must let go, by base.
    pub gone: Vec<u32>,
    /// Segments that it holds from now on.
    pub new: Vec<Arc<Joined>>,
}

impl FurtherSegments {
    /// No further segment yet. Peers below `from` are in the first one.
    pub fn new(from: u32) -> FurtherSegments {
        FurtherSegments { mapped: Mutex::default(), version: AtomicU64::new(0), from }
    }

    fn mapped(&self) -> MutexGuard<'_, Vec<Mapped>> {
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that grows with every change of the list or of who is known.
    pub fn version(&self) -> u64 {
        // SYNC POINT with `changed`: who sees the number finds the change.
        self.version.load(Ordering::Acquire)
    }

    fn changed(&self) {
        // SYNC POINT with `version`.
        self.version.fetch_add(1, Ordering::Release);
    }

    /// The segment of a peer beyond the first one. `None`: no mapped segment has that number.
    pub fn find(&self, peer: u32) -> Option<Arc<Joined>> {
        self.mapped().iter().find(|m| m.joined.has(peer)).map(|m| Arc::clone(&m.joined))
    }

    /// Counts one more endpoint to a process, and returns the peer's number and its segment, which `enter` maps and enters if it is not
    /// mapped.
    pub fn add(
        &self,
        wanted: Wanted,
        enter: impl FnOnce() -> Result<Fresh, SegmentError>,
    ) -> Result<(u32, Arc<Joined>), NotAdded> {
        let mut all = self.mapped();
        let known = all.iter().position(|m| m.is(&wanted));
        let at = match known {
            Some(at) => at,
            None => {
                let Fresh { segment, me } = enter().map_err(NotAdded::Segment)?;
                let Some(base) = self.free_base(&all, segment.layout().ranks) else {
                    segment.leave(me);
                    return Err(NotAdded::Numbers);
                };
                let endpoints = (0..segment.layout().ranks).map(|_| 0).collect();
                let joined = Arc::new(Joined::further(segment, me, base));
                let (number, file) = (wanted.number, wanted.file);
                all.push(Mapped { joined, number, file, endpoints, holders: 0 });
                all.len() - 1
            }
        };
        let added = all[at].add_endpoint(wanted);
        self.settle(&mut all, at);
        self.changed();
        added
    }

    /// Uncounts an endpoint to a peer beyond the first segment. With the last one of a process nobody is known at its place, and with the
    /// last one of a segment that is leaving.
    pub fn remove(&self, peer: u32) {
        let mut all = self.mapped();
        let Some(at) = all.iter().position(|m| m.joined.has(peer)) else { return };
        all[at].remove_endpoint(peer);
        self.settle(&mut all, at);
        self.changed();
    }

    /// Changes for a holder that holds the segments with these bases. It holds the new ones from now on, and lets the gone ones
    /// go by [`FurtherSegments::let_go`]. `wants` says whether it has any use for a segment.
    pub fn changes(&self, holds: &[u32], wants: impl Fn(&Joined) -> bool) -> Changes {
        let mut all = self.mapped();
        let version = self.version();
        let gone = all.iter().filter(|m| m.is_leaving() && holds.contains(&m.joined.base));
        let gone = gone.map(|m| m.joined.base).collect();
        let here = all.iter_mut().filter(|m| !m.is_leaving() && !holds.contains(&m.joined.base));
        let new = here.filter(|m| wants(&m.joined)).map(Mapped::hold).collect();
        Changes { version, gone, new }
    }

    /// Has a holder hold the segment of a peer beyond the first one, now. `None`: no mapped segment has that number.
    pub fn hold(&self, peer: u32) -> Option<Arc<Joined>> {
        self.mapped().iter_mut().find(|m| m.joined.has(peer)).map(Mapped::hold)
    }

    /// Ends a holder's hold of the segment with that base; it keeps nothing of it any more.
    pub fn let_go(&self, base: u32) {
        let mut all = self.mapped();
        if let Some(at) = all.iter().position(|m| m.joined.base == base) {
            all[at].holders = all[at].holders.saturating_sub(1);
            self.settle(&mut all, at);
        }
    }

    /// Leaves all segments; nothing of them is used any more.
    pub fn leave_all(&self) {
        self.mapped().drain(..).for_each(|m| m.joined.segment.leave(m.joined.me));
    }

    /// Leaves segment `at` of the list if it is leaving and nobody holds it.
    fn settle(&self, all: &mut Vec<Mapped>, at: usize) {
        if all[at].is_leaving() && all[at].holders == 0 {
            let left = all.swap_remove(at).joined;
            left.segment.leave(left.me);
        }
    }

    /// The lowest base at which so many numbers are free.
    fn free_base(&self, all: &[Mapped], ranks: u32) -> Option<u32> {
        let ends = all.iter().map(|m| m.joined.base + m.joined.ranks());
        let mut bases: Vec<u32> = ends.chain([self.from]).collect();
        bases.sort_unstable();
        let is_free = |base: u32, end: u32| {
            all.iter().all(|m| end <= m.joined.base || m.joined.base + m.joined.ranks() <= base)
        };
        bases.into_iter().find(|&base| base.checked_add(ranks).is_some_and(|end| is_free(base, end)))
    }
}

impl Mapped {
    /// True: it is the wanted segment. One that is leaving may come back under another number.
    fn is(&self, wanted: &Wanted) -> bool {
        let seats = (self.joined.me, self.joined.ranks()) == (wanted.me, wanted.ranks);
        self.file == wanted.file && seats && (self.number == wanted.number || self.is_leaving())
    }

    fn hold(&mut self) -> Arc<Joined> {
        self.holders += 1;
        Arc::clone(&self.joined)
    }

    fn add_endpoint(&mut self, wanted: Wanted) -> Result<(u32, Arc<Joined>), NotAdded> {
        let Wanted { proc, place, .. } = wanted;
        let count = self.endpoints.get_mut(place as usize).filter(|_| place != self.joined.me);
        let (Some(count), Some(known)) = (count, self.joined.procs.get(place as usize)) else {
            return Err(NotAdded::Place);
        };
        let before = known.load(Ordering::Relaxed);
        if proc == NOBODY || (before != NOBODY && before != proc) {
            return Err(NotAdded::Place);
        }
        self.number = wanted.number;
        *count += 1;
        // SYNC POINT with `Joined::proc`.
        known.store(proc, Ordering::Release);
        Ok((self.joined.base + place, Arc::clone(&self.joined)))
    }

    fn remove_endpoint(&mut self, peer: u32) {
        let place = self.joined.place(peer) as usize;
        self.endpoints[place] = self.endpoints[place].saturating_sub(1);
        if self.endpoints[place] == 0 {
            self.joined.procs[place].store(NOBODY, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use rustix::fd::AsRawFd;
    use rustix::fs::{MemfdFlags, memfd_create};

    const WHO: Identity = Identity { proc: 0, pid: 1, contexts: 1, pid_namespace: 0, xpmem: 0 };

    /// Adds an endpoint to place 1 of a segment with three places, told by its number and file.
    fn add(list: &FurtherSegments, number: u32, file: u64) -> Result<(u32, Arc<Joined>), NotAdded> {
        list.add(Wanted { proc: 70 + number, number, file: (0, file), place: 1, me: 0, ranks: 3 }, || {
            let fd = memfd_create("test", MemfdFlags::CLOEXEC).expect("memfd");
            let segment = Segment::open(fd.as_raw_fd(), 3, 1).expect("segment");
            segment.enter(0, WHO).expect("free");
            Ok(Fresh { segment, me: 0 })
        })
    }

    #[test]
    fn numbers_of_mapped_segments_are_apart_and_come_again() {
        let list = FurtherSegments::new(2);
        let all: Vec<u32> = (1..=3).map(|n| add(&list, n, n.into()).expect("added").0).collect();
        assert_eq!(all, [3, 6, 9]);
        list.remove(6);
        assert!(list.find(6).is_none() && list.find(9).is_some());
        assert_eq!(add(&list, 9, 9).expect("added").0, 6, "the gap is used");
        assert_eq!(list.find(6).and_then(|joined| joined.proc(6)), Some(79));
        assert_eq!(list.find(5).and_then(|joined| joined.proc(5)), None);
    }

    #[test]
    fn a_segment_stays_as_long_as_it_is_held() {
        let list = FurtherSegments::new(2);
        let (peer, joined) = add(&list, 1, 1).expect("added");
        let changes = list.changes(&[], |_| true);
        assert_eq!((changes.new.len(), changes.gone.len()), (1, 0));
        list.remove(peer);
        assert_eq!((list.changes(&[joined.base()], |_| true).gone, joined.proc(peer)), (vec![2], None));
        // It comes back before it was let go: nothing is gone.
        assert!(Arc::ptr_eq(&joined, &add(&list, 4, 1).expect("again").1));
        assert!(list.changes(&[joined.base()], |_| true).gone.is_empty());
        list.remove(peer);
        assert!(matches!(joined.segment.enter(0, WHO), Err(SegmentError::Occupied)), "we are there still");
        list.let_go(joined.base());
        joined.segment.enter(0, WHO).expect("we have left");
        assert!(list.find(peer).is_none());
        assert!(!Arc::ptr_eq(&joined, &add(&list, 1, 1).expect("anew").1));
    }

    #[test]
    fn wrong_places_are_refused_and_leave_nothing_behind() {
        let list = FurtherSegments::new(2);
        let (_, joined) = add(&list, 1, 1).expect("added");
        let other = |proc, place| Wanted { proc, number: 1, file: (0, 1), place, me: 0, ranks: 3 };
        for wanted in [other(5, 0), other(5, 3), other(5, 1), other(NOBODY, 2)] {
            let refused = list.add(wanted, || panic!("it is mapped"));
            assert!(matches!(refused, Err(NotAdded::Place)));
        }
        list.remove(3);
        assert!(list.find(3).is_none() && joined.has(3));
        let refused = list.add(Wanted { ranks: 2, ..other(5, 9) }, || {
            let fd = memfd_create("test", MemfdFlags::CLOEXEC).expect("memfd");
            Ok(Fresh { segment: Segment::open(fd.as_raw_fd(), 2, 1).expect("segment"), me: 0 })
        });
        assert!(matches!(refused, Err(NotAdded::Place)));
        assert!(list.mapped().is_empty(), "a segment without endpoints is left at once");
    }
}
