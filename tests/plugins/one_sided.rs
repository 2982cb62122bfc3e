//! A one-sided component that was built elsewhere and loaded passes the suite, as the linked-in one does.

use crate::support::load;
use oxmpi_harness::{Setup, checks, run_all};
use oxmpi_tests::osc_am;

#[test]
fn a_loaded_one_sided_component_passes_the_suite() {
    assert!(checks().len() > 40, "the checks have registered themselves: {}", checks().len());
    let descriptor = load(&osc_am().join("libosc_am.so"), "oxmpi_component_osc_am");
    run_all(&Setup::new(descriptor));
}
