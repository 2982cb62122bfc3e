//! Files of Lustre mounts, with layouts. See README.md.

mod component;
mod layout;
mod params;
mod sys;

oxmpi_mca::component! {
    component: component::LustreComponent,
    symbol: oxmpi_component_fs_lustre,
    framework: oxmpi_fs::FRAMEWORK,
    framework_version: oxmpi_fs::VERSION,
    name: "lustre",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
