//! The contract of file system components: files are opened, deleted, resized, made durable and locked by them, and they tell what a file
//! system keeps of what MPI promises.
//!
//! For every path the host asks each component ([`FsModule::query`]) with what the system says of the mount that the path is on; the one
//! with the highest priority serves it, and a prefix of the path (`nfs:`) or the parameter `fs` names one. Data does not go through a file
//! system component: that is `fbtl`'s, on the descriptor that [`FsTable::open`] gave.
//!
//! **Facts of a file** ([`FsFile`]): the unit by which writers of different nodes should part the file, whether byte-range locks exclude
//! processes of this node and of others, and whether what one node has written is read by another one afterwards without more. The host decides by
//! that what it refuses, and says with [`FsFile::because`] which property of the mount is the cause.
//!
//! **Locks** are of open file descriptions, never of processes: closing another descriptor of the file drops none. Of one [`FsFile`] they do not exclude
//! each other, which is the host's care. [`FsTable::lock`] does not wait.
//!
//! **Errors.** A system call's failure is [`error::system`] of its number; other codes mean what they say there.
//!
//! **Threads.** All functions may be called concurrently, and may wait for the file system; none is called while a lock of the host is
//! held, nor from a turn of progress, but `lock` and `unlock`.

#![deny(missing_docs)]

mod author;
pub mod error;
mod table;

pub use author::*;
pub use table::*;
