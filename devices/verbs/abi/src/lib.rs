//! Layouts and numbers of libibverbs and libmlx5. README.md says which file has what.

pub mod attributes;
pub mod mlx5;
pub mod numbers;
pub mod objects;

pub use attributes::*;
pub use objects::*;
