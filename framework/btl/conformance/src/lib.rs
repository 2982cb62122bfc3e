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
//! makes one test of every check. [`run_all`] does the same for a component that was loaded.
//!
//! **What is checked always, in every check:** receive callbacks run inside `progress`, on the
//! context and thread that called it, never nested, with the right module and a known sender; no peer
//! is reported broken; nobody calls `fatal`.

pub mod checks;
mod handle;
mod harness;
mod host;
mod message;
mod rma;
mod services;
mod setup;
mod waiting;

pub use harness::{Harness, Link, Rank, with_opened};
pub use host::Arrived;
pub use message::Msg;
pub use setup::{Reach, Setup};

/// Makes a `#[test]` of every check, run with the given [`Setup`].
#[macro_export]
macro_rules! suite {
    (@tests ($setup:expr) $($check:ident)*) => {
        $(#[test] fn $check() { $crate::checks::$check(&$setup) })*
    };
    (@table () $($check:ident)*) => {
        &[$((stringify!($check), $crate::checks::$check as $crate::Check)),*]
    };
    (@list $kind:ident $setup:tt) => {
        $crate::suite! { @$kind $setup
            descriptor_is_complete parameters_are_complete attributes_are_sane
            reaches_whom_it_should endpoints_one_by_one_or_together two_jobs_do_not_meet
            sizes_and_header_lengths every_tag visible_when_send_returns header_and_payload_are_copied
            payload_is_packed_in_order too_large_is_refused
            order_with_many_sizes back_pressure_loses_nothing what_waits_is_told
            callback_may_send callback_floods
            contexts_are_independent ranks_on_threads contexts_on_threads everyone_to_everyone
            one_sided_is_offered_or_refused get_reads get_vector_reads_pieces put_writes_and_flushes atomics_update
            registration
            arm_sees_what_is_there sleepers_are_woken
            finalize_sends_what_is_queued open_and_close_many_times
        }
    };
    ($setup:expr) => {
        $crate::suite! { @list tests ($setup) }
    };
}

/// One check.
pub type Check = fn(&Setup);

/// Every check by name.
pub const CHECKS: &[(&str, Check)] = suite! { @list table () };

/// Runs every check, one after the other; panics in the first that fails, after naming it.
pub fn run_all(setup: &Setup) {
    for (name, check) in CHECKS {
        eprintln!("{name}");
        check(setup);
    }
}
