//! Every case of the bench driver in its quick form: rows for all jobs, every byte looked at, files written.

use oxmpi_bench::case::{Case, Sizes};
use oxmpi_bench::library::Library;
use oxmpi_bench::papers::command;
use oxmpi_bench::results::Report;
use oxmpi_bench::run::{Effort, Runner};
use oxmpi_bench::{cases, plot};
use oxmpi_tests::{Job, Places, leave_out, mpi, root, ugni_library};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Jobs that a case is to have.
fn jobs(case: &Case, ours: bool) -> usize {
    let series = case.series.iter().filter(|s| s.libraries.runs(ours));
    series.map(|s| case.xs.iter().filter(|x| s.sweep || (s.point)(**x).is_some()).count()).sum()
}

fn check(case: &Case, report: &Report, folder: &Path) {
    let rows: Vec<_> = report.main_rows().collect();
    assert_eq!(rows.len(), jobs(case, mpi().is_ours()), "{}", case.name);
    for row in &rows {
        assert!(row.failure.is_none(), "{}: {row:?}", case.name);
        assert!(row.verified && row.median.is_some_and(|m| m >= 0.0), "{}: {row:?}", case.name);
    }
    let csv = std::fs::read_to_string(folder.join(format!("{}.csv", case.name))).expect("it was written");
    assert_eq!(csv.lines().count(), 1 + report.rows.len(), "{csv}");
    let json = std::fs::read_to_string(folder.join(format!("{}.json", case.name))).expect("it was written");
    assert!(json.contains("\"processor\"") && json.contains("\"median\""), "{json}");
    let svg = std::fs::read_to_string(folder.join(format!("{}.svg", case.name)));
    assert!(rows.is_empty() || svg.is_ok_and(|text| text.contains("</svg>")), "{}: no picture", case.name);
}

#[test]
fn every_case_of_the_bench_driver() {
    let target = root().join("target");
    std::fs::create_dir_all(&target).expect("target can be written");
    let folder = TempDir::new_in(target).expect("target can be written");
    let name = if mpi().is_ours() { "ours" } else { "theirs" };
    let library = Library::find(name, &mpi().prefix).expect("it is installed");
    let limit = Duration::from_secs(300);
    let effort = Effort { rounds: 1, seconds: 0.0, iterations: Some(2), limit, until: None };
    let mut runner = Runner::new(vec![library], effort, folder.path().join("work")).expect("a fresh folder");
    let mut sizes = Sizes::quick();
    sizes.opened.insert("ugni".into(), ugni_library().display().to_string());
    for case in cases::all(&sizes) {
        if let Some(why) = runner.missing(&case) {
            leave_out(case.name, &why);
            continue;
        }
        if case.name == "fig3.5" {
            // Time is up at once: nothing is measured, and the next call does it all.
            runner.effort.until = Some(Instant::now());
            assert!(runner.case(&case, folder.path()).is_ok_and(|report| report.is_none()));
            assert!(folder.path().join("fig3.5.part.json").exists());
            runner.effort.until = None;
        }
        let places = Places::take(4);
        let report = runner.case(&case, folder.path()).expect("a folder of its own").expect("no limit");
        drop(places);
        assert!(!folder.path().join(format!("{}.part.json", case.name)).exists());
        report.write(folder.path()).expect("a fresh folder can be written");
        plot::draw(&case, &report, folder.path()).expect("a picture can be drawn");
        check(&case, &report, folder.path());
        // The table's number of messages follows from the entities and the iterations.
        if case.name == "table5.2" && mpi().is_ours() {
            let due = (case.xs[0] * 8 * (2 + 10)) as f64;
            let counted = report.rows.iter().filter(|r| r.quantity == "OMPI_SPC_IRECV");
            assert!(
                counted.clone().count() > 0 && counted.into_iter().all(|r| r.median == Some(due)),
                "{due}"
            );
        }
    }
    tables_of_one_sided_operations(folder.path());
}

/// A page of figures of two papers, in their quick form; a second run finds the cases that were kept.
#[test]
fn figures_of_papers_are_on_a_page() {
    if !mpi().is_ours() {
        return leave_out("figures_of_papers_are_on_a_page", "papers are measured with our library");
    }
    let target = root().join("target");
    std::fs::create_dir_all(&target).expect("target can be written");
    let folder = TempDir::new_in(target).expect("target can be written");
    let figures = ["003-fig2", "002-fig3.15", "000-fig1"];
    let run = || {
        let places = Places::take(4);
        command::run(&command::Arguments::quick(&figures, &mpi().prefix, folder.path()))
            .expect("it ends well");
        drop(places);
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
        (read("index.html"), read("papers.json"), read("quick/match-depth-9.json"))
    };
    let (page, json, kept) = run();
    for figure in figures {
        assert!(page.contains(&format!("<section id=\"{figure}\">")), "{figure}: {page}");
    }
    // Two views of searches of nine and of 27 points, the latter by two quantities.
    assert!(page.matches("</svg>").count() >= 3 && json.contains("\"state\": \"measured\""), "{json}");
    assert!(!json.contains("\"verified\": false"), "{json}");
    let (_, _, again) = run();
    assert_eq!(kept, again, "measured once");
}

/// The paper's tables, of what the driver has just measured: with one and two threads 32 of the 48 pairs, and a third of the matrix.
fn tables_of_one_sided_operations(folder: &Path) {
    if !mpi().is_ours() || !oxmpi_tests::in_path("python3") {
        return leave_out(
            "tables of one-sided operations",
            "both components are ours, and python3 reads the files",
        );
    }
    let mut command = std::process::Command::new("python3");
    command.arg("-B").arg(root().join("bench/rma/tables.py")).arg(folder).arg("--out").arg(folder);
    let text = Job::of(command).run().passed().out;
    for due in ["Tables 1 to 3, 32 pairs", "The matrix, 64 pairs", "Table 5: MiB/s", "Figure 5.5"] {
        assert!(text.contains(due), "no {due}: {text}");
    }
    assert!(!text.contains("not measured") && !text.contains("not verified"), "{text}");
    let matrix = std::fs::read_to_string(folder.join("matrix.csv")).expect("it was written");
    assert_eq!(matrix.lines().count(), 65, "{matrix}");
}

/// Counts of `sharing` for each message, by variable and rank, over these transports.
fn shared(transports: &str, threads: u32, option: &str) -> Vec<(String, f64)> {
    let program = mpi().build("sharing", &["bench/sharing/sharing.c".into()], &["-O2", "-pthread"]);
    let threads = threads.to_string();
    // Threads with tags of their own part at once, however seldom they get a core.
    let settings = ["--mca", "runtime_num_cris", &threads, "--mca", "pml_ob1_fork_turns", "1"];
    let job = Job::new(2).args(settings).args(["--mca", "btl", transports]).limit(300).arg(&program);
    let ended = job.args(["-t", &threads, "-m", "1024"]).args(option.split_whitespace()).run().passed();
    let read = |line: &str| {
        println!("{line}");
        assert!(line.contains("verified=1"), "{line}");
        let (name, rest) = line.split_once(" value=")?;
        Some((name.to_owned(), rest.split(' ').next()?.parse().ok()?))
    };
    ended.out.lines().filter_map(read).collect()
}

/// By count, with an instance for each thread, and a tag or a communicator: one thread alone shares nothing; where nobody
/// waits in the library, many share next to nothing. How much they share while they wait depends on how long that is.
#[test]
fn what_threads_share_is_counted() {
    if !mpi().is_ours() {
        return leave_out("what_threads_share_is_counted", "about our own counters");
    }
    let over_memory = [1, 2, 4, 8, 16, 32, 64].map(|threads| ("shm,self", threads));
    for (transports, threads) in over_memory.into_iter().chain([("tcp,self", 1), ("tcp,self", 8)]) {
        for option in ["", "-o", "-c", "-c -o"] {
            let counts = shared(transports, threads, option);
            for rank in ["rank=0", "rank=1"] {
                let find = |variable: &str| {
                    let own = |(name, _): &&(String, f64)| name.contains(rank) && name.ends_with(variable);
                    let found = counts.iter().find(own);
                    found.unwrap_or_else(|| panic!("{threads} {rank} {variable}: {counts:?}")).1
                };
                let (misses, writes) = (find("lock_misses"), find("shared_writes"));
                let progress = find("progress_calls");
                match (threads, option) {
                    (1, _) => assert_eq!((misses, writes), (0.0, 0.0)),
                    // At most 0.004 and none have been counted; threads of `dedicated` share more from eight on.
                    (_, "-o" | "-c -o") => assert!(
                        writes < 0.04 && misses < 0.02,
                        "{transports}, {threads} threads, {option}, {rank}: {writes} shared writes, {misses} lock misses"
                    ),
                    _ => assert!(
                        progress > 0.0,
                        "{transports}, {threads} threads, {option}, {rank}: nobody waited"
                    ),
                }
            }
        }
    }
}
