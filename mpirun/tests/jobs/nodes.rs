//! Several nodes on one machine (`--mca plm local`): a daemon for each, one job for the user.

use crate::support::{Job, Running, eventually, kill_together, mpirun};
use rustix::process::Signal;
use std::io::Write;
use std::process::Stdio;

/// A job over nodes: `a:2,b:1` and further options.
fn over(hosts: &str, options: &str) -> Job {
    mpirun(&format!("--host {hosts} --mca plm local {options}"))
}

#[test]
fn every_rank_gets_the_facts_of_its_node() {
    let ended = over("a:2,b:1,c:1", "").role("facts").run();
    ended.expect(0, &[]);
    let crowded = std::thread::available_parallelism().expect("a number").get() < 4;
    let wanted: Vec<String> = [(0, 0, 2, 0, "[0, 1]"), (1, 1, 2, 0, "[0, 1]"), (2, 0, 1, 1, "[2]"), (3, 0, 1, 2, "[3]")]
        .iter()
        .map(|(rank, local, size, node, ranks)| {
            format!(
                "rank {rank} of 4, {local} of {size} on node {node} of 3, job 1, crowded {crowded}, ranks {ranks}, \
                 params [(\"plm\", \"local\")]"
            )
        })
        .collect();
    assert_eq!(ended.said(), wanted);
}

#[test]
fn ranks_are_dealt_to_nodes_as_asked() {
    let places = |options: &str| {
        let script = "echo says: $OMPI_COMM_WORLD_RANK $OMPI_COMM_WORLD_LOCAL_RANK/$OMPI_COMM_WORLD_LOCAL_SIZE \
                      $OMPI_COMM_WORLD_NODE_RANK";
        let ended = over("a:2,b:2", &format!("{options} --output tag-detailed")).script(script).run();
        ended.expect(0, &[]);
        let node = |line: &&str| {
            line.split_once("][").expect("a mark").1.split(':').next().expect("a name").to_owned()
        };
        let mut lines: Vec<&str> = ended.out.lines().collect();
        lines.sort_unstable();
        let nodes: String = lines.iter().map(node).collect();
        (nodes, ended.said().join(","))
    };
    let both = "0 0/2 0,1 1/2 1,2 0/2 0,3 1/2 1";
    assert_eq!(places(""), ("aabb".into(), both.into()));
    assert_eq!(places("--map-by slot"), ("aabb".into(), both.into()));
    let turns = "0 0/2 0,1 0/2 0,2 1/2 1,3 1/2 1";
    assert_eq!(places("--map-by node"), ("abab".into(), turns.into()));
    assert_eq!(places("--map-by ppr:1:node"), ("ab".into(), "0 0/1 0,1 0/1 0".into()));
    assert_eq!(places("-n 2"), ("aa".into(), "0 0/2 0,1 1/2 1".into()));
    assert_eq!(places("-n 3"), ("aab".into(), "0 0/2 0,1 1/2 1,2 0/1 0".into()));
}

#[test]
fn hostfiles_name_nodes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("hosts");
    std::fs::write(&file, "left slots=1\nright slots=2\nother\n^other\n").expect("written");
    let options = format!("--hostfile {} --gmca plm isolated --output tag-detailed", file.display());
    let ended = mpirun(&options).script("echo x").run();
    ended.expect(0, &[]);
    let on = |node: &str| ended.out.lines().filter(|line| line.contains(&format!("[{node}:"))).count();
    assert_eq!((on("left"), on("right"), on("other")), (1, 2, 0), "{ended:?}");
}

#[test]
fn ways_to_start_daemons_that_are_none() {
    for plm in ["lsf", "pals"] {
        mpirun(&format!("--host a:2 --mca plm {plm}"))
            .script("true")
            .run()
            .expect(1, &[plm, "not supported"]);
    }
    mpirun("--mca plm magic").script("true").run().expect(1, &["magic", "no such way"]);
    // Said for Open MPI, which has it.
    let mut job = mpirun("-n 1");
    job.command.env("OMPI_MCA_plm", "slurm");
    job.script("true").run().expect(0, &[]);
}

/// Fences, values and memory: one store over all nodes, one segment on each.
#[test]
fn values_are_found_on_every_node() {
    for hosts in ["a:2,b:2", "a:3,b:1,c:1", "a,b,c,d"] {
        let ended = over(hosts, "").role("nodes").run();
        ended.expect(0, &[]);
        let said = ended.said();
        assert!(said.len() >= 4 && said.iter().all(|id| *id == said[0]), "one job: {said:?}");
    }
    over("a:2,b:2", "--map-by node").role("nodes").run().expect(0, &[]);
}

/// All ranks of a node have ended, and what they have published is still there.
#[test]
fn values_outlive_the_ranks_of_a_node() {
    let ended = over("a:1,b:1", "").role("late").run();
    ended.expect(0, &[]);
    assert_eq!(ended.said(), ["value of 1"]);
}

#[test]
fn a_rank_that_leaves_fails_the_fences_of_other_nodes() {
    let ended = over("a:1,b:1,c:1", "").role("crash").run();
    ended.expect(128 + 6, &["Rank 1 on node b", "SIGABRT"]);
    assert_eq!(ended.reports(), 1, "{ended:?}");
}

/// A process that has ended without MPI_Init is waited for on another node, whichever comes first.
#[test]
fn a_process_that_never_joins_is_missed_on_other_nodes() {
    for (first, second) in [("true", "sleep 1"), ("sleep 1", "true")] {
        let script =
            format!("test $OMPI_COMM_WORLD_RANK = 0 && {{ {first}; exit 0; }}; {second}; exec $RANK");
        let ended = over("a:1,b:1", "").script_with_role(&script, "fence").run();
        ended.expect(1, &["Rank 0 on node a", "without calling MPI_Init", "1 waits for it there"]);
        assert_eq!(ended.reports(), 1, "{ended:?}");
    }
}

#[test]
fn the_first_failure_is_the_one_report() {
    let ended =
        over("a:1,b:1,c:1,d:1", "").script("test $OMPI_COMM_WORLD_RANK = 2 && exit 7; exec sleep 1111").run();
    ended.expect(7, &["Rank 2 on node c", "status 7"]);
    assert_eq!(ended.reports(), 1, "{ended:?}");
    let ended = over("a:1,b:1,c:1,d:1", "/no/such/program").run();
    ended.expect(127, &["/no/such/program"]);
    assert_eq!(ended.reports(), 1, "{ended:?}");
    let ended = over("a:1,b:2", "").role("abort 5").run();
    ended.expect(5, &["Rank 1 on node b", "no more flour"]);
    assert_eq!(ended.reports(), 1, "{ended:?}");
}

/// The report names the rank that ended, not the rank that noticed it.
#[test]
fn whoever_blames_a_peer_is_believed_last() {
    let ended = over("a:1,b:1,c:1", "").role("blame 2").run();
    ended.expect(128 + 9, &["Rank 2 on node c", "SIGKILL"]);
    assert_eq!(ended.reports(), 1, "{ended:?}");
    // The peer lives: then it is news.
    let ended = over("a:1,b:1,c:1", "").role("blame none").run();
    ended.expect(9, &["on node", "rank 2 is odd"]);
    assert_eq!(ended.reports(), 1, "{ended:?}");
}

/// Four nodes, and things that leave their groups and sessions.
fn family() -> Running {
    let script = "sleep 1111 & setsid sleep 2222 & (setsid sh -c 'sleep 3333; true' &) ; sleep 4444; true";
    let job = over("a:1,b:1,c:1,d:1", "").script(script).start();
    for what in ["sleep 1111", "sleep 2222", "sleep 4444"] {
        eventually(what, || {
            let found = job.processes(what).into_iter().filter(|p| p.command.starts_with("sleep")).count();
            (found == 4).then_some(())
        });
    }
    eventually("sleep 3333", || (job.processes("sleep 3333").len() >= 8).then_some(()));
    job
}

#[test]
fn a_killed_rank_ends_all_nodes() {
    let job = family();
    job.processes("/bin/sh -c sleep 1111")[2].kill(Signal::KILL);
    let ended = job.wait_promptly();
    ended.expect(128 + 9, &["SIGKILL"]);
    assert_eq!(ended.reports(), 1, "{ended:?}");
}

#[test]
fn a_killed_daemon_ends_all_nodes() {
    for which in [0, 3] {
        let job = family();
        job.wait_for("oxmpid", 4)[which].kill(Signal::KILL);
        let ended = job.wait_promptly();
        ended.expect(1, &["node daemon", "SIGKILL"]);
        assert_eq!(ended.reports(), 1, "{ended:?}");
    }
}

#[test]
fn two_killed_daemons_end_all_nodes() {
    let job = family();
    let daemons = job.wait_for("oxmpid", 4);
    daemons[1..3].iter().for_each(|daemon| daemon.kill(Signal::KILL));
    let ended = job.wait_promptly();
    ended.expect(1, &["node daemon", "SIGKILL"]);
    assert_eq!(ended.reports(), 1, "{ended:?}");
}

/// mpirun is what keeps the nodes of its machine: without it and them ranks end by themselves.
#[test]
fn mpirun_and_daemons_are_killed_together() {
    let mut job = over("a:2,b:2", "").role("stay").start();
    job.wait_for("rank::rank", 4);
    let mut victims: Vec<i32> = job.wait_for("oxmpid", 2).iter().map(|daemon| daemon.pid).collect();
    victims.push(job.launcher().pid);
    kill_together(&victims);
    job.child.wait().expect("a child of ours");
    job.nothing_is_left();
}

#[test]
fn mpirun_is_killed_and_nothing_is_left_on_any_node() {
    let mut job = family();
    job.signal(Signal::KILL);
    job.child.wait().expect("a child of ours");
    job.nothing_is_left();
}

#[test]
fn everything_is_killed_on_all_nodes() {
    let mut job = over("a:2,b:2", "").role("stay").start();
    job.wait_for("rank::rank", 4);
    job.signal(Signal::KILL);
    job.processes("").iter().for_each(|process| process.kill(Signal::KILL));
    job.child.wait().expect("a child of ours");
    job.nothing_is_left();
}

#[test]
fn signals_reach_all_nodes() {
    let script = "trap 'echo says: $OMPI_COMM_WORLD_RANK; exit 0' USR1; echo up; while :; do sleep 0.1; done";
    let mut job = over("a:1,b:2,c:1", "").script(script);
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    job.command.stdout(std::fs::File::create(&out).expect("a fresh folder"));
    let job = job.start();
    let text = || std::fs::read_to_string(&out).expect("it is there");
    eventually("four ranks", || (text().matches("up").count() == 4).then_some(()));
    job.signal(Signal::USR1);
    job.wait().expect(0, &[]);
    assert_eq!(text().matches("says: ").count(), 4, "{}", text());
}

#[test]
fn an_interrupt_ends_all_nodes() {
    let job = over("a:2,b:2", "").role("stay").start();
    job.wait_for("rank::rank", 4);
    job.signal(Signal::INT);
    let ended = job.wait();
    ended.expect(128 + 2, &["SIGINT"]);
    assert_eq!(ended.reports(), 1, "{ended:?}");
}

#[test]
fn a_time_limit_tells_of_all_nodes() {
    let ended = over("a:2,b:1", "--timeout 1 --report-state-on-timeout").script("sleep 1111").run();
    ended.expect(
        110,
        &["Rank 0 on node a", "Rank 1 on node a", "Rank 2 on node b", "time limit of 1 seconds"],
    );
}

/// Standard input of rank 0, of a rank elsewhere, of all, of none; more than a pipe holds.
#[test]
fn standard_input_goes_where_it_is_asked_for() {
    let lines: String = (0..40_000).map(|n| format!("{n}\n")).collect();
    for (option, readers) in
        [("", 1), ("--stdin 3", 1), ("--stdin all", 4), ("--stdin 1,2", 2), ("--stdin none", 0)]
    {
        let mut job = over("a:2,b:2", option);
        job.command.stdin(Stdio::piped());
        let mut job = job.script("cat | wc -c").start();
        let mut pipe = job.child.stdin.take().expect("piped");
        let text = lines.clone();
        // A rank that does not read standard input closes it.
        let writer = std::thread::spawn(move || drop(pipe.write_all(text.as_bytes())));
        let ended = job.wait();
        writer.join().expect("no panic");
        ended.expect(0, &[]);
        let whole = lines.len().to_string();
        let count = |what: &str| ended.out.lines().filter(|line| line.trim() == what).count();
        assert_eq!((count(&whole), count("0")), (readers, 4 - readers), "{option}: {ended:?}");
    }
}

#[test]
fn programs_have_their_folder_and_environment_on_every_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("there");
    let options = format!("--wdir {} -x WORD=flour --output tag", path.display());
    let ended = over("a:1,b:1", &options).script("echo says: $PWD $WORD; pwd").run();
    ended.expect(0, &[]);
    let wanted = format!("{} flour", path.display());
    assert_eq!(ended.said(), [wanted.clone(), wanted]);
    assert_eq!(ended.out.matches(&format!(">: {}\n", path.display())).count(), 2, "{ended:?}");
}

#[test]
fn files_of_output_have_the_names_of_nodes() {
    let folder = tempfile::tempdir().expect("a folder");
    let pattern = folder.path().join("%h-%r").display().to_string();
    over("a:1,b:2", &format!("--output file={pattern}:pattern"))
        .script("echo $OMPI_COMM_WORLD_RANK")
        .run()
        .expect(0, &[]);
    for (name, text) in [("a-0.out", "0\n"), ("b-1.out", "1\n"), ("b-2.out", "2\n")] {
        assert_eq!(std::fs::read_to_string(folder.path().join(name)).expect(name), text);
    }
}

/// Much output of all nodes: whole lines, and all of them.
#[test]
fn output_of_all_nodes_comes_in_whole_lines() {
    let ended = over("a:1,b:1,c:2", "").script("seq 1 30000").run();
    ended.expect(0, &[]);
    assert_eq!(ended.out.lines().count(), 4 * 30_000);
    let sum: u64 = ended.out.lines().map(|line| line.parse::<u64>().expect("a number")).sum();
    assert_eq!(sum, 4 * (30_000 * 30_001 / 2));
}

/// Two ranks have a core each, or are not bound: nodes of one machine do not get the same.
#[test]
fn nodes_of_one_machine_do_not_get_the_same_core() {
    let script = "echo says: $(grep Cpus_allowed_list /proc/self/status)";
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let ended = mpirun("--mca plm local --host a:1,b:1").script(script).run();
    ended.expect(0, &[]);
    let said = ended.said();
    assert_eq!(said.len(), 2, "{ended:?}");
    // One core may have two threads.
    if cores > 2 || cores == 2 && !two_threads() {
        assert_ne!(said[0], said[1], "{ended:?}");
    }
    let many = mpirun(&format!("--mca plm local --host a:{cores},b:{cores}")).script(script).run();
    many.expect(0, &[]);
    let said = many.said();
    assert_eq!((said.len(), said[0]), (2 * cores, said[2 * cores - 1]), "nobody is bound: {many:?}");
}

fn two_threads() -> bool {
    std::fs::read_to_string("/sys/devices/system/cpu/smt/active").is_ok_and(|text| text.trim() != "0")
}
