//! The word of an entry, kept across a wait.

use oxmpi_mca::{Completion, Entry};
use oxmpi_waiting::{Layer, Waiter};

pub fn wait<L: Layer>(layer: &L, entry: &mut Entry, word: &Completion) -> bool {
    let seen = entry.seen();
    Waiter::new(layer, entry).wait(word);
    seen.is_among()
}

fn main() {}
