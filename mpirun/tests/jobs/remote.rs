//! Daemons on other machines, by an agent that stands for ssh: it starts what it is told here, as a login would, with a
//! home, a folder and an environment of its own. Links, proofs, the tree and every ending are the real ones.

use crate::support::{
    Job, KEEPERS, Process, Running, eventually, free_port, kill_together, mpirun, one_report, own_rank,
};
use rustix::process::Signal;
use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;

/// A machine room: the agent's script, its log, and a home for every node.
pub struct Room {
    folder: TempDir,
}

/// The script of a login. `$1` is the node, the rest the command.
pub const LOGIN: &str = r#"mkdir -p "$room/$1"; cd "$room/$1"; shift
exec env -i HOME="$PWD" PATH=/usr/bin:/bin OXMPI_TEST_MARK="$OXMPI_TEST_MARK" \
  OXMPI_LINK_COUNTS="$OXMPI_LINK_COUNTS" sh -c "$*""#;

impl Room {
    /// `before` is done by the agent before it logs in; it may end.
    pub fn new(before: &str) -> Room {
        let room = Room { folder: tempfile::tempdir().expect("a folder") };
        let path = room.folder.path().display();
        let script = format!(
            "#!/bin/sh\nroom={path}\nread -r by < /proc/$PPID/comm\necho \"$by: $*\" >> $room/log\nwhile test \"${{1#-}}\" != \"$1\"; do shift; done\n{before}\n{LOGIN}\n"
        );
        let agent = room.agent();
        std::fs::write(&agent, script).expect("a fresh folder");
        std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o755)).expect("our file");
        room
    }

    pub fn agent(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    /// A node's home, and other files beside it.
    pub fn home(&self, node: &str) -> PathBuf {
        self.folder.path().join(node)
    }

    /// Calls of the agent: the calling program and its arguments.
    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// A job over these nodes.
    pub fn over(&self, hosts: &str, options: &str) -> Job {
        mpirun(&format!("--host {hosts} --mca plm_ssh_agent {} {options}", self.agent().display()))
    }
}

/// The rank program in a role, which other machines have to be told.
fn role(mut job: Job, role: &str) -> Job {
    let variable = format!("{}={role}", crate::support::ROLE);
    job.command.args(["-x", &variable]).args(own_rank());
    job
}

#[test]
fn every_rank_gets_the_facts_of_its_node() {
    let room = Room::new("");
    let ended = role(room.over("localhost:1,far:2,further:1", "--bind-to none"), "facts").run();
    ended.expect(0, &[]);
    let said = ended.said();
    for (rank, local, size, node, ranks) in
        [(0, 0, 1, 0, "[0]"), (1, 0, 2, 1, "[1, 2]"), (2, 1, 2, 1, "[1, 2]"), (3, 0, 1, 2, "[3]")]
    {
        let wanted = format!("rank {rank} of 4, {local} of {size} on node {node} of 3, job 1");
        let line = said
            .iter()
            .find(|line| line.starts_with(&wanted))
            .unwrap_or_else(|| panic!("{wanted}: {ended:?}"));
        assert!(line.contains(&format!("ranks {ranks}")), "{line}");
    }
}

/// Daemons of two nodes that are one machine tell so: their ranks have a core each.
#[test]
fn daemons_of_one_machine_share_its_cores() {
    let threads = std::fs::read_to_string("/sys/devices/system/cpu/smt/active");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 2 || cores == 2 && threads.is_ok_and(|text| text.trim() != "0") {
        eprintln!("left out: there is one core");
        return;
    }
    let script = "echo says: $(grep Cpus_allowed_list /proc/self/status)";
    let ended = Room::new("").over("far:1,further:1", "").script(script).run();
    ended.expect(0, &[]);
    let said = ended.said();
    assert!(said.len() == 2 && said[0] != said[1], "{ended:?}");
}

#[test]
fn values_are_found_on_every_node() {
    let room = Room::new("");
    let chain = "--mca rml_base_radix 1";
    for (hosts, options) in [
        ("far:2,further:2", ""),
        ("localhost:2,a:1,b:1", ""),
        ("a:2,b:2", chain),
        ("a:1,localhost:1,b:1,c:2", chain),
        ("a,b,c,d,e,f,g", "--mca rml_base_radix 2"),
    ] {
        let ended = role(room.over(hosts, options), "nodes").run();
        ended.expect(0, &[]);
        let said = ended.said();
        assert!(said.len() >= 4 && said.iter().all(|id| *id == said[0]), "one job: {said:?}");
    }
}

#[test]
fn ranks_are_dealt_to_machines_as_asked() {
    let room = Room::new("");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let hosts = write("hosts", "u@far slots=2\nfurther slots=2\nlast slots=1\n^last\n");
    let lines = write("lines", "further\nfar\nfurther\n");
    let ranks = write("ranks", "rank 0=further slot=0\nrank 1=far slot=0\n");
    let places = |options: &str| {
        let options =
            format!("{options} --mca plm_ssh_agent {} --output tag-detailed", room.agent().display());
        let ended = mpirun(&options).script("echo x").run();
        ended.expect(0, &[]);
        let node = |line: &&str| {
            line.split_once("][").expect("a mark").1.split(':').next().expect("a name").to_owned()
        };
        let mut lines: Vec<&str> = ended.out.lines().collect();
        lines.sort_by_key(|line| line.split(']').next().map(|p| p.rsplit(',').next().map(str::to_owned)));
        lines.iter().map(node).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(places(&format!("--hostfile {hosts}")), "far far further further");
    assert_eq!(places(&format!("--hostfile {hosts} --map-by node")), "far further far further");
    assert_eq!(places(&format!("--hostfile {hosts} --map-by ppr:1:node")), "far further");
    assert_eq!(places(&format!("--hostfile {lines} --map-by seq")), "further far further");
    assert_eq!(places(&format!("--hostfile {hosts} --map-by rankfile:file={ranks}")), "further far");
    assert!(room.log().iter().any(|line| line.starts_with("mpirun: u@far ")), "{:?}", room.log());
}

#[test]
fn programs_have_their_environment_and_folder() {
    let room = Room::new("");
    let own = std::env::current_dir().expect("a folder");
    let script = "echo says: $WORD/$OTHER/$PWD/$OMPI_MCA_x_y";
    let run = |options: &str| {
        let mut job = room.over("far:1", options);
        job.command.env("WORD", "flour").env("OTHER", "none").env("OMPI_MCA_x_y", "7");
        let ended = job.script(script).run();
        ended.expect(0, &[]);
        ended.said().concat()
    };
    assert_eq!(run("-x WORD"), format!("flour//{}/7", own.display()));
    assert_eq!(run("--fwd-environment"), format!("flour/none/{}/7", own.display()));
    assert_eq!(run("--wdir /usr --mca plm_ssh_pass_environ_mca_params 0"), "///usr/");
    // Folders of the job come first, whatever is said of the variable.
    for (said, path) in
        [("", "/a:/b"), ("-x LD_LIBRARY_PATH=/c", "/a:/b:/c"), ("--unset-env LD_LIBRARY_PATH", "/a:/b")]
    {
        let job = room.over("far:1", &format!("--mca plm_ssh_pass_libpath /a:/b {said}"));
        let ended = job.script("echo says: $LD_LIBRARY_PATH").run();
        assert_eq!(ended.said(), [path], "{said}: {ended:?}");
    }
    // Where mpirun happens to be need not be everywhere; what was asked for does.
    let gone = tempfile::tempdir().expect("a folder");
    let mut job = room.over("far:1", "");
    job.command.current_dir(gone.path());
    let job = job.script("sleep 0.3; echo says: $PWD").start();
    job.wait().expect(0, &[]);
    room.over("far:1", "--wdir /no/such/folder").script("true").run().expect(1, &["node far", "--wdir"]);
}

/// Daemons start each other; nobody's words or environment have the secret; all ways to set the parameters.
#[test]
fn daemons_start_each_other_in_a_tree() {
    let room = Room::new("env >> $room/environment");
    let hosts: Vec<String> = (1..=7).map(|n| format!("n{n}")).collect();
    let hosts = hosts.join(",");
    let agent = room.agent().display().to_string();
    let by = |ways: &str, variables: &[(&str, &str)]| {
        let _ = std::fs::remove_file(room.folder.path().join("log"));
        let mut job = mpirun(&format!("--host {hosts} {ways}"));
        job.command.envs(variables.iter().copied());
        let ended = job.script("echo says: $OMPI_COMM_WORLD_RANK").run();
        ended.expect(0, &[]);
        assert_eq!(ended.said().len(), 7);
        let log = room.log();
        let count = |who: &str| log.iter().filter(|line| line.starts_with(who)).count();
        assert_eq!(count("mpirun:") + count("oxmpid:"), 7, "{log:?}");
        (count("mpirun:"), log)
    };
    let (roots, log) = by(&format!("--mca plm_rsh_agent {agent} --mca rml_base_radix 2"), &[]);
    assert_eq!(roots, 2, "{log:?}");
    let (roots, _) = by(&format!("--prtemca plm_ssh_agent {agent} --prtemca plm_ssh_no_tree_spawn 1"), &[]);
    assert_eq!(roots, 7);
    let (roots, log) =
        by("--mca plm_ssh_args -4", &[("PRTE_MCA_plm_ssh_agent", &agent), ("OMPI_MCA_routed_radix", "3")]);
    assert_eq!(roots, 3, "{log:?}");
    assert!(log.iter().all(|line| line.contains(": -4 n")), "{log:?}");
    let said =
        log.concat() + &std::fs::read_to_string(room.folder.path().join("environment")).expect("written");
    let long = said.split(|c: char| !c.is_ascii_hexdigit()).any(|word| word.len() >= 64);
    assert!(!long, "a secret is on a command line or in an environment: {said}");
}

/// Daemons without a part in the job hand on what goes to and from those behind them.
#[test]
fn nodes_without_ranks_may_be_on_the_way() {
    let room = Room::new("");
    let folder = tempfile::tempdir().expect("a folder");
    let ranks = folder.path().join("ranks");
    std::fs::write(&ranks, "rank 0=c slot=0\nrank 1=e slot=0\nrank 2=c slot=1\n").expect("written");
    let options = format!("--mca rml_base_radix 1 --map-by rankfile:file={} --stdin all", ranks.display());
    let over = || room.over("a:1,b:1,c:2,d:1,e:1", &options);
    let ended = role(over(), "nodes").run();
    ended.expect(0, &[]);
    assert_eq!(ended.said().len(), 3, "{ended:?}");
    let mut job = over();
    job.command.stdin(Stdio::piped());
    let mut job = job.script("cat | wc -c; seq 1 20000").start();
    job.child.stdin.take().expect("piped").write_all(&[b'x'; 100_000]).expect("they read");
    let ended = job.wait();
    ended.expect(0, &[]);
    assert_eq!(ended.out.lines().filter(|line| line.trim() == "100000").count(), 3);
    assert_eq!(ended.out.lines().count(), 3 * 20_001);
    // One of them is killed.
    let job = over().script("exec sleep 1111").start();
    let daemons = job.wait_for("oxmpid --guarded", 5);
    eventually("three ranks", || {
        let sleeps = job.processes("sleep 1111").into_iter().filter(|p| p.command.starts_with("sleep"));
        (sleeps.count() == 3).then_some(())
    });
    daemons[1].kill(Signal::KILL);
    one_report(&job.wait_promptly(), 1, &["node daemon on"]);
}

/// More than any buffer holds, to one and to all, and to one that reads nothing.
#[test]
fn standard_input_crosses_the_network() {
    let room = Room::new("");
    let lines: String = (0..200_000).map(|n| format!("{n}\n")).collect();
    for (option, script, readers) in [
        ("", "cat | wc -c", 1),
        ("--stdin all", "cat | wc -c", 3),
        ("--stdin all --mca rml_base_radix 1", "cat | wc -c", 3),
        ("--stdin 2", "head -c 1 > /dev/null; echo 1", 0),
    ] {
        let mut job = room.over("far:2,further:1", option);
        job.command.stdin(Stdio::piped());
        let mut job = job.script(script).start();
        let mut pipe = job.child.stdin.take().expect("piped");
        let text = lines.clone();
        // A rank that does not read standard input closes it.
        let writer = std::thread::spawn(move || drop(pipe.write_all(text.as_bytes())));
        let ended = job.wait();
        writer.join().expect("no panic");
        ended.expect(0, &[]);
        let whole = lines.len().to_string();
        assert_eq!(
            ended.out.lines().filter(|line| line.trim() == whole).count(),
            readers,
            "{option}: {}",
            ended.err
        );
    }
}

#[test]
fn output_and_signals_cross_the_network() {
    let room = Room::new("");
    for options in ["", "--mca rml_base_radix 1"] {
        let ended = room.over("far:1,further:2,last:1", options).script("seq 1 30000").run();
        ended.expect(0, &[]);
        let sum: u64 = ended.out.lines().map(|line| line.parse::<u64>().expect("a number")).sum();
        assert_eq!(sum, 4 * (30_000 * 30_001 / 2));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let mut job = room.over("far:1,further:2", "--mca rml_base_radix 1");
    let script = "trap 'echo says: $OMPI_COMM_WORLD_RANK; exit 0' USR1; echo up; while :; do sleep 0.1; done";
    job.command.stdout(std::fs::File::create(&out).expect("a fresh folder"));
    let job = job.script(script).start();
    let text = || std::fs::read_to_string(&out).expect("it is there");
    eventually("three ranks", || (text().matches("up").count() == 3).then_some(()));
    job.signal(Signal::USR1);
    job.wait().expect(0, &[]);
    assert_eq!(text().matches("says: ").count(), 3, "{}", text());
}

/// Three machines in a chain of agents, and things that leave their groups and sessions.
fn family(room: &Room) -> Running {
    let script = "sleep 1111 & setsid sleep 2222 & (setsid sh -c 'sleep 3333; true' &) ; sleep 4444; true";
    let job = room.over("a:1,b:1,c:1", "--mca rml_base_radix 1").script(script).start();
    for what in ["sleep 1111", "sleep 2222", "sleep 3333", "sleep 4444"] {
        eventually(what, || {
            let found = job.processes(what).into_iter().filter(|p| p.command.starts_with(what)).count();
            (found == 3).then_some(())
        });
    }
    job
}

#[test]
fn a_killed_rank_ends_all_machines() {
    let room = Room::new("");
    let job = family(&room);
    job.processes("/bin/sh -c sleep 1111")[1].kill(Signal::KILL);
    one_report(&job.wait_promptly(), 128 + 9, &["SIGKILL"]);
}

#[test]
fn a_killed_daemon_ends_all_machines() {
    let room = Room::new("");
    for (which, what) in KEEPERS.into_iter().enumerate() {
        let job = family(&room);
        let of_machine = |what: &&str| {
            let own = |p: &Process| {
                p.command.contains(what) && !p.command.starts_with("sh ") && !p.command.contains("agent")
            };
            let all: Vec<_> = job.processes("oxmpid").into_iter().filter(own).collect();
            assert_eq!(all.len(), 3, "{all:?}");
            // The first, the second and the last of the chain in turn.
            all[which % 3].pid
        };
        kill_together(&what.iter().map(of_machine).collect::<Vec<_>>());
        one_report(&job.wait_promptly(), 1, &["node daemon on"]);
    }
}

/// A node is switched off: everything on it is gone at once.
#[test]
fn a_dead_machine_ends_all_others() {
    let room = Room::new("");
    let job = family(&room);
    let home = room.home("b");
    let on_b = |process: &Process| {
        let environment = std::fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        let home = format!("HOME={}", home.display());
        environment.split(|&c| c == 0).any(|variable| variable == home.as_bytes())
    };
    let victims: Vec<_> = job.processes("").into_iter().filter(on_b).collect();
    assert!(victims.len() >= 5, "{victims:?}");
    victims.iter().for_each(|process| process.kill(Signal::KILL));
    one_report(&job.wait_promptly(), 1, &["node daemon on b"]);
}

#[test]
fn mpirun_is_killed_and_nothing_is_left_on_any_machine() {
    let room = Room::new("");
    let mut job = family(&room);
    job.signal(Signal::KILL);
    job.child.wait().expect("a child of ours");
    job.nothing_is_left();
}

/// An agent may go; the link is what counts.
#[test]
fn an_interrupt_ends_all_machines() {
    let room = Room::new("");
    let job = family(&room);
    job.signal(Signal::INT);
    one_report(&job.wait(), 128 + 2, &["SIGINT"]);
}

#[test]
fn a_failure_is_reported_with_its_node() {
    let room = Room::new("");
    one_report(
        &room
            .over("a:1,b:1,c:1", "")
            .script("test $OMPI_COMM_WORLD_RANK = 2 && exit 7; exec sleep 1111")
            .run(),
        7,
        &["Rank 2 on node c", "status 7"],
    );
    one_report(&role(room.over("a:1,b:2", ""), "abort 5").run(), 5, &["Rank 1 on node b", "no more flour"]);
    one_report(&room.over("a:1,b:1", "/no/such/program").run(), 127, &["/no/such/program"]);
}

/// Nobody listens any more when the job runs.
#[test]
fn the_port_is_closed_when_the_job_runs() {
    let room = Room::new("");
    let free = free_port();
    let job = room
        .over("far:1", &format!("--mca prte_dynamic_ipv4_ports {free}"))
        .script("echo up; exec sleep 1111")
        .start();
    job.wait_for("sleep 1111", 1);
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, free)).is_err());
    job.signal(Signal::TERM);
    job.wait().expect(128 + 15, &[]);
}

/// Somebody starts the daemons by what mpirun prints.
#[test]
fn daemons_are_started_by_hand() {
    let folder = tempfile::tempdir().expect("a folder");
    let err = folder.path().join("err");
    let mut job = mpirun("--host far:1,further:1 --mca plm manual");
    job.command.stderr(std::fs::File::create(&err).expect("a fresh folder"));
    let job = job.script("echo says: $OMPI_COMM_WORLD_RANK").start();
    let lines = eventually("two lines", || {
        let text = std::fs::read_to_string(&err).ok()?;
        let lines: Vec<String> =
            text.lines().filter(|l| l.starts_with("oxmpi-boot")).map(str::to_owned).collect();
        (lines.len() == 2 && text.contains("further")).then_some(lines)
    });
    let daemon = Path::new(env!("CARGO_BIN_EXE_oxmpid"));
    let daemons: Vec<_> = lines
        .iter()
        .map(|line| {
            let mut daemon = std::process::Command::new(daemon)
                .arg("--remote")
                .stdin(Stdio::piped())
                .spawn()
                .expect("it is there");
            writeln!(daemon.stdin.take().expect("piped"), "{line}").expect("it reads");
            daemon
        })
        .collect();
    let ended = job.wait();
    ended.expect(0, &[]);
    assert_eq!(ended.said(), ["0", "1"]);
    for mut daemon in daemons {
        assert!(daemon.wait().expect("ours").success());
    }
}
