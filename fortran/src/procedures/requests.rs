//! Completion of operations (§3.7 to §3.9).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Wait mpi_wait_ (request: handles::InOut<Pending>, status: Statuses)
}
procedure! {
    MPI_Test mpi_test_ (request: handles::InOut<Pending>, flag: logical::Out, status: Statuses)
}
procedure! {
    MPI_Waitall mpi_waitall_ (count: Value<c_int>, array_of_requests: handles::Array<Pending>[len(count)], array_of_statuses: Statuses)
}
procedure! {
    MPI_Testall mpi_testall_ (count: Value<c_int>, array_of_requests: handles::Array<Pending>[len(count)], flag: logical::Out, array_of_statuses: Statuses)
}
procedure! {
    MPI_Waitany mpi_waitany_ (count: Value<c_int>, array_of_requests: handles::Array<Pending>[len(count)], index: index::Out, status: Statuses)
}
procedure! {
    MPI_Testany mpi_testany_ (count: Value<c_int>, array_of_requests: handles::Array<Pending>[len(count)], index: index::Out, flag: logical::Out, status: Statuses)
}
procedure! {
    MPI_Cancel mpi_cancel_ (request: handles::InOut<Pending>)
}
procedure! {
    MPI_Request_free mpi_request_free_ (request: handles::InOut<Pending>)
}
procedure! {
    MPI_Request_get_status mpi_request_get_status_ (request: handles::In<Pending>, flag: logical::Out, status: Statuses)
}
procedure! {
    MPI_Request_get_status_all mpi_request_get_status_all_ (count: Value<c_int>, array_of_requests: handles::Array<Pending>[len(count)], flag: logical::Out, array_of_statuses: Statuses)
}
procedure! {
    MPI_Request_get_status_any mpi_request_get_status_any_ (count: Value<c_int>, array_of_requests: handles::Array<Pending>[len(count)], index: index::Out, flag: logical::Out, status: Statuses)
}
procedure! {
    MPI_Start mpi_start_ (request: started::One)
}
procedure! {
    MPI_Startall mpi_startall_ (count: Value<c_int>, array_of_requests: started::Several[len(count)])
}
