//! The BTL to copy from. It works: datagrams over Unix sockets between the processes of a node.
//!
//! docs/adding-a-btl.md walks through these files in the order an author meets them. `lib.rs` holds
//! the module list and the macro call and nothing else, in this component and in yours.

mod component;
mod device;
mod endpoint;
mod links;
mod module;
mod params;
mod progress;
mod service;
mod sys;
mod wire;

oxmpi_mca::component! {
    // Implements `oxmpi_mca::Component`.
    component: component::TemplateComponent,
    // `oxmpi_component_<framework>_<name>`, from the folder's name `btl-template`. The loader looks for it
    // in the file `libbtl_template.so`.
    symbol: oxmpi_component_btl_template,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    // The name that users write: `--mca btl template,self`, `btl_template_eager_limit`.
    name: "template",
    // Other names users know it by. Open MPI's name of a transport belongs here if yours differs.
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
