//! libfabric between any processes of a job. `README.md` says how a message gets from one to the other; `link.rs` heads the code with what makes
//! a message believable, `context.rs` with who may touch what.

mod abi;
mod amo;
mod attendant;
mod buffers;
mod completions;
mod component;
mod connect;
mod context;
mod endpoints;
#[cfg(all(test, not(loom)))]
mod hostile;
mod issue;
mod lanes;
#[cfg(all(test, not(loom)))]
mod layouts;
mod library;
mod link;
mod memory;
mod module;
mod objects;
mod opening;
mod operations;
mod order;
mod outbound;
mod params;
mod parting;
mod pause;
mod post;
mod progress;
mod proof;
mod provider;
mod rail;
mod rma;
mod service;
mod sleep;
mod sys;
mod target;
mod unsent;
mod ward;
mod wire;

oxmpi_mca::component! {
    component: component::OfiComponent,
    symbol: oxmpi_component_btl_ofi,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "ofi",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
