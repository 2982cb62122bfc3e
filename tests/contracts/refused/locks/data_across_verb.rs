//! A borrow of what a lock guards while a transport, which may call back, has the lock's proof.

use oxmpi_btl::BtlHandle;
use oxmpi_mca::{CriGuard, PerCri};

pub fn turn(held: &mut CriGuard<'_>, btl: &BtlHandle, counts: &PerCri<i32>) {
    let count = counts.get(held);
    *count += btl.progress(held);
}

fn main() {}
