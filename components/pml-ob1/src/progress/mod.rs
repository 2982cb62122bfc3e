//! Progress: which CRIs a thread polls.

pub mod others;
pub mod poll;
pub mod timing;
