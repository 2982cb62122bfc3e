//! Opening, and the one operation that the component has.

use oxmpi_coll::safe::Offer;
use oxmpi_coll::{Coll, CollComm, CollModule, CollTable};
use oxmpi_mca::{Component, Host, OpenError, ParamDecl, ParamKind, Params};

/// Full names are `coll_sparse_<name>`.
pub const PARAMS: &[ParamDecl] = &[ParamDecl::new(
    "priority",
    ParamKind::INT,
    8,
    "0",
    "Priority among collective components. Raise it where gathered blocks end in many zeros",
)
.range(0, 100)];

pub struct SparseComponent;

impl Component for SparseComponent {
    type Module = CollModule;
    const NAME: &'static str = "sparse";

    fn open(_: Host, params: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let priority = params.int(0) as i32;
        Ok((priority, vec![oxmpi_coll::module(Sparse { priority })]))
    }
}

/// The component of one instance.
struct Sparse {
    priority: i32,
}

/// The component on one communicator, of which it keeps nothing.
pub struct SparseModule;

impl Coll for Sparse {
    type Module = SparseModule;

    fn query(&self, _: &CollComm) -> Option<(i32, SparseModule)> {
        Some((self.priority, SparseModule))
    }

    const TABLE: CollTable = Offer::<SparseModule>::new().gather().table();
    const PLANS: Option<CollTable> = Some(Sparse::TABLE);
}
