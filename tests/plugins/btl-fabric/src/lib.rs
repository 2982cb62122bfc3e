//! A transport to test with: remote memory, atomics and completions as networks have them, with their limits and failures by
//! parameter (`params.rs`) and by order ([`oxmpi_btl_fabric_control`]). README.md says what for.

mod agent;
mod amo;
mod area;
mod component;
mod context;
mod control;
mod module;
mod nic;
mod params;
mod pins;
mod registry;
mod wire;

oxmpi_mca::component! {
    component: component::FabricComponent,
    symbol: oxmpi_component_btl_fabric,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "fabric",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
