//! The host that conformance suites play: tables made of one trait, whose methods have the usual answers.
//!
//! A suite's rank is a type that implements [`FakeHost`] and owns a [`Desk`]. [`Desk::table`] makes the `repr(C)` table of both; what
//! the component calls comes back as a method. Calls that components of the suite's framework never make go to [`FakeHost::unused`],
//! which says how the suite notes them.
//!
//! Transports of tests are a [`BtlHandle`](oxmpi_btl::BtlHandle) of their own verbs on top of [`transport::bare`]; [`Registry`] and
//! [`Transfer`] check and move what one-sided verbs name. [`data`], [`CommSpec`] and [`Req`] are for those who drive a PML.

pub mod checks;
mod comm_spec;
pub mod data;
mod desk;
mod held;
mod host;
mod job_state;
mod registry;
mod request;
mod services;
pub mod setup;
mod transfer;
pub mod transport;

pub use comm_spec::CommSpec;
pub use desk::{Desk, FakeHost, Watcher};
pub use held::held;
pub use job_state::JobState;
pub use registry::Registry;
pub use request::Req;
pub use services::services;
pub use setup::text;
pub use transfer::{Landing, Transfer, Unflushed};
