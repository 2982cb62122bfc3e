//! The checks, by what they are about. A file registers its own.

mod fence;
