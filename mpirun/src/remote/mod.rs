//! Daemons on other nodes: how they are started, find their way back to mpirun, and prove who they are.
//!
//! **Starting.** `agents` runs a program that starts `oxmpid --remote` elsewhere (ssh, srun), or prints what somebody is
//! to start by hand. On its standard input the daemon finds one line (`boot`): the job's secret, mpirun's
//! addresses, which node it is, and which nodes it is to start in turn, so that daemons start each other in a tree
//! (`tree`). **The secret is on no command line and in no environment.**
//!
//! **Coming back.** The daemon (`join`) connects to all addresses of whoever started it, mpirun or another daemon (`addresses`), and keeps
//! the first at which somebody answers who knows the secret. Those listen (`reception`) until the last daemon is there and no
//! longer: mpirun (`hub`) waits for all, and a daemon hands on what goes between mpirun and those below it (`subtree`). Both sides
//! prove that they know the secret without saying it (`proof`), each to a challenge of the other:
//!
//! | from | says |
//! |---|---|
//! | mpirun, or the daemon above | a challenge |
//! | daemon | which node it is, its own challenge, its answer |
//! | mpirun, or the daemon above | its answer, or why not |
//! | daemon | what the node is made of; from here on it is the link of `crate::link` |
//!
//! **A link that is lost** shows by itself: `socket` has the kernel ask after a peer that is silent, and looks whether one
//! to which something is under way still answers.

pub mod addresses;
pub mod agents;
pub mod boot;
pub mod doors;
pub mod facts;
pub mod failure_reasons;
pub mod hand;
pub mod hub;
pub mod join;
pub mod options;
pub mod proof;
pub mod reception;
pub mod socket;
pub mod start;
pub mod subtree;
pub mod tree;

/// Which build of these sources this is: mpirun and its daemons have to be of the same, since what they say to
/// each other has no other version.
pub const BUILD: &str = env!("OXMPI_BUILD");

/// Version of the release and of the build, as both sides compare and show them.
pub fn version() -> String {
    format!("{} build {BUILD}", env!("CARGO_PKG_VERSION"))
}
