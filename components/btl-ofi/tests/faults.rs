//! The suite, and lost peers, on a libfabric that makes faults (`devices/ofi`). Each setting has a process of its own: this test's program once more, with
//! the setting in its environment.

mod common;

use oxmpi_btl_conformance::{Group, Harness, Link, Msg, run_group};
use oxmpi_mca::Status;
use std::process::Command;
use std::time::{Duration, Instant};

const FAULTS: &str = "OXMPI_OFI_FAULTS";
const PATIENCE: Duration = Duration::from_secs(30);

/// Path of the library with faults, built with this test.
fn faulty() -> String {
    let exe = std::env::current_exe().expect("the path of this test");
    let name = "liboxmpi_ofi_faults.so";
    let found = exe.ancestors().skip(1).take(2).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.expect("the library beside this test").to_string_lossy().into_owned()
}

/// Runs a test of this program in a process with faults.
fn run(test: &str, faults: &str) {
    if common::setup().is_none() {
        return;
    }
    let faults = format!("library={},{faults}", common::library());
    let mut child = Command::new(std::env::current_exe().expect("the path of this test"));
    child.args(["--exact", test, "--nocapture", "--ignored"]).env(FAULTS, &faults);
    let done = child.env("OXMPI_TEST_LIBFABRIC", faulty()).output().expect("this program");
    let said = [String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr)].concat();
    assert!(done.status.success() && said.contains("1 passed"), "{faults}: {said}");
}

/// Part of `refused_posts` and its like. Checks of messages want room for the first one.
#[test]
#[ignore = "runs in a process with faults"]
fn child_pressure() {
    run_group(&common::setup().expect("the library").ranks(2), Group::Pressure);
}

/// Part of `refused_posts` and its like.
#[test]
#[ignore = "runs in a process with faults"]
fn child_reentry() {
    let setup = common::setup().expect("the library");
    run_group(&setup, Group::Reentry);
    run_group(&setup, Group::OneSided);
}

#[test]
fn refused_posts() {
    run("child_pressure", "again=2");
    run("child_reentry", "again=7,inject=0");
}

#[test]
fn full_completion_queues() {
    run("child_pressure", "queue=1,inject=0");
    run("child_reentry", "queue=3");
}

#[test]
fn low_limits() {
    run("child_pressure", "tx=2,rx=4,inject=16");
    run("child_reentry", "tx=2,rx=4,inject=16");
}

#[test]
fn late_answers() {
    run("child_reentry", "late=1");
}

#[test]
fn messages_that_are_overtaken() {
    run("child_pressure", "overtaken=3");
}

/// Part of `a_send_that_fails_is_the_loss_of_its_peer`.
#[test]
#[ignore = "runs in a process with faults"]
fn child_loss() {
    let setup = common::setup().expect("the library").ranks(2).cris(1).param("disable_inject", "true");
    let h = Harness::new(&setup);
    h.ranks.iter().for_each(|rank| rank.host.let_peers_fail());
    let link = Link { from: 0, to: 1 };
    h.send_until_refused(link, PATIENCE);
    let failures = h.ranks[0].host.failures();
    assert_eq!(failures.len(), 1, "told once: {failures:?}");
    assert_eq!(failures[0], (1, Status::PEER_FAILED));
    // The end does not wait for what cannot come.
    let begun = Instant::now();
    drop(h);
    assert!(begun.elapsed() < PATIENCE, "the end waits");
}

#[test]
fn a_send_that_fails_is_the_loss_of_its_peer() {
    run("child_loss", "error=60");
    run("child_loss", "dead=60");
}

/// Part of `few_endpoints`.
#[test]
#[ignore = "runs in a process with faults"]
fn child_few_endpoints() {
    let setup = common::unconnected_with_named_library().ranks(2).cris(8);
    let why = Harness::open(&setup).err().expect("there are too few endpoints");
    assert!(why.contains("an endpoint") && why.contains("No space left"), "{why}");
}

#[test]
fn few_endpoints() {
    run("child_few_endpoints", "endpoints=3");
}

/// Part of `a_library_that_is_too_old`.
#[test]
#[ignore = "runs in a process with faults"]
fn child_old() {
    let why = Harness::open(&common::unconnected_with_named_library().ranks(2)).err().expect("too old");
    assert!(why.contains("it is version 1.10, and 1.17 is the oldest one that will do"), "{why}");
}

#[test]
fn a_library_that_is_too_old() {
    run("child_old", "version=1.10");
}

/// Without a fault the library is as the one behind it.
#[test]
#[ignore = "runs in a process with faults"]
fn child_nothing() {
    let h = Harness::new(&common::setup().expect("the library").ranks(2).cris(1));
    h.push(Link { from: 0, to: 1 }, 0, &Msg::new(1, 24, 8));
    h.settle(1, 1);
}

#[test]
fn no_fault() {
    run("child_nothing", "");
}
