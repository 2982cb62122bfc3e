//! Functions of later work: each says so by name. Made by `cargo xtask generate` from mpi/abi; do not edit.

use crate::types::*;
use core::ffi::c_int;

// Processes and connections made at run time (§11.8 to §11.10)
unsupported! {
    MPI_Close_port(port_name: usize) [none];
    MPI_Comm_accept(port_name: usize, info: usize, root: c_int, comm: Comm, newcomm: usize) [comm comm];
    MPI_Comm_connect(port_name: usize, info: usize, root: c_int, comm: Comm, newcomm: usize) [comm comm];
    MPI_Comm_join(fd: c_int, intercomm: usize) [none];
    MPI_Comm_spawn(command: usize, argv: usize, maxprocs: c_int, info: usize, root: c_int, comm: Comm, intercomm: usize, array_of_errcodes: usize) [comm comm];
    MPI_Comm_spawn_multiple(count: c_int, array_of_commands: usize, array_of_argv: usize, array_of_maxprocs: usize, array_of_info: usize, root: c_int, comm: Comm, intercomm: usize, array_of_errcodes: usize) [comm comm];
    MPI_Lookup_name(service_name: usize, info: usize, port_name: usize) [none];
    MPI_Open_port(info: usize, port_name: usize) [none];
    MPI_Publish_name(service_name: usize, info: usize, port_name: usize) [none];
    MPI_Unpublish_name(service_name: usize, info: usize, port_name: usize) [none];
}

// Files (§14)
unsupported! {
    MPI_File_close(fh: usize) [file];
    MPI_File_delete(filename: usize, info: usize) [file];
    MPI_File_get_amode(fh: File, amode: usize) [file];
    MPI_File_get_atomicity(fh: File, flag: usize) [file];
    MPI_File_get_byte_offset(fh: File, offset: Count, disp: usize) [file];
    MPI_File_get_group(fh: File, group: usize) [file];
    MPI_File_get_info(fh: File, info_used: usize) [file];
    MPI_File_get_position(fh: File, offset: usize) [file];
    MPI_File_get_position_shared(fh: File, offset: usize) [file];
    MPI_File_get_size(fh: File, size: usize) [file];
    MPI_File_get_type_extent(fh: File, datatype: usize, extent: usize) [file];
    MPI_File_get_type_extent_c(fh: File, datatype: usize, extent: usize) [file];
    MPI_File_get_view(fh: File, disp: usize, etype: usize, filetype: usize, datarep: usize) [file];
    MPI_File_iread(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iread_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_iread_all(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iread_all_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_iread_at(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iread_at_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_iread_at_all(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iread_at_all_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_iread_shared(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iread_shared_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_iwrite(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iwrite_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_iwrite_all(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iwrite_all_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_iwrite_at(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iwrite_at_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_iwrite_at_all(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iwrite_at_all_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_iwrite_shared(fh: File, buf: usize, count: c_int, datatype: usize, request: usize) [file];
    MPI_File_iwrite_shared_c(fh: File, buf: usize, count: Count, datatype: usize, request: usize) [file];
    MPI_File_open(comm: Comm, filename: usize, amode: c_int, info: usize, fh: usize) [file];
    MPI_File_preallocate(fh: File, size: Count) [file];
    MPI_File_read(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_read_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_read_all(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_read_all_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_read_all_begin(fh: File, buf: usize, count: c_int, datatype: usize) [file];
    MPI_File_read_all_begin_c(fh: File, buf: usize, count: Count, datatype: usize) [file];
    MPI_File_read_all_end(fh: File, buf: usize, status: usize) [file];
    MPI_File_read_at(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_read_at_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_read_at_all(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_read_at_all_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_read_at_all_begin(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize) [file];
    MPI_File_read_at_all_begin_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize) [file];
    MPI_File_read_at_all_end(fh: File, buf: usize, status: usize) [file];
    MPI_File_read_ordered(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_read_ordered_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_read_ordered_begin(fh: File, buf: usize, count: c_int, datatype: usize) [file];
    MPI_File_read_ordered_begin_c(fh: File, buf: usize, count: Count, datatype: usize) [file];
    MPI_File_read_ordered_end(fh: File, buf: usize, status: usize) [file];
    MPI_File_read_shared(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_read_shared_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_seek(fh: File, offset: Count, whence: c_int) [file];
    MPI_File_seek_shared(fh: File, offset: Count, whence: c_int) [file];
    MPI_File_set_atomicity(fh: File, flag: c_int) [file];
    MPI_File_set_info(fh: File, info: usize) [file];
    MPI_File_set_size(fh: File, size: Count) [file];
    MPI_File_set_view(fh: File, disp: Count, etype: usize, filetype: usize, datarep: usize, info: usize) [file];
    MPI_File_sync(fh: File) [file];
    MPI_File_write(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_write_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_write_all(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_write_all_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_write_all_begin(fh: File, buf: usize, count: c_int, datatype: usize) [file];
    MPI_File_write_all_begin_c(fh: File, buf: usize, count: Count, datatype: usize) [file];
    MPI_File_write_all_end(fh: File, buf: usize, status: usize) [file];
    MPI_File_write_at(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_write_at_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_write_at_all(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_write_at_all_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_write_at_all_begin(fh: File, offset: Count, buf: usize, count: c_int, datatype: usize) [file];
    MPI_File_write_at_all_begin_c(fh: File, offset: Count, buf: usize, count: Count, datatype: usize) [file];
    MPI_File_write_at_all_end(fh: File, buf: usize, status: usize) [file];
    MPI_File_write_ordered(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_write_ordered_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_File_write_ordered_begin(fh: File, buf: usize, count: c_int, datatype: usize) [file];
    MPI_File_write_ordered_begin_c(fh: File, buf: usize, count: Count, datatype: usize) [file];
    MPI_File_write_ordered_end(fh: File, buf: usize, status: usize) [file];
    MPI_File_write_shared(fh: File, buf: usize, count: c_int, datatype: usize, status: usize) [file];
    MPI_File_write_shared_c(fh: File, buf: usize, count: Count, datatype: usize, status: usize) [file];
    MPI_Register_datarep(datarep: usize, read_conversion_fn: usize, write_conversion_fn: usize, dtype_file_extent_fn: usize, extra_state: usize) [file];
    MPI_Register_datarep_c(datarep: usize, read_conversion_fn: usize, write_conversion_fn: usize, dtype_file_extent_fn: usize, extra_state: usize) [file];
}
