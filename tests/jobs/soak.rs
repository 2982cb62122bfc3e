//! What `tests/soak/stress.py` says of its results.

use oxmpi_tests::{in_path, leave_out, root};
use std::process::Command;

/// Whatever a report is told of transports, what was covered is a part of what there is to cover.
#[test]
fn a_report_counts_the_transports_that_took_part() {
    if !in_path("python3") {
        return leave_out("a_report_counts_the_transports_that_took_part", "python3 is missing");
    }
    let out = std::env::temp_dir().join(format!("oxmpi-report-{}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a folder");
    let results = r#"{"mode": "stream serial", "seeds": {}, "not_passed": [],
        "covered": {"list self 1 shards 2 threads": 1, "list shm 1 shards 2 threads": 2, "list template 4 shards 8 threads": 1}}"#;
    std::fs::write(out.join("stream-serial.json"), results).expect("results");
    let report = |more: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(root().join("tests/soak/stress.py")).args([
            "--report",
            "--modes",
            "stream serial",
            "--out",
        ]);
        let said = command.arg(&out).args(more).output().expect("python3");
        assert!(said.status.success(), "{said:?}");
        String::from_utf8(said.stdout).expect("text")
    };
    let (plain, told) = (report(&[]), report(&["--components", "/nowhere"]));
    std::fs::remove_dir_all(&out).expect("remove");
    assert!(plain.contains(" 3 of 288 combinations of self, shm, template,"), "{plain}");
    assert_eq!(plain, told);
}
