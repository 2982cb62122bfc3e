//! The suite every one-sided component must pass, in large messages and in small ones.

use oxmpi_harness::{Setup, suite};

suite!(Setup::new(osc_am::descriptor()));

#[test]
fn conformance_in_small_messages() {
    oxmpi_harness::run_all(&Setup::new(osc_am::descriptor()).param("osc_am_max_message", "2k"));
}
