//! Collective file access without exchange: each rank transfers its own, and all agree on how it ended.
//!
//! It is for file systems and programs to which exchange gives nothing, and the reference that others are compared with.

#![forbid(unsafe_code)]

mod component;
mod params;

oxmpi_mca::component! {
    component: component::IndividualComponent,
    symbol: oxmpi_component_fcoll_individual,
    framework: oxmpi_fcoll::FRAMEWORK,
    framework_version: oxmpi_fcoll::VERSION,
    name: "individual",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
