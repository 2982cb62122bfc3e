//! One-sided communication by records, which go to the listener of their target by a transport's service links, or by messages to the target itself, which carries them
//! out when it makes progress. See README.md for the map.

mod asking;
mod component;
mod deed;
mod ear;
mod layout;
mod line;
mod link;
mod notify;
mod origin;
mod params;
mod peer;
mod poll;
mod serve;
mod sizes;
mod state;
mod target;
mod verbs;
mod window;
mod wire;

oxmpi_mca::component! {
    component: component::Pt2ptComponent,
    symbol: oxmpi_component_osc_pt2pt,
    framework: oxmpi_osc::FRAMEWORK,
    framework_version: oxmpi_osc::VERSION,
    name: "pt2pt",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
