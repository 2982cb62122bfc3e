//! Whole jobs: C programs compiled by the installed `mpicc`, started by the installed `mpirun`.
//!
//! `messages` · `algorithms` (counters of collectives) · `arguments` (each function with one argument wrong) · `assignments` (resource instances and threads) · `matching` (every engine) · `communicators` ·
//! `nonblocking_collectives` (collectives) · `tools` (PMPI, the wrappers, a moved install) ·
//! `tool_interface` (MPI_T) ·
//! `endings` (exit statuses, killed jobs, nothing left) · `crashes` (stacks) · `crowd` (many ranks) · `debugger`
//! (MPIR) · `topologies` (grids, graphs, neighborhood collectives) · `mistakes` (what a user hears) · `objects` (sessions, what is not freed) · `output` (live and complete) · `packages` · `parameters`.
//!
//! And: `extensions` (mpi-ext.h) · `fabric` (a loaded transport with registered memory) · `files`, `files_faults`, `files_fuse` (over the file systems of `tests/fuse`) · `first_hour` (help, pages, refusals) · `fortran` (programs by mpif.h and by modules) · `idle` (ranks that
//! sleep) · `info` (mpi-info, parameters from files) · `authors` (components from outside) ·
//! `launches` (limits of the system, other launchers, programs of another MPI) ·
//! `logins` (a fixed list over `machines` made of namespaces) · `nodes` (several nodes on this machine) · `ofi`, `ofi_faults`, `ofi_machines`, `ofi_rails` (libfabric, one that makes faults, machines, several of its domains) · `one_sided` (conjugate gradients and patches) ·
//! `names` (at a server) · `ports` (jobs that meet) · `spawn` (jobs that processes ask for) ·
//! `shm_collectives` (collectives of one node) · `han_collectives` (collectives of several) · `rails` (a network that fails) · `places` (hosts, several programs) · `reproductions` (the bench driver) · `solo` (one thread at MPI_THREAD_MULTIPLE,
//! and a second one) · `rdma` (windows that osc-rdma serves) · `soak` (the report of the soak tests, and their verdicts) · `tcp` (networks) ·
//! `ugni` (Gemini and Aries, on their library in software) · `unreachable` (calls that need a process which no transport reaches) ·
//! `tuned_collectives` (coll-tuned) · `values` (of parameters, in force) · `verbs` (RDMA, on a device in software) · `verbs_kernels` (global arrays and a stencil on it) ·
//! `verbs_rates` (messages of threads on it, by the bench driver) ·
//! `waiting` (threads among others) ·
//! `window_extensions` (one-sided communication beyond the standard, hints) ·
//! `windows` (one-sided communication).

mod algorithms;
mod arguments;
mod assignments;
mod authors;
mod communicators;
mod crashes;
mod crowd;
mod debugger;
mod endings;
mod endpoints;
mod extensions;
mod fabric;
mod files;
mod files_faults;
mod files_fuse;
mod first_hour;
mod fortran;
mod fortran_programs;
mod han_collectives;
mod idle;
mod info;
mod launches;
mod logins;
mod machines;
mod matching;
mod messages;
mod mistakes;
mod names;
mod networks;
mod nodes;
mod nonblocking_collectives;
mod objects;
mod ofi;
mod ofi_faults;
mod ofi_machines;
mod ofi_rails;
mod one_sided;
mod output;
mod packages;
mod parameters;
mod places;
mod ports;
mod rails;
mod rdma;
mod reproductions;
mod shm_collectives;
mod soak;
mod solo;
mod spawn;
mod spawn_ends;
mod tcp;
mod tool_interface;
mod tools;
mod topologies;
mod tuned_collectives;
mod ugni;
mod unreachable;
mod values;
mod verbs;
mod verbs_kernels;
mod verbs_rates;
mod waiting;
mod window_extensions;
mod windows;
