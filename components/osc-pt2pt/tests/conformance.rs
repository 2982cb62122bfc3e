//! The suite every one-sided component must pass: as installed, by messages alone, with every operation in a message of its own, and with so small
//! messages that most data and layouts travel apart.

use oxmpi_harness::{Setup, run_all, suite};

suite!(Setup::new(osc_pt2pt::descriptor()).whole());

#[test]
fn conformance_without_aggregation() {
    run_all(&Setup::new(osc_pt2pt::descriptor()).whole().param("osc_pt2pt_aggregation", "0"));
}

#[test]
fn conformance_by_messages() {
    run_all(&Setup::new(osc_pt2pt::descriptor()).whole().param("osc_pt2pt_service_links", "false"));
}

#[test]
fn conformance_in_small_messages() {
    for links in ["true", "false"] {
        let setup = Setup::new(osc_pt2pt::descriptor()).whole().param("osc_pt2pt_service_links", links);
        run_all(&setup.param("osc_pt2pt_message_size", "256").param("osc_pt2pt_receives", "1"));
    }
}
