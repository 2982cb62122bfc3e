//! How one rank sees the net through a communicator: its group, the nodes of the ranks, and what it may call when.

use crate::host::Opened;
use crate::net::Net;
use crate::setup::Nodes;
use oxmpi_coll::{CollComm, CollOffer, flag, part};
use oxmpi_mca::sync::Ordering;
use oxmpi_mca::{Place, Status};
use oxmpi_testing::JobState;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};
use std::sync::{Arc, Mutex};

/// One rank's view of the net. A communicator's `comm` points to it.
pub struct View {
    pub net: Arc<Net>,
    /// Keeps communicators apart.
    pub context: u64,
    pub rank: u32,
    /// Ranks of our group, and of the group that messages name, as the net numbers them.
    pub mine: Vec<u32>,
    pub peers: Vec<u32>,
    /// The node of each rank of our group.
    pub nodes: Vec<u32>,
    pub name: &'static str,
    pub nests: bool,
    pub shared: Arc<JobState>,
    asked: AtomicBool,
    /// The error that goes in place of data.
    lost: AtomicI32,
    /// Collective services called so far: alike in all ranks.
    pub calls: AtomicU64,
    plans: AtomicU64,
    /// Algorithms of the component that serves it, and how often it has told one.
    algorithms: usize,
    told: AtomicU64,
    #[allow(clippy::vec_box, reason = "their addresses are handed out")]
    pub parts: Mutex<Vec<Box<View>>>,
    /// Of a part.
    pub part_component: Option<PartComponent>,
}

/// The component that serves a part of a communicator.
pub struct PartComponent {
    pub offer: CollOffer,
    pub opened: Opened,
}

// SAFETY: modules may be used in any thread.
unsafe impl Send for PartComponent {}
// SAFETY: as above.
unsafe impl Sync for PartComponent {}

impl Drop for PartComponent {
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
        nodes: Nodes,
    ) -> View {
        let nodes = nodes.of(mine.len() as u32);
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
            lost: AtomicI32::new(Status::OK.0),
            calls: AtomicU64::new(0),
            plans: AtomicU64::new(0),
            algorithms: opened.module.algorithms.len,
            told: AtomicU64::new(0),
            parts: Mutex::default(),
            part_component: None,
        }
    }

    /// The error that this rank sends in place of data, in the collective of this communicator that is under way.
    pub fn lost(&self) -> Status {
        Status(self.lost.load(Ordering::Relaxed))
    }
    pub fn set_lost(&self, error: Status) {
        self.lost.store(error.0, Ordering::Relaxed);
    }

    /// Notes the algorithm that a component tells.
    pub fn took(&self, component: &str, algorithm: u32) -> Status {
        let is_own = self.part_component.is_some() || component == self.name;
        if !is_own || algorithm as usize >= self.algorithms {
            self.violation(format!(
                "tells algorithm {algorithm} of {component}, which has {} of them",
                self.algorithms
            ));
            return Status::BAD_PARAM;
        }
        self.told.fetch_add(1, Ordering::Relaxed);
        Status::OK
    }
    /// How often an algorithm was told.
    pub fn told(&self) -> u64 {
        self.told.load(Ordering::Relaxed)
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
    pub fn on_node(&self, node: u32) -> Vec<u32> {
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

    pub fn place(&self, rank: u32) -> Option<Place> {
        let node = *self.nodes.get(rank as usize)?;
        let there = self.on_node(node);
        let node_rank = there.iter().position(|other| *other == rank)? as u32;
        let local = u32::from(node == self.node_of(self.rank));
        let proc = self.mine[rank as usize];
        Some(Place { proc, node, node_rank, node_size: there.len() as u32, endpoint: 0, local })
    }

    /// Whether a rank's memory can be reached.
    pub fn reaches(&self, rank: u32) -> Status {
        match self.place(rank) {
            None => Status::BAD_PARAM,
            Some(place) if place.local == 0 => Status::NOT_SUPPORTED,
            Some(_) => Status::OK,
        }
    }

    /// Notes a nested service of a component that did not say that it uses them.
    pub fn nests(&self, service: &str) {
        self.is_not_asked(service);
        if !self.nests {
            self.violation(format!("{service} is for components with the flag NESTS"));
        }
    }

    pub fn members(&self, part: u32) -> Option<Vec<u32>> {
        let me = self.place(self.rank)?;
        let all = |wanted: &dyn Fn(Place) -> bool| -> Vec<u32> {
            (0..self.size()).filter(|rank| self.place(*rank).is_some_and(wanted)).collect()
        };
        match part {
            part::NODE => Some(self.on_node(me.node)),
            part::LEADERS => Some(all(&|place| place.node_rank == 0)),
            part::ACROSS => Some(all(&|place| place.node_rank == me.node_rank)),
            part::ALL => Some(all(&|_| true)),
            _ => None,
        }
    }
}
