//! The component that transfers file data to copy from. It works: a thread for each open file.
//!
//! docs/adding-a-fbtl.md walks through these files in the order an author meets them. `lib.rs` holds
//! the module list and the macro call and nothing else, in this component and in yours.

#![forbid(unsafe_code)]

mod component;
mod params;
mod transfers;

oxmpi_mca::component! {
    // Implements `oxmpi_mca::Component`.
    component: component::TemplateComponent,
    // `oxmpi_component_<framework>_<name>`, from the folder's name `fbtl-template`. The loader looks for it
    // in the file `libfbtl_template.so`.
    symbol: oxmpi_component_fbtl_template,
    framework: oxmpi_fbtl::FRAMEWORK,
    framework_version: oxmpi_fbtl::VERSION,
    // The name that users write: `--mca fbtl template`, `fbtl_template_priority`.
    name: "template",
    // Other names users know it by. Open MPI's name of a component belongs here if yours differs.
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
