//! File data by a ring of the kernel. See README.md.

mod board;
mod component;
mod params;
mod sys;

oxmpi_mca::component! {
    component: component::UringComponent,
    symbol: oxmpi_component_fbtl_uring,
    framework: oxmpi_fbtl::FRAMEWORK,
    framework_version: oxmpi_fbtl::VERSION,
    name: "uring",
    aliases: ["io_uring"],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
