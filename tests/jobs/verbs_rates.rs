//! The dissertation's messages of threads on InfiniBand (figures 5.2 to 5.4, table 5.2, and 3.14's windows) by the bench driver, over btl-verbs between two
//! nodes that are made up on this machine, on the device in software: every byte is looked at, and what the library and the device count is what was asked
//! for. Rates over it mean nothing and are not looked at.

use crate::verbs::ours;
use oxmpi_bench::case::{Case, Sizes};
use oxmpi_bench::cases;
use oxmpi_bench::library::Library;
use oxmpi_bench::results::{Report, Row};
use oxmpi_bench::run::{Effort, Runner};
use oxmpi_bench::transport_setup::TransportSetup;
use oxmpi_tests::{Places, mpi, root, verbs_device};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const ITERATIONS: u64 = 2;
/// Multirate's, before its clock starts.
const WARM_UP: u64 = 10;

fn sizes() -> Sizes {
    Sizes { entities: vec![2, 4], window: 64, verbs: true, ..Sizes::quick() }
}

/// Our library on the device in software; a limit says that a job which waits for credits for ever has failed.
fn runner(folder: &Path) -> Runner {
    let library = Library::find("ours", &mpi().prefix).expect("it is installed");
    let limit = Duration::from_secs(120);
    let effort = Effort { rounds: 1, seconds: 0.0, iterations: Some(ITERATIONS), limit, until: None };
    let mut runner = Runner::new(vec![library], effort, folder.join("work")).expect("a fresh folder");
    let device = verbs_device().display().to_string();
    let over = TransportSetup::new("verbs", None, vec![("btl_verbs_library".to_owned(), device)]);
    runner.over = Some(over.expect("the device's file can be read"));
    runner
}

fn folder() -> TempDir {
    let target = root().join("target");
    std::fs::create_dir_all(&target).expect("target can be written");
    TempDir::new_in(target).expect("target can be written")
}

/// The report of a case in which nothing failed and every byte was right.
fn run(runner: &mut Runner, case: &Case, folder: &Path) -> Report {
    let _places = Places::take(2 * 4);
    let report = runner.case(case, folder).expect("a folder of its own").expect("no limit");
    assert_eq!(report.main_rows().count(), case.series.len() * case.xs.len(), "{}", case.name);
    for row in report.main_rows() {
        assert!(row.failure.is_none() && row.verified, "{}: {row:?}", case.name);
    }
    let said = report.text();
    assert!(said.contains("over verbs between two nodes that are made up") && said.contains("of that model"));
    report
}

/// A further figure beside a main one.
fn beside(report: &Report, row: &Row, quantity: &str) -> f64 {
    let own = |r: &&Row| r.series == row.series && r.x == row.x && r.quantity == quantity;
    let found = report.rows.iter().find(own).and_then(|r| r.median);
    found.unwrap_or_else(|| panic!("no {quantity} of {row:?}"))
}

/// All went over the device, no receiver was out of buffers, nothing was sent twice, and no thread touched what was promised to another.
fn look_at_device(report: &Report, row: &Row, messages: u64) {
    let count = |name: &str| beside(report, row, &format!("device_{name}"));
    assert!(count("packets") >= messages as f64, "{}: {} packets, {row:?}", report.case, count("packets"));
    for name in ["rnr_naks", "retries", "violations"] {
        assert_eq!(count(name), 0.0, "{}: {name}, {row:?}", report.case);
    }
}

/// Every assignment, serial and concurrent progress, a communicator for all or for each pair, with and without order; and processes.
#[test]
fn instances_of_threads() {
    if !ours("figures 5.2 to 5.4 over btl-verbs") {
        return;
    }
    let (folder, sizes) = (folder(), sizes());
    let mut runner = runner(folder.path());
    let mut names = Vec::new();
    for case in cases::all(&sizes) {
        if !["fig5.2", "fig5.3", "fig5.4"].iter().any(|figure| case.name.starts_with(figure)) {
            continue;
        }
        let report = run(&mut runner, &case, folder.path());
        for row in report.main_rows() {
            look_at_device(&report, row, row.x * sizes.window * (ITERATIONS + WARM_UP));
        }
        names.push(case.name);
    }
    assert_eq!(names, ["fig5.2a", "fig5.2b", "fig5.2c", "fig5.3a", "fig5.3b", "fig5.3c", "fig5.4"]);
}

/// The counters of the table: every receive is there, and where each pair has an instance and a communicator of its own its messages stay in order.
#[test]
fn counters_of_instances() {
    if !ours("table 5.2 over btl-verbs") {
        return;
    }
    let (folder, sizes) = (folder(), sizes());
    let mut runner = runner(folder.path());
    let case = cases::all(&sizes).into_iter().find(|case| case.name == "table5.2").expect("it is there");
    let report = run(&mut runner, &case, folder.path());
    for row in report.main_rows() {
        let messages = row.x * sizes.window * (ITERATIONS + WARM_UP);
        assert_eq!(beside(&report, row, "OMPI_SPC_IRECV"), messages as f64, "{row:?}");
        assert!(beside(&report, row, "OMPI_SPC_MATCH_TIME") >= 0.0, "{row:?}");
        look_at_device(&report, row, messages);
        let late = beside(&report, row, cases::OUT_OF_SEQUENCE);
        assert!((0.0..1.0).contains(&late), "{row:?}: {late}");
        if row.series == "concurrent progress and matching, dedicated, 10 CRI" {
            assert!(late < 0.02, "{row:?}: {late}");
        }
    }
}

/// Windows of one to 2560 messages, with the credits that a connection has and with fewer and more: all complete, receivers are never out of
/// buffers, and credits come back in few messages of their own.
#[test]
fn windows_do_not_starve_credits() {
    if !ours("figure 3.14 over btl-verbs") {
        return;
    }
    let (folder, sizes) = (folder(), sizes());
    let mut runner = runner(folder.path());
    let mut case = cases::all(&sizes).into_iter().find(|case| case.name == "fig3.14").expect("it is there");
    assert_eq!(case.series.len(), 4);
    case.xs = vec![1, 2, 3, 4, 5, 16, 63, 64, 65, 128, 256, 640, 1024, 1280, 2047, 2560];
    let report = run(&mut runner, &case, folder.path());
    for row in report.main_rows() {
        let messages = row.x * (ITERATIONS + WARM_UP);
        look_at_device(&report, row, messages);
        // A packet and its acknowledgement for each message; for four credits at least two come back at a time.
        let packets = beside(&report, row, "device_packets");
        let returned = if row.series.ends_with(" 4 credits") { 2.0 } else { 0.5 };
        let most = messages as f64 * (2.0 + returned) + 400.0;
        assert!(packets <= most, "{packets} packets for {messages} messages: {row:?}");
    }
}
