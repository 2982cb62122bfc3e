//! The procedures that are the C function with converted arguments, by chapter.
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`, but for `prelude`.

mod abi;
mod attributes;
mod buffered;
mod collectives;
mod communicators;
mod datatypes;
mod dynamic;
mod environment;
mod errors;
mod extensions;
mod generalized_requests;
mod groups;
mod info;
mod io;
mod one_sided;
mod operations;
mod partitioned;
mod point_to_point;
mod prelude;
mod probe;
mod requests;
mod sessions;
mod status;
mod topology;
