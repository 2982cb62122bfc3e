//! Processes and connections made at run time (§11.8 to §11.10).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Close_port mpi_close_port_ (port_name: text::In[port_name_len]) (port_name_len)
}
procedure! {
    MPI_Comm_accept mpi_comm_accept_ (port_name: text::In[port_name_len], info: handles::In<Info>, root: Value<c_int>, comm: handles::In<Comm>, newcomm: handles::Out<Comm>) (port_name_len)
}
procedure! {
    MPI_Comm_connect mpi_comm_connect_ (port_name: text::In[port_name_len], info: handles::In<Info>, root: Value<c_int>, comm: handles::In<Comm>, newcomm: handles::Out<Comm>) (port_name_len)
}
procedure! {
    MPI_Comm_disconnect mpi_comm_disconnect_ (comm: handles::InOut<Comm>)
}
procedure! {
    MPI_Comm_get_parent mpi_comm_get_parent_ (parent: handles::Out<Comm>)
}
procedure! {
    MPI_Comm_join mpi_comm_join_ (fd: Value<c_int>, intercomm: handles::Out<Comm>)
}
procedure! {
    MPI_Lookup_name mpi_lookup_name_ (service_name: text::In[service_name_len], info: handles::In<Info>, port_name: text::Out<MPI_MAX_PORT_NAME>[port_name_len]) (service_name_len, port_name_len)
}
procedure! {
    MPI_Open_port mpi_open_port_ (info: handles::In<Info>, port_name: text::Out<MPI_MAX_PORT_NAME>[port_name_len]) (port_name_len)
}
procedure! {
    MPI_Publish_name mpi_publish_name_ (service_name: text::In[service_name_len], info: handles::In<Info>, port_name: text::In[port_name_len]) (service_name_len, port_name_len)
}
procedure! {
    MPI_Unpublish_name mpi_unpublish_name_ (service_name: text::In[service_name_len], info: handles::In<Info>, port_name: text::In[port_name_len]) (service_name_len, port_name_len)
}
