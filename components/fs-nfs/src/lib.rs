//! Files of NFS mounts. See README.md.

#![forbid(unsafe_code)]

mod component;
mod far_lock;
mod mount;
mod params;

oxmpi_mca::component! {
    component: component::NfsComponent,
    symbol: oxmpi_component_fs_nfs,
    framework: oxmpi_fs::FRAMEWORK,
    framework_version: oxmpi_fs::VERSION,
    name: "nfs",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
