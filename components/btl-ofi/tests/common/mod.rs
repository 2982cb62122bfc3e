//! Jobs over a provider of libfabric.

#![allow(dead_code, reason = "each test uses a part")]

use oxmpi_btl_conformance::{Group, Harness, Setup, run_group};
use oxmpi_btl_support::Library;

/// The library of the tests: that of the machine, or the one that is named.
pub fn library() -> String {
    std::env::var("OXMPI_TEST_LIBFABRIC").unwrap_or_else(|_| "libfabric.so.1".into())
}

/// The provider of the tests, unless another one is named.
pub fn provider() -> String {
    std::env::var("OXMPI_TEST_OFI_PROVIDER").unwrap_or_else(|_| "tcp;ofi_rxm".into())
}

/// Major version of the library, which is there.
pub fn major() -> u32 {
    let opened = Library::open(&library()).expect("the library");
    // SAFETY: the function of that name has this type.
    let version = unsafe { opened.need::<unsafe extern "C" fn() -> u32>("fi_version") }.expect("its version");
    opened.keep();
    // SAFETY: a function without arguments.
    (unsafe { version() }) >> 16
}

/// Jobs over the provider of the tests, whose processes have met. `None`: this machine has no libfabric, or none with that provider; the
/// reason was printed.
pub fn setup() -> Option<Setup> {
    setup_over(&provider())
}

/// As [`setup`], of processes that meet when they first talk.
pub fn unconnected() -> Option<Setup> {
    unconnected_over(&provider())
}

/// As [`setup`], over another provider.
pub fn setup_over(provider: &str) -> Option<Setup> {
    unconnected_over(provider).map(Setup::connects)
}

fn unconnected_over(provider: &str) -> Option<Setup> {
    if let Err(why) = Library::open(&library()).map(Library::keep) {
        println!("left out, without libfabric: {why}");
        return None;
    }
    let setup = setup_with_named_library(provider);
    match Harness::open(&setup.clone().ranks(2)) {
        Err(why) if why.contains("no provider of libfabric is used") => {
            println!("left out: {why}");
            None
        }
        _ => Some(setup),
    }
}

/// As [`unconnected`], without a look whether that works.
pub fn unconnected_with_named_library() -> Setup {
    setup_with_named_library(&provider())
}

fn setup_with_named_library(provider: &str) -> Setup {
    Setup::new(btl_ofi::descriptor()).param("library", &library()).param("provider_include", provider)
}

/// Runs a group of checks, with changes of the setup.
pub fn run(group: Group, change: impl FnOnce(Setup) -> Setup) {
    if let Some(setup) = setup() {
        run_group(&change(setup), group);
    }
}
