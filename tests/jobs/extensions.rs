//! The functions that `mpi-ext.h` offers, between processes.

use oxmpi_tests::{Job, leave_out, mpi};

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

/// The residual of the factor is the program's own check.
#[test]
fn a_task_runtime_factors_a_matrix() {
    let sources = ["bench/tasks/cholesky.c".to_owned()];
    let program = mpi().build("cholesky", &sources, &["-O2", "-pthread", "-lm"]);
    let modes: &[&str] =
        if ours("MPIX_Sync under a task runtime") { &["sync", "testsome"] } else { &["testsome"] };
    for mode in modes {
        for ranks in [1, 3] {
            let job = Job::new(ranks).arg(&program);
            let ended = job.args(["-t", "9", "-b", "16", "-w", "3", "-m", mode]).limit(300).run();
            assert!(
                ended.status == 0 && ended.out.contains("residual"),
                "{mode}: {}{}",
                ended.out,
                ended.err
            );
        }
    }
}
