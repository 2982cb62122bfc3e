//! The BTL to copy from.
