//! One-sided verbs at MPI_THREAD_MULTIPLE, by many threads on several contexts: emulated over btl-template and over btl-shm
//! without copies, native and emulated in turns over btl-shm. Over the transport of the tests: tests/plugins/verbs.rs.

mod common;
#[path = "common/concurrent_verbs.rs"]
mod concurrent_verbs;
#[path = "common/keeper.rs"]
mod keeper;
#[path = "common/rma.rs"]
mod rma;

use common::{Form, config, linked_in};
use oxmpi_runtime::{Config, Level};

const EVERY: [&[(&str, &str)]; 3] = [
    &[("btl", "template,self")],
    &[("btl", "shm,self")],
    &[("btl", "shm,self"), ("btl_shm_single_copy_mechanism", "none")],
];

fn make(over: &[(&str, &str)]) -> Config {
    let settings = [over, &[("runtime_num_cris", concurrent_verbs::CRIS)]].concat();
    let mut config = config(Form::LinkedIn, Level::Multiple, &settings);
    config.builtin = linked_in();
    config.builtin.extend([btl_template::descriptor(), keeper::descriptor()]);
    config
}

#[test]
fn all_verbs_of_many_threads_at_once() {
    EVERY.iter().for_each(|over| concurrent_verbs::all_verbs_at_once(|| make(over)));
}

#[test]
fn a_flush_over_threads_that_compute() {
    EVERY.iter().for_each(|over| concurrent_verbs::flush_over_threads_that_compute(|| make(over)));
}

#[test]
fn lists_of_many_threads_at_once() {
    EVERY.iter().for_each(|over| concurrent_verbs::lists_at_once(|| make(over)));
}

/// One thread at a time makes progress.
#[test]
fn the_same_with_serial_progress() {
    for over in EVERY {
        let settings = [over, &[("runtime_progress", "serial")]].concat();
        concurrent_verbs::all_verbs_at_once(|| make(&settings));
        concurrent_verbs::flush_over_threads_that_compute(|| make(&settings));
    }
}
