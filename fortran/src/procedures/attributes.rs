//! Values cached on communicators and datatypes (§7.7).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Attr_delete mpi_attr_delete_ (comm: handles::In<Comm>, keyval: Value<c_int>)
}
procedure! {
    MPI_Comm_delete_attr mpi_comm_delete_attr_ (comm: handles::In<Comm>, comm_keyval: Value<c_int>)
}
procedure! {
    MPI_Comm_free_keyval mpi_comm_free_keyval_ (comm_keyval: Place<c_int>)
}
procedure! {
    MPI_Keyval_free mpi_keyval_free_ (keyval: Place<c_int>)
}
procedure! {
    MPI_Type_delete_attr mpi_type_delete_attr_ (datatype: handles::In<Datatype>, type_keyval: Value<c_int>)
}
procedure! {
    MPI_Type_free_keyval mpi_type_free_keyval_ (type_keyval: Place<c_int>)
}
