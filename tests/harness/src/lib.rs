//! The suite of one-sided components over a real library.
//!
//! In a component's `tests/conformance.rs`:
//!
//! ```ignore
//! use oxmpi_harness::{Setup, suite};
//! suite!(Setup::new(osc_mine::descriptor()));
//! ```
//!
//! [`run_all`] does the same for a component that was loaded. The environment variable `OXMPI_CHECK` names one check to run
//! alone. A rank that panics, or a job that takes longer than the setup's patience, ends the process with the check's name: the
//! others would wait for ever.

mod host;
mod job;
mod setup;

pub use oxmpi_osc_conformance::checks;
pub use setup::Setup;

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

/// Runs every check, one after the other, naming each.
pub fn run_all(setup: &Setup) {
    for check in oxmpi_osc_conformance::chosen() {
        for &ranks in check.ranks {
            eprintln!("{} ({ranks} ranks)", check.name);
            job::run(setup, check, ranks);
        }
    }
}
