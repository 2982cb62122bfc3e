//! The suite every BTL must pass, and the harness it runs in.
//!
//! The harness plays host: it gives a component a host table of its own, opens it once for each of
//! several ranks *in one process* (components keep all state behind what `open` returned, so that
//! works), joins the ranks by a memfd and an address exchange, and drives the modules through the
//! `repr(C)` tables alone. So it runs on linked-in and loaded components alike, written in whatever
//! language.
//!
//! In a component's `tests/conformance.rs`:
//!
//! ```ignore
//! use oxmpi_btl_conformance::{Reach, Setup, suite};
//! suite!(Setup::new(btl_mine::descriptor()).reach(Reach::Others));
//! ```
//!
//! makes one test of every group of checks, which names each check that it runs. [`run_all`] does the same for a component that
//! was loaded.
//!
//! **Always checked, in every check:** receive callbacks run inside `progress`, on the
//! context and thread that called it, never nested, with the right module and a known sender; no peer
//! is reported broken; nobody calls `fatal`.

pub mod checks;
mod harness;
mod host;
mod kept;
mod message;
mod placer;
mod places;
mod rank;
pub mod rma;
mod setup;
mod verbs;
mod waiting;

pub use harness::{Harness, Link, with_opened};
pub use host::Arrived;
pub use kept::Kept;
pub use message::Msg;
pub use places::{PLACED_TAGS, Places};
pub use rank::Rank;
pub use setup::{Reach, Setup};

/// Makes a `#[test]` of every group of checks, run with the given [`Setup`].
#[macro_export]
macro_rules! suite {
    ($setup:expr) => {
        $crate::suite! { @tests ($setup)
            declared Declared, life Life, messages Messages, pressure Pressure, reentry Reentry, threads Threads,
            one_sided OneSided, memory Memory, sleep Sleep, service Service
        }
    };
    (@tests ($setup:expr) $($name:ident $group:ident),*) => {
        $(#[test] fn $name() { $crate::run_group(&$setup, $crate::Group::$group) })*
    };
}

/// One check.
pub type Check = fn(&Setup);

/// Subjects of checks; `suite!` makes a test of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Declarations that a component makes about itself.
    Declared,
    /// Opening, meeting, parting, closing.
    Life,
    Messages,
    /// No room, and order.
    Pressure,
    /// Receive callbacks that send.
    Reentry,
    Threads,
    /// Get, put, atomics, flush.
    OneSided,
    /// Registration and its end.
    Memory,
    Sleep,
    /// Service links.
    Service,
}

/// A check with its name.
pub struct Entry {
    pub group: Group,
    pub name: &'static str,
    pub run: Check,
}

/// Every check; each file of `checks/` adds its own by `check!`.
#[linkme::distributed_slice]
pub static BTL_CHECKS: [Entry];

/// Enters checks of a group into the list.
macro_rules! check {
    ($group:ident: $($name:ident),+ $(,)?) => {
        $(const _: () = {
            #[linkme::distributed_slice($crate::BTL_CHECKS)]
            static ENTRY: $crate::Entry =
                $crate::Entry { group: $crate::Group::$group, name: stringify!($name), run: $name };
        };)+
    };
}
pub(crate) use check;

/// The checks in the order of groups and names.
pub fn checks() -> Vec<&'static Entry> {
    let mut all: Vec<_> = BTL_CHECKS.iter().collect();
    all.sort_by_key(|e| (e.group, e.name));
    all
}

/// Runs every check, one after the other; panics with the names of those that failed.
pub fn run_all(setup: &Setup) {
    run(setup, |_| true);
}

/// Runs the checks of a group, as [`run_all`].
pub fn run_group(setup: &Setup, group: Group) {
    run(setup, |e| e.group == group);
}

fn run(setup: &Setup, wanted: impl Fn(&Entry) -> bool) {
    let (mut ran, mut failed) = (0, Vec::new());
    for entry in checks().into_iter().filter(|e| wanted(e)) {
        eprintln!("{}", entry.name);
        ran += 1;
        // State that a check leaves behind when it fails is its own.
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (entry.run)(setup))).is_err() {
            failed.push(entry.name);
        }
    }
    assert!(ran > 0, "no check of that group is linked in");
    assert!(failed.is_empty(), "failed: {}", failed.join(", "));
}
