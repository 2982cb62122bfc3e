//! File data by vectored calls, in threads of a pool. See README.md.

mod component;
mod params;
mod pool;

oxmpi_mca::component! {
    component: component::PosixComponent,
    symbol: oxmpi_component_fbtl_posix,
    framework: oxmpi_fbtl::FRAMEWORK,
    framework_version: oxmpi_fbtl::VERSION,
    name: "posix",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
