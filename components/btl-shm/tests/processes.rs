//! Ranks in processes of their own: sleeping, direct copies, refusals by the system, shortage of memory,
//! fork and sudden death.
//!
//! Started without `role`, this program runs every scenario whose name contains its first argument.
//! Processes of a scenario are this program again, as `role <name> <fd> <local rank> <options>`.

mod common;

use common::*;
use oxmpi_mca::Status;
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::{Child, Command};
use std::time::Duration;

const ROUNDS: usize = 3000;
const NEVER: Duration = Duration::from_secs(60);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|a| a == "role") {
        let node = Node {
            // SAFETY: the descriptor was left open for us by whoever started us.
            fd: unsafe { OwnedFd::from_raw_fd(args[2].parse().expect("fd")) },
            ranks: 2,
            cris: 1,
            oversubscribed: false,
        };
        let local = args[3].parse().expect("rank");
        match args[1].as_str() {
            "dialogue" => dialogue(&node, local, &args[4]),
            "stream" => stream(&node, local),
            "shortage" => shortage(&node),
            other => panic!("{other}"),
        }
        return;
    }
    let filter = args.iter().find(|a| !a.starts_with('-')).cloned().unwrap_or_default();
    let scenarios: [(&str, fn()); 7] = [
        ("two_processes", || dialogues(["plain", "plain"])),
        ("one_process_without_membarrier_and_cma", || dialogues(["filtered", "plain"])),
        ("two_processes_without_membarrier_and_cma", || dialogues(["filtered", "filtered"])),
        ("two_processes_that_watch_nothing", || dialogues(["unwatched", "unwatched"])),
        ("shortage_of_memory", || {
            let node = Node::new(2);
            finish(start(&node, "shortage", 0, ""));
        }),
        ("a_sender_is_killed", a_sender_is_killed),
        ("a_forked_child_leaves", a_forked_child_leaves),
    ];
    for (name, run) in scenarios.iter().filter(|(name, _)| name.contains(&filter)) {
        run();
        println!("test {name} ... ok");
    }
}

fn start(node: &Node, role: &str, local: u32, options: &str) -> Child {
    Command::new(std::env::current_exe().expect("own name"))
        .args(["role", role, &node.fd.as_raw_fd().to_string(), &local.to_string(), options])
        .spawn()
        .expect("start")
}

fn finish(mut child: Child) {
    let status = child.wait().expect("wait");
    assert!(status.success(), "{status}");
}

fn dialogues(options: [&str; 2]) {
    let node = Node::new(2);
    let children: Vec<Child> = (0..2).map(|i| start(&node, "dialogue", i, options[i as usize])).collect();
    children.into_iter().for_each(finish);
}

/// Refuses membarrier and process_vm_readv/writev with EPERM, as containers do.
fn refuse_system_calls() {
    use libc::*;
    let stmt = |code: u32, k: u32| sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let refuse =
        |nr: i64| sock_filter { code: (BPF_JMP | BPF_JEQ | BPF_K) as u16, jt: 0, jf: 1, k: nr as u32 };
    let eperm = stmt(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM as u32);
    // The number of the call is the first word a filter sees.
    let mut program = vec![stmt(BPF_LD | BPF_W | BPF_ABS, 0)];
    for nr in [SYS_membarrier, SYS_process_vm_readv, SYS_process_vm_writev] {
        program.extend([refuse(nr), eperm]);
    }
    program.push(stmt(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    let program = sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: a filter of this process for itself, alive during the call.
    unsafe {
        assert_eq!(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    }
}

/// Sleeps until `count` messages have come.
fn wait_for(rank: &Rank, count: usize) -> u32 {
    let mut slept = 0;
    while rank.record.count.get() < count {
        if rank.progress() == 0 {
            if let Some(word) = rank.arm(0) {
                assert!(sleep(word, NEVER), "nobody rang");
                slept += 1;
            }
            rank.disarm(0);
        }
    }
    slept
}

/// One side of a dialogue, with the other's memory read and written at the end.
fn dialogue(node: &Node, local: u32, option: &str) {
    let filtered = option == "filtered";
    if filtered {
        refuse_system_calls();
    }
    let watched = if option == "unwatched" { "0" } else { "4" };
    let rank = node.open(local, &[("watched_rings", watched)]);
    let peer = rank.to(1 - local);
    let mut slept = 0;
    for i in 0..ROUNDS {
        if local == 0 {
            assert_eq!(rank.send(peer, 1, &i.to_le_bytes(), &bytes(i as u64, i % 300)), Status::OK);
        }
        slept += wait_for(&rank, i + 1);
        if local == 1 {
            assert_eq!(rank.send(peer, 1, &i.to_le_bytes(), &bytes(i as u64, i % 300)), Status::OK);
        }
    }
    assert!(slept > 0, "nobody ever slept");
    let arrived = |i: usize| rank.record.arrived.borrow()[i].bytes.clone();
    for i in 0..ROUNDS {
        assert_eq!(arrived(i), [&i.to_le_bytes()[..], &bytes(i as u64, i % 300)].concat());
    }

    // Each tells the other where a megabyte of it lies, then reads it and writes its second half.
    const HALF: usize = 512 << 10;
    let window = bytes(local as u64 + 50, 2 * HALF);
    assert_eq!(rank.send(peer, 2, &(window.as_ptr() as u64).to_le_bytes(), &[]), Status::OK);
    wait_for(&rank, ROUNDS + 1);
    let remote = u64::from_le_bytes(arrived(ROUNDS)[..].try_into().expect("address"));
    let theirs = bytes(1 - local as u64 + 50, 2 * HALF);
    let mut copy = vec![0; HALF];
    let got = rank.rma(false, peer, &mut copy, remote);
    let put = rank.rma(true, peer, &mut bytes(99, HALF), remote + HALF as u64);
    if filtered {
        assert_eq!((got, put), (Status::NO_PERMISSION, Status::NO_PERMISSION));
        assert!(copy.iter().all(|&b| b == 0));
    } else {
        assert_eq!((got, put), (Status::OK, Status::OK));
        assert_eq!(copy, theirs[..HALF]);
        // Nobody has anything at the first page.
        assert_eq!(rank.rma(false, peer, &mut copy, 8), Status::BAD_PARAM);
    }
    if !filtered {
        read_together(&rank, peer, remote, &theirs[..HALF]);
    }
    // The other has written before it says so, unless it may not.
    assert_eq!(rank.send(peer, 3, &[filtered as u8], &[]), Status::OK);
    wait_for(&rank, ROUNDS + 2);
    let other_filtered = arrived(ROUNDS + 1)[0] == 1;
    // SAFETY: `window` is alive; another process may have changed it, so it is read as volatile.
    let second: Vec<u8> =
        (HALF..2 * HALF).map(|i| unsafe { window.as_ptr().add(i).read_volatile() }).collect();
    assert_eq!(
        second,
        if other_filtered { bytes(local as u64 + 50, 2 * HALF)[HALF..].to_vec() } else { bytes(99, HALF) }
    );
    // Nobody leaves before the other has looked.
    assert_eq!(rank.send(peer, 4, &[], &[]), Status::OK);
    wait_for(&rank, ROUNDS + 3);
    assert!(rank.reports().errors.is_empty() && rank.reports().peer_errors.is_empty());
}

/// Long reads, with which the other helps when it happens to look. (Both read at the same time, so each is
/// helper and reader by turns.)
fn read_together(rank: &Rank, peer: PeerEndpoint, remote: u64, expected: &[u8]) {
    for round in 0..50 {
        let len = expected.len() - round * 4099;
        let mut copy = vec![0; len];
        assert_eq!(rank.rma(false, peer, &mut copy, remote), Status::OK);
        assert!(copy == expected[..len], "round {round}");
        rank.progress();
    }
}

/// Sends for ever.
fn stream(node: &Node, local: u32) {
    let rank = node.open(local, &[]);
    let peer = rank.to(1 - local);
    for i in 0u64.. {
        while rank.send(peer, 1, &i.to_le_bytes(), &bytes(i, i as usize % 5000)) == Status::NO_RESOURCE {
            std::thread::yield_now();
        }
    }
}

fn a_sender_is_killed() {
    for after in [1, 100, 5000] {
        let node = Node::new(2);
        let rank = node.open(0, &[]);
        let mut sender = start(&node, "stream", 1, "");
        wait_for(&rank, after);
        let peer = rank.to(1);
        sender.kill().expect("kill");
        sender.wait().expect("wait");
        // Messages that it published are whole; a message it was writing does not exist.
        let mut all = rank.record.arrived.take();
        all.extend(rank.drain());
        for (i, m) in all.iter().enumerate() {
            assert_eq!(m.bytes, [&i.to_le_bytes()[..], &bytes(i as u64, i % 5000)].concat());
        }
        assert!(rank.arm(0).is_some());
        rank.disarm(0);
        assert_eq!(rank.rma(false, peer, &mut [0; 8], 4096), Status::NOT_SUPPORTED);
        assert!(rank.reports().peer_errors.is_empty());
    }
}

fn limit_files_to(bytes: u64) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: Some(bytes), maximum }).expect("setrlimit");
}

/// With a limit on file sizes, which would kill who runs into it.
fn shortage(node: &Node) {
    let text = |rank: &Rank| rank.reports().help.clone();
    limit_files_to(4096);
    let (status, record) = Rank::open(node.fd.as_raw_fd(), node, 0, &[]).err().expect("no memory");
    assert_eq!(status, Status::OUT_OF_MEMORY);
    let help = record.reports.lock().expect("record").help.clone();
    assert_eq!((help.len(), help[0].0.as_str()), (1, "no-memory"));
    assert!(help[0].1[1].contains("4096 bytes (ulimit -f)"), "{help:?}");

    // Room for the header area, not for a ring.
    limit_files_to(16 << 10);
    let ranks = node.all(&[("string_min", "1k")]);
    let to = ranks[0].to(1);
    for _ in 0..3 {
        assert_eq!(ranks[0].send(to, 1, b"x", &[]), Status::OUT_OF_MEMORY);
    }
    let help = text(&ranks[0]);
    assert_eq!((help.len(), help[0].0.as_str()), (1, "ring-no-memory"), "said once");

    // Room for a small ring only, and for that however often it was tried before.
    let ring = (4096 + (128 << 10) + (1 << 20) + 128 + 8 * ((64 << 10) + 192u64)).next_multiple_of(4096);
    limit_files_to((16 << 10) + ring);
    let size = || rustix::fs::fstat(&node.fd).expect("stat").st_size;
    let before = size();
    assert_eq!(ranks[0].send(to, 2, b"x", &[]), Status::OK);
    assert_eq!(ranks[1].drain().len(), 1);
    assert_eq!(text(&ranks[0]).len(), 1);
    assert_eq!(size(), before + ring as i64);

    // And the other direction, with room for everything.
    setrlimit(
        Resource::Fsize,
        getrlimit(Resource::Fsize).maximum.map_or(Rlimit { current: None, maximum: None }, |m| Rlimit {
            current: Some(m),
            maximum: Some(m),
        }),
    )
    .expect("setrlimit");
    assert_eq!(ranks[1].send(ranks[1].to(0), 2, b"x", &[1; 20_000]), Status::OK);
    assert_eq!(ranks[0].drain().len(), 1);
}

fn a_forked_child_leaves() {
    let node = Node::new(2);
    let ranks = node.all(&[]);
    let exchange = || {
        for (from, to) in [(0, 1), (1, 0)] {
            assert_eq!(ranks[from].send(ranks[from].to(to), 1, b"x", &[]), Status::OK);
            assert_eq!(ranks[to as usize].drain().len(), 1);
        }
    };
    exchange();
    assert_eq!(ranks[0].send(ranks[0].to(1), 1, b"y", &[]), Status::OK);
    // SAFETY: this process has one thread; the child only closes its copies and exits.
    match unsafe { libc::fork() } {
        0 => {
            ranks.iter().for_each(Rank::close);
            // SAFETY: nothing of the parent's is to be run.
            unsafe { libc::_exit(0) };
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for the child just made.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0);
        }
    }
    assert_eq!(ranks[1].drain().len(), 1, "the child took nothing");
    exchange();
    assert!(Rank::open(node.fd.as_raw_fd(), &node, 0, &[]).is_err(), "the child did not leave for us");
}
