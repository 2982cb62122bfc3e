//! Ranks, met at the first operation: a card is read, and a transport is chosen where the memory is not mapped.
//!
//! A rank is met through the shelf of the home and that of a duplicate ([`OwnWords`]).

use crate::call::Call;
use crate::peer::{Link, Met, OwnWords, Peer, Peers, is_fit};
use crate::shelf::Shelf;
use crate::wire::Card;
use oxmpi_btl::Reach;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::AtomicU64;
use oxmpi_osc_support::{Address, RemoteRegistration, module_key, registration_by};

impl<'a> Call<'a> {
    /// A rank, met now if it was not.
    #[inline]
    pub fn peer(&mut self, rank: u32) -> Result<Met<'a>, Status> {
        match self.win.peers.get(rank) {
            Some(peer) => Ok(peer),
            None => self.meet(rank),
        }
    }

    fn meet(&mut self, rank: u32) -> Result<Met<'a>, Status> {
        let win = self.win;
        let (comm, home) = (&win.comm, &win.home.shelf);
        let mut peer = Peer::new(rank);
        let (card, words) = self.card(home, rank)?;
        peer.words = words;
        if let Some(own) = &win.own {
            let (card, words) = self.card(&own.shelf, rank)?;
            peer.own = Some(Box::new(OwnWords {
                words,
                remote: card.state,
                registrations: card.states,
                registration: RemoteRegistration::NONE,
            }));
        }
        if let Some(mapped) = comm.mapped(rank) {
            // SAFETY: the peer's window, mapped for the whole process.
            peer.base = unsafe { Address::of(mapped.base) };
        }
        (peer.bytes, peer.disp_unit) = (card.bytes, card.disp_unit);
        (peer.remote, peer.remote_words) = (card.base, card.state);
        let own = rank == comm.rank();
        let wants_data = !own && (win.dynamic || peer.base.is_null()) && (win.dynamic || card.bytes > 0);
        let wants_own = peer.own.as_ref().is_some_and(|own| own.words.is_null());
        if wants_data || peer.words.is_null() || wants_own {
            peer.link = Some(self.link(&mut peer, &card)?);
        }
        win.peers.keep(peer)
    }

    /// A rank's card on a shelf, and its words there as they can be used here; null: they cannot.
    fn card(&mut self, shelf: &Shelf, rank: u32) -> Result<(Card, Address<AtomicU64>), Status> {
        let (group, member) = shelf.of(&self.win.comm, rank)?;
        if group != shelf.group {
            return Ok((self.fetch_card(shelf, group, member)?, Address::NULL));
        }
        Ok((shelf.read_card(member), shelf.words(member)))
    }

    /// The best transport that we and the rank have.
    fn link(&self, peer: &mut Peer, card: &Card) -> Result<Link, Status> {
        let reached = self.win.comm.reach(peer.rank)?;
        let of = |reach: &&Reach| {
            let key = module_key(reach.btl());
            let own = peer
                .own
                .as_ref()
                .is_none_or(|own| !own.words.is_null() || registration_by(&own.registrations, key).is_some());
            // Dynamic windows have handles in their regions alone.
            is_fit(reach.btl())
                && own
                && (registration_by(&card.states, key).is_some() || !peer.words.is_null())
                && (registration_by(&card.data, key).is_some()
                    || self.win.dynamic
                    || !peer.base.is_null()
                    || card.bytes == 0)
        };
        let Some(reach) = reached.iter().find(of) else {
            let tried: Vec<&str> = reached.iter().map(|r| r.btl().name()).collect();
            self.rdma().host.help("no-way", &[&peer.rank.to_string(), &tried.join(", ")]);
            return Err(Status::UNREACHABLE);
        };
        let key = module_key(reach.btl());
        if let Some(registration) = registration_by(&card.data, key) {
            peer.data = *registration;
        }
        if let Some(registration) = registration_by(&card.states, key) {
            peer.state = *registration;
        }
        if let Some(own) = peer.own.as_deref_mut()
            && let Some(registration) = registration_by(&own.registrations, key)
        {
            own.registration = *registration;
        }
        let link = Link::new(*reach, self.rdma().host.num_cris());
        Ok(if self.win.comm.place(peer.rank)?.local != 0 { link.of_node() } else { link })
    }

    /// Reads a card of another group out of its leader's memory.
    fn fetch_card(&mut self, shelf: &Shelf, group: u32, member: u32) -> Result<Card, Status> {
        let leader = shelf.read_leader(group);
        let reached = self.win.comm.reach(leader.rank)?;
        let registration = reached.iter().filter(|r| is_fit(r.btl())).find_map(|reach| {
            registration_by(&leader.registrations, module_key(reach.btl()))
                .map(|registration| (reach, registration))
        });
        let (reach, registration) = registration.ok_or(Status::UNREACHABLE)?;
        // A table with a rank that is known for this one read.
        let known = Peers::of_one(self.win.peers.rdma.clone());
        let mut peer = Peer::new(leader.rank);
        peer.link = Some(Link::new(*reach, self.rdma().host.num_cris()));
        let route = known.keep(peer)?.route().ok_or(Status::INTERNAL)?;
        let stride = shelf.cards.stride();
        let at = leader.cards + u64::from(member) * stride;
        let read = self.fetch(route, at, registration, stride as usize)?;
        Ok(shelf.cards.read(read.bytes()))
    }
}
