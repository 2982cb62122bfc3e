//! Process cards as an instance has them: its own, and those that it asks for.

use super::card::VERSION;
use crate::objects::Instance;
use crate::services::card::{Card, KEY, Module, Unreadable, shared};
use oxmpi_mca::Status;
use oxmpi_mca::services::distance;
use oxmpi_wireup::hardware;
use std::sync::Arc;

impl Card {
    /// Makes the card of this process: without transports as long as they are being opened.
    pub(crate) fn of(instance: &Instance) -> Card {
        use std::os::unix::fs::MetadataExt;
        let namespace = std::fs::metadata("/proc/self/ns/pid").map_or(0, |m| m.ino());
        let btls = instance.parts().map_or(&[][..], |parts| parts.btls());
        Card {
            pid: std::process::id(),
            namespace,
            bound: instance.cards().bound(),
            cris: instance.cris().len() as u32,
            modules: btls.iter().map(Module::of).collect(),
        }
    }
}

impl Instance {
    /// The card of this process: made anew, without transports, while they are being opened, and kept from then on.
    pub(crate) fn own_card(&self) -> Arc<Card> {
        let new = || Arc::new(Card::of(self));
        match self.parts() {
            Some(_) => self.cards().own.get_or_init(new).clone(),
            None => new(),
        }
    }

    /// The card of a process; `None`: it has published none. Asks the key-value store at the first call, and waits for
    /// the answer.
    pub(crate) fn card_of(&self, proc: u32) -> Result<Option<Arc<Card>>, Status> {
        if proc == self.job().rank {
            return Ok(Some(self.own_card()));
        }
        if let Some(known) = self.cards().known.lock().get(&proc) {
            return Ok(Some(known.clone()));
        }
        let blob = self.exchange_get(proc, KEY).map_err(|_| Status::PEER_FAILED)?;
        let card = match blob.map(|blob| Card::decode(&blob)).transpose() {
            Ok(card) => card.map(Arc::new),
            Err(why) => {
                let why = match why {
                    Unreadable::Version(theirs) => format!(
                        "its process card has version {theirs} and ours {VERSION}; all processes of a job must use one \
                         version of the library"
                    ),
                    Unreadable::Damaged => "its process card makes no sense".into(),
                };
                let who = self.describe_process(proc);
                self.logger().error(oxmpi_loading::log::HOST, &format!("{who}: {why}"));
                return Err(Status::PEER_FAILED);
            }
        };
        // One that is not there may be later, as long as components are being opened.
        Ok(card.map(|card| self.cards().known.lock().entry(proc).or_insert(card).clone()))
    }

    /// Hardware shared with a process of this node, as far as it is known without asking anybody: bits of
    /// [`distance`].
    pub(crate) fn distance_to(&self, proc: u32) -> u32 {
        let node = *self.cards().node.get_or_init(|| {
            let whole = hardware::whole_machine();
            shared(&whole, &whole)
        });
        if proc == self.job().rank {
            let all =
                distance::SAME_SOCKET | distance::SAME_NUMA | distance::SAME_CACHE | distance::SAME_CORE;
            return all;
        }
        let card = self.cards().known.lock().get(&proc).cloned();
        node | card.map_or(0, |card| shared(&self.cards().bound(), &card.bound))
    }
}
