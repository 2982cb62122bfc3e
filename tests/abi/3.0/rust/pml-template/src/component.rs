//! Opening. A point-to-point layer has one module for each instance; the one of the highest priority is used.

use crate::layer::Template;
use crate::params::index;
use oxmpi_mca::{Component, Host, OpenError, Params};
use oxmpi_pml::PmlModule;

pub struct TemplateComponent;

impl Component for TemplateComponent {
    type Module = PmlModule;
    const NAME: &'static str = "pml_template";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<PmlModule>), OpenError> {
        // An address that peers have to know would be published here (`host.exchange_put`). This layer knows its peers by the transports alone.
        let priority = params.int(index::PRIORITY) as i32;
        Ok((priority, vec![oxmpi_pml::module(host, Template::new(host))]))
    }
}
