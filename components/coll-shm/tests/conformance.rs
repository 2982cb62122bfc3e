//! The suite every collective component must pass, over coll-shm: as it is by default, with all operations, with small cells, without reading peers' memory, and with reading
//! it wherever that is possible.

use oxmpi_coll_conformance::{Setup, suite};

fn setup() -> Setup {
    Setup::new(coll_shm::descriptor()).parts(coll_basic::descriptor())
}

suite!(
    setup()
        .variant(&[("operations", "all")])
        .variant(&[("operations", "all"), ("memory", "72k"), ("split_min", "64")])
        .variant(&[("operations", "all"), ("single_copy", "false")])
        .variant(&[("operations", "all"), ("single_copy_min", "0"), ("stream_max", "0")])
);
