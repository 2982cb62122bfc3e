//! Every matching engine, forced by the parameter and by the info key, at every SIMD level.

use oxmpi_tests::{Job, leave_out, mpi};

const ENGINES: [&str; 8] = ["adaptive", "list", "hash", "perpeer", "vector", "fuzzy32", "fuzzy16", "fuzzy8"];

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
            assert!(
                ended.err.contains("pml_ob1_matching_simd") && ended.err.contains(level),
                "{}",
                ended.err
            );
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

fn bench(name: &str) -> std::path::PathBuf {
    mpi().build(&format!("matching_{name}"), &[format!("bench/matching/{name}.c")], &["-O2", "-lm"])
}

/// The queue benchmark checks its data; here every engine passes through it, and its table is whole.
#[test]
fn queue_benchmark() {
    let program = bench("queue");
    let engines = ENGINES.join(",");
    for form in [["-l"].as_slice(), &["-b", "-w", "20"], &["-l", "-u"], &["-b", "-u", "-s", "3000"]] {
        let job = Job::new(2).arg(&program).args(form).args(["-k", &engines]);
        let ended = job.args(["-i", "2", "-m", "256", "-c", "100000"]).limit(300).run().passed();
        let rows: Vec<&str> =
            ended.out.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())).collect();
        assert_eq!(rows.len(), 10, "lengths 0, 1, 2 … 256:\n{}", ended.out);
        for row in rows {
            assert_eq!(row.split('\t').count(), 1 + 2 * ENGINES.len(), "{row:?}");
        }
        let crossings = ended.out.lines().filter(|l| l.starts_with("crossing\t")).count();
        assert_eq!(crossings, ENGINES.len() - 1, "each engine against the list:\n{}", ended.out);
    }
}

#[test]
fn application_patterns() {
    let program = bench("patterns");
    for ranks in [1, 4, 6] {
        let job = Job::new(ranks).arg(&program).args(["-i", "3", "-k", &ENGINES.join(",")]).limit(300);
        let ended = job.run().passed();
        let mut matched = 0.0;
        for pattern in ["halo9", "halo27", "allto1", "sweep", "levels"] {
            let rows: Vec<Vec<f64>> = ended
                .out
                .lines()
                .filter_map(|l| l.strip_prefix(pattern)?.strip_prefix('\t'))
                .map(|l| l.split('\t').skip(1).map(|x| x.parse().expect("a number")).collect())
                .collect();
            assert_eq!(rows.len(), ENGINES.len(), "{pattern}:\n{}", ended.out);
            assert!(rows.iter().all(|r| r.len() == 4 && r[3] <= r[2]), "{pattern}:\n{}", ended.out);
            matched += rows.iter().map(|r| r[2]).sum::<f64>();
        }
        assert!(ranks == 1 || matched > 0.0, "nothing was matched:\n{}", ended.out);
    }
}

/// A model without clock: the same figures everywhere, and those that can be known.
#[test]
fn search_depth() {
    let program = bench("depth");
    let ended = Job::of(std::process::Command::new(program)).args(["-r", "2", "-t", "64"]).run().passed();
    let row = |name: &str, threads: &str| -> Vec<f64> {
        let line = ended.out.lines().find(|l| l.starts_with(&format!("{name}\t{threads}\t"))).expect("a row");
        line.split('\t').skip(2).map(|x| x.parse().expect("a number")).collect()
    };
    // One thread: 26 neighbours, and a list of one receive for each.
    assert_eq!((row("27pt", "1")[0], row("27pt", "1")[2]), (26.0, 1.0));
    // A cube of 4 x 4 x 4 threads: 27 directions of 64, less those that stay inside (4 + 3 + 3 per axis).
    assert_eq!(row("27pt", "64")[0], 27.0 * 64.0 - 10.0_f64.powi(3));
    // One peer sends all: its list is the list.
    assert_eq!(row("amr", "1")[1], row("amr", "1")[2]);
    let deep = row("27pt", "64");
    assert!(deep[1] > 100.0 && deep[2] < deep[1] / 4.0 && deep[3] < deep[1] / 10.0, "{deep:?}");
}

/// The tracing tool on any library, and what its reader makes of it.
#[test]
fn trace_and_its_report() {
    if !oxmpi_tests::in_path("python3") {
        return leave_out("trace_and_its_report", "python3 is missing");
    }
    let report = oxmpi_tests::root().join("bench/trace/report.py");
    let read = |folder: &std::path::Path, ranks: usize| {
        let files = (0..ranks).map(|r| folder.join(format!("run.{r}")));
        let mut command = std::process::Command::new("python3");
        command.arg(&report).arg("--json").args(files);
        Job::of(command).run().passed().out
    };
    let number = |text: &str, name: &str| -> f64 {
        let at = text.find(&format!("\"{name}\"")).unwrap_or_else(|| panic!("{name} is not in\n{text}"));
        let rest = text[at..].split_once(':').expect("a value").1.trim_start_matches([' ', '[', '\n']);
        rest[..rest.find([',', '\n']).expect("an end")].trim().parse().expect("a number")
    };

    let tool =
        mpi().build("trace", &["bench/trace/trace.c".into()], &["-O2", "-shared", "-fPIC", "-pthread"]);
    let job = Job::new(4).arg(bench("patterns")).args(["-i", "1", "-e", "2", "-f", "1", "allto1"]);
    let keep = tempfile::TempDir::new().expect("a folder");
    job.env("TRACE", keep.path().join("run")).env("LD_PRELOAD", tool).run().passed();
    let text = read(keep.path(), 4);
    // Four steps of three messages to rank 0, all with tag 0 and all received by source and tag.
    assert_eq!(number(&text, "messages"), 12.0, "{text}");
    assert_eq!(number(&text, "exact"), 12.0, "{text}");
    assert_eq!(number(&text, "bits for all tags"), 0.0, "{text}");
    assert_eq!(number(&text, "bits for all ranks"), 2.0, "{text}");

    // Three tags with the same low byte, and another trace with two ranks' worth of sources.
    let known = tempfile::TempDir::new().expect("a folder");
    let send = |from: usize, lines: &str| {
        let head = format!("ranks {from} 2\ncomm 0 2 MPI_COMM_WORLD\nworld 0 0 0\nworld 0 1 1\n");
        std::fs::write(known.path().join(format!("run.{from}")), head + lines).expect("it can be written");
    };
    send(0, "");
    send(1, "send 0 0 1024 5\nsend 0 0 2048 5\nsend 0 0 3072 5\ndepth 3 2\ndepth 1 2\nwild exact 4\n");
    let text = read(known.path(), 2);
    assert!((number(&text, "tag, 8 bits") - 2.0 / 3.0).abs() < 1e-9, "{text}");
    assert_eq!(number(&text, "tag, 16 bits"), 0.0);
    assert_eq!(number(&text, "bits for all tags"), 12.0);
    assert_eq!(number(&text, "pending receives when one is posted"), 3.0);
}
