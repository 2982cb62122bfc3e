//! The progress engine: a turn of progress polls the transports on the contexts that are the calling thread's to poll, and calls the
//! functions of the layers above that have something to do.
//!
//! **Two kinds of things are served.** A *context* is polled under the lock of its CRI, which a turn takes by trying, or takes away from an owner that
//! does not progress it; behind the transports the PML's hook runs under the same guard. A *layer function* (of a PML, a one-sided component, a
//! collective, the emulation of verbs) is called holding nothing, while its word says that it has work.
//!
//! **A [`Policy`](policy::Policy)** says which contexts a thread polls: [`OwnFirst`](policy::own_first::OwnFirst) by default, [`Serial`](policy::serial::Serial) where one thread at a time
//! progresses. [`OneLock`](policy::one_lock::OneLock) and [`Rotation`](policy::rotation::Rotation) are the published ones that those are measured against.
//! A limit says how many threads make turns at once (`limit`).
//!
//! Map: [`engine`] (a turn; registrations; announcing a sleep) · `turns`, `contexts` (turns over contexts, and of one: transports, the PML's hook) · `layers` (the list
//! of functions) · `arming` (what a thread answers for while it sleeps) · [`policy`] · `attention` (a thread's record of the contexts) · [`thread`]
//! (contexts of threads) · [`aside`] (moves a thread of a crowd to another core).

mod arming;
pub mod aside;
mod attention;
mod contexts;
pub mod engine;
mod layers;
mod limit;
#[cfg(all(test, loom))]
mod models;
pub mod policy;
pub mod thread;
mod turns;

pub use contexts::{Contexts, Crowding};
pub use engine::{Engine, Served};
