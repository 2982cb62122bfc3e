//! Opening, and the paths that the component serves.
//!
//! `open` runs once per runtime instance, and several instances may live in one process. So there is no
//! `static` in a component: everything it knows lies behind the module that `open` returns.

use crate::file::{TemplateFile, code};
use crate::params::Settings;
use oxmpi_fs::{Facts, Fs, FsModule, Opening};
use oxmpi_mca::{Component, Host, OpenError, Params, Status};
use std::path::Path;

pub struct TemplateComponent;

impl Component for TemplateComponent {
    type Module = FsModule;
    const NAME: &'static str = "template";

    // A library that is not there is `OpenError::not_available`, which is silent unless the user named this component.
    fn open(_host: Host, params: Params<'_>) -> Result<(i32, Vec<FsModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_fs::module(Template { settings })]))
    }
}

/// The component of one instance.
struct Template {
    settings: Settings,
}

impl Fs for Template {
    type File = TemplateFile;

    /// Asked for every path, with what the system says of its mount: a component for one kind of file systems looks at `facts.magic` or
    /// `facts.fs_type`, and serves others only where the user has named it (`facts.named`). `None`: not this path.
    fn query(&self, _facts: &Facts<'_>) -> Option<i32> {
        Some(self.settings.priority)
    }

    fn open(&self, how: &Opening<'_>) -> Result<TemplateFile, Status> {
        TemplateFile::open(how)
    }

    fn delete(&self, path: &Path) -> Result<(), Status> {
        std::fs::remove_file(path).map_err(code)
    }
}
