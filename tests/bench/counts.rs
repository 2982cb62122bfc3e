//! Runs `messages.c` under callgrind and makes figures per message of what it wrote down.

use crate::profile::Profile;
use oxmpi_tests::{Job, mpi, root};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Messages of the shorter of a phase's two runs; whole windows, and more than a quarter of a ring,
/// so that going round it is in the figures.
const MESSAGES: u64 = 1024;

/// The phases of `messages.c`, in their order.
#[derive(Clone, Copy)]
enum Phase {
    Ring,
    Waiting,
    SelfSend,
    SelfRecv,
    Starts,
    Waits,
    Each,
}
const PHASES: usize = 7;

/// A figure: what it is called, and the phase and rank it is that of.
const FIGURES: [(&str, Phase, usize); 11] = [
    ("send", Phase::Ring, 0),
    ("recv", Phase::Ring, 1),
    ("recv-waiting", Phase::Waiting, 1),
    ("self-send", Phase::SelfSend, 0),
    ("self-recv", Phase::SelfRecv, 0),
    ("isend", Phase::Starts, 0),
    ("irecv", Phase::Starts, 1),
    ("waitall-sent", Phase::Waits, 0),
    ("waitall-received", Phase::Waits, 1),
    ("wait-sent", Phase::Each, 0),
    ("wait-received", Phase::Each, 1),
];

/// Instructions per message by figure.
pub type Figures = BTreeMap<String, f64>;

/// Calls per message by the two objects, "caller -> callee".
pub type Crossings = BTreeMap<String, f64>;

/// One job's.
pub struct Counts {
    /// In our own objects; what libc does depends on the processor.
    pub instructions: Figures,
    /// Of a blocking send, and of a blocking receive.
    pub send: Crossings,
    pub recv: Crossings,
    /// Instructions of the same two in the lines that make up the boundary, by source file.
    pub send_boundary: Figures,
    pub recv_boundary: Figures,
}

/// The two files of thunks, and the one that fills the arguments of the PML's verbs.
const BOUNDARY: [&str; 3] = [
    "framework/pml/src/author/thunk.rs",
    "framework/btl/src/author/thunk.rs",
    "framework/runtime/src/communicator.rs",
];

/// An install with the components linked in: `OXMPI_BUILTIN_PREFIX`, or made now.
pub fn builtin() -> PathBuf {
    if let Some(prefix) = std::env::var_os("OXMPI_BUILTIN_PREFIX") {
        return PathBuf::from(prefix);
    }
    let prefix = root().join("target/oxmpi-builtin");
    let status = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "xtask", "--", "install", "--builtin", "--prefix"])
        .arg(&prefix)
        .current_dir(root())
        .status()
        .expect("cargo runs");
    assert!(status.success(), "cargo xtask install --builtin failed: {status}");
    prefix
}

/// Counts with the install at `prefix`, at a thread level, with further options of mpirun.
pub fn count(prefix: &Path, level: &str, options: &[&str]) -> Counts {
    let target = root().join("target");
    std::fs::create_dir_all(&target).expect("target can be written");
    let folder = TempDir::new_in(target).expect("target can be written");
    run(prefix, level, options, folder.path());
    let objects = prefix.canonicalize().expect("the install is there");
    let steady = |phase: Phase, rank: usize| {
        let dump = |part: usize| {
            let path = folder.path().join(format!("rank{rank}.{part}"));
            Profile::read(&path).unwrap_or_else(|why| panic!("{why}"))
        };
        // Parts count from 1, two for each phase.
        let first = 2 * phase as usize + 1;
        dump(first + 1).without(&dump(first))
    };
    let instructions = FIGURES
        .iter()
        .map(|(name, phase, rank)| ((*name).to_owned(), per_message(own(&steady(*phase, *rank), &objects))));
    let (send, recv) = (steady(Phase::Ring, 0), steady(Phase::Ring, 1));
    Counts {
        instructions: instructions.collect(),
        send: crossings(&send, &objects),
        recv: crossings(&recv, &objects),
        send_boundary: boundary(&send),
        recv_boundary: boundary(&recv),
    }
}

/// Two ranks under callgrind, which writes `rank0.1` and so on into `folder`.
fn run(prefix: &Path, level: &str, options: &[&str], folder: &Path) {
    let out = |name: &str| {
        let mut option = std::ffi::OsString::from(name);
        option.push(folder);
        option
    };
    let mut dumps = out("--callgrind-out-file=");
    dumps.push("/rank%q{OMPI_COMM_WORLD_RANK}");
    let mut library = prefix.join("lib").into_os_string();
    // The program was linked with the first install; both have the same ABI.
    if let Some(more) = std::env::var_os("LD_LIBRARY_PATH") {
        library.push(":");
        library.push(more);
    }
    let mut command = Command::new(prefix.join("bin/mpirun"));
    // Watched rings as on a machine with free cores, so that one with few counts the same.
    command
        .args([
            "--allow-run-as-root",
            "--oversubscribe",
            "-n",
            "2",
            "--mca",
            "btl_shm_watched_rings",
            "4",
            "--mca",
            "btl_shm_answer_pause",
            "0",
        ])
        .args(options)
        .args(["valgrind", "--tool=callgrind", "--quiet", "--vgdb=no", "--collect-atstart=no"]);
    command.args(["--toggle-collect=counted_*", "--zero-before=count_begin", "--dump-before=count_end"]);
    command.arg(dumps);
    let program = mpi().build("count_messages", &["tests/bench/messages.c".into()], &["-O2"]);
    command.arg(program).arg(folder.join("meet")).arg(level).arg(MESSAGES.to_string());
    command.env("LD_LIBRARY_PATH", library);
    Job::of(command).limit(300).run().all_ok(2);
    // The last dump is what a process writes when it ends.
    for rank in 0..2 {
        let beyond = folder.join(format!("rank{rank}.{}", 2 * PHASES + 1));
        assert!(!beyond.exists(), "messages.c has more phases than this file knows");
    }
}

fn per_message(cost: u64) -> f64 {
    // Far below 2^53; two digits are what a person reads and a comparison needs.
    (cost as f64 / MESSAGES as f64 * 100.0).round() / 100.0
}

fn is_ours(object: &str, objects: &Path) -> bool {
    Path::new(object).starts_with(objects)
}

/// All that our own objects did.
fn own(profile: &Profile, objects: &Path) -> u64 {
    let ours = profile.own.iter().filter(|((object, _), _)| is_ours(object, objects));
    ours.map(|(_, cost)| cost).sum()
}

/// Calls from one of our objects into another.
fn crossings(profile: &Profile, objects: &Path) -> Crossings {
    let mut crossings = BTreeMap::<String, u64>::new();
    for (edge, calls) in &profile.calls {
        let (from, to) = (&edge.from.0, &edge.to.0);
        if from != to && is_ours(from, objects) && is_ours(to, objects) {
            *crossings.entry(format!("{} -> {}", short(from), short(to))).or_default() += calls.times;
        }
    }
    crossings.into_iter().map(|(name, times)| (name, per_message(times))).collect()
}

/// `libpml_ob1` of `/…/lib/oxmpi/libpml_ob1.so`.
fn short(object: &str) -> String {
    let name = Path::new(object).file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Instructions in the source files that make up the boundary.
fn boundary(profile: &Profile) -> Figures {
    let sum = |file: &str| {
        let of = profile.own.iter().filter(|((_, path), _)| path.ends_with(file));
        of.map(|(_, cost)| cost).sum::<u64>()
    };
    BOUNDARY.iter().map(|file| ((*file).to_owned(), per_message(sum(file)))).collect()
}
