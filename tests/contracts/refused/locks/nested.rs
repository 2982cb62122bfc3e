//! Two borrows of what one lock guards.

use oxmpi_mca::{CriGuard, PerCri};

pub fn add(held: &mut CriGuard<'_>, counts: &PerCri<u64>) {
    let outer = counts.get(held);
    *counts.get(held) += 1;
    *outer += 1;
}

fn main() {}
