//! The component for collective file access to copy from. It works: every access that MPI-IO has, each rank's own data in its own transfers.
//!
//! docs/adding-a-fcoll.md walks through these files in the order an author meets them. `lib.rs` holds the module list and the macro call and nothing else, in this component
//! and in yours.

#![forbid(unsafe_code)]

mod component;
mod params;
mod plan;

oxmpi_mca::component! {
    // Implements `oxmpi_mca::Component`.
    component: component::TemplateComponent,
    // `oxmpi_component_<framework>_<name>`, from the folder's name `fcoll-template`. The loader looks for it
    // in the file `libfcoll_template.so`.
    symbol: oxmpi_component_fcoll_template,
    framework: oxmpi_fcoll::FRAMEWORK,
    framework_version: oxmpi_fcoll::VERSION,
    // The name that users write: `--mca fcoll template`, `fcoll_template_priority`.
    name: "template",
    // Other names users know it by. Open MPI's name of a component belongs here if yours differs.
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
