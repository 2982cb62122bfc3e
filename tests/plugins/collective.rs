//! A collective component that was built elsewhere and loaded, whose plans grow while they are done, passes the suite.

use crate::support::load;
use oxmpi_coll_conformance::{Setup, run_all};
use oxmpi_tests::coll_sparse;

#[test]
fn a_loaded_collective_component_whose_plans_grow_passes_the_suite() {
    let descriptor = load(&coll_sparse().join("libcoll_sparse.so"), "oxmpi_component_coll_sparse");
    run_all(&Setup::new(descriptor).ranks(5));
}
