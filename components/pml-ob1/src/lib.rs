//! pml-ob1: MPI point-to-point semantics over byte transport layers.
//!
//! The map is in README.md; `request.rs` says who may touch what, `wire.rs` what peers see,
//! `matching/` what an engine must do.

mod abilities;
mod again;
mod cancel;
mod care;
mod coming;
mod comm;
mod component;
mod copy;
mod counts;
mod credit;
mod eager;
mod either;
mod fan;
mod fifos;
mod fork;
mod guarded;
pub mod matching;
mod members;
mod memory;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, loom))]
mod model_fifos;
mod module;
mod naming;
mod numbered;
mod ordered;
mod orphan;
mod owed;
mod paged;
mod params;
mod peer;
mod pool;
mod probe;
mod progress;
mod rdma;
mod receive;
mod recv;
mod rendezvous;
mod request;
mod revoke;
mod route;
mod runs;
mod send;
mod sequence;
mod shard;
mod shards;
mod signals;
mod spread;
mod stamp;
mod stripes;
mod watch;
mod wire;

oxmpi_mca::component! {
    component: component::Ob1Component,
    symbol: oxmpi_component_pml_ob1,
    framework: oxmpi_pml::FRAMEWORK,
    framework_version: oxmpi_pml::VERSION,
    name: "ob1",
    aliases: [],
    params: &params::PARAMS,
    help: include_str!("help.txt"),
}
