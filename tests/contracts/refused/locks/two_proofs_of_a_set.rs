//! The proofs of two locks of a set at a time.

use oxmpi_mca::{CriSetGuard, PerCri};

pub fn add(all: &mut CriSetGuard<'_>, counts: &PerCri<u64>) {
    let mut first = all.held(0);
    let mut second = all.held(1);
    *counts.get(&mut second) += 1;
    *counts.get(&mut first) += 1;
}

fn main() {}
