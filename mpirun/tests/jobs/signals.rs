//! Effects of signals to mpirun.

use crate::support::{Running, eventually, mpirun};
use rustix::process::Signal;
use tempfile::TempDir;

#[test]
fn the_user_ends_the_job_and_ranks_may_clean_up() {
    for (signal, number) in [(Signal::TERM, 15), (Signal::INT, 2), (Signal::HUP, 1)] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut job = mpirun("-n 2").script(
            "trap 'echo cleaned; exit 0' TERM; touch $UP/$OMPI_COMM_WORLD_RANK; while :; do sleep 0.05; done",
        );
        job.command.env("UP", folder.path());
        let job = job.start();
        eventually("two ranks", || (folder.path().read_dir().expect("a folder").count() == 2).then_some(()));
        job.signal(signal);
        let ended = job.wait();
        ended.expect(128 + number, &["mpirun got", "has ended the job"]);
        assert_eq!(ended.out.matches("cleaned").count(), 2, "{ended:?}");
    }
}

/// Two ranks that are told to end and go on; started when they no longer can be ended politely, with the folder
/// where each notes that it was told.
fn deaf() -> (Running, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "trap 'touch $UP/told.$OMPI_COMM_WORLD_RANK' TERM INT; touch $UP/up.$OMPI_COMM_WORLD_RANK; \
                  while :; do sleep 0.05; done";
    let mut job = mpirun("-n 2").script(script);
    job.command.env("UP", folder.path());
    let job = job.start();
    both(&folder, "up");
    (job, folder)
}

/// Waits until both ranks have left such a file.
fn both(folder: &TempDir, what: &str) {
    let there = |rank: u32| folder.path().join(format!("{what}.{rank}")).exists();
    eventually(what, || (there(0) && there(1)).then_some(()));
}

#[test]
fn ranks_that_do_not_listen_are_ended_by_force() {
    let (job, _folder) = deaf();
    job.signal(Signal::TERM);
    job.wait().expect(128 + 15, &[]);
}

#[test]
fn a_second_signal_does_not_wait() {
    let (job, folder) = deaf();
    job.signal(Signal::INT);
    // The first one has been dealt with: two of them at once would be one.
    both(&folder, "told");
    job.signal(Signal::INT);
    job.wait().expect(128 + 2, &["by force"]);
}

#[test]
fn user_signals_are_passed_on() {
    for (name, signal) in [("USR1", Signal::USR1), ("USR2", Signal::USR2)] {
        let folder = tempfile::tempdir().expect("a folder");
        let script = "trap 'exit 0' $SIG; touch $UP/$OMPI_COMM_WORLD_RANK; while :; do sleep 0.05; done";
        let mut job = mpirun("-n 3").script(script);
        job.command.env("UP", folder.path()).env("SIG", name);
        let job = job.start();
        eventually("three ranks", || {
            (folder.path().read_dir().expect("a folder").count() == 3).then_some(())
        });
        // The shell ends for it; its sleep is killed by it. Both are the group's.
        job.signal(signal);
        let ended = job.wait();
        assert!([0, 128 + 10, 128 + 12].contains(&ended.code()), "{ended:?}");
        assert!(!ended.err.contains("mpirun got"), "{ended:?}");
    }
}

#[test]
fn a_job_stops_and_goes_on() {
    let job = mpirun("-n 2").script("exec sleep 5555").start();
    let ranks = job.wait_for("sleep 5555", 2);
    let mut all: Vec<crate::support::Process> = ranks;
    all.push(crate::support::Process { pid: job.child.id().cast_signed(), command: "mpirun".into() });
    job.signal(Signal::TSTP);
    eventually("everybody stopped", || all.iter().all(|p| p.state() == Some('T')).then_some(()));
    job.signal(Signal::CONT);
    eventually("everybody going on", || all.iter().all(|p| p.state() == Some('S')).then_some(()));
    job.signal(Signal::TERM);
    job.wait().expect(128 + 15, &[]);
}

#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let folder = tempfile::tempdir().expect("a folder");
    let (up, heard) = (folder.path().join("up"), folder.path().join("heard"));
    let script = "touch $UP/up; until [ -e $UP/heard ]; do sleep 0.05; done; echo done";
    let mut job = mpirun("-n 1").script(script);
    let mpirun = job.command.get_program().to_owned();
    let arguments: Vec<_> = job.command.get_args().map(ToOwned::to_owned).collect();
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(mpirun).args(arguments);
    for (name, value) in job.command.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    shell.env("UP", folder.path()).stdin(std::process::Stdio::null());
    shell.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    job.command = shell;
    let job = job.start();
    eventually("a rank", || up.exists().then_some(()));
    job.signal(Signal::HUP);
    std::fs::write(heard, "").expect("a folder of ours");
    let ended = job.wait();
    ended.expect(0, &[]);
    assert_eq!(ended.out, "done\n");
}
