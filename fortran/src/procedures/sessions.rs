//! Starting without a world (§11.3).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Session_finalize mpi_session_finalize_ (session: handles::InOut<Session>)
}
procedure! {
    MPI_Session_get_info mpi_session_get_info_ (session: handles::In<Session>, info_used: handles::Out<Info>)
}
procedure! {
    MPI_Session_get_num_psets mpi_session_get_num_psets_ (session: handles::In<Session>, info: handles::In<Info>, npset_names: Place<c_int>)
}
procedure! {
    MPI_Session_get_pset_info mpi_session_get_pset_info_ (session: handles::In<Session>, pset_name: text::In[pset_name_len], info: handles::Out<Info>) (pset_name_len)
}
