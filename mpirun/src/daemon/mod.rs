//! `oxmpid`: starts the ranks of one node and leaves nothing behind.
//!
//! **The loop.** One thread waits in one epoll on: the link to mpirun, signals (a child's end
//! among them), the wire-up server with all the ranks' connections inside it, and the ranks'
//! output. Everything that happens is handled without blocking.
//!
//! **An ending rank** is looked at in this order: what it still had to say on its connection (an
//! MPI_Finalize, an MPI_Abort), what is left of its output, and only then how it ended. So a report
//! never contradicts what the process said before, and comes behind its last words.
//!
//! **The end** comes in phases (`ending`): politely, by force, and out of patience. It is complete
//! when the kernel says that this process has no child any more: everything the ranks started is
//! below this process, which is a subreaper. Only then is the rest of the output sent on, and
//! `Done` said.
//!
//! **Map.** `begin` starts, `guard` watches over a daemon on another machine. `state` is what a daemon has, `serve` the loop.
//! Ranks: `ranks` starts them, `crashes` and `report` say where they were when they ended badly, `calls` and `census` where they
//! are; `events` hears them; `strangers` and `foreign` find those that another MPI has. Output: `output`, `lines`; input: `feed`. Other machines: `remote_state` is what a daemon there has besides, `remote_work` what
//! it does, `relay` what it passes on, `direct` what daemons ask of each other. `own_endings` is the time in which ranks may end by
//! themselves, `ending` the end, before which `last_words` are written. `stand_in` is another program, for a process without an mpirun.

mod begin;
mod calls;
mod census;
mod crashes;
mod direct;
mod ending;
mod events;
pub(crate) mod feed;
mod foreign;
mod guard;
mod last_words;
mod lines;
mod output;
mod own_endings;
mod ranks;
mod relay;
mod remote_state;
mod remote_work;
mod report;
mod serve;
mod stand_in;
mod state;
mod strangers;

pub use begin::main;
