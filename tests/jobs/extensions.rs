//! The functions that `mpi-ext.h` offers, between processes.

use oxmpi_tests::{Job, leave_out, mpi, root};

fn ours(what: &str) -> bool {
    let ours = mpi().is_ours();
    if !ours {
        leave_out(what, "the extension is ours");
    }
    ours
}

#[test]
fn events_one_at_a_time_and_in_bulk() {
    if ours("sync objects") {
        Job::new(2).program("sync_query").run().all_ok(2);
        Job::new(2).program("sync_bulk").limit(300).run().all_ok(2);
    }
}

/// The residual of the factors is the programs' own check.
#[test]
fn a_task_runtime_factors_a_matrix() {
    let modes: &[&str] =
        if ours("MPIX_Sync under a task runtime") { &["sync", "testsome"] } else { &["testsome"] };
    for name in ["cholesky", "qr"] {
        let sources = [format!("bench/tasks/{name}.c")];
        let program = mpi().build(name, &sources, &["-O2", "-pthread", "-lm"]);
        for (mode, ranks) in modes.iter().flat_map(|mode| [1, 3].map(|ranks| (mode, ranks))) {
            let job = Job::new(ranks).arg(&program);
            let ended = job.args(["-t", "9", "-b", "16", "-w", "3", "-m", mode]).limit(300).run();
            let told = ended.status == 0 && ended.out.contains("residual");
            assert!(told, "{name}, {mode}: {}{}", ended.out, ended.err);
        }
    }
}

const SYNC_PAGE: &str = "docs/sync-objects.md";

#[test]
fn the_example_of_sync_objects_runs() {
    if !mpi().is_ours() {
        return leave_out("the example of sync objects", "they are ours");
    }
    let page = std::fs::read_to_string(root().join(SYNC_PAGE)).expect(SYNC_PAGE);
    let examples = super::endpoints::examples(&page, "c");
    assert_eq!(examples.len(), 1);
    let room = tempfile::tempdir().expect("a folder");
    let source = room.path().join("sync_objects_example.c");
    std::fs::write(&source, examples[0]).expect("the folder can be written");
    let options = ["-O2", "-Wall", "-Wextra", "-Werror", "-pthread"];
    let program = mpi().build("sync_objects_example", &[source.display().to_string()], &options);
    for ranks in [1, 2, 4] {
        Job::new(ranks).arg(&program).run().all_ok(ranks);
    }
}

/// The page names every function and constant of sync objects, and none that is not there.
#[test]
fn the_page_of_sync_objects_names_what_the_header_has() {
    let header = std::fs::read_to_string(root().join("mpi/include/mpi-ext.h")).expect("mpi-ext.h");
    let page = std::fs::read_to_string(root().join(SYNC_PAGE)).expect(SYNC_PAGE);
    let names = |text: &str| -> std::collections::BTreeSet<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter(|word| word.starts_with("MPIX_") && *word != "MPIX_").map(str::to_owned).collect()
    };
    let (declared, told) = (names(&header), names(&page));
    let unknown: Vec<_> = told.difference(&declared).collect();
    assert!(unknown.is_empty(), "{SYNC_PAGE} names what mpi-ext.h has not: {unknown:?}");
    let of_sync = |name: &&String| name.to_ascii_lowercase().contains("_sync") && *name != "MPIX_Sync_object";
    let missing: Vec<_> = declared.difference(&told).filter(of_sync).collect();
    assert!(missing.is_empty(), "{SYNC_PAGE} says nothing of {missing:?}");
}
