//! Opening, and the files that the component serves.
//!
//! `open` runs once per runtime instance, and several instances may live in one process. So there is no
//! `static` in a component: everything it knows lies behind the module that `open` returns.

use crate::params::Settings;
use crate::transfers::TemplateTransfers;
use oxmpi_fbtl::{Fbtl, FbtlModule, Opened};
use oxmpi_mca::{Component, Host, OpenError, Params, Status};

pub struct TemplateComponent;

impl Component for TemplateComponent {
    type Module = FbtlModule;
    const NAME: &'static str = "template";

    // A device that is not there is `OpenError::not_available`, which is silent unless the user named this component.
    fn open(_host: Host, params: Params<'_>) -> Result<(i32, Vec<FbtlModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_fbtl::module(Template { settings })]))
    }
}

/// The component of one instance. One whose completions lie somewhere until they are looked for also has `harvest` and `event_fd`.
struct Template {
    settings: Settings,
}

impl Fbtl for Template {
    type File = TemplateTransfers;

    /// Asked for every file that was opened: `file.magic` is the number of its file system. `None`: cannot serve it.
    fn query(&self, _file: &Opened) -> Option<i32> {
        Some(self.settings.priority)
    }

    fn open(&self, file: Opened) -> Result<TemplateTransfers, Status> {
        TemplateTransfers::new(file)
    }
}
