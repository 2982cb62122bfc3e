//! How threads wait: who makes progress, who sleeps, and who wakes whom. It knows no message and no component: what a waiter
//! stands on is a [`Layer`].
//!
//! Map: [`layer`] (what is below) · [`waiting`] (what the threads of an instance share) · `framework/progress` (turns of progress, contexts
//! of threads) · [`sync`] (sync object, waiters, hand-off of progress ownership) · [`events`] (what users' sync objects are told) ·
//! `wait` (the loops), `policy` (spin, look, yield or sleep: the `states`), `sleep`, `race` (the loop without sync objects), `poll` (calls that look and
//! do not wait), `words` (what is slept on beside the doorbell), `quiescence` (whether nothing comes any more), `contexts` (which contexts of other threads a waiter enters) ·
//! `hooks`, `cooperation` (user-level threads) · `tasks` (the task pool) · [`meeting`] (threads that wait for each other) ·
//! [`gate`] (one thread or several: who is inside a call, and how a second one gets in) · `thread_count` ·
//! [`patience`], [`yield_limit`] (how long, and whether yields are worth it: what the policy asks) · `bell`, `sleep_set`, [`futex`] (the system calls).
//!
//! Under `--cfg loom` the whole crate is built with the model checker's atomics; only its mutex (`lock`), the deque of `tasks`
//! and the system calls (`polling` for `futex`) are other ones.

mod bell;
mod contexts;
mod cooperation;
pub mod events;
#[cfg(not(loom))]
pub mod futex;
#[cfg(loom)]
#[path = "polling.rs"]
pub mod futex;
pub mod gate;
mod hooks;
pub mod layer;
mod lock;
pub mod meeting;
pub mod patience;
mod policy;
mod poll;
mod quiescence;
mod race;
mod sleep;
mod sleep_set;
mod states;
pub mod sync;
mod tasks;
mod thread_count;
mod wait;
pub mod waiting;
mod words;
pub mod yield_limit;

pub use cooperation::Hooks;
pub use layer::{Awaitable, Layer, Waiter};
pub use oxmpi_progress::thread;
pub use tasks::PIECE;
pub use waiting::{Concurrency, Settings, WaitCounts, Waiting};
pub use words::Awaited;
