//! Components of the frameworks of files: chosen, loaded and opened when the first file is opened or deleted, since most programs open none.
//!
//! All that goes wrong then (a component that was named and cannot be used, a parameter with a wrong value in a process that no launcher has checked) is the error of that
//! call and of every later one: components are opened once.

use super::bell;
use crate::objects::{FileParts, Instance};
use oxmpi_loading::accept::Framework;
use oxmpi_loading::error::Error;
use oxmpi_loading::params;
use oxmpi_loading::select::Chooser;

impl Instance {
    /// The components, opened by the first call.
    pub(crate) fn file_parts(&self) -> Result<&FileParts, Error> {
        let parts = self.files().parts.get_or_init(|| {
            let parts = self.open_file_parts()?;
            bell::seek(self, &parts.fbtls);
            Ok(parts)
        });
        parts.as_ref().map_err(Clone::clone)
    }

    /// Chooses and opens the components.
    fn open_file_parts(&self) -> Result<FileParts, Error> {
        let settings = self.settings();
        let mut resolver = settings.resolver.write();
        // The start has said what there was to say about the selections.
        let quiet = |_: &str, _: &[&str]| {};
        let mut chooser = Chooser {
            resolver: &mut resolver,
            params: &settings.params,
            logger: &settings.logger,
            help: &quiet,
        };
        let sources = &settings.sources;
        // SAFETY: descriptors of linked-in components, as `Config::builtin` promises.
        let chosen = unsafe { chooser.choose(&Framework::FOR_FILES, &sources.builtin, &sources.dirs)? };
        let mut components = Vec::new();
        for c in chosen {
            let values = params::component_params(&mut resolver, &c.component)?;
            components.push((c, values));
        }
        drop(resolver);
        FileParts::open(self, components)
    }
}
