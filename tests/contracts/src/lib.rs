//! Holds the tests of what the contracts' types refuse, which are in `refused.rs`.
