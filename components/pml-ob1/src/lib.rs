//! MPI point-to-point over byte transport layers.
