//! A rail: one interface (or one link of it), and the processes that it has met.

use crate::card::{BadCard, Card, peer_addresses};
use crate::courier::Courier;
use crate::door::Doors;
use crate::lobby::Lobby;
use crate::params::Settings;
use crate::peer::{Core, Peers, Route};
use crate::placed::Placers;
use crate::watch::Watch;
use core::sync::atomic::Ordering;
use oxmpi_mca::{Host, ProcName, Status};
use std::sync::{Arc, Mutex};

/// A rail with all that is known of its peers: what the contexts of a module share.
pub struct Tcp {
    pub(crate) host: Host,
    pub(crate) settings: Arc<Settings>,
    /// Our number among the rails of the card.
    pub(crate) rail: u16,
    pub(crate) name: ProcName,
    pub(crate) card: Arc<Card>,
    pub(crate) doors: Arc<Doors>,
    pub(crate) device: String,
    /// Mb/s.
    pub(crate) speed: u32,
    pub(crate) lobby: Lobby,
    pub(crate) courier: Courier,
    pub(crate) placers: Placers,
    /// A leaf, off a message's path.
    pub(crate) peers: Arc<Mutex<Peers>>,
    pub(crate) watch: Watch,
}

impl Tcp {
    pub(crate) fn index_of(&self, name: &ProcName) -> Option<u32> {
        let mut index = 0;
        let find = self.host.services().index_of;
        find(self.host.table().instance, name, &mut index).is_ok().then_some(index)
    }

    pub(crate) fn name_of(host: &Host, proc: u32) -> Option<ProcName> {
        let mut name = ProcName::default();
        let find = host.services().name_of;
        find(host.table().instance, proc, &mut name).is_ok().then_some(name)
    }

    /// A process; made if it is new.
    pub(crate) fn core_of(&self, proc: u32, name: ProcName) -> Arc<Core> {
        let mut peers = self.peers.lock().unwrap_or_else(|poison| poison.into_inner());
        let make = |number| Core::new(number, proc, name, self.name.bytes < name.bytes);
        peers.core_of((proc, name), self.is_of_own_job(proc), make)
    }

    fn is_of_own_job(&self, proc: u32) -> bool {
        proc < self.host.job().job_size
    }

    /// Whether nobody here knows a process any more, which is of another job; asks if it was known so far.
    pub(crate) fn has_parted(&self, core: &Core) -> bool {
        if core.parted.load(Ordering::Relaxed) || self.is_of_own_job(core.proc) {
            return core.parted.load(Ordering::Relaxed);
        }
        let parted = Tcp::name_of(&self.host, core.proc) != Some(core.name);
        core.parted.store(parted, Ordering::Relaxed);
        parted
    }

    /// Where a process is, as it has published; `None`: it is not reached by this rail.
    pub(crate) fn route_to(&self, proc: u32, first: bool) -> Result<Option<Route>, Status> {
        let blob = match self.host.exchange_get(proc) {
            Ok(blob) => blob,
            // It does not use this component.
            Err(Status::NOT_FOUND) => return Ok(None),
            Err(e) => return Err(e),
        };
        let theirs = match Card::decode(&blob) {
            Ok(card) => card,
            Err(why) => {
                let why = match why {
                    BadCard::Version(theirs) => {
                        format!("it speaks version {theirs}, we speak {}", crate::hello::VERSION)
                    }
                    BadCard::Damaged => "its address is damaged".to_owned(),
                };
                self.host.warn(&format!("process {proc} is not reached: {why}"));
                return Ok(None);
            }
        };
        let found = peer_addresses(&self.card, self.rail.into(), &theirs, first)
            .filter(|(_, addresses)| !addresses.is_empty());
        Ok(found.map(|(rail, addresses)| Route { contexts: theirs.contexts, rail, addresses }))
    }
}
