//! State of the module that all threads share: the virtual devices with the lanes on them, and the processes that are reached. All files
//! below are about it: `connect.rs` makes links, `outbound.rs` sends, `progress.rs` takes what came, `service.rs` has requests, `parting.rs`
//! the end. State of a context alone is in `context.rs`, and comes to these by the verbs.

use crate::context::Holder;
use crate::desk::Desk;
use crate::device::Device;
use crate::lane::Lane;
use crate::link::{Link, Process, held};
use crate::memory::Memory;
use crate::params::Settings;
use crate::peer::Core;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use oxmpi_btl::{Entered, Loss};
use oxmpi_mca::{Host, ProcName, Status, StrRef};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

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
    processes: Mutex<HashMap<u32, Arc<Process>>>,
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
            processes: Mutex::default(),
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

    /// The lane that a context holds.
    #[inline]
    pub fn lane_of<C: Holder>(&self, at: &Entered<'_, C>) -> &Lane {
        let number = if C::SERVES { self.service_lane() } else { at.number() as usize };
        &self.lanes[number]
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

    pub fn process_of(&self, proc: u32) -> Arc<Process> {
        let make = || {
            let core =
                Core { proc, card: OnceLock::new(), loss: Loss::default(), gone: AtomicBool::new(false) };
            Arc::new(Process::new(core))
        };
        held(&self.processes).entry(proc).or_insert_with(make).clone()
    }

    /// The link between a lane of ours and one of the peer's, made if it is not there.
    pub fn link(&self, process: &Process, ours: u16, theirs: u16) -> Result<Arc<Link>, String> {
        let mut all = held(&process.links);
        if let Some(link) = all.get(&(ours, theirs)) {
            return Ok(link.clone());
        }
        let lane = self.lanes.get(usize::from(ours)).ok_or("there is no such lane")?;
        let link =
            lane.add(|index, mailbox| Link::new(process.core.clone(), (ours, theirs), index, mailbox))?;
        if process.core.loss.is_declared() {
            link.fail();
        }
        all.insert((ours, theirs), link.clone());
        Ok(link)
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
