//! The opened components of an instance.

use crate::objects::{Contexts, FileParts, Instance, Parts};
use oxmpi_btl::BtlHandle;
use oxmpi_loading::accept::Framework;
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
        names(&self.contexts)
    }

    /// The value in force of a parameter of one of the components, or of the selection of their framework; `None`: the
    /// parameter is none of these.
    pub fn in_force(&self, r: &Resolved, params: &HostParams, process: &Process) -> Option<InForce> {
        told(&self.contexts, &Framework::AT_START, r, params, process)
    }
}

impl FileParts {
    /// The opened components, as framework and name.
    pub fn components(&self) -> Vec<(&'static str, &'static str)> {
        names(&self.contexts)
    }

    /// As [`Parts::in_force`].
    pub fn in_force(&self, r: &Resolved, params: &HostParams, process: &Process) -> Option<InForce> {
        told(&self.contexts, &Framework::FOR_FILES, r, params, process)
    }
}

impl Instance {
    /// The components of the frameworks of files; `None`: no file was opened yet.
    pub(crate) fn opened_file_parts(&self) -> Option<&FileParts> {
        self.files().parts.get().and_then(|parts| parts.as_ref().ok())
    }
}

/// Components as framework and name.
fn names(contexts: &Contexts) -> Vec<(&'static str, &'static str)> {
    contexts.iter().map(|c| (c.framework.name(), c.name)).collect()
}

/// The value in force of a parameter of opened components, or of the selection of one of their frameworks.
fn told(
    contexts: &Contexts,
    frameworks: &[Framework],
    r: &Resolved,
    params: &HostParams,
    process: &Process,
) -> Option<InForce> {
    if let Some(framework) = in_force::selects(&r.declaration) {
        if Framework::FOR_FILES.contains(&framework) {
            return frameworks.contains(&framework).then(|| in_force::of_files(r));
        }
        let names: Vec<&str> = contexts.iter().filter(|c| c.framework == framework).map(|c| c.name).collect();
        return frameworks.contains(&framework).then(|| in_force::of_selection(r, names));
    }
    let (ctx, at) =
        contexts.iter().find_map(|ctx| Some((ctx, ctx.values.place(&r.declaration.full_name)?)))?;
    Some(in_force::ask(&ctx.component, &ctx.values, params, process).of(at, r))
}
