//! The checks, one file each. Each opens no job of its own, and fails by panicking with a sentence.

mod cancel;
mod communicators;
mod counts;
mod declared;
mod endpoints;
mod failure;
mod failures_told;
mod flood;
mod modes;
mod oneself;
mod order;
mod parting;
mod persistent;
mod probes;
mod release;
mod revoke;
mod sleeping;
mod threads;
mod truncation;
mod typed;
mod wildcards;
