//! Progress: which CRIs a thread polls, and the turn of one CRI.

pub mod arrivals;
pub mod cri_choice;
pub mod expect;
pub mod poll;
pub mod timing;
pub mod turn;
