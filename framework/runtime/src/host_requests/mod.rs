//! Requests that the host makes itself, out of those of the point-to-point layer or out of nothing:
//! both halves of a send-receive as one, the flush of a buffer, partitioned messages, nonblocking and persistent
//! collectives.
//!
//! A [`Made`] is a request header with a [`Body`]: what the operation is. It completes because
//! progress **watches** it: behind each turn of the point-to-point layer the bodies under watch are
//! asked whether their parts are complete. A program that makes none of these requests never runs any
//! of this; one that does pays one load per turn while nothing is watched.
//!
//! Map: `pool` (made, begun, given back) · `polling` (progress, and the verbs of a request) · `sendrecv`, `partitioned`, `schedule` (the kinds).
//!
//! **States.** free (in its pool's list) → pending (watched) → complete → released (free again); a
//! persistent one goes from complete back to pending when it is started, and may be watched while it is
//! inactive, as long as its body is not at rest. MPI_Request_free of one that is pending or not at rest
//! sets `released`; the poller that finds it over and at rest puts it back.
//!
//! **Access.** Each request belongs to a pool for good; `watched`, `pending`, `released` and
//! the lists are the holder's of the pool's lock, which is taken at MULTIPLE only. A pool's lock comes
//! before all locks of the point-to-point layer; nothing below ever calls up. A body's `advance`, `start`
//! and `reset` run under that lock, one at a time; what else a body offers (a partition is ready) it
//! guards itself. No user code runs under the lock: a body that has such to run, or much to do, says so
//! (`claim`, under the lock) and does it in `work`, with no lock held, in the thread that asked; then it
//! is looked at again.
//!
//! **Nobody is overlooked.** A thread that finds a pool's lock taken leaves a note (`again`) and looks
//! once more at the lock; the holder looks at the note after it has let go. Either sees the other, since
//! both write before they look (SeqCst).

pub mod partitioned;
mod polling;
mod pool;
pub mod schedule;
pub mod sendrecv;

pub use crate::objects::{Body, Made};
pub(crate) use polling::makers;
pub use polling::of;
pub use pool::Begin;
