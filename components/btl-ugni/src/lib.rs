//! Gemini and Aries between any processes of a job. `README.md` draws how a message gets from one to the other; `link.rs` heads the code
//! with the life of a connection, `lane.rs` and `context.rs` with who may touch what.

mod abi;
mod amo;
mod component;
mod connect;
mod context;
mod desk;
mod device;
mod lane;
mod library;
mod link;
mod manager;
mod memory;
mod module;
mod nic;
mod outbound;
mod params;
mod parting;
mod peer;
mod pending_operations;
mod posts;
mod progress;
mod rail;
mod rma;
mod service;
mod sleep;
mod wire;

oxmpi_mca::component! {
    component: component::UgniComponent,
    symbol: oxmpi_component_btl_ugni,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "ugni",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
