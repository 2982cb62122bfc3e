//! The file system component to copy from. It works: files of any file system by the standard library, without locks.
//!
//! docs/adding-a-fs.md walks through these files in the order an author meets them. `lib.rs` holds
//! the module list and the macro call and nothing else, in this component and in yours.

#![forbid(unsafe_code)]

mod component;
mod file;
mod params;

oxmpi_mca::component! {
    // Implements `oxmpi_mca::Component`.
    component: component::TemplateComponent,
    // `oxmpi_component_<framework>_<name>`, from the folder's name `fs-template`. The loader looks for it
    // in the file `libfs_template.so`.
    symbol: oxmpi_component_fs_template,
    framework: oxmpi_fs::FRAMEWORK,
    framework_version: oxmpi_fs::VERSION,
    // The name that users write: `--mca fs template`, `fs_template_priority`.
    name: "template",
    // Other names users know it by. Open MPI's name of a component belongs here if yours differs.
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
