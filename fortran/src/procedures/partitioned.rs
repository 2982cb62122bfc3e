//! Messages filled in parts (§4).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Precv_init mpi_precv_init_ (buf: Choice as descriptor, partitions: Value<c_int>, count: Value<i64>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { partitions_into(buf, count, datatype, partitions); started_later(request); }
}
procedure! {
    MPI_Psend_init mpi_psend_init_ (buf: Choice as descriptor, partitions: Value<c_int>, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, info: handles::In<Info>, request: handles::Out<Request>) on comm(comm) { partitions_from(buf, count, datatype, partitions); started_later(request); }
}
