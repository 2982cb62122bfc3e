//! The host that conformance suites play: tables made of one trait, whose methods have the usual answers.
//!
//! A suite's rank is a type that implements [`FakeHost`] and owns a [`Desk`]. [`Desk::table`] makes the `repr(C)` table of both; what
//! the component calls comes back as a method. Calls that components of the suite's framework never make go to [`FakeHost::unused`],
//! which says how the suite notes them.

pub mod checks;
mod desk;
mod held;
mod host;
mod job_state;
mod services;
pub mod setup;

pub use desk::{Desk, FakeHost, Watcher};
pub use held::held;
pub use job_state::JobState;
pub use services::services;
pub use setup::text;
