//! Opening, and the files that the component wants.
//!
//! `open` runs once per runtime instance, and several instances may live in one process. So there is no
//! `static` in a component: everything it knows lies behind the module that `open` returns.

use crate::params::Settings;
use crate::plan;
use oxmpi_fcoll::{Call, Fcoll, FcollFacts, FcollModule};
use oxmpi_mca::{Component, Host, OpenError, Params, Status};

pub struct TemplateComponent;

impl Component for TemplateComponent {
    type Module = FcollModule;
    const NAME: &'static str = "template";

    // Values that cannot work are refused here, with a paragraph of help.txt, and in `resolve` as well (docs/adding-a-btl.md).
    fn open(_host: Host, params: Params<'_>) -> Result<(i32, Vec<FcollModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_fcoll::module(Template { settings })]))
    }
}

/// The component of one instance.
struct Template {
    settings: Settings,
}

impl Fcoll for Template {
    /// Asked for every file that is opened, in all its ranks, which must give the same answer: it follows from `facts` and parameters alone. `None`: not this file.
    fn query(&self, _facts: &FcollFacts) -> Option<i32> {
        Some(self.settings.priority)
    }

    fn plan(&self, call: &Call<'_>) -> Result<(), Status> {
        plan::write(call)
    }
}
