//! Collectives of one node through memory that its ranks share. The README of this folder is the map.

#[cfg(not(loom))]
mod algorithms;
#[cfg(not(loom))]
mod area;
#[cfg(not(loom))]
mod call;
#[cfg(not(loom))]
mod component;
#[cfg(not(loom))]
mod crowd;
#[cfg(not(loom))]
mod data;
#[cfg(not(loom))]
mod fold;
#[cfg(not(loom))]
mod gather;
#[cfg(not(loom))]
mod homes;
mod meet;
#[cfg(all(test, loom))]
mod models;
#[cfg(not(loom))]
mod module;
#[cfg(not(loom))]
mod one_to_all;
#[cfg(not(loom))]
mod params;
#[cfg(not(loom))]
mod posts;
mod protocol;
#[cfg(not(loom))]
mod ready;
#[cfg(not(loom))]
mod reduce;
#[cfg(not(loom))]
mod reduce_scatter;
#[cfg(not(loom))]
mod reduction;
#[cfg(not(loom))]
mod scan;
mod sequence;
#[cfg(not(loom))]
mod slices;
#[cfg(not(loom))]
mod stream;
#[cfg(not(loom))]
mod table;
mod tree;

#[cfg(not(loom))]
oxmpi_mca::component! {
    component: component::ShmComponent,
    symbol: oxmpi_component_coll_shm,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "shm",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
