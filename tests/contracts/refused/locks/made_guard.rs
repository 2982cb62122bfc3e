//! The proof of holding a lock, made by hand.

use oxmpi_mca::{CriGuard, Entry};

pub fn guard(entry: Entry) -> CriGuard<'static> {
    CriGuard { ctx: 0, entry }
}

fn main() {}
