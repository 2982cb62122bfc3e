//! The suite tested: right components pass, and each of these faults of one is seen by the check that is for it.

mod nested;

use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_coll::{
    CollArgs, CollComm, CollFn, CollModule, CollOffer, CollTable, FIRST_TAG, IN_PLACE, Neighbors, extend,
};
use oxmpi_coll_conformance::{Setup, checks, run};
use oxmpi_datatype::kernel::{OpDesc, op};
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{Descriptor, OpenArgs, Status};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::Duration;

/// The right one.
fn right() -> &'static Descriptor {
    // SAFETY: a static of the component.
    unsafe { &*coll_basic::descriptor() }
}

/// Its table, which serves plans, too.
static TABLE: OnceLock<&'static CollTable> = OnceLock::new();

fn rights() -> &'static CollTable {
    TABLE.get().expect("an offer was made")
}

type Query = extern "C" fn(*mut c_void, *const CollComm, *mut CollOffer) -> Status;

fn right_query(state: *mut c_void, comm: *const CollComm, offer: *mut CollOffer) -> Status {
    // SAFETY: written once by `with_query`, before anybody is asked.
    let query: Query = *QUERY.get().expect("a component was opened");
    let status = query(state, comm, offer);
    // SAFETY: the host's out pointer, filled; tables live as long as the process.
    TABLE.get_or_init(|| unsafe { &*(*offer).table });
    status
}

static QUERY: OnceLock<Query> = OnceLock::new();

/// The right component, asked by another function.
fn opened_with(args: *const OpenArgs, out: *mut Opened, query: Query) -> Status {
    let status = (right().open)(args, out);
    // SAFETY: a component that opened has one module, and the host's out parameter is ours to write.
    unsafe {
        let opened = &mut *out;
        let module = opened.modules.cast::<CollModule>().read();
        QUERY.get_or_init(|| module.comm_query);
        let module = Box::leak(Box::new(CollModule { comm_query: query, ..module }));
        opened.modules = (&raw const *module).cast();
    }
    status
}

fn descriptor(open: extern "C" fn(*const OpenArgs, *mut Opened) -> Status) -> *const Descriptor {
    // SAFETY: plain data, whose pointers are to statics.
    let copy = unsafe { core::ptr::from_ref(right()).read() };
    Box::leak(Box::new(Descriptor { open, ..copy }))
}

/// A component with the right one's collectives but for some; `blocking` in its table, `planned` in its plans, or both.
macro_rules! faulty {
    ($name:ident, $($place:ident: $which:ident = $function:expr),+) => {
        fn $name() -> *const Descriptor {
            extern "C" fn query(state: *mut c_void, comm: *const CollComm, offer: *mut CollOffer) -> Status {
                let status = right_query(state, comm, offer);
                let mut offered = Offered { blocking: *rights(), planned: *rights() };
                $(offered.$place.$which = Some($function as CollFn);)+
                let offered = Box::leak(Box::new(offered));
                // SAFETY: the host's out pointer.
                unsafe { ((*offer).table, (*offer).plans) = (&offered.blocking, &offered.planned) };
                status
            }
            extern "C" fn open(args: *const OpenArgs, out: *mut Opened) -> Status {
                opened_with(args, out, query)
            }
            descriptor(open)
        }
    };
}

struct Offered {
    blocking: CollTable,
    planned: CollTable,
}

/// The right function of a collective, called with other arguments.
fn call(
    which: fn(&CollTable) -> Option<CollFn>,
    module: *mut c_void,
    comm: *const CollComm,
    args: &CollArgs,
) -> Status {
    which(rights()).expect("it has all")(module, comm, args)
}

/// The call's arguments.
fn copy_of(args: *const CollArgs) -> CollArgs {
    // SAFETY: valid during the call.
    unsafe { args.read() }
}

extern "C" fn does_nothing(_: *mut c_void, _: *const CollComm, _: *const CollArgs) -> Status {
    Status::OK
}

/// Takes every operation for one that commutes.
extern "C" fn reorders(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    let mut args = copy_of(args);
    // SAFETY: the call's operation, which is looked at during the call and copied by plans.
    let op: &'static OpDesc = Box::leak(Box::new(OpDesc { commutative: 1, ..unsafe { args.op.read() } }));
    args.op = op;
    call(|t| t.reduce, module, comm, &args)
}

/// Takes data that is in place for zeros.
extern "C" fn misplaces(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    const HALF: usize = 1 << 19;
    static ZEROS: [u8; 2 * HALF] = [0; 2 * HALF];
    let mut args = copy_of(args);
    if args.sendbuf == IN_PLACE {
        // Types reach to both sides of their address.
        let middle = ZEROS.as_ptr().wrapping_add(HALF);
        (args.sendbuf, args.sendcount, args.sendtype) = (middle, args.recvcount, args.recvtype);
    }
    call(|t| t.gather, module, comm, &args)
}

/// Writes a byte behind what it receives.
extern "C" fn overruns(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    let args = copy_of(args);
    let status = call(|t| t.bcast, module, comm, &args);
    // SAFETY: the check's buffers have a margin.
    unsafe {
        let ty = &*args.recvtype;
        let end = ty.true_lb + ty.true_extent + ty.extent * (args.recvcount.max(1) as i64 - 1);
        args.recvbuf.offset(end as isize).write(0);
    }
    status
}

/// Gives what the inclusive one gives.
extern "C" fn includes(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    call(|t| t.scan, module, comm, &copy_of(args))
}

/// Sends one message more than is received.
extern "C" fn leaves_a_message(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    let args = copy_of(args);
    let status = call(|t| t.allgather, module, comm, &args);
    // SAFETY: valid during the call.
    let (seen, mut request) = (unsafe { &*comm }, null_mut());
    if seen.rank == 0 && seen.num_ranks > 1 && seen.planning == 0 {
        // SAFETY: as above.
        let services = unsafe { &*seen.services };
        let sent = (services.isend)(comm, args.recvbuf, 0, args.recvtype, 1, FIRST_TAG, &mut request);
        assert!(sent.is_err() || (services.wait_all)(comm, &mut request, 1).is_ok());
    }
    status
}

/// Does not know that a grid's neighbors come in pairs.
extern "C" fn knows_no_pairs(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    let mut args = copy_of(args);
    // SAFETY: the call's neighbors.
    let neighbors = Neighbors { flags: 0, ..unsafe { args.neighbors.read() } };
    args.neighbors = &neighbors;
    call(|t| t.neighbor_alltoall, module, comm, &args)
}

/// Looks at the data while it plans: what a rank has for itself is copied at once.
extern "C" fn plans_by_data(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    let mut args = copy_of(args);
    if args.sendbuf != IN_PLACE && args.sendcount > 0 {
        // SAFETY: dense elements of the check that is for it; a copy that plans may keep.
        unsafe {
            let bytes = (args.sendcount * (*args.sendtype).packed) as usize;
            let copy = core::slice::from_raw_parts(args.sendbuf, bytes).to_vec().leak();
            args.sendbuf = copy.as_ptr();
        }
    }
    call(|t| t.allgather, module, comm, &args)
}

/// Keeps errors to itself.
extern "C" fn swallows(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    call(|t| t.alltoall, module, comm, &copy_of(args));
    Status::OK
}

/// Reduces to rank 0 for all, but does not give the others what came out: their own sum differs in its last bits.
extern "C" fn rounds_otherwise(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    let args = copy_of(args);
    let status = call(|t| t.allreduce, module, comm, &args);
    // SAFETY: valid during the call; doubles of the check that is for it.
    unsafe {
        if (*comm).rank == 1 && (*args.op).code == op::SUM && args.recvcount > 0 && (*comm).planning == 0 {
            let first = args.recvbuf.cast::<u64>();
            *first ^= 1;
        }
    }
    status
}

/// The displacements of a plan are looked at when it is done.
extern "C" fn keeps_arrays(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    extern "C" fn looks(ctx: *mut c_void, what: u32) -> Status {
        // SAFETY: the array of the call, kept by mistake; the suite keeps it readable.
        let first = unsafe { *ctx.cast::<u64>() };
        if what == oxmpi_coll::step::START && first % 3 != 0 { Status::INTERNAL } else { Status::OK }
    }
    let args = copy_of(args);
    let status = call(|t| t.alltoallv, module, comm, &args);
    // SAFETY: valid during the call.
    let services = unsafe { &*(*comm).services };
    let kept = (services.step)(comm, looks, args.recvcounts.cast_mut().cast());
    if status.is_err() { status } else { kept }
}

/// A gather of which all is written when it is due.
struct Due {
    module: *mut c_void,
    args: CollArgs,
    fault: DueFault,
    /// The number of elements before the zeros at the end, once it has learned that.
    len: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum DueFault {
    None,
    /// It says that it is not done.
    Pending,
    /// It writes nothing at the second start.
    Once,
    /// It takes the sizes of the first start for those of all.
    Remembers,
}

impl Due {
    /// Dense ints of the check that is for it, without those behind what was learned; a copy that plans may keep.
    fn remembered(&mut self) -> CollArgs {
        let mut args = copy_of(&self.args);
        if args.sendbuf == IN_PLACE {
            return args;
        }
        // SAFETY: the elements of the check.
        let data =
            unsafe { core::slice::from_raw_parts(args.sendbuf.cast::<i32>(), args.sendcount as usize) };
        let ends = || data.iter().rposition(|element| *element != 0).map_or(0, |last| last + 1);
        let len = *self.len.get_or_insert_with(ends);
        let kept = (0..).zip(data).map(|(i, element)| if i < len { *element } else { 0 });
        args.sendbuf = kept.collect::<Vec<i32>>().leak().as_ptr().cast();
        args
    }
}

unsafe extern "C" fn writes(ctx: *mut c_void, comm: *const CollComm, what: u32) -> Status {
    if what == extend::DROP {
        // SAFETY: `due` made it, and DROP comes once.
        drop(unsafe { Box::from_raw(ctx.cast::<Due>()) });
        return Status::OK;
    }
    // SAFETY: as above; a plan's steps run one after the other.
    let due = unsafe { &mut *ctx.cast::<Due>() };
    let again = due.len.is_some();
    let args = match due.fault {
        DueFault::Once if again => return Status::OK,
        DueFault::Remembers => due.remembered(),
        _ => copy_of(&due.args),
    };
    due.len.get_or_insert(0);
    let status = call(|t| t.gather, due.module, comm, &args);
    if due.fault == DueFault::Pending { Status::PENDING } else { status }
}

fn due(module: *mut c_void, comm: *const CollComm, args: *const CollArgs, fault: DueFault) -> Status {
    let ctx = Box::into_raw(Box::new(Due { module, args: copy_of(args), fault, len: None }));
    // SAFETY: valid during the call.
    let services = unsafe { &*(*comm).services };
    assert!(services.can_extend());
    (services.extend)(comm, writes, ctx.cast())
}

macro_rules! due {
    ($($name:ident $fault:ident;)*) => {
        $(extern "C" fn $name(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
            due(module, comm, args, DueFault::$fault)
        })*
    };
}
due! {
    writes_when_due None;
    answers_pending Pending;
    writes_once Once;
    remembers_sizes Remembers;
}
faulty!(when_due, planned: gather = writes_when_due);
faulty!(without_answer, planned: gather = answers_pending);
faulty!(without_second_start, planned: gather = writes_once);
faulty!(without_another_look, planned: gather = remembers_sizes);

faulty!(without_barrier, blocking: barrier = does_nothing, planned: barrier = does_nothing);
faulty!(without_order, blocking: reduce = reorders);
/// Everyone tells rank 0, which tells everyone; who fails leaves, though others wait for it.
extern "C" fn leaves_early(_: *mut c_void, comm: *const CollComm, _: *const CollArgs) -> Status {
    // SAFETY: valid during the call.
    let (seen, services) = unsafe { (&*comm, &*(*comm).services) };
    let byte = TypeDesc::basic(Base::BYTE).expect("MPI_BYTE is a basic type");
    let send = |to| (services.send)(comm, null_mut(), 0, &byte, to, FIRST_TAG);
    let recv = |from| (services.recv)(comm, null_mut(), 0, &byte, from, FIRST_TAG, null_mut());
    let all = || {
        if seen.rank != 0 {
            send(0).ok()?;
            return recv(0).ok();
        }
        for rank in 1..seen.num_ranks {
            recv(rank).ok()?;
        }
        for rank in 1..seen.num_ranks {
            send(rank).ok()?;
        }
        Ok(Status::OK)
    };
    all().unwrap_or_else(|status| status)
}
faulty!(without_patience, blocking: barrier = leaves_early);
faulty!(without_place, blocking: gather = misplaces, planned: gather = misplaces);
faulty!(without_bounds, blocking: bcast = overruns);
faulty!(without_exclusion, blocking: exscan = includes);
faulty!(without_end, blocking: allgather = leaves_a_message);
faulty!(without_pairs, blocking: neighbor_alltoall = knows_no_pairs);
faulty!(without_delay, planned: allgather = plans_by_data);
faulty!(without_errors, blocking: alltoall = swallows);
faulty!(without_agreement, blocking: allreduce = rounds_otherwise);
faulty!(without_copies, planned: alltoallv = keeps_arrays);

/// Wants the communicator in one rank alone.
fn without_unity() -> *const Descriptor {
    extern "C" fn query(state: *mut c_void, comm: *const CollComm, offer: *mut CollOffer) -> Status {
        // SAFETY: the host's.
        if unsafe { (*comm).rank } == 1 { Status::NOT_AVAILABLE } else { right_query(state, comm, offer) }
    }
    extern "C" fn open(args: *const OpenArgs, out: *mut Opened) -> Status {
        opened_with(args, out, query)
    }
    descriptor(open)
}

/// Whether a check passes.
fn passes(descriptor: *const Descriptor, name: &str) -> bool {
    let setup = Setup::new(descriptor).parts(right()).ranks(5).patience(Duration::from_secs(3));
    let all = checks();
    let check = all.iter().find(|check| check.name == name).expect("a check of that name");
    catch_unwind(AssertUnwindSafe(|| assert!(run(&setup, check), "left out"))).is_ok()
}

/// Makes the descriptor of a faulty component.
type Make = fn() -> *const Descriptor;

#[test]
fn each_fault_is_seen() {
    let cases: [(&str, Make); 17] = [
        ("barrier", without_barrier),
        ("reduce", without_order),
        ("gather", without_place),
        ("bcast", without_bounds),
        ("scan_and_exscan", without_exclusion),
        ("allgather", without_end),
        ("equal_blocks_along_every_edge", without_pairs),
        ("persistent_allgather", without_delay),
        ("dies_in_alltoall", without_errors),
        ("unreachable_in_alltoall", without_errors),
        ("unreachable_in_barrier", without_patience),
        ("agreement", without_agreement),
        ("alltoallv", without_copies),
        ("scatter", without_unity),
        ("gather", without_answer),
        ("persistent_gather", without_second_start),
        ("persistent_gather", without_another_look),
    ];
    for (check, faulty) in cases {
        assert!(passes(right(), check), "the right one does not pass {check}");
        assert!(!passes(faulty(), check), "{check} does not see its fault");
    }
}

/// All of a plan is written by a step that is called when it is due.
#[test]
fn a_component_that_writes_when_it_is_due_passes() {
    for check in ["gather", "persistent_gather", "dies_in_gather", "unreachable_in_gather"] {
        assert!(passes(when_due(), check), "{check}");
    }
}

/// A component that uses memory of the node, words in it and parts of the communicator.
#[test]
fn a_component_that_nests_passes() {
    for check in ["barrier", "bcast", "allreduce", "dies_in_barrier"] {
        assert!(passes(nested::descriptor(), check), "{check}");
    }
}

#[test]
fn faults_of_one_that_nests_are_seen() {
    for (fault, check) in [
        (nested::Fault::OneNode, "barrier"),
        (nested::Fault::NoFlag, "barrier"),
        (nested::Fault::Sizes, "bcast"),
        (nested::Fault::Early, "barrier"),
        (nested::Fault::WakesNobody, "barrier"),
    ] {
        assert!(!passes(nested::faulty(fault), check), "{check} does not see {fault:?}");
    }
}
