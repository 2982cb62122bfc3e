//! Opening, and the files that are served: all.

use crate::params::Settings;
use crate::plan;
use oxmpi_fcoll::{Call, Fcoll, FcollFacts, FcollModule};
use oxmpi_mca::{Component, Host, OpenError, Params, Status};

pub struct TwophaseComponent;

impl Component for TwophaseComponent {
    type Module = FcollModule;
    const NAME: &'static str = "twophase";

    fn open(_host: Host, params: Params<'_>) -> Result<(i32, Vec<FcollModule>), OpenError> {
        let settings = Settings::of(params);
        Ok((settings.priority, vec![oxmpi_fcoll::module(Twophase { settings })]))
    }
}

/// The component of one instance.
struct Twophase {
    settings: Settings,
}

impl Fcoll for Twophase {
    fn query(&self, _: &FcollFacts) -> Option<i32> {
        Some(self.settings.priority)
    }

    fn plan(&self, call: &Call<'_>) -> Result<(), Status> {
        plan::write(call)
    }
}
