//! InfiniBand and RoCE between any processes of a job. `README.md` draws how a message gets from one to the other; `link.rs` heads the
//! code with the life of a connection, `context.rs` with who may touch what.

mod buffers;
mod category;
mod checks;
mod choices;
mod component;
mod connect;
mod context;
mod datagrams;
mod device;
mod in_force;
mod lane;
mod library;
mod link;
mod memory;
mod module;
mod objects;
mod outbound;
mod pairs;
mod params;
mod parting;
mod polling;
mod progress;
mod proof;
mod queue;
mod rail;
mod ring;
mod rma;
mod service;
mod sleep;
mod sys;
mod wire;

oxmpi_mca::component! {
    component: component::VerbsComponent,
    symbol: oxmpi_component_btl_verbs,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "verbs",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
