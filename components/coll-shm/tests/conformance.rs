//! The suite every collective component must pass, over coll-shm: as it is by default, with all operations, with small cells, without reading peers' memory, with reading
//! it wherever that is possible, and with ranks in groups.

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
        .variant(&[("operations", "all"), ("group_size", "3")])
);
