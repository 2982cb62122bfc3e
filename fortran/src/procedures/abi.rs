//! Questions about this binary interface (§20).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Abi_get_fortran_info mpi_abi_get_fortran_info_ (info: handles::Out<Info>)
}
procedure! {
    MPI_Abi_get_info mpi_abi_get_info_ (info: handles::Out<Info>)
}
procedure! {
    MPI_Abi_get_version mpi_abi_get_version_ (abi_major: Place<c_int>, abi_minor: Place<c_int>)
}
