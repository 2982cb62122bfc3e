//! Messages of a process to itself. See README.md for the map, `queue.rs` for the one subtle thing.

mod amo;
mod component;
mod endpoint;
mod module;
mod params;
mod queue;

oxmpi_mca::component! {
    component: component::SelfComponent,
    symbol: oxmpi_component_btl_self,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "self",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
