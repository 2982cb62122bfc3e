//! mpirun, the node daemon and the compiler wrappers.
