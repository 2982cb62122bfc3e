//! A way in, given to another thread.

use oxmpi_mca::Entry;

pub fn give(entry: Entry) {
    std::thread::spawn(move || entry.is_among());
}

fn main() {}
