//! The work of authors of components outside of this repository, done: the steps of the pages docs/adding-a-*.md are taken from the page and
//! run by a shell in an empty folder elsewhere.

use oxmpi_tests::{Job, leave_out, mpi, root};
use std::process::Command;
use tempfile::TempDir;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own component interface");
    }
    mpi().is_ours()
}

/// The shell blocks under a heading, in order.
fn steps(page: &str, heading: &str) -> String {
    let section = page.split(heading).nth(1).expect("the heading");
    let section = section.split("\n## ").next().unwrap_or(section);
    let mut script = String::new();
    for block in section.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap_or(block);
        // They stand indented in a list.
        let lines = block.lines().map(|l| l.strip_prefix("   ").unwrap_or(l));
        lines.for_each(|l| script += &format!("{l}\n"));
    }
    script
}

/// Runs the steps of a page in an empty folder elsewhere; `program` is what its last step starts.
fn run_steps(page: &str, program: &str, said: &[&str]) {
    let page = std::fs::read_to_string(root().join("docs").join(page)).expect("the page");
    let script = steps(&page, "## In five steps");
    for part in ["cp -r", "cargo test", "cargo build", "mpi-info", "mpirun"] {
        assert!(script.contains(part), "no {part} in the steps:\n{script}");
    }
    let folder = TempDir::new().expect("a folder outside of this repository");
    assert!(!folder.path().starts_with(root()), "the temporary folder is inside the repository");
    let mut command = Command::new("bash");
    command
        .args(["-e", "-u", "-x", "-c", &script])
        .current_dir(folder.path())
        .env("OXMPI", root())
        .env("PREFIX", &mpi().prefix)
        .env("PROGRAM", mpi().program(program))
        // The crates that this repository has fetched are enough.
        .env("CARGO_NET_OFFLINE", "true")
        // Contract crates and suites are compiled once for all pages; what an author gets lies in his own folder all the same.
        .env("CARGO_BUILD_BUILD_DIR", root().join("target/authors"))
        .env("CARGO_INCREMENTAL", "0")
        // It is the steps that are tried, and not how fast what they make is.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        // Of the cargo that runs this test.
        .env_remove("CARGO_TARGET_DIR");
    // Almost all of it is building. With a place it would keep larger jobs out meanwhile, and those that wait behind them.
    let ended = Job::of(command).weighs(0).limit(1200).run();
    assert_eq!(ended.status, 0, "{}\n{}", ended.out, ended.err);
    for said in said {
        assert!(ended.out.contains(said), "{said:?} is not in\n{}", ended.out);
    }
}

#[test]
fn the_steps_of_adding_a_btl() {
    if ours("the steps of docs/adding-a-btl.md") {
        let said = ["MCA btl: mine (MCA v", "component mine of framework btl", "libbtl_mine.so"];
        run_steps("adding-a-btl.md", "ring", &said);
    }
}

#[test]
fn the_steps_of_adding_an_osc() {
    if ours("the steps of docs/adding-an-osc.md") {
        let said = ["MCA osc: mine (MCA v", "component mine of framework osc", "libosc_mine.so"];
        run_steps("adding-an-osc.md", "rma", &said);
    }
}

#[test]
fn a_component_that_does_not_load_is_reported_when_asked() {
    if !ours("mca_base_component_show_load_errors") {
        return;
    }
    let job = |shown: &str| {
        let job = Job::new(1);
        let dir = job.folder().join("components");
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join("libbtl_broken.so"), "no library").expect("a file");
        let path = dir.to_str().expect("a name").to_owned();
        job.args(["--mca", "mca_base_component_path", path.as_str()])
            .args(["--mca", "mca_base_component_show_load_errors", shown])
            .program("start_stop")
            .run()
    };
    for (shown, reported) in [("all", true), ("btl/broken", true), ("none", false), ("^btl", false)] {
        let ended = job(shown);
        assert_eq!(ended.status, 0, "{}", ended.err);
        assert_eq!(ended.err.contains("libbtl_broken.so"), reported, "{shown}:\n{}", ended.err);
    }
    // Named and broken: the job stops, whatever is to be shown.
    let named = Job::new(1);
    let dir = named.folder();
    std::fs::write(dir.join("libbtl_broken.so"), "no library").expect("a file");
    let path = dir.to_str().expect("a name").to_owned();
    let ended = named
        .args(["--mca", "mca_base_component_path", path.as_str(), "--mca", "btl", "broken,self"])
        .program("start_stop")
        .run()
        .failed();
    assert!(ended.err.contains("broken") && ended.err.contains("cannot be loaded"), "{}", ended.err);
}

#[test]
fn the_steps_of_adding_a_pml() {
    if ours("the steps of docs/adding-a-pml.md") {
        run_steps("adding-a-pml.md", "ring", &["MCA pml: mine (MCA v"]);
    }
}

#[test]
fn the_steps_of_adding_a_coll() {
    if ours("the steps of docs/adding-a-coll.md") {
        run_steps("adding-a-coll.md", "collectives", &["MCA coll: mine (MCA v", "libcoll_mine.so"]);
    }
}

#[test]
fn the_steps_of_adding_a_fcoll() {
    if ours("the steps of docs/adding-a-fcoll.md") {
        run_steps("adding-a-fcoll.md", "ring", &["MCA fcoll: mine (MCA v", "libfcoll_mine.so"]);
    }
}

#[test]
fn the_steps_of_adding_a_fs() {
    if ours("the steps of docs/adding-a-fs.md") {
        run_steps("adding-a-fs.md", "start_stop", &["MCA fs: mine (MCA v", "libfs_mine.so"]);
    }
}

#[test]
fn the_steps_of_adding_a_fbtl() {
    if ours("the steps of docs/adding-a-fbtl.md") {
        run_steps("adding-a-fbtl.md", "start_stop", &["MCA fbtl: mine (MCA v", "libfbtl_mine.so"]);
    }
}
