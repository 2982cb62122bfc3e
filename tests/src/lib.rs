//! The parts that whole-job tests share: the MPI under test, jobs with a limit, and the search for what a job
//! left behind.
//!
//! **The MPI under test** is this workspace, installed once into `target/oxmpi` (or where
//! `OXMPI_PREFIX` says it is already). With `MPI_UNDER_TEST=PREFIX` the same C programs run on
//! another MPI: a program that fails there too is a wrong test.
//!
//! **Jobs beside each other are bounded by cores**, whatever the number of test threads and binaries (`places`). A job's limit begins when it starts.
//!
//! **Every job has a limit and is cleaned up.** Its processes are recognised by a variable that all
//! of them inherit, so nothing that a job started can hide by leaving its session or its parent.

mod job;
mod mpi;
mod places;
mod plugin;
mod processes;

pub use job::{Ended, Job, Running};
pub use mpi::{Flavour, Mpi, mpi, root};
pub use places::Places;
pub use plugin::{
    btl_fabric, coll_sparse, fbtl_faults, files_in_c, ofi_with_faults, osc_am, ugni_library, verbs_device,
};
pub use processes::{Held, Process, marked};

use std::io::Write;

/// Says that a test did not look at what it is there for, and why. `cargo xtask test` collects
/// these; without it they go to standard error.
pub fn leave_out(test: &str, why: &str) {
    let line = format!("{test}: {why}\n");
    let file = std::env::var_os("OXMPI_LEFT_OUT")
        .and_then(|path| std::fs::OpenOptions::new().create(true).append(true).open(path).ok());
    match file {
        // One write, so that lines of tests that run at once stay whole.
        Some(mut file) => drop(file.write_all(line.as_bytes())),
        None => eprint!("left out: {line}"),
    }
}

/// Whether programs in Fortran can be compiled by our own wrapper; if not, every test says so in the same words, of which a summary keeps one.
pub fn can_compile_fortran() -> bool {
    let why = match () {
        _ if !in_path("gfortran") => "gfortran is missing (Debian package gfortran)",
        _ if !mpi().is_ours() => "mpifort is ours",
        _ => return true,
    };
    leave_out("programs in Fortran", why);
    false
}

/// Whether this system tells a process of changes of its memory, without privilege.
pub fn has_userfaultfd() -> bool {
    const USER_MODE_ONLY: libc::c_int = 1;
    // SAFETY: takes a number.
    let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | USER_MODE_ONLY) };
    if fd >= 0 {
        // SAFETY: just opened.
        unsafe { libc::close(fd as libc::c_int) };
    }
    fd >= 0
}

/// Whether every process may use io_uring.
pub fn has_io_uring() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").is_ok_and(|text| text.trim() == "0")
}

/// Is this program there to run?
pub fn in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
