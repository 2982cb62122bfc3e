//! `mpi-info`, and parameters as they come from files: a copy of the install whose `etc` is our own.

use oxmpi_tests::{Ended, Job, leave_out, mpi, root};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn ours(test: &str) -> bool {
    if !mpi().is_ours() {
        leave_out(test, "about our own tools");
    }
    mpi().is_ours()
}

/// The install, copied: programs and libraries find their neighbours from where they are.
struct Site {
    folder: TempDir,
}

impl Site {
    fn new() -> Site {
        let folder = TempDir::new_in(root().join("target")).expect("target can be written");
        let status = Command::new("cp")
            .arg("-a")
            .args(["bin", "lib", "share"].map(|d| mpi().prefix.join(d)))
            .arg(folder.path())
            .status();
        assert!(status.is_ok_and(|s| s.success()), "cp -a of the install");
        let site = Site { folder };
        // Nobody's own files.
        std::fs::create_dir_all(site.home().join(".oxmpi")).expect("a folder");
        site
    }
    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    }
    fn tool(&self, name: &str, arguments: &[&str]) -> Job {
        let mut command = Command::new(self.path("bin").join(name));
        command.args(arguments).env("HOME", self.home());
        Job::of(command)
    }
    fn info(&self, arguments: &[&str]) -> Ended {
        self.tool("mpi-info", arguments).run()
    }
    /// Two ranks of `ring` under this copy's launcher.
    fn ring(&self, arguments: &[&str]) -> Job {
        let ring = mpi().program("ring");
        self.tool("mpirun", &["--allow-run-as-root", "--oversubscribe", "-n", "2"]).args(arguments).arg(ring)
    }
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

fn name_of(path: &Path) -> &str {
    path.to_str().expect("a name")
}

#[test]
fn what_is_installed() {
    if !ours("mpi-info") {
        return;
    }
    let site = Site::new();
    let summary = site.info(&[]);
    assert_eq!(summary.status, 0, "{}", summary.err);
    has(&summary.out, &["MCA btl: shm (MCA v3.0", "lib/oxmpi/libbtl_shm.so", "MCA pml: ob1"]);
    assert!(site.tool("ompi_info", &["--version"]).run().out.starts_with("oxmpi "));
    let parsable = site.info(&["--param", "btl", "shm", "--level", "9", "--parsable"]);
    has(
        &parsable.out,
        &["mca:btl:shm:param:btl_shm_rndv_eager_limit:value:0", "mca:btl:shm:version:\"api:3.3\""],
    );
    assert!(!parsable.out.contains("coll_basic"), "{}", parsable.out);
    let few = site.info(&["--params", "btl", "all"]).out;
    assert!(!few.contains("btl_shm_exclusivity"), "level 7 is not asked for\n{few}");
    for question in [vec!["--all"], vec!["--params", "--level", "9"], vec![]] {
        let json = site.info(&[question.as_slice(), &["--json"]].concat());
        assert_eq!(json.status, 0, "{}", json.err);
        has(&json.out, &["\"components\""]);
        // Longer than an argument may be.
        let file = site.write("answer.json", &json.out);
        let read = Command::new("python3")
            .args(["-c", "import json,sys; json.load(open(sys.argv[1]))"])
            .arg(&file)
            .status();
        assert!(read.is_ok_and(|s| s.success()), "{}", json.out);
    }
    has(
        &site.info(&["--path", "libdir"]).out,
        &[name_of(&site.path("lib").canonicalize().expect("it is there"))],
    );
    for (wrong, near) in [
        (["--param", "btll", "all"].as_slice(), "btl"),
        (&["--param", "btl", "shn"], "shm"),
        (&["--type", "siez"], "size"),
        (&["--path", "nowhere"], "libdir"),
        (&["--explain", "btl_shm_eager_limt"], "btl_shm_eager_limit"),
        (&["--event", "mpj"], "mpi"),
        (&["--levle", "3"], "--level"),
    ] {
        let ended = site.info(wrong);
        assert_eq!(ended.status, 1, "{wrong:?}");
        has(&ended.err, &[near]);
    }
    let events = site.info(&["--event"]);
    has(
        &events.out,
        &[
            "event \"mpi_error_raised\" (level: 1 user/basic, elements: 1)",
            "its error handler is called next",
        ],
    );
    assert!(!events.out.contains("parameter \""), "{}", events.out);
    let few = site.info(&["--event", "mpi", "all", "--level", "1", "--parsable"]).out;
    assert!(few.contains("mca:mpi:base:event:mpi_error_raised:elements:1"), "{few}");
    assert!(!few.contains("mpi_comm_created"), "level 4 is not asked for\n{few}");
    has(&site.info(&["--event", "--json"]).out, &["\"events\"", "\"mpi_comm_freed\""]);
    // A broken component is listed with the reason.
    let broken = site.write("more/libbtl_broken.so", "nothing");
    let folder = broken.parent().map(name_of).expect("a folder");
    let shown = site.info(&["--show-failed", "--mca", "mca_base_component_path", folder]);
    has(&shown.out, &["broken (failed to load)", "libbtl_broken.so"]);
    let selected = site.info(&["--params", "btl", "--selected", "--mca", "btl", "self"]).out;
    assert!(selected.contains("btl: self") && !selected.contains("shm"), "{selected}");
}

#[test]
fn where_a_value_comes_from() {
    if !ours("provenance") {
        return;
    }
    let site = Site::new();
    site.write("etc/oxmpi-mca-params.conf", "# site\nbtl_shm_eager_limit = 4k\nmpi_spin_count = 7\n");
    let user = site.write("home/.oxmpi/mca-params.toml", "\n\n[btl_shm]\neager_limit = \"5k\"\n");
    let explained = site.info(&["--explain", "btl_vader_eager_limit"]);
    has(&explained.out, &["5k, that is 5120", &format!("{}:4", name_of(&user)), "oxmpi-mca-params.conf:2"]);
    let tuned = site.info(&["--explain", "mpi_yield_when_idle", "--tune", "oversubscribed"]);
    has(&tuned.out, &["true", "share/oxmpi/profiles/oversubscribed.toml:"]);
    let by_variable =
        site.tool("mpi-info", &["--explain", "mpi_spin_count"]).env("OMPI_MCA_mpi_spin_count", "9");
    has(&by_variable.run().out, &["9", "environment variable OMPI_MCA_mpi_spin_count"]);
    // And all of it in a job.
    site.ring(&["--mca", "mpi_spin_count", "8"]).run().all_ok(2);
    site.write("etc/oxmpi-mca-params-override.toml", "mpi_spin_count = 11\n");
    let over = site.info(&["--explain", "mpi_spin_count", "--mca", "mpi_spin_count", "8"]);
    has(&over.out, &["value      11", "override.toml:1"]);
}

#[test]
fn a_file_is_checked() {
    if !ours("mpi-info --check") {
        return;
    }
    let site = Site::new();
    let good = site.write("good.conf", "btl_shm_eager_limit = 64k\nbtl = self,shm\n");
    assert_eq!(site.info(&["--check", name_of(&good)]).status, 0);
    let bad = "btl_shm_eager_limt = 1\nbtl_shm_eager_limit = huge\nnothing\nbtl_shm_single_copy_mechanism = cmaa\n\
               mpi_spin_count = 0\nmpi_spin_count = 0\nbtl = self,shn\n";
    let checked = site.info(&["--check", name_of(&site.write("bad.conf", bad))]);
    assert_eq!(checked.status, 1);
    for part in [
        "warning: \"btl_shm_eager_limt\", from",
        "bad.conf:1",
        "btl_shm_eager_limit",
        "bad.conf:2",
        "bad.conf:3: ",
        "did you mean cma?",
        "bad.conf:6",
        "bad.conf:5: mpi_spin_count is set again",
        "did you mean shm?",
    ] {
        has(&checked.out, &[part]);
    }
    assert_eq!(site.info(&["--check", "/nowhere.conf"]).status, 1);
}

#[test]
fn a_mistake_in_any_source_stops_the_job_before_it_starts() {
    if !ours("mistakes") {
        return;
    }
    let site = Site::new();
    let conf = "etc/oxmpi-mca-params.conf";
    let stops = |job: Job, parts: &[&str]| {
        let ended = job.run().failed();
        has(&ended.err, parts);
        // Nobody started: neither a rank's words nor the launcher's about one.
        assert!(!ended.err.contains("rank 0") && !ended.err.contains("MPI_Init"), "{}", ended.err);
    };
    for (text, parts) in [
        ("\nbtl_shm_eager_limit = huge\n", ["params.conf:2", "huge"]),
        ("btl_shm_single_copy_mechanism = cmaa\n", ["params.conf:1", "did you mean cma?"]),
        ("runtime_num_cris = 129\n", ["params.conf:1", "from 0 to 128"]),
        ("btl = self,nosuch\n", ["params.conf:1", "nosuch"]),
        ("just words\n", ["params.conf:1", "just words"]),
    ] {
        site.write(conf, text);
        stops(site.ring(&[]), &parts);
    }
    std::fs::remove_file(site.path(conf)).expect("it goes");
    // A folder in the place of a file: there, and not to be read (root may read anything else).
    std::fs::create_dir_all(site.path(conf)).expect("a folder");
    stops(site.ring(&[]), &["oxmpi-mca-params.conf: cannot be read"]);
    std::fs::remove_dir(site.path(conf)).expect("it goes");
    let tune = |name: &str| site.ring(&[]).env("OXMPI_MCA_mca_base_envar_file_prefix", name);
    stops(tune("latncy"), &["latncy", "did you mean latency?"]);
    stops(site.ring(&[]).env("OXMPI_MCA_btl", "nosuch"), &["nosuch", "OXMPI_MCA_btl"]);
    tune("latency").run().all_ok(2);
    // A process without a launcher reads the same files: the library is this copy's.
    site.write(conf, "btl_shm_eager_limit = huge\n");
    let ring = mpi().program("ring");
    let alone = Job::of(Command::new(ring)).env("HOME", site.home()).env("LD_LIBRARY_PATH", site.path("lib"));
    let preload = site.path("lib/libmpi_abi.so.1");
    has(&alone.env("LD_PRELOAD", preload).run().failed().err, &["params.conf:1", "huge"]);
}

#[test]
fn what_is_only_strange_is_said_once() {
    if !ours("warnings") {
        return;
    }
    let site = Site::new();
    let job = site
        .ring(&["--mca", "btl_shm_eager_limt", "4k"])
        .env("OMPI_MCA_pml", "ucx")
        .env("OMPI_MCA_btl_openib_if_include", "mlx5_0")
        .env("OXMPI_MCA_mpi_spin_cout", "1");
    let ended = job.run().all_ok(2);
    for once in
        ["OMPI_MCA_pml", "OMPI_MCA_btl_openib_if_include", "\"btl_shm_eager_limt\"", "\"mpi_spin_cout\""]
    {
        assert_eq!(ended.err.matches(once).count(), 1, "{once}\n{}", ended.err);
    }
    has(&ended.err, &["nearest known name is btl_shm_eager_limit", "nearest known name is mpi_spin_count"]);
    // A parameter of a component that is there and not selected is not unknown.
    let ended = site.ring(&["--mca", "btl_self_latency", "0", "--mca", "btl", "shm"]).run();
    assert!(!ended.err.contains("do not have"), "{}", ended.err);
}

/// The measured values are not looked at, only that a file comes out which says why, and that a job takes it.
#[test]
fn a_machine_is_calibrated() {
    if !ours("mpi-info --calibrate") {
        return;
    }
    if std::thread::available_parallelism().map_or(1, |n| n.get()) < 2 {
        return leave_out("mpi-info --calibrate", "it needs two cores");
    }
    let site = Site::new();
    let file = site.path("machine.conf");
    let arguments = ["--calibrate", name_of(&file), "--quick", "--even-if-busy"];
    let ended = site.tool("mpi-info", &arguments).limit(300).run();
    assert_eq!(ended.status, 0, "{}", ended.err);
    let text = std::fs::read_to_string(&file).expect("the file");
    for name in [
        "btl_shm_eager_limit",
        "btl_shm_min_get_size",
        "btl_shm_nontemporal_min",
        "btl_shm_string_min",
        "btl_shm_assist_min",
        "pml_ob1_min_get_run",
    ] {
        let set = |text: &str| text.lines().filter(|l| l.starts_with(&format!("{name} = "))).count();
        assert_eq!((set(&text), set(&ended.out)), (1, 1), "{name}\n{text}\n{}", ended.out);
    }
    // Every value stands behind its question and figures.
    has(&text, &["# How long may a message be", "#       4096: ", "# Measured on "]);
    let checked = site.info(&["--check", name_of(&file)]);
    assert_eq!(checked.status, 0, "{}{}", checked.out, checked.err);
    site.ring(&["--tune", name_of(&file)]).run().all_ok(2);
    let explained = site.info(&["--tune", name_of(&file), "--explain", "btl_shm_eager_limit"]);
    has(&explained.out, &["machine.conf:"]);
    // An option that belongs to it means nothing alone.
    assert_ne!(site.info(&["--quick"]).status, 0);
}

/// `mpi-info --file` tells who would serve a file, and leaves nothing.
#[test]
fn what_would_serve_a_file() {
    if !ours("mpi-info --file") {
        return;
    }
    let site = Site::new();
    let folder = tempfile::tempdir().expect("a folder");
    let new = folder.path().join("new file");
    let of = |path: &Path, words: &[&str]| site.info(&[&["--file", name_of(path)], words].concat());
    let told = of(&new, &["-n", "3"]).passed().out;
    let due = [
        "new file (there is no such file",
        "fs: ufs, by the highest priority of those that serve the mount",
        "nfs does not serve it",
        "fbtl: ",
        "fcoll: twophase, by",
        "3 ranks on this node part a file in units of",
        "Locks: exclude ranks of one node",
        "Atomic mode: yes for ranks of one node",
        "Hint: cb_nodes = 1",
    ];
    has(&told, &due);
    has(
        &of(folder.path(), &[]).passed().out,
        &["a folder; what is told is of files in it", "Alignment: blocks"],
    );
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0, "a file is left");
    let there = folder.path().join("there");
    std::fs::write(&there, "data").expect("a file");
    has(&of(&there, &[]).passed().out, &["a file that is there", "Atomic mode"]);
    assert_eq!(std::fs::read(&there).expect("the file"), b"data");
    // The component that is named, and by what.
    let named = of(&new, &["--mca", "fs", "nfs"]).passed().out;
    has(&named, &["fs: nfs, by the parameter fs names it", "after MPI_File_sync on both"]);
    let prefixed = site.info(&["--file", &format!("nfs:{}", new.display())]).passed().out;
    has(&prefixed, &["fs: nfs, by the path's prefix names nfs"]);
    let fbtl = of(&new, &["--mca", "fbtl", "posix"]).passed().out;
    has(&fbtl, &["fbtl: posix"]);
    let lockless = of(&new, &["--mca", "fs_ufs_lock_algorithm", "1"]).passed().out;
    has(
        &lockless,
        &["refused for ranks of one node", "Because: the parameter fs_ufs_lock_algorithm forbids locks"],
    );
    // For programs.
    has(
        &of(&new, &["--json"]).passed().out,
        &["\"chosen\": \"ufs\"", "\"locks_between_nodes\": \"", "\"cb_nodes\": \"1\""],
    );
    has(
        &of(&new, &["--parsable"]).passed().out,
        &["file:fs:chosen:ufs\n", "file:kind:new\n", "file:layout:block:"],
    );
    // Hints of the site.
    let hints = site.write("hints", "cb_nodes 2\nromio_no_indep_rw true\n");
    let job = site.tool("mpi-info", &["--file", name_of(&new), "-n", "4"]).env("ROMIO_HINTS", hints);
    has(&job.run().passed().out, &["2 of them transfer for others", "Hint: romio_no_indep_rw = true"]);
    // A path of which nothing can be told is said.
    let missing = folder.path().join("missing/file");
    has(&of(&missing, &[]).passed().out, &["Open file: not told", "takes no file without a name"]);
    let empty = site.info(&["--file", "nfs:"]).failed();
    has(&empty.err, &["the file name is empty"]);
    assert_ne!(site.info(&["-n", "4"]).status, 0, "-n says nothing without a question about a job");
}
