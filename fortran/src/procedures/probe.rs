//! Looking before receiving (§3.8).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Improbe mpi_improbe_ (source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, flag: logical::Out, message: handles::Out<Message>, status: Statuses)
}
procedure! {
    MPI_Imrecv mpi_imrecv_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, message: handles::InOut<Message>, request: handles::Out<Request>) on none() { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Imrecv_c mpi_imrecv_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, message: handles::InOut<Message>, request: handles::Out<Request>) on none() { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Iprobe mpi_iprobe_ (source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, flag: logical::Out, status: Statuses)
}
procedure! {
    MPI_Mprobe mpi_mprobe_ (source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, message: handles::Out<Message>, status: Statuses)
}
procedure! {
    MPI_Mrecv mpi_mrecv_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, message: handles::InOut<Message>, status: Statuses) on none() { data(buf, count, datatype); }
}
procedure! {
    MPI_Mrecv_c mpi_mrecv_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, message: handles::InOut<Message>, status: Statuses) on none() { data(buf, count, datatype); }
}
procedure! {
    MPI_Probe mpi_probe_ (source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, status: Statuses)
}
