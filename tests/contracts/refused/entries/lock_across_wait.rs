//! A lock, and so the way in that was borrowed for it, kept across a wait.

use oxmpi_mca::{Completion, Entry, Host, PerCri};
use oxmpi_waiting::{Layer, Waiter};

pub fn wait<L: Layer>(layer: &L, host: &Host, entry: &mut Entry, word: &Completion, counts: &PerCri<u64>) {
    let mut held = host.hold(entry, 0);
    Waiter::new(layer, entry).wait(word);
    *counts.get(&mut held) += 1;
}

fn main() {}
