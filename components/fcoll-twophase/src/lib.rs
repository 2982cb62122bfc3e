//! Collective file access in two phases: data goes between ranks and *aggregators* by messages, and between aggregators and the file in large pieces.
//!
//! Each byte of the file belongs to one aggregator for as long as the file's layout is valid (`domains.rs`). Aggregators go through their bytes in rounds, of which those without
//! data are left out: a rank announces its next round with each aggregator ahead (`wire.rs`), so nobody asks for what is not there. The places of a rank's data in a round travel as a list of
//! runs, and the data itself as one message straight between the user's memory and the aggregator's image of the window (`image.rs`). `exchange.rs` is the order in which all of this happens.
//!
//! Ranks tell each other their ranges first (`plan.rs`). Where these do not interleave nothing is exchanged, and each rank transfers its own.

mod component;
mod domains;
mod ending;
mod exchange;
mod gathering;
mod image;
mod params;
mod plan;
mod sending;
mod setting;
mod wire;

oxmpi_mca::component! {
    component: component::TwophaseComponent,
    symbol: oxmpi_component_fcoll_twophase,
    framework: oxmpi_fcoll::FRAMEWORK,
    framework_version: oxmpi_fcoll::VERSION,
    name: "twophase",
    aliases: ["two_phase", "vulcan", "dynamic", "dynamic_gen2"],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
