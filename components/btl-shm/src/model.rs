//! Models under loom.
