//! The suite every collective component must pass, over coll-shm: with its own sizes, with small cells, without reading peers' memory, and with reading
//! it wherever that is possible.

use oxmpi_coll_conformance::{Setup, suite};

fn setup() -> Setup {
    Setup::new(coll_shm::descriptor()).parts(coll_basic::descriptor())
}

suite!(
    setup()
        .variant(&[("memory", "44k"), ("split_min", "64")])
        .variant(&[("single_copy", "false")])
        .variant(&[("single_copy_min", "0"), ("stream_max", "0")])
);
