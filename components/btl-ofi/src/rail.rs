//! State of the module that all threads share: the domains, registered memory, and the processes that are reached. All files below are about
//! it: `connect.rs` makes links, `post.rs` and `outbound.rs` send, `completions.rs` and `progress.rs` take what came, `rma.rs` has one-sided operations, `service.rs` requests,
//! `parting.rs` the end. State of a context alone is in `context.rs`, and comes to these by the verbs.

use crate::attendant::Attendant;
use crate::library::Api;
use crate::link::{Core, held};
use crate::memory::Memory;
use crate::objects::{Av, Code};
use crate::params::Settings;
use crate::target::Target;
use crate::wire::Card;
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_mca::{Host, ProcName, Status, StrRef};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

pub struct Rail {
    pub host: Host,
    pub api: Arc<Api>,
    pub settings: Settings,
    pub name: ProcName,
    /// Rails of this process.
    rails: usize,
    pub card: Card,
    pub traits: Traits,
    /// Address vectors, by domain.
    pub avs: Box<[Arc<Av>]>,
    pub memory: Memory,
    /// Where peers' one-sided operations arrive; `None`: the provider has none.
    pub target: Option<Arc<Target>>,
    /// Works for endpoints whose holders are elsewhere; `None`: the provider has progress of its own.
    pub attendant: Option<Arc<Attendant>>,
    cores: Mutex<HashMap<u32, Arc<Core>>>,
    /// Processes were lost.
    pub has_losses: AtomicBool,
    /// The process ends: what comes is not handed up.
    pub closing: AtomicBool,
    stranger_told: AtomicBool,
    broken_told: AtomicBool,
}

/// The traits of the provider.
#[derive(Clone, Debug)]
pub struct Traits {
    /// Its domain, as messages show it.
    pub device: String,
    /// It reaches processes of this node alone.
    pub of_node: bool,
    /// Most bytes of a put or get.
    pub longest: u64,
    /// Addresses of remote memory are those of its process, not offsets.
    pub virtual_addresses: bool,
    pub exclusivity: u32,
    pub latency: u32,
    pub bandwidth: u32,
    /// Atomic operations that it has, and operands: bits of [`oxmpi_btl::amo`].
    pub amo_ops: u32,
    pub amo_operands: u32,
}

/// Parts of a new rail.
pub struct Parts {
    pub host: Host,
    pub api: Arc<Api>,
    pub settings: Settings,
    pub name: ProcName,
    pub rails: usize,
    pub card: Card,
    pub traits: Traits,
    pub avs: Vec<Arc<Av>>,
    pub memory: Memory,
    pub target: Option<Arc<Target>>,
    pub attendant: Option<Arc<Attendant>>,
}

impl Rail {
    pub fn new(parts: Parts) -> Rail {
        Rail {
            host: parts.host,
            api: parts.api,
            settings: parts.settings,
            name: parts.name,
            rails: parts.rails,
            card: parts.card,
            traits: parts.traits,
            avs: parts.avs.into(),
            memory: parts.memory,
            target: parts.target,
            attendant: parts.attendant,
            cores: Mutex::default(),
            has_losses: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            stranger_told: AtomicBool::new(false),
            broken_told: AtomicBool::new(false),
        }
    }

    pub fn index_of(&self, name: &ProcName) -> Option<u32> {
        let mut index = 0;
        let find = self.host.services().index_of;
        find(self.host.table().instance, name, &mut index).is_ok().then_some(index)
    }

    pub fn name_of(host: &Host, proc: u32) -> Option<ProcName> {
        let mut name = ProcName::default();
        let find = host.services().name_of;
        find(host.table().instance, proc, &mut name).is_ok().then_some(name)
    }

    /// The card of a process by which this rail reaches it: that of the same number, or the only one where both have one alone.
    pub fn card_for_this(&self, mut cards: Vec<Card>) -> Option<Card> {
        let same = cards.iter().position(|card| card.rail == self.card.rail);
        let alone = (self.rails == 1 && cards.len() == 1).then_some(0);
        same.or(alone).map(|n| cards.swap_remove(n))
    }

    /// A process, which is known from now on.
    pub fn core(&self, proc: u32) -> Arc<Core> {
        held(&self.cores).entry(proc).or_insert_with(|| Arc::new(Core::new(proc))).clone()
    }

    /// A process is lost. Any thread.
    pub fn fail(&self, core: &Core, why: &str) {
        self.has_losses.store(true, Ordering::Relaxed);
        core.loss.declare(|| {
            // A process that has said good-bye is not reported as failed.
            if !core.has_left() && !self.closing.load(Ordering::Acquire) {
                self.tell_host(core.proc, why);
            }
        });
    }

    /// Tells the host of a lost process.
    fn tell_host(&self, proc: u32, why: &str) {
        // No report of ours: the runtime makes one, unless the launcher has one already of a process that was killed.
        let (provider, domain) = (&self.card.provider, &self.traits.device);
        let message = format!(
            "the connection to process {proc} over btl_ofi (provider {provider}, domain {domain}) has ended: {why}"
        );
        let tell = self.host.services().peer_failed;
        // The text lives during the call.
        let text = StrRef { ptr: message.as_ptr(), len: message.len() };
        tell(self.host.table().instance, proc, Status::PEER_FAILED, text);
    }

    /// Something has come that no process of the job sends: said once.
    #[cold]
    pub fn tell_stranger(&self, what: &str) {
        if !self.stranger_told.swap(true, Ordering::Relaxed) {
            let rank = self.host.job().rank.to_string();
            self.host.help("stranger", &[&rank, what, &self.card.provider]);
        }
    }

    /// A queue or an endpoint does not work any more: said once.
    #[cold]
    pub fn tell_broken(&self, code: Code) {
        if !self.broken_told.swap(true, Ordering::Relaxed) {
            let text = self.api.text(code);
            self.host.error(&format!("the provider {} does not work any more: {text}", self.card.provider));
        }
    }
}
