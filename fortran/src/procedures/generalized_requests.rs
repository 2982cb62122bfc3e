//! Requests that the user completes (§13.2).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Grequest_complete mpi_grequest_complete_ (request: handles::In<Pending>)
}
