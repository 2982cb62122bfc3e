//! Objects that a process takes in each category of endpoints, counted by the device while two ranks of a job are connected on all contexts.

use crate::common::{counter, setup};
use oxmpi_btl_conformance::{Harness, Msg};

/// The categories, by the parameter's word.
pub const CATEGORIES: [&str; 6] =
    ["mpi_everywhere", "2xdynamic", "dynamic", "shared_dynamic", "static", "mpi_threads"];

/// Counts of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub contexts: u64,
    pub qps: u64,
    pub cqs: u64,
    pub tds: u64,
    pub pages: u64,
    pub registers: u64,
    pub kilobytes: u64,
}

fn now() -> Taken {
    Taken {
        contexts: counter(c"contexts"),
        qps: counter(c"qps"),
        cqs: counter(c"cqs"),
        tds: counter(c"tds"),
        pages: counter(c"uar_pages"),
        registers: counter(c"uuars"),
        kilobytes: counter(c"bytes") / 1024,
    }
}

fn job(category: &str, threads: u32) -> Harness {
    Harness::new(&setup().ranks(2).cris(threads).threaded(true).param("endpoint_category", category))
}

/// What one rank of two takes for so many threads, without what it takes for datagrams and service: a device context, with one queue
/// pair and two completion queues.
fn measure(category: &str, threads: u32, own: u64, on_demand: fn(u64) -> u64) -> Taken {
    let before = now();
    let h = job(category, threads);
    let after = now();
    drop(h);
    assert_eq!(now(), before, "{category}, {threads} threads: something is left");
    let half = |before: u64, after: u64| (after - before) / 2;
    let pages = own + on_demand(1);
    Taken {
        contexts: half(before.contexts, after.contexts) - 1,
        qps: half(before.qps, after.qps) - 1,
        cqs: half(before.cqs, after.cqs) - 2,
        tds: half(before.tds, after.tds),
        pages: half(before.pages, after.pages) - pages,
        registers: half(before.registers, after.registers) - 2 * pages,
        kilobytes: half(before.kilobytes, after.kilobytes) - (256 + 80 + 2 * 9),
    }
}

/// The closed forms of the paper for `t` threads. `own`: pages of a context at open; `on_demand`: pages that so many pairs without a
/// domain add; `patched`: pages of their own come without idle domains.
fn closed_form(category: &str, t: u64, own: u64, on_demand: fn(u64) -> u64, patched: bool) -> Taken {
    let idle = if patched { 1 } else { 2 };
    let (contexts, pairs, tds, pages) = match category {
        "mpi_everywhere" => (t, t, 0, t * (own + on_demand(1))),
        "2xdynamic" => (1, 2 * t, 2 * t * idle, own + 2 * t),
        "dynamic" => (1, t, t * idle, own + t),
        "shared_dynamic" => (1, t, t, own + t.div_ceil(2)),
        "static" => (1, t, 0, own + on_demand(t)),
        _ => (1, 1, 0, own + on_demand(1)),
    };
    let (cqs, registers, kilobytes) = (pairs, 2 * pages, 256 * contexts + 89 * pairs);
    Taken { contexts, qps: pairs, cqs, tds, pages, registers, kilobytes }
}

/// Every category, up to 64 threads.
pub fn compare(own: u64, on_demand: fn(u64) -> u64, patched: bool) {
    for category in CATEGORIES {
        for threads in [1, 2, 3, 5, 12, 16, 17, 33, 64] {
            let due = closed_form(category, threads.into(), own, on_demand, patched);
            assert_eq!(measure(category, threads, own, on_demand), due, "{category}, {threads} threads");
        }
    }
}

/// Locks of the library that messages take: none on pairs and registers of a domain, none on queues of one context.
pub fn count_locks() {
    const MESSAGES: u64 = 100;
    for category in CATEGORIES {
        let handovers = counter(c"handovers");
        let h = job(category, 4);
        // A domain's only thread is the one that has its context, from the first message of a connection on.
        assert_eq!(counter(c"handovers"), handovers, "{category}: another thread has posted");
        let counted = || [c"qp_locks", c"uuar_locks", c"cq_locks"].map(counter);
        let before = counted();
        for ctx in 0..4 {
            (0..MESSAGES / 4).for_each(|i| h.push(h.link(), ctx, &Msg::new(i, 24, 8)));
        }
        h.settle(h.link().to, MESSAGES);
        let taken: Vec<u64> = counted().iter().zip(before).map(|(a, b)| a - b).collect();
        let [pairs, registers, queues] = taken[..] else { panic!("three counters") };
        let has_domains = category.contains("dynamic");
        assert_eq!(pairs >= MESSAGES, !has_domains, "{category}: {pairs} locks of queue pairs");
        assert!(has_domains <= (pairs == 0 && registers == 0), "{category}: {pairs}, {registers} locks");
        assert_eq!(queues > 0, category == "mpi_threads", "{category}: {queues} locks of completion queues");
    }
}
