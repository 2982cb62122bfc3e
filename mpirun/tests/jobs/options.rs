//! What the options do to the ranks.

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
    let bound = masks("-n 2 --bind-to core");
    let [a, b] = sorted(&bound)[..] else { panic!("{bound}") };
    // On a machine of one core they share it.
    let one_core = std::thread::available_parallelism().expect("a number").get() == 1;
    assert!(a != b || one_core, "{bound}");
}

#[test]
fn mistakes_are_refused_before_anything_starts() {
    for (arguments, part) in [
        ("--oversubscribed -n 2 true", "--oversubscribe"),
        ("-n 0 true", "0"),
        ("-n 2", "no program"),
        ("--mca a 1 --mca a 2 -n 1 true", "given before"),
        ("-n 1 true : -n 1 true", "':'"),
        ("-hostfile f true", "--hostfile"),
    ] {
        let ended = mpirun(arguments).run();
        ended.expect(1, &[part]);
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
