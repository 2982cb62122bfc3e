//! The contract of components that plan collective file access: who exchanges what with whom, and who transfers which part of the file.
//!
//! A component is a planner. [`FcollTable::plan`] is called in every rank of a file's communicator, with the rank's own access ([`Access`]) and what is
//! equal in all ranks ([`Layout`]); it writes down steps in the plan of `comm`: messages and steps of its own by the services of
//! [`CollServices`](oxmpi_coll::CollServices) as a collective component does, transfers by [`FcollServices::transfer`]. The host carries the plan out: at once for
//! MPI_File_write_all, in the background for MPI_File_iwrite_all, from begin to end for split collectives. So there is one code for all, and it can be tested without
//! any file.
//!
//! **Rounds.** Where ranks know nothing of each other's accesses before messages have come, a planner goes on by
//! [`CollServices::extend`](oxmpi_coll::CollServices::extend), round by round, and its memory does not grow with the file or the number of pieces: views are walked
//! (`oxmpi_files`), never flattened.
//!
//! **Agreement.** Everything that a component decides about the order of messages follows from [`Layout`] and from what ranks have told each other, never from a rank's
//! access alone.
//!
//! **Failures.** A transfer that fails is the operation's error in all ranks: the planner tells the others, and none waits for ever. Ranks that are not
//! concerned transfer what is theirs. A lost rank ends the plan as it ends a collective's.
//!
//! **Counts.** [`FcollServices::moved`] says how many bytes of its own access a rank has read or written; less than it asked for where a read came to the end of the file.

#![deny(missing_docs)]

mod agree;
mod author;
mod call;
mod own_transfers;
mod table;

pub use agree::{Outcome, Range};
pub use author::{Fcoll, module};
pub use call::{Call, Memory, Request};
pub use own_transfers::Moved;
pub use table::*;
