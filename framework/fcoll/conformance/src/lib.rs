//! The suite every component for collective file access must pass, and the world it plays in.
//!
//! The suite opens the component once for each rank, has every rank plan its part of one access, and steps through the plans in one thread, in an order that a seed decides: messages may
//! come late, transfers end in any order, sends wait for their receives or not. The file is a list of bytes. So the suite runs without files and without a launcher, finds what can wait for
//! ever at once, and plays a failing case again.
//!
//! In a component's `tests/conformance.rs`:
//!
//! ```ignore
//! use oxmpi_fcoll_conformance::{Setup, suite};
//! suite!(Setup::new(fcoll_mine::descriptor()));
//! ```
//!
//! The environment variables `OXMPI_CHECK` and `OXMPI_SEED` name one check and one case to run alone, `OXMPI_CASES` says how many random cases a check has.
//!
//! **Always checked:** nothing waits for ever; every message has a receive of its size; a rank says once what it has moved; transfers do not overlap with others under way; a transfer writes no
//! byte twice.

mod access;
mod checks;
mod file;
mod job;
mod random;
mod services;
mod world;

pub use access::{Access, byte, interleaved, listed};
pub use file::File;
pub use job::{Case, Ended, Setup, play};
pub use linkme;
pub use random::Random;

/// A check: its name, and the function that runs it.
pub struct Check {
    pub name: &'static str,
    pub run: fn(&Setup),
}

/// Registers a check: `check!(name, |setup| { … });`.
#[macro_export]
macro_rules! check {
    ($name:ident, $run:expr) => {
        const _: () = {
            #[$crate::linkme::distributed_slice($crate::FCOLL_CHECKS)]
            #[linkme(crate = $crate::linkme)]
            static CHECK: $crate::Check = $crate::Check { name: stringify!($name), run: $run };
        };
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

/// Every check; the linker fills it.
#[linkme::distributed_slice]
pub static FCOLL_CHECKS: [Check];

/// Runs every check, one after the other, naming each.
pub fn run_all(setup: &Setup) {
    for check in oxmpi_testing::checks::chosen(&*FCOLL_CHECKS, |check| check.name) {
        eprintln!("{}", check.name);
        (check.run)(setup);
    }
}

/// Runs the check of a name.
pub fn run_named(setup: &Setup, name: &str) {
    let check =
        FCOLL_CHECKS.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name}"));
    (check.run)(setup);
}
