//! The checks, one file for what they look at. A check fails by panicking with a sentence.

mod facts;
mod length;
mod locks;
mod names;
mod opening;
