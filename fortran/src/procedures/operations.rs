//! Reduction operations (§6.9).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Op_commutative mpi_op_commutative_ (op: handles::In<Op>, commute: logical::Out)
}
procedure! {
    MPI_Op_free mpi_op_free_ (op: handles::InOut<Op>)
}
procedure! {
    MPI_Reduce_local mpi_reduce_local_ (inbuf: Choice as descriptor, inoutbuf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, op: handles::In<Op>) on none() { reduced_from(inbuf, datatype; elements(count)); reduced_into(inoutbuf, datatype; elements(count)); }
}
procedure! {
    MPI_Reduce_local_c mpi_reduce_local_c_ (inbuf: Choice as descriptor, inoutbuf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, op: handles::In<Op>) on none() { reduced_from(inbuf, datatype; elements(count)); reduced_into(inoutbuf, datatype; elements(count)); }
}
