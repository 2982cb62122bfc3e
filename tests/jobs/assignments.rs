//! Several resource instances: how messages find theirs, who progresses them, and threads that come and go.

use oxmpi_tests::{Job, btl_fabric, leave_out, mpi};

const ASSIGNMENTS: [&str; 3] = ["stream", "dedicated", "round_robin"];
/// Published ways of progress, each with the assignment that goes with it and one that does not.
const PUBLISHED: [[&str; 2]; 6] = [
    ["dedicated_then_all", "dedicated"],
    ["dedicated_then_all", "stream"],
    ["round_robin", "round_robin"],
    ["round_robin", "stream"],
    ["one_lock", "dedicated"],
    ["one_lock", "stream"],
];

fn job(ranks: usize, cris: &str, assignment: &str, progress: &str) -> Job {
    Job::new(ranks).limit(300).args([
        "--mca",
        "runtime_num_cris",
        cris,
        "--mca",
        "runtime_cri_assignment",
        assignment,
        "--mca",
        "runtime_progress",
        progress,
    ])
}

/// Sends and receives that the program puts in order come in order, in every assignment and way of progress: one
/// tag, many by MPI_ANY_TAG, mixed; into full rings, at first contact, with fewer instances than threads and more,
/// and all else that threads do.
#[test]
fn order_in_every_assignment() {
    if !mpi().is_ours() {
        return leave_out("order_in_every_assignment", "about our own resource instances");
    }
    for (number, assignment) in ASSIGNMENTS.into_iter().enumerate() {
        for (shape, (progress, ranks, cris, threads)) in [
            ("concurrent", 2, "2", "5"),
            ("serial", 2, "4", "4"),
            ("concurrent", 4, "7", "3"),
            ("serial", 2, "16", "9"),
        ]
        .into_iter()
        .enumerate()
        {
            let job = || job(ranks, cris, assignment, progress);
            job().program("order").args([threads, "200"]).run().all_ok(ranks);
            if assignment == "stream" {
                // Messages of a communicator part at the first change of threads.
                let parts = job().args(["--mca", "pml_ob1_fork_turns", "1"]);
                parts.program("order").args([threads, "200"]).run().all_ok(ranks);
            }
            // In each assignment and each shape, in some of both.
            if (number + shape) % 2 == 0 {
                job().program("threads").arg(threads).run().all_ok(ranks);
            }
        }
        // Those who wait sleep; and rings that are full at once.
        let asleep = job(2, "4", assignment, "concurrent").args(["--mca", "mpi_spin_count", "1"]);
        asleep.program("order").args(["4", "100"]).run().all_ok(2);
        let tight = job(2, "3", assignment, "concurrent").args(["--mca", "btl_shm_ring_size", "64k"]);
        tight
            .args(["--mca", "pml_ob1_eager_credit", "10k"])
            .program("order")
            .args(["4", "200"])
            .run()
            .all_ok(2);
        // The transport has fewer contexts than the process has instances; and the number is chosen.
        let fewer =
            job(2, "6", assignment, "concurrent").args(["--mca", "btl_shm_virtual_device_count", "2"]);
        fewer.program("order").args(["4", "100"]).run().all_ok(2);
        job(2, "0", assignment, "concurrent").program("order").args(["4", "100"]).run().all_ok(2);
        // To itself.
        job(1, "3", assignment, "concurrent").program("order").args(["4", "100"]).run().all_ok(1);
    }
}

/// The same by the published ways of progress, with the waits of the library and with those that race, which with one lock is
/// Algorithm 1 of the dissertation; and with a limit on the threads in progress.
#[test]
fn order_in_every_published_way() {
    if !mpi().is_ours() {
        return leave_out("order_in_every_published_way", "about our own ways of progress");
    }
    for [progress, assignment] in PUBLISHED {
        for (wait, cris, threads) in [("sync", "4", "5"), ("race", "4", "3"), ("race", "1", "4")] {
            let job = || job(2, cris, assignment, progress).args(["--mca", "runtime_wait", wait]);
            job().program("order").args([threads, "100"]).run().all_ok(2);
            job().args(["--mca", "btl", "tcp,self"]).program("order").args([threads, "40"]).run().all_ok(2);
        }
        job(2, "4", assignment, progress).program("threads").arg("4").run().all_ok(2);
        let asleep = job(2, "4", assignment, progress).args(["--mca", "mpi_spin_count", "1"]);
        asleep.program("order").args(["4", "100"]).run().all_ok(2);
        let limited = job(2, "4", assignment, progress).args(["--mca", "opal_max_thread_in_progress", "1"]);
        limited.program("order").args(["4", "100"]).run().all_ok(2);
    }
    let two = job(2, "4", "dedicated", "concurrent").args(["--mca", "runtime_max_threads_in_progress", "2"]);
    two.program("order").args(["5", "100"]).run().all_ok(2);
}

/// More instances than a word has bits: messages go on 64 of them, one-sided operations on all.
#[test]
fn more_instances_than_bits_of_a_word() {
    if !mpi().is_ours() {
        return leave_out("more_instances_than_bits_of_a_word", "about our own resource instances");
    }
    for (assignment, progress) in
        [("stream", "concurrent"), ("dedicated", "dedicated_then_all"), ("round_robin", "serial")]
    {
        job(2, "128", assignment, progress).program("order").args(["70", "5"]).run().all_ok(2);
    }
    for progress in ["concurrent", "dedicated_then_all"] {
        for btl in ["shm,self", "tcp,self"] {
            let windows = job(2, "128", "dedicated", progress).args(["--mca", "btl", btl]);
            windows.program("rma_threads").args(["80", "3"]).run().all_ok(2);
        }
    }
}

/// The same over transports that are not shared memory: one of sockets, and a device whose contexts overtake each other, which
/// the messages of several contexts have to stand.
#[test]
fn order_in_every_assignment_over_other_transports() {
    if !mpi().is_ours() {
        return leave_out("order_in_every_assignment_over_other_transports", "about our own transports");
    }
    let (template, fabric) = (mpi().component("btl-template"), btl_fabric().parent().expect("a folder"));
    for assignment in ASSIGNMENTS {
        for progress in ["concurrent", "serial"] {
            let over = |btl: &str, path: &std::path::Path| {
                let job = job(2, "3", assignment, progress).args(["--mca", "btl", btl]);
                job.args(["--mca", "mca_base_component_path"]).arg(path)
            };
            over("template,self", &template).program("order").args(["4", "60"]).run().all_ok(2);
            let shape = ["--mca", "btl_fabric_seed", "3", "--mca", "btl_fabric_shared_queue", "1"];
            let job = over("fabric,self", fabric).args(shape);
            job.program("order").args(["4", "60"]).run().all_ok(2);
        }
    }
}

/// Only messages that are spread by thread or in turn come out of sequence, and each tool sees it.
#[test]
fn what_comes_out_of_sequence_is_counted() {
    if !mpi().is_ours() {
        return leave_out("what_comes_out_of_sequence_is_counted", "about our own counters");
    }
    for assignment in ASSIGNMENTS {
        let job = job(2, "4", assignment, "concurrent").args(["--mca", "mpi_spc_dump_enabled", "1"]);
        let ended = job.program("order").args(["4", "200"]).run().passed();
        let dump = format!("{}{}", ended.out, ended.err);
        assert!(dump.contains("OMPI_SPC_SEND -> "), "{dump}");
        let counted = dump.contains("OMPI_SPC_OUT_OF_SEQUENCE -> ");
        assert_eq!(counted, assignment != "stream", "{assignment}: {dump}");
        assert!(!dump.contains("OMPI_SPC_OOS_IN_QUEUE"), "kept to the end: {dump}");
        for counter in ["progress_calls[3]", "completions[3]", "shared_writes[3]"] {
            assert!(dump.contains(&format!("runtime_cri_{counter} -> ")), "{counter}: {dump}");
        }
    }
}

/// Hundreds of threads, few at a time: instances and numbers of those that ended serve those that come, and what
/// they left undone is done by others.
#[test]
fn threads_that_come_and_go() {
    Job::new(2).program("generations").limit(300).run().all_ok(2);
    if !mpi().is_ours() {
        return leave_out(
            "threads_that_come_and_go over several instances",
            "about our own resource instances",
        );
    }
    for assignment in ASSIGNMENTS {
        for progress in ["concurrent", "serial", "dedicated_then_all", "round_robin"] {
            job(2, "3", assignment, progress).program("generations").args(["600", "7"]).run().all_ok(2);
        }
    }
}
