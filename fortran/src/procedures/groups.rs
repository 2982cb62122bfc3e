//! Ordered sets of processes (§7.3).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Group_compare mpi_group_compare_ (group1: handles::In<Group>, group2: handles::In<Group>, result: Place<c_int>)
}
procedure! {
    MPI_Group_difference mpi_group_difference_ (group1: handles::In<Group>, group2: handles::In<Group>, newgroup: handles::Out<Group>)
}
procedure! {
    MPI_Group_excl mpi_group_excl_ (group: handles::In<Group>, n: Value<c_int>, ranks: Place<c_int>, newgroup: handles::Out<Group>)
}
procedure! {
    MPI_Group_free mpi_group_free_ (group: handles::InOut<Group>)
}
procedure! {
    MPI_Group_from_session_pset mpi_group_from_session_pset_ (session: handles::In<Session>, pset_name: text::In[pset_name_len], newgroup: handles::Out<Group>) (pset_name_len)
}
procedure! {
    MPI_Group_incl mpi_group_incl_ (group: handles::In<Group>, n: Value<c_int>, ranks: Place<c_int>, newgroup: handles::Out<Group>)
}
procedure! {
    MPI_Group_intersection mpi_group_intersection_ (group1: handles::In<Group>, group2: handles::In<Group>, newgroup: handles::Out<Group>)
}
procedure! {
    MPI_Group_range_excl mpi_group_range_excl_ (group: handles::In<Group>, n: Value<c_int>, ranges: Place<c_int>, newgroup: handles::Out<Group>)
}
procedure! {
    MPI_Group_range_incl mpi_group_range_incl_ (group: handles::In<Group>, n: Value<c_int>, ranges: Place<c_int>, newgroup: handles::Out<Group>)
}
procedure! {
    MPI_Group_rank mpi_group_rank_ (group: handles::In<Group>, rank: Place<c_int>)
}
procedure! {
    MPI_Group_size mpi_group_size_ (group: handles::In<Group>, size: Place<c_int>)
}
procedure! {
    MPI_Group_translate_ranks mpi_group_translate_ranks_ (group1: handles::In<Group>, n: Value<c_int>, ranks1: Place<c_int>, group2: handles::In<Group>, ranks2: Place<c_int>)
}
procedure! {
    MPI_Group_union mpi_group_union_ (group1: handles::In<Group>, group2: handles::In<Group>, newgroup: handles::Out<Group>)
}
