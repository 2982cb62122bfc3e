//! One-sided verbs by many threads on several contexts, native, over the transport of the tests: as
//! framework/runtime/tests/verbs_threads.rs has them over those that are emulated.

#[path = "../../framework/runtime/tests/common/mod.rs"]
mod common;
#[path = "../../framework/runtime/tests/common/concurrent_verbs.rs"]
mod concurrent_verbs;
#[path = "../../framework/runtime/tests/common/keeper.rs"]
mod keeper;
#[path = "../../framework/runtime/tests/common/rma.rs"]
mod rma;

use crate::support::fabric;
use common::{Form, config, linked_in};
use oxmpi_runtime::{Config, Level};

/// Prompt; out of order through one queue; late, with little room; with a put that is done when it is there.
const SHAPES: [&[(&str, &str)]; 4] = [
    &[],
    &[("btl_fabric_seed", "5"), ("btl_fabric_shared_queue", "1")],
    &[("btl_fabric_completion", "late"), ("btl_fabric_late_us", "100"), ("btl_fabric_outstanding", "2")],
    &[("btl_fabric_put_done_is_remote", "1"), ("btl_fabric_sleep", "descriptor"), ("btl_fabric_seed", "9")],
];

fn make(shape: &[(&str, &str)]) -> Config {
    let settings = [&[("btl", "fabric,self"), ("runtime_num_cris", concurrent_verbs::CRIS)], shape].concat();
    let mut config = config(Form::LinkedIn, Level::Multiple, &settings);
    config.builtin = linked_in();
    config.builtin.push(keeper::descriptor());
    config.component_dirs.push(fabric().parent().expect("a folder").to_path_buf());
    config
}

#[test]
fn all_verbs_of_many_threads_at_once_over_the_fabric() {
    SHAPES.iter().for_each(|shape| concurrent_verbs::all_verbs_at_once(|| make(shape)));
}

#[test]
fn a_flush_over_threads_that_compute_over_the_fabric() {
    SHAPES.iter().for_each(|shape| concurrent_verbs::flush_over_threads_that_compute(|| make(shape)));
}
