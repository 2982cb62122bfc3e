//! The node's segment as one process sees it: the header area mapped at start, rings mapped one by one.
//!
//! Memory that is going to be written is reserved first (`sys::reserve`), so that a lack of memory is an
//! error here and not a SIGBUS later. The segment has no name: it is a memfd that the launcher made, and
//! is gone with the last process that has it. Numbers read from it are checked before they are used.
//!
//! After `fork` the child has these mappings too (they are not marked MADV_DONTFORK: pages of a shared
//! mapping are not copied, and a child that stumbles over one should not crash for that). It writes
//! nothing: see `Shm::finalize`.

use crate::segment::inbox::{Inbox, ServiceInbox};
use crate::segment::shares::Shares;
use crate::service::link;
use crate::sys::{self, Mapping, Shortage};
use crate::wire::ring::FIRST_BULK;
use crate::wire::{self, Layout, Place, identity};
use oxmpi_mca::sync::{AtomicU32, AtomicU64, Ordering, unmodelled};
use rustix::fd::{OwnedFd, RawFd};
use rustix::io::Errno;
use std::sync::Arc;

/// Why the segment cannot be used.
#[derive(Debug)]
pub enum SegmentError {
    /// Descriptor or mapping failed.
    System(Errno),
    NoMemory {
        bytes: u64,
        why: Shortage,
    },
    /// Another build or another job's idea of the node: what its version word says.
    OtherVersion {
        version: u16,
        ranks: u32,
    },
    /// No segment of ours at all.
    Nonsense(u64),
    /// Someone is this rank already.
    Occupied,
}

/// Facts about a rank, from its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub proc: u32,
    pub pid: u32,
    pub contexts: u32,
    pub pid_namespace: u64,
    /// Where XPMEM offers its memory; 0: nowhere.
    pub xpmem: i64,
}

/// The node's segment as this process has mapped it.
pub struct Segment {
    fd: OwnedFd,
    /// Also kept by the inboxes of contexts.
    header: Arc<Mapping>,
    layout: Layout,
}

impl Segment {
    /// Maps the header area of the segment behind `fd`, which is duplicated and stays the caller's. The first process
    /// decides the layout: `fifos` is only the wish of this one, [`Segment::layout`] tells the outcome. An error: no
    /// memory, or the first process has another version or another number of ranks.
    pub fn open(fd: RawFd, ranks: u32, fifos: u32) -> Result<Segment, SegmentError> {
        let fd = sys::duplicate(fd).map_err(SegmentError::System)?;
        let first = Segment::reserve(&fd, 0, wire::PAGE)?;
        let wish = Layout { ranks, fifos };
        let layout = Segment::agree(&first, wish)?;
        drop(first);
        let header = Arc::new(Segment::reserve(&fd, 0, layout.header_len())?);
        Ok(Segment { fd, header, layout })
    }

    /// Allocates and maps `len` bytes of the segment from `offset` on.
    fn reserve(fd: &OwnedFd, offset: u64, len: u64) -> Result<Mapping, SegmentError> {
        sys::reserve(fd, offset, len).map_err(|why| SegmentError::NoMemory { bytes: len, why })?;
        Mapping::new(fd, offset, len).map_err(SegmentError::System)
    }

    /// Agrees with the other processes on version and layout: writes the version word if it is 0, else takes the
    /// layout from it. An error: another version, another number of ranks, or no version word at all.
    fn agree(first_page: &Mapping, wish: Layout) -> Result<Layout, SegmentError> {
        // SAFETY: the first word of a mapped page.
        let word: &AtomicU64 = unsafe { &*first_page.at(0).cast() };
        let ours = wish.version_word();
        // Nothing but zeros needs to be seen with this word, so no more than its value matters.
        let found = match word.compare_exchange(0, ours, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => ours,
            Err(found) => found,
        };
        let (version, layout) = Layout::from_version_word(found);
        if version != wire::VERSION || layout.ranks != wish.ranks {
            return Err(SegmentError::OtherVersion { version, ranks: layout.ranks });
        }
        if !layout.is_sane() {
            return Err(SegmentError::Nonsense(found));
        }
        Ok(layout)
    }

    /// The layout on which all processes of the node have agreed.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The word of 32 bits at `offset` of the header area.
    fn u32_at(&self, offset: u64) -> &AtomicU32 {
        // SAFETY: offsets come from the layout the header was mapped for, and are aligned.
        unsafe { &*self.header.at(offset).cast() }
    }

    /// The word of 64 bits at `offset` of the header area.
    fn u64_at(&self, offset: u64) -> &AtomicU64 {
        // SAFETY: offsets come from the layout the header was mapped for, and are aligned.
        unsafe { &*self.header.at(offset).cast() }
    }

    /// The words at `offset` of the header area that have a bit for each process.
    fn bits_at(&self, offset: u64) -> &[AtomicU64] {
        // SAFETY: offsets come from the layout the header was mapped for, with so many words there, and are aligned.
        unsafe { core::slice::from_raw_parts(self.header.at(offset).cast(), self.layout.words() as usize) }
    }

    /// Publishes this process as local rank `rank`, for others to see. An error: another process is that rank.
    pub fn enter(&self, rank: u32, who: Identity) -> Result<(), SegmentError> {
        let at = self.layout.identity(rank);
        let state = self.u32_at(at + identity::STATE);
        if state.load(Ordering::Acquire) == wire::PRESENT {
            return Err(SegmentError::Occupied);
        }
        self.u32_at(at + identity::PROC).store(who.proc, Ordering::Relaxed);
        self.u32_at(at + identity::PID).store(who.pid, Ordering::Relaxed);
        self.u32_at(at + identity::CONTEXTS).store(who.contexts, Ordering::Relaxed);
        self.u64_at(at + identity::PID_NAMESPACE).store(who.pid_namespace, Ordering::Relaxed);
        self.u64_at(at + identity::XPMEM).store(who.xpmem as u64, Ordering::Relaxed);
        // SYNC POINT with `identity`.
        state.store(wire::PRESENT, Ordering::Release);
        Ok(())
    }

    /// Marks local rank `rank` as gone: nobody reads its inboxes from now on.
    pub fn leave(&self, rank: u32) {
        self.u32_at(self.layout.identity(rank) + identity::STATE).store(wire::LEFT, Ordering::Release);
    }

    /// Facts about the process that is, or was, local rank `rank`; `None` before it has come.
    pub fn identity(&self, rank: u32) -> Option<Identity> {
        let at = self.layout.identity(rank);
        // SYNC POINT with `enter`.
        let state = self.u32_at(at + identity::STATE).load(Ordering::Acquire);
        (state != wire::ABSENT).then(|| Identity {
            proc: self.u32_at(at + identity::PROC).load(Ordering::Relaxed),
            pid: self.u32_at(at + identity::PID).load(Ordering::Relaxed),
            contexts: self.u32_at(at + identity::CONTEXTS).load(Ordering::Relaxed),
            pid_namespace: self.u64_at(at + identity::PID_NAMESPACE).load(Ordering::Relaxed),
            xpmem: self.u64_at(at + identity::XPMEM).load(Ordering::Relaxed) as i64,
        })
    }

    /// The inbox of a local rank for the rings of one FIFO.
    pub fn inbox(&self, rank: u32, fifo: u32) -> Inbox {
        let bell = self.bell(rank);
        let summary = self.u64_at(self.layout.summary(rank, fifo));
        let ready = self.bits_at(self.layout.ready(rank, fifo));
        // SAFETY: the words of a segment's functions are in its header area.
        unsafe { Inbox::new(Arc::clone(&self.header), bell, summary, ready) }
    }

    /// The bell of a local rank, one for all its FIFOs: a sleeper waits on one word.
    pub fn bell(&self, rank: u32) -> &AtomicU32 {
        self.u32_at(self.layout.bell(rank, 0))
    }

    /// The inbox of a local rank's service context.
    pub fn service_inbox(&self, rank: u32) -> ServiceInbox<'_> {
        ServiceInbox {
            bell: self.u32_at(self.layout.service_bell(rank)),
            pending: self.u32_at(self.layout.service_pending(rank)),
            ready: self.bits_at(self.layout.service_ready(rank)),
        }
    }

    /// The summary of a service inbox, as the host has it.
    pub fn service_pending(&self, rank: u32) -> &unmodelled::AtomicU32 {
        // SAFETY: an aligned word of the header area; the two types are one but in models, which have no segment.
        unsafe { &*self.header.at(self.layout.service_pending(rank)).cast() }
    }

    /// Allocates and maps a service link, all zero; returns its memory and its directory word.
    pub fn new_link(&self) -> Result<(Mapping, u64), Shortage> {
        let offset = self.give_out(link::LEN).ok_or(Shortage::Refused(Errno::OVERFLOW))?;
        sys::reserve(&self.fd, offset, link::LEN)?;
        Mapping::new(&self.fd, offset, link::LEN).map_err(Shortage::Refused).map(|memory| (memory, offset))
    }

    /// Writes the directory word of the service link from context `fifo` of `source` to `rank`, which tells the server
    /// where the link lies.
    pub fn publish_link(&self, rank: u32, fifo: u32, source: u32, word: u64) {
        // SYNC POINT with `link_word`.
        self.u64_at(self.layout.link(rank, fifo, source)).store(word, Ordering::Release);
    }

    /// The directory word of the service link from context `fifo` of `source` to `rank`; 0: there is none yet.
    pub fn link_word(&self, rank: u32, fifo: u32, source: u32) -> u64 {
        // SYNC POINT with `publish_link`.
        self.u64_at(self.layout.link(rank, fifo, source)).load(Ordering::Acquire)
    }

    /// Maps the service link that a peer's directory word names. `None`: the word is 0; `INVAL`: no link can lie
    /// there.
    pub fn map_link(&self, word: u64) -> Result<Option<Mapping>, Errno> {
        if word == 0 {
            return Ok(None);
        }
        let size = sys::file_size(&self.fd)?;
        let inside =
            word >= self.layout.header_len() && word.checked_add(link::LEN).is_some_and(|end| end <= size);
        if !inside || !word.is_multiple_of(wire::PAGE) {
            return Err(Errno::INVAL);
        }
        Mapping::new(&self.fd, word, link::LEN).map(Some)
    }

    /// The word with the stamp of the oldest message between two peers that is not in its FIFO yet, at this place of the layout
    /// ([`Layout::oldest_pending`]). Panics where there is none.
    pub fn stamp(&self, offset: u64) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset < self.header.len(), "a stamp's place");
        self.u64_at(offset)
    }

    /// The two words of shared read `index` of `rank` on a context.
    pub fn assist(&self, rank: u32, fifo: u32, index: u32) -> Shares<'_> {
        let at = self.layout.assist(rank, fifo, index);
        Shares { taken: self.u64_at(at), ended: self.u64_at(at + 8) }
    }

    /// The word that is not zero while `rank` is at a long read on a context.
    pub fn reading(&self, rank: u32, fifo: u32) -> &AtomicU64 {
        self.u64_at(self.layout.reading(rank, fifo))
    }

    /// The directory word of the ring from `source` to `rank` on a context.
    fn directory(&self, rank: u32, fifo: u32, source: u32) -> &AtomicU64 {
        self.u64_at(self.layout.directory(rank, fifo, source))
    }

    /// Where the ring from `source` to `rank` lies. `None`: there is none yet. An error: the directory word, which
    /// names a place where no ring can lie.
    pub fn find_ring(&self, rank: u32, fifo: u32, source: u32) -> Result<Option<Place>, u64> {
        // SYNC POINT with `publish_ring`.
        match self.directory(rank, fifo, source).load(Ordering::Acquire) {
            0 => Ok(None),
            word => {
                let size = sys::file_size(&self.fd).unwrap_or(0);
                Place::checked(word, self.layout.header_len(), size).map(Some).ok_or(word)
            }
        }
    }

    /// Gives out a place for a ring with `1 << log2` bytes of bulk, for good; memory comes with [`Segment::map_new`].
    /// `None`: the segment's counter is damaged.
    pub fn place_ring(&self, log2: u32, several: bool) -> Option<Place> {
        let offset = self.give_out(Place::len_for(log2, several))?;
        Some(Place { offset, log2, several })
    }

    /// Gives out `bytes` bytes behind the header area, whole pages, for good. `None`: the counter is damaged.
    fn give_out(&self, bytes: u64) -> Option<u64> {
        let next = self.u64_at(wire::NEXT).fetch_add(bytes, Ordering::Relaxed);
        let offset = next.checked_add(self.layout.header_len())?;
        // Far more than any machine has: the word is damaged.
        (offset < 1 << 46 && offset.is_multiple_of(wire::PAGE)).then_some(offset)
    }

    /// Allocates and maps a new ring, all zero: its lines and the first part of its bulk; the rest of the bulk and the
    /// cells have no memory yet.
    pub fn map_new(&self, place: Place) -> Result<Mapping, Shortage> {
        let first = FIRST_BULK.min(1 << place.log2);
        sys::reserve(&self.fd, place.offset, wire::ring::bulk(place.log2) + first)?;
        // With its last page the file is as long as it has to be.
        sys::reserve(&self.fd, place.offset + place.len() - wire::PAGE, wire::PAGE)?;
        self.map(place).map_err(Shortage::Refused)
    }

    /// Allocates the rest of a ring's bulk.
    pub fn reserve_rest(&self, place: Place) -> Result<(), Shortage> {
        sys::reserve(&self.fd, place.offset, wire::ring::bulk(place.log2) + (1 << place.log2))
    }

    /// Allocates cell `index` of a ring.
    pub fn reserve_cell(&self, place: Place, index: u64) -> Result<(), Shortage> {
        let size = wire::ring::cell(place.log2);
        let first = wire::ring::bulk(place.log2) + (1 << place.log2);
        sys::reserve(&self.fd, place.offset + first + index * size, size)
    }

    /// Maps a ring that exists.
    pub fn map(&self, place: Place) -> Result<Mapping, Errno> {
        Mapping::new(&self.fd, place.offset, place.len())
    }

    /// Writes the directory word of the ring from `source` to `rank` on a context, which tells the receiver where the
    /// ring lies.
    pub fn publish_ring(&self, rank: u32, fifo: u32, source: u32, place: Place) {
        // SYNC POINT with `find_ring`.
        self.directory(rank, fifo, source).store(place.word(), Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use rustix::fd::AsRawFd;
    use rustix::fs::{MemfdFlags, memfd_create};

    fn memfd() -> OwnedFd {
        memfd_create("test", MemfdFlags::CLOEXEC).expect("memfd")
    }

    const WHO: Identity = Identity { proc: 7, pid: 42, contexts: 1, pid_namespace: 5, xpmem: 9 };

    #[test]
    fn the_first_decides_and_the_others_follow() {
        let fd = memfd();
        let a = Segment::open(fd.as_raw_fd(), 3, 4).expect("first");
        let b = Segment::open(fd.as_raw_fd(), 3, 2).expect("second");
        assert_eq!(a.layout(), b.layout());
        assert_eq!(b.layout().fifos, 4);
        assert_eq!(a.identity(1), None);
        b.enter(1, WHO).expect("free");
        assert_eq!(a.identity(1), Some(WHO));
        assert!(matches!(a.enter(1, WHO), Err(SegmentError::Occupied)));
        b.leave(1);
        a.enter(1, WHO).expect("free again");
    }

    #[test]
    fn other_versions_and_nonsense_are_refused_with_what_was_found() {
        let fd = memfd();
        const OTHER: u16 = wire::VERSION + 1;
        let word = u64::from(OTHER) << 48 | 1 << 32 | 3;
        rustix::io::pwrite(&fd, &word.to_le_bytes(), 0).expect("write");
        match Segment::open(fd.as_raw_fd(), 3, 1) {
            Err(SegmentError::OtherVersion { version: OTHER, ranks: 3 }) => {}
            other => panic!("{:?}", other.err()),
        }
        rustix::io::pwrite(&fd, &Layout { ranks: 3, fifos: 0 }.version_word().to_le_bytes(), 0)
            .expect("write");
        assert!(matches!(Segment::open(fd.as_raw_fd(), 3, 1), Err(SegmentError::Nonsense(_))));
        assert!(matches!(Segment::open(-1, 3, 1), Err(SegmentError::System(Errno::BADF))));
    }

    #[test]
    fn links_outside_of_the_segment_are_refused() {
        let fd = memfd();
        let s = Segment::open(fd.as_raw_fd(), 2, 1).expect("segment");
        let (memory, word) = s.new_link().expect("memory");
        assert_eq!((s.link_word(0, 0, 1), word), (0, s.layout().header_len()));
        s.publish_link(0, 0, 1, word);
        assert_eq!(s.link_word(0, 0, 1), word);
        // SAFETY: a word of the link.
        unsafe { *memory.at(link::LEN - 8).cast::<u64>() = 7 };
        let theirs = s.map_link(word).expect("a place").expect("a link");
        // SAFETY: the same word, mapped a second time.
        assert_eq!(unsafe { *theirs.at(link::LEN - 8).cast::<u64>() }, 7);
        assert!(s.map_link(0).expect("none").is_none());
        let far = u64::MAX - u64::MAX % wire::PAGE;
        for bad in [1, wire::PAGE, word + 8, word + wire::PAGE, far, u64::MAX] {
            assert!(matches!(s.map_link(bad), Err(Errno::INVAL)), "{bad:#x}");
        }
    }

    #[test]
    fn rings_have_places_of_their_own() {
        let fd = memfd();
        let s = Segment::open(fd.as_raw_fd(), 2, 1).expect("segment");
        let (a, b) = (s.place_ring(13, false).expect("place"), s.place_ring(19, true).expect("place"));
        assert_eq!(a.offset, s.layout().header_len());
        assert_eq!(b.offset, a.offset + a.len());
        assert_eq!(s.find_ring(0, 0, 1), Ok(None));
        s.publish_ring(0, 0, 1, b);
        assert_eq!(s.find_ring(0, 0, 1), Err(b.word()), "no memory is there yet");
        let map = s.map_new(b).expect("memory");
        assert_eq!(s.find_ring(0, 0, 1), Ok(Some(b)));
        // SAFETY: the last byte of the ring.
        unsafe { *map.at(b.len() - 1) = 1 };
        s.u64_at(wire::NEXT).store(u64::MAX - 100, Ordering::Relaxed);
        assert_eq!(s.place_ring(13, false), None);
    }
}
