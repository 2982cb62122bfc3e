//! Two locks of CRIs in one thread.

use oxmpi_mca::{Entry, Host, PerCri};

pub fn add(host: &Host, entry: &mut Entry, counts: &PerCri<u64>) {
    let mut first = host.hold(entry, 0);
    let mut second = host.hold(entry, 1);
    *counts.get(&mut second) += 1;
    *counts.get(&mut first) += 1;
}

fn main() {}
