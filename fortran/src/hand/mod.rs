//! Procedures that are more than the C function with converted arguments.
//!
//! | file | procedures |
//! |---|---|
//! | `start` | MPI_Init, MPI_Init_thread, MPI_Session_init, MPI_Pcontrol, what is told of the compiler |
//! | `functions` | those with a result: MPI_Wtime, MPI_Wtick, MPI_Aint_add, MPI_Aint_diff; MPI_F_sync_reg |
//! | `conversions` | those of handles and statuses for C |
//! | `callbacks` | reductions and error handlers of the program's |
//! | `attributes` | keyvals with their callbacks, attributes |
//! | `partitioned` | partitions that are ready, or have arrived |
//! | `predefined` | the copy and delete functions that the standard names |
//! | `removed` | those that MPI 3.0 removed |
//! | `requests` | MPI_Waitsome and its like, generalized requests |
//! | `info` | texts whose length an argument says |
//! | `spawn` | commands and their arguments |
//! | `datareps` | data representations of the program's |
//! | `sync` | sync objects of `mpi-ext.h` |
//! | `topology` | MPI_Cart_sub, and how many neighbours a process has |

pub mod attributes;
pub mod callbacks;
pub mod conversions;
pub mod datareps;
pub mod functions;
pub mod info;
pub mod partitioned;
pub mod predefined;
pub mod removed;
pub mod requests;
pub mod spawn;
pub mod start;
pub mod sync;
pub mod topology;
