//! Lanes: an endpoint with its queue for each context, the service context behind the others, spread over the domains of the device in turn.
//!
//! Where the provider has scalable endpoints with room for all lanes of a domain, their endpoints are contexts of one, so that a process has one
//! address in each domain however many contexts it has. Elsewhere, and where `btl_ofi_disable_sep` says so, each is an endpoint of its own.

use crate::endpoints::{Ep, Scalable};
use crate::library::Api;
use crate::objects::{Av, Code, Cq, Domain, Fabric, Info};
use crate::params::Settings;
use std::sync::Arc;

pub struct Lanes<'a> {
    api: &'a Arc<Api>,
    settings: &'a Settings,
    info: &'a Info,
    pub domains: Vec<Arc<Domain>>,
    /// Address vectors, by domain.
    pub avs: Vec<Arc<Av>>,
    /// Scalable endpoints, by domain.
    scalables: Vec<Option<Arc<Scalable>>>,
    /// Ordinary contexts.
    ordinary: usize,
}

impl<'a> Lanes<'a> {
    /// Opens the domains for so many ordinary contexts. The error completes "… cannot be used: ".
    pub fn new(
        api: &'a Arc<Api>,
        settings: &'a Settings,
        info: &'a Info,
        ordinary: usize,
    ) -> Result<Lanes<'a>, String> {
        let said = |what: &'static str| move |code: Code| format!("{what}: {}", api.text(code));
        let fabric = Fabric::new(info).map_err(said("the fabric"))?;
        let domains = (0..settings.devices).map(|_| Domain::new(&fabric, info));
        let domains = domains.collect::<Result<Vec<_>, _>>().map_err(said("a domain"))?;
        let avs = domains.iter().map(|domain| Av::new(domain, info)).collect::<Result<Vec<_>, _>>();
        let avs = avs.map_err(said("an address vector"))?;
        let mut lanes = Lanes { api, settings, info, domains, avs, scalables: Vec::new(), ordinary };
        lanes.scalables = (0..lanes.domains.len()).map(|device| lanes.scalable(device)).collect();
        Ok(lanes)
    }

    /// Number of the domain of a lane.
    pub fn device(&self, lane: usize) -> usize {
        if lane < self.ordinary { lane % self.domains.len() } else { 0 }
    }

    /// The scalable endpoint of a domain. `None`: it has none that would do.
    fn scalable(&self, device: usize) -> Option<Arc<Scalable>> {
        let count = (0..=self.ordinary).filter(|lane| self.device(*lane) == device).count();
        let has_room = count > 1 && count <= self.info.most_contexts();
        let new = || Scalable::new(self.info, &self.domains[device], &self.avs[device], count);
        // One that the provider says it has, and does not make, is done without.
        if has_room && self.settings.scales { new().ok() } else { None }
    }

    /// Scalable endpoints that there are.
    pub fn scalables(&self) -> usize {
        self.scalables.iter().flatten().count()
    }

    /// The endpoint of a lane, with its queue.
    pub fn endpoint(&self, lane: usize, size: usize) -> Result<Ep, String> {
        let said = |what: &'static str| move |code: Code| format!("{what}: {}", self.api.text(code));
        let device = self.device(lane);
        let (domain, av) = (&self.domains[device], &self.avs[device]);
        let cq = Cq::new(domain, size, self.settings.sleeps).map_err(said("a completion queue"))?;
        match &self.scalables[device] {
            Some(scalable) => {
                let number = (0..lane).filter(|before| self.device(*before) == device).count();
                let context = Ep::of(scalable, number as u16, av, cq);
                context.map_err(said("a context of a scalable endpoint"))
            }
            None => Ep::new(self.info, av, cq).map_err(said("an endpoint")),
        }
    }
}
