//! Whole jobs under the real `mpirun` and `oxmpid`, with shell programs and a small wire-up client
//! as ranks. No MPI library is needed.
//!
//! Every job has a limit, far above what it needs on a busy machine, and is searched for afterwards:
//! whatever a job starts inherits a mark in its environment, and no process with that mark may be
//! left, however the job ended. `remote` has daemons on machines that an agent of the tests stands for, `machines` real
//! logins.

mod direct;
mod endings;
mod limits;
mod machines;
mod nodes;
mod operators;
mod options;
mod orphans;
mod output;
mod rank;
mod remote;
mod signals;
mod slurm;
mod strangers;
mod support;
mod table;
mod tally;
mod wireup;
