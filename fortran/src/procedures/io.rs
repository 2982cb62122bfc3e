//! Files (§14).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_File_call_errhandler mpi_file_call_errhandler_ (fh: handles::In<File>, errorcode: Value<c_int>)
}
procedure! {
    MPI_File_close mpi_file_close_ (fh: handles::InOut<File>)
}
procedure! {
    MPI_File_delete mpi_file_delete_ (filename: text::In[filename_len], info: handles::In<Info>) (filename_len)
}
procedure! {
    MPI_File_get_amode mpi_file_get_amode_ (fh: handles::In<File>, amode: Place<c_int>)
}
procedure! {
    MPI_File_get_atomicity mpi_file_get_atomicity_ (fh: handles::In<File>, flag: logical::Out)
}
procedure! {
    MPI_File_get_byte_offset mpi_file_get_byte_offset_ (fh: handles::In<File>, offset: Value<i64>, disp: Place<i64>)
}
procedure! {
    MPI_File_get_errhandler mpi_file_get_errhandler_ (file: handles::In<File>, errhandler: handles::Out<Errhandler>)
}
procedure! {
    MPI_File_get_group mpi_file_get_group_ (fh: handles::In<File>, group: handles::Out<Group>)
}
procedure! {
    MPI_File_get_info mpi_file_get_info_ (fh: handles::In<File>, info_used: handles::Out<Info>)
}
procedure! {
    MPI_File_get_position mpi_file_get_position_ (fh: handles::In<File>, offset: Place<i64>)
}
procedure! {
    MPI_File_get_position_shared mpi_file_get_position_shared_ (fh: handles::In<File>, offset: Place<i64>)
}
procedure! {
    MPI_File_get_size mpi_file_get_size_ (fh: handles::In<File>, size: Place<i64>)
}
procedure! {
    MPI_File_get_type_extent mpi_file_get_type_extent_ (fh: handles::In<File>, datatype: handles::In<Datatype>, extent: Place<isize>)
}
procedure! {
    MPI_File_get_type_extent_c mpi_file_get_type_extent_c_ (fh: handles::In<File>, datatype: handles::In<Datatype>, extent: Place<i64>)
}
procedure! {
    MPI_File_get_view mpi_file_get_view_ (fh: handles::In<File>, disp: Place<i64>, etype: handles::Out<Datatype>, filetype: handles::Out<Datatype>, datarep: text::Out<MPI_MAX_DATAREP_STRING>[datarep_len]) (datarep_len)
}
procedure! {
    MPI_File_iread mpi_file_iread_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iread_c mpi_file_iread_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iread_all mpi_file_iread_all_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iread_all_c mpi_file_iread_all_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iread_at mpi_file_iread_at_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iread_at_c mpi_file_iread_at_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iread_at_all mpi_file_iread_at_all_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iread_at_all_c mpi_file_iread_at_all_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iread_shared mpi_file_iread_shared_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iread_shared_c mpi_file_iread_shared_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite mpi_file_iwrite_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite_c mpi_file_iwrite_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite_all mpi_file_iwrite_all_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite_all_c mpi_file_iwrite_all_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite_at mpi_file_iwrite_at_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite_at_c mpi_file_iwrite_at_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite_at_all mpi_file_iwrite_at_all_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite_at_all_c mpi_file_iwrite_at_all_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite_shared mpi_file_iwrite_shared_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_iwrite_shared_c mpi_file_iwrite_shared_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, request: handles::Out<Request>) on file(fh) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_File_open mpi_file_open_ (comm: handles::In<Comm>, filename: text::In[filename_len], amode: Value<c_int>, info: handles::In<Info>, fh: handles::Out<File>) (filename_len)
}
procedure! {
    MPI_File_preallocate mpi_file_preallocate_ (fh: handles::In<File>, size: Value<i64>)
}
procedure! {
    MPI_File_read mpi_file_read_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_c mpi_file_read_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_all mpi_file_read_all_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_all_c mpi_file_read_all_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_all_begin mpi_file_read_all_begin_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_all_begin_c mpi_file_read_all_begin_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_all_end mpi_file_read_all_end_ (fh: handles::In<File>, buf: Choice as descriptor, status: Statuses) on file(fh) { }
}
procedure! {
    MPI_File_read_at mpi_file_read_at_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_at_c mpi_file_read_at_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_at_all mpi_file_read_at_all_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_at_all_c mpi_file_read_at_all_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_at_all_begin mpi_file_read_at_all_begin_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_at_all_begin_c mpi_file_read_at_all_begin_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_at_all_end mpi_file_read_at_all_end_ (fh: handles::In<File>, buf: Choice as descriptor, status: Statuses) on file(fh) { }
}
procedure! {
    MPI_File_read_ordered mpi_file_read_ordered_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_ordered_c mpi_file_read_ordered_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_ordered_begin mpi_file_read_ordered_begin_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_ordered_begin_c mpi_file_read_ordered_begin_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_ordered_end mpi_file_read_ordered_end_ (fh: handles::In<File>, buf: Choice as descriptor, status: Statuses) on file(fh) { }
}
procedure! {
    MPI_File_read_shared mpi_file_read_shared_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_read_shared_c mpi_file_read_shared_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_seek mpi_file_seek_ (fh: handles::In<File>, offset: Value<i64>, whence: Value<c_int>)
}
procedure! {
    MPI_File_seek_shared mpi_file_seek_shared_ (fh: handles::In<File>, offset: Value<i64>, whence: Value<c_int>)
}
procedure! {
    MPI_File_set_atomicity mpi_file_set_atomicity_ (fh: handles::In<File>, flag: logical::In)
}
procedure! {
    MPI_File_set_errhandler mpi_file_set_errhandler_ (file: handles::In<File>, errhandler: handles::In<Errhandler>)
}
procedure! {
    MPI_File_set_info mpi_file_set_info_ (fh: handles::In<File>, info: handles::In<Info>)
}
procedure! {
    MPI_File_set_size mpi_file_set_size_ (fh: handles::In<File>, size: Value<i64>)
}
procedure! {
    MPI_File_set_view mpi_file_set_view_ (fh: handles::In<File>, disp: Value<i64>, etype: handles::In<Datatype>, filetype: handles::In<Datatype>, datarep: text::In[datarep_len], info: handles::In<Info>) (datarep_len)
}
procedure! {
    MPI_File_sync mpi_file_sync_ (fh: handles::In<File>)
}
procedure! {
    MPI_File_write mpi_file_write_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_c mpi_file_write_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_all mpi_file_write_all_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_all_c mpi_file_write_all_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_all_begin mpi_file_write_all_begin_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_all_begin_c mpi_file_write_all_begin_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_all_end mpi_file_write_all_end_ (fh: handles::In<File>, buf: Choice as descriptor, status: Statuses) on file(fh) { }
}
procedure! {
    MPI_File_write_at mpi_file_write_at_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_at_c mpi_file_write_at_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_at_all mpi_file_write_at_all_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_at_all_c mpi_file_write_at_all_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_at_all_begin mpi_file_write_at_all_begin_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_at_all_begin_c mpi_file_write_at_all_begin_c_ (fh: handles::In<File>, offset: Value<i64>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_at_all_end mpi_file_write_at_all_end_ (fh: handles::In<File>, buf: Choice as descriptor, status: Statuses) on file(fh) { }
}
procedure! {
    MPI_File_write_ordered mpi_file_write_ordered_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_ordered_c mpi_file_write_ordered_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_ordered_begin mpi_file_write_ordered_begin_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_ordered_begin_c mpi_file_write_ordered_begin_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_ordered_end mpi_file_write_ordered_end_ (fh: handles::In<File>, buf: Choice as descriptor, status: Statuses) on file(fh) { }
}
procedure! {
    MPI_File_write_shared mpi_file_write_shared_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
procedure! {
    MPI_File_write_shared_c mpi_file_write_shared_c_ (fh: handles::In<File>, buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, status: Statuses) on file(fh) { data(buf, count, datatype); }
}
