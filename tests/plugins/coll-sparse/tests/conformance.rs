//! The suite every collective component must pass: blocking gathers, planned ones, and some whose messages fail.

use oxmpi_coll_conformance::{Setup, run_named, suite};

suite!(Setup::new(coll_sparse::descriptor()).ranks(9));

/// Blocks that end in zeros, which are other ones at each start; and a root that lacks a size.
#[test]
fn its_checks_are_not_left_out() {
    let setup = Setup::new(coll_sparse::descriptor()).ranks(5);
    for check in ["gather", "persistent_gather", "unreachable_in_gather", "dies_in_gather"] {
        run_named(&setup, check);
    }
}
