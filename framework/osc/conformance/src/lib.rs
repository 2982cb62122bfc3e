//! The suite every one-sided component must pass, and the job it runs in.
//!
//! A component needs a whole library under it: messages, collectives, transports, progress. So the suite starts real instances
//! of the runtime, one for each rank, *in one process*, with the components of this repository linked in and the one under
//! test beside them. No launcher, no installation, no MPI program is needed. It drives windows through the host's
//! [`oxmpi_runtime::Window`], so it runs on linked-in and on loaded components alike, in whatever language.
//!
//! In a component's `tests/conformance.rs`:
//!
//! ```ignore
//! use oxmpi_osc_conformance::{Setup, suite};
//! suite!(Setup::new(osc_mine::descriptor()));
//! ```
//!
//! [`run_all`] does the same for a component that was loaded. The environment variable `OXMPI_CHECK` names one check to run
//! alone.
//!
//! **A check** is a function in a file of `checks/` that registers itself ([`check!`]); crates outside may register more.
//! It is run by all ranks of a job. A rank that panics, or a job that takes longer than the setup's patience, ends the
//! process with the check's name: the others would wait for ever.

mod check;
mod checks;
mod job;
pub mod rank;
mod setup;

pub use check::Check;
pub use inventory;
pub use rank::Rank;
pub use setup::Setup;

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

/// Makes a `#[test]` that runs every check with the given [`Setup`].
#[macro_export]
macro_rules! suite {
    ($setup:expr) => {
        #[test]
        fn conformance() {
            $crate::run_all(&$setup);
        }
    };
}

/// Every check, by name.
pub fn checks() -> Vec<&'static Check> {
    oxmpi_testing::checks::sorted(inventory::iter::<Check>, |check| check.name)
}

/// Runs every check, one after the other, naming each.
pub fn run_all(setup: &Setup) {
    for check in oxmpi_testing::checks::chosen(inventory::iter::<Check>, |check| check.name) {
        for &ranks in check.ranks {
            eprintln!("{} ({ranks} ranks)", check.name);
            job::run(setup, check, ranks);
        }
    }
}
