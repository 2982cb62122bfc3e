//! The bytes that other processes see: the segment's layout, the ring's, and the control word.
//!
//! **Any change here is a change of [`VERSION`]**, with which a process of another build is refused.
//! All words are little-endian and naturally aligned. The segment is all zero at birth, and every
//! word is chosen so that zero is its right first value: nobody has to initialise anything, and no
//! process can find the segment half made.
//!
//! ```text
//! segment   0        version word (compare-and-swap from 0 by whoever is first: decides VERSION,
//!                    ranks, FIFOs; never changes again)
//!           64       how many bytes behind the header area have been given out (rings)
//!           4096     one area per local rank:
//!                      identity     who it is (pid, job rank); `state` is written last
//!                      oldest_pending[source]   one word per pair, for ordering several FIFOs
//!                      service      the inbox of its service context (`service/inbox.rs`): bell, summary, one bit per
//!                                   source rank
//!                      one inbox per FIFO:
//!                        bell         futex word: 0 awake, 1 asleep or about to be (that of FIFO 0
//!                                     serves all FIFOs of the rank)
//!                        summary      bit w: word w of the ready bits is not zero
//!                        ready        one bit per source rank
//!                        directory    one word per source rank: where the ring from there lies
//!                        assists      a few reads that their source is asked to help with, and whether this
//!                                     rank is at a long read now
//!                        links        one word per source rank: where the service link from there lies
//!           header_len   rings and service links, each made and given its place by its sender
//!
//! ring      0        head: how many lines the receiver has read (written by the receiver, rarely)
//!           8        how many bytes of bulk it has read (written together with the head)
//!           64       notification word (written by the receiver, rarely)
//!           4096     lines: a power of two of them, 64 bytes each: a flag word and 56 bytes
//!           ...      bulk: a power of two of bytes, in granules of 64, a little behind a page's beginning
//!           ...      the cells, where rings are large enough for some (`cells.rs`)
//! ```
//!
//! A directory word is `offset | log2(bulk bytes)`, with [`SEVERAL_CELLS`] where the ring has more than one: rings lie on page
//! boundaries, so the low bits are free, and a receiver knows how much to map from one word. Positions count lines (or bytes of bulk)
//! since the ring's birth and never wrap; the place is the position modulo the size.

/// Version of the segment's bytes; processes of different versions refuse each other.
pub const VERSION: u16 = 13;

/// Bytes of a page; rings and links lie on pages.
pub const PAGE: u64 = 4096;
/// A cache line, and the unit in which long messages lie in a ring.
pub const GRANULE: u64 = 64;
/// Bytes of a line's flag word.
pub const FLAG: u64 = 8;
/// Bytes of a message in one line.
pub const PER_LINE: u64 = GRANULE - FLAG;
/// A message of more lines goes through the bulk.
pub const MAX_LINES: u64 = 20;
/// Longest message in lines, header and payload.
pub const MAX_SHORT: u64 = MAX_LINES * PER_LINE;

/// Reads of a context that may be shared with their sources at the same time.
pub const ASSISTS: usize = 4;

/// Most processes on a node: one summary word covers 64 words of ready bits.
pub const MAX_RANKS: u32 = 4096;
/// Most contexts of a process.
pub const MAX_FIFOS: u32 = 64;

/// Bytes of bulk of the smallest ring, as a power of two.
pub const MIN_RING_LOG2: u32 = 12;
/// Bytes of bulk of the largest ring, as a power of two.
pub const MAX_RING_LOG2: u32 = 30;

/// Where the next free byte behind the header area is counted.
pub const NEXT: u64 = 64;

/// State of an identity whose process has not come yet.
pub const ABSENT: u32 = 0;
/// State of an identity whose process is there.
pub const PRESENT: u32 = 1;
/// State of an identity whose process has left.
pub const LEFT: u32 = 2;

/// Notification word of a ring that its receiver does not watch: the sender sets its ready bit (`doorbell.rs`).
pub const NEED_BIT: u32 = 0;
/// Notification word of a ring that its receiver watches.
pub const WATCHED: u32 = 1;
/// Notification word of a ring that its receiver watches without membarrier, so that the sender needs a fence.
pub const WATCHED_FENCED: u32 = 2;

/// Offsets within an identity.
pub mod identity {
    pub const STATE: u64 = 0;
    pub const PROC: u64 = 4;
    pub const PID: u64 = 8;
    pub const CONTEXTS: u64 = 12;
    pub const PID_NAMESPACE: u64 = 16;
    /// The number under which XPMEM offers its memory; 0: it does not.
    pub const XPMEM: u64 = 24;
}

/// Offsets within a ring.
pub mod ring {
    pub const HEAD: u64 = 0;
    pub const BULK_HEAD: u64 = 8;
    pub const NOTIFY: u64 = 64;
    pub const LINES: u64 = super::PAGE;

    /// Bytes between a page's beginning and that of the bulk, and of the first cell (the others start further behind one), so that what lies first in them lies elsewhere in
    /// its page than the user's data does, which mostly starts where a page does, or 16 bytes behind: a copy to an address that is up to
    /// a line higher in its page than what it copies from takes half as long again on some processors (`copy.rs`).
    pub const ASIDE: u64 = 2 * super::GRANULE;

    /// How many lines a ring with `1 << log2` bytes of bulk has, as a power of two: a quarter of the
    /// bytes, and enough for the longest short message.
    pub const fn lines_log2(log2: u32) -> u32 {
        match log2 {
            0..15 => 6,
            15..19 => log2 - 8,
            19..23 => 11,
            _ => log2 - 11,
        }
    }

    /// Offset of the bulk within a ring with `1 << log2` bytes of bulk.
    pub const fn bulk(log2: u32) -> u64 {
        LINES + (super::GRANULE << lines_log2(log2)) + ASIDE
    }

    /// Bytes of bulk that get memory when the ring is made; the others do when rows of long messages fill these.
    pub const FIRST_BULK: u64 = 512 << 10;

    /// Number of cells behind the bulk: none where one would be much beside the ring, and one unless there are to be
    /// `several`.
    pub const fn cells(log2: u32, several: bool) -> u64 {
        match log2 {
            0..17 => 0,
            17 => 1,
            _ if !several => 1,
            18 => 4,
            _ => super::MOST_CELLS,
        }
    }

    /// Bytes of a cell: room for the longest message that goes through such rings unless somebody changed that, from any place in a line
    /// on, and no more. Parts of a message go in cells that follow each other (`cells.rs`), so that the receiver's processor,
    /// which gets lines before they are asked for, finds the next part where it goes on.
    pub const fn cell(log2: u32) -> u64 {
        let payload = match log2 {
            0..19 => 32 << 10,
            19..21 => 64 << 10,
            21 => 128 << 10,
            _ => 256 << 10,
        };
        payload + super::MOST_AROUND + super::GRANULE
    }

    /// Bytes of all cells of a ring.
    pub const fn all_cells(log2: u32, several: bool) -> u64 {
        cells(log2, several) * cell(log2)
    }
}

/// `n` rounded up to a multiple of `unit`.
const fn up(n: u64, unit: u64) -> u64 {
    n.div_ceil(unit) * unit
}

/// Where everything in the header area is. A function of two numbers that all ranks of the node agree
/// on through the version word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub ranks: u32,
    pub fifos: u32,
}

impl Layout {
    /// The version word of a segment with this layout. Never 0.
    pub const fn version_word(self) -> u64 {
        (VERSION as u64) << 48 | (self.fifos as u64) << 32 | self.ranks as u64
    }

    /// Version and layout that a version word stands for.
    pub const fn from_version_word(word: u64) -> (u16, Layout) {
        ((word >> 48) as u16, Layout { ranks: word as u32, fifos: (word >> 32) as u32 & 0xffff })
    }

    /// Whether the numbers of ranks and FIFOs are possible.
    pub const fn is_sane(self) -> bool {
        self.ranks >= 1 && self.ranks <= MAX_RANKS && self.fifos >= 1 && self.fifos <= MAX_FIFOS
    }

    /// Words of ready bits in an inbox.
    pub const fn words(self) -> u64 {
        (self.ranks as u64).div_ceil(64)
    }

    /// Bytes of a table with a word for each rank.
    const fn table(self) -> u64 {
        up(self.ranks as u64 * 8, GRANULE)
    }

    /// Bytes of an inbox, with its directories and assists.
    const fn inbox_len(self) -> u64 {
        (2 + ASSISTS as u64) * GRANULE + up(self.words() * 8, GRANULE) + 2 * self.table()
    }

    /// Bytes of the area of a rank.
    const fn rank_len(self) -> u64 {
        GRANULE + self.table() + self.service_len() + self.fifos as u64 * self.inbox_len()
    }

    /// Bytes of the inbox of a service context.
    const fn service_len(self) -> u64 {
        2 * GRANULE + up(self.words() * 8, GRANULE)
    }

    /// Offset of a rank's area, which starts with its identity.
    pub const fn identity(self, rank: u32) -> u64 {
        PAGE + rank as u64 * self.rank_len()
    }

    /// Offset of the word with the stamp of the oldest message from `source` to `rank` that is not in its FIFO yet.
    pub const fn oldest_pending(self, rank: u32, source: u32) -> u64 {
        self.identity(rank) + GRANULE + source as u64 * 8
    }

    /// Offset of the bell of a rank's service context.
    pub const fn service_bell(self, rank: u32) -> u64 {
        self.oldest_pending(rank, 0) + self.table()
    }

    /// Offset of the summary word of a rank's service context.
    pub const fn service_pending(self, rank: u32) -> u64 {
        self.service_bell(rank) + GRANULE
    }

    /// Offset of the words of bits of a rank's service context.
    pub const fn service_ready(self, rank: u32) -> u64 {
        self.service_pending(rank) + GRANULE
    }

    /// Offset of the bell of an inbox; only that of FIFO 0 is used.
    pub const fn bell(self, rank: u32, fifo: u32) -> u64 {
        self.service_bell(rank) + self.service_len() + fifo as u64 * self.inbox_len()
    }

    /// Offset of the summary word of an inbox.
    pub const fn summary(self, rank: u32, fifo: u32) -> u64 {
        self.bell(rank, fifo) + GRANULE
    }

    /// Offset of the words of ready bits of an inbox.
    pub const fn ready(self, rank: u32, fifo: u32) -> u64 {
        self.summary(rank, fifo) + GRANULE
    }

    /// Offset of the directory word of the ring from `source` to an inbox.
    pub const fn directory(self, rank: u32, fifo: u32, source: u32) -> u64 {
        self.ready(rank, fifo) + up(self.words() * 8, GRANULE) + source as u64 * 8
    }

    /// Offset of the two words of shared read `index`: shares taken, shares ended.
    pub const fn assist(self, rank: u32, fifo: u32, index: u32) -> u64 {
        self.directory(rank, fifo, 0) + self.table() + index as u64 * GRANULE
    }

    /// Offset of the word that says whether the rank is at a long read; in the line of its first assist.
    pub const fn reading(self, rank: u32, fifo: u32) -> u64 {
        self.assist(rank, fifo, 0) + 16
    }

    /// Offset of the directory word of the service link from context `fifo` of `source` to `rank`.
    pub const fn link(self, rank: u32, fifo: u32, source: u32) -> u64 {
        self.assist(rank, fifo, 0) + ASSISTS as u64 * GRANULE + source as u64 * 8
    }

    /// Bytes of the header area: rings start behind it.
    pub const fn header_len(self) -> u64 {
        up(PAGE + self.ranks as u64 * self.rank_len(), PAGE)
    }
}

/// Where a ring lies, as the directory says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub offset: u64,
    pub log2: u32,
    /// Whether it has several cells, if it is large enough for them.
    pub several: bool,
}

/// In a directory word: the ring has several cells.
pub const SEVERAL_CELLS: u64 = 1 << 5;

impl Place {
    /// Bytes that a ring with `1 << log2` bytes of bulk takes in the segment, whole pages.
    pub const fn len_for(log2: u32, several: bool) -> u64 {
        up(ring::bulk(log2) + (1 << log2) + ring::all_cells(log2, several), PAGE)
    }

    /// Bytes that the ring takes in the segment, whole pages.
    pub const fn len(self) -> u64 {
        Place::len_for(self.log2, self.several)
    }

    /// The directory word that names this place.
    pub const fn word(self) -> u64 {
        self.offset | self.log2 as u64 | if self.several { SEVERAL_CELLS } else { 0 }
    }

    /// The place that a directory word names; `None`: no ring can lie there in a segment of `file_size` bytes.
    pub fn checked(word: u64, header_len: u64, file_size: u64) -> Option<Place> {
        let low = word & (PAGE - 1);
        let log2 = (low & !SEVERAL_CELLS) as u32;
        let place = Place { offset: word & !(PAGE - 1), log2, several: low & SEVERAL_CELLS != 0 };
        let size_fits = (MIN_RING_LOG2..=MAX_RING_LOG2).contains(&place.log2);
        let fits =
            size_fits && place.offset >= header_len && place.offset.checked_add(place.len())? <= file_size;
        fits.then_some(place)
    }
}

/// The flag word of a line: length (header and payload), tag and kind of the message that starts there,
/// and the lap (counted from 1) in which it was written. A line whose lap is not the one that its
/// reader is in has not been written yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag(pub u64);

/// Kind of a line in which a message starts that lies in this line and those behind it.
pub const SHORT: u64 = 1;
/// Kind of a line for a message in the bulk; the line's second word says where. The space that it takes there starts
/// and ends with a granule.
pub const LONG: u64 = 2;
/// Kind of a later line of a message.
pub const MORE: u64 = 3;
/// Kind of a line that holds no message but asks the receiver to help with a read (`cooperative.rs`).
pub const ASSIST: u64 = 4;
/// Kind of a line for a message in a cell; the line's second word says in which.
pub const CELL: u64 = 5;
/// Kind of a line for a message in a cell that is written in pieces ([`pieces_of`]): the first piece is there; each
/// further one is when the next line is, of kind [`MORE`].
pub const PIECES: u64 = 6;

/// Kind of a line for a message in the bulk that is written in pieces, with a line of kind [`MORE`] for each further
/// one.
pub const LONG_PIECES: u64 = 7;

/// Most bytes of a header, where rings are made for payload of a round size.
pub const MOST_AROUND: u64 = 128;

/// Bytes of a piece of a message that is written in pieces; the last one may be longer.
pub const PIECE: u64 = 16 << 10;

/// Number of pieces of a message of `len` bytes that is written in pieces. The last one may have up to twice the
/// length of the others.
#[inline(always)]
pub const fn pieces_of(len: u64) -> u64 {
    if len < 2 * PIECE { 1 } else { len / PIECE }
}

/// Bytes of a message of `len` bytes that are there with its first `pieces` pieces.
#[inline(always)]
pub const fn with_pieces(len: u64, pieces: u64) -> u64 {
    if pieces >= pieces_of(len) { len } else { pieces * PIECE }
}

/// Number of the first cell behind this ring, in a line of kind [`CELL`] or [`PIECES`]; the others have every second
/// number from there on.
pub const THIS_RINGS: u64 = 0;
/// Number of the first cell behind the ring the other way; the others have every second number from there on.
pub const THE_OTHERS: u64 = 1;
/// Most cells of a ring.
pub const MOST_CELLS: u64 = 8;

/// Bit of a flag word at which the kind starts.
const KIND_SHIFT: u32 = 40;
/// Bit of a flag word at which the lap starts.
const LAP_SHIFT: u32 = 44;

impl Flag {
    /// The flag of a line in which something of the given kind starts, of `len` bytes; `lap` is one that [`lap`] gave.
    #[inline(always)]
    pub const fn new(kind: u64, len: u64, tag: u8, lap: u64) -> Flag {
        Flag(lap | kind << KIND_SHIFT | (tag as u64) << 32 | len)
    }

    /// The flag of a later line of a message.
    #[inline(always)]
    pub const fn more(lap: u64) -> Flag {
        Flag(lap | MORE << KIND_SHIFT)
    }

    /// Whether the line was written in lap `lap`, one that [`lap`] gave.
    #[inline(always)]
    pub const fn is_of(self, lap: u64) -> bool {
        (self.0 ^ lap) >> LAP_SHIFT == 0
    }

    /// Bytes of the message, header and payload.
    #[inline(always)]
    pub const fn len(self) -> u64 {
        self.0 as u32 as u64
    }

    /// Tag of the message, which chooses its receiver.
    #[inline(always)]
    pub const fn tag(self) -> u8 {
        (self.0 >> 32) as u8
    }

    /// Length and tag, if this is the flag of a short message of one line written in lap `lap`; else, as the error, whether the line
    /// was written in that lap.
    #[inline(always)]
    pub const fn of_one(self, lap: u64) -> Result<(u64, u8), bool> {
        // All above the tag must be equal.
        let rest = Flag(self.0 ^ (lap | SHORT << KIND_SHIFT));
        let above = rest.0 >> KIND_SHIFT;
        if above == 0 && rest.len() <= PER_LINE {
            Ok((rest.len(), rest.tag()))
        } else {
            Err(above >> (LAP_SHIFT - KIND_SHIFT) == 0)
        }
    }

    /// Kind of the line: [`SHORT`], [`LONG`], [`MORE`] and so on; 0: never written.
    #[inline(always)]
    pub const fn kind(self) -> u64 {
        self.0 >> KIND_SHIFT & 0xf
    }
}

/// The lap of a line position in a ring of `1 << lines_log2` lines, in its place in a flag word. The
/// twenty bits that fit tell a lap from the one before, and any but the first 2^20 from no lap at all.
#[inline(always)]
pub const fn lap(position: u64, lines_log2: u32) -> u64 {
    ((position >> lines_log2) + 1) << LAP_SHIFT
}

/// Lines of a short message of `len` bytes.
#[inline(always)]
pub const fn lines_of(len: u64) -> u64 {
    if len <= PER_LINE { 1 } else { len.div_ceil(PER_LINE) }
}

/// Bytes of bulk that a long message of `len` bytes takes.
#[inline(always)]
pub const fn slot(len: u64) -> u64 {
    (len + (GRANULE - 1)) & !(GRANULE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_of_the_header_area_do_not_overlap() {
        for layout in [(1, 1), (2, 1), (16, 1), (65, 2), (256, 8), (4096, 2)] {
            let layout = Layout { ranks: layout.0, fifos: layout.1 };
            let mut regions = vec![(0, 8), (NEXT, 8)];
            for rank in (0..layout.ranks).step_by(1 + layout.ranks as usize / 7) {
                regions.push((layout.identity(rank), 32));
                regions.push((layout.oldest_pending(rank, 0), layout.ranks as u64 * 8));
                for fifo in 0..layout.fifos {
                    regions.push((layout.bell(rank, fifo), 4));
                    regions.push((layout.summary(rank, fifo), 8));
                    regions.push((layout.ready(rank, fifo), layout.words() * 8));
                    regions.push((layout.directory(rank, fifo, 0), layout.ranks as u64 * 8));
                    regions.extend((0..ASSISTS as u32).map(|i| (layout.assist(rank, fifo, i), 16)));
                    regions.push((layout.reading(rank, fifo), 8));
                }
            }
            regions.sort();
            for pair in regions.windows(2) {
                assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{layout:?}: {pair:?}");
                assert!(pair[1].0 % 8 == 0, "{layout:?}: {pair:?}");
            }
            let end = regions.last().map(|r| r.0 + r.1);
            assert!(end <= Some(layout.header_len()), "{layout:?}");
        }
    }

    #[test]
    fn words_that_different_sides_write_share_no_line() {
        let layout = Layout { ranks: 16, fifos: 2 };
        let line = |offset: u64| offset / GRANULE;
        let lines = [
            line(layout.identity(3)),
            line(layout.oldest_pending(3, 15)),
            line(layout.service_bell(3)),
            line(layout.service_pending(3)),
            line(layout.service_ready(3)),
            line(layout.bell(3, 0)),
            line(layout.summary(3, 0)),
            line(layout.ready(3, 0)),
            line(layout.directory(3, 0, 0)),
            line(layout.bell(3, 1)),
            line(layout.identity(4)),
        ];
        let mut unique = lines.to_vec();
        unique.dedup();
        assert_eq!(unique.len(), lines.len());
        assert_ne!(line(ring::HEAD), line(ring::NOTIFY));
    }

    #[test]
    fn version_word_comes_back() {
        let layout = Layout { ranks: 4096, fifos: 64 };
        assert_eq!(Layout::from_version_word(layout.version_word()), (VERSION, layout));
        assert!(layout.is_sane());
        assert!(!Layout { ranks: 0, fifos: 1 }.is_sane());
        assert!(!Layout { ranks: 4097, fifos: 1 }.is_sane());
        assert!(!Layout { ranks: 2, fifos: 0 }.is_sane());
    }

    #[test]
    fn flag_word_comes_back() {
        for len in [0, 1, 55, 56, 57, 4096, u32::MAX as u64] {
            for position in [0, 63, 64, 1 << 25, (1 << 26) - 1, 1 << 26, u64::MAX >> 20] {
                let lap = lap(position, 6);
                let flag = Flag::new(LONG, len, 255, lap);
                assert_eq!((flag.len(), flag.tag(), flag.kind()), (len, 255, LONG));
                assert!(flag.is_of(lap) && Flag::more(lap).is_of(lap));
                assert!(!flag.is_of(super::lap(position + 64, 6)), "a lap is told from the next");
            }
        }
        assert!(!Flag(0).is_of(lap(0, 6)), "fresh memory is of no lap that is read first");
    }

    #[test]
    fn sizes_of_messages() {
        assert_eq!([0, 1, 56, 57, 112, 113].map(lines_of), [1, 1, 1, 2, 2, 3]);
        assert_eq!(lines_of(MAX_SHORT), MAX_LINES);
        assert_eq!([0, 1, 64, 65].map(slot), [0, 64, 64, 128]);
        for log2 in MIN_RING_LOG2..=MAX_RING_LOG2 {
            assert!(1 << ring::lines_log2(log2) >= MAX_LINES / 3 * 4, "{log2}");
            assert_eq!(ring::bulk(log2) % PAGE, ring::ASIDE);
            for several in [false, true] {
                let len = Place::len_for(log2, several);
                assert!(len.is_multiple_of(PAGE));
                let end = ring::bulk(log2) + (1 << log2) + ring::cells(log2, several) * ring::cell(log2);
                assert!((end..end + PAGE).contains(&len), "{log2}");
            }
        }
    }

    #[test]
    fn pieces_make_up_their_message() {
        for len in [1, PIECE, 2 * PIECE - 1, 2 * PIECE, 2 * PIECE + 24, 4 * PIECE + 128, 5 * PIECE - 1] {
            let pieces = pieces_of(len);
            let ends: Vec<_> = (0..=pieces).map(|n| with_pieces(len, n)).collect();
            assert_eq!((ends[0], ends[pieces as usize]), (0, len));
            assert!(ends.windows(2).all(|w| w[0] < w[1] && w[1] - w[0] < 2 * PIECE), "{ends:?}");
        }
    }

    #[test]
    fn places_outside_the_segment_are_refused() {
        let several = Place { offset: 8192, log2: 20, several: true };
        assert_eq!(Place::checked(several.word(), 8192, 1 << 30), Some(several));
        assert_eq!(Place::checked(several.word(), 8192, 8192 + Place::len_for(20, false)), None);
        let (header, file) = (8192, 8192 + Place::len_for(16, false));
        let good = Place { offset: 8192, log2: 16, several: false };
        assert_eq!(Place::checked(good.word(), header, file), Some(good));
        assert_eq!(Place::checked(good.word(), header, file - 1), None);
        assert_eq!(Place::checked(good.word(), header + 4096, file + 4096), None);
        for log2 in [0, 11, 31, 32, 64, 4095] {
            assert_eq!(Place::checked(8192 | log2, header, u64::MAX), None);
        }
        assert_eq!(Place::checked(!0 << 12 | 16, header, u64::MAX), None);
    }
}
