//! The transport to test with: it passes the suite under every shape that its parameters give it.

use crate::support::{fabric, load};
use core::ffi::c_void;
use oxmpi_btl_conformance::rma::{Buffer, Completion, Memory, Transfer, Verb, flush_alone, wait_for};
use oxmpi_btl_conformance::{Harness, Link, Setup, run_all};
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

fn setup() -> Setup {
    Setup::new(load(fabric(), "oxmpi_component_btl_fabric"))
}

fn passes(params: &[(&str, &str)]) {
    run_all(&params.iter().fold(setup(), |setup, (name, value)| setup.param(name, value)));
}

#[test]
fn passes_the_suite() {
    passes(&[]);
}

#[test]
fn passes_where_operations_and_contexts_overtake() {
    passes(&[("seed", "7"), ("shared_queue", "1")]);
}

#[test]
fn passes_with_late_completions_and_low_limits() {
    let limits =
        [("outstanding", "2"), ("rma_limit", "1000"), ("ring_size", "4096"), ("max_send_size", "2048")];
    passes(
        &[&limits[..], &[("eager_limit", "1024"), ("completion", "late"), ("seed", "3"), ("late_us", "200")]]
            .concat(),
    );
}

#[test]
fn passes_where_sleepers_sleep_on_descriptors() {
    passes(&[("sleep", "descriptor"), ("put_done_is_remote", "1"), ("alignment", "8")]);
}

#[test]
fn passes_with_a_verb_alone() {
    for verbs in ["get", "put", "none"] {
        passes(&[("verbs", verbs), ("contexts", "1")]);
    }
}

// ------------------------------------------------------------------ faults, by order

/// Orders of the component's control function (`btl-fabric/src/control.rs`).
const RELEASE: u32 = 1;
const FAIL: u32 = 2;
const LAND: u32 = 3;

fn order(h: &Harness, rank: usize, order: u32, argument: u64) {
    type Control = extern "C" fn(*mut c_void, u32, u64) -> i32;
    // SAFETY: the component's file, which is loaded already.
    let library = Box::leak(Box::new(unsafe { libloading::Library::new(fabric()) }.expect("the component")));
    // SAFETY: exported with this type.
    let control =
        unsafe { library.get::<Control>("oxmpi_btl_fabric_control") }.expect("its control function");
    assert_eq!(control(h.ranks[rank].btl.state, order, argument), 0, "order {order}");
}

/// Long enough for whatever comes by itself.
fn settle(h: &Harness) {
    let end = Instant::now() + Duration::from_millis(30);
    while Instant::now() < end {
        h.progress();
        std::thread::yield_now();
    }
}

/// Boxed: the transport has the addresses of those under way.
#[allow(clippy::vec_box, reason = "the addresses are in use while the list grows")]
type Completions = Vec<Box<Completion>>;

/// Transfers of 64 bytes each between two buffers, as far as they are taken.
struct Batch {
    link: Link,
    near: Buffer,
    far: Buffer,
    local: Memory,
    remote: Memory,
    started: Completions,
}

const BLOCK: usize = 64;

impl Batch {
    fn start(h: &Harness, verb: Verb, count: usize) -> Batch {
        let link = h.link();
        let (mut near, mut far) = (Buffer::new(count * BLOCK, 1), Buffer::new(count * BLOCK, 2));
        let local = Memory::of(h, link.from, near.bytes());
        let remote = Memory::of(h, link.to, far.bytes());
        let start = |i: usize| {
            let c = Completion::new(h, link.from, 0);
            let t = Transfer { verb, local: (&local, i * BLOCK), remote: (&remote, i * BLOCK), len: BLOCK };
            match t.start(h, link, 0, &c) {
                Status::PENDING => Some(c),
                Status::NO_RESOURCE | Status::PEER_FAILED => None,
                s => panic!("{verb:?}: {s}"),
            }
        };
        let started = (0..count).filter_map(start).collect();
        Batch { link, near, far, local, remote, started }
    }

    fn done(&self) -> usize {
        assert!(self.started.iter().all(|c| c.calls() <= 1), "done runs once");
        self.started.iter().filter(|c| c.calls() == 1).count()
    }

    fn release(self, h: &Harness) {
        self.local.release(h);
        self.remote.release(h);
    }
}

#[test]
fn completions_come_on_demand() {
    for seed in ["0", "5"] {
        let h = Harness::new(
            &setup().param("completion", "on_demand").param("outstanding", "8").param("seed", seed),
        );
        let batch = Batch::start(&h, Verb::Get, 12);
        assert_eq!(batch.started.len(), 8, "the others found no room");
        settle(&h);
        assert_eq!(batch.done(), 0);
        assert_eq!(batch.near.seen(0, 8 * BLOCK), vec![2; 8 * BLOCK], "the data is here long before");
        for (released, sum) in [(3, 3), (1, 4), (100, 8)] {
            order(&h, batch.link.from, RELEASE, released);
            let begun = Instant::now();
            while batch.done() < sum {
                h.progress();
                assert!(begun.elapsed() < h.patience, "{} of {sum} completions came", batch.done());
            }
            settle(&h);
            assert_eq!(batch.done(), sum);
        }
        batch.release(&h);
    }
}

/// With completions that never come only the peer's failure ends operations: with an error, once, and local memory is let alone.
#[test]
fn operations_that_never_complete_end_with_their_peer() {
    let h = Harness::new(&setup().param("completion", "never"));
    let batches = [Verb::Get, Verb::Put].map(|verb| Batch::start(&h, verb, 6));
    settle(&h);
    assert!(batches.iter().all(|b| b.started.len() == 6 && b.done() == 0));
    let link = h.link();
    h.ranks[link.from].host.let_peers_fail();
    order(&h, link.from, FAIL, link.to as u64);
    wait_for(&h, link.from, 0, batches.iter().flat_map(|b| &b.started).map(|c| &**c));
    settle(&h);
    assert!(batches.iter().all(|b| b.done() == 6));
    let failures = h.ranks[link.from].host.failures();
    assert_eq!(failures, [(link.to as u32, Status::PEER_FAILED)], "told once");
    assert_eq!(Batch::start(&h, Verb::Get, 1).started.len(), 0, "the peer stays lost");
    batches.into_iter().for_each(|b| b.release(&h));
}

/// The device loses its connection by itself, with operations of several contexts under way.
#[test]
fn a_peer_fails_after_so_many_operations() {
    let h = Harness::new(&setup().param("fail_after", "20").param("completion", "late"));
    let link = h.link();
    h.ranks[link.from].host.let_peers_fail();
    let batch = Batch::start(&h, Verb::Get, 64);
    wait_for(&h, link.from, 0, batch.started.iter().map(|c| &**c));
    settle(&h);
    let failed = batch.started.iter().filter(|c| c.status() == Status::PEER_FAILED).count();
    assert!(failed > 0 && failed == batch.started.iter().filter(|c| !c.status().is_ok()).count(), "{failed}");
    assert_eq!(batch.done(), batch.started.len());
    batch.release(&h);
}

/// A put whose failure was told lands afterwards, with the data that it had then; local memory is not looked at any more.
#[test]
fn a_failed_put_lands_late() {
    let h = Harness::new(&setup().param("late_landing", "1").param("fail_after", "1"));
    let link = h.link();
    h.ranks[link.from].host.let_peers_fail();
    let first = Batch::start(&h, Verb::Put, 1);
    wait_for(&h, link.from, 0, first.started.iter().map(|c| &**c));
    assert_eq!(flush_alone(&h, link, 0), Status::OK);
    let mut second = Batch::start(&h, Verb::Put, 1);
    wait_for(&h, link.from, 0, second.started.iter().map(|c| &**c));
    assert_eq!(second.started[0].status(), Status::PEER_FAILED);
    second.near.bytes().fill(7);
    settle(&h);
    assert_eq!(second.far.seen(0, BLOCK), vec![2; BLOCK], "not before the order");
    order(&h, link.from, LAND, 0);
    let begun = Instant::now();
    while second.far.seen(0, BLOCK) != vec![1; BLOCK] {
        std::thread::yield_now();
        assert!(begun.elapsed() < h.patience, "it never lands");
    }
    settle(&h);
    assert_eq!(second.done(), 1);
    first.release(&h);
    second.release(&h);
}

/// A put that the target refuses behind its local completion is told by the next flush.
#[test]
fn refused_puts_are_told_by_flush() {
    let h = Harness::new(&setup());
    let batch = Batch::start(&h, Verb::Put, 1);
    wait_for(&h, batch.link.from, 0, batch.started.iter().map(|c| &**c));
    assert_eq!(flush_alone(&h, batch.link, 0), Status::OK);
    batch.remote.revoke(&h);
    let c = Completion::new(&h, batch.link.from, 0);
    let t = Transfer { verb: Verb::Put, local: (&batch.local, 0), remote: (&batch.remote, 0), len: BLOCK };
    assert_eq!(t.start(&h, batch.link, 0, &c), Status::PENDING);
    assert_eq!(flush_alone(&h, batch.link, 0), Status::NO_PERMISSION);
    assert_eq!(flush_alone(&h, batch.link, 0), Status::OK, "told once");
    batch.local.release(&h);
}
