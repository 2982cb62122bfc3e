//! Plans whose steps write further steps: order, number, what is thrown away, errors.

mod common;

use common::{Basic, Form, Thread, config, job};
use oxmpi_coll::safe::Offer;
use oxmpi_coll::{Coll, CollArgs, CollComm, CollModule, CollServices, CollTable, extend, step};
use oxmpi_datatype::Base;
use oxmpi_mca::{Component, Host, OpenError, Params, RequestHeader, Status};
use oxmpi_runtime::coll::Slot;
use oxmpi_runtime::request::Header;
use oxmpi_runtime::{Config, Instance, Level, host_requests};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

/// Plans whose steps write further ones, two ranks each. The tests of a process count together, so each operation has counts of its own.
struct Grower;

/// The services of a communicator in a plan.
fn services<'a>(comm: *const CollComm) -> &'a CollServices {
    // SAFETY: the host's, valid during the call.
    unsafe { &*(*comm).services }
}

/// The other of two ranks.
fn peer(comm: *const CollComm) -> u32 {
    // SAFETY: the host's, valid during the call.
    1 - unsafe { (*comm).rank }
}

/// Writes down that `len` longs go to the other rank and as many come.
fn exchange(comm: *const CollComm, from: *const u8, out: u64, into: *mut u8, back: u64, args: &CollArgs) {
    let (s, mut requests) = (services(comm), [null_mut::<RequestHeader>(); 2]);
    let [one, other] = &mut requests;
    for status in [
        (s.irecv)(comm, into, back, args.recvtype, peer(comm), -100, one),
        (s.isend)(comm, from, out, args.recvtype, peer(comm), -100, other),
        (s.wait_all)(comm, requests.as_mut_ptr(), 2),
    ] {
        assert_eq!(status, Status::OK);
    }
}

/// Memory for a long.
fn long(comm: *const CollComm) -> *mut u64 {
    let mut at = null_mut();
    assert_eq!((services(comm).memory)(comm, 8, &mut at), Status::OK);
    at.cast()
}

/// A step's state: what it works on, and a place of its own.
struct Kept {
    args: CollArgs,
    at: *mut u64,
    left: u64,
}

/// Gives a step to the plan.
fn later(comm: *const CollComm, f: oxmpi_coll::ExtendFn, args: *const CollArgs, at: *mut u64, left: u64) {
    // SAFETY: the arguments of the call, or those that a step has kept.
    let args = unsafe { args.read() };
    let ctx = Box::into_raw(Box::new(Kept { args, at, left }));
    assert_eq!((services(comm).extend)(comm, f, ctx.cast()), Status::OK);
}

/// Lets go of a step's state, or finds it.
///
/// # Safety
/// `ctx` is from `later`, and DROP comes once and last.
unsafe fn kept<'a>(ctx: *mut c_void, what: u32, dropped: &AtomicU32) -> Option<&'a Kept> {
    if what == extend::DROP {
        dropped.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(ctx.cast::<Kept>()) });
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { &*ctx.cast::<Kept>() })
}

// Messages whose lengths are not known: the first long is the number of those behind it.

static SIZED: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

extern "C" fn plan_sized(_: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    let theirs = long(comm);
    // SAFETY: valid during the call.
    exchange(comm, unsafe { (*args).sendbuf }, 1, theirs.cast(), 1, unsafe { &*args });
    later(comm, write_sized, args, theirs, 0);
    Status::OK
}

unsafe extern "C" fn write_sized(ctx: *mut c_void, comm: *const CollComm, what: u32) -> Status {
    // SAFETY: as the contract has it.
    let Some(kept) = (unsafe { kept(ctx, what, &SIZED[1]) }) else { return Status::OK };
    assert_eq!(what, extend::WRITE);
    SIZED[0].fetch_add(1, Ordering::Relaxed);
    let (from, into) = (kept.args.sendbuf, kept.args.recvbuf);
    // SAFETY: what was received, and the user's buffer.
    let (theirs, mine) = unsafe { (*kept.at, *from.cast::<u64>()) };
    exchange(comm, from.wrapping_add(8), mine, into, theirs, &kept.args);
    Status::OK
}

// A chain: each step exchanges a number and writes the next.

const LINKS: u64 = 2000;
static CHAIN: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

extern "C" fn plan_chain(_: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    // SAFETY: valid during the call.
    let sum = unsafe { (*args).recvbuf.cast::<u64>() };
    later(comm, write_link, args, sum, LINKS);
    // Behind all that they write: the sum is sent on, and comes back doubled.
    // SAFETY: as above.
    exchange(comm, sum.cast(), 1, sum.wrapping_add(1).cast(), 1, unsafe { &*args });
    Status::OK
}

unsafe extern "C" fn write_link(ctx: *mut c_void, comm: *const CollComm, what: u32) -> Status {
    // SAFETY: as the contract has it.
    let Some(kept) = (unsafe { kept(ctx, what, &CHAIN[1]) }) else { return Status::OK };
    CHAIN[0].fetch_add(1, Ordering::Relaxed);
    let (mine, theirs) = (long(comm), long(comm));
    // SAFETY: memory for a long.
    unsafe { mine.write(kept.left) };
    exchange(comm, mine.cast(), 1, theirs.cast(), 1, &kept.args);
    later(comm, add_link, &kept.args, theirs, kept.left);
    if kept.left > 1 {
        later(comm, write_link, &kept.args, kept.at, kept.left - 1);
    }
    Status::OK
}

/// Looks at what a link has got.
unsafe extern "C" fn add_link(ctx: *mut c_void, _: *const CollComm, what: u32) -> Status {
    // SAFETY: as the contract has it.
    let Some(kept) = (unsafe { kept(ctx, what, &CHAIN[1]) }) else { return Status::OK };
    // SAFETY: received by now; the user's place, which steps write in their order.
    unsafe { *kept.args.recvbuf.cast::<u64>() += *kept.at };
    Status::OK
}

// Errors.

static FAILED: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

extern "C" fn plan_failed(_: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    later(comm, write_failed, args, null_mut(), 0);
    // SAFETY: valid during the call.
    let own = unsafe { &*args };
    exchange(comm, own.sendbuf, 1, own.recvbuf.wrapping_add(8), 1, own);
    later(comm, write_lost, args, null_mut(), 0);
    Status::OK
}

/// In rank 0 an error behind the first step that it writes.
unsafe extern "C" fn write_failed(ctx: *mut c_void, comm: *const CollComm, what: u32) -> Status {
    // SAFETY: as the contract has it.
    let Some(kept) = (unsafe { kept(ctx, what, &FAILED[1]) }) else { return Status::OK };
    exchange(comm, kept.args.sendbuf, 1, kept.args.recvbuf, 1, &kept.args);
    if peer(comm) == 1 { Status::NO_PERMISSION } else { Status::OK }
}

/// In both ranks data is missing by now.
unsafe extern "C" fn write_lost(ctx: *mut c_void, _: *const CollComm, what: u32) -> Status {
    // SAFETY: as the contract has it.
    if unsafe { kept(ctx, what, &FAILED[1]) }.is_some() {
        assert_eq!(what, extend::LOST);
        FAILED[0].fetch_add(1, Ordering::Relaxed);
    }
    Status::OK
}

static PENDING: AtomicU32 = AtomicU32::new(0);

extern "C" fn plan_pending(_: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    unsafe extern "C" fn pending(ctx: *mut c_void, _: *const CollComm, what: u32) -> Status {
        // SAFETY: as the contract has it.
        let is_there = unsafe { kept(ctx, what, &PENDING) }.is_some();
        if is_there { Status::PENDING } else { Status::OK }
    }
    later(comm, pending, args, null_mut(), 0);
    Status::OK
}

// A step of the component's own among those that were written.

static OWN: [AtomicU32; 3] = [AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)];

extern "C" fn plan_own(_: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    extern "C" fn own(_: *mut c_void, what: u32) -> Status {
        OWN[if what == step::DROP { 2 } else { 1 }].fetch_add(1, Ordering::Relaxed);
        if what == step::START { Status::PENDING } else { Status::OK }
    }
    unsafe extern "C" fn write(ctx: *mut c_void, comm: *const CollComm, what: u32) -> Status {
        // SAFETY: as the contract has it.
        if unsafe { kept(ctx, what, &OWN[0]) }.is_some() {
            return (services(comm).step)(comm, own, null_mut());
        }
        Status::OK
    }
    later(comm, write, args, null_mut(), 0);
    Status::OK
}

impl Coll for Grower {
    type Module = ();
    fn query(&self, _: &CollComm) -> Option<(i32, ())> {
        Some((50, ()))
    }
    const TABLE: CollTable = Offer::<()>::new().table();
    const PLANS: Option<CollTable> = Some(CollTable {
        allgather: Some(plan_sized),
        bcast: Some(plan_chain),
        reduce: Some(plan_failed),
        scan: Some(plan_pending),
        exscan: Some(plan_own),
        ..Grower::TABLE
    });
}

impl Component for Grower {
    type Module = CollModule;
    const NAME: &'static str = "grower";
    fn open(_: Host, _: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        Ok((50, vec![oxmpi_coll::module(Grower)]))
    }
}

oxmpi_mca::component! {
    component: Grower,
    symbol: oxmpi_component_coll_grower,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "grower",
    aliases: [],
    params: &[],
    help: "",
}

fn with_grower() -> Config {
    let mut config = config(Form::LinkedIn, Level::Single, &[]);
    config.builtin.push(descriptor());
    config
}

fn with_sparse(level: Level) -> Config {
    let mut config = config(Form::LinkedIn, level, &[("coll_sparse_priority", "90")]);
    config.builtin.push(coll_sparse::descriptor());
    config
}

/// One rank's buffers for an operation on longs.
fn args(long: &Basic, from: &[u64], into: &mut [u64]) -> CollArgs {
    CollArgs {
        sendbuf: from.as_ptr().cast(),
        sendcount: 1,
        sendtype: long.desc(),
        recvbuf: into.as_mut_ptr().cast(),
        recvcount: 1,
        recvtype: long.desc(),
        ..CollArgs::NONE
    }
}

/// # Safety
/// The caller has the request, which is persistent, inactive and of this instance.
unsafe fn once_more(instance: &Instance, t: Thread<'_>, req: Header) -> Status {
    // SAFETY: the caller's promise.
    assert_eq!(unsafe { req.start(&mut t.entry()) }, Status::OK);
    instance.run_first_work(&mut t.entry(), host_requests::of(req).expect("the host's"));
    instance.wait(&mut t.entry(), req);
    // SAFETY: complete, and the caller's.
    unsafe { req.status() }.error
}

fn counts<const N: usize>(all: &[AtomicU32; N]) -> [u32; N] {
    all.each_ref().map(|count| count.load(Ordering::Relaxed))
}

/// Lengths that follow from data, other ones at each start. Each start writes its own steps, and throws them away.
#[test]
fn steps_are_written_from_what_was_received_at_each_start() {
    const MOST: usize = 40;
    job(2, with_grower, |instance| {
        let (c, t, long) = (instance.world(), Thread::main(instance), Basic::new(Base::U64, 8));
        let (mut from, mut into) = (vec![0u64; MOST + 1], vec![0u64; MOST]);
        let (rank, args) = (u64::from(c.rank()), args(&long, &from, &mut into));
        // SAFETY: what the arguments point to is there until the request is released.
        let req = unsafe { c.collective_init(&mut t.entry(), Slot::Allgather, &args, None) }.expect("a plan");
        let len = |rank: u64, turn: u64| (7 * rank + 11 * turn) % MOST as u64;
        for turn in 0..20 {
            from[0] = len(rank, turn);
            from[1..].iter_mut().for_each(|x| *x = 100 * turn + rank + 1);
            into.fill(0);
            // SAFETY: ours, and inactive: new, or waited for.
            assert_eq!(unsafe { once_more(instance, t, req) }, Status::OK);
            let theirs = len(1 - rank, turn) as usize;
            assert!(into[..theirs].iter().all(|x| *x == 100 * turn + 2 - rank), "turn {turn}: {into:?}");
            assert!(into[theirs..].iter().all(|x| *x == 0), "turn {turn}: {into:?}");
        }
        // SAFETY: inactive, released once.
        unsafe { req.release(&mut t.entry()) };
    });
    assert_eq!(counts(&SIZED), [40, 2], "written for each start, dropped with the plan");
}

/// As many as wanted, one behind the other, before the steps that stand behind; dropped at the end of the start.
#[test]
fn a_chain_of_steps_has_no_limit_and_is_done_in_order() {
    const STARTS: u32 = 2;
    job(2, with_grower, |instance| {
        let (c, t, long) = (instance.world(), Thread::main(instance), Basic::new(Base::U64, 8));
        let mut into = [0u64; 2];
        let args = args(&long, &[], &mut into);
        // SAFETY: what the arguments point to is there until the request is released.
        let req = unsafe { c.collective_init(&mut t.entry(), Slot::Bcast, &args, None) }.expect("a plan");
        for start in 0..STARTS {
            into.fill(0);
            // SAFETY: ours, and inactive: new, or waited for.
            assert_eq!(unsafe { once_more(instance, t, req) }, Status::OK);
            let sum = LINKS * (LINKS + 1) / 2;
            assert_eq!(into, [sum, sum], "start {start}: the step behind them has sent all of it");
        }
        // SAFETY: inactive, released once.
        unsafe { req.release(&mut t.entry()) };
    });
    let links = 2 * STARTS * LINKS as u32;
    // Of each start and rank all but the recorded one are dropped at its end, and that with the plan.
    let dropped = 2 * STARTS * (2 * LINKS as u32 - 1) + 2;
    assert_eq!(counts(&CHAIN), [links, dropped]);
}

/// An error is the operation's; what was written before it is done, the other rank is told, and steps behind learn that data is missing.
#[test]
fn an_error_of_a_step_is_the_operations_and_nobody_waits_for_ever() {
    job(2, with_grower, |instance| {
        let (c, t, long) = (instance.world(), Thread::main(instance), Basic::new(Base::U64, 8));
        let (from, mut into) = ([7u64 + u64::from(c.rank())], [0u64; 2]);
        let args = args(&long, &from, &mut into);
        // SAFETY: what the arguments point to is there until the request is complete.
        let req = unsafe { c.begin_collective(&mut t.entry(), Slot::Reduce, &args, None) }.expect("a plan");
        // SAFETY: ours, and not used any more.
        assert_eq!(unsafe { t.finish(req) }.error, Status::NO_PERMISSION);
        // Rank 1 has sent before it was told; what rank 0 would have sent is missing.
        let wanted = if c.rank() == 0 { [8, 0] } else { [0, 0] };
        assert_eq!(into, wanted, "rank {}", c.rank());
        // SAFETY: as above.
        let req = unsafe { c.begin_collective(&mut t.entry(), Slot::Scan, &args, None) }.expect("a plan");
        // SAFETY: as above.
        assert_eq!(unsafe { t.finish(req) }.error, Status::INTERNAL, "PENDING is no answer");
    });
    assert_eq!(counts(&FAILED), [2, 4]);
    assert_eq!(PENDING.load(Ordering::Relaxed), 2);
}

/// Steps of the component's own among them wait and are dropped as those that were recorded; a plan that was never started drops its own.
#[test]
fn steps_of_the_components_own_can_be_among_them() {
    job(1, with_grower, |instance| {
        let (c, t, long) = (instance.world(), Thread::main(instance), Basic::new(Base::U64, 8));
        let args = args(&long, &[], &mut []);
        // SAFETY: no element is looked at.
        let make =
            || unsafe { c.collective_init(&mut t.entry(), Slot::Exscan, &args, None) }.expect("a plan");
        let (req, never) = (make(), make());
        for start in 1..4 {
            // SAFETY: ours, and inactive: new, or waited for.
            assert_eq!(unsafe { once_more(instance, t, req) }, Status::OK);
            assert_eq!(counts(&OWN), [0, 2 * start, start], "dropped at the end of each start");
        }
        // SAFETY: inactive, released once.
        unsafe {
            never.release(&mut t.entry());
            req.release(&mut t.entry());
        }
    });
    assert_eq!(counts(&OWN), [2, 6, 3]);
}

/// A component of the tests whose gather learns sizes, written by the layer for authors: blocking, nonblocking and persistent, on the
/// communicators of several threads at once.
#[test]
fn a_gather_that_learns_sizes_is_carried_out_by_any_thread() {
    const LEN: usize = 64;
    job(
        3,
        || with_sparse(Level::Multiple),
        |instance| {
            let comms: Vec<_> = (0..3).map(|_| instance.world().dup(None).expect("dup")).collect();
            std::thread::scope(|scope| {
                for c in &comms {
                    scope.spawn(move || gathers::<LEN>(instance, c));
                }
            });
        },
    );
}

fn gathers<const LEN: usize>(instance: &Instance, c: &oxmpi_runtime::Communicator) {
    let (t, long) = (Thread::attach(instance), Basic::new(Base::U64, 8));
    let ranks = c.size() as usize;
    let (mut from, mut into) = (vec![0u64; LEN], vec![0u64; ranks * LEN]);
    let value = |rank: usize, i: usize, turn: usize| {
        if i < (13 * rank + 29 * turn) % (LEN + 1) { (1000 * turn + 100 * rank + i + 1) as u64 } else { 0 }
    };
    let args =
        CollArgs { sendcount: LEN as u64, recvcount: LEN as u64, root: 1, ..args(&long, &from, &mut into) };
    // SAFETY: what the arguments point to is there until the request is released.
    let again = unsafe { c.collective_init(&mut t.entry(), Slot::Gather, &args, None) }.expect("a plan");
    for turn in 0..30 {
        from.iter_mut().enumerate().for_each(|(i, x)| *x = value(c.rank() as usize, i, turn));
        into.fill(u64::MAX);
        let status = match turn % 2 {
            // SAFETY: ours, and inactive: new, or waited for.
            0 => unsafe { once_more(instance, t, again) },
            _ => {
                // SAFETY: what the arguments point to is there until the request is complete, here.
                let req = unsafe { c.begin_collective(&mut t.entry(), Slot::Gather, &args, None) };
                // SAFETY: ours, and not used any more.
                unsafe { t.finish(req.expect("a plan")) }.error
            }
        };
        assert_eq!(status, Status::OK, "turn {turn}");
        if c.rank() == 1 {
            let wanted = (0..ranks).flat_map(|rank| (0..LEN).map(move |i| value(rank, i, turn)));
            assert!(into.iter().copied().eq(wanted), "turn {turn}: {into:?}");
        }
    }
    // SAFETY: inactive, released once.
    unsafe { again.release(&mut t.entry()) };
    t.detach();
}
