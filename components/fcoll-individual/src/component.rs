//! Opening, and the plan.

use crate::params::Settings;
use oxmpi_fcoll::{Call, Fcoll, FcollFacts, FcollModule};
use oxmpi_mca::{Component, Host, OpenError, Params, Status};

pub struct IndividualComponent;

impl Component for IndividualComponent {
    type Module = FcollModule;
    const NAME: &'static str = "individual";

    fn open(_host: Host, params: Params<'_>) -> Result<(i32, Vec<FcollModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_fcoll::module(Individual { settings })]))
    }
}

/// The component of one instance.
struct Individual {
    settings: Settings,
}

impl Fcoll for Individual {
    fn query(&self, _: &FcollFacts) -> Option<i32> {
        Some(self.settings.priority)
    }

    fn plan(&self, call: &Call<'_>) -> Result<(), Status> {
        call.transfer_own(|call, moved| call.end_of_own(moved))
    }
}
