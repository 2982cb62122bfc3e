//! MPI_Comm_spawn, as far as it is there (MPI 5.0 §11.8.1): its error, and a caller that cannot live with that.
//!
//! A program that gets the error may go on in another way, so it is returned where the communicator's error handler returns
//! errors. mpi4py.futures cannot: it spawns its workers in a thread of its own, which ends with the error, while the program
//! waits for results that no worker will make. Such a job is ended with the way that works.

use crate::comm;
use crate::error::{Failure, not_there, unsupported};
use crate::memory;
use crate::process;
use crate::types::Comm;
use core::ffi::{c_char, c_int};

/// The module that mpi4py.futures has its workers run.
const WORKERS: &str = "mpi4py.futures.server";
/// No command line that is looked at has more words.
const MOST_WORDS: usize = 64;

/// Body of the function.
#[cold]
pub fn refuse(name: &'static str, on: Comm, argv: usize) -> c_int {
    // Other ranks than the root's may give anything, and mpi4py's pools are of one process.
    let alone = comm::get(on).is_some_and(|object| object.comm.size() == 1);
    match process::current() {
        Some(process) if alone && runs_workers(argv) => {
            crate::stdio::flush();
            let Failure { code, message } = not_there(name);
            let text = format!(
                "{name}: {message}. mpi4py.futures starts its workers by it and would wait for them for ever. Start them by mpirun: \
                 mpirun -n 5 python3 -m mpi4py.futures PROGRAM runs PROGRAM on one rank, with four workers."
            );
            process.instance.abort(code.max(1), &format!("an error in {name}"), &text)
        }
        _ => unsupported(name, Some(on)),
    }
}

fn runs_workers(argv: usize) -> bool {
    let argv = core::ptr::with_exposed_provenance::<*const c_char>(argv);
    if argv.is_null() {
        return false;
    }
    (0..MOST_WORDS)
        .map_while(|at| memory::read(argv.wrapping_add(at), "argv").ok().filter(|word| !word.is_null()))
        .any(|word| memory::text(word, "argv").is_ok_and(|word| word == WORKERS))
}
