//! Messages filled in parts (§4).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Parrived mpi_parrived_ (request: handles::In<Pending>, partition: Value<c_int>, flag: logical::Out)
}
procedure! {
    MPI_Pready mpi_pready_ (partition: Value<c_int>, request: handles::In<Pending>)
}
procedure! {
    MPI_Pready_list mpi_pready_list_ (length: Value<c_int>, array_of_partitions: Place<c_int>, request: handles::In<Pending>)
}
procedure! {
    MPI_Pready_range mpi_pready_range_ (partition_low: Value<c_int>, partition_high: Value<c_int>, request: handles::In<Pending>)
}
procedure! {
    MPI_Precv_init mpi_precv_init_ (buf: Choice as descriptor, partitions: Value<c_int>, count: Value<i64>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { partitions(buf, count, datatype, partitions); started_later(request); }
}
procedure! {
    MPI_Psend_init mpi_psend_init_ (buf: Choice as descriptor, partitions: Value<c_int>, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { partitions(buf, count, datatype, partitions); started_later(request); }
}
