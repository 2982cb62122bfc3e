//! A collective component's services for nodes: places of ranks, memory of a node and of peers, parts of the
//! communicator with collectives of their own, waiting on a word.
//!
//! **Parts** (ranks of a node, leaders, ranks across nodes, all) follow from the job's map of nodes, so making one sends nothing. Each is a
//! communicator with a selection of its own, kept by the stack of the one it is a part of and closed with it. The component that asks
//! names itself, so that it is not asked to build on itself. The parts that the host makes for `node_memory` leave out all components
//! that nest (`flag::NESTS`), since their collectives would ask for node memory again.

use super::Slot;
use crate::gid::{self, Origin};
use crate::group::Group;
use crate::objects::Communicator;
use crate::plan::{ExcludedComponents, Plan};
use crate::services::memory::Direction;
use crate::shared_memory::Wish;
use oxmpi_coll::{CollArgs, CollComm, part};
use oxmpi_loading::error::Error;
use oxmpi_mca::{Entry, Place, Status, StrRef, WakingWord};
use oxmpi_waiting::Awaited;
use oxmpi_waiting::futex::wake_shared;
use std::ffi::c_void;
use std::sync::Arc;

impl Communicator {
    /// Makes a part of this communicator (`oxmpi_coll::part`), with collectives of its own; called by all ranks in the
    /// same order. `None`: this rank is not in the part.
    fn part(&self, which: u32, excluded: ExcludedComponents) -> Result<Option<Arc<Communicator>>, Status> {
        let nth = self.next_child();
        let places = self.places();
        let own = *places.get(self.rank()).ok_or(Status::INTERNAL)?;
        let color = |place: &Place| match which {
            part::NODE => Some(place.node),
            part::LEADERS => (place.node_rank == 0).then_some(0),
            part::ACROSS => Some(place.node_rank),
            part::ALL => Some(0),
            _ => None,
        };
        if which > part::ALL {
            return Err(Status::BAD_PARAM);
        }
        let Some(mine) = color(&own) else { return Ok(None) };
        let members = self.group().members().iter().zip(0..);
        let members = members.filter(|(_, rank)| places.get(*rank).and_then(color) == Some(mine));
        let group = self.group().made(members.map(|(member, _)| *member).collect());
        let gid = gid::child(self.gid(), nth, Origin::Part, u64::from(which) << 32 | u64::from(mine));
        let plan = Plan { excluded, hint: self.hint(), ..Plan::new(gid, group) };
        let made = Communicator::make(self.shared_instance(), plan);
        made.map(Some).map_err(|why| self.say(&why, "a part of a communicator"))
    }

    /// Why a wait on this communicator for something that its ranks do by themselves, such as changing a word, is over without that:
    /// PEER_FAILED, a process of its groups is lost. The place for REVOKED once the host has a function that revokes.
    pub(crate) fn end_of_waits(&self) -> Option<Status> {
        let is_in = |group: &Group, proc| group.members().iter().any(|member| member.proc == proc);
        let lost = self.instance().has_lost(|proc| {
            is_in(self.group(), proc) || self.remote.as_ref().is_some_and(|remote| is_in(&remote.group, proc))
        });
        lost.then_some(Status::PEER_FAILED)
    }

    /// Writes an error to the log and answers OUT_OF_MEMORY.
    fn say(&self, why: &Error, what: &str) -> Status {
        self.instance().logger().error("coll", &format!("{what}: {}", why.message));
        Status::OUT_OF_MEMORY
    }

    /// Makes memory of `bytes` bytes that all ranks of this node share, kept until the communicator is closed, and
    /// returns its address. Called by all ranks of the communicator.
    fn node_memory(&self, entry: &mut Entry, bytes: u64) -> Result<*mut u8, Status> {
        let node = self.part(part::NODE, ExcludedComponents::Nesting)?.ok_or(Status::INTERNAL)?;
        // All of it is the leader's part.
        let wanted = if node.rank() == 0 { bytes } else { 0 };
        let wish = Wish { bytes: wanted, disp_unit: 1, apart: false };
        let memory =
            node.share_memory(entry, wish).map_err(|why| self.say(&why, "memory of the node's ranks"))?;
        let at = memory.parts().first().map_or(std::ptr::null_mut(), |first| memory.at(first));
        self.coll.parts.memory.lock().push((node, memory));
        Ok(at)
    }
}

/// The communicator of a component's call outside of a plan.
macro_rules! of {
    ($comm:expr) => {
        // SAFETY: the component passes on what `run` or `sub_view` gave it.
        unsafe { &*((*$comm).comm as *const Communicator) }
    };
}

/// The way in of a component's call on a communicator.
macro_rules! entry {
    ($comm:expr, $c:expr) => {
        // SAFETY: the thread of the collective, whose entry `run` has borrowed; made once for each call.
        &mut unsafe { $c.instance().entry((*$comm).thread) }
    };
}

/// Stores a value in the component's out pointer and answers OK, or passes the error on.
macro_rules! hand_out {
    ($value:expr, $out:expr) => {
        match $value {
            Ok(value) => {
                // SAFETY: the component's out pointer.
                unsafe { $out.write(value) };
                Status::OK
            }
            Err(status) => status,
        }
    };
}

/// The services that plans have, too, on the communicator that is meant.
pub(crate) mod anywhere {
    use super::*;

    /// The place of a rank; BAD_PARAM: no such rank.
    pub fn place(c: &Communicator, rank: u32) -> Result<Place, Status> {
        c.places().get(rank).copied().ok_or(Status::BAD_PARAM)
    }

    /// The process that has this rank; BAD_PARAM: no such rank.
    fn proc(c: &Communicator, rank: u32) -> Result<u32, Status> {
        c.group().members().get(rank as usize).map(|member| member.proc).ok_or(Status::BAD_PARAM)
    }

    /// Copies `bytes` bytes between memory of this process and address `remote` of a rank on this node.
    ///
    /// # Safety
    /// As for [`Instance::peer_copy`](crate::objects::Instance::peer_copy).
    pub unsafe fn copy(
        c: &Communicator,
        direction: Direction,
        rank: u32,
        remote: u64,
        local: *mut u8,
        bytes: u64,
    ) -> Status {
        match proc(c, rank) {
            // SAFETY: the caller's promise.
            Ok(proc) => unsafe { c.instance().peer_copy(direction, proc, remote, local, bytes) },
            Err(status) => status,
        }
    }

    /// The address of memory `remote` of a rank that lives in this very process; refused for others.
    pub fn pointer(c: &Communicator, rank: u32, remote: u64, bytes: u64) -> Result<*mut u8, Status> {
        proc(c, rank).and_then(|proc| c.instance().peer_pointer(proc, remote, bytes))
    }
}

/// Component service: stores the place of a rank in `out`.
pub(super) extern "C" fn place(comm: *const CollComm, rank: u32, out: *mut Place) -> Status {
    hand_out!(anywhere::place(of!(comm), rank), out)
}

/// Component service: stores in `out` the address of new memory that the ranks of this node share; called by all ranks
/// of the communicator.
pub(super) extern "C" fn node_memory(comm: *const CollComm, bytes: u64, out: *mut *mut u8) -> Status {
    let c: &Communicator = of!(comm);
    let made = c.node_memory(entry!(comm, c), bytes);
    hand_out!(made, out)
}

/// Component service: copies `bytes` bytes from address `remote` of a rank to `local`.
pub(super) extern "C" fn peer_read(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    local: *mut u8,
    bytes: u64,
) -> Status {
    let c: &Communicator = of!(comm);
    // SAFETY: the component's own memory, which it may write.
    unsafe { anywhere::copy(c, Direction::Read, rank, remote, local, bytes) }
}

/// Component service: copies `bytes` bytes from `local` to address `remote` of a rank.
pub(super) extern "C" fn peer_write(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    local: *const u8,
    bytes: u64,
) -> Status {
    let c: &Communicator = of!(comm);
    // SAFETY: the component's own memory, which is only read.
    unsafe { anywhere::copy(c, Direction::Write, rank, remote, local.cast_mut(), bytes) }
}

/// Component service: stores in `out` the address of memory `remote` of a rank that lives in this very process.
pub(super) extern "C" fn peer_pointer(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    bytes: u64,
    out: *mut *mut u8,
) -> Status {
    hand_out!(anywhere::pointer(of!(comm), rank, remote, bytes), out)
}

/// Component service: makes progress, or sleeps, until the word is no longer `value` or what it is waited for on has come to an
/// end.
pub(super) extern "C" fn wait_word(comm: *const CollComm, word: *const WakingWord, value: u32) -> Status {
    let c: &Communicator = of!(comm);
    // SAFETY: the component keeps the word until the call returns.
    let awaited = unsafe { Awaited::new(word, value) };
    let mut end = None;
    c.instance().wait_word(entry!(comm, c), awaited, || {
        end = c.end_of_waits();
        end.is_some()
    });
    if awaited.has_changed() { Status::OK } else { end.unwrap_or(Status::OK) }
}

/// Component service: wakes those who sleep on a word, in whatever process.
pub(super) extern "C" fn wake_word(_: *const CollComm, word: *const WakingWord) -> Status {
    wake_shared(word.addr());
    Status::OK
}

/// Component service: makes a part of the communicator and stores a handle of it in `out`; the component named `except`
/// is not asked to serve it. NOT_FOUND: this rank is not in the part.
pub(super) extern "C" fn sub_comm(
    comm: *const CollComm,
    which: u32,
    except: StrRef,
    out: *mut *mut c_void,
) -> Status {
    let c: &Communicator = of!(comm);
    // SAFETY: the component's text is readable during the call.
    let Some(except) = (unsafe { except.get() }) else { return Status::BAD_PARAM };
    let made = c.part(which, ExcludedComponents::Named(except.to_owned()));
    let kept = made.and_then(|part| part.ok_or(Status::NOT_FOUND)).map(|part| {
        let boxed = Box::new(part);
        let address = std::ptr::from_ref(&*boxed).cast_mut().cast::<c_void>();
        c.coll.parts.made.lock().push(boxed);
        address
    });
    hand_out!(kept, out)
}

/// Component service: fills `view` with the description of a part made by `sub_comm`, for calls of the present thread.
pub(super) extern "C" fn sub_view(comm: *const CollComm, sub: *mut c_void, view: *mut CollComm) -> Status {
    // SAFETY: `sub` is what `sub_comm` gave, which lives as long as the communicator; the view is the component's.
    unsafe {
        let part = &*(sub as *const Arc<Communicator>);
        view.write(part.coll.seen(part, &part.instance().entry((*comm).thread)));
        (*view).services = (*comm).services;
    }
    Status::OK
}

/// Component service: runs collective number `which` (`oxmpi_coll::which`) on the communicator of `view`.
pub(super) extern "C" fn call(view: *const CollComm, which: u32, args: *const CollArgs) -> Status {
    let Some(slot) = Slot::by_number(which) else { return Status::BAD_PARAM };
    let c: &Communicator = of!(view);
    let entry = entry!(view, c);
    // SAFETY: the arguments are valid during the call, with all that they point to.
    unsafe { c.coll.run(slot, c, entry, &*args) }
}

/// Component service: the same for a rank whose data did not come, so that what it sends ends the receives of others with `error`.
pub(super) extern "C" fn call_lost(
    view: *const CollComm,
    which: u32,
    args: *const CollArgs,
    error: Status,
) -> Status {
    let Some(slot) = Slot::by_number(which).filter(|_| error.is_err()) else { return Status::BAD_PARAM };
    let c: &Communicator = of!(view);
    let entry = entry!(view, c);
    let before = c.coll.replace_lost(error);
    // SAFETY: the arguments are valid during the call, with all that they point to.
    let status = unsafe { c.coll.run(slot, c, entry, &*args) };
    c.coll.replace_lost(before);
    status
}
