//! Progress: this component's part in turns of progress.

pub mod hook;
pub mod turn;
