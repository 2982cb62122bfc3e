//! One-sided communication beyond the standard, and hints of windows: by each installed one-sided component, on one node and on two, over
//! shared memory, TCP and a transport that reorders; and the examples of the page that describes it.

use oxmpi_tests::{Job, btl_fabric, leave_out, mpi, root};
use std::collections::BTreeSet;
use std::process::Command;

const PAGE: &str = "docs/one-sided-extensions.md";
const COMPONENTS: [&str; 2] = ["rdma", "pt2pt"];

fn ours(what: &str) -> bool {
    let ours = mpi().is_ours();
    if !ours {
        leave_out(what, "it is ours");
    }
    ours
}

fn by(job: Job, component: &str) -> Job {
    job.args(["--mca", "osc", component]).limit(300)
}

/// On nodes that are made up on this machine, by these transports.
fn over(hosts: &str, transports: &str) -> Job {
    let job = Job::of(Command::new(mpi().bin("mpirun")));
    job.args(["--host", hosts, "--mca", "plm", "local", "--mca", "btl", transports])
}

/// Jobs with a component, and how many ranks each has.
fn jobs(component: &str) -> Vec<(Job, usize)> {
    let mut all: Vec<(Job, usize)> =
        [1, 2, 4].into_iter().map(|ranks| (by(Job::new(ranks), component), ranks)).collect();
    all.push((by(over("a:2,b:2", "self,tcp"), component), 4));
    all.push((by(over("a:1,b:1", "self,tcp"), component), 2));
    let template = over("a:2,b:2", "template,shm,self").args(["--mca", "mca_base_component_path"]);
    all.push((by(template.arg(mpi().component("btl-template")), component), 4));
    all
}

/// Native verbs, carried out in any order, with completions that come late or before the data.
fn over_fabric() -> Vec<Job> {
    let settings = [
        ["btl_fabric_seed", "7", "btl_fabric_completion", "late"],
        ["btl_fabric_seed", "5", "btl_fabric_rma_limit", "64"],
    ];
    let job = |[seed, value, name, setting]: [&str; 4]| {
        let job = by(Job::new(2), "rdma").args(["--mca", "btl", "fabric,self"]);
        let job =
            job.args(["--mca", seed, value, "--mca", name, setting, "--mca", "mca_base_component_path"]);
        job.arg(btl_fabric().parent().expect("a folder"))
    };
    settings.into_iter().map(job).collect()
}

#[test]
fn one_sided_extensions_do_what_the_header_says() {
    if !ours("one-sided extensions") {
        return;
    }
    for component in COMPONENTS {
        for (job, ranks) in jobs(component) {
            job.program("rma_extensions").run().all_ok(ranks);
        }
    }
    over_fabric().into_iter().for_each(|job| drop(job.program("rma_extensions").run().all_ok(2)));
}

#[test]
fn one_sided_extensions_under_threads() {
    if !ours("one-sided extensions under threads") {
        return;
    }
    for component in COMPONENTS {
        for (job, ranks) in jobs(component) {
            job.program("rma_extensions").arg("4").run().all_ok(ranks);
        }
    }
    over_fabric().into_iter().for_each(|job| drop(job.program("rma_extensions").arg("4").run().all_ok(2)));
}

#[test]
fn one_sided_extensions_with_locks_on_demand() {
    if ours("one-sided extensions with locks on demand") {
        for threads in ["1", "4"] {
            let job = by(Job::new(4), "rdma").args(["--mca", "osc_rdma_locking_mode", "on_demand"]);
            job.program("rma_extensions").arg(threads).run().all_ok(4);
        }
    }
}

#[test]
fn hints_of_windows_are_honoured() {
    if !ours("hints of windows") {
        return;
    }
    for component in COMPONENTS {
        for (job, ranks) in jobs(component) {
            job.program("rma_hints").arg(component).run().all_ok(ranks);
        }
    }
}

fn page() -> String {
    std::fs::read_to_string(root().join(PAGE)).expect(PAGE)
}

/// The pieces of a page that are C.
fn examples(page: &str) -> Vec<&str> {
    page.split("```c\n").skip(1).map(|rest| rest.split("```").next().unwrap_or(rest)).collect()
}

#[test]
fn examples_of_one_sided_extensions_run() {
    if !ours("examples of one-sided extensions") {
        return;
    }
    let text = page();
    let examples = examples(&text);
    let room = tempfile::tempdir().expect("a folder");
    assert!(examples.len() >= 3, "{} examples", examples.len());
    for (i, example) in examples.iter().enumerate() {
        let name = format!("one_sided_example_{i}");
        let source = room.path().join(format!("{name}.c"));
        std::fs::write(&source, example).expect("the folder can be written");
        let program = mpi().build(&name, &[source.display().to_string()], &["-O2", "-pthread"]);
        for component in COMPONENTS {
            for ranks in [2, 4] {
                by(Job::new(ranks), component).arg(&program).run().all_ok(ranks);
            }
            by(over("a:2,b:2", "self,tcp"), component).arg(&program).run().all_ok(4);
        }
    }
}

/// Words of a text that begin with `MPIX_`.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("MPIX_") && *word != "MPIX_").collect()
}

#[test]
fn the_page_of_one_sided_extensions_names_what_the_header_has() {
    let header = std::fs::read_to_string(root().join("mpi/include/mpi-ext.h")).expect("mpi-ext.h");
    let text = page();
    let (declared, told) = (names(&header), names(&text));
    let unknown: Vec<_> = told.difference(&declared).collect();
    assert!(unknown.is_empty(), "{PAGE} names what mpi-ext.h has not: {unknown:?}");
    // docs/fortran.md has the language of attributes.
    let is_elsewhere = |name: &str| name.ends_with("_language");
    let one_sided = |name: &&&str| {
        ["_Put", "_Get", "_Win", "_WIN", "_RMA"].iter().any(|part| name.contains(part)) && !is_elsewhere(name)
    };
    let missing: Vec<_> = declared.difference(&told).filter(one_sided).collect();
    assert!(missing.is_empty(), "{PAGE} says nothing of {missing:?}");
}
