//! One-sided operations by loads, stores and processor atomics where a target's memory is mapped, and by the transports' put, get
//! and atomics elsewhere; nobody needs the target's help. See README.md for the map and the layouts.

mod accumulate;
mod attached;
mod batch;
mod call;
mod claim;
mod combine;
mod component;
mod create;
mod demand;
mod elements;
mod epoch;
mod issue;
mod known_regions;
mod layout;
mod local;
mod locks;
mod mapped_targets;
mod meet;
mod notify;
mod op;
mod operate;
mod order;
mod params;
mod peer;
mod predecessors;
mod rdma;
mod regions;
mod registrar;
mod retry;
mod runs;
mod settle;
mod shelf;
mod spot;
mod state_words;
mod swap;
mod sync;
mod table;
mod tally;
mod task;
mod transfer;
mod window;
mod wire;
mod words;
mod writes;

oxmpi_mca::component! {
    component: component::RdmaComponent,
    symbol: oxmpi_component_osc_rdma,
    framework: oxmpi_osc::FRAMEWORK,
    framework_version: oxmpi_osc::VERSION,
    name: "rdma",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
