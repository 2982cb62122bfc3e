//! Plans of collective components: who makes them, steps of a component's own, and what becomes of them.

mod common;

use common::{Basic, Form, Thread, config, job};
use oxmpi_coll::{Coll, CollArgs, CollComm, CollFn, CollModule, CollTable, step};
use oxmpi_datatype::{Base, kernel::OpDesc, kernel::op};
use oxmpi_mca::{Component, Host, OpenError, Params, RequestHeader, Status};
use oxmpi_runtime::coll::Slot;
use oxmpi_runtime::request::Header;
use oxmpi_runtime::{Communicator, Config, Instance, Level, host_requests};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Plans barriers only, as one step of its own that takes a few looks, and other collectives not at all.
struct Device;

const LOOKS: u32 = 3;
static STARTED: AtomicU32 = AtomicU32::new(0);
static LOOKED: AtomicU32 = AtomicU32::new(0);
static DROPPED: AtomicU32 = AtomicU32::new(0);

extern "C" fn device(ctx: *mut c_void, what: u32) -> Status {
    // SAFETY: `plan_barrier` made it, and DROP comes once.
    let left = unsafe { &*ctx.cast::<AtomicU32>() };
    match what {
        step::START => {
            STARTED.fetch_add(1, Ordering::Relaxed);
            left.store(LOOKS, Ordering::Relaxed);
            Status::PENDING
        }
        step::LOOK => {
            LOOKED.fetch_add(1, Ordering::Relaxed);
            if left.fetch_sub(1, Ordering::Relaxed) == 1 { Status::OK } else { Status::PENDING }
        }
        _ => {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(ctx.cast::<AtomicU32>()) });
            Status::OK
        }
    }
}

extern "C" fn plan_barrier(_: *mut c_void, comm: *const CollComm, _: *const CollArgs) -> Status {
    // SAFETY: the host's, valid during the call.
    let comm = unsafe { &*comm };
    assert_eq!(comm.planning, 1);
    let left = Box::into_raw(Box::new(AtomicU32::new(0)));
    // SAFETY: as above.
    unsafe { ((*comm.services).step)(comm, device, left.cast()) }
}

/// Reductions that fail in the middle of a plan.
extern "C" fn plan_failure(_: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    extern "C" fn fails(_: *mut c_void, what: u32) -> Status {
        if what == step::START { Status::NO_PERMISSION } else { Status::OK }
    }
    // SAFETY: the host's, valid during the call.
    let (comm, args) = unsafe { (&*comm, &*args) };
    // SAFETY: as above.
    let services = unsafe { &*comm.services };
    let peer = 1 - comm.rank;
    let status = (services.step)(comm, fails, null_mut());
    assert_eq!(status, Status::OK);
    // The other rank counts on the message behind it, and is told that its data is missing.
    let mut requests: [*mut RequestHeader; 2] = [null_mut(); 2];
    let (data, into) = (args.sendbuf, args.recvbuf);
    let (one, other) = requests.split_at_mut(1);
    for status in [
        (services.irecv)(comm, into, args.recvcount, args.recvtype, peer, -100, &mut one[0]),
        (services.isend)(comm, data, args.recvcount, args.recvtype, peer, -100, &mut other[0]),
        (services.wait_all)(comm, requests.as_mut_ptr(), 2),
    ] {
        assert_eq!(status, Status::OK);
    }
    Status::OK
}

impl Coll for Device {
    type Module = ();
    fn query(&self, _: &CollComm) -> Option<(i32, ())> {
        Some((50, ()))
    }
    const TABLE: CollTable = EMPTY;
    const PLANS: Option<CollTable> = Some(CollTable {
        barrier: Some(plan_barrier as CollFn),
        reduce: Some(plan_failure as CollFn),
        ..EMPTY
    });
}

const EMPTY: CollTable = CollTable {
    size: size_of::<CollTable>() as u32,
    version: 1,
    barrier: None,
    bcast: None,
    reduce: None,
    allreduce: None,
    allgather: None,
    gather: None,
    scatter: None,
    alltoall: None,
    gatherv: None,
    scatterv: None,
    allgatherv: None,
    alltoallv: None,
    alltoallw: None,
    scan: None,
    exscan: None,
    reduce_scatter: None,
    reduce_scatter_block: None,
    neighbor_allgather: None,
    neighbor_allgatherv: None,
    neighbor_alltoall: None,
    neighbor_alltoallv: None,
    neighbor_alltoallw: None,
};

impl Component for Device {
    type Module = CollModule;
    const NAME: &'static str = "device";
    fn open(_: Host, _: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        Ok((50, vec![oxmpi_coll::module(Device)]))
    }
}

oxmpi_mca::component! {
    component: Device,
    symbol: oxmpi_component_coll_device,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "device",
    aliases: [],
    params: &[],
    help: "",
}

fn with_device(level: Level) -> Config {
    let mut config = config(Form::LinkedIn, level, &[]);
    config.builtin.push(descriptor());
    config
}

/// Ends an operation that was begun: its error.
///
/// # Safety
/// As for [`Thread::finish`].
unsafe fn finish(t: Thread<'_>, req: Header) -> Status {
    // SAFETY: the caller's promise.
    unsafe { t.finish(req) }.error
}

/// # Safety
/// The caller has the request, which is persistent, inactive and of this instance.
unsafe fn start(instance: &Instance, t: Thread<'_>, req: Header) {
    // SAFETY: the caller's promise.
    assert_eq!(unsafe { req.start(&mut t.entry()) }, Status::OK);
    instance.run_first_work(&mut t.entry(), host_requests::of(req).expect("the host's"));
}

/// Begins a collective, or makes a persistent one, without buffers.
fn empty(c: &Communicator, t: Thread<'_>, which: Slot, again: bool) -> Result<Header, Status> {
    let (entry, nothing) = (&mut t.entry(), &CollArgs::NONE);
    // SAFETY: the arguments point to nothing.
    unsafe {
        match again {
            true => c.collective_init(entry, which, nothing, None),
            false => c.begin_collective(entry, which, nothing, None),
        }
    }
}

#[test]
fn a_component_plans_with_steps_of_its_own() {
    job(
        2,
        || with_device(Level::Single),
        |instance| {
            let (c, t) = (instance.world(), Thread::main(instance));
            // Not the device's: it has no blocking barrier.
            assert_eq!(t.barrier(&c), Status::OK);
            let req = empty(&c, t, Slot::Barrier, false).expect("a plan");
            // SAFETY: ours, and not used any more.
            assert_eq!(unsafe { finish(t, req) }, Status::OK);
            let again = empty(&c, t, Slot::Barrier, true).expect("a plan");
            for _ in 0..5 {
                // SAFETY: ours, and inactive: new, or waited for.
                unsafe { start(instance, t, again) };
                instance.wait(&mut t.entry(), again);
            }
            // SAFETY: inactive, released once.
            unsafe { again.release(&mut t.entry()) };
            let long = Basic::new(Base::U64, 8);
            let (mine, mut theirs) = (u64::from(c.rank()) + 7, 0u64);
            let sum = sum();
            let args = reduction(&mine, &mut theirs, &long, &sum);
            // SAFETY: what the arguments point to is there until the test ends.
            let req = unsafe { c.begin_collective(&mut t.entry(), Slot::Reduce, &args, None) };
            // SAFETY: ours, and not used any more.
            let status = unsafe { finish(t, req.expect("a plan")) };
            assert_eq!(status, Status::NO_PERMISSION, "the first error is the operation's");
            assert_eq!(theirs, 0, "a message behind a failed step brings no data");
            // Everything else comes from the other component.
            // SAFETY: what the arguments point to is there until the test ends.
            let req = unsafe { c.begin_collective(&mut t.entry(), Slot::Allreduce, &args, None) };
            // SAFETY: ours, and not used any more.
            assert_eq!((unsafe { finish(t, req.expect("a plan")) }, theirs), (Status::OK, 15));
        },
    );
    let counts = [&STARTED, &LOOKED, &DROPPED].map(|c| c.load(Ordering::Relaxed));
    assert_eq!(counts, [12, 12 * LOOKS, 4]);
}

fn sum() -> OpDesc {
    let size = size_of::<OpDesc>() as u32;
    OpDesc { size, code: op::SUM, commutative: 1, reserved: 0, user: None, ctx: null_mut() }
}

fn reduction(mine: &u64, into: &mut u64, long: &Basic, sum: &OpDesc) -> CollArgs {
    CollArgs {
        sendbuf: (mine as *const u64).cast(),
        sendcount: 1,
        sendtype: long.desc(),
        recvbuf: (into as *mut u64).cast(),
        recvcount: 1,
        recvtype: long.desc(),
        op: sum,
        ..CollArgs::NONE
    }
}

#[test]
fn without_a_planner_they_say_so() {
    job(
        1,
        || config(Form::LinkedIn, Level::Single, &[("coll", "^basic")]),
        |instance| {
            let (c, t) = (instance.world(), Thread::main(instance));
            for _ in 0..3 {
                let refused = empty(&c, t, Slot::Barrier, false);
                assert_eq!(refused.err(), Some(Status::NOT_SUPPORTED));
                let refused = empty(&c, t, Slot::Bcast, true);
                assert_eq!(refused.err(), Some(Status::NOT_SUPPORTED));
            }
        },
    );
}

/// Several threads of a rank, each with operations on its own communicator; threads that do not wait
/// for an operation carry it on for those that do.
#[test]
fn several_threads_carry_each_others_operations_on() {
    job(
        2,
        || config(Form::LinkedIn, Level::Multiple, &[]),
        |instance| {
            let comms: Vec<Arc<Communicator>> =
                (0..3).map(|_| instance.world().dup(None).expect("dup")).collect();
            std::thread::scope(|scope| {
                for c in &comms {
                    scope.spawn(move || flights(instance, c));
                }
            });
        },
    );
}

fn flights(instance: &Instance, c: &Communicator) {
    let (t, long, sum) = (Thread::attach(instance), Basic::new(Base::U64, 8), sum());
    let mut into = [0u64; 8];
    let mine: Vec<u64> = (0..8).map(|i| i + u64::from(c.rank())).collect();
    let again = {
        let args = reduction(&mine[0], &mut into[0], &long, &sum);
        // SAFETY: what the arguments point to is there until the request is released.
        unsafe { c.collective_init(&mut t.entry(), Slot::Allreduce, &args, None) }.expect("a plan")
    };
    for round in 0..300 {
        // SAFETY: ours, and inactive: new, or waited for.
        unsafe { start(instance, t, again) };
        let begun: Vec<Header> = (1..8)
            .map(|i| {
                let args = reduction(&mine[i], &mut into[i], &long, &sum);
                // SAFETY: what the arguments point to is there until the requests are complete, below.
                unsafe { c.begin_collective(&mut t.entry(), Slot::Allreduce, &args, None) }.expect("a plan")
            })
            .collect();
        for req in begun.into_iter().rev() {
            // SAFETY: ours, and not used any more.
            assert_eq!(unsafe { finish(t, req) }, Status::OK);
        }
        instance.wait(&mut t.entry(), again);
        let sums: Vec<u64> = (0..8).map(|i| 2 * i + 1).collect();
        assert_eq!(into.to_vec(), sums, "round {round}");
        into.fill(0);
    }
    // SAFETY: inactive, released once.
    unsafe { again.release(&mut t.entry()) };
    t.detach();
}
