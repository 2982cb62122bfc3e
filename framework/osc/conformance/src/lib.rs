//! The suite every one-sided component must pass: checks that know the contract and a host behind a trait ([`host`]).
//!
//! **A check** is a function in a file of `checks/` that registers itself ([`check!`]); crates outside may register more.
//! It is run by all ranks of a job. `tests/harness` runs the suite over this repository's host.

mod check;
mod checks;
pub mod host;
pub mod rank;

pub use check::Check;
pub use linkme;
pub use rank::Rank;

/// Registers a check: `check!(name, ranks: [2, 4], |rank| { … });`. With `threads,` in front of the closure the instances have
/// level MPI_THREAD_MULTIPLE.
#[macro_export]
macro_rules! check {
    ($name:ident, ranks: $ranks:expr, $run:expr) => { $crate::check!(@make $name, $ranks, false, $run); };
    ($name:ident, ranks: $ranks:expr, threads, $run:expr) => { $crate::check!(@make $name, $ranks, true, $run); };
    (@make $name:ident, $ranks:expr, $threads:expr, $run:expr) => {
        const _: () = {
            #[$crate::linkme::distributed_slice($crate::OSC_CHECKS)]
            #[linkme(crate = $crate::linkme)]
            static CHECK: $crate::Check =
                $crate::Check { name: stringify!($name), ranks: &$ranks, threads: $threads, run: $run };
        };
    };
}

/// Every check; the linker fills it.
#[linkme::distributed_slice]
pub static OSC_CHECKS: [Check];

/// Every check, by name.
pub fn checks() -> Vec<&'static Check> {
    oxmpi_testing::checks::sorted(&*OSC_CHECKS, |check| check.name)
}

/// The checks that `OXMPI_CHECK` names; all if it is not set.
pub fn chosen() -> Vec<&'static Check> {
    oxmpi_testing::checks::chosen(&*OSC_CHECKS, |check| check.name)
}
