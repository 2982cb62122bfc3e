//! Collective operations (MPI 5.0 §6): arguments checked, then handed to the component that serves the
//! communicator. `equal`: one count for all ranks; `vector_variants`: a count and a place for each; `reducing`; `neighbor`.
//!
//! **Three forms of each** ([`CompletionMode`]): blocking, nonblocking (§6.12) and persistent (§6.13), each plain and with large
//! counts, are one function here; `collective_fns!` makes the exported ones. A nonblocking or persistent
//! operation keeps references to the types and the reduction operation that it needs after the call ([`Kept`]), so the
//! program may free its handles at once; arrays of counts, displacements and types have been read.
//!
//! Arguments significant only at the root are looked at there alone; elsewhere the component gets null
//! buffers and no elements. Where a collective has one buffer or one type, both sides of
//! [`Arguments`] say so.
//!
//! On an inter-communicator a rank of the root's group names MPI_ROOT or MPI_PROC_NULL, has only one side of
//! the data, and nothing is in place ([`Part`]).

/// The functions of one collective from one body: blocking, nonblocking, persistent.
macro_rules! collective_fns {
    ($body:ident <$n:ident> ($($a:ident : $t:ty),*) on $comm:ident;
     fn $($now:ident [$nc:ty]),+;
     fn $($later:ident [$lc:ty]),+;
     fn $($again:ident [$ac:ty]),+;) => {
        mpi_fn! {
            fn $($now[$nc]),+ <$n> ($($a: $t,)* $comm: Comm) -> c_int |here| {
                call(here, NAME, Some($comm), |process, entry| {
                    $body(Caller { process, entry, mode: CompletionMode::Blocking }, $($a,)* $comm)
                })
            }
        }
        mpi_fn! {
            fn $($later[$lc]),+ <$n> ($($a: $t,)* $comm: Comm, request: Out<Request>) -> c_int |here| {
                call(here, NAME, Some($comm), |process, entry| {
                    let mode = CompletionMode::nonblocking(request)?;
                    $body(Caller { process, entry, mode }, $($a,)* $comm)
                })
            }
        }
        mpi_fn! {
            fn $($again[$ac]),+ <$n> ($($a: $t,)* $comm: Comm, info: Info, request: Out<Request>) -> c_int |here| {
                call(here, NAME, Some($comm), |process, entry| {
                    let mode = CompletionMode::persistent(info, request)?;
                    $body(Caller { process, entry, mode }, $($a,)* $comm)
                })
            }
        }
    };
}

mod equal;
mod neighbor;
mod reducing;
pub mod vector_variants;

use crate::call::memory::{Address, Out, write};
use crate::call::operands::{check_buffer, check_place};
use crate::call::process::Process;
use crate::comm::CommObject;
use crate::constants::*;
use crate::datatype;
use crate::error::{Failure, Res};
use crate::p2p::{Data, place_of};
use crate::types::{Datatype, Info, Request};
use crate::{info, op, request};
use core::ffi::c_int;
use core::ptr::null;
use oxmpi_coll::{CollArgs, IN_PLACE, Neighbors};
use oxmpi_datatype::kernel::OpDesc;
use oxmpi_datatype::{TypeDesc, TypeRef, flag};
use oxmpi_mca::{Entry, MsgStatus, Status};
use oxmpi_runtime::Communicator;
use oxmpi_runtime::coll::Slot;

const _: () = assert!(oxmpi_coll::ROOT == MPI_ROOT && oxmpi_coll::NO_ROOT == MPI_PROC_NULL);

/// A collective of the runtime's communicator.
pub type Verb = unsafe fn(&Communicator, &mut Entry, &CollArgs) -> Status;

/// A collective: its blocking form, and its place among those that make a request.
#[derive(Clone, Copy)]
pub struct Collective {
    now: Verb,
    plan: Slot,
}

macro_rules! all {
    ($($name:ident $verb:ident $slot:ident;)*) => {
        $(pub const $name: Collective = Collective { now: Communicator::$verb, plan: Slot::$slot };)*
    };
}

all! {
    BARRIER barrier Barrier;
    BCAST bcast Bcast;
    REDUCE reduce Reduce;
    ALLREDUCE allreduce Allreduce;
    ALLGATHER allgather Allgather;
    GATHER gather Gather;
    SCATTER scatter Scatter;
    ALLTOALL alltoall Alltoall;
    GATHERV gatherv Gatherv;
    SCATTERV scatterv Scatterv;
    ALLGATHERV allgatherv Allgatherv;
    ALLTOALLV alltoallv Alltoallv;
    ALLTOALLW alltoallw Alltoallw;
    SCAN scan Scan;
    EXSCAN exscan Exscan;
    REDUCE_SCATTER reduce_scatter ReduceScatter;
    REDUCE_SCATTER_BLOCK reduce_scatter_block ReduceScatterBlock;
    NEIGHBOR_ALLGATHER neighbor_allgather NeighborAllgather;
    NEIGHBOR_ALLGATHERV neighbor_allgatherv NeighborAllgatherv;
    NEIGHBOR_ALLTOALL neighbor_alltoall NeighborAlltoall;
    NEIGHBOR_ALLTOALLV neighbor_alltoallv NeighborAlltoallv;
    NEIGHBOR_ALLTOALLW neighbor_alltoallw NeighborAlltoallw;
}

/// When it is done.
#[derive(Clone, Copy)]
pub enum CompletionMode<'a> {
    /// When the call returns.
    Blocking,
    /// When the request that goes here is complete.
    Nonblocking(Out<'a, Request>),
    /// As often as the request that goes here is started.
    Persistent(Out<'a, Request>),
}

impl<'a> CompletionMode<'a> {
    pub fn nonblocking(request: Out<'a, Request>) -> Res<CompletionMode<'a>> {
        place_of(request)?;
        Ok(CompletionMode::Nonblocking(request))
    }
    pub fn persistent(info: Info, request: Out<'a, Request>) -> Res<CompletionMode<'a>> {
        place_of(request)?;
        // There are no hints for these yet.
        info::optional(info)?;
        Ok(CompletionMode::Persistent(request))
    }
}

/// Counts and displacements of one side, one for each rank or neighbor.
pub struct Blocks {
    pub counts: Vec<u64>,
    pub displs: Vec<i64>,
}

/// One side of a collective as its component gets it: where the data lies, and how much of which types.
#[derive(Clone, Copy)]
pub struct Half<'a> {
    buf: Address,
    count: u64,
    dtype: Option<&'a TypeDesc>,
    blocks: Option<&'a Blocks>,
    types: Option<&'a [&'a TypeDesc]>,
}

impl<'a> Half<'a> {
    /// Nothing at all.
    pub const NONE: Half<'a> = Half { buf: Address::NULL, count: 0, dtype: None, blocks: None, types: None };

    /// So many elements.
    pub fn one(buf: Address, count: u64, dtype: &'a TypeDesc) -> Half<'a> {
        Half { buf, count, dtype: Some(dtype), ..Half::NONE }
    }

    /// A block for each rank or neighbor, all of one type.
    pub fn many(buf: Address, blocks: &'a Blocks, dtype: &'a TypeDesc) -> Half<'a> {
        Half { buf, dtype: Some(dtype), blocks: Some(blocks), ..Half::NONE }
    }

    /// A block for each rank or neighbor, each of a type of its own.
    pub fn mixed(buf: Address, blocks: &'a Blocks, types: &'a [&'a TypeDesc]) -> Half<'a> {
        Half { buf, blocks: Some(blocks), types: Some(types), ..Half::NONE }
    }

    /// Data that the component finds at the other side: MPI_IN_PLACE stands here.
    pub fn in_place(buf: Address) -> Half<'a> {
        Half { buf, ..Half::NONE }
    }

    /// All types there are.
    fn all_types(&self) -> impl Iterator<Item = &'a TypeDesc> {
        self.dtype.into_iter().chain(self.types.into_iter().flatten().copied())
    }

    /// Addresses of counts, displacements and types.
    fn lists(&self) -> (*const u64, *const i64, *const *const TypeDesc) {
        let counts = self.blocks.map_or(null(), |blocks| blocks.counts.as_ptr());
        // MPI_Reduce_scatter has none.
        let placed = self.blocks.filter(|blocks| blocks.displs.len() == blocks.counts.len());
        let displs = placed.map_or(null(), |blocks| blocks.displs.as_ptr());
        (counts, displs, self.types.map_or(null(), |types| types.as_ptr().cast()))
    }
}

/// Arguments of a collective: the data is the program's, what is borrowed is there during the call.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    pub send: Half<'a>,
    pub recv: Half<'a>,
    pub root: c_int,
    pub neighbors: Option<&'a Neighbors>,
}

impl<'a> Arguments<'a> {
    /// Without any.
    pub const NONE: Arguments<'a> =
        Arguments { send: Half::NONE, recv: Half::NONE, root: 0, neighbors: None };

    /// Data at both sides.
    pub fn of(send: Half<'a>, recv: Half<'a>) -> Arguments<'a> {
        Arguments { send, recv, ..Arguments::NONE }
    }

    /// For a rank that only calls.
    pub fn idle(root: c_int) -> Arguments<'a> {
        Arguments { root, ..Arguments::NONE }
    }

    /// The same with a root.
    pub fn with_root(self, root: c_int) -> Arguments<'a> {
        Arguments { root, ..self }
    }

    /// As components take them.
    fn raw(&self, op: Option<&OpDesc>) -> CollArgs {
        let ((sendcounts, sdispls, sendtypes), (recvcounts, rdispls, recvtypes)) =
            (self.send.lists(), self.recv.lists());
        CollArgs {
            sendbuf: self.send.buf.as_ptr(),
            sendcount: self.send.count,
            sendtype: self.send.dtype.map_or(null(), |t| t),
            recvbuf: self.recv.buf.as_mut_ptr(),
            recvcount: self.recv.count,
            recvtype: self.recv.dtype.map_or(null(), |t| t),
            op: op.map_or(null(), |op| op),
            root: self.root,
            sendcounts,
            sdispls,
            sendtypes,
            recvcounts,
            rdispls,
            recvtypes,
            neighbors: self.neighbors.map_or(null(), |neighbors| neighbors),
            ..CollArgs::NONE
        }
    }
}

pub fn is_in_place(buf: Address) -> bool {
    core::ptr::eq(buf.as_ptr(), IN_PLACE)
}

/// One side of a collective: the type found, count and buffer good. Sides of nearly every call are checked without a result in memory; copying one costs as much as the checks.
#[inline]
pub fn side(process: &Process, (buf, count, datatype): Data, which: &str) -> Res<&'static TypeDesc> {
    match datatype::usable(datatype) {
        Some(desc) if count >= 0 && !is_in_place(buf) && !buf.is_null() => Ok(desc),
        _ => unusual_side(process, (buf, count, datatype), which),
    }
}

/// A side without a buffer, which is right for some, or with a mistake.
#[cold]
#[inline(never)]
fn unusual_side(process: &Process, (buf, count, datatype): Data, which: &str) -> Res<&'static TypeDesc> {
    if count < 0 {
        return Failure::err(MPI_ERR_COUNT, format!("{which}count is {count}"));
    }
    let desc = datatype::require_committed(datatype, format_args!("{which}type"))?;
    not_in_place(buf, which)?;
    check_buffer(process, buf, count, desc, format_args!("{which}buf"))?;
    Ok(desc)
}

pub fn not_in_place(buf: Address, which: &str) -> Res {
    if is_in_place(buf) {
        return Failure::err(MPI_ERR_BUFFER, format!("{which}buf must not be MPI_IN_PLACE here"));
    }
    Ok(())
}

/// The standard forbids send and receive buffers that overlap; the same address is seen. `bytes`: there is data
/// at both.
#[inline]
pub fn check_apart(process: &Process, sent: Address, received: Address, bytes: bool) -> Res {
    if process.check && bytes && !sent.is_null() && sent == received {
        return Err(are_the_same());
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn are_the_same() -> Failure {
    Failure::new(MPI_ERR_BUFFER, "sendbuf and recvbuf are the same; MPI_IN_PLACE is for that")
}

/// Where element `index` is in a buffer.
pub fn place(buf: Address, index: i64, desc: &TypeDesc) -> Address {
    buf.behind(index.wrapping_mul(desc.extent) as usize)
}

/// The calling rank's part in a collective with a root.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The root, which is one of those that give or get, too.
    Root,
    /// The root of an inter-communicator, for which only the other group gives or gets.
    FarRoot,
    /// Gives to the root or gets from it.
    Leaf,
    /// In the root's group of an inter-communicator: only there so that all call.
    Idle,
}

#[inline]
pub fn part(object: &CommObject, root: c_int) -> Res<Part> {
    let inter = object.comm.remote_group().is_some();
    match root {
        MPI_ROOT if inter => Ok(Part::FarRoot),
        MPI_PROC_NULL if inter => Ok(Part::Idle),
        _ if (root as u32) < object.peers => {
            Ok(if !inter && root as u32 == object.comm.rank() { Part::Root } else { Part::Leaf })
        }
        _ => Err(is_no_root(object, root)),
    }
}

#[cold]
#[inline(never)]
fn is_no_root(object: &CommObject, root: c_int) -> Failure {
    let last = object.peers.saturating_sub(1);
    Failure::new(MPI_ERR_ROOT, format!("root is {root}, ranks are 0 to {last}"))
}

pub fn is_inter(object: &CommObject) -> bool {
    object.comm.remote_group().is_some()
}

/// Objects that an operation that goes on after the call holds on to.
struct Kept {
    _types: Vec<TypeRef>,
    op: Option<op::Held>,
}

impl Kept {
    /// `None`: everything is predefined.
    fn of(args: &Arguments, op: Option<&op::Call>) -> Res<Option<Box<Kept>>> {
        let all = args.send.all_types().chain(args.recv.all_types());
        let derived = all.filter(|t| t.flags & flag::PREDEFINED == 0);
        // SAFETY: a type that a handle led to, which is counted.
        let types: Vec<TypeRef> = derived.map(|t| unsafe { TypeRef::retain(t) }).collect();
        let op = op.map(op::Call::hold).transpose()?.flatten();
        Ok((op.is_some() || !types.is_empty()).then(|| Box::new(Kept { _types: types, op })))
    }
}

/// The error of a blocking collective. A message of it that was too long is told with its sizes.
#[cold]
#[inline(never)]
fn failed(object: &CommObject, status: Status) -> Res {
    // Taken in any case, so that it is not taken for a later error's.
    let message = object.comm.take_truncated().filter(|_| status == Status::TRUNCATED);
    match message {
        Some(message) => Err(request::truncated(&MsgStatus { tag: MPI_ANY_TAG, ..message })),
        None => Err(status.into()),
    }
}

/// The calling process and its way into MPI, and when the collective is to be done.
pub struct Caller<'a> {
    pub process: &'static Process,
    pub entry: &'a mut Entry,
    pub mode: CompletionMode<'a>,
}

impl Caller<'_> {
    /// Runs a collective, or begins or prepares it. `op`: of a reduction.
    pub fn run(
        self,
        object: &'static CommObject,
        collective: Collective,
        args: Arguments,
        op: Option<&op::Call>,
    ) -> Res {
        crate::call::counting::collective(&object.comm);
        let place = match self.mode {
            CompletionMode::Blocking => {
                let desc = op.map(op::Call::desc);
                // SAFETY: the data is that of a C function, which promises it; the rest is borrowed.
                let status = unsafe { (collective.now)(&object.comm, self.entry, &args.raw(desc.as_ref())) };
                return if status.is_err() { failed(object, status) } else { Ok(()) };
            }
            CompletionMode::Nonblocking(place) | CompletionMode::Persistent(place) => place,
        };
        let kept = Kept::of(&args, op)?;
        let held = kept.as_ref().and_then(|kept| kept.op.as_ref()).map(op::Held::desc);
        let desc = held.or(op.map(op::Call::desc));
        let raw = args.raw(desc.as_ref());
        let (comm, plan, kept) = (&object.comm, collective.plan, kept.map(|kept| kept as _));
        // SAFETY: the data is that of a C function, which promises it until the request is complete or given up; types and the operation are predefined,
        // or kept; lists are borrowed.
        let req = unsafe {
            match self.mode {
                CompletionMode::Persistent(_) => comm.collective_init(self.entry, plan, &raw, kept)?,
                _ => comm.begin_collective(self.entry, plan, &raw, kept)?,
            }
        };
        write(place, "request", request::give(object, req))
    }
}
