//! Endpoint categories of "Scalable Communication Endpoints" (Zambre et al., 2018): which device contexts, thread domains and
//! completion queues the lanes of a process share.
//!
//! A thread domain takes a doorbell register. Where each is to have a page of registers of its own, the library is asked for that by the
//! extension's attribute `sharing`; libraries without it give the two registers of a page to two domains one after the other, and so every
//! other domain is made to stay idle.

use crate::buffers::{Pool, Supply};
use crate::choices::{Category, Registers};
use crate::device::Port;
use crate::lane::{Base, Lane, Sizes};
use crate::objects::{Channel, Completions, Domain, OpenDevice, Pair, Shape, ThreadDomain};
use crate::params::Settings;
use crate::queue::{Depth, Queue};
use crate::ring::TAIL;
use crate::wire::FRAME;
use oxmpi_verbs_abi::numbers::qp_type;
use std::sync::Arc;

/// The lanes of a process, by the category that was possible.
pub struct Arrangement {
    pub lanes: Vec<Arc<Lane>>,
    /// Without thread domains, though one was asked for that needs them.
    pub fell_back: bool,
}

/// Objects that lanes share: the category, changed by the parameters of single objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Lanes of a device context, and of a protection domain in it.
    pub contexts: u32,
    pub domains: u32,
    /// Lanes of a completion queue, in one device context; and of a pool of send buffers and of a registration, in one protection domain.
    pub queues: u32,
    pub buffers: u32,
    pub registrations: u32,
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
        let queues = ways(settings.share_queues, 1).min(contexts);
        let buffers = ways(settings.share_buffers, 1).min(domains);
        // One pool lies in one registration.
        let registrations = ways(settings.share_registrations, 1).min(domains).next_multiple_of(buffers);
        let twice = category == Category::TwiceDynamic;
        (Plan { contexts, domains, queues, buffers, registrations, registers, twice }, lanes)
    }
}

/// Objects that the lanes of a process take of a device, connected to one process, without those for connecting and service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes {
    pub contexts: u32,
    pub pairs: u32,
    pub queues: u32,
    pub domains: u32,
    /// Of memory for messages.
    pub registrations: u32,
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
        let queues = groups(lanes, &[plan.contexts, plan.queues]);
        // Send buffers, and the receive buffers of a connection.
        let registrations = 2 * groups(lanes, &[plan.contexts, plan.domains, plan.registrations]);
        let none = Takes { contexts, pairs: lanes, queues, domains: 0, registrations, pages: 0 };
        let each = if plan.twice { 2 } else { 1 };
        // Pairs that stay unused have queues of their own.
        let queues = queues + (each - 1) * lanes;
        match plan.registers {
            _ if domains == Domains::None => none,
            Registers::Library => none,
            Registers::Own => {
                let pages = |lanes: u32| (each * lanes).div_ceil(2);
                let (whole, rest) = (lanes / plan.contexts, lanes % plan.contexts);
                let pages = whole * pages(plan.contexts) + pages(rest);
                Takes { pairs: each * lanes, queues, domains: each * lanes, pages, ..none }
            }
            Registers::Page => {
                let pairs = each * lanes;
                let idle = if domains == Domains::Sharing { 1 } else { 2 };
                Takes { pairs, queues, domains: pairs * idle, pages: pairs, ..none }
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
            "{contexts}, {pairs}, {queues}, {domains}, {} {pages} of doorbell registers beside those at open, {} of memory for messages",
            self.pages,
            many(self.registrations, "registration")
        )
    }
}

/// Groups of lanes where they are divided by the first of these numbers, and each part by the next.
fn groups(lanes: u32, ways: &[u32]) -> u32 {
    match ways {
        [] => 1,
        [each, rest @ ..] => {
            let last = lanes % each;
            lanes / each * groups(*each, rest) + if last > 0 { groups(last, rest) } else { 0 }
        }
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
    let mut shares = None;
    let (mut lanes, mut fell_back) = (Vec::new(), false);
    let mut device = port.device.reopen()?;
    let mut pd = Domain::new(&device)?;
    for number in 0..count {
        let in_context = number % plan.contexts;
        if number > 0 && in_context == 0 {
            device = port.device.reopen()?;
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
        let parts = maker.shares(&mut shares, &plan, number, count, &device, &pd)?;
        lanes.push(maker.lane(number as u16, domain, pd.clone(), parts, kept.collect())?);
    }
    Ok(Arrangement { lanes, fell_back })
}

/// The lane of the service context, in the device context of the datagrams: it takes no register of the others.
pub fn service_lane(port: &Port, settings: &Settings, number: u16) -> Result<Arc<Lane>, String> {
    let pd = Domain::new(&port.device)?;
    let maker = Maker { port, settings, shared: false };
    let supply = Supply::new(&pd, 1);
    let shares =
        Shares { queue: maker.queue(&port.device, number, 1)?, pool: maker.pool(&supply, 1)?, supply };
    maker.lane(number, pd.clone(), pd, shares, Vec::new())
}

/// Objects that occupy doorbell registers, so that no other object uses them.
pub struct Idle {
    _pair: Option<Pair>,
    _register: Register,
}

/// Parts of lanes that several of them may have.
#[derive(Clone)]
struct Shares {
    queue: Arc<Queue>,
    supply: Arc<Supply>,
    pool: Arc<Pool>,
}

struct Maker<'a> {
    port: &'a Port,
    settings: &'a Settings,
    shared: bool,
}

impl Maker<'_> {
    fn idle_pair(&self, register: Register) -> Result<Idle, String> {
        let (completions, _) = Completions::new(&register.domain.device, 16, None, true)?;
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

    fn message(&self) -> usize {
        self.settings.max_send_size + FRAME + TAIL
    }

    fn queue(&self, device: &Arc<OpenDevice>, first: u16, lanes: u16) -> Result<Arc<Queue>, String> {
        let (entries, limit) = (self.settings.completion_depth, self.port.limits.entries);
        Queue::new(Depth { first, lanes, entries, limit }, !self.shared, |entries, alone| {
            Completions::new(device, entries, Some(Channel::new(device)?), alone)
        })
    }

    fn pool(&self, supply: &Supply, lanes: u32) -> Result<Arc<Pool>, String> {
        Pool::new(supply, self.settings.send_buffers, self.message(), lanes)
    }

    /// Those of lane `number` of `count`, of which `before` is the lane before it: new ones where a group begins.
    fn shares(
        &self,
        before: &mut Option<Shares>,
        plan: &Plan,
        number: u32,
        count: u32,
        device: &Arc<OpenDevice>,
        pd: &Arc<Domain>,
    ) -> Result<Shares, String> {
        let in_context = number % plan.contexts;
        let in_domain = in_context % plan.domains;
        // As many as a group has from this lane on: it ends with its context or domain, and with the lanes.
        let here = (plan.contexts - in_context).min(count - number);
        let here_in_domain = (plan.domains - in_domain).min(here);
        let last = before.take();
        let queue = match &last {
            Some(last) if !in_context.is_multiple_of(plan.queues) => last.queue.clone(),
            _ => self.queue(device, number as u16, plan.queues.min(here) as u16)?,
        };
        let supply = match &last {
            Some(last) if !in_domain.is_multiple_of(plan.registrations) => last.supply.clone(),
            _ => Supply::new(pd, plan.registrations.min(here_in_domain)),
        };
        let pool = match &last {
            Some(last) if !in_domain.is_multiple_of(plan.buffers) => last.pool.clone(),
            _ => self.pool(&supply, plan.buffers.min(here_in_domain))?,
        };
        Ok(before.insert(Shares { queue, supply, pool }).clone())
    }

    fn lane(
        &self,
        number: u16,
        domain: Arc<Domain>,
        protection: Arc<Domain>,
        shares: Shares,
        idle: Vec<Idle>,
    ) -> Result<Arc<Lane>, String> {
        let limits = &self.port.limits;
        let Shares { queue, supply, pool } = shares;
        let receives = self.settings.srq_depth.min(limits.shared_receives).min(queue.receives);
        let sizes = Sizes { message: self.message(), receives: receives.max(1) };
        let base = Base { domain, protection, queue, pool, supply, idle: Box::new(idle) };
        Lane::new(number, base, sizes, self.shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(contexts: u32, registers: Registers, twice: bool) -> Plan {
        let (domains, queues, buffers, registrations) = (contexts, 1, 1, 1);
        Plan { contexts, domains, queues, buffers, registrations, registers, twice }
    }

    #[test]
    fn what_is_taken_is_said_in_words() {
        let said = |plan, lanes, domains| Takes::of(plan, lanes, domains).to_string();
        assert_eq!(
            said(plan(16, Registers::Page, true), 16, Domains::Plain),
            "1 device context, 32 queue pairs, 32 completion queues, 64 thread domains, \
             32 pages of doorbell registers beside those at open, 32 registrations of memory for messages"
        );
        assert_eq!(
            said(plan(1, Registers::Own, false), 1, Domains::Sharing),
            "1 device context, 1 queue pair, 1 completion queue, 1 thread domain, \
             1 page of doorbell registers beside those at open, 2 registrations of memory for messages"
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

    #[test]
    fn groups_end_with_what_they_lie_in() {
        // Contexts of seven lanes and one of three; domains of three, so of 3, 3, 1 and 3.
        let plan =
            Plan { domains: 3, queues: 4, buffers: 2, registrations: 2, ..plan(7, Registers::Library, true) };
        let takes = Takes::of(plan, 10, Domains::Plain);
        assert_eq!((takes.queues, takes.registrations), (2 + 1, 2 * (2 + 2 + 1 + 2)));
        let page = Takes::of(Plan { registers: Registers::Page, ..plan }, 10, Domains::Plain);
        assert_eq!(page.queues, 3 + 10, "and those of pairs that stay unused");
    }
}
