//! The suite every one-sided component must pass, in large messages and in small ones.

use oxmpi_osc_conformance::{Setup, suite};

suite!(Setup::new(osc_am::descriptor()));

#[test]
fn conformance_in_small_messages() {
    oxmpi_osc_conformance::run_all(&Setup::new(osc_am::descriptor()).param("osc_am_max_message", "2k"));
}
