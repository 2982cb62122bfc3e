//! Match times of the engines by depth and pattern, for `bench/results/matching.md`: printed, not judged. On an idle machine:
//!
//! ```text
//! taskset -c 1 cargo test --release -p pml-ob1 --lib match_times -- --ignored --nocapture
//! ```
//!
//! A queue is filled to its depth and emptied by one arrival (or receive) for each entry. The figure is nanoseconds for
//! one entry in the best of several rounds that take the engines in turn: of both steps, with what they touch in the
//! caches, or of emptying it after the caches were cleared, as after a phase of computing.

use super::*;
use crate::wire::source_tag;
use oxmpi_pml::ANY_SOURCE;
use std::hint::black_box;
use std::ptr::null_mut;
use std::time::Instant;

const ENGINES: [Choice; 7] = [
    Choice::List,
    Choice::Hash,
    Choice::Vector,
    Choice::Fuzzy32,
    Choice::Fuzzy16,
    Choice::Fuzzy8,
    Choice::Adaptive,
];
const DEPTHS: [usize; 6] = [4, 16, 64, 256, 1024, 4096];
const ROUNDS: usize = 15;
/// As large as any processor's caches that this is likely to meet.
const CACHES: usize = 64 << 20;
/// A stencil's neighbours.
const SOURCES: usize = 27;

/// A node on lines of its own, as in a request or a record.
#[repr(C, align(128))]
struct PaddedNode<N>(N);

/// In which order entries are asked for, and whether every eighth receive names no source.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    order: fn(usize) -> Vec<usize>,
    wild: bool,
}

const CASES: [Case; 4] = [
    Case { name: "in order", order: |n| (0..n).collect(), wild: false },
    Case { name: "reversed", order: |n| (0..n).rev().collect(), wild: false },
    Case { name: "random", order: shuffled, wild: false },
    Case { name: "random, wildcards", order: shuffled, wild: true },
];

/// The same permutation every time.
fn shuffled(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    for i in (1..n).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(i, (state >> 33) as usize % (i + 1));
    }
    order
}

/// Source and tag of entry `i`; tags differ.
fn key(i: usize) -> (i32, i32) {
    ((i * 7 % SOURCES) as i32, i as i32)
}
fn pattern(i: usize, wild: bool) -> Pattern {
    let (source, tag) = key(i);
    Pattern::new(if wild && i.is_multiple_of(8) { ANY_SOURCE } else { source }, tag)
}
fn arrival(i: usize) -> Arrival {
    let (source, tag) = key(i);
    Arrival { key: source_tag(source, tag), comm: 0, order_key: 0 }
}

/// One engine with its nodes for both sides.
struct Bench {
    engine: Engine,
    posted: Vec<PaddedNode<Posted>>,
    waiting: Vec<PaddedNode<Unexpected>>,
    order: Vec<usize>,
    stamp: u64,
}

impl Bench {
    fn new(choice: Choice, case: Case, depth: usize) -> Bench {
        let windows = Windows::default().for_ranks(SOURCES as u32);
        let posted = |i| PaddedNode(Posted { next: null_mut(), pattern: pattern(i, case.wild), stamp: 0 });
        let waiting = |i| PaddedNode(Unexpected { next: null_mut(), key: arrival(i).key, order_key: 0 });
        Bench {
            engine: Engine::new(Setting { windows, ..setting(choice) }),
            posted: (0..depth).map(posted).collect(),
            waiting: (0..depth).map(waiting).collect(),
            order: (case.order)(depth),
            stamp: 0,
        }
    }

    fn fill(&mut self, posted: bool) {
        if !posted {
            for node in &mut self.waiting {
                // SAFETY: the vector stays as it is, and `empty` takes all out.
                unsafe { self.engine.add_unexpected(NonNull::from(&mut node.0)) };
            }
            return;
        }
        for node in &mut self.posted {
            node.0.stamp = self.stamp;
            self.stamp += 1;
            // SAFETY: the vector of receives stays as it is, and `empty` takes all out.
            unsafe { self.engine.post(NonNull::from(&mut node.0)) };
        }
    }

    fn empty(&mut self, posted: bool, wild: bool) {
        for &i in &self.order {
            let found = if posted {
                self.engine.match_arrival(arrival(i)).is_some()
            } else {
                self.engine.find_unexpected(pattern(i, wild), true).is_some()
            };
            assert!(found);
        }
    }

    /// Nanoseconds for an entry. `caches`: what is written over before the queue is emptied.
    fn time(&mut self, posted: bool, wild: bool, caches: Option<&mut [u8]>) -> f64 {
        let depth = self.order.len();
        if let Some(caches) = caches {
            self.fill(posted);
            caches.iter_mut().step_by(64).for_each(|b| *b = black_box(b.wrapping_add(1)));
            let start = Instant::now();
            self.empty(posted, wild);
            return start.elapsed().as_nanos() as f64 / depth as f64;
        }
        let turns = (4096 / depth).max(1);
        let start = Instant::now();
        for _ in 0..turns {
            self.fill(posted);
            self.empty(posted, wild);
        }
        start.elapsed().as_nanos() as f64 / (turns * depth) as f64
    }
}

fn row(posted: bool, case: Case, depth: usize, mut caches: Option<&mut [u8]>) -> String {
    let mut benches = ENGINES.map(|choice| Bench::new(choice, case, depth));
    let mut best = [f64::INFINITY; ENGINES.len()];
    for _ in 0..ROUNDS {
        for (bench, best) in benches.iter_mut().zip(&mut best) {
            *best = best.min(bench.time(posted, case.wild, caches.as_deref_mut()));
        }
    }
    best.map(|t| format!("{t:.0}")).join(" | ")
}

#[test]
#[ignore = "prints a table, which takes a quiet machine and a minute"]
fn match_times() {
    let names = ENGINES.map(|e| format!("`{}`", e.name())).join(" | ");
    let mut caches = vec![0; CACHES];
    for cold in [false, true] {
        for (side, posted) in [("posted receives", true), ("waiting messages", false)] {
            let title = format!("{side}, {}", if cold { "caches cleared" } else { "in the caches" });
            println!("\n| {title} | depth | {names} |\n|---{}|", "|---".repeat(1 + ENGINES.len()));
            for (case, depth) in CASES.into_iter().flat_map(|case| DEPTHS.map(|depth| (case, depth))) {
                let caches = cold.then_some(&mut caches[..]);
                println!("| {} | {depth} | {} |", case.name, row(posted, case, depth, caches));
            }
        }
    }
}
