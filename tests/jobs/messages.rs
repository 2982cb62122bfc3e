//! That messages arrive: the same programs run on any MPI (`MPI_UNDER_TEST`).

use oxmpi_tests::{Job, leave_out, mpi};

#[test]
fn ring() {
    for ranks in [1, 2, 5] {
        Job::new(ranks).program("ring").run().all_ok(ranks);
    }
}

#[test]
fn a_program_starts_without_a_launcher() {
    let program = mpi().program("ring");
    Job::of(std::process::Command::new(program)).run().all_ok(1);
}

#[test]
fn start_and_stop() {
    for ranks in [1, 4] {
        Job::new(ranks).program("start_stop").run().all_ok(ranks);
    }
}

#[test]
fn protocols() {
    for ranks in [2, 4] {
        Job::new(ranks).program("protocols").limit(300).run().all_ok(ranks);
    }
}

/// Long enough that messages which may be read or copied went both ways.
#[test]
fn messages_that_are_answered_one_by_one() {
    Job::new(2).program("answered").limit(300).run().all_ok(2);
    if mpi().is_ours() {
        for (name, value) in [("btl_shm_single_copy_mechanism", "none"), ("btl_shm_ring_size", "256k")] {
            Job::new(2).args(["--mca", name, value]).program("answered").limit(300).run().all_ok(2);
        }
    }
}

/// Containers refuse process_vm_readv: large messages go another way, and are right.
#[test]
fn protocols_where_reading_a_peers_memory_is_refused() {
    let job = Job::new(2).program("noreadv").arg(mpi().program("protocols")).limit(300);
    let ended = job.run();
    if ended.status == 77 {
        return leave_out("protocols under a seccomp filter", ended.err.trim());
    }
    ended.all_ok(2);
}

#[test]
fn protocols_without_single_copy() {
    if !mpi().is_ours() {
        return leave_out("protocols without single copy", "the parameter is ours");
    }
    let job = Job::new(2).args(["--mca", "btl_shm_single_copy_mechanism", "none"]);
    job.program("protocols").limit(300).run().all_ok(2);
}

#[test]
fn non_contiguous_data() {
    Job::new(2).program("datatypes").limit(300).run().all_ok(2);
    if mpi().is_ours() {
        for (name, value) in [("btl_shm_single_copy_mechanism", "none"), ("btl_shm_min_get_size", "4096")] {
            Job::new(2).args(["--mca", name, value]).program("datatypes").limit(300).run().all_ok(2);
        }
    }
}

/// Data in pieces at either end, read from the sender's memory or streamed.
#[test]
fn data_in_pieces() {
    Job::new(2).program("pieces").limit(300).run().all_ok(2);
    let refused = Job::new(2).program("noreadv").arg(mpi().program("pieces")).limit(300).run();
    if refused.status == 77 {
        leave_out("data in pieces under a seccomp filter", refused.err.trim());
    } else {
        refused.all_ok(2);
    }
    if mpi().is_ours() {
        let never = ["--mca", "pml_ob1_min_get_run", "0"].to_vec();
        let always = ["min_get_run", "1", "min_get_run_local", "1", "max_get_pieces", "0"];
        let always =
            always.chunks(2).flat_map(|p| ["--mca".into(), format!("pml_ob1_{}", p[0]), p[1].into()]);
        for set in [never.into_iter().map(String::from).collect(), always.collect::<Vec<_>>()] {
            Job::new(2).args(&set).program("pieces").limit(300).run().all_ok(2);
        }
    }
}

/// Counts of the program, by kind of message: messages, instructions, atomic ones.
fn counted(out: &str) -> Vec<(&str, [u64; 3])> {
    let line = |line: &'_ str| -> Option<[u64; 3]> {
        let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        numbers.try_into().ok()
    };
    out.lines().filter_map(|l| l.split_once(": ")).filter_map(|(k, rest)| Some((k, line(rest)?))).collect()
}

/// While one thread is in MPI a message takes no lock and costs no atomic read-modify-write, whatever the thread
/// level: every instruction of one rank is looked at.
#[test]
fn messages_of_one_thread_take_no_lock() {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    if !mpi().is_ours() || cores < 2 {
        return leave_out("no lock with one thread", "it counts our instructions, on two cores");
    }
    for (level, rank) in [("single", "0"), ("serialized", "1"), ("multiple", "0"), ("several", "0")] {
        // The other rank may have to wait for long, and being woken costs one.
        let wait = ["--bind-to", "none", "--mca", "mpi_spin_count", "1000000000"];
        let job = Job::new(2).args(wait).args(["--mca", "btl_shm_watched_rings", "4"]);
        let ended = job.program("locks").args([level, rank]).limit(300).run();
        if ended.status == 77 {
            return leave_out("no lock with one thread", ended.err.trim());
        }
        let ended = ended.all_ok(2);
        let counted = counted(&ended.out);
        assert_eq!(counted.len(), 7, "{}", ended.out);
        if level == "several" {
            // A thread that uses a lock alone takes it without atomics; the same counter sees what is left, as before it was alone.
            let all: u64 = counted.iter().map(|(_, [_, _, atomic])| atomic).sum();
            assert!(all > 0, "no atomic operation with two threads: {counted:?}");
        }
        for (kind, [messages, instructions, atomic]) in counted {
            assert!(
                instructions > 200 * messages,
                "{kind}: {instructions} instructions are no {messages} messages"
            );
            if level != "several" {
                assert_eq!(atomic, 0, "{kind}, {level}, rank {rank}");
            }
        }
    }
}

/// Of eight threads with a communicator and a context each, none changes a word that another changes, by an atomic
/// read-modify-write, once for each message, over memory and over TCP; with one context for all of them they do.
#[test]
fn threads_with_a_communicator_each_share_no_lock() {
    if !mpi().is_ours() {
        return leave_out("no lock shared by threads", "it counts our instructions");
    }
    for transport in ["tcp,self", "shm,self"] {
        for (contexts, some) in [("8", false), ("1", true)] {
            match words_shared(transport, contexts, "communicators") {
                Ok(found) => assert_eq!(found > 0, some, "{transport}, {contexts} contexts"),
                Err(why) => return leave_out("no lock shared by threads", &why),
            }
        }
    }
}

/// How many words two of eight threads change by an atomic read-modify-write for their messages; an error where stepping is not permitted.
pub fn words_shared(transport: &str, contexts: &str, what: &str) -> Result<u32, String> {
    let settings = ["--bind-to", "none", "--mca", "btl", transport, "--mca", "runtime_num_cris", contexts];
    // Threads with communicators of their own part at once, however seldom they get a core.
    let job = Job::new(2).args(settings).args(["--mca", "pml_ob1_fork_turns", "1"]);
    let ended = job.program("apart").args(["8", what]).limit(300).run();
    if ended.status == 77 {
        return Err(ended.err.trim().to_owned());
    }
    let ended = ended.all_ok(2);
    let stepped = ended.out.lines().filter(|line| line.contains(": 32 messages, ")).count();
    assert_eq!(stepped, 8, "{}", ended.out);
    println!("{what}, {transport}, {contexts} contexts:\n{}", ended.out);
    let found = ended.out.lines().find_map(|line| line.strip_prefix("shared: ")?.parse().ok());
    Ok(found.unwrap_or_else(|| panic!("nothing was counted: {}", ended.out)))
}

#[test]
fn matching_and_probes() {
    for ranks in [2, 4] {
        Job::new(ranks).program("wildcards").run().all_ok(ranks);
    }
}

/// The standard leaves open what a ready send does without a receive.
#[test]
fn ready_sends_without_a_receive() {
    if !mpi().is_ours() {
        return leave_out("ready sends without a receive", "each library answers in its own way");
    }
    for ranks in [1, 2] {
        Job::new(ranks).program("ready").run().all_ok(ranks);
    }
    Job::new(2).args(["--mca", "pml_ob1_eager_credit", "10k"]).program("ready").run().all_ok(2);
}

#[test]
fn completion_of_requests() {
    Job::new(2).program("requests").run().all_ok(2);
}

#[test]
fn pairs() {
    for ranks in [1, 2, 4] {
        Job::new(ranks).program("pairs").run().all_ok(ranks);
    }
}

#[test]
fn large_messages() {
    Job::new(2).program("large").limit(300).run().all_ok(2);
    let free = free_gib();
    if free < 8 {
        return leave_out("a buffer of more than 2 GiB", &format!("{free} GiB of memory are free, not 8"));
    }
    Job::new(2).program("large").arg("memory").limit(300).run().all_ok(2);
}

/// Whole gibibytes that programs may take without swapping.
pub fn free_gib() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap_or("0");
    let kib: u64 = line.trim().split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    kib >> 20
}

#[test]
fn a_start_allocates_nothing() {
    if !mpi().is_ours() {
        return leave_out("allocations of started operations", "others may make them");
    }
    Job::new(2).program("steady").run().all_ok(2);
    Job::new(2).args(["--mca", "btl_shm_single_copy_mechanism", "none"]).program("steady").run().all_ok(2);
}

#[test]
fn sends_are_cancelled() {
    if !mpi().is_ours() {
        return leave_out("cancelled sends", "the standard lets them complete, and some do that alone");
    }
    for ranks in [1, 2, 3] {
        Job::new(ranks).program("cancel").run().all_ok(ranks);
    }
    Job::new(2).args(["--mca", "btl_shm_single_copy_mechanism", "none"]).program("cancel").run().all_ok(2);
    Job::new(2).args(["--mca", "pml_ob1_eager_credit", "10k"]).program("cancel").run().all_ok(2);
    for assignment in ["stream", "dedicated", "round_robin"] {
        let job = Job::new(2).args(["--mca", "runtime_num_cris", "4"]);
        let job = job.args(["--mca", "runtime_cri_assignment", assignment]);
        job.program("cancel").arg("threads").limit(300).run().all_ok(2);
    }
}

#[test]
fn buffered_sends() {
    for ranks in [1, 3] {
        Job::new(ranks).program("buffered").run().all_ok(ranks);
    }
}

#[test]
fn room_for_a_buffered_send_is_found_beside_other_threads() {
    for cris in ["1", "4"] {
        let job = Job::new(2).args(["--bind-to", "none", "--mca", "runtime_num_cris", cris]);
        job.program("full_buffer").args(["8", "100", "40000"]).limit(300).run().all_ok(2);
    }
}

#[test]
fn partitioned_messages() {
    for ranks in [1, 2] {
        Job::new(ranks).program("partitioned").run().all_ok(ranks);
        Job::new(ranks).program("partitioned").arg("threads").run().all_ok(ranks);
    }
}

/// A million messages of 1 KiB that nobody asked for: none is lost, and what they cost is a header
/// of at most 128 bytes each (122 MiB), the eager credit, and the allocator's slack; not their 1 GiB.
#[test]
fn a_million_unexpected_messages() {
    let limit = if mpi().is_ours() { "160" } else { "1000000" };
    let ended = Job::new(2).program("flood").args(["1000000", "1024", limit]).limit(300).run();
    assert!(ended.out.contains("memory grew by") || ended.status != 0, "{}", ended.out);
    ended.all_ok(2);
}

#[test]
fn collectives() {
    for ranks in [1, 2, 3, 4, 7] {
        Job::new(ranks).program("collectives").limit(300).run().all_ok(ranks);
    }
}

#[test]
fn threads() {
    for (ranks, threads) in [(2, "1"), (2, "4"), (3, "3")] {
        Job::new(ranks).program("threads").arg(threads).limit(300).run().all_ok(ranks);
    }
}

/// Sends and receives that the program puts in order, across threads, with one tag, with many and
/// MPI_ANY_TAG, into full rings, at first contact: every number comes in order.
#[test]
fn order_across_threads() {
    for (ranks, threads) in [(2, "1"), (2, "4"), (4, "3")] {
        Job::new(ranks).program("order").args([threads, "200"]).limit(300).run().all_ok(ranks);
    }
}

/// The same over several FIFOs, with fewer of them than threads, with as many, and with a number that does
/// not divide the tags; and all else that threads do.
#[test]
fn order_over_several_fifos() {
    if !mpi().is_ours() {
        return leave_out("order_over_several_fifos", "about our own resource instances");
    }
    for (ranks, threads, cris) in [(2, "4", "2"), (2, "4", "4"), (4, "3", "7"), (2, "9", "16")] {
        let job = || Job::new(ranks).args(["--mca", "runtime_num_cris", cris]).limit(300);
        job().program("order").args([threads, "200"]).run().all_ok(ranks);
        job().program("threads").arg(threads).run().all_ok(ranks);
    }
    // Receivers whose messages come on several FIFOs sleep, too.
    let job = Job::new(2).args(["--mca", "runtime_num_cris", "4", "--mca", "mpi_spin_count", "1"]);
    job.program("order").args(["4", "200"]).limit(300).run().all_ok(2);
}

/// Locks that one thread took so often that they are its own are taken away from it when it is elsewhere.
#[test]
fn owners_that_are_elsewhere() {
    Job::new(2).program("owners").limit(300).run().all_ok(2);
    if !mpi().is_ours() {
        return leave_out("owners_that_are_elsewhere", "about our own resource instances");
    }
    for options in [
        ["runtime_num_cris", "4", "runtime_progress", "concurrent"],
        ["runtime_num_cris", "4", "runtime_progress", "serial"],
        ["runtime_num_cris", "2", "runtime_cri_assignment", "dedicated"],
        ["runtime_num_cris", "3", "runtime_cri_assignment", "round_robin"],
    ] {
        let mut job = Job::new(2).limit(300);
        for pair in options.chunks(2) {
            job = job.args(["--mca", pair[0], pair[1]]);
        }
        job.program("owners").run().all_ok(2);
    }
}

/// Operations that a thread began and left are ended by another, whoever owns what they need.
#[test]
fn threads_that_are_elsewhere() {
    Job::new(2).program("elsewhere").limit(300).run().all_ok(2);
    if !mpi().is_ours() {
        return leave_out("threads_that_are_elsewhere", "about our own resource instances");
    }
    for options in [
        ["runtime_num_cris", "1", "runtime_progress", "concurrent"],
        ["runtime_num_cris", "4", "runtime_progress", "serial"],
        ["runtime_num_cris", "2", "runtime_cri_assignment", "dedicated"],
        ["runtime_num_cris", "3", "runtime_cri_assignment", "round_robin"],
        ["runtime_num_cris", "8", "mpi_spin_count", "1"],
    ] {
        let mut job = Job::new(2).limit(300);
        for pair in options.chunks(2) {
            job = job.args(["--mca", pair[0], pair[1]]);
        }
        job.program("elsewhere").run().all_ok(2);
    }
}

/// Threads with tags of their own and one with MPI_ANY_TAG in one communicator, over as many FIFOs, with as many matching
/// shards and each engine that keeps its order in its own way.
#[test]
fn matching_spread_over_threads() {
    Job::new(3).program("shards").args(["4", "400"]).limit(300).run().all_ok(3);
    if !mpi().is_ours() {
        return leave_out("matching_spread_over_threads", "about our own resource instances and shards");
    }
    for (cris, shards, engine) in
        [("2", "64", "hash"), ("4", "64", "perpeer"), ("8", "16", "vector"), ("4", "1", "adaptive")]
    {
        let job =
            Job::new(3).args(["--mca", "runtime_num_cris", cris, "--mca", "pml_ob1_max_shards", shards]);
        let job = job.args(["--mca", "pml_ob1_matching", engine]).limit(300);
        job.program("shards").args(["4", "300"]).run().all_ok(3);
    }
}

/// The benchmark with every byte checked, in each of its forms.
#[test]
fn multirate() {
    let program = mpi().build("multirate", &["bench/multirate/multirate.c".into()], &["-O2", "-pthread"]);
    let forms: [(usize, &[&str]); 7] = [
        (2, &["-i", "20"]),
        (2, &["-Dthrds", "-s", "0", "-i", "20"]),
        (4, &["-n", "2", "-m", "2", "-s", "9000", "-w", "32", "-i", "5"]),
        (2, &["-t", "4", "-w", "64", "-i", "10"]),
        (2, &["-t", "4", "-c", "-o", "-w", "64", "-i", "10"]),
        (4, &["-a", "-n", "2", "-m", "2", "-t", "2", "-w", "16", "-i", "5"]),
        (6, &["-a", "-n", "1", "-m", "3", "-c", "-w", "16", "-i", "5"]),
    ];
    for (ranks, options) in forms {
        let ended = Job::new(ranks).arg(&program).arg("-v").args(options).run().passed();
        let line = ended.out.lines().next().unwrap_or("");
        assert_eq!(line.split('\t').count(), 9, "{}: {line:?}", ended.shown);
        assert!(line.ends_with(" msg/s"), "{line:?}");
    }
}

/// A wrong program, of which it is only asked that the ranks with the wrong length hear of it and nobody hangs.
#[test]
fn broadcasts_of_different_lengths_are_noticed() {
    if !mpi().is_ours() {
        return leave_out("broadcasts of different lengths", "MPI need not notice them");
    }
    Job::new(5).program("mismatch").run().all_ok(5);
}
