//! Progress: which CRIs a thread polls.

pub mod cri_choice;
pub mod poll;
pub mod timing;
