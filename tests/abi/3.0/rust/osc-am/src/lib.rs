//! A one-sided component by active messages alone: every operation is a message to the target, whose progress carries it out
//! and answers. See README.md for the map.

mod component;
mod drain;
mod enter;
mod operation;
mod outbox;
mod receive;
mod state;
mod sync;
mod window;
mod wire;

oxmpi_mca::component! {
    component: component::AmComponent,
    symbol: oxmpi_component_osc_am,
    framework: oxmpi_osc::FRAMEWORK,
    framework_version: oxmpi_osc::VERSION,
    name: "am",
    aliases: [],
    params: component::PARAMS,
    help: include_str!("help.txt"),
}
