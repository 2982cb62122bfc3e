//! Endpoint categories of "Scalable Communication Endpoints" (Zambre et al., 2018): which device contexts, thread domains and
//! completion queues the lanes of a process share.
//!
//! A thread domain takes a doorbell register. Where each is to have a page of registers of its own, the library is asked for that by the
//! extension's attribute `sharing`; libraries without it give the two registers of a page to two domains one after the other, and so every
//! other domain is made to stay idle.

use crate::choices::{Category, Registers};
use crate::device::Port;
use crate::lane::{Base, Lane, Sizes};
use crate::objects::{Channel, Completions, Domain, OpenDevice, Pair, Shape, ThreadDomain};
use crate::params::Settings;
use crate::ring::TAIL;
use crate::wire::FRAME;
use oxmpi_verbs_abi::numbers::qp_type;
use std::sync::Arc;

/// The lanes of a process, by the category that was possible.
pub struct Arrangement {
    pub lanes: Vec<Lane>,
    /// Without thread domains, though one was asked for that needs them.
    pub fell_back: bool,
}

/// Objects that lanes share: the category, changed by the parameters of single objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Lanes of a device context, and of a protection domain in it.
    pub contexts: u32,
    pub domains: u32,
    pub registers: Registers,
    /// Every other queue pair stays unused.
    pub twice: bool,
}

impl Plan {
    /// For so many contexts of the module: the plan, and the number of lanes.
    pub fn of(settings: &Settings, contexts: u32) -> (Plan, u32) {
        let category = settings.category;
        let wanted = match settings.virtual_devices as u32 {
            0 => contexts,
            n => n.min(contexts),
        };
        let lanes = if category == Category::MpiThreads { 1 } else { wanted.max(1) };
        let ways = |set: u32, usual: u32| if set == 0 { usual } else { set.min(usual.max(lanes)) };
        let own = if category == Category::MpiEverywhere { 1 } else { lanes };
        let contexts = ways(settings.share_contexts, own);
        let registers = match (settings.registers, category) {
            (Some(registers), _) => registers,
            (None, Category::MpiEverywhere | Category::Static | Category::MpiThreads) => Registers::Library,
            (None, Category::SharedDynamic) => Registers::Own,
            (None, Category::Auto | Category::Dynamic | Category::TwiceDynamic) => Registers::Page,
        };
        let domains = ways(settings.share_domains, contexts).min(contexts);
        (Plan { contexts, domains, registers, twice: category == Category::TwiceDynamic }, lanes)
    }
}

/// Objects that the lanes of a process take of a device, connected to one process, without those for connecting and service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes {
    pub contexts: u32,
    pub pairs: u32,
    pub queues: u32,
    pub domains: u32,
    /// Pages of registers beside those that the library gives each device context.
    pub pages: u32,
}

/// A library's kind of thread domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domains {
    None,
    /// Two registers on each page.
    Plain,
    /// With the extension by which one can be alone on its page.
    Sharing,
}

impl Domains {
    /// Asks the library, which makes one and takes it back.
    pub fn of(device: &Arc<OpenDevice>) -> Domains {
        match ThreadDomain::new(device, None) {
            None => Domains::None,
            Some(_) if ThreadDomain::new(device, Some(1)).is_some() => Domains::Sharing,
            Some(_) => Domains::Plain,
        }
    }
}

impl Takes {
    /// Of so many lanes.
    pub fn of(plan: Plan, lanes: u32, domains: Domains) -> Takes {
        let contexts = lanes.div_ceil(plan.contexts);
        let none = Takes { contexts, pairs: lanes, queues: lanes, domains: 0, pages: 0 };
        let each = if plan.twice { 2 } else { 1 };
        match plan.registers {
            _ if domains == Domains::None => none,
            Registers::Library => none,
            Registers::Own => {
                let pages = |lanes: u32| (each * lanes).div_ceil(2);
                let (whole, rest) = (lanes / plan.contexts, lanes % plan.contexts);
                let pages = whole * pages(plan.contexts) + pages(rest);
                Takes { pairs: each * lanes, queues: each * lanes, domains: each * lanes, pages, ..none }
            }
            Registers::Page => {
                let pairs = each * lanes;
                let idle = if domains == Domains::Sharing { 1 } else { 2 };
                Takes { pairs, queues: pairs, domains: pairs * idle, pages: pairs, ..none }
            }
        }
    }
}

impl core::fmt::Display for Takes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let many = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let (contexts, pairs) = (many(self.contexts, "device context"), many(self.pairs, "queue pair"));
        let (queues, domains) = (many(self.queues, "completion queue"), many(self.domains, "thread domain"));
        let pages = if self.pages == 1 { "page" } else { "pages" };
        write!(
            f,
            "{contexts}, {pairs}, {queues}, {domains}, {} {pages} of doorbell registers beside those at open",
            self.pages
        )
    }
}

/// One register for this domain, and what was made to have it so.
struct Register {
    domain: Arc<Domain>,
    _idle: Option<Arc<ThreadDomain>>,
}

fn register(device: &Arc<OpenDevice>, pd: &Arc<Domain>, alone: bool) -> Option<Register> {
    let own = || {
        let td = ThreadDomain::new(device, Some(if alone { 1 } else { 2 }))?;
        Domain::under(pd, &td)
    };
    if let Some(domain) = own() {
        return Some(Register { domain, _idle: None });
    }
    let domain = Domain::under(pd, &ThreadDomain::new(device, None)?)?;
    let idle = if alone { ThreadDomain::new(device, None) } else { None };
    Some(Register { domain, _idle: idle })
}

/// Makes so many contexts' lanes.
pub fn arrange(port: &Port, settings: &Settings, contexts: usize) -> Result<Arrangement, String> {
    let (plan, count) = Plan::of(settings, contexts as u32);
    let maker = Maker { port, settings, shared: (count as usize) < contexts };
    let (mut lanes, mut fell_back) = (Vec::new(), false);
    let mut device = port.device.again()?;
    let mut pd = Domain::new(&device)?;
    for number in 0..count {
        let in_context = number % plan.contexts;
        if number > 0 && in_context == 0 {
            device = port.device.again()?;
        }
        if number > 0 && in_context % plan.domains == 0 {
            pd = Domain::new(&device)?;
        }
        let pairs = match plan.registers {
            Registers::Library => 0,
            _ if plan.twice => 2,
            _ => 1,
        };
        let alone = plan.registers == Registers::Page;
        let found: Option<Vec<Register>> = (0..pairs).map(|_| register(&device, &pd, alone)).collect();
        let mut found = found.unwrap_or_else(|| {
            fell_back |= settings.category != Category::Auto || settings.registers.is_some();
            Vec::new()
        });
        let mut idle = Vec::new();
        while found.len() > 1 {
            let Some(unused) = found.pop() else { break };
            idle.push(maker.idle_pair(unused)?);
        }
        let (domain, own) = match found.pop() {
            Some(r) => (r.domain.clone(), Some(r)),
            None => (pd.clone(), None),
        };
        let kept = idle.into_iter().chain(own.map(|r| Idle { _pair: None, _register: r }));
        lanes.push(maker.lane(number as u16, domain, pd.clone(), kept.collect())?);
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
    _register: Register,
}

struct Maker<'a> {
    port: &'a Port,
    settings: &'a Settings,
    shared: bool,
}

impl Maker<'_> {
    fn idle_pair(&self, register: Register) -> Result<Idle, String> {
        let completions = Completions::new(&register.domain.device, 16, None, true)?;
        let shape = Shape {
            domain: &register.domain,
            completions: &completions,
            receives: None,
            kind: qp_type::RC,
            sends: 16,
            own_receives: 0,
            inline: 0,
        };
        Ok(Idle { _pair: Some(Pair::new(&shape)?), _register: register })
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
            message: self.settings.max_send_size + FRAME + TAIL,
            receives: self.settings.srq_depth.min(limits.shared_receives).min(entries / 2).max(1),
            send_buffers: self.settings.send_buffers,
            requests: (entries / 2).max(1),
        };
        let keep = Box::new(idle);
        Lane::new(number, Base { domain, protection, completions, idle: keep }, sizes, self.shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(contexts: u32, registers: Registers, twice: bool) -> Plan {
        Plan { contexts, domains: contexts, registers, twice }
    }

    #[test]
    fn what_is_taken_is_said_in_words() {
        let said = |plan, lanes, domains| Takes::of(plan, lanes, domains).to_string();
        assert_eq!(
            said(plan(16, Registers::Page, true), 16, Domains::Plain),
            "1 device context, 32 queue pairs, 32 completion queues, 64 thread domains, \
             32 pages of doorbell registers beside those at open"
        );
        assert_eq!(
            said(plan(1, Registers::Own, false), 1, Domains::Sharing),
            "1 device context, 1 queue pair, 1 completion queue, 1 thread domain, \
             1 page of doorbell registers beside those at open"
        );
        let none = said(plan(4, Registers::Page, false), 4, Domains::None);
        assert_eq!(
            none,
            said(plan(4, Registers::Library, false), 4, Domains::Plain),
            "as the library gives them"
        );
    }

    #[test]
    fn registers_of_several_contexts() {
        // Two contexts of three lanes and one of one: each context has pages of its own.
        let takes = Takes::of(plan(3, Registers::Own, false), 7, Domains::Plain);
        assert_eq!((takes.contexts, takes.domains, takes.pages), (3, 7, 5));
    }
}
