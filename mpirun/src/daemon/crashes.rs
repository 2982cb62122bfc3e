//! Reports of ranks when a signal came, kept until it is known whether it ended them.

use oxmpi_wireup::server::Crash;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct Crashes {
    pub(super) by_rank: HashMap<u32, Crash>,
    /// One stack per job is enough; others are mostly the same mistake.
    pub(super) shown: bool,
}

impl Crashes {
    pub fn note(&mut self, crash: Crash) {
        if !self.shown {
            self.by_rank.insert(crash.rank, crash);
        }
    }
}
