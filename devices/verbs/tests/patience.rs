//! Peers in processes of their own that get no core, or end: time that a peer has not had is not held against it, and one that has ended is told soon.
//!
//! The peer is this binary once more. It says where its memory is, takes the number of our pair, and does what it is told by lines.

mod rig;

use oxmpi_verbs_abi::numbers::{wc_status, wr_opcode};
use oxmpi_verbs_abi::*;
use rig::*;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Environment variable that names the role of a peer.
const PEER: &str = "OXMPI_TEST_PEER";
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest time-out: 2.4 hours.
const LONG: u8 = 31;

struct Peer {
    child: Child,
    pair: u32,
    address: u64,
    key: u32,
}

impl Peer {
    /// A peer with these faults, connected to `qp`.
    fn start(qp: *mut Qp, faults: &str) -> Peer {
        let mut command = Command::new(std::env::current_exe().expect("the path of this test"));
        let fabric = format!("fabric=p{},{faults}", std::process::id());
        command.args(["--exact", "the_peer", "--nocapture"]).env(PEER, "1").env("OXMPI_FAKE_VERBS", fabric);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it is there");
        // SAFETY: a pair that is there.
        let own = unsafe { (*qp).qp_num };
        writeln!(child.stdin.as_mut().expect("a pipe"), "{own}").expect("it listens");
        let said =
            BufReader::new(child.stdout.take().expect("a pipe")).lines().map(|line| line.expect("text"));
        // The test's harness says something before it.
        let line = said.into_iter().find_map(|line| Some(line.split_once("place: ")?.1.to_owned()));
        let line = line.expect("the peer's place");
        let mut numbers = line.split(' ').map(|n| n.parse::<u64>().expect("a number"));
        let mut next = || numbers.next().expect("three numbers");
        Peer { child, pair: next() as u32, address: next(), key: next() as u32 }
    }

    fn tell(&mut self, word: &str) {
        writeln!(self.child.stdin.as_mut().expect("a pipe"), "{word}").expect("it listens");
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a process");
        kill_process(pid, signal).expect("it is ours");
    }

    /// Waits until the system says that it has stopped.
    fn until_stopped(&self) {
        let begun = Instant::now();
        loop {
            let stat =
                std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("it is there");
            if stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "the peer does not stop: {stat}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The other process.
#[test]
fn the_peer() {
    if std::env::var_os(PEER).is_none() {
        return;
    }
    let rig = Rig::new();
    let mut memory = vec![0u64; 64];
    let (qp, mr) = (rig.pair(), rig.memory(&mut memory, ALL));
    let mut lines = std::io::stdin().lines().map(|line| line.expect("text"));
    let to: u32 = lines.next().expect("a pair's number").parse().expect("a number");
    rig.connect(qp, to);
    // SAFETY: a pair and a registration that are there.
    let (num, key) = unsafe { ((*qp).qp_num, (*mr).rkey) };
    println!("place: {num} {} {key}", memory.as_ptr() as u64);
    for line in lines {
        match line.as_str() {
            // SAFETY: the device's own function.
            "down" => assert_eq!(unsafe { oxmpi_fake_verbs_port(0) }, 0),
            other => panic!("{other}"),
        }
    }
}

/// A context for each process alone; the tests share it.
fn alone(test: impl FnOnce(&Rig, *mut Qp, &mut dyn FnMut(&Peer) -> SendWr)) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: tests of this process wait for each other, and nobody else reads the environment.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", format!("fabric=p{}", std::process::id())) };
    let rig = Rig::new();
    let mut memory = vec![5u64; 8];
    let registration = rig.memory(&mut memory, LOCAL);
    // SAFETY: a registration that is there.
    let lkey = unsafe { (*registration).lkey };
    let mut sge = Sge { addr: memory.as_ptr() as u64, length: 64, lkey };
    let mut write = |peer: &Peer| request(wr_opcode::RDMA_WRITE, &mut sge, peer.address, peer.key, [0; 2]);
    test(&rig, rig.pair(), &mut write);
}

/// Polls for a while in which all repetitions would be over many times: nothing may be complete.
fn stays_pending(rig: &Rig) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(200) {
        let early = rig.poll().map(|wc| wc.status);
        assert_eq!(early, None, "the peer is stopped, and its request is over");
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// It stops when it has taken a request and not answered; and before it has taken one.
#[test]
fn a_peer_that_is_stopped_loses_nothing() {
    for faults in ["stop_at=2", ""] {
        alone(|rig, qp, write| {
            let peer = Peer::start(qp, faults);
            // Eight microseconds, once.
            rig.connect_for(qp, peer.pair, 1, 1);
            assert_eq!(rig.run(qp, &mut write(&peer)), wc_status::SUCCESS);
            if faults.is_empty() {
                peer.signal(Signal::STOP);
                peer.until_stopped();
            }
            assert_eq!(rig.post(qp, &mut write(&peer)), 0);
            peer.until_stopped();
            stays_pending(rig);
            peer.signal(Signal::CONT);
            assert_eq!(rig.next().status, wc_status::SUCCESS);
            assert_eq!(rig.run(qp, &mut write(&peer)), wc_status::SUCCESS, "the connection goes on");
        });
    }
}

/// Before a request, and with one under way: hours of time-outs are not waited for.
#[test]
fn a_peer_that_is_gone_is_told_at_once() {
    for is_under_way in [false, true] {
        alone(|rig, qp, write| {
            let mut peer = Peer::start(qp, "");
            rig.connect_for(qp, peer.pair, LONG, 7);
            assert_eq!(rig.run(qp, &mut write(&peer)), wc_status::SUCCESS);
            peer.signal(Signal::STOP);
            peer.until_stopped();
            if is_under_way {
                assert_eq!(rig.post(qp, &mut write(&peer)), 0);
            }
            peer.signal(Signal::KILL);
            peer.child.wait().expect("it has ended");
            if !is_under_way {
                assert_eq!(rig.post(qp, &mut write(&peer)), 0);
            }
            assert_eq!(rig.next().status, wc_status::RETRY_EXC_ERR);
        });
    }
}

/// A program whose count is full with what was answered is not told first that more was under way.
#[test]
fn a_peer_that_is_gone_is_told_behind_what_it_answered() {
    alone(|rig, qp, write| {
        let mut peer = Peer::start(qp, "stop_at=2");
        rig.connect_for(qp, peer.pair, LONG, 7);
        // The first is answered, and its completion is left in the queue; the second stops the peer, unanswered.
        // SAFETY: a string.
        let completions = || unsafe { oxmpi_fake_verbs_counter(c"cqe_writes".as_ptr()) };
        let (before, begun) = (completions(), Instant::now());
        assert_eq!(rig.post(qp, &mut write(&peer)), 0);
        while completions() == before {
            assert!(begun.elapsed() < PATIENCE, "no completion comes");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(rig.post(qp, &mut write(&peer)), 0);
        peer.until_stopped();
        peer.signal(Signal::KILL);
        peer.child.wait().expect("it has ended");
        std::thread::sleep(Duration::from_millis(50));
        let statuses = |all: Vec<Wc>| all.iter().map(|wc| wc.status).collect::<Vec<_>>();
        assert_eq!(statuses(rig.poll_several(4)), [wc_status::SUCCESS], "what was answered comes alone");
        assert_eq!(rig.next().status, wc_status::RETRY_EXC_ERR);
    });
}

/// A peer that lives and does not answer, since its port is down, costs the repetitions.
#[test]
fn a_peer_that_does_not_answer_costs_all_repetitions() {
    alone(|rig, qp, write| {
        let mut peer = Peer::start(qp, "");
        rig.connect_for(qp, peer.pair, 8, 3);
        assert_eq!(rig.run(qp, &mut write(&peer)), wc_status::SUCCESS);
        // SAFETY: a string.
        let retries = || unsafe { oxmpi_fake_verbs_counter(c"retries".as_ptr()) };
        let before = retries();
        peer.tell("down");
        // Until it has heard.
        let status =
            std::iter::repeat_with(|| rig.run(qp, &mut write(&peer))).find(|s| *s != wc_status::SUCCESS);
        assert_eq!((status, retries() - before), (Some(wc_status::RETRY_EXC_ERR), 3));
    });
}
