//! A rail: one port with its lanes and contexts, and the processes that are reached by it. All files below are about it:
//! `connect.rs` makes links, `outbound.rs` sends, `progress.rs` takes what came, `rma.rs` has one-sided operations, `parting.rs` the end.

use crate::context::Inbox;
use crate::device::Port;
use crate::lane::Lane;
use crate::link::{Core, Link, Peer, held};
use crate::memory::Memory;
use crate::params::Settings;
use crate::wire::{Card, Place};
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_btl::Loss;
use oxmpi_btl_support::Bell;
use oxmpi_mca::{Host, ProcName, Status, StrRef};
use oxmpi_verbs_abi::Wc;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// The part of a rail that all threads share. Its contexts are the contract's.
pub struct Rail {
    pub host: Host,
    pub settings: Arc<Settings>,
    /// Our number among the ports of the card.
    pub number: usize,
    pub port: Port,
    pub name: ProcName,
    pub place: Place,
    /// The card that this process has published, once all its ports are open.
    pub card: Arc<OnceLock<Card>>,
    /// Those of the ordinary contexts, and behind them the service context's and its lane.
    pub inboxes: Box<[Arc<Inbox>]>,
    pub lanes: Box<[Arc<Lane>]>,
    pub memory: Memory,
    peers: Mutex<HashMap<u32, Arc<Peer>>>,
    /// Links for the connecting thread to make.
    orders: Mutex<Vec<Arc<Link>>>,
    pub bell: Bell,
    pub stop: AtomicBool,
    /// The process ends: what comes is not handed up.
    pub closing: AtomicBool,
}

/// Parts of a new rail.
pub struct Parts {
    pub host: Host,
    pub settings: Arc<Settings>,
    pub number: usize,
    pub port: Port,
    pub name: ProcName,
    pub place: Place,
    pub card: Arc<OnceLock<Card>>,
    pub lanes: Vec<Arc<Lane>>,
    pub inboxes: Vec<Arc<Inbox>>,
    pub memory: Memory,
    pub bell: Bell,
}

impl Rail {
    pub fn new(parts: Parts) -> Rail {
        Rail {
            host: parts.host,
            settings: parts.settings,
            number: parts.number,
            port: parts.port,
            name: parts.name,
            place: parts.place,
            card: parts.card,
            inboxes: parts.inboxes.into(),
            lanes: parts.lanes.into(),
            memory: parts.memory,
            peers: Mutex::default(),
            orders: Mutex::default(),
            bell: parts.bell,
            stop: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        }
    }

    /// Numbers of the service lane and of the service context: those behind the ordinary ones.
    pub fn service_lane(&self) -> u16 {
        self.place.lanes
    }
    pub fn service_context(&self) -> u32 {
        self.place.contexts.into()
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

    pub fn peer_of(&self, proc: u32, name: ProcName) -> Arc<Peer> {
        let make = || {
            let core = Core {
                proc,
                name,
                first: self.name.bytes < name.bytes,
                place: OnceLock::new(),
                loss: Loss::default(),
                gone: AtomicBool::new(false),
            };
            Arc::new(Peer::new(core, self.lanes.len()))
        };
        held(&self.peers).entry(proc).or_insert_with(make).clone()
    }

    pub fn peers(&self) -> Vec<Arc<Peer>> {
        held(&self.peers).values().cloned().collect()
    }

    /// Has the connecting thread make a link that is calling.
    pub fn order(&self, link: Arc<Link>) {
        held(&self.orders).push(link);
        self.bell.ring();
    }
    pub fn orders(&self) -> Vec<Arc<Link>> {
        std::mem::take(&mut *held(&self.orders))
    }

    /// Wakes the sleepers of a lane's contexts.
    pub fn wake(&self, lane: usize) {
        self.inboxes.iter().filter(|inbox| inbox.lane == lane).for_each(|inbox| inbox.wake());
    }

    /// A link that was made goes to the holder of its lane.
    pub fn deliver(&self, link: Arc<Link>) {
        let number = usize::from(link.ours);
        if let Some(lane) = self.lanes.get(number) {
            lane.deliver(link);
            self.wake(number);
        }
    }

    /// A process is lost. Any thread, under any lock of ours.
    pub fn fail(&self, core: &Core, why: &str) {
        let told = core.loss.declare(|| {
            // A process that has said good-bye is not reported as failed, but operations under way to it end all the same.
            if !core.gone.load(Ordering::Acquire) && !self.closing.load(Ordering::Acquire) {
                self.tell_host(core.proc, why);
            }
        });
        if !told {
            return;
        }
        for (number, lane) in self.lanes.iter().enumerate() {
            lane.news.store(true, Ordering::SeqCst);
            self.wake(number);
        }
    }

    /// Tells the host of a lost process.
    fn tell_host(&self, proc: u32, why: &str) {
        // No report of ours: the runtime makes one, unless the launcher has one already of a process that was killed.
        let message = format!(
            "the connection of {} to process {proc} has ended: {why} (btl_verbs_timeout and btl_verbs_retry_count set how long a device tries again)",
            self.port.name
        );
        let tell = self.host.services().peer_failed;
        // The text lives during the call.
        let text = StrRef { ptr: message.as_ptr(), len: message.len() };
        tell(self.host.table().instance, proc, Status::PEER_FAILED, text);
    }

    /// A request has failed that ends its peer.
    pub fn lost(&self, link: &Link, wc: &Wc) {
        let text = self.port.device.api.status_text(wc.status);
        self.fail(&link.peer, &format!("{text} (status {}, {:#x})", wc.status, wc.vendor_err));
    }

    /// The device is lost, and with it everybody.
    pub fn fail_all(&self, why: &str) {
        self.peers().iter().for_each(|p| self.fail(&p.core, why));
    }
}
