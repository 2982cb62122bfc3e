//! Resolves MCA parameters.
