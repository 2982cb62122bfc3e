//! The suite every file system component must pass.
//!
//! In a component's `tests/conformance.rs`:
//!
//! ```ignore
//! use oxmpi_fs_conformance::{Setup, suite};
//! suite!(Setup::new(fs_mine::descriptor()));
//! ```
//!
//! The environment variable `OXMPI_CHECK` names one check to run alone. **A check** is a function in a file of `checks/` that registers itself ([`check!`]); it gets a [`Rig`], the component
//! opened, and fails by panicking with a sentence.

mod checks;
mod file;
mod rig;
mod setup;

pub use file::File;
pub use linkme;
pub use rig::Rig;
pub use setup::Setup;

/// A check: its name and what it does.
pub struct Check {
    /// By which it is named in reports and `OXMPI_CHECK`.
    pub name: &'static str,
    /// Runs it on a component.
    pub run: fn(&Rig),
}

/// Registers a check: `check!(name, |rig| { … });`.
#[macro_export]
macro_rules! check {
    ($name:ident, $run:expr) => {
        const _: () = {
            #[$crate::linkme::distributed_slice($crate::FS_CHECKS)]
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
pub static FS_CHECKS: [Check];

/// Runs every check, naming each.
pub fn run_all(setup: &Setup) {
    for check in oxmpi_testing::checks::chosen(&*FS_CHECKS, |check| check.name) {
        eprintln!("{}", check.name);
        run(setup, check);
    }
}

/// Runs one check.
pub fn run(setup: &Setup, check: &Check) {
    let rig = Rig::new(setup);
    (check.run)(&rig);
    rig.finish();
}

/// Runs the check of a name.
pub fn run_named(setup: &Setup, name: &str) {
    let check =
        FS_CHECKS.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name}"));
    run(setup, check);
}
