//! The services that a component's communicator has, in one table; and parts of a communicator, which have the same. Those for
//! plans answer NOT_SUPPORTED here, as the contract says.
//!
//! A part's collectives are those of the component that the setup names, opened beside the one under test.

use crate::host::Opened;
use crate::setup::Nodes;
use crate::view::{PartComponent, View};
use crate::{messages, nodes};
use core::ffi::c_void;
use core::ptr::{from_ref, null};
use core::sync::atomic::Ordering;
use oxmpi_coll::{CollArgs, CollComm, CollFn, CollOffer, CollServices, CollTable, ExtendFn, StepFn};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{Status, StrRef};
use oxmpi_testing::held;
use oxmpi_testing::setup::text;

/// See the head of this file.
pub const SERVICES: CollServices = CollServices {
    size: size_of::<CollServices>() as u32,
    reserved: 0,
    send: messages::send,
    recv: messages::recv,
    isend: messages::isend,
    irecv: messages::irecv,
    wait_all: messages::wait_all,
    memory: in_plans::memory,
    pack: in_plans::pack,
    unpack: in_plans::unpack,
    copy: in_plans::copy,
    reduce: in_plans::reduce,
    step: in_plans::step,
    place: nodes::place,
    node_memory: nodes::node_memory,
    peer_read: nodes::peer_read,
    peer_write: nodes::peer_write,
    peer_pointer: nodes::peer_pointer,
    wait_word: nodes::wait_word,
    wake_word: nodes::wake_word,
    sub_comm,
    sub_view,
    call,
    send_failure: messages::send_failure,
    extend: in_plans::extend,
    call_lost,
    took,
};

mod in_plans {
    use super::*;

    macro_rules! in_plans {
        ($($name:ident($($t:ty),*);)*) => {
            $(pub extern "C" fn $name(_: *const CollComm $(, _: $t)*) -> Status {
                Status::NOT_SUPPORTED
            })*
        };
    }
    in_plans! {
        memory(u64, *mut *mut u8);
        pack(*const TypeDesc, u64, *const u8, u64, *mut u8, u64);
        unpack(*const TypeDesc, u64, *mut u8, u64, *const u8, u64);
        copy(*const TypeDesc, u64, *const u8, *mut u8);
        reduce(*const TypeDesc, u64, *const u8, *mut u8);
        step(StepFn, *mut c_void);
        extend(ExtendFn, *mut c_void);
    }
}

extern "C" fn sub_comm(comm: *const CollComm, part: u32, except: StrRef, out: *mut *mut c_void) -> Status {
    let view = View::of(comm);
    view.nests("sub_comm");
    let call = view.calls.fetch_add(1, Ordering::Relaxed);
    if text(except) != view.name {
        view.violation(format!(
            "a part is selected without \"{}\", which is not this component",
            text(except)
        ));
    }
    let Some(members) = view.members(part) else { return Status::BAD_PARAM };
    let Some(rank) = members.iter().position(|member| *member == view.rank) else { return Status::NOT_FOUND };
    let part = Box::new(view.part(comm, 100 + call, &members, rank as u32));
    let address = from_ref(&*part).cast_mut().cast();
    held(&view.parts).push(part);
    // SAFETY: the component's out pointer.
    unsafe { out.write(address) };
    Status::OK
}

/// The node of each member, numbered anew by the lowest rank on each.
fn renumbered(nodes: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut known = vec![];
    let mut number = |node| {
        known.iter().position(|other| *other == node).unwrap_or_else(|| {
            known.push(node);
            known.len() - 1
        }) as u32
    };
    nodes.map(&mut number).collect()
}

impl View {
    /// A part of this communicator, served by the component that the setup names.
    fn part(&self, comm: *const CollComm, number: u64, members: &[u32], rank: u32) -> View {
        let Some(parts) = self.net.parts else {
            panic!("the component asks for a part of its communicator: name what serves it by Setup::parts")
        };
        let opened = Opened::new(parts, &[], self.me(), &self.net);
        let mine: Vec<u32> = members.iter().map(|member| self.mine[*member as usize]).collect();
        let context = self.context * 1000 + number;
        let mut view =
            View::new(&self.net, &opened, self.name, context, rank, mine.clone(), mine, Nodes::InTurn(1));
        view.nodes = renumbered(members.iter().map(|member| self.node_of(*member)));
        let (mut offer, seen) = (CollOffer::NONE, view.seen(comm));
        let status = (opened.module.comm_query)(opened.module.state, &seen, &mut offer);
        assert_eq!(status, Status::OK, "the component of parts takes every communicator");
        view.part_component = Some(PartComponent { offer, opened });
        view
    }

    /// This communicator for the calling thread of another.
    fn seen(&self, comm: *const CollComm) -> CollComm {
        // SAFETY: valid during the call.
        let outer = unsafe { &*comm };
        CollComm {
            size: size_of::<CollComm>() as u32,
            num_ranks: self.size(),
            rank: self.rank,
            oversubscribed: outer.oversubscribed,
            comm: from_ref(self).cast_mut().cast(),
            thread: outer.thread,
            services: &SERVICES,
            num_remote: 0,
            planning: 0,
            local: null(),
            num_nodes: self.num_nodes(),
            node: self.node_of(self.rank),
        }
    }
}

extern "C" fn sub_view(comm: *const CollComm, sub: *mut c_void, view: *mut CollComm) -> Status {
    // SAFETY: from `sub_comm`, as long as the communicator lives; the component's out pointer.
    unsafe { view.write((*sub.cast::<View>()).seen(comm)) };
    Status::OK
}

extern "C" fn call(comm: *const CollComm, which: u32, args: *const CollArgs) -> Status {
    let Some(below) = &View::of(comm).part_component else { return Status::BAD_PARAM };
    // SAFETY: tables live as long as the module.
    let table = unsafe { &*below.offer.table };
    let Some(function) = slot(table, which) else { return Status::NOT_SUPPORTED };
    function(below.offer.module, comm, args)
}

extern "C" fn call_lost(comm: *const CollComm, which: u32, args: *const CollArgs, error: Status) -> Status {
    let view = View::of(comm);
    if !error.is_err() {
        view.violation(format!("takes part without data because of {error}, which is no error"));
    }
    view.set_lost(error);
    let status = call(comm, which, args);
    view.set_lost(Status::OK);
    status
}

/// A component's word on its algorithm, which has to be one of its list.
pub extern "C" fn took(comm: *const CollComm, component: StrRef, algorithm: u32) -> Status {
    View::of(comm).took(text(component), algorithm)
}

/// A collective by its number.
fn slot(table: &CollTable, which: u32) -> Option<CollFn> {
    let all = [
        table.barrier,
        table.bcast,
        table.reduce,
        table.allreduce,
        table.allgather,
        table.gather,
        table.scatter,
        table.alltoall,
        table.gatherv,
        table.scatterv,
        table.allgatherv,
        table.alltoallv,
        table.alltoallw,
        table.scan,
        table.exscan,
        table.reduce_scatter,
        table.reduce_scatter_block,
    ];
    all.get(which as usize).copied().flatten()
}
