//! Jobs over a provider of libfabric.

#![allow(dead_code, reason = "each test uses a part")]

use oxmpi_btl_conformance::{Group, Harness, Setup, run_group};
use oxmpi_btl_support::Library;

/// The library of the tests: that of the machine, or the one that is named.
fn library() -> String {
    std::env::var("OXMPI_TEST_LIBFABRIC").unwrap_or_else(|_| "libfabric.so.1".into())
}

/// The provider of the tests, unless another one is named.
fn provider() -> String {
    std::env::var("OXMPI_TEST_OFI_PROVIDER").unwrap_or_else(|_| "tcp;ofi_rxm".into())
}

/// Jobs over the provider whose processes have met. `None`: this machine has no libfabric, or none with that provider; the reason was printed.
pub fn setup() -> Option<Setup> {
    unconnected().map(Setup::connects)
}

/// As [`setup`], of processes that meet when they first talk.
pub fn unconnected() -> Option<Setup> {
    if let Err(why) = Library::open(&library()).map(Library::keep) {
        println!("left out, without libfabric: {why}");
        return None;
    }
    let setup = Setup::new(btl_ofi::descriptor());
    let setup = setup.param("library", &library()).param("provider_include", &provider());
    match Harness::open(&setup.clone().ranks(2)) {
        Err(why) if why.contains("no provider of libfabric is used") => {
            println!("left out: {why}");
            None
        }
        _ => Some(setup),
    }
}

/// Runs a group of checks, with changes of the setup.
pub fn run(group: Group, change: impl FnOnce(Setup) -> Setup) {
    if let Some(setup) = setup() {
        run_group(&change(setup), group);
    }
}
