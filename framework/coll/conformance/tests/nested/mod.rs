//! A small component that nests: its barrier meets in words of the node's memory and, between nodes, in the part of the
//! leaders; its broadcast goes through the parts; its reduction is the parts' own. It can be told to be wrong.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};
use oxmpi_coll::{Coll, CollArgs, CollComm, CollModule, CollTable, flag, part, which};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{
    Component, Descriptor, Host, OpenArgs, OpenError, Params, Place, Status, StrRef, WakingWord,
};
use std::cell::UnsafeCell;

/// The mistake that it is told to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Fault {
    None,
    /// Takes all ranks for those of one node.
    OneNode,
    /// Does not say that it nests.
    NoFlag,
    /// Asks for memory of a size of its own in each rank.
    Sizes,
    /// Is called, and calls services, while it is asked.
    Early,
    /// Changes words and wakes nobody.
    WakesNobody,
}

/// Components are opened with it; tests that use it run in one thread each and name it before.
static FAULT: AtomicU32 = AtomicU32::new(0);

struct Nested {
    fault: u32,
}

/// Words of the node: how many have come, and the turn.
struct Meeting {
    come: *const WakingWord,
    turn: *const WakingWord,
    ranks: u32,
    leader: bool,
    leaders: Option<*mut c_void>,
    node: *mut c_void,
}

pub struct PerCommunicator {
    fault: u32,
    meeting: UnsafeCell<Option<Meeting>>,
}

// SAFETY: one call of a communicator at a time.
unsafe impl Send for PerCommunicator {}
// SAFETY: as above.
unsafe impl Sync for PerCommunicator {}

fn met(status: Status) -> Result<(), Status> {
    if status.is_err() { Err(status) } else { Ok(()) }
}

impl PerCommunicator {
    #[allow(clippy::mut_from_ref, reason = "one call of a communicator at a time")]
    fn meeting(&self, comm: &CollComm) -> Result<&Meeting, Status> {
        // SAFETY: as the type says.
        let meeting = unsafe { &mut *self.meeting.get() };
        if meeting.is_none() {
            *meeting = Some(self.meet(comm)?);
        }
        Ok(meeting.as_ref().expect("just made"))
    }

    fn meet(&self, comm: &CollComm) -> Result<Meeting, Status> {
        // SAFETY: valid during the call.
        let services = unsafe { &*comm.services };
        let (mut place, mut memory) = (Place::default(), null_mut());
        met((services.place)(comm, comm.rank, &mut place))?;
        if self.fault == Fault::OneNode as u32 {
            (place.node_size, place.node_rank) = (comm.num_ranks, comm.rank);
        }
        let more = if self.fault == Fault::Sizes as u32 { 64 * u64::from(comm.rank) } else { 0 };
        met((services.node_memory)(comm, 128 + more, &mut memory))?;
        let name = StrRef::new("nested");
        let (mut node, mut leaders) = (null_mut(), null_mut());
        met((services.sub_comm)(comm, part::NODE, name, &mut node))?;
        let among = (services.sub_comm)(comm, part::LEADERS, name, &mut leaders);
        if among != Status::NOT_FOUND {
            met(among)?;
        }
        let word = |at| memory.wrapping_add(at).cast_const().cast();
        Ok(Meeting {
            come: word(0),
            turn: word(64),
            ranks: place.node_size,
            leader: place.node_rank == 0,
            leaders: (among == Status::OK).then_some(leaders),
            node,
        })
    }
}

/// Runs a collective of a part.
fn in_part(comm: &CollComm, sub: *mut c_void, which: u32, args: &CollArgs) -> Result<(), Status> {
    // SAFETY: valid during the call; plain data, which the host fills.
    unsafe {
        let mut view = core::mem::zeroed::<CollComm>();
        met(((*comm.services).sub_view)(comm, sub, &mut view))?;
        met(((*comm.services).call)(&view, which, args))
    }
}

fn barrier(module: &PerCommunicator, comm: &CollComm, _: &CollArgs) -> Result<(), Status> {
    let meeting = module.meeting(comm)?;
    // SAFETY: memory of the node, as long as the module.
    let (come, turn) = unsafe { (&*meeting.come, &*meeting.turn) };
    // SAFETY: valid during the call.
    let services = unsafe { &*comm.services };
    let wakes = module.fault != Fault::WakesNobody as u32;
    let now = turn.load();
    let (before, sleepers) = come.add(1);
    if sleepers && wakes {
        met((services.wake_word)(comm, come))?;
    }
    let last = before + 1 == meeting.ranks;
    if !meeting.leader {
        return met((services.wait_word)(comm, turn, now));
    }
    if !last {
        let mut seen = come.load();
        while seen != meeting.ranks {
            met((services.wait_word)(comm, come, seen))?;
            seen = come.load();
        }
    }
    if let Some(leaders) = meeting.leaders {
        in_part(comm, leaders, which::BARRIER, &CollArgs::NONE)?;
    }
    // Nobody waits for the count but the leader.
    let _ = come.store(0);
    match turn.store(now.wrapping_add(1)) {
        true if wakes => met((services.wake_word)(comm, turn)),
        _ => Ok(()),
    }
}

/// From the root to its node, from the root's node to the leaders, from those to their nodes; the root's rank in a part is its place.
fn bcast(module: &PerCommunicator, comm: &CollComm, args: &CollArgs) -> Result<(), Status> {
    let meeting = module.meeting(comm)?;
    // SAFETY: valid during the call.
    let services = unsafe { &*comm.services };
    let mut root = Place::default();
    met((services.place)(comm, args.root as u32, &mut root))?;
    let with = |root: u32| CollArgs { root: root as i32, ..copy(args) };
    if root.node == comm.node {
        in_part(comm, meeting.node, which::BCAST, &with(root.node_rank))?;
    }
    if let Some(leaders) = meeting.leaders {
        in_part(comm, leaders, which::BCAST, &with(root.node))?;
    }
    if root.node != comm.node {
        in_part(comm, meeting.node, which::BCAST, &with(0))?;
    }
    Ok(())
}

/// Only where one node has all ranks is their order that of a part.
fn allreduce(module: &PerCommunicator, comm: &CollComm, args: &CollArgs) -> Result<(), Status> {
    let meeting = module.meeting(comm)?;
    if comm.num_nodes == 1 {
        return in_part(comm, meeting.node, which::ALLREDUCE, args);
    }
    // Over nodes: everything to rank 0 in the order of ranks, and back.
    reduce_in_order(comm, args)
}

fn reduce_in_order(comm: &CollComm, args: &CollArgs) -> Result<(), Status> {
    // SAFETY: arguments as the contract has them.
    unsafe {
        let (services, ty) = (&*comm.services, &*args.recvtype);
        let tag = oxmpi_coll::FIRST_TAG - 3;
        if args.sendbuf != oxmpi_coll::IN_PLACE {
            oxmpi_datatype::copy(ty, args.recvcount, args.sendbuf, args.recvbuf);
        }
        // The sum grows from the last rank to the first.
        let (up, down) = (comm.rank + 1, comm.rank.checked_sub(1));
        if up < comm.num_ranks {
            let span = (ty.true_extent + ty.extent.abs() * args.recvcount as i64 + 64) as usize;
            let mut right = vec![0u8; 2 * span];
            let right = right.as_mut_ptr().wrapping_add(span).wrapping_offset(-ty.true_lb as isize);
            met((services.recv)(comm, right, args.recvcount, ty, up, tag, null_mut()))?;
            met(oxmpi_datatype::kernel::reduce(&*args.op, args.recvbuf, right, args.recvcount, ty))?;
            oxmpi_datatype::copy(ty, args.recvcount, right, args.recvbuf);
        }
        if let Some(down) = down {
            met((services.send)(comm, args.recvbuf, args.recvcount, ty, down, tag))?;
            return met((services.recv)(comm, args.recvbuf, args.recvcount, ty, 0, tag - 1, null_mut()));
        }
        for to in 1..comm.num_ranks {
            met((services.send)(comm, args.recvbuf, args.recvcount, ty, to, tag - 1))?;
        }
        Ok(())
    }
}

fn copy(args: &CollArgs) -> CollArgs {
    // SAFETY: plain data.
    unsafe { core::ptr::from_ref(args).read() }
}

macro_rules! entry {
    ($function:ident) => {{
        extern "C" fn entry(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
            // SAFETY: the module that `query` made, and the host's pointers.
            let (module, comm, args) = unsafe { (&*module.cast::<PerCommunicator>(), &*comm, &*args) };
            $function(module, comm, args).map_or_else(|status| status, |()| Status::OK)
        }
        entry
    }};
}

impl Coll for Nested {
    type Module = PerCommunicator;
    fn query(&self, comm: &CollComm) -> Option<(i32, PerCommunicator)> {
        if self.fault == Fault::Early as u32 {
            let mut place = Place::default();
            // SAFETY: the host's table.
            let _ = unsafe { ((*comm.services).place)(comm, 0, &mut place) };
        }
        Some((20, PerCommunicator { fault: self.fault, meeting: UnsafeCell::new(None) }))
    }
    const TABLE: CollTable = CollTable {
        size: size_of::<CollTable>() as u32,
        version: 1,
        barrier: Some(entry!(barrier)),
        bcast: Some(entry!(bcast)),
        allreduce: Some(entry!(allreduce)),
        ..EMPTY
    };
    const NESTS: bool = true;
}

/// No collective at all.
// SAFETY: empty slots are null.
const EMPTY: CollTable = unsafe { core::mem::zeroed() };

impl Component for Nested {
    type Module = CollModule;
    const NAME: &'static str = "nested";
    fn open(_: Host, _: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let fault = FAULT.load(Ordering::Relaxed);
        let module = oxmpi_coll::module(Nested { fault });
        let kept = if fault == Fault::NoFlag as u32 { !flag::NESTS } else { !0 };
        Ok((20, vec![CollModule { flags: module.flags & kept, ..module }]))
    }
}

mod component {
    oxmpi_mca::component! {
        component: super::Nested,
        symbol: oxmpi_component_coll_nested,
        framework: oxmpi_coll::FRAMEWORK,
        framework_version: oxmpi_coll::VERSION,
        name: "nested",
        aliases: [],
        params: &[],
        help: "",
    }
}

/// The right one.
pub fn descriptor() -> *const Descriptor {
    faulty(Fault::None)
}

/// One that is told to be wrong.
pub fn faulty(fault: Fault) -> *const Descriptor {
    macro_rules! opens_with {
        ($($fault:ident),*) => {
            match fault {
                $(Fault::$fault => {
                    extern "C" fn open(args: *const OpenArgs, out: *mut Opened) -> Status {
                        open_with(Fault::$fault, args, out)
                    }
                    open
                })*
            }
        };
    }
    let open: extern "C" fn(*const OpenArgs, *mut Opened) -> Status =
        opens_with!(None, OneNode, NoFlag, Sizes, Early, WakesNobody);
    // SAFETY: plain data, whose pointers are to statics.
    let copy = unsafe { component::descriptor().read() };
    Box::leak(Box::new(Descriptor { open, ..copy }))
}

/// Opens with a fault, one component at a time.
fn open_with(fault: Fault, args: *const OpenArgs, out: *mut Opened) -> Status {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    FAULT.store(fault as u32, Ordering::Relaxed);
    // SAFETY: a static of the component.
    unsafe { ((*component::descriptor()).open)(args, out) }
}
