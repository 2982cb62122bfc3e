//! Opening: the component's state for one instance, and its receiver of active messages.

use crate::state::Am;
use crate::window::AmWindow;
use oxmpi_mca::{Component, Entry, Host, OpenError, ParamDecl, ParamKind, Params, Status};
use oxmpi_osc::{Osc, OscModule, Vouched, WinDesc};
use std::sync::Arc;

/// Full names are `osc_am_<name>`.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        7,
        "1",
        "Priority among the components that serve a window; the highest serves it",
    )
    .range(0, 100),
    ParamDecl::new(
        "max_message",
        ParamKind::SIZE,
        7,
        "16k",
        "Largest message; longer operations are cut. Smaller ones cut more often, which tests use",
    )
    .range(2048, 1 << 20),
];

pub struct AmComponent;

impl Component for AmComponent {
    type Module = OscModule;
    const NAME: &'static str = "am";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<OscModule>), OpenError> {
        // One of ours is enough: a message's header says what it is.
        let tag =
            host.osc_tags().map_err(|status| OpenError::new(status, "it gets no active-message tag"))?;
        let am = Arc::new(Am::new(host, tag, params.size(1)));
        let context = Arc::as_ptr(&am).cast_mut().cast();
        // SAFETY: the receiver takes an `Am`, which the module below keeps until it is finalized: then no message comes any more. Where it is not
        // made, nothing of this component is called.
        let status = unsafe { host.am_register(tag, crate::receive::arrived, context) };
        if status.is_err() {
            host.help("tag-taken", &[&tag.to_string()]);
            return Err(OpenError::new(status, "its active-message tag is taken"));
        }
        let osc = AmOsc { am, priority: params.int(0) as i32 };
        Ok((0, vec![oxmpi_osc::module(host, osc)]))
    }
}

struct AmOsc {
    am: Arc<Am>,
    priority: i32,
}

impl Osc for AmOsc {
    type Window = AmWindow;

    fn query(&self, _: Vouched<'_, WinDesc>) -> Option<i32> {
        Some(self.priority)
    }

    fn create(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Box<AmWindow>, Status> {
        AmWindow::create(&self.am, entry, desc).map(Box::new)
    }

    fn finalize(&self) {
        self.am.stop_progress();
    }
}
