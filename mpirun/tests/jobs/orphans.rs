//! Nothing outlives a job, whoever is killed. `wait` and `nothing_is_left` look for it.

use crate::support::{Running, mpirun};
use rustix::process::Signal;

/// Ranks that leave their group and their session and start things in the background.
const FAMILY: &str =
    "sleep 1111 & setsid sleep 2222 & (setsid sh -c 'sleep 3333; true' &) ; sleep 4444; true";

fn family() -> Running {
    let job = mpirun("-n 2").script(FAMILY).start();
    for what in ["sleep 1111", "sleep 2222", "sleep 4444"] {
        // The scripts contain these words, too.
        crate::support::eventually(what, || {
            let found = job.processes(what).into_iter().filter(|p| p.command.starts_with("sleep")).count();
            (found == 2).then_some(())
        });
    }
    crate::support::eventually("sleep 3333", || (job.processes("sleep 3333").len() >= 4).then_some(()));
    job
}

#[test]
fn mpirun_is_killed() {
    let mut job = family();
    job.signal(Signal::KILL);
    job.child.wait().expect("a child of ours");
    job.nothing_is_left();
}

#[test]
fn the_daemon_is_killed() {
    let job = family();
    job.wait_for("oxmpid", 1)[0].kill(Signal::KILL);
    job.wait().expect(1, &["node daemon", "SIGKILL"]);
}

#[test]
fn the_daemon_is_asked_to_end() {
    let job = family();
    job.wait_for("oxmpid", 1)[0].kill(Signal::TERM);
    job.wait().expect(1, &["node daemon", "SIGTERM"]);
}

#[test]
fn a_rank_is_killed() {
    let job = family();
    let ranks: Vec<_> = job.processes("/bin/sh -c sleep 1111").into_iter().collect();
    ranks.iter().for_each(|rank| rank.kill(Signal::KILL));
    job.wait().expect(128 + 9, &["SIGKILL"]);
}

#[test]
fn a_job_ends_well_and_leaves_something_running() {
    let ended = mpirun("-n 2").script("sleep 1111 & setsid sleep 2222 & exit 0").run();
    ended.expect(0, &[]);
}

/// Nobody is left who could look for others: what remains is parent-death signals, down to the MPI
/// program below a shell.
#[test]
fn mpirun_and_the_daemon_are_killed_at_once() {
    for script in ["exec $RANK", "$RANK; true"] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut job = mpirun("-n 2").script_with_role(script, "stay");
        job.command.env("UP", folder.path());
        let mut job = job.start();
        // The death signal is set when they have joined.
        crate::support::eventually("two ranks in MPI", || {
            (folder.path().read_dir().expect("a folder").count() == 2).then_some(())
        });
        let daemon = job.wait_for("oxmpid", 1);
        job.signal(Signal::STOP);
        daemon[0].kill(Signal::STOP);
        daemon[0].kill(Signal::KILL);
        job.signal(Signal::KILL);
        job.child.wait().expect("a child of ours");
        job.nothing_is_left();
    }
}

#[test]
fn everything_is_killed() {
    let mut job = mpirun("-n 4").role("stay").start();
    job.wait_for("rank::rank", 4);
    job.signal(Signal::KILL);
    for process in job.processes("") {
        process.kill(Signal::KILL);
    }
    job.child.wait().expect("a child of ours");
    job.nothing_is_left();
}
