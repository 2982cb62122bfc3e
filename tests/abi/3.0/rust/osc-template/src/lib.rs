//! The one-sided component to copy from. It works: every operation is a message to its target, which carries it out and answers.
//!
//! docs/adding-an-osc.md walks through these files in the order an author meets them. `lib.rs` holds the module list and the macro call and
//! nothing else, in this component and in yours.

#![forbid(unsafe_code)]

mod component;
mod origin;
mod params;
mod target;
mod verbs;
mod window;
mod wire;

oxmpi_mca::component! {
    // Implements `oxmpi_mca::Component`.
    component: component::TemplateComponent,
    // `oxmpi_component_<framework>_<name>`, from the folder's name `osc-template`. The loader looks for it in the file `libosc_template.so`.
    symbol: oxmpi_component_osc_template,
    framework: oxmpi_osc::FRAMEWORK,
    framework_version: oxmpi_osc::VERSION,
    // The name that users write: `--mca osc template`, `osc_template_priority`.
    name: "template",
    // Other names users know it by. Open MPI's name of a component belongs here if yours differs.
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
