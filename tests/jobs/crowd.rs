//! Many ranks on few cores: what each of them takes.

use oxmpi_tests::{Job, leave_out, mpi};

/// KiB of proportional memory that a rank may take after an allreduce.
const SHARE: i64 = 3584;
/// KiB of memory in which the ranks of a node meet when the threads of each talk to all others, and up to how many cores it
/// is so: from there on ranks have more resource instances, one for each of their cores.
const MEETING_PLACE: i64 = 64 << 10;
const CORES: usize = 64;

#[test]
fn sixty_four_ranks_take_little_memory_each() {
    if !mpi().is_ours() {
        return leave_out("memory of many ranks", "the bound is ours");
    }
    if !std::path::Path::new("/proc/self/smaps_rollup").exists() {
        return leave_out("memory of many ranks", "this kernel does not say");
    }
    let ended = Job::new(64).program("footprint").run().all_ok(64);
    let shares = ended.out.lines().filter_map(|l| l.strip_prefix("share ")?.parse().ok());
    let shares: Vec<i64> = shares.collect();
    let worst = shares.iter().max().copied().unwrap_or(-1);
    assert!(
        shares.len() == 64 && shares.iter().all(|&s| s > 0 && s <= SHARE),
        "up to {worst} KiB: {shares:?}"
    );
}

/// Rings of resource instances but the first are smaller where there are many pairs of ranks, and instances are fewer.
#[test]
fn threads_of_several_ranks_take_little_memory_together() {
    const WHAT: &str = "memory of many threads";
    if !mpi().is_ours() {
        return leave_out(WHAT, "the bound is ours");
    }
    if std::thread::available_parallelism().map_or(1, usize::from) > CORES {
        return leave_out(WHAT, "ranks have more instances on so many cores");
    }
    for (ranks, threads) in [(2, "16"), (4, "16"), (8, "8")] {
        let ended = Job::new(ranks).program("crossings").arg(threads).limit(300).run().all_ok(ranks);
        let memory = ended.out.lines().find_map(|l| l.strip_prefix("memory ")?.parse().ok());
        let memory: i64 = memory.unwrap_or(-1);
        assert!(memory > 0 && memory <= MEETING_PLACE, "{ranks} ranks: {memory} KiB");
    }
}

#[test]
fn who_looks_in_vain_gives_its_core_away() {
    const WHAT: &str = "looks in vain";
    if !mpi().is_ours() {
        return leave_out(WHAT, "how many looks it takes is ours");
    }
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return leave_out(WHAT, "two ranks need two cores here");
    }
    let job = |options: &[&str], cores: &str| {
        let ended = Job::new(2).args(options).program("looks").arg(cores).run();
        ended.all_ok(2);
    };
    job(&["--bind-to", "core"], "1");
    job(&["--bind-to", "core", "--mca", "mpi_yield_when_idle", "1"], "0");
}

/// The yields of the program take long while no rank has the cores.
#[test]
fn who_is_not_given_its_core_back_sleeps() {
    if !mpi().is_ours() {
        return leave_out("yields that take long", "when a thread yields is ours");
    }
    let job = |limit: &str, least: &str, most: &str| {
        let options =
            ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "--mca", "mpi_yield_limit", limit];
        Job::new(2).args(options).program("courtesy").arg(least).arg(most).run().all_ok(2);
    };
    job("400", "1", "30");
    job("0", "40", "100000");
}
