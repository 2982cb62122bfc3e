//! The engines by name, and what a communicator's engine is made of.

use super::simd::Simd;

/// The engines, each named as in the parameter `pml_ob1_matching`; README.md says what each is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A list; `hash` behind it once a search walked far.
    Adaptive,
    List,
    Hash,
    PerPeer,
    Vector,
    Fuzzy32,
    Fuzzy16,
    Fuzzy8,
}

impl Choice {
    pub const ALL: [Choice; 8] = [
        Choice::Adaptive,
        Choice::List,
        Choice::Hash,
        Choice::PerPeer,
        Choice::Vector,
        Choice::Fuzzy32,
        Choice::Fuzzy16,
        Choice::Fuzzy8,
    ];

    /// Gives the engine's name in the parameter `pml_ob1_matching` and the info key `oxmpi_matching`.
    pub const fn name(self) -> &'static str {
        match self {
            Choice::Adaptive => "adaptive",
            Choice::List => "list",
            Choice::Hash => "hash",
            Choice::PerPeer => "perpeer",
            Choice::Vector => "vector",
            Choice::Fuzzy32 => "fuzzy32",
            Choice::Fuzzy16 => "fuzzy16",
            Choice::Fuzzy8 => "fuzzy8",
        }
    }

    /// Finds the engine with this name, from an info key or parameter. `None`: no engine has it.
    pub fn by_name(name: &str) -> Option<Choice> {
        Choice::ALL.into_iter().find(|c| c.name() == name)
    }
}

/// Parts that an engine is made from: its kind, and how it compares, as parameters and info key have chosen.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub choice: Choice,
    pub simd: Simd,
    /// Nodes that a search of the adaptive engine may walk before the queue gets its index; at least 1.
    pub walk: usize,
    pub windows: Windows,
}

/// How many low bits of the source the fuzzy engines compare; the tag has the rest of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// The number that the operator asked for; 0: none.
    asked: u8,
    /// The number that follows from the communicator's size, used where none is asked for; 0: not known.
    sized: u8,
}

impl Windows {
    /// Most bits of the source. Eight of 32 are left to the tag then, the windows of the paper's prototype.
    pub const MOST: u32 = 24;

    /// Makes windows with so many low bits of the source, at most [`Windows::MOST`]; 0: the number follows from the
    /// communicator's size.
    pub fn of(source_bits: u32) -> Windows {
        Windows { asked: source_bits.min(Self::MOST) as u8, sized: 0 }
    }

    /// Adds the number of bits that tell the ranks of a communicator of this size apart. It counts where the operator
    /// asked for none.
    pub fn for_ranks(self, ranks: u32) -> Windows {
        let bits = u32::BITS - ranks.saturating_sub(1).leading_zeros();
        Windows { sized: bits.clamp(1, Self::MOST) as u8, ..self }
    }

    /// Whether the operator chose the number of bits, so that it does not follow from the communicator's size.
    pub(super) fn are_asked(self) -> bool {
        self.asked != 0
    }

    /// Gives how many low bits of the source are compared: those asked for, else those by size, else [`Windows::MOST`].
    pub(super) fn source_bits(self) -> u32 {
        match (self.asked, self.sized) {
            (0, 0) => Self::MOST,
            (0, bits) | (bits, _) => bits.into(),
        }
    }

    /// Gives the mask of the low bits of the source that are compared.
    pub(super) fn source(self) -> u64 {
        (1 << self.source_bits()) - 1
    }
}

impl Setting {
    /// Gives how many nodes a search may walk before the queue moves into its index: 0 for engines that start with it,
    /// all ones for `list`, which has none.
    pub(super) fn limit(&self) -> usize {
        match self.choice {
            Choice::Adaptive => self.walk.max(1),
            Choice::List => usize::MAX,
            _ => 0,
        }
    }
}
