//! Making a window, by all its ranks: shelf, registrations, card, the exchange among leaders.
//!
//! Every rank takes part in every step, whatever failed before at itself, and all learn at the end whether all have succeeded. The
//! last agreement also says that every state word is clear and every card is there.

use crate::call::Comm;
use crate::component::Rdma;
use crate::epoch::Epochs;
use crate::local::Registered;
use crate::peer::{Peers, is_fit};
use crate::regions::Attached;
use crate::shelf::Shelf;
use crate::window::{RdmaWindow, Rules};
use crate::wire::{Card, HANDLE, Leader, StateLayout, WAYS, Way, module_key};
use oxmpi_btl::{BtlHandle, BtlServices, access, cap};
use oxmpi_mca::sync::unmodelled::AtomicU32;
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_osc::{WinDesc, flavor};
use std::sync::Arc;

/// Tags of the exchange among leaders, one for each round.
const TAG_LEADERS: i32 = 100;

/// The transports that a rank's memory is registered with.
pub struct Ways {
    services: *const BtlServices,
    transports: Vec<&'static BtlHandle>,
}

// SAFETY: the services and handles may be used from any thread, as long as the instance lives.
unsafe impl Send for Ways {}
// SAFETY: as above.
unsafe impl Sync for Ways {}

impl Ways {
    /// Registers memory with each; nothing where there is none.
    pub fn register(
        &self,
        at: *mut u8,
        len: u64,
        access: u32,
    ) -> Result<([Way; WAYS], Vec<Registered>), Status> {
        let (mut ways, mut all) = ([Way::NONE; WAYS], Vec::new());
        if len == 0 {
            return Ok((ways, all));
        }
        for (way, btl) in ways.iter_mut().zip(&self.transports) {
            let registered = Registered::new(self.services, btl, at, len, access)?;
            let bytes = registered.bytes();
            if bytes.len() > HANDLE {
                return Err(Status::NOT_SUPPORTED);
            }
            way.module = module_key(btl);
            way.handle[..bytes.len()].copy_from_slice(bytes);
            all.push(registered);
        }
        Ok((ways, all))
    }
}

const REACHED: u32 = access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;

/// Ranks that speak for others of their kind: one of this node, and one of another.
pub fn spokesmen(comm: &Comm) -> Vec<u32> {
    let (me, size) = (comm.rank(), comm.num_ranks());
    let mut found: [Option<u32>; 2] = [None; 2];
    let single = comm.get().num_nodes == 1;
    for step in 1..size {
        let rank = (me + step) % size;
        let local = comm.place(rank).is_ok_and(|place| place.local != 0);
        found[usize::from(local)].get_or_insert(rank);
        if found.iter().all(Option::is_some) || (single && found[1].is_some()) {
            break;
        }
    }
    found.into_iter().flatten().collect()
}

impl RdmaWindow {
    pub fn create(rdma: &Arc<Rdma>, desc: &WinDesc, thread: *mut ThreadCtx) -> Result<RdmaWindow, Status> {
        // SAFETY: valid until the window is freed.
        let comm = unsafe { Comm::new(desc.comm) };
        let dynamic = desc.flavor == flavor::DYNAMIC;
        // One level only if all ranks say so would be two schemes in one window: two levels need everybody.
        let wants_levels = if rdma.settings.on_demand { Status::NOT_AVAILABLE } else { Status::OK };
        let levels = comm.agree(thread, wants_levels).is_ok();
        let one_by_one = |rank: &u32| (!dynamic && comm.mapped(*rank).is_some()) || has_lists(&comm, *rank);
        let mine = if spokesmen(&comm).iter().all(one_by_one) { Status::OK } else { Status::NOT_AVAILABLE };
        let by_elements = comm.agree(thread, mine).is_ok();
        let layout = StateLayout::new(comm.num_ranks(), if dynamic { rdma.settings.max_attach } else { 0 });
        let shelf = Shelf::make(rdma, &comm, thread, layout)?;
        let rules = Rules::new(desc, &rdma.settings, levels, by_elements);
        let mut window = RdmaWindow {
            rdma: rdma.clone(),
            comm,
            btl: comm.get().btl,
            dynamic,
            ways: Ways { services: comm.get().btl, transports: Vec::new() },
            peers: Peers::new(comm.num_ranks()),
            epochs: Epochs::default(),
            rules,
            attached: Attached::default(),
            registered: Vec::new(),
            shelf,
            waits: AtomicU32::new(0),
        };
        let card = window.own_card(desc);
        let (card, own) = match card {
            Ok(card) => (card, Status::OK),
            Err(status) => (Card::EMPTY, status),
        };
        // SAFETY: this rank's place; others read it behind the agreement below.
        unsafe { window.shelf.card(window.shelf.member).write(card) };
        let met = window.meet_leaders(thread);
        let own = if own.is_err() { own } else { met };
        match comm.agree(thread, own) {
            status if own.is_err() || status.is_err() => Err(if own.is_err() { own } else { status }),
            _ => Ok(window),
        }
    }

    /// Registers what peers reach by transports, and says where it is.
    fn own_card(&mut self, desc: &WinDesc) -> Result<Card, Status> {
        let comm = &self.comm;
        let spokesmen = spokesmen(comm);
        let unmapped = |rank: &u32| self.dynamic || comm.mapped(*rank).is_none();
        let (data, state) = (spokesmen.iter().any(unmapped), comm.num_ranks() > self.shelf.members);
        if data || state {
            self.ways.transports = transports(comm, &spokesmen)?;
        }
        let shelf = &self.shelf;
        let words = shelf.words(shelf.member);
        let mut card = Card {
            base: desc.base as u64,
            bytes: desc.bytes,
            disp_unit: desc.disp_unit,
            state: words as u64,
            ..Card::EMPTY
        };
        if data && !self.dynamic {
            let (ways, registered) = self.ways.register(desc.base, desc.bytes, REACHED)?;
            card.data = ways;
            self.registered.extend(registered);
        }
        // Regions of a dynamic window are read by transports where state is not mapped.
        if state {
            let len = shelf.layout.bytes();
            let (ways, registered) = self.ways.register(words.cast_mut().cast(), len, REACHED)?;
            card.states = ways;
            self.registered.extend(registered);
        }
        Ok(card)
    }

    /// Fills the directory: leaders tell each other where their cards are, in rounds that double what each knows.
    fn meet_leaders(&mut self, thread: *mut ThreadCtx) -> Status {
        let shelf = &self.shelf;
        if shelf.groups == 1 || shelf.member != 0 {
            return Status::OK;
        }
        let leaders = match shelf.leaders(&self.comm) {
            Ok(leaders) => leaders,
            Err(status) => return status,
        };
        let cards: *mut u8 = shelf.card(0).cast();
        let len = u64::from(shelf.members) * Card::BYTES;
        let registered = self.ways.register(cards, len, access::REMOTE_READ);
        let own = registered.as_ref().map_or_else(|status| *status, |_| Status::OK);
        let (ways, registered) = registered.unwrap_or(([Way::NONE; WAYS], Vec::new()));
        let mine = Leader { rank: self.comm.rank(), reserved: 0, cards: cards as u64, ways };
        let n = shelf.groups as usize;
        // Known records, from our own on and around.
        let mut known = vec![Leader::EMPTY; n];
        known[0] = mine;
        let (me, mut have, mut tag) = (shelf.group as usize, 1, TAG_LEADERS);
        let mut told = Status::OK;
        while have < n {
            let more = have.min(n - have);
            let (to, from) = (leaders[(me + n - have) % n], leaders[(me + have) % n]);
            let bytes = more * size_of::<Leader>();
            let (done, rest) = known.split_at_mut(have);
            // SAFETY: records are plain bytes.
            let (out, into) = unsafe {
                (
                    core::slice::from_raw_parts(done.as_ptr().cast::<u8>(), bytes),
                    core::slice::from_raw_parts_mut(rest.as_mut_ptr().cast::<u8>(), bytes),
                )
            };
            let status = self.comm.exchange(thread, (out, to), (into, from), tag);
            if status.is_err() && told.is_ok() {
                told = status;
            }
            have += more;
            tag += 1;
        }
        for (i, record) in known.into_iter().enumerate() {
            // SAFETY: the directory has a place for each group, and the leader alone writes it.
            unsafe { shelf.leader(((me + i) % n) as u32).write(record) };
        }
        self.registered.extend(registered);
        if own.is_err() { own } else { told }
    }
}

/// Whether all transports by which a rank may be reached have lists.
fn has_lists(comm: &Comm, rank: u32) -> bool {
    let reached = comm.reach(rank).unwrap_or(&[]);
    reached.iter().filter(|reach| is_fit(reach.btl())).all(|reach| reach.btl().can(cap::LIST))
}

/// The fit transports that reach the ranks, each once.
fn transports(comm: &Comm, ranks: &[u32]) -> Result<Vec<&'static BtlHandle>, Status> {
    let mut all: Vec<&'static BtlHandle> = Vec::new();
    for rank in ranks {
        for reach in comm.reach(*rank)? {
            let btl = reach.btl();
            let known = all.iter().any(|other| module_key(other) == module_key(btl));
            if is_fit(btl) && !known && all.len() < WAYS {
                all.push(btl);
            }
        }
    }
    if all.is_empty() { Err(Status::UNREACHABLE) } else { Ok(all) }
}
