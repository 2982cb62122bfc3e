//! The PML to copy from. It works: every message is announced to its receiver, and its data is sent when a receive asks for it.
//!
//! docs/adding-a-pml.md walks through these files in the order an author meets them. `lib.rs` holds the module list and the macro call and
//! nothing else, in this component and in yours.

mod component;
mod layer;
mod matching;
mod moving;
mod outbox;
mod params;
mod verbs;
mod wire;

oxmpi_mca::component! {
    // Implements `oxmpi_mca::Component`.
    component: component::TemplateComponent,
    // `oxmpi_component_<framework>_<name>`, from the folder's name `pml-template`. The loader looks for it in the file `libpml_template.so`.
    symbol: oxmpi_component_pml_template,
    framework: oxmpi_pml::FRAMEWORK,
    framework_version: oxmpi_pml::VERSION,
    // The name that users write: `--mca pml template`, `pml_template_priority`.
    name: "template",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
