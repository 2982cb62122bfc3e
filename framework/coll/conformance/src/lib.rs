//! The suite every collective component must pass, and the jobs it runs in.
//!
//! The suite plays host to several ranks *in one process*: it opens the component once for each of them, asks it for a
//! communicator, and calls its table with ranks as threads, over point-to-point that is stricter than a network: a message must
//! have exactly the size of its receive, nothing may be left over, large messages may come before earlier ones. So it runs on
//! linked-in and loaded components alike, in whatever language, and needs no launcher and no device.
//!
//! In a component's `tests/conformance.rs`:
//!
//! ```ignore
//! use oxmpi_coll_conformance::{Setup, suite};
//! suite!(Setup::new(coll_mine::descriptor()).variant(&[("small_msg", "0")]));
//! ```
//!
//! [`run_all`] does the same for a component that was loaded. The environment variable `OXMPI_CHECK` names one check to run
//! alone.
//!
//! **A check** is a function in a file of `checks/` that registers itself ([`check!`]); crates outside may register more. It says which
//! collectives it needs, and is left out, with a word, where the component does not offer them. The ways in which a job runs a check
//! are listed at [`Job`]: every form (blocking, planned), every variant of parameters, sends that wait for their receives and sends that do not.
//!
//! **Always checked, in every check:** all ranks give the same answer when they are asked for a communicator; tags are those of
//! collectives; every request is waited for once; nothing is posted or on its way at the end; services are called where they may be;
//! what a plan was made from may be gone; nobody calls `fatal`.

mod args;
pub mod blocks;
mod checks;
pub mod data;
mod doing;
pub mod equal;
mod host;
mod job;
mod messages;
mod net;
mod nodes;
pub mod operations;
mod plan;
mod rank;
mod services;
mod setup;
mod view;

pub use args::{Args, Blocks};
pub use job::{Check, Job, TableSlot};
pub use linkme;
pub use plan::Plan;
pub use rank::Rank;
pub use setup::{Nodes, Setup};

/// Registers a check: `check!(name, needs: [bcast, gather], |job| { … });`.
#[macro_export]
macro_rules! check {
    ($name:ident, needs: [$($which:ident),*], $run:expr) => {
        const _: () = {
            #[$crate::linkme::distributed_slice($crate::COLL_CHECKS)]
            #[linkme(crate = $crate::linkme)]
            static CHECK: $crate::Check =
                $crate::Check { name: stringify!($name), needs: &[$(|t| t.$which),*], run: $run };
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
pub static COLL_CHECKS: [Check];

/// Every check, by name.
pub fn checks() -> Vec<&'static Check> {
    oxmpi_testing::checks::sorted(&*COLL_CHECKS, |check| check.name)
}

/// Runs every check, one after the other, naming each.
pub fn run_all(setup: &Setup) {
    let chosen = oxmpi_testing::checks::chosen(&*COLL_CHECKS, |check| check.name);
    let ran = chosen.into_iter().filter(|check| {
        eprintln!("{}", check.name);
        run(setup, check)
    });
    assert!(ran.count() > 0, "the component offers no collective that any check needs");
}

/// Runs one check; false where the component does not offer what it needs.
pub fn run(setup: &Setup, check: &'static Check) -> bool {
    let job = Job::new(setup, check);
    (check.run)(&job);
    let ran = job.runs() > 0;
    if !ran {
        eprintln!("{}: left out, the component does not offer it", check.name);
    }
    ran
}

/// Runs the check of a name, which must be offered.
pub fn run_named(setup: &Setup, name: &str) {
    let all = checks();
    let check = all.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name}"));
    assert!(run(setup, check), "{name} is not offered");
}
