//! Collectives by the algorithms of Open MPI's tuned component. See README.md for the map.

mod algorithms;
mod buffers;
mod call;
mod choice;
mod component;
mod decision;
mod fold;
mod module;
mod op;
mod operations;
mod params;
mod rules;
mod run;
mod script;
#[cfg(test)]
mod simulator;
mod tree;

oxmpi_mca::component! {
    component: component::TunedComponent,
    symbol: oxmpi_component_coll_tuned,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "tuned",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
