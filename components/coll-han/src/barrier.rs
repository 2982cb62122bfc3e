//! The barrier: the ranks of each node meet, then one of each node, then those of each node again.

use crate::call::Call;
use oxmpi_coll::{CollArgs, which};
use oxmpi_coll_support::Result;

pub fn barrier(call: &Call<'_>) -> Result {
    if !call.is_alone() {
        call.in_node(which::BARRIER, &CollArgs::NONE);
    }
    if call.me().local == 0 {
        call.across(which::BARRIER, &CollArgs::NONE);
    }
    call.down(0, which::BARRIER, &CollArgs::NONE);
    Ok(())
}
