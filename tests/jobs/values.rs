//! Values in force: what `mpi-info --explain` says of a parameter is what a rank has; what is out of range is refused before a
//! process is started, by name and with what would be right.

use crate::first_hour::{ours, says, tool};
use oxmpi_tests::{Ended, Job, mpi};
use std::process::Command;

/// A parameter as `mpi-info --explain NAME` has it.
struct Explanation {
    /// As it is set.
    set: String,
    value: String,
    because: String,
    takes: String,
}

/// The lines of each label, joined.
fn explained(name: &str, job: &[&str]) -> Explanation {
    let text = tool("mpi-info", &[&["--explain", name], job].concat()).passed().out;
    let part = |label: &str| -> String {
        let mut parts = Vec::new();
        let mut inside = false;
        for line in text.lines().skip(1) {
            let (head, rest) = (line.get(..13).unwrap_or(line).trim(), line.get(13..).unwrap_or_default());
            inside = if head.is_empty() { inside } else { head == label };
            if inside {
                parts.push(rest.trim());
            }
        }
        parts.join(" ")
    };
    let [set, value, because, takes] = ["value", "in force", "because", "takes"].map(part);
    assert!(!value.is_empty() && !because.is_empty() && !takes.is_empty(), "{text}");
    Explanation { set, value, because, takes }
}

/// Those that a user can set, by their names.
fn parameters() -> Vec<String> {
    let listed = tool("mpi-info", &["--param", "all", "all", "--level", "9", "--parsable"]).passed().out;
    let names = listed.lines().filter_map(|line| {
        let mut parts = line.split(':');
        let param = parts.find(|part| *part == "param").and(parts.next())?;
        (parts.next() == Some("value")).then(|| param.to_owned())
    });
    names.collect()
}

/// Each that says 0, -1, auto or nothing has a value and a sentence that says how it follows.
#[test]
fn every_automatic_value_is_explained() {
    if !ours("values in force") {
        return;
    }
    let names = parameters();
    assert!(names.len() > 100, "{names:?}");
    for name in names {
        let it = explained(&name, &[]);
        // A switch that is off is off.
        if ["0", "-1", "auto", "(empty)"].contains(&it.set.as_str()) && it.value != "false" {
            assert_ne!(it.because, "it is the default", "{name} is {}, which says nothing", it.set);
            // A transport without a device decides nothing.
            let unused = it.because.contains("is not used in this process");
            let decided = it.value != "auto" && it.value != "-1";
            assert!(decided || unused, "{name}: {} because {}", it.value, it.because);
        }
    }
}

/// The way to the ranks of a window, and what counts them.
#[test]
fn the_way_to_ranks_of_a_window_is_explained() {
    if !ours("the way to ranks of a window") {
        return;
    }
    for (name, words) in [
        (
            "osc_rdma_priority",
            &["by load and store", "osc_win_ranks_mapped", "osc_win_ranks_by_requests"][..],
        ),
        ("osc_pt2pt_priority", &["by messages", "osc_win_ranks_by_messages"]),
    ] {
        let it = explained(name, &[]);
        assert!(words.iter().all(|word| it.because.contains(word)), "{name} because {}", it.because);
    }
}

/// Parameters that mpirun alone looks at.
fn is_mpiruns(name: &str) -> bool {
    ["plm", "prte_", "rml_", "mca_base_"].iter().any(|start| name.starts_with(start))
}

/// Every variable of rank 0 has the value that `--explain` tells of such a job.
#[test]
fn a_rank_has_the_values_that_are_explained() {
    if !ours("values in force") {
        return;
    }
    for (ranks, level, set) in
        [(2, "single", &[][..]), (3, "multiple", &["--mca", "btl_shm_ring_size", "100k"])]
    {
        let job = Job::new(ranks).args(set).program("values").arg(level);
        let ended: Ended = job.run().passed();
        let count = ranks.to_string();
        let like = [&["-n", count.as_str(), "--thread-level", level][..], set].concat();
        let mut compared = 0;
        for line in ended.out.lines() {
            let (name, value) = line.split_once('=').expect("name=value");
            if is_mpiruns(name) {
                continue;
            }
            let it = explained(name, &like);
            let told = it.value.split(", that is ").next().unwrap_or_default();
            let told = if told == "(empty)" { "" } else { told };
            assert_eq!(
                told.replace(' ', ""),
                value.replace(' ', ""),
                "{name} with {ranks} ranks, {level}: {}",
                it.because
            );
            compared += 1;
        }
        assert!(compared > 80, "{compared}: {}", ended.out);
    }
}

#[test]
fn choices_are_listed() {
    if !ours("choices") {
        return;
    }
    for (name, choices) in [
        ("plm", &["ssh", "slurm", "manual", "local"][..]),
        ("opal_stacktrace_output", &["none", "stdout", "stderr", "file:NAME"]),
        ("mpi_spc_attach", &["all", "OMPI_SPC_SEND", "OMPI_SPC_RECV"]),
        ("pml_ob1_matching", &["adaptive"]),
        ("btl_shm_single_copy_mechanism", &["auto", "xpmem", "cma", "none"]),
        ("btl", &["self", "shm", "tcp"]),
        ("btl_base_verbose", &["error", "debug"]),
        ("runtime_num_cris", &["0 to 128"]),
    ] {
        let takes = explained(name, &[]).takes;
        assert!(choices.iter().all(|choice| takes.contains(choice)), "{name}: {takes}");
    }
}

/// Whether alone or together with another: no process is started with it.
#[test]
fn what_is_out_of_range_is_refused_before_anything_starts() {
    if !ours("values out of range") {
        return;
    }
    for (settings, parts) in [
        (
            &[("btl_shm_eager_limit", "255")][..],
            &["btl_shm_eager_limit", "command line", "0 (automatic) or 256 to"][..],
        ),
        (&[("btl_shm_rndv_eager_limit", "1")], &["btl_shm_rndv_eager_limit is 1", "256"]),
        (&[("btl_shm_max_send_size", "100")], &["btl_shm_max_send_size is 100", "256"]),
        (
            &[("btl_shm_eager_limit", "64k"), ("btl_shm_max_send_size", "32k")],
            &["btl_shm_eager_limit", "btl_shm_max_send_size"],
        ),
        (&[("pml_ob1_max_shards", "3")], &["pml_ob1_max_shards is 3", "power of two"]),
        (&[("btl_self_queue_size", "1024")], &["btl_self_queue_size", "at least"]),
        (&[("btl_tcp_window", "5m")], &["btl_tcp_window", "power of two"]),
        (&[("btl_tcp_disable_family", "5")], &["btl_tcp_disable_family is 5", "0, 4 or 6"]),
        (&[("btl_tcp_if_include", "10.0.0.0/99")], &["10.0.0.0/99"]),
        (&[("runtime_num_cris", "129")], &["runtime_num_cris", "0 to 128"]),
    ] {
        let words: Vec<&str> = settings.iter().flat_map(|(name, value)| ["--mca", name, value]).collect();
        let mut command = Command::new(mpi().bin("mpirun"));
        command.args(["-n", "1"]).args(&words).args(["echo", "started"]);
        let ended = Job::of(command).run().failed();
        says(&ended, parts);
        assert!(!ended.out.contains("started"), "{words:?}: {}", ended.out);
    }
}

/// A level of instructions that the processor lacks is not supported there, wherever it is set.
#[test]
fn what_this_machine_cannot_do_is_said_by_its_ranks() {
    if !ours("what the processor lacks") {
        return;
    }
    let foreign = if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" };
    let set = ["--mca", "pml_ob1_matching_simd", foreign];
    let ended = Job::new(2).args(set).program("ring").run().failed();
    says(&ended, &["pml_ob1_matching_simd", "this processor does not have", "auto, scalar"]);
    let ended = tool("mpi-info", &[&["--explain", "pml_ob1_matching_simd"], &set[..]].concat()).passed();
    says(&ended, &["refused at the start", "auto, scalar"]);
}
