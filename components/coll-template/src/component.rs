//! Opening, and the operations that the component has.
//!
//! `open` runs once per runtime instance, and several instances may live in one process. So there is no
//! `static` in a component: everything it knows lies behind the module that `open` returns.

use crate::module::{ALGORITHMS, NAME, TemplateModule};
use crate::params::Settings;
use oxmpi_coll::safe::Offer;
use oxmpi_coll::{Coll, CollComm, CollModule, CollTable};
use oxmpi_mca::{Component, Host, OpenError, Params, StrRef};

pub struct TemplateComponent;

impl Component for TemplateComponent {
    type Module = CollModule;
    const NAME: &'static str = NAME;

    // A device that is not there is `OpenError::not_available`, which is silent unless the user named this component. Values that cannot
    // work are refused here, with a paragraph of help.txt, and in `resolve` as well (docs/adding-a-btl.md).
    fn open(_host: Host, params: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_coll::module(Template { settings })]))
    }
}

/// The component of one instance.
pub struct Template {
    settings: Settings,
}

impl Coll for Template {
    type Module = TemplateModule;

    /// Asked for every new communicator, in all its ranks, which must give the same answer. The priority decides operation by operation: for
    /// those that are left out, or where another component stands higher, the other one is called. `None`: not this communicator.
    fn query(&self, _comm: &CollComm) -> Option<(i32, TemplateModule)> {
        Some((self.settings.priority, TemplateModule))
    }

    /// An operation is added by name and needs the trait of that name; those that are not added are not offered.
    const TABLE: CollTable =
        Offer::<TemplateModule>::new().barrier().bcast().reduce().allreduce().allgather().table();

    /// Tools can count how often a call went by each.
    const ALGORITHMS: &'static [StrRef] = ALGORITHMS;

    /// Nonblocking and persistent operations are planned by the same functions.
    const PLANS: Option<CollTable> = Some(Template::TABLE);
}
