//! The suite every collective component must pass, over coll-han: with ranks on nodes in several ways, with whole data and with short
//! segments.

use oxmpi_coll_conformance::{Nodes, Setup, run_all};

const NODES: &[Nodes] = &[Nodes::InTurn(2), Nodes::Blocks(2), Nodes::Growing, Nodes::Mixed];

fn setup() -> Setup {
    Setup::new(coll_han::descriptor()).nodes(NODES).ranks(9).variant(&[
        ("bcast_segsize", "24"),
        ("reduce_segsize", "24"),
        ("allreduce_segsize", "24"),
    ])
}

#[test]
fn conformance() {
    run_all(&setup().parts(coll_basic::descriptor()));
}
