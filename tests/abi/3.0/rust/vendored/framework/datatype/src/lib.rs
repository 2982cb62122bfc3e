//! Layout of user data as plain data, and the pure functions that walk it.
//!
//! A [`TypeDesc`] describes one element of an MPI datatype (MPI 5.0 §5.1): how many bytes it packs
//! to, its bounds, and its data as normalised [`Run`]s. Components get descriptors by pointer and
//! link this crate for `pack`, `unpack` and the reduction kernels. **No static, no thread.**

pub mod array;
mod atom;
mod basic;
mod blocks;
pub mod build;
mod desc;
pub mod external;
pub mod kernel;
mod layout;
mod signature;
mod walk;

pub use basic::Basic;
pub use desc::{Base, Nest, Run, TypeDesc, TypeRef, flag};
pub use signature::Signature;
pub use walk::{blocks, copy, pack, unpack};
