//! The suite every BTL must pass, over TCP with libfabric's layer of reliable messages, or over the provider that OXMPI_TEST_OFI_PROVIDER names.

mod common;

use oxmpi_btl_conformance::Group;

macro_rules! groups {
    ($($name:ident $group:ident),* $(,)?) => {
        $(#[test] fn $name() { common::run(Group::$group, |setup| setup) })*
    };
}

groups! {
    declared Declared, life Life, messages Messages, pressure Pressure, reentry Reentry, threads Threads,
    one_sided OneSided, memory Memory, sleep Sleep, service Service,
}

/// Two contexts in two domains, one endpoint for both, and few buffers without injection.
#[test]
fn domains_of_their_own() {
    common::run(Group::OneSided, |setup| setup.param("virtual_device_count", "2"));
    common::run(Group::Threads, |setup| setup.param("virtual_device_count", "2"));
}

#[test]
fn one_endpoint_and_few_buffers() {
    let few = [("num_contexts", "1"), ("rd_num", "4"), ("send_buffers", "2"), ("credits", "2")];
    let change =
        |setup| few.iter().fold(setup, |setup: oxmpi_btl_conformance::Setup, (n, v)| setup.param(n, v));
    common::run(Group::Pressure, |setup| change(setup).param("disable_inject", "true"));
    common::run(Group::Reentry, change);
}

/// Atomics that the provider has.
#[test]
fn atomics_of_the_provider() {
    common::run(Group::OneSided, |setup| setup.param("atomics", "provider"));
}
