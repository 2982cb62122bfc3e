//! Shared memory between the processes of a node. The README of this folder is the map.

#[cfg(all(test, not(loom)))]
extern crate self as btl_shm;

mod component;
mod context;
mod copy;
mod device;
mod in_force;
#[cfg(all(test, loom))]
mod models;
mod module;
mod params;
mod receiver;
mod ring;
mod segment;
mod sender;
mod service;
mod single_copy;
mod sys;
mod wire;

oxmpi_mca::component! {
    component: component::ShmComponent,
    symbol: oxmpi_component_btl_shm,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "shm",
    aliases: ["sm", "vader"],
    params: params::DECLARATIONS,
    help: include_str!("help.txt"),
}
