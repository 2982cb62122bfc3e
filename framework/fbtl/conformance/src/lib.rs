//! The suite every component that transfers file data must pass.
//!
//! In a component's `tests/conformance.rs`:
//!
//! ```ignore
//! use oxmpi_fbtl_conformance::{Setup, suite};
//! suite!(Setup::new(fbtl_mine::descriptor()));
//! ```
//!
//! The environment variable `OXMPI_CHECK` names one check to run alone. **A check** is a function in a file of `checks/` that registers itself ([`check!`]); it gets a [`Rig`], the
//! component opened with one variant's parameters, and fails by panicking with a sentence.
//!
//! **Always checked:** each operation ends once, with one ring of its file's bell; sleepers are woken; the component's descriptor is quiet when nothing is left to harvest; memory
//! beside the pieces stays as it was.

mod checks;
pub mod file;
pub mod random;
mod rig;
mod setup;

pub use file::{File, Pending};
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
            #[$crate::linkme::distributed_slice($crate::FBTL_CHECKS)]
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
pub static FBTL_CHECKS: [Check];

/// Whether a component opens on this machine, with its parameters at their defaults; false: it is not available.
///
/// # Panics
/// Where it fails otherwise.
pub fn opens(descriptor: *const oxmpi_mca::Descriptor) -> bool {
    match Rig::open(&Setup::new(descriptor), &[]) {
        Ok(rig) => rig.finish(),
        Err(oxmpi_mca::Status::NOT_AVAILABLE) => return false,
        Err(status) => panic!("open: {status}"),
    }
    true
}

/// Runs every check in every variant, naming each.
pub fn run_all(setup: &Setup) {
    for check in oxmpi_testing::checks::chosen(&*FBTL_CHECKS, |check| check.name) {
        eprintln!("{}", check.name);
        run(setup, check);
    }
}

/// Runs one check in every variant.
pub fn run(setup: &Setup, check: &Check) {
    for variant in setup.variants() {
        let rig = Rig::new(setup, &variant);
        (check.run)(&rig);
        rig.finish();
    }
}

/// Runs the check of a name.
pub fn run_named(setup: &Setup, name: &str) {
    let check =
        FBTL_CHECKS.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name}"));
    run(setup, check);
}
