//! Start, end, clocks, names, memory (MPI 5.0 §9, §11.2).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Finalize mpi_finalize_ ()
}
procedure! {
    MPI_Initialized mpi_initialized_ (flag: logical::Out)
}
procedure! {
    MPI_Finalized mpi_finalized_ (flag: logical::Out)
}
procedure! {
    MPI_Query_thread mpi_query_thread_ (provided: Place<c_int>)
}
procedure! {
    MPI_Is_thread_main mpi_is_thread_main_ (flag: logical::Out)
}
procedure! {
    MPI_Abort mpi_abort_ (comm: handles::In<Comm>, errorcode: Value<c_int>)
}
procedure! {
    MPI_Alloc_mem mpi_alloc_mem_ (size: Value<isize>, info: handles::In<Info>, baseptr: Place<c_void>)
}
procedure! {
    MPI_Alloc_mem mpi_alloc_mem_cptr_ (size: Value<isize>, info: handles::In<Info>, baseptr: Place<c_void>)
}
procedure! {
    MPI_Free_mem mpi_free_mem_ (base: Choice as descriptor) on none() { }
}
procedure! {
    MPI_Get_hw_resource_info mpi_get_hw_resource_info_ (hw_info: handles::Out<Info>)
}
procedure! {
    MPI_Get_library_version mpi_get_library_version_ (version: text::Out<MPI_MAX_LIBRARY_VERSION_STRING>[version_len], resultlen: Place<c_int>) (version_len)
}
procedure! {
    MPI_Get_processor_name mpi_get_processor_name_ (name: text::Out<MPI_MAX_PROCESSOR_NAME>[name_len], resultlen: Place<c_int>) (name_len)
}
procedure! {
    MPI_Get_version mpi_get_version_ (version: Place<c_int>, subversion: Place<c_int>)
}
