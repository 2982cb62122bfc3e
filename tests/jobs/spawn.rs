//! Jobs that processes ask for: started, talked to, refused, ended together and apart.

use crate::machines::Machines;
use oxmpi_tests::{Ended, Job, Process, leave_out, mpi, ugni_library, verbs_device};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own launcher");
    }
    mpi().is_ours()
}

/// A job of the test program that does this.
fn spawn(ranks: usize, words: &[&str]) -> Job {
    Job::new(ranks).program("spawn").args(words).weighs(4)
}

#[test]
fn processes_are_started_and_talked_to() {
    for (ranks, children) in [(1, 1), (1, 3), (3, 2)] {
        spawn(ranks, &["talk", &children.to_string()]).run().all_ok(ranks + 2 * children);
    }
}

#[test]
fn processes_are_talked_to_over_a_network() {
    if !ours("a network between jobs") {
        return;
    }
    let job = Job::new(2).args(["--mca", "btl", "tcp,self"]).program("spawn").args(["talk", "2"]).weighs(4);
    job.run().all_ok(6);
}

/// One process has nobody to reach by a network before it starts others; one that is named is there for them.
#[test]
fn an_only_process_reaches_those_that_it_starts_by_a_network() {
    if !ours("a network between jobs") {
        return;
    }
    let job =
        Job::new(1).args(["--mca", "btl", "verbs,self", "--mca", "btl_verbs_library"]).arg(verbs_device());
    job.program("spawn").args(["talk", "2"]).weighs(4).run().all_ok(5);
}

/// Domains of ugni are a job's own: a job that was started is refused where nothing else reaches it, and reached by what does.
#[test]
fn a_network_of_one_job_alone_is_left_aside() {
    if !ours("a network between jobs") {
        return;
    }
    let over = |btl| {
        let job = Job::new(2).args(["--mca", "btl", btl, "--mca", "btl_ugni_library"]).arg(ugni_library());
        job.env("OXMPI_UGNI", "node_by=OXMPI_WIREUP").program("spawn").args(["talk", "2"]).weighs(4).run()
    };
    let ended = over("ugni,self").failed();
    assert!(ended.err.contains("ugni (does not reach it)"), "{}", ended.err);
    over("ugni,tcp,self").all_ok(6);
}

/// A network that is not there and was named is an error only where somebody would be reached by it.
#[test]
fn an_only_process_does_without_the_network_that_is_named() {
    if std::path::Path::new("/sys/class/infiniband_verbs").exists() {
        return leave_out("a network that is not there", "this machine has RDMA devices");
    }
    let over = |ranks| Job::new(ranks).args(["--mca", "btl", "verbs,self"]).program("ring");
    over(1).run().all_ok(1);
    let ended = over(2).run().failed();
    assert!(ended.err.contains("no RDMA device"), "{}", ended.err);
}

#[test]
fn processes_are_started_on_nodes_and_from_them() {
    if !ours("nodes on one machine") {
        return;
    }
    // The program starts processes twice, and there are slots for one time: those of the first have ended, or soon will.
    let mut job = Job::of(Command::new(mpi().bin("mpirun"))).weighs(4);
    job = job.args(["--host", "a:3,b:3", "--map-by", "node", "-n", "2", "--mca", "plm", "local"]);
    job.program("spawn").args(["talk", "4"]).run().all_ok(10);
}

/// How many children have said that they are on a node.
fn on(ended: &Ended, node: &str) -> usize {
    ended.out.lines().filter(|line| line.strip_prefix("on ") == Some(node)).count()
}

/// Children on the machine of mpirun and on others, from processes here and there.
#[test]
fn processes_are_started_on_other_machines() {
    if !ours("machines that are logged in to") {
        return;
    }
    let machines = match Machines::up("sp", 150, 2) {
        Ok(machines) => machines,
        Err(why) => return leave_out("machines on which processes are started", &why),
    };
    let talk = |hosts: &str, ranks: &str, children: &str| {
        let job = machines.job(hosts).args(["--map-by", "node", "-n", ranks]).weighs(4);
        job.program("spawn").args(["talk", children])
    };
    let ended = talk("localhost:5,m1:5", "2", "2").args(["map_by", "node"]).run().all_ok(6);
    assert_eq!(on(&ended, "m1"), 2, "{}", ended.out);
    let ended = talk("m1:3,m2:5", "1", "3").args(["host", "m2,m1", "map_by", "node"]).run().all_ok(7);
    assert!(on(&ended, "m1") >= 2 && on(&ended, "m2") >= 2, "{}", ended.out);
    // A machine that mpirun was not given: asked, planned for, used.
    let ended = talk("localhost:2", "1", "3").args(["add-host", "m2:6", "map_by", "node"]).run().all_ok(7);
    assert!(on(&ended, "m2") >= 4, "{}", ended.out);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hosts");
    std::fs::write(&file, "m1 slots=4\n").expect("written");
    let file = file.to_str().expect("text");
    let ended = talk("localhost:2", "1", "2").args(["hostfile", file]).run().all_ok(5);
    assert_eq!(on(&ended, "m1"), 4, "{}", ended.out);
    // Nobody is there, and nobody else fails: three ask at once.
    let job = machines.job("localhost:6,m1:2").args(["-n", "3", "--map-by", "node"]).weighs(4);
    let job = job.program("spawn").args(["nowhere", "1", "host", "m3", "add-host", "m3:9"]);
    let ended = job.run().all_ok(4);
    let refusals = ended.out.matches("MPI_ERR_SPAWN").count();
    assert!(refusals == 3 && ended.out.matches("m3").count() >= 3, "{}", ended.out);
}

/// Many ask at once for jobs on one machine: not all log in to it at once, since its sshd drops some where many have not proved themselves yet.
#[test]
fn logins_for_many_jobs_are_few_at_a_time() {
    if !ours("logins for later jobs") {
        return;
    }
    let room = tempfile::tempdir().expect("a folder");
    let (agent, path) = (room.path().join("agent"), room.path().display());
    let login = format!(
        "#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\n: > {path}/login.$$\nls {path} | grep -c '^login' >> {path}/counts\nsleep 0.3\n\
         rm {path}/login.$$\nexec env -i PATH=/usr/bin:/bin OXMPI_TEST_MARK=\"$OXMPI_TEST_MARK\" sh -c \"$2\"\n"
    );
    std::fs::write(&agent, login).expect("writable");
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).expect("our file");
    let job = Job::of(Command::new(mpi().bin("mpirun"))).args(["--host", "localhost:3,far:24", "-n", "3"]);
    let job = job.args(["--bind-to", "none", "--mca", "plm_ssh_agent"]).arg(&agent).weighs(4).limit(300);
    job.program("spawn").args(["threads", "1"]).run().all_ok(3 + 12 * 2);
    let counts = std::fs::read_to_string(room.path().join("counts")).expect("there were logins");
    let counts: Vec<u32> = counts.lines().map(|count| count.parse().expect("a number")).collect();
    // The node of the first job, and twelve questions.
    assert!(counts.len() == 13 && counts.iter().all(|&count| count <= 8), "{counts:?}");
}

/// The daemon of a job elsewhere is killed: one report, and the end of those that are connected with it.
#[test]
fn a_later_job_s_daemon_elsewhere_is_killed() {
    if !ours("daemons of later jobs") {
        return;
    }
    let machines = match Machines::up("sk", 150, 1) {
        Ok(machines) => machines,
        Err(why) => return leave_out("killed daemons of later jobs", &why),
    };
    for how in ["together", "apart"] {
        let job = machines.job("localhost:2,m1:2").args(["-n", "2"]).weighs(3).program("spawn");
        let folder = job.folder();
        let mut job = job.args(["stay", how]).arg(&folder).args(["host", "m1"]).start();
        job.until("the child is up", || folder.join("up").exists());
        let daemons = machines.daemons(1);
        assert_eq!(daemons.len(), 1, "that of the child's job alone");
        Process { pid: daemons[0], name: "oxmpid".into(), state: '?' }.signal(Signal::KILL);
        let apart = how == "apart";
        if apart {
            job.until("the daemon is gone", || machines.daemons(1).is_empty());
            std::fs::write(folder.join("killed"), "").expect("written");
        }
        let ended = job.wait_and_leave_nothing().ended_with(1);
        assert_eq!(ended.err.matches("node daemon on").count(), 1, "{how}: one report: {}", ended.err);
        assert_eq!(ended.out.matches("ok\n").count(), if apart { 2 } else { 0 }, "{how}: {}", ended.out);
        assert!(machines.daemons(1).is_empty(), "nothing is left");
    }
}

/// The one who asks is killed, or mpirun interrupted, while a daemon is on its way.
#[test]
fn nobody_waits_for_a_daemon_any_more() {
    if !ours("daemons that are given up") {
        return;
    }
    for signal in [Signal::KILL, Signal::TERM] {
        let job = Job::of(Command::new(mpi().bin("mpirun"))).args(["--host", "localhost:4", "-n", "1"]);
        let folder = job.folder();
        let agent = folder.join("agent");
        let script = format!("#!/bin/sh\ntouch {}/called\nexec sleep 100\n", folder.display());
        std::fs::write(&agent, script).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&agent, mode).expect("ours");
        let job = job.args(["--mca", "plm_ssh_agent"]).arg(&agent).program("spawn");
        let mut job = job.args(["stay", "together"]).arg(&folder).args(["add-host", "far:2"]).start();
        job.until("a daemon is being started", || folder.join("called").exists());
        let rank = job.processes().into_iter().find(|process| process.name == "spawn").expect("it waits");
        match signal {
            Signal::KILL => rank.signal(signal),
            _ => job.launcher().signal(signal),
        }
        let ended = job.wait_and_leave_nothing().failed();
        assert_eq!(ended.err.matches("-----\n").count(), 2, "one report: {}", ended.err);
    }
}

/// The program without mpirun, and everything that it and an mpirun of its own print.
fn alone(words: &[&str]) -> Job {
    let shell = Job::of(Command::new("sh")).args(["-c", "\"$@\" | cat", "sh"]);
    shell.program("spawn").args(words).weighs(4)
}

#[test]
fn a_process_without_mpirun_starts_processes() {
    if !ours("an mpirun for a process without one") {
        return;
    }
    alone(&["talk", "2"]).run().all_ok(5);
    alone(&["talk", "2"]).env("OXMPI_MCA_btl", "tcp,self").run().all_ok(5);
    alone(&["nested", "2"]).run().all_ok(4);
    alone(&["threads", "1"]).run().all_ok(1 + 4 * 2);
    alone(&["refused"]).run().all_ok(3);
    // One mpirun for all, and nothing of it is left when its jobs are over.
    alone(&["loop", "5"]).start().wait_and_leave_nothing().all_ok(6);
    let job = Job::of(Command::new(mpi().program("spawn"))).args(["talk", "1"]);
    let ended = job.env("OXMPI_MPIRUN", "/no/such/mpirun").run().failed();
    let parts = ["MPI_ERR_SPAWN", "was not started by mpirun", "/no/such/mpirun"];
    assert!(parts.iter().all(|part| ended.err.contains(part)), "{}", ended.err);
}

/// A process and the mpirun that it has started end together.
#[test]
fn an_mpirun_of_its_own_ends_with_its_process() {
    if !ours("ends of a process without mpirun") {
        return;
    }
    let job = Job::of(Command::new(mpi().program("spawn")));
    let folder = job.folder();
    let mut job = job.args(["stay", "together"]).arg(&folder).start();
    job.until("the child is up", || folder.join("up").exists());
    let process = job.launcher();
    process.signal(Signal::KILL);
    let ended = job.wait_and_leave_nothing().ended_with(128 + libc::SIGKILL);
    let name = format!("Process {} on node", process.pid);
    assert_eq!(ended.err.matches("-----\n").count(), 2, "one report: {}", ended.err);
    assert!(ended.err.contains(&name), "{}", ended.err);
    let ended = alone(&["abort"]).start().wait_and_leave_nothing();
    assert_eq!(ended.err.matches("MPI_Abort was called").count(), 1, "one report: {}", ended.err);
    assert!(!ended.out.contains("ok"), "{}", ended.out);
}

#[test]
fn several_programs_hints_and_slots() {
    spawn(2, &["multiple"]).run().all_ok(6);
    let job = spawn(2, &["hints"]);
    let folder = job.folder().canonicalize().expect("it is there");
    job.arg(&folder).run().all_ok(4);
    if !ours("slots that are left") {
        return;
    }
    // Without the option of the other tests that allows more processes than slots.
    let mut command = Command::new(mpi().bin("mpirun"));
    command.args(["--host", "localhost:4", "-n", "1"]).arg(mpi().program("spawn")).args(["slots", "3"]);
    Job::of(command).weighs(4).run().all_ok(4);
}

#[test]
fn endpoints_are_parents() {
    if !ours("endpoints") {
        return;
    }
    for (ranks, children) in [(1, 1), (2, 3)] {
        spawn(ranks, &["endpoints", &children.to_string()]).run().all_ok(ranks + 2 * children);
    }
    let job = Job::new(2).args(["--mca", "btl", "tcp,self"]).program("spawn").args(["endpoints", "2"]);
    job.weighs(4).run().all_ok(6);
}

#[test]
fn started_processes_start_others() {
    spawn(1, &["nested", "3"]).run().all_ok(5);
    spawn(1, &["threads", "2"]).run().all_ok(1 + 4 * 2 * 2);
}

#[test]
fn what_cannot_be_started_is_refused_and_costs_nothing() {
    if !ours("refusals") {
        return;
    }
    spawn(2, &["refused"]).run().all_ok(4);
}

#[test]
fn what_is_connected_ends_together() {
    if !ours("ends of several jobs") {
        return;
    }
    let ended = spawn(2, &["abort"]).run().ended_with(5);
    assert_eq!(ended.err.matches("MPI_Abort was called").count(), 1, "one report: {}", ended.err);
    let ended = spawn(2, &["exit"]).run().ended_with(9);
    assert_eq!(ended.err.matches("status 9").count(), 1, "one report: {}", ended.err);
}

#[test]
fn what_is_disconnected_does_not() {
    if !ours("ends of several jobs") {
        return;
    }
    let ended = spawn(2, &["apart"]).run().ended_with(6);
    assert_eq!(ended.out.matches("ok\n").count(), 2, "the first job goes on: {}", ended.out);
    assert_eq!(ended.err.matches("MPI_Abort was called").count(), 1, "one report: {}", ended.err);
}

/// A job that is not connected has no part in the status, where an option says so.
#[test]
fn the_status_is_the_first_job_s() {
    if !ours("an option of mpirun") {
        return;
    }
    let job =
        |what: &str| Job::new(2).arg("--report-child-jobs-separately").program("spawn").arg(what).weighs(4);
    let ended = job("apart").run().ended_with(0);
    assert_eq!(ended.out.matches("ok\n").count(), 2, "{}", ended.out);
    assert_eq!(ended.err.matches("MPI_Abort was called").count(), 1, "one report: {}", ended.err);
    job("exit").run().ended_with(9);
}

/// A program that never comes to MPI_Init is waited for as long as an option says.
#[test]
fn what_does_not_start_in_time_is_refused() {
    if !ours("an option of mpirun") {
        return;
    }
    let job = Job::new(2).args(["--spawn-timeout", "3"]).program("spawn").args(["late", "1"]).weighs(4);
    job.start().wait_and_leave_nothing().all_ok(3);
}

#[test]
fn output_is_marked_with_the_job() {
    if !ours("marks") {
        return;
    }
    let job = Job::new(1).args(["--output", "tag"]).program("spawn").args(["print", "2"]).weighs(3);
    let ended = job.run().ended_with(0);
    for line in ["[2,0]<stdout>: child 0 of 2", "[2,1]<stdout>: child 1 of 2", "[1,0]<stdout>: ok"] {
        assert!(ended.out.contains(line), "{line:?} is not in\n{}", ended.out);
    }
}
