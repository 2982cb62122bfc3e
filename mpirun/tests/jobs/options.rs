//! Effects of the options on the ranks.

use crate::support::mpirun;

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn parameters_and_variables_reach_the_ranks() {
    let mut job = mpirun("-np 2 -mca btl ^tcp --mca n -1 -x A=b -x GIVEN -x MISSING").script(
        "echo $OXMPI_MCA_btl, $OXMPI_MCA_SOURCE_btl, $OXMPI_MCA_n, $A, $GIVEN, $OMPI_UNIVERSE_SIZE, $OMPI_COMMAND",
    );
    job.command.env("GIVEN", "yes");
    let ended = job.run();
    ended.expect(0, &["MISSING"]);
    assert_eq!(sorted(&ended.out), ["^tcp, command line, -1, b, yes, 2, /bin/sh"; 2]);
}

#[test]
fn open_mpi_s_variables_are_there() {
    let ended = mpirun("-n 3 --oversubscribe")
        .script("echo $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_SIZE $OMPI_COMM_WORLD_LOCAL_RANK $OMPI_COMM_WORLD_LOCAL_SIZE $OMPI_COMM_WORLD_NODE_RANK")
        .run();
    ended.expect(0, &[]);
    assert_eq!(sorted(&ended.out), ["0 3 0 3 0", "1 3 1 3 1", "2 3 2 3 2"]);
}

#[test]
fn the_number_of_processes_is_the_number_of_processors_if_nobody_says() {
    let ended = mpirun("").script("echo $OMPI_COMM_WORLD_SIZE").run();
    ended.expect(0, &[]);
    let processors = std::thread::available_parallelism().expect("a number").get();
    assert_eq!(sorted(&ended.out), vec![processors.to_string(); processors]);
}

#[test]
fn ranks_are_bound_to_cores_or_not() {
    let masks = |arguments: &str| {
        let ended = mpirun(arguments).script("grep Cpus_allowed_list /proc/self/status").run();
        ended.expect(0, &[]);
        ended.out
    };
    let whole = std::fs::read_to_string("/proc/self/status").expect("a status");
    let whole = whole.lines().find(|line| line.starts_with("Cpus_allowed_list")).expect("a mask");
    assert_eq!(sorted(&masks("-n 3 --bind-to none")), [whole; 3]);
    let bound = masks("-n 2 --bind-to core:overload-allowed");
    let [a, b] = sorted(&bound)[..] else { panic!("{bound}") };
    // Where there is only one core they share it.
    assert!(a != b || a == whole, "{bound}");
}

#[test]
fn mistakes_are_refused_before_anything_starts() {
    for (arguments, part) in [
        ("--oversubscribed -n 2 true", "--oversubscribe"),
        ("-n 0 true", "0"),
        ("-n 2", "no program"),
        ("--mca a 1 --mca a 2 -n 1 true", "given before"),
        ("-n 1 true : -n 1", "no program"),
        ("-hostfil f true", "--hostfile"),
        ("--host localhost:2 -n 3 true", "not enough slots"),
        ("--xterm 0 -n 1 true", "does not open windows"),
        ("-n 1 true : --map-by core -n 1 true", "concerns the whole job"),
    ] {
        let ended = mpirun(arguments).run();
        ended.expect(1, &[part]);
    }
}

#[test]
fn several_programs_are_one_job() {
    let script = "echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE, $MINE, $PWD, $0, $MPI_LOCALRANKID";
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let mut job = mpirun("-n 1 -x MINE=a /bin/sh -c");
    job.command.arg(script).args(["first", ":", "-n", "2", "-x", "MINE=b", "--wdir"]).arg(&folder);
    job.command.args(["/bin/sh", "-c", script, "second"]);
    let ended = job.run();
    ended.expect(0, &[]);
    let own = std::env::current_dir().expect("a folder");
    let (own, folder) = (own.display(), folder.display());
    let expected = [
        format!("0 of 3, a, {own}, first, 0"),
        format!("1 of 3, b, {folder}, second, 1"),
        format!("2 of 3, b, {folder}, second, 2"),
    ];
    assert_eq!(sorted(&ended.out), expected);
}

#[test]
fn a_status_need_not_end_the_job() {
    let script = "test $OMPI_COMM_WORLD_RANK = 1 && exit 7; sleep 0.3; echo went on";
    let ended = mpirun("-n 2 --runtime-options error-nonzero-status=0").script(script).run();
    assert_eq!((ended.code(), ended.out.trim()), (7, "went on"), "{ended:?}");
}

#[test]
fn a_program_of_several_that_is_not_there_is_named() {
    let ended = mpirun("-n 1 sleep 100 : -n 1 /no/such/program").run();
    ended.expect(127, &["/no/such/program"]);
}

#[test]
fn nothing_but_what_is_named_is_inherited() {
    let mut job = mpirun("-genvnone -genv A 1 -n 1 /usr/bin/env");
    job.command.env("OTHER", "2");
    let ended = job.run();
    ended.expect(0, &[]);
    assert!(ended.out.contains("A=1\n") && !ended.out.contains("OTHER") && !ended.out.contains("PATH="));
    let mut job = mpirun("-n 1 --unset-env O* --append-env B[:] c --path /nowhere:/usr/bin env");
    job.command.env("OTHER", "2").env("B", "b");
    let ended = job.run();
    ended.expect(0, &[]);
    assert!(ended.out.contains("B=b:c\n") && !ended.out.contains("OTHER"), "{ended:?}");
}

#[test]
fn a_plan_can_be_seen_and_reported() {
    let ended = mpirun("-n 2 --display map,allocation --do-not-launch /no/such/program").run();
    ended.expect(0, &[]);
    assert!(ended.out.contains("Rank 1") && ended.out.contains("slots="), "{ended:?}");
    let ended = mpirun("-n 2 --report-bindings --bind-to none true").run();
    ended.expect(0, &["Rank 0 is not bound", "Rank 1 is not bound"]);
    let ended = mpirun("-n 1 --report-bindings --bind-to core true").run();
    ended.expect(0, &["Rank 0 bound to package["]);
}

#[test]
fn a_rank_runs_where_it_is_told() {
    // On the last core that we may use, by two ways of saying it.
    let shown = mpirun("-n 1 --display topo:parseable --do-not-launch true").run();
    let cores: Vec<(&str, &str)> = shown
        .out
        .lines()
        .filter_map(|line| line.split(":core=").nth(1)?.split_once(":processors="))
        .collect();
    let (index, processors) = *cores.last().expect("a core");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ranks");
    std::fs::write(&file, format!("rank 0=localhost slot={index}\n")).expect("written");
    for how in [format!("--rankfile {}", file.display()), format!("--map-by pe-list={index}")] {
        let ended = mpirun(&format!("-n 1 {how}")).script("grep Cpus_allowed_list /proc/self/status").run();
        ended.expect(0, &[]);
        assert_eq!(ended.out.trim(), format!("Cpus_allowed_list:\t{processors}"), "{how}");
    }
}

#[test]
fn help_and_version() {
    for arguments in ["--help", "-h", "-help"] {
        let ended = mpirun(arguments).run();
        ended.expect(0, &[]);
        assert!(ended.out.contains("--oversubscribe"), "{ended:?}");
    }
    for arguments in ["--version", "-V"] {
        let ended = mpirun(arguments).run();
        ended.expect(0, &[]);
        assert_eq!(ended.out.trim(), format!("mpirun (oxmpi) {}", env!("CARGO_PKG_VERSION")));
    }
}
