//! The suite every BTL must pass, over each provider that needs no network card, as far as README.md says that it goes. Providers that this
//! machine's libfabric does not have are left out, with a reason; OXMPI_TEST_LIBFABRIC names another library, as one of 2.x.

mod common;

use oxmpi_btl_conformance::{Group, run_group};

const ALL: [Group; 10] = [
    Group::Declared,
    Group::Life,
    Group::Messages,
    Group::Pressure,
    Group::Reentry,
    Group::Threads,
    Group::OneSided,
    Group::Memory,
    Group::Sleep,
    Group::Service,
];

/// Runs the groups that the provider passes with the library here: those that are not among `not_passed`, by the library's major version.
fn run(provider: &str, not_passed: impl Fn(u32) -> &'static [Group]) {
    let Some(setup) = common::setup_over(provider) else { return };
    let left_out = not_passed(common::major());
    for group in ALL.into_iter().filter(|group| !left_out.contains(group)) {
        println!("{provider}: {group:?}");
        run_group(&setup, group);
    }
    if !left_out.is_empty() {
        println!("left out over {provider}, as README.md says: {left_out:?}");
    }
}

#[test]
fn tcp() {
    run("tcp", |_| &[]);
}

#[test]
fn udp_with_reliable_datagrams() {
    run("udp;ofi_rxd", |_| &[]);
}

/// Memory whose registration has ended is reached as long as libfabric's cache has it (without the cache the refusal ends the connection, as verbs
/// have it, and the operation behind it fails with it).
#[test]
fn verbs() {
    run("verbs;ofi_rxm", |_| &[Group::Memory]);
}

/// Its descriptor stays readable where nothing is there.
#[test]
fn net() {
    run("net", |_| &[Group::Sleep]);
}

/// Reading a completion queue reaches into memory of an endpoint in this very process that has ended.
#[test]
fn shm() {
    run("shm", |major| match major {
        1 => &[Group::Service],
        _ => &[Group::Pressure, Group::Threads, Group::Service],
    });
}

/// A message that is sent while its receiver does not look finds no room, and one to an endpoint that has ended waits long.
#[test]
fn sm2() {
    run("sm2", |_| &[Group::Messages, Group::Life]);
}
