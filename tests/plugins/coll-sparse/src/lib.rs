//! A collective component whose gather leaves out the zeros at the end of blocks, whose sizes it learns first. See README.md for the map.

#![forbid(unsafe_code)]

mod component;
mod gather;

oxmpi_mca::component! {
    component: component::SparseComponent,
    symbol: oxmpi_component_coll_sparse,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "sparse",
    aliases: [],
    params: component::PARAMS,
    help: include_str!("help.txt"),
}
