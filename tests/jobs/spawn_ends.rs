//! Jobs that processes have asked for, killed in every part, and what many of them leave behind.

use oxmpi_tests::{Ended, Held, Job, Process, Running, leave_out, mpi};
use rustix::process::Signal;
use std::path::Path;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own launcher");
    }
    mpi().is_ours()
}

/// A job of one process, with a child that stays until it is killed, or apart until the file `over` is there.
fn stay(how: &str) -> Running {
    let job = Job::new(1).program("spawn").weighs(3);
    let folder = job.folder();
    let mut job = job.args(["stay", how]).arg(&folder).start();
    job.until("the child is up", || folder.join("up").exists());
    job
}

/// Parent and child: the child has the higher process number.
fn family(job: &Running) -> [Process; 2] {
    let mut ranks: Vec<Process> =
        job.processes().into_iter().filter(|process| process.name == "spawn").collect();
    assert_eq!(ranks.len(), 2, "a parent and its child");
    ranks.sort_by_key(|process| process.pid);
    [ranks.remove(0), ranks.remove(0)]
}

fn reports(ended: &Ended) -> usize {
    ended.err.lines().filter(|line| line.starts_with("-----")).count() / 2
}

/// Kills a part of each of two jobs in turn, and looks at the end: with `status` and one report that has `words`.
fn killed(part: impl Fn(&Process) -> Process, status: i32, words: &str) {
    for victim in [0, 1] {
        let job = stay("together");
        part(&family(&job)[victim]).signal(Signal::KILL);
        let ended = job.wait_and_leave_nothing().ended_with(status);
        assert!(reports(&ended) == 1 && ended.err.contains(words), "one report: {}", ended.err);
        assert!(!ended.out.contains("ok"), "{}", ended.out);
    }
    // Those that have parted outlive each other.
    for victim in [0, 1] {
        let job = stay("apart");
        let folder = job.folder();
        part(&family(&job)[victim]).signal(Signal::KILL);
        let file = if victim == 0 { "over" } else { "killed" };
        std::fs::write(folder.join(file), "").expect("written");
        let ended = job.wait_and_leave_nothing().ended_with(status);
        assert!(reports(&ended) == 1 && ended.err.contains(words), "one report: {}", ended.err);
        assert_eq!(ended.out.matches("ok\n").count(), 1, "the other goes on: {}", ended.out);
    }
}

#[test]
fn a_child_or_its_parent_is_killed() {
    if ours("ends of several jobs") {
        killed(Process::clone, 137, "was killed by signal 9");
    }
}

#[test]
fn a_daemon_of_two_is_killed() {
    if ours("daemons") {
        killed(|process| process.parent().expect("its daemon"), 1, "node daemon on");
    }
}

#[test]
fn mpirun_is_killed() {
    if !ours("mpirun") {
        return;
    }
    for how in ["together", "apart"] {
        let job = stay(how);
        job.launcher().signal(Signal::KILL);
        job.wait_and_leave_nothing().ended_with(137);
    }
}

/// mpirun, its daemon and the daemon's process, when there are no others any more.
fn alone(job: &mut Running, folder: &Path, after: usize) -> Vec<Process> {
    let mark = folder.join(format!("after{after}"));
    job.until("so many jobs have come and gone", || mark.exists());
    let (launcher, mut line) = (job.launcher(), Vec::new());
    job.until("the last job's daemon has ended", || {
        line = vec![launcher.clone()];
        while let [child] = &line[line.len() - 1].children()[..] {
            let child = child.clone();
            line.push(child);
        }
        line.len() == 3
    });
    line
}

/// 48 jobs, or as many as a variable says: no descriptor, thread or memory stays with mpirun, the daemon or the one who asks.
#[test]
fn many_jobs_leave_nothing_behind() {
    if !ours("descriptors, threads and memory") {
        return;
    }
    let jobs: usize = std::env::var("OXMPI_TEST_SPAWNS").map_or(48, |text| text.parse().expect("a number"));
    let holds = |all: &[Process]| all.iter().map(Process::holds).collect::<Vec<Held>>();
    let seen = |folder: &Path, after: usize| {
        std::fs::write(folder.join(format!("after{after}.seen")), "").expect("written");
    };
    for btl in ["self,shm,tcp", "tcp,self"] {
        let job = Job::new(1).args(["--mca", "btl", btl]).program("spawn").args(["pace", &jobs.to_string()]);
        let folder = job.folder();
        let mut job = job.arg(&folder).limit(300 + 2 * jobs as u64).weighs(4).start();
        let before = holds(&alone(&mut job, &folder, jobs / 8));
        seen(&folder, jobs / 8);
        let all = alone(&mut job, &folder, jobs);
        let mut after = holds(&all);
        // Connections end when the other side has said good-bye; some descriptors are made at the first long wait, whenever that is.
        let is_open =
            |after: &[Held]| after.iter().zip(&before).any(|(a, b)| a.descriptors > b.descriptors + 4);
        job.until("descriptors are closed", || {
            after = holds(&all);
            !is_open(&after)
        });
        println!("{btl}, after {}: {before:?}\nafter {jobs}: {after:?}", jobs / 8);
        for (at, (a, b)) in after.iter().zip(&before).enumerate() {
            // A transport's threads begin at the first long wait, too.
            assert!(a.threads <= b.threads + 3, "threads of {}: {a:?}, before {b:?}", all[at].name);
            let few = 1024 + jobs as i64 / 16;
            assert!(a.memory - b.memory < few, "KiB of {}: {a:?}, before {b:?}", all[at].name);
        }
        seen(&folder, jobs);
        job.wait_and_leave_nothing().all_ok(1 + jobs);
    }
}

/// A process that has parted leaves a place in a table, some bytes, with the one who has started it and talked to it. The program counts, and the C
/// library keeps no freed memory aside for threads.
#[test]
fn a_process_that_parted_leaves_no_memory() {
    if !ours("bytes of the heap") {
        return;
    }
    for btl in ["self,shm,tcp", "tcp,self"] {
        let job = Job::new(1).args(["--mca", "btl", btl]).program("spawn").args(["loop", "60", "64"]);
        job.env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0").limit(300).weighs(4).run().all_ok(61);
    }
}
