//! The parts that a new user meets first: help, pages, refusals that say what would be right, wrappers of languages that are not
//! there. `tests/side_by_side/first_hour.py` compares such cases with other libraries.

use oxmpi_tests::{Ended, Job, leave_out, mpi, root};
use std::process::Command;

pub fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "the words are ours");
    }
    mpi().is_ours()
}

pub fn tool(name: &str, words: &[&str]) -> Ended {
    let mut command = Command::new(mpi().bin(name));
    command.args(words);
    Job::of(command).run()
}

#[track_caller]
pub fn says(ended: &Ended, parts: &[&str]) {
    for part in parts {
        let text = format!("{}{}", ended.out, ended.err);
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn what_is_there_is_said() {
    if !ours("what is there") {
        return;
    }
    says(&tool("mpi-info", &["--config"]).passed(), &["mpi_f08: yes", "C++ bindings: no"]);
}

/// Pages are installed, and whatever a text of ours points to is one of them.
#[test]
fn pages_are_there() {
    if !ours("pages") {
        return;
    }
    let topics = tool("mpi-info", &["--help", "topics"]).passed().out;
    let topics: Vec<&str> = topics.lines().collect();
    assert!(topics.len() > 5, "{topics:?}");
    for topic in &topics {
        assert!(tool("mpi-info", &["--help", topic]).passed().out.len() > 200, "{topic}");
    }
    says(&tool("mpi-info", &["--help", "functions"]).passed(), &["| MPI_Send |", "Not there yet"]);
    says(&tool("mpi-info", &["--help", "function"]).failed(), &["the nearest is functions"]);
    let texts = [
        "mpirun/src/daemon/begin.rs",
        "mpirun/src/help.txt",
        "mpi/src/error/body.rs",
        "mpirun/src/info/facts.rs",
        "framework/loading/src/help.txt",
    ];
    let mut pointers = 0;
    for file in texts {
        let text = std::fs::read_to_string(root().join(file)).expect(file);
        for rest in text.split("mpi-info --help ").skip(1) {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
                .unwrap_or(rest.len());
            assert!(topics.contains(&&rest[..end]), "{file} points to {:?}", &rest[..end]);
            pointers += 1;
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            assert!(
                !line.contains("docs/") && !line.contains("INDEX.md"),
                "{file} points to what is not installed: {line}"
            );
        }
    }
    assert!(pointers >= 2, "{pointers}");
}

/// Names of pages in a text, `docs/NAME.md`, as topics.
fn cited(text: &str) -> Vec<String> {
    let names = text.split("docs/").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))?;
        rest[end..].starts_with(".md").then(|| rest[..end].to_ascii_lowercase())
    });
    names.collect()
}

/// Text files below a folder.
fn texts_below(folder: &std::path::Path, into: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("installed").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => texts_below(&path, into),
            false => into.push(path),
        }
    }
}

/// All text of an install names only pages that the install has, too.
#[test]
fn pages_that_are_cited_are_installed() {
    if !ours("cited pages") {
        return;
    }
    let topics = tool("mpi-info", &["--help", "topics"]).passed().out;
    let topics: Vec<&str> = topics.lines().collect();
    let prefix = mpi().bin("mpirun").parent().and_then(|bin| bin.parent()).expect("an install").to_path_buf();
    let mut files = Vec::new();
    for folder in ["share", "include"] {
        texts_below(&prefix.join(folder), &mut files);
    }
    let (mut cites, mut wrong) = (0, Vec::new());
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for topic in cited(&text) {
            cites += 1;
            if !topics.contains(&topic.as_str()) {
                wrong.push(format!("{} cites docs/{topic}.md", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\npages: {topics:?}");
    assert!(cites >= 10, "only {cites} pages are cited");
    assert_eq!(cited("`docs/CONFORMANCE.md`, docs/a-b.md. docs/x/y.md docs/"), ["conformance", "a-b"]);
}

#[test]
fn help_and_tips() {
    if !ours("help and tips") {
        return;
    }
    let help = Job::of(Command::new(mpi().bin("mpirun"))).arg("--help").run().passed();
    let dots = |line: &&str| line.trim_start().starts_with("--") && line.contains("...  ");
    assert_eq!(help.out.lines().filter(dots).collect::<Vec<_>>(), [""; 0]);
    let job = |words: &[&str]| Job::new(1).args(words).arg("true").run();
    says(&job(&["--max-restart", "1"]).failed(), &["--max-restarts is similar", "not supported"]);
    says(&job(&["--tag-outptu"]).failed(), &["--tag-output"]);
    says(&job(&["--bind-to", "croe"]).failed(), &["The nearest is core"]);
    says(&job(&["--output", "tagg"]).failed(), &["The nearest is tag"]);
    job(&["--quiet", "--quiet"]).passed();
}

/// More processes than cores are allowed or refused by one rule, bound or not.
#[test]
fn more_processes_than_cores() {
    if !ours("more processes than cores") {
        return;
    }
    let many = std::thread::available_parallelism().map_or(2, usize::from) + 2;
    let job = |words: &[&str]| {
        let mut command = Command::new(mpi().bin("mpirun"));
        command.args(["-n", &many.to_string()]).args(words).arg("true");
        Job::of(command).run()
    };
    job(&[]).passed();
    job(&["--bind-to", "core"]).passed();
    says(&job(&["--map-by", ":nooversubscribe"]).failed(), &["not enough slots"]);
    says(
        &job(&["--host", &format!("localhost:{many}"), "--bind-to", "core"]).failed(),
        &["The rule is that of slots"],
    );
}

#[test]
fn names_of_open_mpi() {
    if !ours("parameters of Open MPI") {
        return;
    }
    let ended = Job::new(1).args(["--mca", "btl_openib_warn_default_gid", "0"]).arg("true").run().passed();
    says(&ended, &["Parameters of Open MPI were set that have no meaning", "btl_openib_warn_default_gid"]);
    assert!(!ended.err.contains("misspelt"), "{}", ended.err);
    let ended = Job::new(1).args(["--mca", "btl_shm_eager_limt", "4k"]).arg("true").run().passed();
    says(&ended, &["misspelt", "btl_shm_eager_limit"]);
    says(&tool("mpi-info", &["--explain", "btl"]).passed(), &["there are:", "self, shm"]);
}

/// Without the transport to itself a process that sends to itself is told what to write.
#[test]
fn a_list_of_transports_without_self() {
    if !ours("a list without self") {
        return;
    }
    let source = mpi().programs().join("to_itself.c");
    let text = "#include <mpi.h>\nint main(int c, char **v) { int r, a = 1, b; MPI_Init(&c, &v); \
                MPI_Comm_rank(MPI_COMM_WORLD, &r); \
                MPI_Sendrecv(&a, 1, MPI_INT, r, 0, &b, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); \
                MPI_Finalize(); return 0; }\n";
    std::fs::write(&source, text).expect("target can be written");
    let out = source.with_extension("");
    let compiled =
        Command::new(mpi().bin("mpicc")).arg(&source).arg("-o").arg(&out).status().expect("mpicc runs");
    assert!(compiled.success());
    let ended = Job::new(2).args(["--mca", "btl", "shm"]).arg(&out).run().failed();
    says(&ended, &["cannot send to itself", "--mca btl self,shm"]);
    Job::new(2).args(["--mca", "btl", "self,shm"]).arg(&out).run().passed();
}

/// The example of a transport in C, built and tried as its page says, from nothing but the install.
#[test]
fn the_example_in_c_works_from_an_install() {
    if !ours("the example in C") {
        return;
    }
    let page = tool("mpi-info", &["--help", "adding-a-btl"]).passed().out;
    let commands: Vec<&str> =
        page.lines().filter(|line| line.contains("DIR/") && !line.contains("With an install")).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    let ring = mpi().program("ring");
    let commands = commands.join(" && ").replace("DIR/", &format!("{}/", mpi().prefix.display()));
    let commands = commands.replace("./program", &ring.to_string_lossy());
    let mut command = Command::new("sh");
    let folder = tempfile::TempDir::new_in(root().join("target")).expect("target can be written");
    command.args(["-ec", &format!("mkdir components && {commands}")]).current_dir(folder.path());
    let ended = Job::of(command).run().all_ok(2);
    assert!(ended.out.contains("cloop"), "{}", ended.out);
}

/// A program that spawns one without MPI is ended with the reason, and nothing hangs.
#[test]
fn a_failed_spawn_ends_the_job() {
    if !ours("MPI_Comm_spawn") {
        return;
    }
    let source = mpi().programs().join("spawns.c");
    let text = "#include <mpi.h>\nint main(int c, char **v) { MPI_Comm all; MPI_Init(&c, &v); \
                MPI_Comm_spawn(\"true\", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &all, MPI_ERRCODES_IGNORE); \
                MPI_Finalize(); return 0; }\n";
    std::fs::write(&source, text).expect("target can be written");
    let out = source.with_extension("");
    let compiled =
        Command::new(mpi().bin("mpicc")).arg(&source).arg("-o").arg(&out).status().expect("mpicc runs");
    assert!(compiled.success());
    let ended = Job::new(1).arg(&out).start().wait_and_leave_nothing().failed();
    says(&ended, &["after an error in MPI_Comm_spawn", "without calling MPI_Init"]);
}

/// A thread got the error and ended: a program of which all threads wait for each other then is ended, one that goes on
/// without workers is not.
#[test]
fn a_program_that_stands_still_after_an_error_is_ended() {
    if !ours("MPI_Comm_spawn in a thread") {
        return;
    }
    let program = mpi().program("standstill");
    for way in ["wait", "join"] {
        let ended = Job::new(1).arg(&program).arg(way).start().wait_and_leave_nothing().failed();
        says(&ended, &["no workers", "after an error in MPI_Comm_spawn", "waits for another"]);
        assert!(!ended.out.contains("alone"), "{}", ended.out);
    }
    says(&Job::new(1).arg(&program).arg("sleep").run().passed(), &["no workers", "alone"]);
}
