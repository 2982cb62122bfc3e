//! One-sided verbs by many threads on several contexts, for any transport: atomics, puts and gets that would give
//! wrong answers if two of them met, and a flush over contexts whose threads compute.
#![allow(dead_code, reason = "every test binary uses its own part of this")]

use super::common::job;
use super::keeper;
use super::rma::{Done, LIMIT, Meeting, Remote, Window, atomic, reach, rma};
use oxmpi_btl::{AtomicDesc, FlushDesc, LIST_ENTRY, LIST_PUT, ListDesc, ListEntry, Reach, RmaDesc, amo, cap};
use oxmpi_mca::{Host, SliceRef, Status, ThreadCtx};
use oxmpi_osc::Flow;
use oxmpi_runtime::{Config, Instance};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Instant;

/// A verb of a transport. Tests keep memory and descriptors until the operation is over, endpoints as long as the instance, and contexts apart.
macro_rules! call {
    ($btl:expr, $verb:ident($($argument:expr),*)) => {
        // SAFETY: what the text above says.
        unsafe { ($btl.$verb)($btl.state, $($argument),*) }
    };
}

/// Threads of a rank; they are more than the CRIs, so some share one.
const THREADS: u32 = 4;
/// For `runtime_num_cris`.
pub const CRIS: &str = "3";
const CONTEXTS: u32 = 3;
const ROUNDS: u64 = 40;
/// Words of a thread's part of a window, behind the words that all use.
const PART: u64 = 1024;
const SHARED: u64 = 8;
const WORDS: usize = (SHARED + PART * THREADS as u64) as usize;

/// A thread of a rank as it reaches the other rank.
struct Caller<'a> {
    instance: &'a Instance,
    host: Host,
    thread: *mut ThreadCtx,
    to: Reach,
    remote: &'a Remote,
    /// Local memory of its operations, which some transports want registered.
    local: Option<Window>,
    local_name: Remote,
}

impl<'a> Caller<'a> {
    fn new(instance: &'a Arc<Instance>, thread: *mut ThreadCtx, remote: &'a Remote) -> Caller<'a> {
        let (host, to) = (keeper::of(instance), reach(instance, 1 - instance.job().rank));
        assert!(host.threaded() && to.btl().attrs().contexts >= CONTEXTS);
        let (local, local_name) = Window::new(instance, PART as usize, to.btl);
        Caller { instance, host, thread, to, remote, local: Some(local), local_name }
    }

    fn local(&self) -> &[AtomicU64] {
        &self.local.as_ref().expect("it is given back at the end").memory
    }

    fn rma(&self, word: u64, local: usize, words: u64, completion: &Done) -> RmaDesc {
        let at = self.local()[local].as_ptr().cast();
        let desc = rma(self.remote, word * 8, at, words * 8, completion);
        RmaDesc { local_handle: self.local_name.handle(), ..desc }
    }

    fn atomic(&self, word: u64, operand: u64, result: *mut u64, completion: &Done) -> AtomicDesc {
        let desc = atomic(self.remote, word * 8, amo::ADD, operand, result, completion);
        AtomicDesc { local_handle: self.local_name.handle(), ..desc }
    }

    /// Calls a verb with the context's CRI held, until there is room.
    fn verb(&self, ctx: u32, mut verb: impl FnMut() -> Status) -> Status {
        let begin = Instant::now();
        self.host.activate(ctx);
        loop {
            // SAFETY: the calling thread's context.
            let held = self.host.hold(ctx, unsafe { ThreadCtx::seat_of(self.thread) }, true);
            let status = verb();
            drop(held);
            if status != Status::NO_RESOURCE {
                return status;
            }
            assert!(begin.elapsed() < LIMIT, "there is no room for an operation on context {ctx}");
            self.instance.progress(self.thread);
        }
    }

    /// Waits for the completion of a verb that answered `status`.
    fn wait(&self, ctx: u32, done: &Done, status: Status) {
        if status == Status::PENDING {
            self.wait_for(|| u64::from(done.times.load(Ordering::Acquire) == 0) << ctx);
            assert_eq!(done.times.load(Ordering::Relaxed), 1, "completed more than once");
            assert_eq!(done.status.load(Ordering::Relaxed), Status::OK.0);
        } else {
            assert_eq!((status, done.times.load(Ordering::Relaxed)), (Status::OK, 0));
        }
    }

    fn wait_for(&self, mut outstanding: impl FnMut() -> u64) {
        let begin = Instant::now();
        self.instance.wait_contexts(self.thread, || {
            let set = outstanding();
            assert!(begin.elapsed() < LIMIT, "operations on contexts {set:b} did not complete");
            set
        });
    }

    fn put(&self, ctx: u32, word: u64, data: &[u64]) {
        data.iter().zip(self.local()).for_each(|(value, at)| at.store(*value, Ordering::Relaxed));
        let (btl, completion) = (self.to.btl(), Done::default());
        let desc = self.rma(word, 0, data.len() as u64, &completion);
        let status = self.verb(ctx, || call!(btl, put(self.to.endpoint, ctx, &desc)));
        self.wait(ctx, &completion, status);
    }

    fn get(&self, ctx: u32, word: u64, len: usize) -> Vec<u64> {
        self.local().iter().for_each(|at| at.store(u64::MAX, Ordering::Relaxed));
        let (btl, completion) = (self.to.btl(), Done::default());
        let desc = self.rma(word, 0, len as u64, &completion);
        let status = self.verb(ctx, || call!(btl, get(self.to.endpoint, ctx, &desc)));
        self.wait(ctx, &completion, status);
        self.local()[..len].iter().map(|at| at.load(Ordering::Relaxed)).collect()
    }

    fn flush(&self, ctx: u32) {
        let (btl, completion) = (self.to.btl(), Done::default());
        let desc = FlushDesc { done: Some(super::rma::done), done_ctx: completion.ctx() };
        let status = self.verb(ctx, || call!(btl, flush(self.to.endpoint, ctx, &desc)));
        self.wait(ctx, &completion, status);
    }

    fn fetch_add(&self, ctx: u32, word: u64, operand: u64) -> u64 {
        let (btl, completion) = (self.to.btl(), Done::default());
        self.local()[0].store(u64::MAX, Ordering::Relaxed);
        let desc = self.atomic(word, operand, self.local()[0].as_ptr(), &completion);
        let status = self.verb(ctx, || call!(btl, atomic(self.to.endpoint, ctx, &desc)));
        self.wait(ctx, &completion, status);
        self.local()[0].load(Ordering::Relaxed)
    }

    /// Adds 1 to words 0 and 1 and reads both, around a put of `data`, by one list.
    fn list(&self, ctx: u32, word: u64, data: &[u64]) -> [u64; 2] {
        let (btl, completion, ones) = (self.to.btl(), Done::default(), [1u64, 1]);
        self.local()[..3].iter().for_each(|at| at.store(u64::MAX, Ordering::Relaxed));
        let entry = |word: u64, data: &[u64], op, result: *mut u64| ListEntry {
            remote: self.remote.base + word * 8,
            remote_handle: self.remote.handle(),
            len: size_of_val(data) as u64,
            data: data.as_ptr().cast(),
            result: result.cast(),
            result_handle: self.local_name.handle(),
            op,
            flags: 0,
            compare: 0,
        };
        let both = self.local()[0].as_ptr();
        let entries = [
            entry(0, &ones, amo::ADD, both),
            entry(word, data, LIST_PUT, std::ptr::null_mut()),
            entry(word, &data[..1], amo::SWAP, self.local()[2].as_ptr()),
        ];
        let desc = ListDesc {
            entries: SliceRef { ptr: entries.as_ptr(), len: entries.len() },
            done: Some(super::rma::done),
            done_ctx: completion.ctx(),
        };
        let status = self.verb(ctx, || call!(btl, list(self.to.endpoint, ctx, &desc)));
        self.wait(ctx, &completion, status);
        assert_eq!(
            self.local()[2].load(Ordering::Relaxed),
            data[0],
            "entries are carried out in their order"
        );
        [0, 1].map(|i| self.local()[i].load(Ordering::Relaxed))
    }

    /// A word of the target, which is in this process.
    fn at_target(&self, word: u64) -> u64 {
        // SAFETY: the window stays while its ranks are in `two_ranks`.
        unsafe { AtomicU64::from_ptr((self.remote.base + word * 8) as *mut u64) }.load(Ordering::Acquire)
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        if let Some(local) = self.local.take() {
            local.close(self.instance);
        }
    }
}

/// Runs `body` on two ranks with a window each.
fn two_ranks(
    make: impl Fn() -> Config + Sync,
    body: impl Fn(&Arc<Instance>, &Meeting, &Window, &[Remote]) + Sync,
) {
    let meeting = Meeting::new(2);
    job(2, make, |instance| {
        let (window, mine) = Window::new(instance, WORDS, reach(instance, 1 - instance.job().rank).btl);
        let remotes = meeting.exchange(instance, mine);
        body(instance, &meeting, &window, &remotes);
        meeting.barrier.wait();
        window.close(instance);
    });
}

/// Threads of a rank, each with a context of its own of the library.
fn threads(instance: &Arc<Instance>, count: u32, body: impl Fn(u32, *mut ThreadCtx) + Sync) {
    std::thread::scope(|scope| {
        for number in 0..count {
            let body = &body;
            let instance = instance.clone();
            scope.spawn(move || {
                let thread = instance.attach_thread();
                body(number, thread);
                instance.detach_thread(thread);
            });
        }
    });
}

/// All threads of both ranks at once. Each increment is seen by one of them alone; what a thread put is at the target behind its
/// flush, and comes back.
pub fn all_verbs_at_once(make: impl Fn() -> Config + Sync) {
    two_ranks(make, |instance, meeting, window, remotes| {
        let me = instance.job().rank;
        let remote = &remotes[1 - me as usize];
        let olds = Mutex::new(HashSet::new());
        threads(instance, THREADS, |number, thread| {
            let caller = Caller::new(instance, thread, remote);
            let (ctx, part) = (number % CONTEXTS, SHARED + PART * u64::from(number));
            for round in 0..ROUNDS {
                let old = caller.fetch_add(ctx, 0, 1);
                assert!(olds.lock().expect("no panic").insert(old), "two threads got {old}");
                let len = [1, 8, 100, PART as usize][round as usize % 4];
                let data: Vec<u64> = (0..len as u64)
                    .map(|i| u64::from(me) << 60 | u64::from(number) << 48 | round << 24 | i)
                    .collect();
                caller.put(ctx, part, &data);
                caller.flush(ctx);
                let there: Vec<u64> = (0..len as u64).map(|i| caller.at_target(part + i)).collect();
                assert!(there == data, "thread {number} round {round}: a flushed put is not there");
                assert!(
                    caller.get(ctx, part, len) == data,
                    "thread {number} round {round}: a get brings something else"
                );
            }
        });
        meeting.barrier.wait();
        let all = u64::from(THREADS) * ROUNDS;
        assert_eq!(window.memory[0].load(Ordering::Relaxed), all);
        assert!(olds.into_inner().expect("no panic").into_iter().all(|old| old < all));
    });
}

/// Lists of all threads of both ranks at once: an increment of two words is seen by one of them alone, and what a list put is at the
/// target when it is done.
pub fn lists_at_once(make: impl Fn() -> Config + Sync) {
    two_ranks(make, |instance, meeting, window, remotes| {
        let me = instance.job().rank;
        let (remote, olds) = (&remotes[1 - me as usize], Mutex::new(HashSet::new()));
        threads(instance, THREADS, |number, thread| {
            let caller = Caller::new(instance, thread, remote);
            assert!(caller.to.btl().can(cap::LIST));
            let limit = caller.to.btl().attrs().list_limit;
            // Two elements, the data, and one element.
            let most = (limit - 3 * LIST_ENTRY - 24) / 8;
            let (ctx, part) = (number % CONTEXTS, SHARED + PART * u64::from(number));
            for round in 0..ROUNDS {
                let len = [1, 8, 100, most.min(PART)][round as usize % 4];
                let data: Vec<u64> =
                    (0..len).map(|i| u64::from(number + 1) << 48 | round << 24 | i).collect();
                let old = caller.list(ctx, part, &data);
                assert!(old.iter().all(|old| *old < 2 * u64::from(THREADS) * ROUNDS));
                assert!(olds.lock().expect("no panic").insert(old[0]), "two threads got {}", old[0]);
                let there: Vec<u64> = (0..len).map(|i| caller.at_target(part + i)).collect();
                assert!(there == data, "thread {number} round {round}: what a list put is not there");
            }
            let (btl, data) = (caller.to.btl(), vec![0u64; (limit / 8) as usize]);
            let long = ListEntry {
                remote: caller.remote.base + part * 8,
                remote_handle: caller.remote.handle(),
                len: limit,
                data: data.as_ptr().cast(),
                result: std::ptr::null_mut(),
                result_handle: std::ptr::null(),
                op: LIST_PUT,
                flags: 0,
                compare: 0,
            };
            for entry in [long, ListEntry { len: 8, op: 99, ..long }] {
                let entries = SliceRef { ptr: &entry, len: 1 };
                let desc = ListDesc { entries, done: None, done_ctx: std::ptr::null_mut() };
                let refused = caller.verb(ctx, || call!(btl, list(caller.to.endpoint, ctx, &desc)));
                assert_eq!(refused, Status::BAD_PARAM);
            }
        });
        meeting.barrier.wait();
        let all = u64::from(THREADS) * ROUNDS;
        assert_eq!([0, 1].map(|i| window.memory[i].load(Ordering::Relaxed)), [all, all]);
    });
}

const OPERATIONS: u64 = 24;

/// Threads that own their contexts issue operations and compute; another thread flushes for them, while the target computes, too.
pub fn flush_over_threads_that_compute(make: impl Fn() -> Config + Sync) {
    two_ranks(make, |instance, meeting, _, remotes| {
        if instance.job().rank == 1 {
            meeting.barrier.wait();
            return;
        }
        let flows: Vec<Flow> = (0..CONTEXTS).map(|_| Flow::new()).collect();
        let (begin, end) = (Barrier::new(CONTEXTS as usize + 1), Barrier::new(CONTEXTS as usize + 1));
        std::thread::scope(|scope| {
            let (flows, begin, end) = (&flows, &begin, &end);
            scope.spawn(move || {
                threads(instance, CONTEXTS, |ctx, thread| {
                    let caller = Caller::new(instance, thread, &remotes[1]);
                    // Often enough to own it.
                    (0..=256).for_each(|_| {
                        caller.verb(ctx, || Status::OK);
                    });
                    for round in 0..3 {
                        issue(&caller, ctx, &flows[ctx as usize], round);
                        begin.wait();
                        end.wait();
                    }
                });
            });
            let caller = Caller::new(instance, instance.main_thread(), &remotes[1]);
            for round in 0..3 {
                begin.wait();
                flush_all(&caller, flows);
                for n in 0..OPERATIONS * u64::from(CONTEXTS) {
                    assert_eq!(caller.at_target(SHARED + n), value(n, round), "put {n}");
                }
                let sum = u64::from(CONTEXTS) * OPERATIONS * (round + 1);
                assert_eq!(caller.at_target(1), sum, "all were added");
                end.wait();
            }
        });
        meeting.barrier.wait();
    });
}

fn value(n: u64, round: u64) -> u64 {
    round << 32 | (n + 1)
}

fn issue(caller: &Caller<'_>, ctx: u32, flow: &Flow, round: u64) {
    let (btl, endpoint, unused) = (caller.to.btl(), caller.to.endpoint, Done::default());
    for local in 0..OPERATIONS {
        let n = OPERATIONS * u64::from(ctx) + local;
        // It is read until the flush, so each has a word of its own.
        caller.local()[local as usize].store(value(n, round), Ordering::Relaxed);
        caller.verb(ctx, || {
            let token = flow.next();
            let mut desc = caller.rma(SHARED + n, local as usize, 1, &unused);
            (desc.done, desc.done_ctx) = (Some(Flow::done as oxmpi_btl::Done), token.done_ctx());
            counted(flow, token, call!(btl, put(endpoint, ctx, &desc)))
        });
        caller.verb(ctx, || {
            let token = flow.next();
            let mut desc = caller.atomic(1, 1, std::ptr::null_mut(), &unused);
            (desc.done, desc.done_ctx) = (Some(Flow::done as oxmpi_btl::Done), token.done_ctx());
            counted(flow, token, call!(btl, atomic(endpoint, ctx, &desc)))
        });
    }
}

fn counted(flow: &Flow, token: oxmpi_osc::Token, status: Status) -> Status {
    assert!(!status.is_err() || status == Status::NO_RESOURCE, "{status}");
    if status == Status::PENDING {
        flow.count(token);
    }
    status
}

/// As a one-sided component does.
fn flush_all(caller: &Caller<'_>, flows: &[Flow]) {
    let (btl, endpoint) = (caller.to.btl(), caller.to.endpoint);
    for (ctx, flow) in (0..).zip(flows) {
        caller.verb(ctx, || {
            let token = flow.next();
            let desc = FlushDesc { done: Some(Flow::done), done_ctx: token.done_ctx() };
            counted(flow, token, call!(btl, flush(endpoint, ctx, &desc)))
        });
    }
    let marks: Vec<u64> = flows.iter().map(Flow::mark).collect();
    caller.wait_for(|| {
        let open = |(ctx, (flow, mark)): (usize, (&Flow, &u64))| u64::from(!flow.is_complete(*mark)) << ctx;
        flows.iter().zip(&marks).enumerate().map(open).sum()
    });
    assert!(flows.iter().all(|flow| flow.take_failure() == Status::OK));
}
