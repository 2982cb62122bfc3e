//! The transport to test with: it passes the suite under every shape that its parameters give it.

use crate::support::{fabric, load};
use oxmpi_btl_conformance::{Setup, run_all};

fn setup() -> Setup {
    Setup::new(load(fabric(), "oxmpi_component_btl_fabric"))
}

fn passes(params: &[(&str, &str)]) {
    run_all(&params.iter().fold(setup(), |setup, (name, value)| setup.param(name, value)));
}

#[test]
fn passes_the_suite() {
    passes(&[]);
}

#[test]
fn passes_where_operations_and_contexts_overtake() {
    passes(&[("seed", "7"), ("shared_queue", "1")]);
}

#[test]
fn passes_with_late_completions_and_low_limits() {
    let limits =
        [("outstanding", "2"), ("rma_limit", "1000"), ("ring_size", "4096"), ("max_send_size", "2048")];
    passes(
        &[&limits[..], &[("eager_limit", "1024"), ("completion", "late"), ("seed", "3"), ("late_us", "200")]]
            .concat(),
    );
}

#[test]
fn passes_where_sleepers_sleep_on_descriptors() {
    passes(&[("sleep", "descriptor"), ("put_done_is_remote", "1"), ("alignment", "8")]);
}

#[test]
fn passes_with_a_verb_alone() {
    for verbs in ["get", "put", "none"] {
        passes(&[("verbs", verbs), ("contexts", "1")]);
    }
}
