//! Names, parameters, opening.

use crate::faults::Faults;
use crate::transfers::FaultyTransfers;
use oxmpi_fbtl::{Fbtl, FbtlModule, Opened};
use oxmpi_mca::{Component, Host, OpenError, ParamDecl, ParamKind, Params, Status, StrRef};

/// The declarations.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "kind",
        ParamKind::ENUM,
        9,
        "none",
        "Faults that are injected: a full queue, slow or reordered transfers, or failures of the system. Set it in a test",
    )
    .one_of(&[
        StrRef::new("none"),
        StrRef::new("full"),
        StrRef::new("slow"),
        StrRef::new("reordered"),
        StrRef::new("eio"),
        StrRef::new("enospc"),
        StrRef::new("edquot"),
    ]),
    ParamDecl::new(
        "every",
        ParamKind::INT,
        9,
        "3",
        "One of so many operations has the fault. Lower it for more of them",
    )
    .range(1, 1 << 20),
];

pub struct FaultsComponent;

impl Component for FaultsComponent {
    type Module = FbtlModule;
    const NAME: &'static str = "faults";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<FbtlModule>), OpenError> {
        let faults = Faults::of(params, host.job().rank);
        Ok((0, vec![oxmpi_fbtl::module(Faulty { faults })]))
    }
}

/// The component of one instance.
struct Faulty {
    faults: Faults,
}

impl Fbtl for Faulty {
    type File = FaultyTransfers;

    fn query(&self, _file: &Opened) -> Option<i32> {
        Some(0)
    }

    fn open(&self, file: Opened) -> Result<FaultyTransfers, Status> {
        FaultyTransfers::new(file, self.faults)
    }
}
