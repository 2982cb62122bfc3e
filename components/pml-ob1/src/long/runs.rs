//! Data that is not contiguous, read from the sender's memory in one copy.
//!
//! The sender of such data tells where it lies, as a list of **runs** (blocks of one length at equal
//! distances) behind the header of a RUNS message; a box of an array is a few runs however large it is. The
//! receiver lists the pieces of its own buffer, a window at a time, and has the transport read the ones into the
//! others (`get_vector`). Either side may be contiguous: then it is one piece.
//!
//! That pays where pieces are long, because the kernel looks up the pages of each, and where the message is
//! not large: then the one process that reads is slower than two that pack and unpack at the same time. So
//! the sender offers it, and the receiver accepts it, within [`Limits`]; otherwise, and where reading is
//! refused, the data is streamed (`rendezvous.rs`).
//!
//! Measured on two cores of one of Intel's processors (Sapphire Rapids), vectors with gaps as long as their blocks,
//! microseconds read and streamed:
//!
//! | message, blocks | pieces at both ends | at the receiver only |
//! |---|---|---|
//! | 128 KiB, 2 KiB | 16.7, 16.3 | 8.8, 16.1 |
//! | 128 KiB, 8 KiB | 11.2, 15.2 | 7.9, 16.0 |
//! | 512 KiB, 2 KiB | 121, 55.7 | 34.0, 50.6 |
//! | 512 KiB, 8 KiB | 39.0, 44.4 | 26.4, 51.2 |
//! | 512 KiB, 64 KiB | 27.8, 40.2 | 26.2, 51.9 |
//! | 1 MiB, 16 KiB | 97.7, 96.9 | 87.4, 104 |
//! | 2 MiB, 64 KiB | 243, 181 | 206, 208 |
//!
//! **Nothing in a list is trusted:** its runs must have exactly the bytes of the message; the addresses are
//! the kernel's to check, in the process that named them.

use oxmpi_btl::Piece;
use oxmpi_datatype::{TypeDesc, blocks};

/// When data in pieces is read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Least bytes of a piece, on average, at the sender; 0: it is never read.
    pub remote: u64,
    /// The same at the receiver.
    pub local: u64,
    /// Largest message.
    pub largest: u64,
}

impl Limits {
    /// Whether a message of so many bytes may be read in pieces.
    pub fn permit(&self, total: u64) -> bool {
        self.remote > 0 && total <= self.largest
    }
}

/// Most runs of a message.
pub const MOST: usize = 256;
const WORDS: usize = 4;
/// Bytes of a run on the wire: address, length, count and distance of its blocks.
const BYTES: usize = 8 * WORDS;
/// So many runs of a layout are looked at for one that is long enough.
const GLANCE: usize = 64;
/// Pieces of one call to the transport.
pub const WINDOW: usize = 512;

/// Blocks of `len` bytes at equal distances: `count` of them, the first at `addr`, each `stride` bytes behind the one
/// before.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Run {
    addr: u64,
    len: u64,
    count: u64,
    stride: i64,
}

impl Run {
    /// The address of the block with this index in the run.
    fn block(&self, index: u64) -> u64 {
        self.addr.wrapping_add((index as i64).wrapping_mul(self.stride) as u64)
    }
    /// Whether a block of `len` bytes at `next` continues the run.
    fn goes_on_with(&self, next: u64, len: u64) -> bool {
        len == self.len && (self.count == 1 || self.block(self.count) == next)
    }
    /// Adds the block at `next`, which continues the run; the second block sets the distance.
    fn take(&mut self, next: u64) {
        if self.count == 1 {
            self.stride = next.wrapping_sub(self.addr) as i64;
        }
        self.count += 1;
    }
    /// Decodes a run from the wire.
    fn read(bytes: &[u8; BYTES]) -> Run {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |i: usize| u64::from_le_bytes(words[i]);
        Run { addr: word(0), len: word(1), count: word(2), stride: word(3) as i64 }
    }
}

/// A list in the making, as the wire has it.
pub struct RunList {
    runs: [Run; MOST],
    used: usize,
    words: [u64; MOST * WORDS],
}

impl RunList {
    /// Makes the list of where `total` bytes lie: all the data of `count` elements at `base`. `None`: the pieces are
    /// shorter than `min_run` on average, or too irregular for [`MOST`] runs.
    pub fn of(dtype: &TypeDesc, count: u64, base: u64, total: u64, min_run: u64) -> Option<RunList> {
        if !may_be_long(dtype, min_run) {
            return None;
        }
        let most = total / min_run;
        let mut list = RunList { runs: [Run::default(); MOST], used: 0, words: [0; MOST * WORDS] };
        let (mut pieces, mut fits) = (0, true);
        blocks(dtype, count, 0, total, |disp, len| {
            if list.push(base.wrapping_add(disp as u64), len) {
                pieces += 1;
            }
            // A long block is told in parts, which are one piece.
            fits = pieces <= most && list.used <= MOST;
            fits
        });
        if !fits || list.used == 0 {
            return None;
        }
        for (run, words) in list.runs[..list.used].iter().zip(list.words.chunks_exact_mut(WORDS)) {
            words.copy_from_slice(&[run.addr, run.len, run.count, run.stride as u64].map(u64::to_le));
        }
        Some(list)
    }

    /// The list as bytes for the wire.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: words are bytes.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr().cast(), self.used * BYTES) }
    }

    /// Adds a block behind the others. `false`: it continues the last piece. `used` above [`MOST`] says that there was
    /// no room.
    fn push(&mut self, addr: u64, len: u64) -> bool {
        if self.used == 0 {
            self.runs[0] = Run { addr, len, count: 1, stride: 0 };
            self.used = 1;
            return true;
        }
        let last = &mut self.runs[self.used - 1];
        if last.count == 1 && last.addr.wrapping_add(last.len) == addr {
            last.len += len;
            self.fold();
            return false;
        }
        if last.goes_on_with(addr, len) {
            last.take(addr);
        } else if self.used == MOST {
            self.used += 1;
        } else {
            self.runs[self.used] = Run { addr, len, count: 1, stride: 0 };
            self.used += 1;
        }
        true
    }

    /// Joins the last piece to the run before if it is one more block of that run: a long block that was told in parts.
    fn fold(&mut self) {
        if self.used < 2 {
            return;
        }
        let last = self.runs[self.used - 1];
        let before = &mut self.runs[self.used - 2];
        if before.count > 1 && before.goes_on_with(last.addr, last.len) {
            before.take(last.addr);
            self.used -= 1;
        }
    }
}

/// Whether a block of `min_run` bytes can be among those of a type. (Of many different ones, not all are looked
/// at.)
fn may_be_long(dtype: &TypeDesc, min_run: u64) -> bool {
    let (runs, nest) = (dtype.runs(), dtype.nest());
    let is_loop = |i: usize| nest.get(i).is_some_and(|n| n.items > 0);
    runs.len() > GLANCE || runs.iter().enumerate().any(|(i, run)| !is_loop(i) && run.len >= min_run)
        // Blocks that touch from element to element are one.
        || runs.len() == 1 && dtype.extent == runs[0].len as i64
}

/// Whether bytes are a list of runs of `msg_len` bytes in all.
pub fn is_list(bytes: &[u8], msg_len: u64) -> bool {
    let (runs, rest) = bytes.as_chunks::<BYTES>();
    let mut left = msg_len;
    for run in runs.iter().map(Run::read) {
        match run.len.checked_mul(run.count).filter(|&n| n > 0).and_then(|n| left.checked_sub(n)) {
            Some(less) => left = less,
            None => return false,
        }
    }
    rest.is_empty() && left == 0 && (1..=MOST).contains(&runs.len())
}

/// Where the data of a message lies in its sender.
#[derive(Clone, Copy)]
pub enum DataSource<'a> {
    /// In one piece.
    One(u64),
    /// As a list says.
    Runs(&'a [u8]),
}

/// Some pieces, in order.
pub struct Pieces {
    list: [Piece; WINDOW],
    used: usize,
    /// All of them together.
    pub bytes: u64,
}

impl Pieces {
    /// An empty list of pieces.
    pub const fn new() -> Pieces {
        Pieces { list: [Piece { addr: 0, len: 0 }; WINDOW], used: 0, bytes: 0 }
    }
    /// The pieces, in the order of the message.
    pub fn list(&self) -> &[Piece] {
        &self.list[..self.used]
    }
    /// Removes all pieces.
    fn clear(&mut self) {
        (self.used, self.bytes) = (0, 0);
    }
    /// Adds a piece, which continues the last one if it lies right behind it. `false`: there is no room for it.
    fn push(&mut self, addr: u64, len: u64) -> bool {
        if let Some(last) = self.list[..self.used].last_mut()
            && last.addr.wrapping_add(last.len) == addr
        {
            last.len += len;
        } else if self.used == WINDOW {
            return false;
        } else {
            self.list[self.used] = Piece { addr, len };
            self.used += 1;
        }
        self.bytes += len;
        true
    }

    /// Whether the pieces have at least `min_run` bytes on average.
    pub fn are_long(&self, min_run: u64) -> bool {
        self.bytes / (self.used as u64).max(1) >= min_run
    }

    /// Fills the list with the first pieces of packed bytes `[from, from + len)` of a buffer, as many as fit. `dtype`
    /// `None`: the buffer is contiguous.
    pub fn fill_local(&mut self, dtype: Option<&TypeDesc>, count: u64, base: u64, from: u64, len: u64) {
        self.clear();
        match dtype {
            None => {
                self.push(base.wrapping_add(from), len);
            }
            Some(dtype) => {
                blocks(dtype, count, from, len, |disp, len| self.push(base.wrapping_add(disp as u64), len));
            }
        }
    }

    /// Fills the list with the first pieces of bytes `[from, from + len)` of a message in its sender's memory, as many
    /// as fit.
    pub fn fill_remote(&mut self, source: DataSource<'_>, from: u64, len: u64) {
        self.clear();
        let runs = match source {
            DataSource::One(addr) => {
                self.push(addr.wrapping_add(from), len);
                return;
            }
            DataSource::Runs(bytes) => bytes.as_chunks::<BYTES>().0,
        };
        let (mut skip, mut left) = (from, len);
        for run in runs.iter().map(Run::read) {
            let bytes = run.len * run.count;
            if skip >= bytes {
                skip -= bytes;
                continue;
            }
            let (mut block, mut inside) = (skip / run.len, skip % run.len);
            skip = 0;
            while block < run.count && left > 0 {
                let n = (run.len - inside).min(left);
                if !self.push(run.block(block).wrapping_add(inside), n) {
                    return;
                }
                left -= n;
                inside = 0;
                block += 1;
            }
        }
    }
}
