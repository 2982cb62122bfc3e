//! Several threads of each process at once, at THREAD_MULTIPLE: nothing lost, nothing overtaken, every
//! completion seen, whichever thread progresses.

mod common;

use common::*;
use oxmpi_mca::host::cri_mode::{DEDICATED, ROUND_ROBIN, SERIAL_PROGRESS};
use oxmpi_mca::sync::unmodelled::{AtomicPtr, AtomicU32, Ordering};
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, Counts, RecvArgs, SendArgs, assert_flag, mode};
use oxmpi_progress::policy::kind::Kind;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;

/// State that one thread of one process needs.
struct Caller<'a> {
    w: &'a World,
    comm: Comm,
    thread: *mut ThreadCtx,
}

// SAFETY: the world's shared parts are behind locks, and the communicator and the module may be used from
// every thread: that is what is tested.
unsafe impl Send for Caller<'_> {}

impl Caller<'_> {
    fn thread(&self) -> *mut ThreadCtx {
        self.thread
    }
    fn isend(&self, data: &[u8], dst: i32, tag: i32, mode: u32) -> *mut RequestHeader {
        let (t, s) = self.w.table(self.comm.proc);
        let args =
            SendArgs { thread: self.thread(), ..self.w.send_args(self.comm, bytes(data), dst, tag, mode) };
        let mut req = null_mut();
        assert_eq!((t.isend)(s, &args, &mut req), Status::PENDING);
        req
    }
    fn irecv(&self, buf: &mut [u8], src: i32, tag: i32) -> *mut RequestHeader {
        let (t, s) = self.w.table(self.comm.proc);
        let n = buf.len() as u64;
        let args =
            RecvArgs { thread: self.thread(), ..self.w.recv_args(self.comm, buf, byte(), n, src, tag) };
        let mut req = null_mut();
        assert_eq!((t.irecv)(s, &args, &mut req), Status::PENDING);
        req
    }
    fn progress(&self) {
        let own = &self.w.procs[self.comm.proc];
        // SAFETY: the calling thread's context, which stays.
        if own.engine.turn(&mut unsafe { own.entry(self.thread()) }) == 0 {
            std::thread::yield_now();
        }
    }
    /// Looks for a message; taken out and received into `buf` if `take`.
    fn probe(&self, buf: &mut [u8], src: i32, tag: i32, take: bool) -> Option<MsgStatus> {
        let (t, s) = self.w.table(self.comm.proc);
        let n = buf.len() as u64;
        let args =
            RecvArgs { thread: self.thread(), ..self.w.recv_args(self.comm, buf, byte(), n, src, tag) };
        let (mut status, mut message) = (MsgStatus::EMPTY, null_mut());
        let out = if take { &raw mut message } else { null_mut() };
        if (t.probe)(s, &args, &mut status, out) != Status::OK {
            return None;
        }
        if take {
            let mut req = null_mut();
            assert_eq!((t.imrecv)(s, message, &args, &mut req), Status::PENDING);
            self.wait(req);
        }
        Some(status)
    }
    fn wait(&self, req: *mut RequestHeader) -> MsgStatus {
        // SAFETY: headers live for ever.
        let header = unsafe { &*req };
        let mut turns = 0u64;
        while !header.completion.is_complete() {
            self.progress();
            turns += 1;
            assert!(turns < 50_000_000, "stuck");
        }
        let status = header.status;
        // SAFETY: operations live for ever.
        (unsafe { &*header.ops }.release)(req, null_mut());
        status
    }
}

/// How often, where a tool takes longer for each message the more came before it: `cargo xtask sanitize --helgrind`.
fn rounds(all: usize) -> usize {
    let divisor: Option<usize> =
        std::env::var("OXMPI_ROUNDS_DIVISOR").ok().and_then(|text| text.parse().ok());
    (all / divisor.unwrap_or(1)).max(1)
}

const SIZES: [usize; 7] = [0, 8, 64, 100, 3000, 9000, 50_000];

fn run(setup: Setup, threads: u32, rounds: usize, body: impl Fn(&Caller<'_>, i32, usize) + Sync) {
    let w = World::new(Setup { threaded: true, ..setup });
    let comms = w.world();
    run_in(&w, &comms, threads, rounds, body);
}

fn run_in(
    w: &World,
    comms: &[Comm],
    threads: u32,
    rounds: usize,
    body: impl Fn(&Caller<'_>, i32, usize) + Sync,
) {
    let finished = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for comm in comms {
            for index in 0..threads {
                let caller = Caller { w, comm: *comm, thread: new_thread(index) };
                let (body, finished) = (&body, &finished);
                scope.spawn(move || {
                    let caller = caller;
                    body(&caller, index as i32, rounds);
                    finished.fetch_add(1, Ordering::Release);
                });
            }
        }
    });
    // The scope's end means this already; a sanitizer sees it in these words.
    assert_eq!(finished.load(Ordering::Acquire), comms.len() as u32 * threads);
    w.settle();
    w.assert_clean();
    for p in 0..comms.len() {
        assert_eq!(w.in_flight(p), 0);
    }
}

/// Every thread talks to its twin in the other process, both ways, on its own tag.
fn twins(caller: &Caller<'_>, tag: i32, rounds: usize) {
    let (me, other) = (caller.comm.proc as u64, 1 - caller.comm.proc as i32);
    for round in 0..rounds {
        let len = SIZES[(round + tag as usize) % SIZES.len()];
        let seed = |who: u64| who * 1_000_000 + round as u64 * 100 + tag as u64 + 1;
        let data = pattern(len, seed(me));
        let mut buf = vec![0; len];
        let m = if round % 5 == 0 { mode::SYNCHRONOUS } else { mode::STANDARD };
        let (s, r);
        if round % 2 == 0 {
            r = caller.irecv(&mut buf, other, tag);
            s = caller.isend(&data, other, tag, m);
        } else {
            s = caller.isend(&data, other, tag, m);
            r = caller.irecv(&mut buf, ANY_SOURCE, tag);
        }
        assert_eq!(caller.wait(r).bytes, len as u64);
        caller.wait(s);
        assert!(buf == pattern(len, seed(1 - me)), "round {round} of tag {tag}");
    }
}

#[test]
fn twins_by_copies() {
    run(Setup { offers_get: false, room: 8, ..Setup::default() }, 4, 400, twins);
}

#[test]
fn twins_by_reading() {
    run(
        Setup { min_get: 5000, get: Get::Later, get_limit: 20_000, room: 8, ..Setup::default() },
        4,
        400,
        twins,
    );
}

#[test]
fn twins_with_little_credit() {
    run(Setup { credit: 5000, room: 64, ..Setup::default() }, 4, 400, twins);
}

/// All threads of process 0 send numbered messages with one tag; all threads of process 1 receive them.
/// Messages that one thread receives of one sender must be in the order of sending.
#[test]
fn shared_tag_keeps_the_order_of_each_sender() {
    run(Setup { room: 16, ..Setup::default() }, 3, rounds(3000), |caller, index, rounds| {
        if caller.comm.proc == 0 {
            for i in 0..rounds as u32 {
                let mut data = [0u8; 8];
                data[0] = index as u8;
                data[4..].copy_from_slice(&i.to_le_bytes());
                let s = caller.isend(&data, 1, 7, mode::STANDARD);
                caller.wait(s);
            }
        } else {
            let mut last = [-1i64; 3];
            for _ in 0..rounds {
                let mut buf = [0u8; 8];
                let r = caller.irecv(&mut buf, 0, 7);
                caller.wait(r);
                let i = u32::from_le_bytes([buf[4], buf[5], buf[6], buf[7]]) as i64;
                assert!(i > last[buf[0] as usize], "a message was overtaken or came twice");
                last[buf[0] as usize] = i;
            }
        }
    });
}

/// Requests released while other threads complete them come back to their pool.
#[test]
fn released_while_others_complete() {
    run(Setup { room: 16, ..Setup::default() }, 3, 2000, |caller, tag, rounds| {
        let other = 1 - caller.comm.proc as i32;
        let data = vec![tag as u8; 5000];
        for _ in 0..rounds {
            let mut buf = vec![0; data.len()];
            let s = caller.isend(&data, other, tag, mode::STANDARD);
            // SAFETY: operations live for ever; the buffer outlives the flush below.
            (unsafe { &*(*s).ops }.release)(s, null_mut());
            let r = caller.irecv(&mut buf, other, tag);
            caller.wait(r);
            assert!(buf == data);
        }
        let (t, s) = caller.w.table(caller.comm.proc);
        while (t.flush)(s) != Status::OK {
            std::thread::yield_now();
        }
    });
}

fn counts(w: &World, comm: Comm) -> Counts {
    counts_of(w, comm.proc, comm.ptr)
}

/// Counts of process `proc` for its communicator `comm`.
fn counts_of(w: &World, proc: usize, comm: *mut c_void) -> Counts {
    let (t, s) = w.table(proc);
    let mut counts = Counts { size: size_of::<Counts>() as u32, ..Counts::default() };
    assert_eq!((t.counts)(s, comm, &mut counts), Status::OK);
    counts
}

fn numbered(tag: i32, number: u32) -> [u8; 8] {
    let mut data = [0u8; 8];
    data[..4].copy_from_slice(&tag.to_le_bytes());
    data[4..].copy_from_slice(&number.to_le_bytes());
    data
}
fn number_in(data: &[u8; 8]) -> (i32, u32) {
    let (tag, number) = data.split_at(4);
    (i32::from_le_bytes(tag.try_into().unwrap()), u32::from_le_bytes(number.try_into().unwrap()))
}

/// The number behind which none comes.
const STOP: u32 = u32::MAX;

/// Threads with a tag of their own, from process 0 to process 1, as long as `sends` says so.
fn own_tags(caller: &Caller<'_>, tag: i32, sends: impl Fn(u32) -> bool) {
    let mut number = 0;
    while caller.comm.proc == 0 && sends(number) {
        caller.wait(caller.isend(&numbered(tag, number), 1, tag, mode::STANDARD));
        number += 1;
    }
    if caller.comm.proc == 0 {
        caller.wait(caller.isend(&numbered(tag, STOP), 1, tag, mode::STANDARD));
        return;
    }
    for expected in 0.. {
        let mut buf = [0; 8];
        if expected % 17 == 16 {
            // One that matches nothing, taken back.
            let mut never = [0; 8];
            let req = caller.irecv(&mut never, 1, 1000 + tag);
            // SAFETY: operations live for ever.
            assert_eq!((unsafe { &*(*req).ops }.cancel)(req), Status::OK);
            assert_eq!(caller.wait(req).cancelled, 1);
        }
        caller.wait(caller.irecv(&mut buf, 0, tag));
        if number_in(&buf) == (tag, STOP) {
            return;
        }
        assert_eq!(number_in(&buf), (tag, expected));
    }
}

/// Receives by several threads spread a communicator, once, and nothing gathers it.
#[test]
fn threads_with_their_own_tags_are_spread() {
    let w = World::new(Setup { threaded: true, room: 64, ..Setup::default() });
    let comms = w.world();
    let rounds = rounds(2000);
    // A machine with little time may run one thread after the other: they go on until two have met.
    let receiver = AtomicPtr::new(comms[1].ptr);
    run_in(&w, &comms, 4, rounds, |caller, tag, rounds| {
        let spread = || counts_of(caller.w, 1, receiver.load(Ordering::Relaxed)).spreads > 0;
        own_tags(caller, tag, |n| n < rounds as u32 || (n < 1_000_000 && !spread()))
    });
    let counts = counts(&w, comms[1]);
    assert_eq!((counts.spreads, counts.waiting), (1, 0));
    assert!(counts.posted + counts.unexpected >= 4 * rounds as u64, "{counts:?}");
}

/// Three processes. Threads of process 0 send to threads of process 1, with a tag for each. One thread of process 1 has
/// what comes from process 2, which has many tags: with MPI_ANY_TAG, in each of the ways there are, so that the
/// communicator is gathered while the others want it spread; and after each time it waits until they have it.
#[test]
fn any_tag_among_threads_with_their_own_tags() {
    const TIMES: u64 = 6;
    let w = World::new(Setup { procs: 3, threaded: true, room: 64, ..Setup::default() });
    let comms = w.world();
    let stop = AtomicU32::new(0);
    let tag_of = |i: u32| (i * 7 % 97) as i32;
    let per_time = 100;
    run_in(&w, &comms, 4, 0, |caller, index, _| match (caller.comm.proc, index) {
        (0 | 1, 0..3) => own_tags(caller, index, |_| stop.load(Ordering::Acquire) == 0),
        (2, 3) => {
            for i in 0..per_time * TIMES as u32 {
                caller.wait(caller.isend(&numbered(tag_of(i), i), 1, tag_of(i), mode::STANDARD));
            }
        }
        (1, 3) => {
            for time in 0..TIMES {
                let mut turns = 0u64;
                while counts(caller.w, caller.comm).spreads <= time {
                    caller.progress();
                    turns += 1;
                    assert!(turns < 50_000_000, "it is not spread again");
                }
                for i in 0..per_time {
                    receive_any(caller, i / 25, tag_of, time as u32 * per_time + i);
                }
            }
            stop.store(1, Ordering::Release);
        }
        _ => {}
    });
    let counts = counts(&w, comms[1]);
    assert!(counts.spreads >= TIMES && counts.waiting == 0, "{counts:?}");
}

/// Receives number `i` of process 2, one way or another.
fn receive_any(caller: &Caller<'_>, way: u32, tag_of: impl Fn(u32) -> i32, i: u32) {
    let mut buf = [0; 8];
    match way {
        0 => drop(caller.wait(caller.irecv(&mut buf, 2, ANY_TAG))),
        1 => {
            while caller.probe(&mut buf, 2, ANY_TAG, true).is_none() {
                caller.progress();
            }
        }
        2 => {
            let status = loop {
                match caller.probe(&mut [0; 8], 2, ANY_TAG, false) {
                    Some(status) => break status,
                    None => caller.progress(),
                }
            };
            assert_eq!(status.tag, tag_of(i));
            caller.wait(caller.irecv(&mut buf, 2, status.tag));
        }
        _ => drop(caller.wait(caller.irecv(&mut buf, 2, tag_of(i)))),
    }
    assert_eq!(number_in(&buf), (tag_of(i), i));
}

/// Promises that change what leads to a shard, while messages are under way; and communicators that come and go.
#[test]
fn promises_change_the_layout() {
    let w = World::new(Setup { procs: 3, threaded: true, room: 64, ..Setup::default() });
    let comms = w.world();
    let (t, s) = w.table(1);
    for round in 0..6 {
        let flags = if round % 2 == 1 { assert_flag::NO_ANY_TAG | assert_flag::NO_ANY_SOURCE } else { 0 };
        assert_eq!((t.set_flags)(s, comms[1].ptr, flags), Status::OK);
        run_in(&w, &comms, 3, 300, |caller, index, rounds| {
            // One tag, and a source for each thread but the last.
            let other = if index == 0 { 0 } else { 2 };
            for i in 0..rounds as u32 {
                let mut buf = [0; 8];
                match (caller.comm.proc, index) {
                    (0 | 2, 0) => {
                        caller.wait(caller.isend(&numbered(5, i), 1, 5, mode::STANDARD));
                    }
                    (1, 0 | 1) => {
                        caller.wait(caller.irecv(&mut buf, other, 5));
                        assert_eq!(number_in(&buf), (5, i));
                    }
                    (1, _) if i == 150 && flags == 0 => {
                        let (t, s) = caller.w.table(1);
                        assert_eq!((t.set_flags)(s, caller.comm.ptr, 0), Status::OK);
                    }
                    _ => {}
                }
            }
        });
    }
    let counts = counts(&w, comms[1]);
    assert!(counts.spreads >= 3 && counts.waiting == 0, "{counts:?}");
}

/// Messages that nobody received go with a communicator that is spread, and their credit comes back.
#[test]
fn a_spread_communicator_goes_with_its_messages() {
    let w = World::new(Setup { procs: 2, threaded: true, room: 1 << 10, ..Setup::default() });
    let comms = w.world();
    for round in 0..10u64 {
        let procs = [0, 1];
        let spec = |r| CommSpec { gid: [9, round], procs: &procs, my_rank: r, ..CommSpec::default() };
        let pair: Vec<Comm> = (0..2).map(|p| w.add_comm(p, &spec(p as i32))).collect();
        run_in(&w, &pair, 3, 200, twins);
        let caller = Caller { w: &w, comm: pair[0], thread: new_thread(0) };
        let data = vec![1; 1000];
        for tag in 0..200 {
            caller.wait(caller.isend(&data, 1, tag, mode::STANDARD));
        }
        w.settle();
        let counted = counts(&w, pair[1]);
        assert_eq!((counted.spreads, counted.waiting), (1, 200));
        assert_eq!(counted.most_waiting, 200, "they wait in several shards: {counted:?}");
        pair.into_iter().for_each(|c| w.del_comm(c));
        w.settle();
    }
    // 2 MB of payload were never received, of 4 MB of credit; it is all there again.
    run_in(&w, &comms, 2, 100, twins);
}

/// Assignments of messages to several resource instances, and ways of progress.
const MODES: [u32; 5] =
    [0, DEDICATED, ROUND_ROBIN, DEDICATED | SERIAL_PROGRESS, ROUND_ROBIN | SERIAL_PROGRESS];

/// Modes without a policy of their own, each with such a policy.
const POLICIES: [(u32, Kind); 6] = [
    (0, Kind::OneLock),
    (DEDICATED, Kind::OneLock),
    (0, Kind::DedicatedThenAll),
    (DEDICATED, Kind::DedicatedThenAll),
    (0, Kind::RoundRobin),
    (ROUND_ROBIN, Kind::RoundRobin),
];

/// Each mode by the usual policy, and those with one of their own.
fn ways() -> impl Iterator<Item = (u32, Kind)> {
    MODES.into_iter().map(|modes| (modes, Kind::OwnFirst)).chain(POLICIES)
}

#[test]
fn twins_over_several_instances() {
    for (modes, progress) in ways() {
        let setup = || Setup { cris: 3, modes, progress, room: 8, ..Setup::default() };
        run(Setup { offers_get: false, ..setup() }, 4, 100, twins);
        run(Setup { min_get: 5000, get: Get::Later, ..setup() }, 4, 100, twins);
    }
}

/// The threads of process 0 hand a token round, and whoever has it sends the next number; those of process 1 do so
/// with receives, half of them with MPI_ANY_TAG.
#[test]
fn a_token_orders_sends_and_receives_over_several_instances() {
    for (modes, progress) in ways() {
        for room in [4, 1 << 20] {
            let next = [Mutex::new(0u32), Mutex::new(0u32)];
            run(Setup { cris: 3, modes, progress, room, ..Setup::default() }, 3, 300, |caller, _, rounds| {
                let mine = &next[caller.comm.proc];
                loop {
                    let mut token = mine.lock().expect("no thread failed");
                    let n = *token;
                    if n == rounds as u32 {
                        break;
                    }
                    *token += 1;
                    let tag = (n * 5 + n / 3) as i32 % 17;
                    let len = if n % 13 == 12 { 9000 } else { 8 };
                    if caller.comm.proc == 0 {
                        let data = pattern(len, n as u64 + 1);
                        let s = caller.isend(&data, 1, tag, mode::STANDARD);
                        drop(token);
                        caller.wait(s);
                        continue;
                    }
                    let mut buf = vec![0; len];
                    let r = caller.irecv(&mut buf, 0, if n.is_multiple_of(2) { tag } else { ANY_TAG });
                    drop(token);
                    let status = caller.wait(r);
                    assert_eq!(
                        (status.tag, status.bytes),
                        (tag, len as u64),
                        "number {n}, modes {modes}, {progress:?}"
                    );
                    assert!(buf == pattern(len, n as u64 + 1), "number {n}, modes {modes}, {progress:?}");
                }
            });
        }
    }
}
