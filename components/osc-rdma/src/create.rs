//! Making a window, by all its ranks: shelf, registrations, card, the exchange among leaders.
//!
//! Every rank takes part in every step, whatever failed before at itself, and all learn at the end whether all have succeeded. The
//! last agreement also says that every state word is clear and every card is there.

use crate::attached::Attached;
use crate::epoch::Epochs;
use crate::params::Settings;
use crate::peer::{Peers, is_fit};
use crate::rdma::Rdma;
use crate::resting::Resting;
use crate::served::Served;
use crate::shelf::Shelf;
use crate::tally::Tally;
use crate::window::{Home, OwnShelf, RdmaWindow, Rules};
use crate::wire::{Card, CardLayout, Leader, StateLayout, word};
use oxmpi_btl::{BtlHandle, Reach, access, cap};
use oxmpi_mca::sync::unmodelled::AtomicU32;
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{Vouched, WinDesc, flavor, hint};
use oxmpi_osc_support::{
    Comm, Registered, Registrar, RemoteRegistration, Services, TRANSPORTS, spokesmen, transports,
};
use std::sync::Arc;

/// Tags of the exchange among leaders, one for each round.
const TAG_LEADERS: i32 = 100;

const REACHED: u32 = access::REMOTE_READ | access::REMOTE_WRITE | access::REMOTE_ATOMIC;

impl RdmaWindow {
    pub fn create(
        rdma: &Arc<Rdma>,
        entry: &mut Entry,
        desc: Vouched<'_, WinDesc>,
    ) -> Result<RdmaWindow, Status> {
        // SAFETY: the host's description of a communicator, which is valid until the window is freed.
        let comm = unsafe { Comm::new(rdma.host, desc.comm) };
        let dynamic = desc.flavor == flavor::DYNAMIC;
        // One level only if all ranks say so would be two schemes in one window: two levels need everybody.
        let wants_levels = if rdma.settings.on_demand { Status::NOT_AVAILABLE } else { Status::OK };
        let levels = comm.agree(entry, wants_levels).is_ok();
        let one_by_one = |rank: &u32| (!dynamic && comm.mapped(*rank).is_some()) || has_lists(&comm, *rank);
        let mine = if spokesmen(&comm).iter().all(one_by_one) { Status::OK } else { Status::NOT_AVAILABLE };
        let by_elements = comm.agree(entry, mine).is_ok();
        let max_regions = if dynamic { rdma.settings.max_attach } else { 0 };
        let layout = StateLayout::new(comm.num_ranks(), max_regions, desc.num_notify);
        let has = |bit| desc.hints & bit != 0;
        let cards = CardLayout {
            bytes: has(hint::SAME_SIZE).then_some(desc.bytes),
            disp_unit: has(hint::SAME_DISP_UNIT).then_some(desc.disp_unit),
        };
        let shelf = Shelf::make(rdma, &comm, entry, cards, layout)?;
        let granularity = granularity(&desc, &rdma.settings);
        let (coarse, under_lock) = (is_coarse(granularity), must_lock(granularity, by_elements));
        let word = shelf.words(shelf.member).get().wrapping_add(word::ACCUMULATE as usize);
        // SAFETY: a word of the shelf, which goes behind it.
        let served = Box::new(unsafe { Served::new(word, under_lock, coarse) });
        let mut home = Home {
            registrar: Registrar { services: services(&comm), transports: Vec::new() },
            attached: Attached::default(),
            registered: Vec::new(),
            served,
            shelf,
            coarse,
            under_lock,
            levels,
        };
        let card = home.own_card(&comm, desc);
        let (card, own) = match card {
            Ok(card) => (card, Status::OK),
            Err(status) => (Card::EMPTY, status),
        };
        home.shelf.write_card(&card);
        let met = meet_leaders(&comm, &home.shelf, &home.registrar, entry, &mut home.registered);
        let own = if own.is_err() { own } else { met };
        agreed(&comm, entry, own)?;
        Ok(RdmaWindow::of(rdma, comm, &desc, Arc::new(home), None))
    }

    /// Another window on the memory of this one, by all its ranks.
    pub fn duplicate(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<RdmaWindow, Status> {
        let rdma = &self.peers.rdma;
        // SAFETY: the host's description of a communicator, which is valid until the new window is freed.
        let comm = unsafe { Comm::new(rdma.host, desc.comm) };
        let layout = StateLayout::new(comm.num_ranks(), 0, desc.num_notify);
        // Bases, sizes and handles of the memory are at home.
        let cards = CardLayout { bytes: Some(0), disp_unit: Some(1) };
        let shelf = Shelf::make(rdma, &comm, entry, cards, layout)?;
        let (own, status) = OwnShelf::make(&self.home, &comm, entry, shelf);
        agreed(&comm, entry, status)?;
        Ok(RdmaWindow::of(rdma, comm, &desc, self.home.clone(), Some(own)))
    }

    fn of(
        rdma: &Arc<Rdma>,
        comm: Comm,
        desc: &WinDesc,
        home: Arc<Home>,
        own: Option<OwnShelf>,
    ) -> RdmaWindow {
        RdmaWindow {
            comm,
            services: services(&comm),
            dynamic: desc.flavor == flavor::DYNAMIC,
            peers: Peers::new(rdma.clone(), comm.num_ranks()),
            epochs: Epochs::default(),
            rules: Rules::new(desc, &home),
            own,
            home,
            waits: AtomicU32::new(0),
            tally: Tally::default(),
            resting: Resting::default(),
        }
    }
}

/// The services around transports of the host whose communicator that is.
fn services(comm: &Comm) -> Services {
    // SAFETY: they live as long as the instance, and so longer than what the component has.
    unsafe { Services::new(comm.get().btl) }
}

/// The least status of all ranks, and this one's own failure first.
fn agreed(comm: &Comm, entry: &mut Entry, own: Status) -> Result<(), Status> {
    match comm.agree(entry, own) {
        _ if own.is_err() => Err(own),
        status if status.is_err() => Err(status),
        _ => Ok(()),
    }
}

/// Bytes that updates are atomic to each other in; 0: elements.
fn granularity(desc: &WinDesc, settings: &Settings) -> u64 {
    if desc.granularity == 0 { settings.granularity } else { desc.granularity }
}

/// Whether that is more than an element.
fn is_coarse(granularity: u64) -> bool {
    granularity > 8
}

/// Whether all accumulates go under locks. `by_elements`: all memory that any rank reaches is mapped there, or reached by lists
/// of atomics.
fn must_lock(granularity: u64, by_elements: bool) -> bool {
    is_coarse(granularity) || (granularity == 0 && !by_elements)
}

impl Home {
    /// Registers what peers reach by transports, and says where it is.
    fn own_card(&mut self, comm: &Comm, desc: Vouched<'_, WinDesc>) -> Result<Card, Status> {
        let dynamic = desc.flavor == flavor::DYNAMIC;
        let spokesmen = spokesmen(comm);
        let unmapped = |rank: &u32| dynamic || comm.mapped(*rank).is_none();
        let (data, state) = (spokesmen.iter().any(unmapped), comm.num_ranks() > self.shelf.members);
        if data || state {
            self.registrar.transports = fit_transports(comm, &spokesmen)?;
        }
        let shelf = &self.shelf;
        let words = shelf.words(shelf.member).get();
        let mut card = Card {
            base: desc.base as u64,
            bytes: desc.bytes,
            disp_unit: desc.disp_unit,
            state: words as u64,
            ..Card::EMPTY
        };
        if data && !dynamic {
            // SAFETY: the window's memory, which stays until the last window on it is freed, and its home with that.
            let (registrations, registered) =
                unsafe { self.registrar.register(desc.base, desc.bytes, REACHED) }?;
            card.data = registrations;
            // SAFETY: as above.
            unsafe { self.served.add(desc.base as u64, desc.bytes) };
            self.listen(&registered)?;
            self.registered.extend(registered);
        }
        // Regions of a dynamic window are read by transports where state is not mapped.
        if state {
            let len = shelf.layout.bytes();
            // SAFETY: words of the home's shelf, which goes behind its registrations.
            let (registrations, registered) = unsafe { self.registrar.register(words.cast(), len, REACHED) }?;
            card.states = registrations;
            // Memory of a dynamic window has registrations that come and go.
            if dynamic {
                self.listen(&registered)?;
            }
            self.registered.extend(registered);
        }
        Ok(card)
    }

    /// Origins may ask at these registrations, which join those of the home.
    fn listen(&self, registered: &[Registered]) -> Result<(), Status> {
        let served: *const Served = &raw const *self.served;
        // SAFETY: it stays where it is, and goes behind the registrations; its memory goes behind them, too, or is taken back before.
        registered.iter().try_for_each(|one| unsafe { one.listen(served) })
    }
}

impl OwnShelf {
    /// Called by all ranks; says what failed here behind the last step.
    pub fn make(home: &Home, comm: &Comm, entry: &mut Entry, shelf: Shelf) -> (OwnShelf, Status) {
        let mut registered = Vec::new();
        let words = shelf.words(shelf.member).get();
        let mut card = Card { state: words as u64, ..Card::EMPTY };
        let registrar = match comm.num_ranks() > shelf.members {
            true => registrar_for_states(&home.registrar, comm),
            false => Ok(home.registrar.clone()),
        };
        let mut own = Status::OK;
        let registrar = registrar.unwrap_or_else(|status| {
            own = status;
            home.registrar.clone()
        });
        if comm.num_ranks() > shelf.members && own.is_ok() {
            // SAFETY: words of this shelf, which goes behind its registrations.
            match unsafe { registrar.register(words.cast(), shelf.layout.bytes(), REACHED) } {
                Ok((states, all)) => {
                    card.states = states;
                    registered.extend(all);
                }
                Err(status) => own = status,
            }
        }
        shelf.write_card(&card);
        let met = meet_leaders(comm, &shelf, &registrar, entry, &mut registered);
        (OwnShelf { registered, shelf }, if own.is_err() { own } else { met })
    }
}

/// The transports by which state is registered: the registrar's, or those that reach others where nothing needed any before.
fn registrar_for_states(registrar: &Registrar, comm: &Comm) -> Result<Registrar, Status> {
    if !registrar.transports.is_empty() {
        return Ok(registrar.clone());
    }
    let transports = fit_transports(comm, &spokesmen(comm))?;
    Ok(Registrar { services: registrar.services, transports })
}

/// The fit transports that reach the ranks, each once.
fn fit_transports(comm: &Comm, ranks: &[u32]) -> Result<Vec<&'static BtlHandle>, Status> {
    let found = transports(comm, ranks, is_fit)?;
    if found.is_empty() { Err(Status::UNREACHABLE) } else { Ok(found) }
}

/// Whether all transports by which a rank may be reached have lists, and nothing is faster. A rank of the node whose memory is read and written without
/// its help has its lock here, too: that is faster, some four times for long accumulates.
fn has_lists(comm: &Comm, rank: u32) -> bool {
    let reached = comm.reach(rank).unwrap_or(&[]);
    let node = comm.get().num_nodes == 1;
    let copies = |btl: &BtlHandle| node && btl.emulated & (cap::GET | cap::PUT) == 0;
    let fit = reached.iter().map(Reach::btl).filter(|btl| is_fit(btl));
    fit.into_iter().all(|btl| btl.can(cap::LIST) && !copies(btl))
}

/// Fills a shelf's directory: leaders tell each other where their cards are, in rounds that double what each knows. Registrations made for
/// that join `keep`.
fn meet_leaders(
    comm: &Comm,
    shelf: &Shelf,
    registrar: &Registrar,
    entry: &mut Entry,
    keep: &mut Vec<Registered>,
) -> Status {
    if shelf.groups == 1 || shelf.member != 0 {
        return Status::OK;
    }
    let leaders = match shelf.leaders(comm) {
        Ok(leaders) => leaders,
        Err(status) => return status,
    };
    let cards = shelf.card(0);
    // SAFETY: cards of the shelf, which whoever keeps the registrations drops behind them.
    let registered = unsafe { registrar.register(cards, shelf.all_cards(), access::REMOTE_READ) };
    let own = registered.as_ref().map_or_else(|status| *status, |_| Status::OK);
    let (registrations, registered) =
        registered.unwrap_or(([RemoteRegistration::NONE; TRANSPORTS], Vec::new()));
    keep.extend(registered);
    let mine = Leader { rank: comm.rank(), reserved: 0, cards: cards as u64, registrations };
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
        let status = comm.exchange(entry, (out, to), (into, from), tag);
        if status.is_err() && told.is_ok() {
            told = status;
        }
        have += more;
        tag += 1;
    }
    for (i, record) in known.into_iter().enumerate() {
        shelf.write_leader(((me + i) % n) as u32, record);
    }
    if own.is_err() { own } else { told }
}
