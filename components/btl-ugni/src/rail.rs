//! State of the module: the virtual devices with the lanes on them, and the processes that are reached. All files below are about it:
//! `connect.rs` makes links, `outbound.rs` sends, `progress.rs` takes what came, `service.rs` has requests, `parting.rs` the end.

use crate::desk::Desk;
use crate::device::Device;
use crate::lane::Lane;
use crate::link::{Core, Link, Peer, held};
use crate::memory::Memory;
use crate::params::Settings;
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use oxmpi_btl::Loss;
use oxmpi_mca::{Host, ProcName, Status, StrRef};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// State of the holder of the service context.
#[derive(Default)]
pub struct Service {
    /// The link of the request whose receiver is running.
    pub current: Cell<Option<Arc<Link>>>,
}

// SAFETY: the contract of transports: the caller of the service verbs holds the service context's lock.
unsafe impl Sync for Service {}
// SAFETY: links may go from thread to thread.
unsafe impl Send for Service {}

pub struct Rail {
    pub host: Host,
    pub settings: Settings,
    pub name: ProcName,
    /// Ordinary lanes, and behind them the service context's.
    pub lanes: Box<[Lane]>,
    pub devices: Box<[Device]>,
    /// `abi::device`.
    pub kind: i32,
    pub memory: Memory,
    pub service: Service,
    peers: Mutex<HashMap<u32, Arc<Peer>>>,
    pub desk: Mutex<Desk>,
    /// Datagrams that are under way or wait.
    pub calls: AtomicUsize,
    pub stop: AtomicBool,
    /// The process ends: what comes is not handed up.
    pub closing: AtomicBool,
    overrun_told: AtomicBool,
}

/// Parts of a new rail.
pub struct Parts {
    pub host: Host,
    pub settings: Settings,
    pub name: ProcName,
    pub lanes: Vec<Lane>,
    pub devices: Vec<Device>,
    pub kind: i32,
    pub memory: Memory,
    pub desk: Desk,
}

impl Rail {
    pub fn new(parts: Parts) -> Rail {
        Rail {
            host: parts.host,
            settings: parts.settings,
            name: parts.name,
            lanes: parts.lanes.into(),
            devices: parts.devices.into(),
            kind: parts.kind,
            memory: parts.memory,
            service: Service::default(),
            peers: Mutex::default(),
            desk: Mutex::new(parts.desk),
            calls: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            overrun_told: AtomicBool::new(false),
        }
    }

    /// Number of the service lane: behind the ordinary ones.
    pub fn service_lane(&self) -> usize {
        self.lanes.len() - 1
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

    pub fn peer_of(&self, proc: u32) -> Arc<Peer> {
        let make = || {
            let core =
                Core { proc, card: OnceLock::new(), loss: Loss::default(), gone: AtomicBool::new(false) };
            Arc::new(Peer::new(core, self.lanes.len()))
        };
        held(&self.peers).entry(proc).or_insert_with(make).clone()
    }

    /// The link between a lane of ours and one of the peer's, made if it is not there.
    pub fn link(&self, peer: &Peer, ours: u16, theirs: u16) -> Result<Arc<Link>, String> {
        let mut all = held(&peer.all);
        if let Some(link) = all.get(&(ours, theirs)) {
            return Ok(link.clone());
        }
        let lane = self.lanes.get(usize::from(ours)).ok_or("there is no such lane")?;
        let link = lane.add(|index, mailbox| Link::new(peer.core.clone(), (ours, theirs), index, mailbox))?;
        if peer.core.loss.is_declared() {
            link.fail();
        }
        all.insert((ours, theirs), link.clone());
        Ok(link)
    }

    /// The link by which messages of a context go, or its requests. `None`: the process is lost.
    pub fn link_of<'a>(&self, peer: &'a Peer, ctx: u32, request: bool) -> Option<&'a Arc<Link>> {
        let places = if request { &peer.requests } else { &peer.messages };
        let place = places.get(ctx as usize)?;
        if let Some(link) = place.get() {
            return Some(link);
        }
        let contexts = peer.core.card.get()?.contexts;
        let theirs = if request { contexts } else { ctx as u16 % contexts };
        match self.link(peer, ctx as u16, theirs) {
            Ok(link) => Some(place.get_or_init(|| link)),
            Err(why) => {
                self.fail(&peer.core, &why);
                None
            }
        }
    }

    /// A process is lost. Any thread, holding no lock of a link.
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
        for lane in &self.lanes {
            for link in lane.links().iter().filter(|l| l.core.proc == core.proc) {
                link.fail();
            }
            lane.wake();
        }
    }

    /// Tells the host of a lost process.
    fn tell_host(&self, proc: u32, why: &str) {
        // No report of ours: the runtime makes one, unless the launcher has one already of a process that was killed.
        let message = format!(
            "the connection to process {proc} over btl_ugni has ended: {why} (btl_ugni_smsg_max_retries sets how often a lost message is sent again)"
        );
        let tell = self.host.services().peer_failed;
        // The text lives during the call.
        let text = StrRef { ptr: message.as_ptr(), len: message.len() };
        tell(self.host.table().instance, proc, Status::PEER_FAILED, text);
    }

    /// A queue of arrivals has lost entries: said once.
    pub fn overran(&self) {
        if !self.overrun_told.swap(true, Ordering::Relaxed) {
            self.host.help("overrun", &[&self.host.job().rank.to_string()]);
        }
    }
}
