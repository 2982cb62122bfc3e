//! Collectives over point-to-point: trees for small messages, rings and halving for large ones. See
//! README.md for the map and for which algorithm serves what.

mod algorithm;
mod allgather;
mod allgatherv;
mod allreduce;
mod alltoall;
mod alltoallv;
mod barrier;
mod bcast;
mod component;
mod exchange;
mod gather;
mod gatherv;
mod inter;
mod module;
mod neighbor;
mod params;
mod reduce;
mod reduce_scatter;
mod reduction;
mod scan;
mod scatter;
mod split;

oxmpi_mca::component! {
    component: component::BasicComponent,
    symbol: oxmpi_component_coll_basic,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "basic",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
