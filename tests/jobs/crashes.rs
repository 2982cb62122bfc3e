//! A signal ends a rank: one stack per job, with names and lines, whatever the program does with
//! signals of its own.

use oxmpi_tests::{Ended, Job, leave_out, mpi};
use std::process::Command;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "the reports are ours");
    }
    mpi().is_ours()
}

fn crash(ranks: usize, how: &str) -> Job {
    Job::new(ranks).program("crash").arg(how)
}

#[track_caller]
fn says(ended: &Ended, parts: &[&str]) {
    for part in parts {
        assert!(ended.err.contains(part), "{part:?} is not in\n{}", ended.err);
    }
}

#[test]
fn the_report_of_a_crash() {
    if !ours("the report of a crash") {
        return;
    }
    let ended = crash(3, "segv").run().ended_with(128 + 11);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    says(&ended, &["Rank 2", &host, "SIGSEGV", "no memory is mapped there", "fault address 0x8", "Thread "]);
    says(&ended, &["#0", "store_through_null", "crash.c:", "main"]);
    assert_eq!(ended.err.matches("#0 ").count(), 1, "one stack:\n{}", ended.err);
}

#[test]
fn kinds_of_crashes() {
    if !ours("kinds of crashes") {
        return;
    }
    let all = [
        ("abort", 6, "SIGABRT", "main"),
        ("fpe", 8, "integer division by zero", "divide_by_zero"),
        ("overflow", 11, "SIGSEGV", "fall"),
        ("raise", 11, "sent by a process", "main"),
        ("thread", 11, "fault address 0x8", "in_a_thread"),
    ];
    for (how, number, part, function) in all {
        let ended = crash(2, how).run().ended_with(128 + number);
        says(&ended, &["Rank 1", part, function]);
    }
}

#[test]
fn all_ranks_crash_and_one_stack_is_shown() {
    if !ours("one stack per job") {
        return;
    }
    let ended = crash(6, "all").run().ended_with(128 + 11);
    assert_eq!(ended.err.matches("#0 ").count(), 1, "one stack:\n{}", ended.err);
    assert_eq!(ended.err.matches("was killed by").count(), 1, "one report:\n{}", ended.err);
}

/// A handler of the program's own decides, installed before MPI_Init or after it, and what is
/// survived is not news; a child of a rank is no rank.
#[test]
fn programs_with_handlers_of_their_own() {
    crash(2, "later").run().ended_with(7);
    for how in ["before", "child"] {
        let ended = crash(2, how).run().all_ok(2);
        assert_eq!(ended.err, "", "{how}");
    }
}

#[test]
fn where_reports_go() {
    if !ours("where reports go") {
        return;
    }
    let with =
        |name: &str, value: &str| Job::new(2).args(["--mca", name, value]).program("crash").arg("segv");
    let ended = with("opal_stacktrace_output", "none").run().ended_with(139);
    assert!(!ended.err.contains("#0 "), "{}", ended.err);
    let ended = with("opal_signal", "6,8").run().ended_with(139);
    assert!(!ended.err.contains("#0 "), "{}", ended.err);
    let ended = with("opal_stacktrace_output", "stdout").run().ended_with(139);
    assert!(ended.out.contains("store_through_null") && !ended.err.contains("#0 "), "{}", ended.err);
    let job = Job::new(2);
    let name = job.folder().join("trace");
    let running = job
        .args(["--mca", "opal_stacktrace_output", &format!("file:{}", name.display())])
        .program("crash")
        .arg("segv")
        .start();
    let folder = running.folder();
    let mut text = String::new();
    let ended = running.wait_with(|| {
        let files = std::fs::read_dir(&folder).expect("the job's folder").flatten();
        let file = files.map(|e| e.path()).find(|p| p.to_string_lossy().contains("trace.1."));
        text = std::fs::read_to_string(file.expect("a file of rank 1")).expect("text");
    });
    assert!(text.contains("store_through_null"), "{text}");
    says(&ended.ended_with(139), &["stands in", "trace.1."]);
    let ended = with("opal_signal", "6:loudly").run().failed();
    says(&ended, &["opal_signal", "complain"]);
}

#[test]
fn a_program_alone_says_it_itself() {
    if !ours("a crash without mpirun") {
        return;
    }
    let mut command = Command::new(mpi().program("crash"));
    command.arg("segv");
    let ended = Job::of(command).run().ended_with(139);
    says(&ended, &["got signal 11", "0x8", "its stack", "crash"]);
}

/// A job whose ranks wait, asleep, for the most part of its time.
fn asleep(ranks: usize) -> Job {
    Job::new(ranks).weighs(1)
}

/// At the time limit everybody is asked where he is, MPI program or not. The limit is long enough for a busy machine
/// to start them.
#[test]
fn stacks_at_the_time_limit() {
    if !ours("stacks at the time limit") {
        return;
    }
    let job = asleep(2).args(["--timeout", "10", "--get-stack-traces", "--report-state-on-timeout"]);
    let folder = job.folder();
    let ended = job.program("hang").arg(folder).start().wait_and_leave_nothing().ended_with(110);
    says(&ended, &["Rank 0", "Rank 1", "between MPI_Init and MPI_Finalize", "Thread 1"]);
    if ended.err.contains("cannot be read: Operation not permitted") {
        return leave_out("stacks at the time limit", "this machine does not permit ptrace");
    }
    says(&ended, &["main at ", "hang.c:", "MPI_Recv", "frames inside of MPI; --verbose shows them"]);
    assert!(!ended.err.contains("communicator.rs:"), "frames of the library are left out:\n{}", ended.err);
    let job = Job::new(1).args(["--timeout", "10", "--get-stack-traces", "--verbose"]);
    let folder = job.folder();
    let ended = job.program("hang").arg(folder).arg("recv").run().ended_with(110);
    says(&ended, &["main at ", "MPI_Recv", "communicator.rs:"]);
    let job = Job::new(1).args(["--timeout", "5", "--get-stack-traces"]).args(["sleep", "1000"]);
    let ended = job.run().ended_with(110);
    says(&ended, &["has not called MPI_Init", "nanosleep"]);
}

/// Each rank's state names the call it is in, the communicator, peer and tag, for a wait those of its requests.
#[test]
fn states_at_the_time_limit_name_calls() {
    if !ours("states at the time limit") {
        return;
    }
    let job = asleep(4).args(["--timeout", "10", "--report-state-on-timeout"]);
    let ended = job.program("waits").start().wait_and_leave_nothing().ended_with(110);
    assert_eq!(ended.out.matches("up").count(), 4, "{}", ended.out);
    let state = |rank: u32| {
        let line = ended.err.lines().find(|line| line.starts_with(&format!("Rank {rank} ")));
        line.unwrap_or_else(|| panic!("no state of rank {rank}:\n{}", ended.err))
    };
    assert!(state(0).contains("it is in MPI_Recv from rank 1 with tag 9 on halo exchange"), "{}", state(0));
    for part in [
        "it is in MPI_Waitall for MPI_Irecv from any rank with tag 17 on halo exchange",
        "MPI_Irecv from rank 2 with any tag on MPI_COMM_WORLD",
        "MPI_Issend to rank 3 with tag 5 on MPI_COMM_WORLD",
    ] {
        assert!(state(1).contains(part), "{part}: {}", state(1));
    }
    assert!(state(2).contains("it is in MPI_Bcast with root 3 on MPI_COMM_WORLD"), "{}", state(2));
    assert!(state(3).contains("it is in no MPI call"), "{}", state(3));
    says(&ended, &["--get-stack-traces mpirun shows where each process is"]);
    // Everything goes on as usual meanwhile, on the way of unusual calls.
    let job = Job::new(2).args(["--timeout", "200", "--report-state-on-timeout"]);
    job.program("pairs").run().passed();
    Job::new(2).args(["--report-state-on-timeout"]).program("requests").run().all_ok(2);
}

/// MPI_Init waits for all processes of a job; one that ends without it ends the job at once.
#[test]
fn a_process_that_never_calls_mpi_init() {
    if !ours("a process that never calls MPI_Init") {
        return;
    }
    let program = mpi().program("ring");
    let job = Job::new(1).arg(&program).args([":", "-n", "1", "true"]);
    let ended = job.start().wait_and_leave_nothing().ended_with(1);
    says(&ended, &["Rank 1 ", "without calling MPI_Init", "0 waits for it there"]);
    // The other order, and one that comes to MPI_Init when the other one has long gone.
    let late = "sleep 1; exec \"$0\"";
    let job = Job::new(1).arg("true").args([":", "-n", "1", "sh", "-c", late]).arg(&program);
    let ended = job.start().wait_and_leave_nothing().ended_with(1);
    says(&ended, &["Rank 0 ", "without calling MPI_Init", "1 waits for it there"]);
}

#[test]
fn an_abort_says_where_it_was_called_if_asked() {
    if !ours("where an abort was called") {
        return;
    }
    let with = |name: &str, value: &str, how: &[&str]| {
        let job = Job::new(3).args(["--mca", name, value]).program("leave").args(how);
        job.start().wait_and_leave_nothing()
    };
    let plain = with("opal_abort_print_stack", "0", &["abort", "7"]).ended_with(7);
    assert!(!plain.err.contains("#0 "), "{}", plain.err);
    for name in ["opal_abort_print_stack", "mpi_abort_print_stack"] {
        let ended = with(name, "1", &["abort", "7"]).ended_with(7);
        says(&ended, &["Rank 1", "MPI_Abort with code 7", "#0 ", "MPI_Abort", "main at ", "leave.c:"]);
    }
    // A fatal error is one, too.
    let ended = with("opal_abort_print_stack", "1", &["error"]).failed();
    says(&ended, &["MPI_Send", "#0 ", "main at ", "leave.c:"]);
    let job = Job::new(2).args(["--mca", "opal_abort_print_stack", "1"]);
    let ended = job.args(["--mca", "opal_stacktrace_output", "none"]).program("leave").args(["abort", "7"]);
    assert!(!ended.run().ended_with(7).err.contains("#0 "), "none is none");
}

#[test]
fn an_abort_waits_for_a_debugger_if_asked() {
    if !ours("an abort that waits") {
        return;
    }
    let waits = |seconds: &str, limit: &str| {
        let job = asleep(2).args(["--timeout", limit, "--mca", "opal_abort_delay", seconds]);
        job.program("leave").args(["abort", "7"]).start().wait_and_leave_nothing()
    };
    let ended = waits("1", "100").ended_with(7);
    says(&ended, &["Rank 1", "is about to abort", "1 seconds", "MPI_Abort with code 7"]);
    let ended = waits("-1", "15").ended_with(110);
    says(&ended, &["is about to abort", "for ever"]);
    assert!(!ended.err.contains("MPI_Abort with code"), "{}", ended.err);
}

/// While the stack of one rank is read, the output of another waits and is not lost.
#[test]
fn what_others_have_written_is_not_lost_in_a_crash() {
    if !ours("output beside a crash") {
        return;
    }
    let job = Job::new(2);
    let file = job.folder().join("written");
    let mut written = 0;
    let running = job.program("loud").arg(&file).start();
    let ended = running.wait_with(|| {
        let bytes = std::fs::read(&file).expect("rank 0 made it");
        written = i64::from_le_bytes(bytes[..8].try_into().expect("a page"));
    });
    let ended = ended.ended_with(128 + 11);
    says(&ended, &["Rank 1", "store_through_null"]);
    let mut expected = 0;
    // Rank 0 may be killed between writing a line and noting it, and within a line.
    for line in ended.out.lines().take_while(|l| l.starts_with("line ")) {
        expected += 1;
        let last = expected > written;
        assert!(last || line == format!("line {expected}"), "{line:?} stands where line {expected} should");
    }
    assert!(written >= 1000 && expected >= written, "{written} lines were written, {expected} came");
}
