//! pml-ob1: MPI point-to-point semantics over byte transport layers.
//!
//! The map is in README.md; `request.rs` says who may touch what, `wire.rs` what peers see,
//! `matching/` what an engine must do.

mod communicators;
mod component;
mod ending;
mod long;
pub mod matching;
#[cfg(all(test, loom))]
mod models;
mod module;
mod ob1;
mod order;
mod params;
mod peers;
mod progress;
mod receive;
mod requests;
mod send;
mod state;
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
