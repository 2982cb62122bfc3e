//! The suite every one-sided component must pass. This file, with your crate's name in it, is the first test to write.

use oxmpi_harness::{Setup, run_all, suite};

suite!(Setup::new(osc_template::descriptor()));

/// Nearly every operation is cut.
#[test]
fn conformance_in_small_messages() {
    run_all(&Setup::new(osc_template::descriptor()).param("osc_template_message_size", "256"));
}
