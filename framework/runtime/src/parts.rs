//! The opened components of an instance.

use crate::objects::Parts;
use oxmpi_btl::BtlHandle;
use oxmpi_loading::in_force::{self, InForce, Process};
use oxmpi_loading::values::HostParams;
use oxmpi_mca_params::Resolved;

impl Parts {
    /// The handles of the BTL modules, best first.
    pub fn btls(&self) -> &[BtlHandle] {
        &self.btls
    }

    /// Whether the transport of that number is needed for processes of other jobs alone.
    pub fn is_dormant(&self, number: usize) -> bool {
        self.dormant.contains(&number)
    }

    /// The opened components, as framework and name.
    pub fn components(&self) -> Vec<(&'static str, &'static str)> {
        self.contexts.iter().map(|c| (c.framework.name(), c.name)).collect()
    }

    /// The value in force of a parameter of one of the components, or of the selection of their framework; `None`: the
    /// parameter is none of these.
    pub fn in_force(&self, r: &Resolved, params: &HostParams, process: &Process) -> Option<InForce> {
        if let Some(framework) = in_force::selects(&r.declaration) {
            let names: Vec<&str> =
                self.contexts.iter().filter(|c| c.framework == framework).map(|c| c.name).collect();
            return Some(in_force::of_selection(r, names));
        }
        let (ctx, at) =
            self.contexts.iter().find_map(|ctx| Some((ctx, ctx.values.place(&r.declaration.full_name)?)))?;
        Some(in_force::ask(&ctx.component, &ctx.values, params, process).of(at, r))
    }
}
