//! Error handlers, classes and codes (§9.3 to §9.5).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Add_error_class mpi_add_error_class_ (errorclass: Place<c_int>)
}
procedure! {
    MPI_Add_error_code mpi_add_error_code_ (errorclass: Value<c_int>, errorcode: Place<c_int>)
}
procedure! {
    MPI_Add_error_string mpi_add_error_string_ (errorcode: Value<c_int>, string: text::In[string_len]) (string_len)
}
procedure! {
    MPI_Comm_call_errhandler mpi_comm_call_errhandler_ (comm: handles::In<Comm>, errorcode: Value<c_int>)
}
procedure! {
    MPI_Comm_get_errhandler mpi_comm_get_errhandler_ (comm: handles::In<Comm>, errhandler: handles::Out<Errhandler>)
}
procedure! {
    MPI_Comm_set_errhandler mpi_comm_set_errhandler_ (comm: handles::In<Comm>, errhandler: handles::In<Errhandler>)
}
procedure! {
    MPI_Errhandler_free mpi_errhandler_free_ (errhandler: handles::InOut<Errhandler>)
}
procedure! {
    MPI_Error_class mpi_error_class_ (errorcode: Value<c_int>, errorclass: Place<c_int>)
}
procedure! {
    MPI_Error_string mpi_error_string_ (errorcode: Value<c_int>, string: text::Out<MPI_MAX_ERROR_STRING>[string_len], resultlen: Place<c_int>) (string_len)
}
procedure! {
    MPI_Remove_error_class mpi_remove_error_class_ (errorclass: Value<c_int>)
}
procedure! {
    MPI_Remove_error_code mpi_remove_error_code_ (errorcode: Value<c_int>)
}
procedure! {
    MPI_Remove_error_string mpi_remove_error_string_ (errorcode: Value<c_int>)
}
procedure! {
    MPI_Session_call_errhandler mpi_session_call_errhandler_ (session: handles::In<Session>, errorcode: Value<c_int>)
}
procedure! {
    MPI_Session_get_errhandler mpi_session_get_errhandler_ (session: handles::In<Session>, errhandler: handles::Out<Errhandler>)
}
procedure! {
    MPI_Session_set_errhandler mpi_session_set_errhandler_ (session: handles::In<Session>, errhandler: handles::In<Errhandler>)
}
procedure! {
    MPI_Win_call_errhandler mpi_win_call_errhandler_ (win: handles::In<Win>, errorcode: Value<c_int>)
}
procedure! {
    MPI_Win_get_errhandler mpi_win_get_errhandler_ (win: handles::In<Win>, errhandler: handles::Out<Errhandler>)
}
procedure! {
    MPI_Win_set_errhandler mpi_win_set_errhandler_ (win: handles::In<Win>, errhandler: handles::In<Errhandler>)
}
