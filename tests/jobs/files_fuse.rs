//! Files on file systems that take less than they are given, are interrupted, fail, or belong to machines that keep data for themselves: made by the tests, and mounted by FUSE.

use oxmpi_fuse::{Client, Fault, Faulty, Mounted, Server, can_mount};
use oxmpi_tests::{Job, has_io_uring, leave_out, mpi};
use std::process::Command;

/// Whether the test can run here.
fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "other libraries may give up where a call is interrupted");
        return false;
    }
    can_mount().inspect_err(|why| leave_out(test, why)).is_ok()
}

/// Ranks of two nodes, made up on this machine.
fn two_nodes() -> Job {
    let job = Job::of(Command::new(mpi().bin("mpirun"))).limit(300);
    job.args(["--host", "a:2,b:2", "--mca", "plm", "local"])
}

/// Runs a test with a mount of a file system that has the fault.
fn with_fault(fault: Fault, every: u64, test: impl FnOnce(&Mounted)) {
    let faulty = Faulty::new(fault, every);
    let mounted = Mounted::new(faulty.clone());
    test(&mounted);
    drop(mounted);
    faulty.end();
    assert!(faulty.asked() > 20, "{fault:?}: the file system was hardly asked");
}

/// Short, interrupted, refused, slow and reordered answers change nothing but the time.
#[test]
fn random_operations_on_a_file_system_with_faults() {
    if !ours("random operations on a file system with faults") {
        return;
    }
    let faults = [
        Fault::None,
        Fault::Short,
        Fault::Fails(libc::EINTR),
        Fault::Fails(libc::EAGAIN),
        Fault::Slow,
        Fault::Reordered,
    ];
    for (at, fault) in faults.into_iter().enumerate() {
        let seed = format!("{}", 100 * at + 100);
        for job in [Job::new(4).limit(300), two_nodes()] {
            with_fault(fault, 3, |mounted| {
                let job = job.program("files_random").arg(mounted.path());
                job.args([&*seed, "10", "4"]).run().all_ok(4);
            });
        }
    }
}

/// Failures of the file system have their class and the path, are everybody's in collective calls, and damage nothing.
#[test]
fn failures_of_a_file_system_have_their_class() {
    if !ours("a file system that fails") {
        return;
    }
    for (fault, class) in [
        (Fault::Fails(libc::EIO), "io"),
        (Fault::WriteFails(libc::ENOSPC), "space"),
        (Fault::WriteFails(libc::EDQUOT), "quota"),
    ] {
        // An atomic access asks for many more pieces of the file.
        for (mode, every) in [("nonatomic", 40), ("atomic", 400)] {
            with_fault(fault, every, |mounted| {
                let job = Job::new(4).limit(300).program("files_faults");
                job.arg(mounted.path()).args([class, mode]).run().all_ok(4);
            });
        }
    }
}

/// The kernel's rings read wrong data of such file systems, and are not used for them, not even where they are named.
#[test]
fn no_ring_serves_a_file_system_in_user_space() {
    if !ours("file systems in user space without rings") {
        return;
    }
    if !has_io_uring() {
        return leave_out("file systems in user space without rings", "there are none");
    }
    with_fault(Fault::None, 3, |mounted| {
        let job = Job::new(2).args(["--mca", "io_ompio_coll_timing_info", "1"]).program("files_random");
        let ended = job.arg(mounted.path()).args(["1", "1", "1"]).run().all_ok(2);
        assert!(ended.err.contains("served by ufs, posix"), "{}", ended.err);
        let job = Job::new(2).args(["--mca", "fbtl", "uring"]).program("files_random");
        let ended = job.arg(mounted.path()).args(["1", "1", "1"]).run().failed();
        assert!(ended.err.contains("cannot be served by any fbtl component"), "{}", ended.err);
    });
}

/// A job of two nodes whose machines have mounts of their own; `each` ranks on each.
fn on_two_machines(mounts: &[Mounted; 2], each: usize, program: &str, arguments: &[&str]) {
    let hosts = format!("a:{each},b:{each}");
    let job = Job::of(Command::new(mpi().bin("mpirun"))).limit(300);
    let mut job = job.args(["--host", &hosts, "--gmca", "plm", "local", "--gmca", "fs", "nfs"]);
    for (at, mounted) in mounts.iter().enumerate() {
        if at > 0 {
            job = job.arg(":");
        }
        job = job.args(["-n", &each.to_string()]).program(program).arg(mounted.path()).args(arguments);
    }
    job.run().all_ok(2 * each);
}

/// Machines that keep pages, attributes and written bytes, as clients of NFS do: ranks see each other's data where MPI says that they do.
#[test]
fn machines_that_keep_data_see_each_others() {
    if !ours("files of machines that keep data") {
        return;
    }
    // This program syncs before it reads what another rank has written.
    for (each, seed) in [(1, "3000"), (2, "4000")] {
        let server = Server::default();
        let mounts = [1, 2].map(|machine| Mounted::new(Client::new(&server, machine)));
        on_two_machines(&mounts, each, "files_random", &[seed, "10", "5"]);
        assert_eq!(server.list().len(), 0, "{each} ranks each: files are left");
        assert_eq!(server.locks(), 0, "{each} ranks each: locks are left");
    }
}

/// A file that is cut has zeros behind the cut on every machine.
#[test]
fn machines_that_keep_data_see_where_a_file_was_cut() {
    if !ours("files that are cut") {
        return;
    }
    let server = Server::default();
    let mounts = [1, 2].map(|machine| Mounted::new(Client::new(&server, machine)));
    on_two_machines(&mounts, 2, "files_cut", &[]);
    assert_eq!((server.list().len(), server.locks()), (0, 0), "files or locks are left");
}

/// Data that the server refuses when it is sent at last: MPI_File_sync and MPI_File_close say so.
#[test]
fn data_that_is_refused_late_is_told() {
    if !ours("data that is refused late") {
        return;
    }
    for (errno, class) in [(libc::ENOSPC, "space"), (libc::EDQUOT, "quota"), (libc::EIO, "io")] {
        let server = Server::default();
        let mounts =
            [1, 2].map(|machine| Mounted::new(Client::new(&server, machine).with_room(1 << 16, errno)));
        on_two_machines(&mounts, 1, "files_late", &[class]);
    }
}

/// Space is had by writing where a file system has none ahead; where that does not fit the file is as before.
#[test]
fn space_is_had_by_writing() {
    if !ours("space that is had by writing") {
        return;
    }
    for (room, how) in [(u64::MAX, "fits"), (1 << 20, "full")] {
        let server = Server::default();
        let mounted = Mounted::new(Client::new(&server, 1).with_room(room, libc::ENOSPC));
        let job = Job::new(2).limit(300).args(["--mca", "fs", "nfs"]).program("files_space");
        job.arg(mounted.path()).arg(how).run().all_ok(2);
        assert_eq!(server.list().len(), 0, "{how}: files are left");
    }
}
