//! Every matching engine, forced by the parameter and by the info key, at every SIMD level.

use oxmpi_tests::{Job, leave_out, mpi};

const ENGINES: [&str; 8] =
    ["adaptive", "list", "hash", "perpeer", "vector", "fuzzy32", "fuzzy16", "fuzzy8"];

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own engines");
    }
    mpi().is_ours()
}

#[test]
fn deep_queues() {
    for ranks in [2, 3] {
        Job::new(ranks).program("deep").limit(300).run().all_ok(ranks);
    }
}

#[test]
fn every_engine_by_parameter() {
    if !ours("engines by parameter") {
        return;
    }
    for engine in ENGINES {
        let job = || Job::new(3).args(["--mca", "pml_ob1_matching", engine]).limit(300);
        job().program("wildcards").run().all_ok(3);
        job().program("deep").run().all_ok(3);
    }
}

#[test]
fn every_engine_by_info_key() {
    if !ours("engines by info key") {
        return;
    }
    Job::new(2).program("deep").args(ENGINES).limit(300).run().all_ok(2);
}

#[test]
fn every_simd_level() {
    if !ours("SIMD levels") {
        return;
    }
    for level in ["scalar", "avx2", "avx512", "neon"] {
        let engines = ["vector", "fuzzy32", "fuzzy16", "fuzzy8", "hash"];
        let job = Job::new(2).args(["--mca", "pml_ob1_matching_simd", level]);
        let ended = job.program("deep").args(engines).limit(300).run();
        // A level that this processor lacks is refused and named, never replaced.
        if ended.status != 0 && ended.err.contains("which this processor does not have") {
            assert!(ended.err.contains("pml_ob1_matching_simd") && ended.err.contains(level), "{}", ended.err);
            leave_out("every_simd_level", &format!("this processor has no {level}"));
            continue;
        }
        ended.all_ok(2);
    }
}

#[test]
fn an_engine_that_does_not_exist() {
    if !ours("unknown engines") {
        return;
    }
    let ended = Job::new(2).program("deep").arg("quantum").run().failed();
    for part in ["quantum", "adaptive, list, hash"] {
        assert!(ended.err.contains(part), "{part} is not in\n{}", ended.err);
    }
    Job::new(2).args(["--mca", "pml_ob1_matching", "quantum"]).program("ring").run().failed();
}
