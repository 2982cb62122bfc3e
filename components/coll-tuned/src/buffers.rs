//! Buffers of a call in the units of its algorithm.

use crate::script::{Area, Piece};
use oxmpi_coll_support::layout::Result;
use oxmpi_coll_support::{Place, Source, Span};
use oxmpi_datatype::TypeDesc;

/// A buffer of the user's. `T`: [`Source`] or [`Place`].
#[derive(Clone)]
pub enum Side<T> {
    /// There is none.
    Nothing,
    /// Units of `each` elements.
    Even { all: T, each: u64 },
    /// A unit for each of them.
    Listed(Vec<T>),
    /// Units are bytes of packed data of elements that do not lie side by side.
    Packed(T),
}

/// The kind of units, and what temporary memory for them is.
pub enum Units<'a> {
    /// Elements of a reduction.
    Elements(&'a TypeDesc),
    /// Packed blocks of so many bytes.
    Bytes(u64),
    /// Packed blocks; the bytes of each.
    Blocks(Vec<u64>),
}

/// Temporary memory.
pub enum Temp<'a> {
    /// Units of `each` elements.
    Even { all: Place<'a>, each: u64 },
    /// Packed blocks, where they begin, and where the last one ends.
    Packs { all: Place<'a>, starts: Vec<u64> },
    /// There was not so much; where blocks that differ would begin.
    Missing { starts: Option<Vec<u64>> },
}

/// The need of temporary memory, before it is there.
pub enum Need<'a> {
    Span(Span<'a>),
    Bytes { each: u64, len: u64 },
    Packs(Vec<u64>),
}

impl Need<'_> {
    /// Where blocks that differ begin.
    pub fn starts(self) -> Option<Vec<u64>> {
        match self {
            Need::Packs(starts) => Some(starts),
            _ => None,
        }
    }

    pub fn len(&self) -> u64 {
        match self {
            Need::Span(span) => span.len(),
            Need::Bytes { len, .. } => *len,
            Need::Packs(starts) => starts.last().copied().unwrap_or(0),
        }
    }
}

impl<'a> Units<'a> {
    /// The need of `units` of them. OUT_OF_MEMORY: more than there can be.
    pub fn need(&self, units: u64, turned: u64) -> Result<Need<'a>> {
        Ok(match self {
            Units::Elements(dtype) => Need::Span(Span::of(dtype, units)?),
            Units::Bytes(each) => {
                let len = each.checked_mul(units).filter(|len| *len <= i64::MAX as u64);
                Need::Bytes { each: *each, len: len.ok_or(oxmpi_mca::Status::OUT_OF_MEMORY)? }
            }
            Units::Blocks(lengths) => {
                let turned = lengths.iter().cycle().skip(turned as usize).take(units as usize);
                let mut starts = vec![0u64];
                for length in turned {
                    let end =
                        starts[starts.len() - 1].checked_add(*length).filter(|end| *end <= i64::MAX as u64);
                    starts.push(end.ok_or(oxmpi_mca::Status::OUT_OF_MEMORY)?);
                }
                Need::Packs(starts)
            }
        })
    }
}

/// Buffers of a call.
pub struct Buffers<'a> {
    pub given: Side<Source<'a>>,
    pub result: Side<Place<'a>>,
    pub units: Units<'a>,
    pub temps: [Option<Temp<'a>>; 8],
}

/// One of the pieces that a piece consists of in memory: elements, or bytes of packed data.
#[derive(Clone, Copy)]
pub enum Run<T> {
    Elements(T),
    /// So many bytes of the packed data of elements, from byte `first` on.
    Packed {
        all: T,
        first: u64,
        len: u64,
    },
    /// There was no memory for it.
    Missing,
    /// Nothing.
    Empty,
}

impl<'a> Buffers<'a> {
    pub fn new(given: Side<Source<'a>>, result: Side<Place<'a>>, units: Units<'a>) -> Buffers<'a> {
        Buffers { given, result, units, temps: [const { None }; 8] }
    }

    /// Number of pieces in memory.
    pub fn runs(&self, piece: Piece) -> u64 {
        let is_listed = match piece.area {
            Area::Given => matches!(self.given, Side::Listed(_)),
            Area::Result => matches!(self.result, Side::Listed(_)),
            Area::Temp(_) => false,
        };
        if is_listed { piece.len } else { 1 }
    }

    /// The one piece in memory, to be read.
    pub fn source(&self, piece: Piece) -> Run<Source<'a>> {
        let Piece { area, first, len } = piece;
        if len == 0 {
            return Run::Empty;
        }
        match area {
            Area::Given => match &self.given {
                Side::Even { all, each } => Run::Elements(all.part(first * each, len * each)),
                Side::Listed(blocks) => Run::Elements(blocks[first as usize]),
                Side::Packed(all) => Run::Packed { all: *all, first, len },
                Side::Nothing => Run::Empty,
            },
            _ => match self.place(piece) {
                Run::Elements(place) => Run::Elements(place.source()),
                Run::Packed { all, first, len } => Run::Packed { all: all.source(), first, len },
                Run::Missing => Run::Missing,
                Run::Empty => Run::Empty,
            },
        }
    }

    /// The one piece in memory, to be written.
    pub fn place(&self, piece: Piece) -> Run<Place<'a>> {
        let Piece { area, first, len } = piece;
        if len == 0 {
            return Run::Empty;
        }
        match area {
            Area::Given => panic!("what is given is only read"),
            Area::Result => match &self.result {
                Side::Even { all, each } => Run::Elements(all.part(first * each, len * each)),
                Side::Listed(blocks) => Run::Elements(blocks[first as usize]),
                Side::Packed(all) => Run::Packed { all: *all, first, len },
                Side::Nothing => Run::Empty,
            },
            Area::Temp(number) => match &self.temps[usize::from(number)] {
                Some(Temp::Even { all, each }) => Run::Elements(all.part(first * each, len * each)),
                Some(Temp::Packs { all, starts }) => {
                    let [from, to] = [first, first + len].map(|unit| starts[unit as usize]);
                    Run::Elements(all.part(from, to - from))
                }
                Some(Temp::Missing { starts: Some(starts) })
                    if starts[first as usize] == starts[(first + len) as usize] =>
                {
                    Run::Empty
                }
                Some(Temp::Missing { .. }) => Run::Missing,
                None => panic!("temporary memory that was not made"),
            },
        }
    }
}
