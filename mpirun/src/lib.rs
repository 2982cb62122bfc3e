//! Starting jobs: `mpirun`, and the node daemon `oxmpid` that it starts on each node.
//!
//! **Division of work.** `mpirun` decides (what runs where, what a failure means, when the job ends,
//! which status it has) and is the only one who talks to the user. `oxmpid` carries out: it is the
//! parent of the ranks, gives them the facts of the job and the shared segment, collects their
//! output into whole lines, says how each of them ended, and leaves nothing behind. They talk
//! frames over one stream socket each, so a daemon on another node differs in nothing but how it was
//! started. Messages between nodes (fences, values of the store) go through `mpirun`.
//!
//! **Nothing outlives the job**, whoever is killed:
//!
//! | dies | ranks end because | what they started ends because |
//! |---|---|---|
//! | a rank | `oxmpid` reports, `mpirun` asks for the end | `oxmpid` is a subreaper: all are its descendants, and it ends with none left |
//! | `mpirun` | its socket closes, `oxmpid` ends everything | the same |
//! | `oxmpid` | parent-death signal (again set in MPI_Init) | `mpirun` is a subreaper, too: they are handed to it, and it ends them |
//! | one `oxmpid` of several | on its node as above; on the others `mpirun` asks for the end | the same |
//! | `mpirun` and `oxmpid` | parent-death signal, from parent to child | where it is an MPI program, by the signal; nobody is left to look for others |
//!
//! **Nobody polls.** Both programs are one thread around one wait (signals come by signalfd), and
//! wake only when there is something to do.
//!
//! Map: `cli/` (options) · `settings` (parameters of all sources) · `plm` (how daemons are started) · `plan/` (options to a job: hosts, mapping,
//! binding, environment, display) · `cores` (which there are, and the usual binding) ·
//! `launcher/` (mpirun's loop, output, what an ending means) · `link` (what the two say to each
//! other) · `daemon/` (oxmpid's loop, ranks, lines of output, the end) · `descendants`, `signals`
//! (small tools for both) · `help` and `help.txt` (what the user reads) ·
//! `too_long` (arguments that the system does not take) · `tally` (messages of the wire-up, counted without a network) · `direct/` (links that daemons make for themselves) · `name_server/` (ompi-server). The compiler wrappers are
//! `bin/mpicc/` and share nothing with these.

pub mod cli;
mod cores;
pub mod daemon;
mod descendants;
pub mod direct;
mod help;
pub mod info;
pub mod launcher;
pub mod link;
pub mod name_server;
mod plan;
mod plm;
mod program;
pub mod remote;
pub mod settings;
mod signals;
mod stacks;
pub mod tally;
mod too_long;

/// A failed system call, with what it was for.
fn failed(what: &str) -> impl Fn(rustix::io::Errno) -> String + '_ {
    move |why| format!("{what}: {why}{}", oxmpi_wireup::limits::named(why.raw_os_error()))
}
