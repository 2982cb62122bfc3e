//! An algorithm and its settings, as parameters, rules and defaults say it.

/// An algorithm by its number, and its settings; 0 of each leaves it to the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Choice {
    pub algorithm: u32,
    /// Bytes of a segment.
    pub segment: u64,
    /// Children of a node, radix, or number of chains.
    pub fanout: u32,
    /// Messages that are under way at once.
    pub requests: u32,
}

impl Choice {
    pub const fn of(algorithm: u32) -> Choice {
        Choice { algorithm, segment: 0, fanout: 0, requests: 0 }
    }
}
