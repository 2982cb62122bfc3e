//! Results of finished operations (§3.2.5, §13.3).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Get_count mpi_get_count_ (status: Statuses, datatype: handles::In<Datatype>, count: Place<c_int>)
}
procedure! {
    MPI_Get_count_c mpi_get_count_c_ (status: Statuses, datatype: handles::In<Datatype>, count: Place<i64>)
}
procedure! {
    MPI_Get_elements mpi_get_elements_ (status: Statuses, datatype: handles::In<Datatype>, count: Place<c_int>)
}
procedure! {
    MPI_Get_elements_c mpi_get_elements_c_ (status: Statuses, datatype: handles::In<Datatype>, count: Place<i64>)
}
procedure! {
    MPI_Get_elements_x mpi_get_elements_x_ (status: Statuses, datatype: handles::In<Datatype>, count: Place<i64>)
}
procedure! {
    MPI_Status_get_error mpi_status_get_error_ (status: Statuses, err: Place<c_int>)
}
procedure! {
    MPI_Status_get_source mpi_status_get_source_ (status: Statuses, source: Place<c_int>)
}
procedure! {
    MPI_Status_get_tag mpi_status_get_tag_ (status: Statuses, tag: Place<c_int>)
}
procedure! {
    MPI_Status_set_cancelled mpi_status_set_cancelled_ (status: Statuses, flag: logical::In)
}
procedure! {
    MPI_Status_set_elements mpi_status_set_elements_ (status: Statuses, datatype: handles::In<Datatype>, count: Value<c_int>)
}
procedure! {
    MPI_Status_set_elements_c mpi_status_set_elements_c_ (status: Statuses, datatype: handles::In<Datatype>, count: Value<i64>)
}
procedure! {
    MPI_Status_set_elements_x mpi_status_set_elements_x_ (status: Statuses, datatype: handles::In<Datatype>, count: Value<i64>)
}
procedure! {
    MPI_Status_set_error mpi_status_set_error_ (status: Statuses, err: Value<c_int>)
}
procedure! {
    MPI_Status_set_source mpi_status_set_source_ (status: Statuses, source: Value<c_int>)
}
procedure! {
    MPI_Status_set_tag mpi_status_set_tag_ (status: Statuses, tag: Value<c_int>)
}
procedure! {
    MPI_Test_cancelled mpi_test_cancelled_ (status: Statuses, flag: logical::Out)
}
