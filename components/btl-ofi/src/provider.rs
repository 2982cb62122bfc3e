//! Which provider and domain of libfabric is used, and why the others are not.
//!
//! The library is asked three times: for endpoints with atomics, with remote memory, with messages alone. Each domain of each provider counts
//! with the most that it has. A provider over TCP, UDP or shared memory does what btl tcp and btl shm do, with a layer between, so it is
//! used only where somebody has named it or this component.

use crate::abi::*;
use crate::library::Api;
use crate::objects::{Code, Info};
use crate::params::Settings;
use crate::sys::has_card;
use std::sync::Arc;

/// Providers that run on the same ways as btl tcp and btl shm.
const SOFT: [&str; 8] = ["tcp", "udp", "sockets", "net", "shm", "sm2", "lnx", "lpp"];
/// Those that reach processes of one node alone.
const OF_NODE: [&str; 2] = ["shm", "sm2"];

/// The network behind a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// A network that no component of ours drives.
    Own,
    /// Verbs, which btl verbs drives with less between.
    Verbs,
    /// TCP, UDP, shared memory.
    Soft,
}

/// A domain of a provider.
pub struct Candidate {
    pub info: Info,
    pub provider: String,
    pub domain: String,
    pub rma: bool,
    pub atomics: bool,
    /// Why it is not used, as far as that does not depend on the others.
    pub against: Option<String>,
}

impl Candidate {
    fn new(info: Info, with: u64) -> Candidate {
        let [provider, domain, _] = info.names();
        let (rma, atomics) = (with & RMA != 0, with & ATOMIC != 0);
        Candidate { info, provider, domain, rma, atomics, against: None }
    }

    /// The provider without the layers above it.
    pub fn core(&self) -> &str {
        self.provider.split(';').next().unwrap_or_default()
    }

    pub fn network(&self) -> Network {
        match self.core() {
            core if SOFT.contains(&core) => Network::Soft,
            "verbs" => Network::Verbs,
            _ => Network::Own,
        }
    }

    /// Whether it reaches processes of this node alone.
    pub fn is_of_node(&self) -> bool {
        OF_NODE.contains(&self.core())
    }

    /// Whether a name in a list means it: with all layers, or the one at the bottom.
    fn is_called(&self, name: &str) -> bool {
        name == self.provider || name == self.core()
    }

    /// Takes a description whose scalable endpoints have contexts that peers can name, where there is one.
    pub fn names_contexts(&mut self) {
        if let Some(info) = self.info.with_named_contexts() {
            self.info = info;
        }
    }

    fn nearness(&self) -> Nearness {
        nearness(self.info.parts().info.addr_format, self.info.source())
    }
}

/// How far an address reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    Anywhere,
    /// The process's own machine.
    Loopback,
    /// One network, by a number that other machines do not share.
    Link,
}

fn nearness(format: u32, address: &[u8]) -> Nearness {
    match (format, address) {
        (SOCKADDR_IN, [_, _, _, _, 127, ..]) => Nearness::Loopback,
        (SOCKADDR_IN6, a) if a.len() >= 24 && a[8] == 0xfe && a[9] & 0xc0 == 0x80 => Nearness::Link,
        (SOCKADDR_IN6, a) if a.len() >= 24 && a[8..23].iter().all(|b| *b == 0) && a[23] == 1 => {
            Nearness::Loopback
        }
        _ => Nearness::Anywhere,
    }
}

/// The wishes for an endpoint.
fn hints(api: &Arc<Api>, settings: &Settings, caps: u64) -> Result<Info, Code> {
    let mut hints = Info::new(api)?;
    hints.change(|info, parts| {
        info.caps = caps;
        info.mode = CONTEXT | CONTEXT2;
        parts.ep.kind = EP_RDM;
        parts.tx.msg_order = ORDER_SAS;
        parts.rx.msg_order = ORDER_SAS;
        parts.domain.mr_mode = MR_LOCAL | MR_VIRT_ADDR | MR_ALLOCATED | MR_PROV_KEY | MR_ENDPOINT;
        parts.domain.threading = THREAD_SAFE;
        parts.domain.control_progress = settings.progress;
        parts.domain.data_progress = settings.progress;
        parts.domain.resource_mgmt = RM_ENABLED;
    });
    Ok(hints)
}

/// All domains that fit, in the library's order, with the most that each has.
pub fn candidates(api: &Arc<Api>, settings: &Settings, is_named: bool) -> Result<Vec<Candidate>, Code> {
    let mut all: Vec<Candidate> = Vec::new();
    let with_atomics = settings.provider_atomics.then_some(MSG | RMA | ATOMIC);
    for caps in with_atomics.into_iter().chain([MSG | RMA, MSG]) {
        let found = match hints(api, settings, caps)?.matching() {
            Ok(found) => found,
            Err(err::NODATA | err::NOSYS) => continue,
            Err(code) => return Err(code),
        };
        for info in found.each() {
            let candidate = Candidate::new(info, caps);
            let same = |other: &Candidate| {
                (&other.provider, &other.domain) == (&candidate.provider, &candidate.domain)
                    && other.info.source() == candidate.info.source()
            };
            if !all.iter().any(same) {
                all.push(candidate);
            }
        }
    }
    for candidate in &mut all {
        candidate.against = against(candidate, settings, is_named);
    }
    Ok(all)
}

/// Why a domain is not used, whatever others there are.
fn against(candidate: &Candidate, settings: &Settings, is_named: bool) -> Option<String> {
    let listed = |names: &[String]| names.iter().any(|name| candidate.is_called(name));
    if listed(&settings.exclude) {
        return Some("btl_ofi_provider_exclude names it".into());
    }
    if !settings.include.is_empty() && !listed(&settings.include) {
        return Some("btl_ofi_provider_include does not name it".into());
    }
    if !settings.domains.is_empty() && !settings.domains.contains(&candidate.domain) {
        return Some("btl_ofi_domain names another domain".into());
    }
    if candidate.nearness() == Nearness::Link {
        return Some("its address means something on one network alone".into());
    }
    if candidate.network() == Network::Soft && settings.include.is_empty() && !is_named {
        let why = "btl tcp and btl shm do the same with less between, so it is used only where --mca btl or btl_ofi_provider_include names it";
        return Some(why.into());
    }
    if settings.include.is_empty() && !is_named && !has_card() {
        let why = "the kernel lists no card in /sys/class/infiniband and /sys/class/cxi, so it is used only where --mca btl or btl_ofi_provider_include names it";
        return Some(why.into());
    }
    None
}

/// The position of the domain to use: by the order of the user's lists, then by network, then by how far it reaches, then in the library's order.
pub fn choose(all: &[Candidate], settings: &Settings) -> Option<usize> {
    let of_list = |names: &[String], is: &dyn Fn(&str) -> bool| {
        names.iter().position(|name| is(name)).unwrap_or(names.len())
    };
    let key = |n: &usize| {
        let c = &all[*n];
        (
            of_list(&settings.include, &|name| c.is_called(name)),
            of_list(&settings.domains, &|name| c.domain == name),
            c.network(),
            // Shared memory does not reach other nodes.
            c.is_of_node(),
            c.nearness(),
            *n,
        )
    };
    (0..all.len()).filter(|n| all[*n].against.is_none()).min_by_key(key)
}

/// Positions of the domains to use, each with its number: the best one, or those of the best one's provider that btl_ofi_domain names, whose
/// numbers are their places there.
pub fn rails(all: &[Candidate], settings: &Settings) -> Vec<(u16, usize)> {
    let Some(first) = choose(all, settings) else { return Vec::new() };
    if settings.domains.is_empty() {
        return vec![(0, first)];
    }
    let fits = |c: &Candidate, name: &str| {
        c.domain == name && c.provider == all[first].provider && c.against.is_none()
    };
    let best = |name: &str| {
        let those = (0..all.len()).filter(|n| fits(&all[*n], name));
        those.min_by_key(|n| (all[*n].nearness(), *n))
    };
    let named = settings.domains.iter().enumerate();
    named.filter_map(|(number, name)| Some((number as u16, best(name)?))).collect()
}

/// Domains that btl_ofi_domain names and that are not among those.
pub fn missing<'a>(all: &[Candidate], rails: &[(u16, usize)], settings: &'a Settings) -> Vec<&'a str> {
    let is_there = |name: &&String| rails.iter().any(|(_, n)| all[*n].domain == **name);
    settings.domains.iter().filter(|name| !is_there(name)).map(String::as_str).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_reach_nobody_else_are_known() {
        let v4 = |a: [u8; 4]| {
            let mut bytes = [0; 16];
            bytes[4..8].copy_from_slice(&a);
            nearness(SOCKADDR_IN, &bytes)
        };
        assert_eq!(v4([127, 0, 0, 1]), Nearness::Loopback);
        assert_eq!(v4([10, 127, 0, 1]), Nearness::Anywhere);
        let v6 = |first: u8, last: u8| {
            let mut bytes = [0; 28];
            (bytes[8], bytes[9], bytes[23]) = (first, if first == 0xfe { 0x80 } else { 0 }, last);
            nearness(SOCKADDR_IN6, &bytes)
        };
        assert_eq!(v6(0, 1), Nearness::Loopback);
        assert_eq!(v6(0xfe, 1), Nearness::Link);
        assert_eq!(v6(0xfd, 1), Nearness::Anywhere);
        assert_eq!(nearness(9, b"fi_shm://1"), Nearness::Anywhere, "no address of the internet");
        assert_eq!(nearness(SOCKADDR_IN6, &[0; 8]), Nearness::Anywhere, "too short to tell");
    }
}
