//! A component that transfers file data, and fails, waits, refuses and reorders as it is told.

#![forbid(unsafe_code)]

mod component;
mod faults;
mod transfers;

oxmpi_mca::component! {
    component: component::FaultsComponent,
    symbol: oxmpi_component_fbtl_faults,
    framework: oxmpi_fbtl::FRAMEWORK,
    framework_version: oxmpi_fbtl::VERSION,
    name: "faults",
    aliases: [],
    params: component::PARAMS,
    help: include_str!("help.txt"),
}
