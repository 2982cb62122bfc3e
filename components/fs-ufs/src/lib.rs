//! Files of any file system by the system's own calls. See README.md.

#![forbid(unsafe_code)]

mod component;
mod params;

oxmpi_mca::component! {
    component: component::UfsComponent,
    symbol: oxmpi_component_fs_ufs,
    framework: oxmpi_fs::FRAMEWORK,
    framework_version: oxmpi_fs::VERSION,
    name: "ufs",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
