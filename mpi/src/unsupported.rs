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
