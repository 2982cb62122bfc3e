//! The suite every one-sided component must pass: checks that know the contract and a host behind a trait ([`host`]).
//!
//! **A check** is a function in a file of `checks/` that registers itself ([`check!`]); crates outside may register more.
//! It is run by all ranks of a job. `tests/harness` runs the suite over this repository's host.

mod check;
mod checks;
pub mod host;
pub mod rank;

pub use check::Check;
pub use inventory;
pub use rank::Rank;

/// Registers a check: `check!(name, ranks: [2, 4], |rank| { … });`. With `threads,` in front of the closure the instances have
/// level MPI_THREAD_MULTIPLE.
#[macro_export]
macro_rules! check {
    ($name:ident, ranks: $ranks:expr, $run:expr) => { $crate::check!(@make $name, $ranks, false, $run); };
    ($name:ident, ranks: $ranks:expr, threads, $run:expr) => { $crate::check!(@make $name, $ranks, true, $run); };
    (@make $name:ident, $ranks:expr, $threads:expr, $run:expr) => {
        $crate::inventory::submit! {
            $crate::Check { name: stringify!($name), ranks: &$ranks, threads: $threads, run: $run }
        }
    };
}

/// Every check, by name.
pub fn checks() -> Vec<&'static Check> {
    oxmpi_testing::checks::sorted(inventory::iter::<Check>, |check| check.name)
}

/// The checks that `OXMPI_CHECK` names; all if it is not set.
pub fn chosen() -> Vec<&'static Check> {
    oxmpi_testing::checks::chosen(inventory::iter::<Check>, |check| check.name)
}
