//! Opening, and the windows that the component serves.
//!
//! `open` runs once per runtime instance, and several instances may live in one process. So there is no `static` in a component:
//! everything it knows lies behind the module that `open` returns.

use crate::params::Settings;
use crate::window::TemplateWindow;
use oxmpi_mca::{Component, Host, OpenError, Params};
use oxmpi_osc::{OscModule, WinDesc};
use oxmpi_osc_support::simple::{Meeting, Osc, Result, module};

pub struct TemplateComponent;

impl Component for TemplateComponent {
    type Module = OscModule;
    const NAME: &'static str = "template";

    // A device that is not there is `OpenError::not_available`, which is silent unless the user named this component. Values that cannot
    // work are refused here, with a paragraph of help.txt, and in `resolve` as well (docs/adding-a-btl.md).
    fn open(host: Host, params: Params<'_>) -> core::result::Result<(i32, Vec<OscModule>), OpenError> {
        let settings = Settings::of(params);
        // The priority of a window is `query`'s; this one is not looked at.
        Ok((settings.priority, vec![module(host, settings.message_size, Template { settings })]))
    }
}

/// The component of one instance.
struct Template {
    settings: Settings,
}

impl Osc for Template {
    type Window = TemplateWindow;

    /// Asked in each rank of a new window; the least answer counts. `None` declines, and the next component gets the window.
    fn query(&self, _: &WinDesc) -> Option<i32> {
        Some(self.settings.priority)
    }

    fn create(&self, meeting: &mut Meeting<'_>, desc: &WinDesc) -> Result<TemplateWindow> {
        TemplateWindow::create(meeting, desc, self.settings.message_size)
    }
}
