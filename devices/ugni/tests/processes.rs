//! Two processes: of one node through rings, of two nodes through sockets; one that is killed, one that gets no core; a node's limits over processes.
//!
//! Each test starts this program again with the name of a part to play in the environment.

mod common;

use common::*;
use oxmpi_ugni_emulation::api::{endpoints::*, queues::GNI_CqTestEvent, smsg::*};
use oxmpi_ugni_emulation::counters;
use oxmpi_ugni_emulation::engine;
use oxmpi_ugni_emulation::entry;
use oxmpi_ugni_emulation::layouts::MemHandle;
use oxmpi_ugni_emulation::numbers::*;
use oxmpi_ugni_emulation::sys;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::ptr::null_mut;
use std::time::Instant;

const PART: &str = "OXMPI_UGNI_TEST_PART";

/// A process that ends with its test, however that ends.
struct Part(Child);

impl Drop for Part {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the part `name` in a process of its own. It runs the test of the same name, which plays it.
fn start(part: &str, set_up: &str) -> Part {
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", part, "--nocapture", "--test-threads=1"])
        .env(PART, part)
        .env("OXMPI_UGNI", set_up)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    Part(child)
}

/// Whether this process plays a part.
fn plays(part: &str) -> bool {
    std::env::var(PART).is_ok_and(|p| p == part)
}

fn ended(mut child: Part) {
    let end = Instant::now() + PATIENCE;
    loop {
        match child.0.try_wait().expect("a child of ours") {
            Some(status) => return assert!(status.success(), "the other process: {status}"),
            None => assert!(Instant::now() < end, "the other process did not end"),
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Card {
    handle: MemHandle,
    address: u64,
}

fn bytes(card: &Card) -> &[u8] {
    // SAFETY: integers without padding.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(card).cast(), size_of::<Card>()) }
}
fn card(bytes: &[u8]) -> Card {
    // SAFETY: integers; long enough.
    unsafe { bytes.as_ptr().cast::<Card>().read_unaligned() }
}

/// The side that is asked: it offers memory, polls for a while, so its card is its own to play, and then does nothing until the other one
/// writes a word there.
fn offer(own: &Domain, peer: (u32, u32)) {
    let memory = vec![0u64; 40_000];
    let handle = own.register(&memory, null_mut(), 0);
    let mine = Card { handle, address: memory.as_ptr() as u64 };
    let mut got = [0; 128];
    exchange(own.to(peer.0, peer.1), bytes(&mine), &mut got, 1);
    (0..1000).for_each(|_| assert_eq!(GNI_CqTestEvent(own.cq), rc::NOT_DONE));
    let end = Instant::now() + PATIENCE;
    let word = |i: usize| {
        // SAFETY: in the vector, which the engine writes.
        unsafe { memory.as_ptr().add(i).read_volatile() }
    };
    while word(39_999) == 0 {
        assert!(Instant::now() < end, "the last word did not come");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!((0..39_990).all(|i| word(i) == i as u64), "all that was put before");
}

/// The side that asks: puts, gets back, adds.
fn ask(own: &Domain, peer: (u32, u32)) {
    let mut got = [0; 128];
    let ep = own.to(peer.0, peer.1);
    exchange(ep, bytes(&Card::default()), &mut got, 1);
    let theirs = card(&got);
    let source: Vec<u64> = (0..39_990).collect();
    let here = own.register(&source, null_mut(), 0);
    let mut d = descriptor(post::RDMA_PUT, cqmode::GLOBAL_EVENT);
    (d.local_addr, d.local_mem_hndl, d.length) = (source.as_ptr() as u64, here, 39_990 * 8);
    (d.remote_addr, d.remote_mem_hndl) = (theirs.address, theirs.handle);
    assert_eq!(rdma(ep, &mut d), rc::SUCCESS);
    assert_eq!(complete(own.cq, &d), rc::SUCCESS);
    let back = vec![0u64; 39_990];
    let home = own.register(&back, null_mut(), 0);
    let mut d = descriptor(post::FMA_GET, cqmode::GLOBAL_EVENT);
    (d.local_addr, d.local_mem_hndl, d.length) = (back.as_ptr() as u64, home, 39_990 * 8);
    (d.remote_addr, d.remote_mem_hndl) = (theirs.address, theirs.handle);
    assert_eq!(fma(ep, &mut d), rc::SUCCESS);
    assert_eq!(complete(own.cq, &d), rc::SUCCESS);
    assert_eq!(back, source);
    // Polls for completions carry operations out, sooner or later: the thread may be the first each time.
    let end = Instant::now() + PATIENCE;
    while counters::get("polled_turns").expect("a counter") == 0 {
        assert!(Instant::now() < end, "no turn by a poll");
        assert_eq!(fma(ep, &mut d), rc::SUCCESS);
        assert_eq!(complete(own.cq, &d), rc::SUCCESS);
    }
    let mut d = descriptor(post::AMO, cqmode::GLOBAL_EVENT);
    (d.amo_cmd, d.first_operand, d.length) = (0x108, 1, 8);
    (d.remote_addr, d.remote_mem_hndl) = (theirs.address + 39_999 * 8, theirs.handle);
    assert_eq!(fma(ep, &mut d), rc::SUCCESS);
    assert_eq!(complete(own.cq, &d), rc::SUCCESS);
}

fn two(part: &str, nodes: (u32, u32)) {
    let fabric = |node| {
        format!("fabric={part}{},node={node}", std::env::var(PART).map_or(std::process::id(), |_| parent()))
    };
    if plays(part) {
        let own = Domain::new(2, mode::FMA_SHARED, 64);
        return offer(&own, (nodes.0, 1));
    }
    let child = start(part, &fabric(nodes.1));
    // SAFETY: this process has no other thread that reads the environment: the file's tests exclude each other.
    unsafe { std::env::set_var("OXMPI_UGNI", fabric(nodes.0)) };
    let own = Domain::new(1, mode::FMA_SHARED, 64);
    assert_eq!(own.address, nodes.0);
    ask(&own, (nodes.1, 2));
    ended(child);
}

fn parent() -> u32 {
    rustix::process::getppid().map_or(0, |p| p.as_raw_nonzero().get() as u32)
}

/// Each test of a set-up is a process of its own, since a process has one set-up.
fn alone(part: &str, run: impl Fn()) {
    const ALONE: &str = "OXMPI_UGNI_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() || std::env::var_os(PART).is_some() {
        return run();
    }
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", part, "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        .stdout(Stdio::null())
        .spawn()
        .expect("started");
    ended(Part(child));
}

#[test]
fn through_rings_within_a_node() {
    alone("through_rings_within_a_node", || two("through_rings_within_a_node", (7, 7)));
}

#[test]
fn through_sockets_between_nodes() {
    alone("through_sockets_between_nodes", || two("through_sockets_between_nodes", (7, 8)));
}

/// The peer is killed between two puts: the second one ends with an error, and so does a message.
#[test]
fn a_peer_that_is_killed_is_an_error() {
    const PART_NAME: &str = "a_peer_that_is_killed_is_an_error";
    alone(PART_NAME, || {
        if plays(PART_NAME) {
            return offer(&Domain::new(2, mode::FMA_SHARED, 64), (1, 1));
        }
        let fabric = format!("fabric={PART_NAME}{},node=1", std::process::id());
        let mut child = start(PART_NAME, &fabric);
        // SAFETY: no other thread yet.
        unsafe { std::env::set_var("OXMPI_UGNI", &fabric) };
        let own = Domain::new(1, mode::FMA_SHARED, 64);
        let ep = own.to(1, 2);
        let mut got = [0; 128];
        exchange(ep, bytes(&Card::default()), &mut got, 1);
        let theirs = card(&got);
        let word = [1u64];
        let put = || {
            let mut d = descriptor(post::FMA_PUT, cqmode::GLOBAL_EVENT);
            (d.local_addr, d.length) = (word.as_ptr() as u64, 8);
            (d.remote_addr, d.remote_mem_hndl) = (theirs.address, theirs.handle);
            assert_eq!(fma(ep, &mut d), rc::SUCCESS);
            let (code, e) = event(own.cq);
            (code, entry::gni_cq_get_status(e) as u8)
        };
        assert_eq!(put().0, rc::SUCCESS);
        child.0.kill().expect("killed");
        child.0.wait().expect("gone");
        assert_eq!(put(), (rc::TRANSACTION_ERROR, status::ENDPOINT_UNREACHABLE));
        let mailbox = Mailbox::new(&own, null_mut(), 2, 64);
        let mine = mailbox.attr;
        let other = own.to(1, 2);
        // SAFETY: attributes of ours.
        assert_eq!(unsafe { GNI_SmsgInit(other, &mine, &mine) }, rc::SUCCESS);
        assert_eq!(send(other, b"x", 3, 0), rc::SUCCESS);
        assert_eq!(event(own.cq).0, rc::TRANSACTION_ERROR);
        assert_eq!(send(other, b"x", 3, 0), rc::INVALID_STATE, "broken for good");
        assert_eq!(GNI_EpDestroy(other), rc::SUCCESS);
    });
}

/// The peer has attached and gets no core, and as many wait for it as can: a datagram is not given up, whatever the number of its tries, and
/// arrives when the peer goes on.
#[test]
fn a_peer_without_a_core_is_waited_for() {
    const PART_NAME: &str = "a_peer_without_a_core_is_waited_for";
    alone(PART_NAME, || {
        if plays(PART_NAME) {
            let own = Domain::new(2, mode::FMA_SHARED, 64);
            kill_process(rustix::process::getpid(), Signal::STOP).expect("this process");
            let mut got = [0; 128];
            exchange(own.to(1, 1), b"late", &mut got, 1);
            // Until it is killed: its answer may still be on its way.
            return std::thread::sleep(PATIENCE);
        }
        let fabric = format!("fabric={PART_NAME}{},node=1", std::process::id());
        // SAFETY: no other thread yet.
        unsafe { std::env::set_var("OXMPI_UGNI", &fabric) };
        // First on the node, so that its table is had from a process that runs.
        let own = Domain::new(1, mode::FMA_SHARED, 64);
        let child = start(PART_NAME, &fabric);
        let pid = Pid::from_child(&child.0);
        let end = Instant::now() + PATIENCE;
        while !std::fs::read_to_string(format!("/proc/{}/stat", child.0.id()))
            .is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T')))
        {
            assert!(Instant::now() < end, "the peer did not stop");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let callers = all_callers(&engine::name(COOKIE, (1, 2)));
        let goes_on = std::thread::spawn(move || {
            // Many more than the tries of a datagram to one who is not there.
            while counters::get("waits").expect("a counter") < 200 {
                assert!(Instant::now() < end, "nobody waits for the peer");
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            drop(callers);
            kill_process(pid, Signal::CONT).expect("it is there");
        });
        let mut got = [0; 128];
        let (state, _, _) = exchange(own.to(1, 2), b"early", &mut got, 1);
        assert_eq!((state, &got[..4]), (post_state::COMPLETED, &b"late"[..]));
        goes_on.join().expect("no panic");
    });
}

/// As many connections to a listener that takes none as its queue has room for.
fn all_callers(name: &str) -> Vec<OwnedFd> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
        .expect("up to its maximum");
    let mut callers = Vec::new();
    loop {
        match sys::connect(name) {
            Ok(caller) => callers.push(caller),
            Err(full) => {
                assert_eq!(full.kind(), std::io::ErrorKind::WouldBlock, "{full}, behind {}", callers.len());
                return callers;
            }
        }
    }
}

/// One fast descriptor on the node: a second process gets it when the first, which made the node's table, is gone.
#[test]
fn limits_count_over_processes_and_end_with_them() {
    const PART_NAME: &str = "limits_count_over_processes_and_end_with_them";
    alone(PART_NAME, || {
        if plays(PART_NAME) {
            let _own = attach(5, 0).expect("the one descriptor");
            println!("attached");
            std::thread::sleep(PATIENCE);
            return;
        }
        let fabric = format!("fabric={PART_NAME}{},fma=1", std::process::id());
        let mut child = start(PART_NAME, &fabric);
        // Ends with the child, too.
        let lines = BufReader::new(child.0.stdout.take().expect("piped")).lines();
        assert!(
            lines.map_while(Result::ok).any(|line| line.ends_with("attached")),
            "the other process attached"
        );
        // SAFETY: no other thread yet.
        unsafe { std::env::set_var("OXMPI_UGNI", &fabric) };
        assert_eq!(attach(101, 0).err(), Some(rc::ERROR_RESOURCE));
        child.0.kill().expect("killed");
        child.0.wait().expect("gone");
        assert!(attach(102, 0).is_ok(), "swept with the process that had it");
    });
}
