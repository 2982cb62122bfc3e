//! The collective component to copy from. It works: barrier, bcast, reduce, allreduce and allgather of one group.
//!
//! docs/adding-a-coll.md walks through these files in the order an author meets them. `lib.rs` holds
//! the module list and the macro call and nothing else, in this component and in yours.

#![forbid(unsafe_code)]

mod allgather;
mod barrier;
mod bcast;
mod component;
mod module;
mod params;
mod reduce;
mod tree;

oxmpi_mca::component! {
    // Implements `oxmpi_mca::Component`.
    component: component::TemplateComponent,
    // `oxmpi_component_<framework>_<name>`, from the folder's name `coll-template`. The loader looks for it
    // in the file `libcoll_template.so`.
    symbol: oxmpi_component_coll_template,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    // The name that users write: `--mca coll template,basic`, `coll_template_priority`.
    name: "template",
    // Other names users know it by. Open MPI's name of a component belongs here if yours differs.
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
