//! The checks, one file for what they look at. A check fails by panicking with a sentence.

mod cancel;
mod concurrency;
mod direct;
mod errors;
mod forks;
mod limits;
mod lists;
