//! Events that a node's server tells its daemon, and how far ranks have come.

use super::super::jobs::JobsRequest;
use super::super::moment::Moment;

/// Facts that the daemon needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The rank's process `pid` starts MPI, for the first time or again.
    Joined {
        rank: u32,
        pid: u32,
    },
    Help {
        rank: u32,
        component: String,
        topic: String,
        text: String,
    },
    Abort {
        rank: u32,
        code: i32,
        /// The place in the library that ends the job; empty: the program called MPI_Abort.
        origin: String,
        message: String,
        /// Because of this rank.
        peer: Option<u32>,
    },
    /// All ranks of this node have come to the fence; there are others.
    AllHere,
    /// A rank asks for what a rank of another node has published.
    Wanted {
        proc: u32,
        key: String,
    },
    /// The first rank of this node has left: no fence can be complete any more.
    Gone {
        rank: u32,
    },
    Finalized {
        rank: u32,
    },
    /// The rank's connection closed; its process is ending.
    Left {
        rank: u32,
        finalized: bool,
    },
    /// The rank, process `pid`, has ended without a word, and `waiting` is at a fence that needs it.
    NeverCame {
        rank: u32,
        pid: u32,
        waiting: u32,
    },
    /// A rank's words about other jobs.
    Jobs {
        rank: u32,
        request: JobsRequest,
    },
    /// The rank broke the protocol; its connection is closed.
    Broken {
        rank: u32,
        why: String,
    },
    /// A signal came that ends the process, or that its own handler deals with.
    Crash(Crash),
}

/// A process's report when a signal came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    pub rank: u32,
    pub pid: u32,
    pub moment: Moment,
    /// Where the user wants to read of it: the value of `opal_stacktrace_output`.
    pub to: String,
    /// Bytes from the stack pointer on.
    pub stack: Vec<u8>,
    /// The process's map of memory, as the kernel writes it.
    pub maps: Vec<u8>,
}

/// How far a rank has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// Nobody has said hello: not yet, or not an MPI program.
    Absent,
    /// MPI is in use: from the first MPI_Init or MPI_Session_init to the last finalize, or again.
    Joined {
        pid: u32,
    },
    Finalized {
        pid: u32,
    },
}
