//! Groups of communicating processes (§7.4, §7.6, §7.8).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Comm_compare mpi_comm_compare_ (comm1: handles::In<Comm>, comm2: handles::In<Comm>, result: Place<c_int>)
}
procedure! {
    MPI_Comm_create mpi_comm_create_ (comm: handles::In<Comm>, group: handles::In<Group>, newcomm: handles::Out<Comm>)
}
procedure! {
    MPI_Comm_create_from_group mpi_comm_create_from_group_ (group: handles::In<Group>, stringtag: text::In[stringtag_len], info: handles::In<Info>, errhandler: handles::In<Errhandler>, newcomm: handles::Out<Comm>) (stringtag_len)
}
procedure! {
    MPI_Comm_create_group mpi_comm_create_group_ (comm: handles::In<Comm>, group: handles::In<Group>, tag: Value<c_int>, newcomm: handles::Out<Comm>)
}
procedure! {
    MPI_Comm_dup mpi_comm_dup_ (comm: handles::In<Comm>, newcomm: handles::Out<Comm>)
}
procedure! {
    MPI_Comm_dup_with_info mpi_comm_dup_with_info_ (comm: handles::In<Comm>, info: handles::In<Info>, newcomm: handles::Out<Comm>)
}
procedure! {
    MPI_Comm_free mpi_comm_free_ (comm: handles::InOut<Comm>)
}
procedure! {
    MPI_Comm_get_info mpi_comm_get_info_ (comm: handles::In<Comm>, info_used: handles::Out<Info>)
}
procedure! {
    MPI_Comm_get_name mpi_comm_get_name_ (comm: handles::In<Comm>, comm_name: text::Out<MPI_MAX_OBJECT_NAME>[comm_name_len], resultlen: Place<c_int>) (comm_name_len)
}
procedure! {
    MPI_Comm_group mpi_comm_group_ (comm: handles::In<Comm>, group: handles::Out<Group>)
}
procedure! {
    MPI_Comm_idup mpi_comm_idup_ (comm: handles::In<Comm>, newcomm: handles::Out<Comm>, request: handles::Out<Request>)
}
procedure! {
    MPI_Comm_idup_with_info mpi_comm_idup_with_info_ (comm: handles::In<Comm>, info: handles::In<Info>, newcomm: handles::Out<Comm>, request: handles::Out<Request>)
}
procedure! {
    MPI_Comm_rank mpi_comm_rank_ (comm: handles::In<Comm>, rank: Place<c_int>)
}
procedure! {
    MPI_Comm_remote_group mpi_comm_remote_group_ (comm: handles::In<Comm>, group: handles::Out<Group>)
}
procedure! {
    MPI_Comm_remote_size mpi_comm_remote_size_ (comm: handles::In<Comm>, size: Place<c_int>)
}
procedure! {
    MPI_Comm_set_info mpi_comm_set_info_ (comm: handles::In<Comm>, info: handles::In<Info>)
}
procedure! {
    MPI_Comm_set_name mpi_comm_set_name_ (comm: handles::In<Comm>, comm_name: text::In[comm_name_len]) (comm_name_len)
}
procedure! {
    MPI_Comm_size mpi_comm_size_ (comm: handles::In<Comm>, size: Place<c_int>)
}
procedure! {
    MPI_Comm_split mpi_comm_split_ (comm: handles::In<Comm>, color: Value<c_int>, key: Value<c_int>, newcomm: handles::Out<Comm>)
}
procedure! {
    MPI_Comm_split_type mpi_comm_split_type_ (comm: handles::In<Comm>, split_type: Value<c_int>, key: Value<c_int>, info: handles::In<Info>, newcomm: handles::Out<Comm>)
}
procedure! {
    MPI_Comm_test_inter mpi_comm_test_inter_ (comm: handles::In<Comm>, flag: logical::Out)
}
procedure! {
    MPI_Intercomm_create mpi_intercomm_create_ (local_comm: handles::In<Comm>, local_leader: Value<c_int>, peer_comm: handles::In<Comm>, remote_leader: Value<c_int>, tag: Value<c_int>, newintercomm: handles::Out<Comm>)
}
procedure! {
    MPI_Intercomm_create_from_groups mpi_intercomm_create_from_groups_ (local_group: handles::In<Group>, local_leader: Value<c_int>, remote_group: handles::In<Group>, remote_leader: Value<c_int>, stringtag: text::In[stringtag_len], info: handles::In<Info>, errhandler: handles::In<Errhandler>, newintercomm: handles::Out<Comm>) (stringtag_len)
}
procedure! {
    MPI_Intercomm_merge mpi_intercomm_merge_ (intercomm: handles::In<Comm>, high: logical::In, newintracomm: handles::Out<Comm>)
}
