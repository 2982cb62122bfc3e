//! Progress: which CRIs a thread polls, and the turn of one CRI.

pub mod cri_choice;
pub mod poll;
pub mod turn;
