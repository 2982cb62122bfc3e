//! How one rank sees the net through a communicator, and the services that know nodes: places, memory of the node, peers' memory,
//! waiting on a word, parts of the communicator.
//!
//! Nodes are made up: ranks are dealt to them in turn. Memory of another node cannot be reached, as between machines. A part's
//! collectives are those of coll-basic, opened beside the component under test.

use crate::host::Opened;
use crate::net::Net;
use crate::services::SERVICES;
use core::ffi::c_void;
use core::ptr::{from_ref, null};
use oxmpi_coll::{CollArgs, CollComm, CollFn, CollOffer, CollTable, flag, part};
use oxmpi_mca::sync::{AtomicU32, Ordering};
use oxmpi_mca::{Place, Status, StrRef};
use oxmpi_testing::{Shared, held, text};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Instant;

const PAGE: u64 = 4096;

/// See the file's head. A communicator's `comm` points to it.
pub struct View {
    pub net: Arc<Net>,
    /// Keeps communicators apart.
    pub context: u64,
    pub rank: u32,
    /// Ranks of our group, and of the group that messages name, as the net numbers them.
    mine: Vec<u32>,
    pub peers: Vec<u32>,
    /// The node of each rank of our group.
    nodes: Vec<u32>,
    name: &'static str,
    nests: bool,
    shared: Arc<Shared>,
    asked: AtomicBool,
    /// Collective services called so far: alike in all ranks.
    calls: AtomicU64,
    plans: AtomicU64,
    #[allow(clippy::vec_box, reason = "their addresses are handed out")]
    parts: Mutex<Vec<Box<View>>>,
    /// Of a part.
    below: Option<Below>,
}

/// The component that serves a part of a communicator.
struct Below {
    offer: CollOffer,
    opened: Opened,
}

// SAFETY: modules may be used in any thread.
unsafe impl Send for Below {}
// SAFETY: as above.
unsafe impl Sync for Below {}

impl Drop for Below {
    fn drop(&mut self) {
        (self.opened.module.comm_free)(self.opened.module.state, self.offer.module);
    }
}

impl View {
    #[allow(clippy::too_many_arguments, reason = "facts of a communicator, given once")]
    pub fn new(
        net: &Arc<Net>,
        opened: &Opened,
        name: &'static str,
        context: u64,
        rank: u32,
        mine: Vec<u32>,
        peers: Vec<u32>,
        nodes: u32,
    ) -> View {
        let nodes = (0..mine.len() as u32).map(|rank| rank % nodes).collect();
        View {
            net: net.clone(),
            context,
            rank,
            mine,
            peers,
            nodes,
            name,
            nests: opened.has(flag::NESTS),
            shared: net.shared.clone(),
            asked: AtomicBool::new(false),
            calls: AtomicU64::new(0),
            plans: AtomicU64::new(0),
            parts: Mutex::default(),
            below: None,
        }
    }

    /// The view behind a communicator that a component passes on.
    pub fn of(comm: *const CollComm) -> &'static View {
        // SAFETY: the component passes on what it was given, during a call in which the view lives.
        unsafe { &*(*comm).comm.cast::<View>() }
    }

    pub fn size(&self) -> u32 {
        self.mine.len() as u32
    }
    /// As the net numbers ranks.
    pub fn me(&self) -> u32 {
        self.mine[self.rank as usize]
    }
    pub fn node_of(&self, rank: u32) -> u32 {
        self.nodes[rank as usize]
    }
    pub fn num_nodes(&self) -> u32 {
        self.nodes.iter().max().map_or(0, |last| last + 1)
    }
    fn on_node(&self, node: u32) -> Vec<u32> {
        (0..self.size()).filter(|rank| self.node_of(*rank) == node).collect()
    }

    pub fn violation(&self, what: String) {
        self.net.violation(format!("rank {}: {what}", self.rank));
    }

    /// Runs what asks a component, during which services are not called.
    pub fn ask(&self, asks: impl FnOnce()) {
        self.asked.store(true, Ordering::Relaxed);
        asks();
        self.asked.store(false, Ordering::Relaxed);
    }
    pub fn is_not_asked(&self, service: &str) {
        if self.asked.load(Ordering::Relaxed) {
            self.violation(format!("{service} while the component is asked"));
        }
    }

    /// A number for a plan, alike in all ranks.
    pub fn next_plan(&self) -> u64 {
        self.plans.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn place(&self, rank: u32) -> Option<Place> {
        let node = *self.nodes.get(rank as usize)?;
        let there = self.on_node(node);
        let node_rank = there.iter().position(|other| *other == rank)? as u32;
        let local = u32::from(node == self.node_of(self.rank));
        let proc = self.mine[rank as usize];
        Some(Place { proc, node, node_rank, node_size: there.len() as u32, endpoint: 0, local })
    }

    /// Whether a rank's memory can be reached.
    fn reaches(&self, rank: u32) -> Status {
        match self.place(rank) {
            None => Status::BAD_PARAM,
            Some(place) if place.local == 0 => Status::NOT_SUPPORTED,
            Some(_) => Status::OK,
        }
    }

    /// Notes a nested service of a component that did not say that it uses them.
    fn nests(&self, service: &str) {
        self.is_not_asked(service);
        if !self.nests {
            self.violation(format!("{service} is for components with the flag NESTS"));
        }
    }

    fn members(&self, part: u32) -> Option<Vec<u32>> {
        let me = self.place(self.rank)?;
        let all = |wanted: &dyn Fn(Place) -> bool| -> Vec<u32> {
            (0..self.size()).filter(|rank| self.place(*rank).is_some_and(wanted)).collect()
        };
        match part {
            part::NODE => Some(self.on_node(me.node)),
            part::LEADERS => Some(all(&|place| place.node_rank == 0)),
            part::ACROSS => Some(all(&|place| place.node_rank == me.node_rank)),
            _ => None,
        }
    }
}

pub extern "C" fn place(comm: *const CollComm, rank: u32, out: *mut Place) -> Status {
    let view = View::of(comm);
    view.is_not_asked("place");
    let Some(place) = view.place(rank) else { return Status::BAD_PARAM };
    // SAFETY: the component's out pointer.
    unsafe { out.write(place) };
    Status::OK
}

pub extern "C" fn node_memory(comm: *const CollComm, bytes: u64, out: *mut *mut u8) -> Status {
    let view = View::of(comm);
    view.nests("node_memory");
    let call = view.calls.fetch_add(1, Ordering::Relaxed);
    let key = format!("{} {} {call}", view.context, view.node_of(view.rank));
    match view.shared.node_memory(&key, bytes + PAGE) {
        Ok(memory) => {
            let base = memory.base;
            // SAFETY: the component's out pointer; there is a page more than was asked for.
            unsafe { out.write(base.add(base.align_offset(PAGE as usize))) };
            Status::OK
        }
        Err(status) => {
            view.violation("the ranks of a node ask for different sizes of memory".into());
            status
        }
    }
}

pub extern "C" fn peer_read(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    local: *mut u8,
    bytes: u64,
) -> Status {
    let reaches = View::of(comm).reaches(rank);
    if reaches.is_ok() {
        // SAFETY: the component names memory of a rank of this process.
        unsafe { core::ptr::copy(remote as *const u8, local, bytes as usize) };
    }
    reaches
}

pub extern "C" fn peer_write(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    local: *const u8,
    bytes: u64,
) -> Status {
    let reaches = View::of(comm).reaches(rank);
    if reaches.is_ok() {
        // SAFETY: as above.
        unsafe { core::ptr::copy(local, remote as *mut u8, bytes as usize) };
    }
    reaches
}

pub extern "C" fn peer_pointer(
    comm: *const CollComm,
    rank: u32,
    remote: u64,
    _: u64,
    out: *mut *mut u8,
) -> Status {
    let reaches = View::of(comm).reaches(rank);
    if reaches.is_ok() {
        // SAFETY: the component's out pointer.
        unsafe { out.write(remote as *mut u8) };
    }
    reaches
}

pub extern "C" fn wait_word(comm: *const CollComm, word: *const AtomicU32, value: u32) -> Status {
    let view = View::of(comm);
    view.is_not_asked("wait_word");
    // SAFETY: the component's word.
    wait_for_word(&view.net, unsafe { &*word }, value)
}

/// Until the word is another one, or the net is dead.
pub fn wait_for_word(net: &Net, word: &AtomicU32, value: u32) -> Status {
    let begun = Instant::now();
    while word.load(Ordering::Acquire) == value {
        if net.is_dead() {
            return Status::PEER_FAILED;
        }
        if begun.elapsed() > net.patience() {
            net.stop(format!("a word is {value} for ever"));
        }
        std::thread::yield_now();
    }
    Status::OK
}

pub extern "C" fn sub_comm(
    comm: *const CollComm,
    part: u32,
    except: StrRef,
    out: *mut *mut c_void,
) -> Status {
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
    /// A part of this communicator, served by coll-basic.
    fn part(&self, comm: *const CollComm, number: u64, members: &[u32], rank: u32) -> View {
        // SAFETY: a static of the component.
        let descriptor = unsafe { &*coll_basic::descriptor() };
        let opened = Opened::new(descriptor, &[], self.me(), &self.net);
        let mine: Vec<u32> = members.iter().map(|member| self.mine[*member as usize]).collect();
        let context = self.context * 1000 + number;
        let mut view = View::new(&self.net, &opened, self.name, context, rank, mine.clone(), mine, 1);
        view.nodes = renumbered(members.iter().map(|member| self.node_of(*member)));
        let (mut offer, seen) = (CollOffer::NONE, view.seen(comm));
        let status = (opened.module.comm_query)(opened.module.state, &seen, &mut offer);
        assert_eq!(status, Status::OK, "coll-basic takes every communicator");
        view.below = Some(Below { offer, opened });
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

pub extern "C" fn sub_view(comm: *const CollComm, sub: *mut c_void, view: *mut CollComm) -> Status {
    // SAFETY: from `sub_comm`, as long as the communicator lives; the component's out pointer.
    unsafe { view.write((*sub.cast::<View>()).seen(comm)) };
    Status::OK
}

pub extern "C" fn call(comm: *const CollComm, which: u32, args: *const CollArgs) -> Status {
    let Some(below) = &View::of(comm).below else { return Status::BAD_PARAM };
    // SAFETY: tables live as long as the module.
    let table = unsafe { &*below.offer.table };
    let Some(function) = slot(table, which) else { return Status::NOT_SUPPORTED };
    function(below.offer.module, comm, args)
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
