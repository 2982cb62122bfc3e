//! Starting without a world (§11.3).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Session_init mpi_session_init_ (info: handles::In, errhandler: handles::In, session: handles::Out)
}
procedure! {
    MPI_Session_finalize mpi_session_finalize_ (session: handles::Out)
}
procedure! {
    MPI_Session_get_info mpi_session_get_info_ (session: handles::In, info_used: handles::Out)
}
procedure! {
    MPI_Session_get_num_psets mpi_session_get_num_psets_ (session: handles::In, info: handles::In, npset_names: Place<c_int>)
}
procedure! {
    MPI_Session_get_pset_info mpi_session_get_pset_info_ (session: handles::In, pset_name: text::In[pset_name_len], info: handles::Out) (pset_name_len)
}
