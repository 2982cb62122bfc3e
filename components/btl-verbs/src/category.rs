//! Endpoint categories of "Scalable Communication Endpoints" (Zambre et al., 2018): which device contexts, thread domains and
//! completion queues the lanes of a process share.
//!
//! A thread domain takes a doorbell register. Where each is to have a page of registers of its own, the library is asked for that by the
//! extension's attribute `sharing`; libraries without it give the two registers of a page to two domains one after the other, and so every
//! other domain is made to stay idle.

use crate::device::Port;
use crate::lane::{Base, Lane, Sizes};
use crate::objects::{Channel, Completions, Domain, OpenDevice, Pair, Shape, ThreadDomain};
use crate::params::{Category, Settings};
use crate::wire::FRAME;
use oxmpi_verbs_abi::numbers::qp_type;
use std::sync::Arc;

/// The lanes of a process, by the category that was possible.
pub struct Arrangement {
    pub lanes: Vec<Lane>,
    /// Without thread domains, though one was asked for that needs them.
    pub fell_back: bool,
}

/// One register for this domain, and what was made to have it so.
struct Registers {
    domain: Arc<Domain>,
    _idle: Option<Arc<ThreadDomain>>,
}

fn registers(device: &Arc<OpenDevice>, pd: &Arc<Domain>, alone: bool) -> Option<Registers> {
    let own = || {
        let td = ThreadDomain::new(device, Some(if alone { 1 } else { 2 }))?;
        Domain::under(pd, &td)
    };
    if let Some(domain) = own() {
        return Some(Registers { domain, _idle: None });
    }
    let domain = Domain::under(pd, &ThreadDomain::new(device, None)?)?;
    let idle = if alone { ThreadDomain::new(device, None) } else { None };
    Some(Registers { domain, _idle: idle })
}

/// Makes so many contexts' lanes.
pub fn arrange(port: &Port, settings: &Settings, contexts: usize) -> Result<Arrangement, String> {
    let wanted = match settings.virtual_devices {
        0 => contexts,
        n => n.min(contexts),
    };
    let one = settings.category == Category::MpiThreads;
    let count = if one { 1 } else { wanted };
    let shared = count < contexts;
    let maker = Maker { port, settings, shared };
    if settings.category == Category::MpiEverywhere {
        let lanes = (0..count).map(|n| {
            let pd = Domain::new(&port.device.again()?)?;
            maker.lane(n as u16, pd.clone(), pd, Vec::new())
        });
        return Ok(Arrangement { lanes: lanes.collect::<Result<_, _>>()?, fell_back: false });
    }
    let device = port.device.again()?;
    let pd = Domain::new(&device)?;
    let (mut lanes, mut fell_back) = (Vec::new(), false);
    for number in 0..count as u16 {
        let (alone, pairs) = match settings.category {
            Category::TwiceDynamic => (true, 2),
            Category::SharedDynamic => (false, 1),
            Category::Static | Category::MpiThreads => (false, 0),
            _ => (true, 1),
        };
        let found: Option<Vec<Registers>> = (0..pairs).map(|_| registers(&device, &pd, alone)).collect();
        let mut found = found.unwrap_or_else(|| {
            fell_back |= settings.category != Category::Auto;
            Vec::new()
        });
        let mut idle = Vec::new();
        while found.len() > 1 {
            let Some(unused) = found.pop() else { break };
            idle.push(maker.idle_pair(unused)?);
        }
        let (domain, registers) = match found.pop() {
            Some(r) => (r.domain.clone(), Some(r)),
            None => (pd.clone(), None),
        };
        let kept = idle.into_iter().chain(registers.map(|r| Idle { _pair: None, _registers: r }));
        lanes.push(maker.lane(number, domain, pd.clone(), kept.collect())?);
    }
    Ok(Arrangement { lanes, fell_back })
}

/// The lane of the service context, in the device context of the datagrams: it takes no register of the others.
pub fn service_lane(port: &Port, settings: &Settings, number: u16) -> Result<Lane, String> {
    let pd = Domain::new(&port.device)?;
    Maker { port, settings, shared: false }.lane(number, pd.clone(), pd, Vec::new())
}

/// What is there so that registers stay unused.
pub struct Idle {
    _pair: Option<Pair>,
    _registers: Registers,
}

struct Maker<'a> {
    port: &'a Port,
    settings: &'a Settings,
    shared: bool,
}

impl Maker<'_> {
    fn idle_pair(&self, registers: Registers) -> Result<Idle, String> {
        let completions = Completions::new(&registers.domain.device, 16, None, true)?;
        let shape = Shape {
            domain: &registers.domain,
            completions: &completions,
            receives: None,
            kind: qp_type::RC,
            sends: 16,
            own_receives: 0,
            inline: 0,
        };
        Ok(Idle { _pair: Some(Pair::new(&shape)?), _registers: registers })
    }

    fn lane(
        &self,
        number: u16,
        domain: Arc<Domain>,
        protection: Arc<Domain>,
        idle: Vec<Idle>,
    ) -> Result<Lane, String> {
        let limits = &self.port.limits;
        let entries = self.settings.completion_depth.min(limits.entries);
        let channel = Channel::new(&domain.device)?;
        let completions = Completions::new(&domain.device, entries, Some(channel), !self.shared)?;
        let sizes = Sizes {
            message: self.settings.max_send_size + FRAME,
            receives: self.settings.srq_depth.min(limits.shared_receives).min(entries / 2).max(1),
            send_buffers: self.settings.send_buffers,
            requests: (entries / 2).max(1),
        };
        let keep = Box::new(idle);
        Lane::new(number, Base { domain, protection, completions, idle: keep }, sizes, self.shared)
    }
}
