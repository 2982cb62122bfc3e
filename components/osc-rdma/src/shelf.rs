//! Where a window's state lies: on each node a shelf in node memory, with the directory of all leaders, the cards of the node's ranks, and their
//! state words.
//!
//! **Groups.** The ranks of a node are a group, its lowest rank is the leader; node n is group n. Where some node of the window has no
//! memory to share, each rank is a group of its own, on all nodes: the directory is longer then, and nothing else differs. A group of one
//! rank has its shelf in memory of its process.
//!
//! **Node memory** is named by leader and number; the leader counts its numbers up and tells the others of its node. Each process gives it back when
//! its window goes.

use crate::rdma::Rdma;
use crate::wire::{Card, CardLayout, Leader, StateLayout};
use core::ptr::null_mut;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_mca::{Entry, Host, NodeMemory, Status, StrRef};
use oxmpi_osc_support::{Address, Comm};

/// Tag of the messages by which leaders tell numbers.
const TAG_NUMBER: i32 = 1;
/// No number: the leader has no memory.
const NO_NUMBER: u64 = u64::MAX;

enum ShelfMemory {
    Own(Box<[Line]>),
    /// Of the node.
    Node {
        base: Address<u8>,
        host: Host,
        key: String,
    },
}

/// Words that others update.
#[repr(align(128))]
struct Line(#[allow(dead_code, reason = "memory for others")] [AtomicU64; 16]);

pub struct Shelf {
    memory: ShelfMemory,
    bytes: u64,
    /// Groups are nodes.
    pub by_node: bool,
    pub groups: u32,
    pub group: u32,
    pub members: u32,
    pub member: u32,
    pub cards: CardLayout,
    pub layout: StateLayout,
}

/// How large one is.
fn bytes_of(groups: u32, members: u32, cards: CardLayout, layout: StateLayout) -> u64 {
    let members = u64::from(members);
    let front = u64::from(groups) * size_of::<Leader>() as u64 + members * cards.stride();
    front.next_multiple_of(128) + members * layout.bytes()
}

impl Shelf {
    /// Makes it; collective.
    pub fn make(
        rdma: &Rdma,
        comm: &Comm,
        entry: &mut Entry,
        cards: CardLayout,
        layout: StateLayout,
    ) -> Result<Shelf, Status> {
        let place = comm.place(comm.rank())?;
        let (groups, members) = (comm.get().num_nodes, place.node_size);
        let mut shelf = Shelf {
            memory: ShelfMemory::Own([].into()),
            bytes: bytes_of(groups, members, cards, layout),
            by_node: true,
            groups,
            group: place.node,
            members,
            member: place.node_rank,
            cards,
            layout,
        };
        let shared = match members {
            1 => Ok(shelf.own_memory()),
            _ => shelf.node_memory(rdma, comm, entry),
        };
        let own = shared.as_ref().map_or_else(|status| *status, |_| Status::OK);
        if !comm.agree(entry, own).is_err() {
            shelf.memory = shared?;
            return Ok(shelf);
        }
        shelf.by_node = false;
        (shelf.groups, shelf.group, shelf.members, shelf.member) = (comm.num_ranks(), comm.rank(), 1, 0);
        shelf.bytes = bytes_of(shelf.groups, 1, cards, layout);
        shelf.memory = shelf.own_memory();
        Ok(shelf)
    }

    fn own_memory(&self) -> ShelfMemory {
        let lines = Box::new_zeroed_slice((self.bytes as usize).div_ceil(size_of::<Line>()));
        // SAFETY: zeros are words.
        ShelfMemory::Own(unsafe { lines.assume_init() })
    }

    /// All ranks of the node call it: the leader tells the others a number, whatever comes of it.
    fn node_memory(&self, rdma: &Rdma, comm: &Comm, entry: &mut Entry) -> Result<ShelfMemory, Status> {
        let mates = self.mates(comm)?;
        if self.member == 0 {
            let number = rdma.shelves.fetch_add(1, Ordering::Relaxed);
            let made = self.map(rdma, comm, comm.rank(), number);
            let told = if made.is_ok() { number } else { NO_NUMBER };
            for mate in mates {
                let status = comm.send(entry, &told.to_ne_bytes(), mate, TAG_NUMBER);
                if status.is_err() {
                    return Err(status);
                }
            }
            return made;
        }
        let (leader, mut number) = (mates[0], [0; 8]);
        let status = comm.receive(entry, &mut number, leader, TAG_NUMBER);
        let number = u64::from_ne_bytes(number);
        match () {
            () if status.is_err() => Err(status),
            () if number == NO_NUMBER => Err(Status::NOT_SUPPORTED),
            () => self.map(rdma, comm, leader, number),
        }
    }

    /// For the leader: the others of its node; for them: the leader.
    fn mates(&self, comm: &Comm) -> Result<Vec<u32>, Status> {
        let mut all = Vec::new();
        for rank in 0..comm.num_ranks() {
            let place = comm.place(rank)?;
            let wanted = (self.member == 0) != (place.node_rank == 0);
            if place.node == self.group && wanted {
                all.push(rank);
            }
        }
        if all.is_empty() { Err(Status::INTERNAL) } else { Ok(all) }
    }

    fn map(&self, rdma: &Rdma, comm: &Comm, leader: u32, number: u64) -> Result<ShelfMemory, Status> {
        let host = &rdma.host;
        let (mut name, proc) = (oxmpi_mca::ProcName::default(), comm.place(leader)?.proc);
        let status = (host.services().name_of)(host.table().instance, proc, &mut name);
        if status.is_err() {
            return Err(status);
        }
        let leader = name.bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        let key = format!("{leader}-{number}");
        let mut memory = NodeMemory { base: null_mut(), bytes: 0, first: 0, reserved: 0 };
        let status =
            (host.services().node_memory)(host.table().instance, StrRef::of(&key), self.bytes, &mut memory);
        match () {
            () if status.is_err() => Err(status),
            () => {
                // SAFETY: memory of the node, in which processes and their threads meet by atomics, until `node_memory_free`.
                let base = unsafe { Address::of(memory.base) };
                Ok(ShelfMemory::Node { base, host: *host, key })
            }
        }
    }

    fn base(&self) -> *mut u8 {
        match &self.memory {
            ShelfMemory::Own(lines) => lines.as_ptr().cast_mut().cast(),
            ShelfMemory::Node { base, .. } => base.get(),
        }
    }

    /// Where the record of a group's leader lies.
    fn leader(&self, group: u32) -> *mut Leader {
        self.base().cast::<Leader>().wrapping_add(group as usize)
    }

    /// The record of a group's leader, once the window is made.
    pub fn read_leader(&self, group: u32) -> Leader {
        assert!(group < self.groups, "no such group");
        // SAFETY: the directory has a place for each group; it was filled when the window was made.
        unsafe { self.leader(group).read() }
    }

    /// Fills the directory. For the leader of this group, before the agreement that a window is made.
    pub fn write_leader(&self, group: u32, record: Leader) {
        assert!(group < self.groups, "no such group");
        // SAFETY: the directory has a place for each group; the leader alone writes it, and others of the node read it behind the agreement.
        unsafe { self.leader(group).write(record) };
    }

    /// Where the card of a rank of this group lies.
    pub fn card(&self, member: u32) -> *mut u8 {
        let first = self.leader(0).wrapping_add(self.groups as usize).cast::<u8>();
        first.wrapping_add(member as usize * self.cards.stride() as usize)
    }

    /// Bytes of all cards of this group.
    pub fn all_cards(&self) -> u64 {
        u64::from(self.members) * self.cards.stride()
    }

    /// Writes this rank's card, before the agreement that a window is made.
    pub fn write_card(&self, card: &Card) {
        // SAFETY: this rank's place, which others read behind that.
        unsafe { self.cards.write(card, self.card(self.member)) };
    }

    /// The card of a rank of this group, once the window is made.
    pub fn read_card(&self, member: u32) -> Card {
        assert!(member < self.members, "no such rank in the group");
        // SAFETY: the group has a place for each rank; its rank has written it, and does not any more.
        self.cards
            .read(unsafe { core::slice::from_raw_parts(self.card(member), self.cards.stride() as usize) })
    }

    /// Where the state words of a rank of this group lie.
    pub fn words(&self, member: u32) -> Address<AtomicU64> {
        assert!(member < self.members, "no such rank in the group");
        let front = self.card(self.members).addr() - self.base().addr();
        let at = front.next_multiple_of(128) + member as usize * self.layout.bytes() as usize;
        // SAFETY: atomics, on which all threads work.
        unsafe { Address::of(self.base().wrapping_add(at).cast()) }
    }

    /// Group and number in it.
    pub fn of(&self, comm: &Comm, rank: u32) -> Result<(u32, u32), Status> {
        if !self.by_node {
            return if rank < comm.num_ranks() { Ok((rank, 0)) } else { Err(Status::BAD_PARAM) };
        }
        comm.place(rank).map(|place| (place.node, place.node_rank))
    }

    /// The ranks that lead the groups.
    pub fn leaders(&self, comm: &Comm) -> Result<Vec<u32>, Status> {
        if !self.by_node {
            return Ok((0..comm.num_ranks()).collect());
        }
        let mut all = vec![0; self.groups as usize];
        for rank in 0..comm.num_ranks() {
            let place = comm.place(rank)?;
            if place.node_rank == 0 {
                *all.get_mut(place.node as usize).ok_or(Status::INTERNAL)? = rank;
            }
        }
        Ok(all)
    }
}

impl Drop for ShelfMemory {
    fn drop(&mut self) {
        if let ShelfMemory::Node { host, key, .. } = self {
            // Its failure would be of memory that is gone.
            (host.services().node_memory_free)(host.table().instance, StrRef::of(key));
        }
    }
}
