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
    pub pds: u64,
    pub qps: u64,
    pub cqs: u64,
    pub tds: u64,
    pub mrs: u64,
    pub pages: u64,
    pub registers: u64,
    pub kilobytes: u64,
}

/// Of datagrams and of the service context.
const OWN_PDS: u64 = 2;
/// Of datagrams, and the service context's send buffers.
const OWN_MRS: u64 = 2;

fn now() -> Taken {
    Taken {
        contexts: counter(c"contexts"),
        pds: counter(c"pds"),
        qps: counter(c"qps"),
        cqs: counter(c"cqs"),
        tds: counter(c"tds"),
        mrs: counter(c"mrs"),
        pages: counter(c"uar_pages"),
        registers: counter(c"uuars"),
        kilobytes: counter(c"bytes") / 1024,
    }
}

fn job(params: Params<'_>, threads: u32) -> Harness {
    let plain = setup().ranks(2).cris(threads).threaded(true);
    Harness::new(&params.iter().fold(plain, |setup, (name, value)| setup.param(name, value)))
}

type Params<'a> = &'a [(&'a str, &'a str)];

/// Device objects that one rank of two takes for so many threads, without those for datagrams and service: a device context, with one
/// queue pair and two completion queues.
fn measure(params: Params<'_>, threads: u32, own: u64, on_demand: fn(u64) -> u64) -> Taken {
    let before = now();
    let h = job(params, threads);
    let after = now();
    drop(h);
    assert_eq!(now(), before, "{params:?}, {threads} threads: something is left");
    let half = |before: u64, after: u64| (after - before) / 2;
    let pages = own + on_demand(1);
    Taken {
        contexts: half(before.contexts, after.contexts) - 1,
        pds: half(before.pds, after.pds) - OWN_PDS,
        qps: half(before.qps, after.qps) - 1,
        cqs: half(before.cqs, after.cqs) - 2,
        tds: half(before.tds, after.tds),
        mrs: half(before.mrs, after.mrs) - OWN_MRS,
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
    // Send buffers of each lane, and its receive buffers for the one connection.
    let mrs = 2 * if category == "mpi_threads" { 1 } else { t };
    Taken { contexts, pds: contexts, qps: pairs, cqs, tds, mrs, pages, registers, kilobytes }
}

/// Objects shared one by one, of sixteen threads: device contexts and protection domains by so many, registers by their kind.
pub fn compare_single(own: u64, on_demand: fn(u64) -> u64, patched: bool) {
    let everywhere = closed_form("mpi_everywhere", 16, own, on_demand, patched);
    let dynamic = closed_form("dynamic", 16, own, on_demand, patched);
    let idle = if patched { 1 } else { 2 };
    let pages = |contexts: u64, each: u64| {
        let pages = contexts * (own + each);
        (pages, 2 * pages)
    };
    let compare = |params: Params<'_>, due: Taken| {
        assert_eq!(measure(params, 16, own, on_demand), due, "{params:?}");
    };
    // A thread domain in each context: the baseline of the paper's section V.
    let (all, registers) = pages(16, 1);
    compare(
        &[("endpoint_category", "mpi_everywhere"), ("share_registers", "page")],
        Taken { tds: 16 * idle, pages: all, registers, ..everywhere },
    );
    for ways in [1, 2, 4, 8, 16] {
        let contexts = 16 / ways;
        let (all, registers) = pages(contexts, ways);
        compare(
            &[("endpoint_category", "dynamic"), ("share_contexts", &ways.to_string())],
            Taken {
                contexts,
                pds: contexts,
                pages: all,
                registers,
                kilobytes: 256 * contexts + 89 * 16,
                ..dynamic
            },
        );
        compare(
            &[("endpoint_category", "dynamic"), ("share_domains", &ways.to_string())],
            Taken { pds: contexts, ..dynamic },
        );
        let (all, registers) = pages(contexts, ways.div_ceil(2));
        compare(
            &[("share_registers", "own"), ("share_contexts", &ways.to_string())],
            Taken {
                contexts,
                pds: contexts,
                tds: 16,
                pages: all,
                registers,
                kilobytes: 256 * contexts + 89 * 16,
                ..dynamic
            },
        );
    }
    for ways in [1, 2, 3, 4, 8, 16, 64] {
        let text = ways.to_string();
        let groups = 16u64.div_ceil(ways);
        // Bytes of fifteen queues are saved where sixteen share one.
        compare(
            &[("endpoint_category", "dynamic"), ("share_queues", &text)],
            Taken { cqs: groups, kilobytes: dynamic.kilobytes - 9 * (16 - groups), ..dynamic },
        );
        compare(
            &[("endpoint_category", "dynamic"), ("share_registrations", &text)],
            Taken { mrs: 2 * groups, ..dynamic },
        );
        // One pool lies in one registration, and so do the receive buffers beside it.
        compare(
            &[("endpoint_category", "dynamic"), ("share_buffers", &text)],
            Taken { mrs: 2 * groups, ..dynamic },
        );
        // No more than what they lie in has lanes.
        compare(
            &[
                ("share_contexts", "8"),
                ("share_domains", "4"),
                ("share_queues", &text),
                ("share_registrations", &text),
                ("share_registers", "own"),
            ],
            {
                let (all, registers) = pages(2, 4);
                let cqs = 2 * 8u64.div_ceil(ways);
                let kilobytes = 256 * 2 + 80 * 16 + 9 * cqs;
                let mrs = 2 * 4 * 4u64.div_ceil(ways);
                Taken { contexts: 2, pds: 4, cqs, mrs, tds: 16, pages: all, registers, kilobytes, ..dynamic }
            },
        );
    }
    let (all, registers) = pages(1, on_demand(16));
    compare(
        &[("endpoint_category", "dynamic"), ("share_registers", "library")],
        Taken { tds: 0, pages: all, registers, ..dynamic },
    );
}

/// Every category, up to 64 threads.
pub fn compare(own: u64, on_demand: fn(u64) -> u64, patched: bool) {
    for category in CATEGORIES {
        for threads in [1, 2, 3, 5, 12, 16, 17, 33, 64] {
            let due = closed_form(category, threads.into(), own, on_demand, patched);
            let category_is = [("endpoint_category", category)];
            assert_eq!(measure(&category_is, threads, own, on_demand), due, "{category}, {threads} threads");
        }
    }
}

/// Costs of messages beside the doorbell each, in hundredths of a message: locks of queue pairs, locks of registers, doorbells on registers that
/// pairs of other threads have, too, and on pages of which other threads have the other register.
pub type Costs = [u64; 4];

/// Threads, and messages of each: few enough that no credits go back by themselves.
const THREADS: u32 = 16;
const EACH: u64 = 16;

/// Counts them in every category, and compares with what is due, by category in the order of [`CATEGORIES`].
pub fn count_locks(due: [Costs; 6]) {
    for (category, due) in CATEGORIES.into_iter().zip(due) {
        let handovers = counter(c"handovers");
        let h = job(&[("endpoint_category", category)], THREADS);
        // A domain's only thread is the one that has its context, from the first message of a connection on.
        assert_eq!(counter(c"handovers"), handovers, "{category}: another thread has posted");
        let names = [c"qp_locks", c"uuar_locks", c"shared_doorbells", c"shared_pages"];
        let counted = || names.map(counter);
        let (before, doorbells, queues) = (counted(), counter(c"doorbells"), counter(c"cq_locks"));
        for ctx in 0..THREADS {
            (0..EACH).for_each(|i| h.push(h.link(), ctx, &Msg::new(i, 24, 8)));
        }
        let messages = EACH * u64::from(THREADS);
        h.settle(h.link().to, messages);
        let (after, doorbells) = (counted(), counter(c"doorbells") - doorbells);
        // On one connection for all threads credits go back now and then.
        let most = if category == "mpi_threads" { messages + messages / 16 } else { messages };
        assert!((messages..=most).contains(&doorbells), "{category}: {doorbells} doorbells");
        let costs = core::array::from_fn(|n| (after[n] - before[n]) * 100 / doorbells);
        assert_eq!(costs, due, "{category}: locks and shared doorbells of a hundred messages");
        let queues = counter(c"cq_locks") - queues;
        // A connecting thread that gets a core late takes the lock of its own queue in here, a few times; each message's way takes one at least.
        let by_messages = queues >= messages;
        assert!(
            by_messages || queues < u64::from(THREADS),
            "{category}: {queues} locks of completion queues"
        );
        assert_eq!(by_messages, category == "mpi_threads", "{category}: {queues} locks of completion queues");
    }
}
