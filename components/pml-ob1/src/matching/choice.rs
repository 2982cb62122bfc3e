//! The engines by name, and what a communicator's engine is made of.

use super::simd::Simd;

/// The engines; README.md says what each is good for.
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

    /// By the name of an info key or parameter. `None`: no such engine.
    pub fn by_name(name: &str) -> Option<Choice> {
        Choice::ALL.into_iter().find(|c| c.name() == name)
    }
}

/// The choice by parameters and info key.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub choice: Choice,
    pub simd: Simd,
    /// Nodes that a search of the adaptive engine may walk before the queue gets its index; at least 1.
    pub walk: usize,
}

impl Setting {
    /// From which search depth on a queue has an index: 0, always; all ones, never.
    pub(super) fn limit(&self) -> usize {
        match self.choice {
            Choice::Adaptive => self.walk.max(1),
            Choice::List => usize::MAX,
            _ => 0,
        }
    }
}
