//! Process topologies and neighborhood collectives: the same programs run on any MPI (`MPI_UNDER_TEST`).

use oxmpi_tests::{Job, mpi};

#[test]
fn grids_and_graphs() {
    // Which classes mistakes get, and what a short array gets, differs between libraries.
    let classes = if mpi().is_ours() { "strict" } else { "-" };
    for ranks in [1, 4, 6] {
        Job::new(ranks).program("topologies").arg(classes).limit(300).run().all_ok(ranks);
    }
}

#[test]
fn what_neighbors_exchange() {
    for ranks in [1, 2, 4, 6] {
        Job::new(ranks).program("neighbors").limit(300).run().all_ok(ranks);
    }
}
