//! Collectives of several nodes in two levels. See README.md for the map.

#[cfg(not(loom))]
mod allgather;
#[cfg(not(loom))]
mod area;
#[cfg(not(loom))]
mod barrier;
#[cfg(not(loom))]
mod bcast;
#[cfg(not(loom))]
mod call;
#[cfg(not(loom))]
mod component;
#[cfg(not(loom))]
mod counted;
#[cfg(not(loom))]
mod gather;
#[cfg(not(loom))]
mod module;
mod notes;
#[cfg(not(loom))]
mod params;
#[cfg(not(loom))]
mod reduce;
#[cfg(not(loom))]
mod scatter;
#[cfg(not(loom))]
mod segments;
#[cfg(not(loom))]
mod shape;

#[cfg(not(loom))]
oxmpi_mca::component! {
    component: component::HanComponent,
    symbol: oxmpi_component_coll_han,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "han",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
