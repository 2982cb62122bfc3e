//! Hints as key and value (§10).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Info_create mpi_info_create_ (info: handles::Out<Info>)
}
procedure! {
    MPI_Info_delete mpi_info_delete_ (info: handles::In<Info>, key: text::Trimmed[key_len]) (key_len)
}
procedure! {
    MPI_Info_dup mpi_info_dup_ (info: handles::In<Info>, newinfo: handles::Out<Info>)
}
procedure! {
    MPI_Info_free mpi_info_free_ (info: handles::InOut<Info>)
}
procedure! {
    MPI_Info_get_nkeys mpi_info_get_nkeys_ (info: handles::In<Info>, nkeys: Place<c_int>)
}
procedure! {
    MPI_Info_get_nthkey mpi_info_get_nthkey_ (info: handles::In<Info>, n: Value<c_int>, key: text::Out<MPI_MAX_INFO_KEY>[key_len]) (key_len)
}
procedure! {
    MPI_Info_get_valuelen mpi_info_get_valuelen_ (info: handles::In<Info>, key: text::Trimmed[key_len], valuelen: Place<c_int>, flag: logical::Out) (key_len)
}
procedure! {
    MPI_Info_set mpi_info_set_ (info: handles::In<Info>, key: text::Trimmed[key_len], value: text::Trimmed[value_len]) (key_len, value_len)
}
