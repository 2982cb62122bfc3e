//! Windows and what is exchanged through them: by each installed one-sided component, on one node and on two, and by the one of
//! the tests, which is loaded from a folder like a third party's.

use oxmpi_tests::{Job, leave_out, mpi, osc_am};
use rustix::process::Signal;
use std::process::Command;
use std::time::{Duration, Instant};

/// Installed components.
const INSTALLED: [&str; 2] = ["pt2pt", "rdma"];

/// Jobs with each installed component: on one node, and, if there are several ranks, on two nodes made up on this machine. Another
/// library has one way.
fn by_each(ranks: usize) -> Vec<Job> {
    if !mpi().is_ours() {
        return vec![Job::new(ranks)];
    }
    let by = |job: Job, component: &str| job.args(["--mca", "osc", component]).limit(300);
    let mut jobs: Vec<Job> = INSTALLED.iter().map(|component| by(Job::new(ranks), component)).collect();
    if ranks > 1 {
        let hosts = format!("a:{},b:{}", ranks / 2, ranks - ranks / 2);
        let transport = mpi().component("btl-template");
        let over = |component: &&str| {
            let job = Job::of(Command::new(mpi().bin("mpirun")));
            let job =
                job.args(["--host", &hosts, "--mca", "plm", "local", "--mca", "btl", "template,shm,self"]);
            by(job.args(["--mca", "mca_base_component_path"]).arg(&transport), component)
        };
        jobs.extend(INSTALLED.iter().map(over));
    }
    jobs
}

/// Programs that do what the standard says of windows, of one thread and of several.
#[test]
fn windows_of_installed_components() {
    for ranks in [1, 2, 4] {
        for program in ["rma", "rma_errors", "rma_threads"] {
            if program == "rma_errors" && !mpi().is_ours() {
                leave_out("mistakes in one-sided calls", "not every library finds all of them");
                continue;
            }
            by_each(ranks).into_iter().for_each(|job| drop(job.program(program).run().all_ok(ranks)));
        }
    }
}

/// Random operations in random epochs against a model, some seconds of seeds; by hand more of them, and others:
/// `mpirun -n 4 --mca osc NAME rma_random FIRST_SEED SEEDS SECONDS THREADS`.
#[test]
fn random_operations_are_as_the_model_says() {
    for (ranks, threads) in [(1, 1), (2, 1), (2, 3), (4, 1), (4, 2)] {
        for job in by_each(ranks) {
            let arguments = ["1".to_string(), "12".into(), "3".into(), threads.to_string()];
            job.program("rma_random").args(arguments).run().all_ok(ranks);
        }
    }
}

/// The component to copy from, in messages as installed and in small ones.
#[test]
fn windows_of_the_component_to_copy_from() {
    if !mpi().is_ours() {
        return leave_out("the one-sided component to copy from", "it is ours");
    }
    let folder = mpi().component("osc-template");
    let served = |ranks: usize, size: &str| {
        let job = Job::new(ranks).args(["--mca", "mca_base_component_path"]).arg(&folder);
        job.args(["--mca", "osc", "template", "--mca", "osc_template_message_size", size]).limit(300)
    };
    for size in ["16k", "256"] {
        for ranks in [1, 2, 4] {
            for program in ["rma", "rma_errors", "rma_threads"] {
                served(ranks, size).program(program).run().all_ok(ranks);
            }
        }
        for (ranks, threads) in [(1, "1"), (2, "3"), (4, "1")] {
            let job = served(ranks, size).program("rma_random");
            job.args(["1", "12", "3", threads]).run().all_ok(ranks);
        }
    }
}

/// Faults that users of other libraries reported, as small programs.
#[test]
fn reports_of_one_sided_communication() {
    for ranks in [1, 2, 4] {
        by_each(ranks).into_iter().for_each(|job| drop(job.program("rma_reports").run().all_ok(ranks)));
    }
}

/// A rank that is killed while all operate on each other's memory: one report, and nothing is left.
#[test]
fn a_rank_is_killed_in_an_epoch() {
    if !mpi().is_ours() {
        return leave_out("a rank killed in an epoch", "reports are ours");
    }
    for job in by_each(4) {
        let folder = job.folder();
        let mut running = job.program("hang").arg(&folder).arg("window").start();
        running.until_up(4);
        running.rank(2).signal(Signal::KILL);
        running.wait_and_leave_nothing().is_one_report(2, "");
    }
}

/// Ranks of another node notice the death of a rank before its own daemon has told: they wait for what that says.
#[test]
fn a_rank_whose_end_is_told_late() {
    if !mpi().is_ours() {
        return leave_out("a rank whose end is told late", "reports are ours");
    }
    for job in by_each(4).into_iter().skip(INSTALLED.len()) {
        let folder = job.folder();
        let mut running = job.program("hang").arg(&folder).arg("window").start();
        running.until_up(4);
        let [first, second, killed] = [0, 1, 2].map(|rank| running.rank(rank));
        let daemon = killed.parent().expect("the daemon of its node");
        daemon.signal(Signal::STOP);
        killed.signal(Signal::KILL);
        // If it died with a lock that all want, they do not notice.
        let begin = Instant::now();
        running.until("others notice", || {
            first.has_ended() || second.has_ended() || begin.elapsed() > Duration::from_millis(500)
        });
        // mpirun hears of the error first, and waits a second for its cause.
        std::thread::sleep(Duration::from_millis(50));
        daemon.signal(Signal::CONT);
        running.wait_and_leave_nothing().is_one_report(2, "");
    }
}

/// Operations that overlap take effect in the order of their calls where they are completed locally in between.
#[test]
fn windows_by_pt2pt_keep_the_order_of_unlike_operations() {
    if !mpi().is_ours() {
        return leave_out("order of unlike operations by osc-pt2pt", "one-sided components are ours");
    }
    for transports in ["shm,self", "tcp,self"] {
        let job = Job::new(4).args(["--mca", "osc", "pt2pt", "--mca", "btl", transports]).limit(300);
        job.program("rma_order").args(["1", "100", "2"]).run().all_ok(4);
    }
    let job = Job::of(std::process::Command::new(mpi().bin("mpirun")));
    let job = job.args(["--host", "a:2,b:2", "--mca", "plm", "local", "--mca", "btl", "tcp,shm,self"]);
    job.args(["--mca", "osc", "pt2pt"])
        .limit(300)
        .program("rma_order")
        .args(["1", "100", "2"])
        .run()
        .all_ok(4);
}

/// Two nodes over tcp alone, with osc-pt2pt.
fn pt2pt_over_tcp(hosts: &str) -> Job {
    let job = Job::of(std::process::Command::new(mpi().bin("mpirun")));
    let job = job.args(["--host", hosts, "--map-by", "node", "--mca", "plm", "local"]);
    job.args(["--mca", "btl", "tcp,self", "--mca", "osc", "pt2pt"])
}

/// Gets, puts, fetch-and-ops and accumulates of a rank that makes no call of MPI before all are done.
#[test]
fn windows_by_pt2pt_need_no_target_that_calls() {
    if !mpi().is_ours() {
        return leave_out("targets that compute, by osc-pt2pt", "one-sided components are ours");
    }
    pt2pt_over_tcp("a:1,b:1").limit(300).program("rma_passive").arg("open").run().all_ok(2);
}

/// Operations of any type, operation and layout.
#[test]
fn windows_by_pt2pt_ask_by_one_message() {
    if !mpi().is_ours() {
        return leave_out("messages of accumulates by osc-pt2pt", "one-sided components are ours");
    }
    pt2pt_over_tcp("a:1,b:1").limit(120).program("rma_counted").run().all_ok(2);
}

/// Accumulates of the target itself and of those that ask it meet at the same elements; in messages so small that many go by messages, too.
#[test]
fn windows_by_pt2pt_have_one_rule_for_each_element() {
    if !mpi().is_ours() {
        return leave_out("accumulates by every way of osc-pt2pt", "one-sided components are ours");
    }
    let run = |job: Job| job.limit(300).program("rma_one_element").run().all_ok(4);
    run(pt2pt_over_tcp("a:2,b:2"));
    run(pt2pt_over_tcp("a:2,b:2").args(["--mca", "osc_pt2pt_message_size", "256"]));
    run(Job::new(4).args(["--mca", "osc", "pt2pt", "--mca", "btl", "shm,self"]));
    run(pt2pt_over_tcp("a:2,b:2").args(["--mca", "osc_pt2pt_service_links", "false"]));
}

/// Patches of global arrays by both components, on one node with and without copies between processes, and on two.
#[test]
fn patches_are_found_as_they_were_written() {
    if !mpi().is_ours() {
        return leave_out("patches by each component", "one-sided components are ours");
    }
    for component in ["rdma", "pt2pt"] {
        let run = |job: Job| {
            job.args(["--mca", "osc", component]).limit(300).program("rma_patches").run().all_ok(4)
        };
        run(Job::new(4));
        run(Job::new(4).args(["--mca", "btl_shm_single_copy_mechanism", "none"]));
        let job = Job::of(std::process::Command::new(mpi().bin("mpirun")));
        run(job.args(["--host", "a:2,b:2", "--mca", "plm", "local", "--mca", "btl", "tcp,shm,self"]));
    }
}

/// Settings that only osc-pt2pt has: no aggregation, and messages so small that nearly everything travels apart.
#[test]
fn windows_by_pt2pt_in_other_messages() {
    if !mpi().is_ours() {
        return leave_out("messages of osc-pt2pt", "its parameters are ours");
    }
    for settings in [&[("aggregation", "0")][..], &[("message_size", "256"), ("receives", "1")]] {
        for program in ["rma", "rma_reports", "rma_random"] {
            let mut job = Job::new(2).args(["--mca", "osc", "pt2pt"]).limit(300);
            for (name, value) in settings {
                job = job.args(["--mca", &format!("osc_pt2pt_{name}"), value]);
            }
            let job = job.program(program);
            let job = if program == "rma_random" { job.args(["100", "12", "3", "2"]) } else { job };
            job.run().all_ok(2);
        }
    }
}

/// A job whose windows the component serves.
fn served(ranks: usize) -> Job {
    let job = Job::new(ranks);
    if !mpi().is_ours() {
        return job;
    }
    job.args(["--mca", "mca_base_component_path"]).arg(osc_am()).args(["--mca", "osc", "am"])
}

#[test]
fn windows_are_used() {
    for ranks in [1, 2, 4] {
        served(ranks).program("rma").limit(300).run().all_ok(ranks);
    }
    if mpi().is_ours() {
        // Every operation in pieces.
        served(2).args(["--mca", "osc_am_max_message", "2k"]).program("rma").limit(300).run().all_ok(2);
    }
}

#[test]
fn mistakes_are_told_to_the_window() {
    if !mpi().is_ours() {
        return leave_out("mistakes in one-sided calls", "not every library finds all of them");
    }
    for ranks in [1, 2, 4] {
        served(ranks).program("rma_errors").limit(300).run().all_ok(ranks);
    }
}

#[test]
fn threads_share_windows() {
    for ranks in [1, 2, 4] {
        served(ranks).program("rma_threads").limit(300).run().all_ok(ranks);
    }
}

#[test]
fn windows_as_objects_with_a_component() {
    if !mpi().is_ours() {
        return leave_out("windows as objects with a component", "which component serves is ours to say");
    }
    for ranks in [2, 4] {
        served(ranks).program("windows").arg("served").limit(300).run().all_ok(ranks);
        Job::new(ranks).program("windows").arg("served").limit(300).run().all_ok(ranks);
    }
}

/// `mpi-info` lists the component and its parameters; `--mca osc` with a name that nobody has stops the job, and one that
/// excludes the component leaves windows without operations.
#[test]
fn the_component_is_chosen_by_parameter() {
    if !mpi().is_ours() {
        return leave_out("the choice of a one-sided component", "parameters are ours");
    }
    let mut command = Command::new(mpi().bin("mpi-info"));
    command.args(["--param", "osc", "am", "--level", "9"]).env("OXMPI_MCA_mca_base_component_path", osc_am());
    let listed = command.output().expect("mpi-info runs");
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(text.contains("MCA osc: am (MCA v") && text.contains("osc_am_max_message"), "{text}");

    let missing = Job::new(1).args(["--mca", "osc", "nowhere"]).program("start_stop").run().failed();
    assert!(
        missing.err.contains("nowhere (osc from") && missing.err.contains("does not exist"),
        "{}",
        missing.err
    );

    let without = Job::new(2).args(["--mca", "mca_base_component_path"]).arg(osc_am());
    let without = without.args(["--mca", "osc", "^am,pt2pt,rdma"]);
    without.program("windows").arg("strict").limit(300).run().all_ok(2);
}
