//! The checks, by what they look at. Each file enters its checks into the list (`check!`); each check opens its own job, and fails by
//! panicking with a sentence.

mod atomic_sums;
mod atomics;
mod contexts_one_sided;
mod declared;
mod flush;
mod full_set;
mod gathering;
mod jobs;
mod keeping;
mod life;
mod limits;
mod lists;
mod many_outstanding;
mod messages;
mod one_sided;
mod partial_delivery;
mod parting;
mod placing;
mod pressure;
mod reentry;
mod registration;
mod revoked;
mod rights;
mod service;
mod sleep;
mod target_idle;
mod threads;
mod woken_by_completion;
