//! Many ranks on few cores: what each of them takes.

use oxmpi_tests::{Job, leave_out, mpi};

/// KiB of proportional memory that a rank may take after an allreduce.
const SHARE: i64 = 3584;

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
