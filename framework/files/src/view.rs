//! A view: where in the file byte `p` of a rank's data lies, and back. A walker over the filetype; O(depth of the type) for each question.
//!
//! [`View::offset`] goes from position to offset by the type's own arithmetic. The way back, [`View::position`], is a search: the tile of the filetype that an offset lies in
//! follows by division, and in the tile halving finds the first byte at or behind it, since displacements rise (MPI 5.0 §14.3 asks for that, [`check`] sees to it).
//!
//! **Extents that are too small.** A structure whose parts are subarrays or resized types has an extent of its own making, and the next tile may begin within this one. Libraries
//! over MPI use such filetypes, and access one tile of them. So they are views of one tile, behind which there is nothing ([`View::is_one_tile`]).

use crate::blocks::Blocks;
use crate::rising::{Order, span};
use core::fmt;
use oxmpi_datatype::TypeDesc;

/// A displacement and a filetype, which repeats from there on.
#[derive(Clone, Copy)]
pub struct View<'a> {
    displacement: u64,
    filetype: &'a TypeDesc,
}

/// Why a filetype is no view (MPI 5.0 §14.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A displacement is negative.
    Negative,
    /// A displacement is less than one before it.
    Falls,
    /// Its bytes are no multiple of the etype's.
    NotOfEtypes,
    /// A byte comes twice, and the file is open for writing.
    Overlaps,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Refusal::Negative => "the filetype has a negative displacement",
            Refusal::Falls => "the filetype's displacements do not rise",
            Refusal::NotOfEtypes => "the filetype's size is not a multiple of the etype's size",
            Refusal::Overlaps => "the filetype overlaps itself, and the file is open for writing",
        })
    }
}

/// Says whether these types may be a view, of a file that is open for writing if `writes`. Time and memory follow the description of the filetype.
pub fn check(etype: &TypeDesc, filetype: &TypeDesc, writes: bool) -> Result<(), Refusal> {
    let rest = if etype.packed == 0 { filetype.packed } else { filetype.packed % etype.packed };
    if rest != 0 {
        return Err(Refusal::NotOfEtypes);
    }
    let Some(one) = span(filetype) else { return Ok(()) };
    if one.first < 0 || etype.packed > 0 && etype.true_lb < 0 {
        return Err(Refusal::Negative);
    }
    match one.order {
        Order::Falls => Err(Refusal::Falls),
        Order::Overlaps if writes => Err(Refusal::Overlaps),
        _ => Ok(()),
    }
}

impl<'a> View<'a> {
    /// The view of a type that [`check`] has passed.
    pub fn new(displacement: u64, filetype: &'a TypeDesc) -> View<'a> {
        View { displacement, filetype }
    }

    /// Displacement and filetype.
    pub fn parts(&self) -> (u64, &'a TypeDesc) {
        (self.displacement, self.filetype)
    }

    /// Whether it has no data at all, as that of a filetype of size 0.
    pub fn is_empty(&self) -> bool {
        self.filetype.packed == 0
    }

    /// Whether an element of the filetype reaches into the next one, so that the view ends behind the first.
    pub fn is_one_tile(&self) -> bool {
        self.filetype.extent < self.filetype.true_extent
    }

    /// Whether its data lies in the file as one block.
    pub fn is_contiguous(&self) -> bool {
        self.filetype.one_block(1).is_some() && self.filetype.extent == self.filetype.packed as i64
    }

    /// Whether a byte of the file is in it twice; only a file that is not written may have such a view. Time follows the description of the filetype.
    pub fn overlaps(&self) -> bool {
        match self.filetype.runs() {
            [run] if run.count == 1 => false,
            _ => span(self.filetype).is_some_and(|span| span.order != Order::Rises),
        }
    }

    /// The offset behind byte `from + len - 1` of the view, for `len` of at least 1. `None`: it is no number that a file's offset can be
    /// (MPI_Offset), or the view has no data there; then nothing else may be asked about this range.
    pub fn end(&self, from: u64, len: u64) -> Option<u64> {
        let last = from.checked_add(len)?.checked_sub(1)?;
        let tile = i64::try_from(last.checked_div(self.filetype.packed)?).ok()?;
        if tile > 0 && self.is_one_tile() {
            return None;
        }
        let reach = self.filetype.true_lb.checked_add(self.filetype.true_extent)?;
        // A product that is no number must not be made on the way, nor for any byte before.
        let farthest = self.filetype.extent.checked_mul(tile)?.checked_add(reach)?;
        farthest.checked_add(i64::try_from(self.displacement).ok()?)?;
        Some(self.at(last) + 1)
    }

    /// Where byte `position` lies. `None` as of [`View::end`].
    pub fn offset(&self, position: u64) -> Option<u64> {
        self.end(position, 1).map(|end| end - 1)
    }

    /// As [`View::offset`], for a position that is known to have one.
    fn at(&self, position: u64) -> u64 {
        let mut found = 0;
        let count = position / self.filetype.packed + 1;
        oxmpi_datatype::blocks(self.filetype, count, position, 1, |disp, _| {
            found = disp;
            false
        });
        self.displacement.wrapping_add_signed(found)
    }

    /// The first byte of the view that lies at `offset` or behind: as many bytes of it lie before. A view without data answers 0. Not for views that
    /// overlap, of which it answers one such byte.
    pub fn position(&self, offset: u64) -> u64 {
        let ft = self.filetype;
        let first = self.displacement.saturating_add_signed(ft.true_lb);
        let Some(inside) = offset.checked_sub(first).filter(|_| ft.packed > 0) else { return 0 };
        if self.is_contiguous() {
            return inside;
        }
        // In the tile, counted from its first byte of data.
        let (tile, inside) = match self.is_one_tile() {
            true => (0, inside),
            false => (inside / ft.extent as u64, inside % ft.extent as u64),
        };
        if inside >= ft.true_extent as u64 {
            return (tile + 1) * ft.packed;
        }
        tile * ft.packed + self.before(inside)
    }

    /// How many bytes of one element lie less than `inside` bytes behind its first one.
    fn before(&self, inside: u64) -> u64 {
        let lowest = self.filetype.true_lb + inside as i64;
        let (mut low, mut high) = (0, self.filetype.packed);
        while low < high {
            let middle = low + (high - low) / 2;
            let (mut disp, mut len) = (0, 0);
            oxmpi_datatype::blocks(self.filetype, 1, middle, high - middle, |d, l| {
                (disp, len) = (d, l);
                false
            });
            if disp >= lowest {
                high = middle;
            } else if disp + len as i64 > lowest {
                // Inside this block.
                return middle + (lowest - disp) as u64;
            } else {
                low = middle + len;
            }
        }
        low
    }

    /// How many etypes of `etype_bytes` (not 0) begin before the end of a file of `length` bytes: MPI_SEEK_END counts from there (MPI 5.0 §14.1.1, end of file).
    pub fn etypes_before(&self, length: u64, etype_bytes: u64) -> u64 {
        self.position(length).div_ceil(etype_bytes)
    }

    /// The blocks of bytes `from` to `from + len` of the view, as (offset in the file, length), in order. [`View::end`] has answered for the range.
    pub fn blocks(&self, from: u64, len: u64) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        let displacement = self.displacement;
        Blocks::new(self.filetype, from, len)
            .map(move |(disp, len)| (displacement.wrapping_add_signed(disp), len))
    }

    /// Whether bytes `from` to `from + len` lie in the file as one block.
    pub fn is_one_block(&self, from: u64, len: u64) -> bool {
        len <= 1 || self.blocks(from, len).next().is_some_and(|(_, first)| first == len)
    }
}
