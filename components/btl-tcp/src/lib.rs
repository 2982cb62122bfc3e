//! TCP between any processes of a job. `README.md` draws how a message gets from one to the other; `stream.rs` heads the
//! code with the life of a connection.

mod alarm;
mod call;
mod card;
mod check;
#[cfg(all(test, not(loom)))]
mod comings_tests;
mod component;
mod connect;
mod context;
mod courier;
mod door;
mod endpoint;
mod fault;
mod frame;
mod gathered;
mod hello;
mod in_force;
mod inbound;
#[cfg(all(test, not(loom)))]
mod inbound_tests;
mod interfaces;
mod kept;
mod links;
mod lobby;
mod messages;
mod module;
mod outbound;
mod params;
mod parting;
mod peer;
mod placed;
#[cfg(all(test, not(loom)))]
mod placed_tests;
mod progress;
mod proof;
mod rail;
mod ring;
mod service;
mod stream;
mod streams;
mod sys;
mod turn;
mod visit;
mod watch;

/// For fuzzing: bytes from outside go in, and whatever they are, an answer comes out.
#[doc(hidden)]
pub mod fuzz {
    pub use crate::card::Card;
    pub use crate::check::with_right_sum;
    pub use crate::frame::{Header, Kind};
    pub use crate::hello::{Challenge, Hello, Proof, Refusal, Welcome};
    pub use crate::inbound::whole_stream;
}

oxmpi_mca::component! {
    component: component::TcpComponent,
    symbol: oxmpi_component_btl_tcp,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "tcp",
    aliases: [],
    params: params::PARAMS,
    help: include_str!("help.txt"),
}
