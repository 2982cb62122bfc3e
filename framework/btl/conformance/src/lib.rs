//! The suite every BTL must pass.
