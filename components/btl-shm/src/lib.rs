//! Shared memory between the processes of a node. The README of this folder is the map.

#[cfg(all(test, not(loom)))]
extern crate self as btl_shm;

mod cells;
mod component;
mod copy;
mod doorbell;
mod endpoint;
mod in_force;
mod module;
mod pace;
mod params;
mod parts;
mod progress;
mod ready;
mod ring;
mod rma;
mod segment;
mod service;
mod sys;
mod together;
mod wire;
mod writing;
mod xpmem;

#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, loom))]
mod model_pieces;
#[cfg(all(test, loom))]
mod model_service;

oxmpi_mca::component! {
    component: component::Shm,
    symbol: oxmpi_component_btl_shm,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "shm",
    aliases: ["sm", "vader"],
    params: params::DECLARATIONS,
    help: include_str!("help.txt"),
}
