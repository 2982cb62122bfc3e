//! The contract of components that transfer file data: lists of pieces are submitted, and complete in any order.
//!
//! A [`Transfer`] is a list of (offset in the file, memory, length), all read or all written. [`FbtlTable::submit`] takes it and returns; the end is
//! told by its [`Operation`] and the file's [`Bell`]. [`transfer::NOW`] says that the caller has nothing else to do: the component may then carry it
//! out before it returns, which saves a change of threads.
//!
//! **Harvest.** Where completions lie somewhere until they are looked for (a ring of the kernel), the host calls [`FbtlTable::harvest`] in its turns of progress
//! while operations are under way, and sleeps on the descriptor of [`FbtlTable::event_fd`] too. A component with threads of its own needs neither: it ends an
//! operation by [`Operation::finish`] in any thread.
//!
//! **Nobody waits in a turn of progress**: `submit` without NOW, `harvest` and `cancel` are called by threads that make progress for others, and
//! never wait for a file, nor for a lock that somebody holds meanwhile.
//!
//! **Order.** Operations are independent of each other, and so are the pieces of one. The host does not submit overlapping writes at once, nor a
//! read of what is being written. The pieces of a write do not overlap in the file; usually offsets rise.
//!
//! **Interrupted and short** system calls are gone on with by the component. An operation ends with OK and all bytes; with OK and fewer where a read
//! came to the end of the file: then they are the bytes of the pieces before the first that is short, and of that one; or with the failure of the first piece that failed, and
//! the bytes of the pieces before it.
//!
//! **Errors** are codes of [`oxmpi_fs::error`].
//!
//! **Threads.** All functions may be called concurrently, an operation's by one thread at a time. In a child of a fork, which has none of a component's threads and rings, an operation
//! with NOW is carried out as ever, another one may end with NOT_SUPPORTED, and nothing waits for what is not there.

#![deny(missing_docs)]

mod author;
mod operation;
mod table;

pub use author::*;
pub use operation::{Bell, Operation};
pub use table::*;
