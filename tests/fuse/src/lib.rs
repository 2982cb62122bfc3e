//! File systems of the tests' own, mounted by FUSE: the kernel asks a thread of the test for everything, and so gets what a test wants a program to get.
//!
//! Map: `server` (files in memory) · `served` (the kernel's questions, answered by a behaviour) · `faulty` (the behaviour of a file system that fails) · `client` (that of one of several
//! machines which keep data of files for themselves) · `mounted` (a mount, which goes with its test).

mod client;
mod faulty;
mod mounted;
mod served;
mod server;

pub use client::Client;
pub use faulty::{Fault, Faulty};
pub use mounted::{Mounted, can_mount};
pub use server::Server;
