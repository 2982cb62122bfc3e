//! The suite every collective component must pass, over coll-basic: with the limits that it has by default, and with those that choose the
//! algorithms for large messages.

use oxmpi_coll_conformance::{Setup, run_named, suite};

const LARGE: &[(&str, &str)] = &[
    ("barrier_algorithm", "tree"),
    ("bcast_segment_size", "24"),
    ("reduce_small_msg", "0"),
    ("allgather_small_msg", "0"),
    ("gather_small_msg", "0"),
    ("alltoall_small_msg", "0"),
    ("scratch_limit", "0"),
];

fn setup() -> Setup {
    Setup::new(coll_basic::descriptor())
}

suite!(setup().variant(LARGE));

#[test]
fn every_algorithm_of_the_barrier() {
    for algorithm in ["dissemination", "linear"] {
        let setup = setup().param("barrier_algorithm", algorithm);
        ["barrier", "barrier_between_groups", "dies_in_barrier"]
            .iter()
            .for_each(|name| run_named(&setup, name));
    }
}
