//! MPIR, the interface of parallel debuggers: a debugger that runs `mpirun`, or attaches to it,
//! finds all processes of the job in a table.
//!
//! The names and their meanings are those of "The MPIR Process Acquisition Interface", version 1.1
//! (MPI Forum). A debugger that starts `mpirun` sets `MPIR_being_debugged` before `main`; the ranks
//! then wait in MPI_Init until it has been to `MPIR_Breakpoint` and has seen the table, so that it
//! need not attach to all of them (`MPIR_partial_attach_ok`). One that attaches later finds the
//! table filled.
//!
//! The symbols are variables that somebody else writes, and a function that somebody else stops
//! in: that is their whole use, and why they are statics. Only this module touches them.

use std::ffi::{CString, OsString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;

/// One process.
#[repr(C)]
#[derive(Debug)]
pub struct ProcDesc {
    host_name: *const c_char,
    executable_name: *const c_char,
    pid: c_int,
}

const SPAWNED: c_int = 1;
const ABORTING: c_int = 2;

/// Set by a debugger that starts mpirun.
#[unsafe(no_mangle)]
pub static mut MPIR_being_debugged: c_int = 0;
/// 0 before anything, 1: processes have been started, 2: the job is aborting.
#[unsafe(no_mangle)]
pub static mut MPIR_debug_state: c_int = 0;
/// Why it is aborting.
#[unsafe(no_mangle)]
pub static mut MPIR_debug_abort_string: *const c_char = std::ptr::null();
#[unsafe(no_mangle)]
pub static mut MPIR_proctable: *const ProcDesc = std::ptr::null();
#[unsafe(no_mangle)]
pub static mut MPIR_proctable_size: c_int = 0;
/// Its presence says: this is the starter, not a rank.
#[unsafe(no_mangle)]
pub static mut MPIR_i_am_starter: c_int = 1;
/// Its presence says: processes go on without a debugger's attaching to each.
#[unsafe(no_mangle)]
pub static mut MPIR_partial_attach_ok: c_int = 1;
/// Its presence says: message queues cannot be looked at by a library of ours.
#[unsafe(no_mangle)]
pub static mut MPIR_ignore_queues: c_int = 1;
/// Its presence says: processes are caught in MPI_Init, not before `main`.
#[unsafe(no_mangle)]
pub static mut MPIR_force_to_main: c_int = 1;

/// A debugger stops here.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn MPIR_Breakpoint() -> *mut c_void {
    // Something that must not be optimized away, so that there is a place to stop at.
    std::hint::black_box(std::ptr::null_mut())
}

/// Whether a debugger has started this process.
pub fn being_debugged() -> bool {
    // The presence of the others is all that counts; here they are used.
    // SAFETY: numbers that only a debugger writes, while this process is stopped.
    unsafe {
        std::hint::black_box((&raw const MPIR_i_am_starter).read_volatile());
        std::hint::black_box((&raw const MPIR_partial_attach_ok).read_volatile());
        std::hint::black_box((&raw const MPIR_ignore_queues).read_volatile());
        std::hint::black_box((&raw const MPIR_force_to_main).read_volatile());
        (&raw const MPIR_being_debugged).read_volatile() != 0
    }
}

/// The table that the debugger's pointers point to. It lives as long as the program.
#[derive(Debug)]
pub struct Table {
    hosts: Vec<CString>,
    programs: Vec<CString>,
    processes: Vec<ProcDesc>,
    why: CString,
}

impl Table {
    /// `hosts` and `programs`: of each rank.
    pub fn new(hosts: &[String], programs: &[OsString]) -> Table {
        let (hosts, programs) = names(hosts, programs);
        Table { hosts, programs, processes: Vec::new(), why: CString::default() }
    }

    /// Processes of a further job, behind those that are there.
    pub fn add(&mut self, hosts: &[String], programs: &[OsString]) {
        let (hosts, programs) = names(hosts, programs);
        self.hosts.extend(hosts);
        self.programs.extend(programs);
    }

    /// Everything of a job has been started: process among all and process number, in order.
    pub fn publish(&mut self, all: &[(u32, u32)]) {
        let describe = |&(rank, pid): &(u32, u32)| ProcDesc {
            host_name: self.hosts.get(rank as usize).map_or(c"".as_ptr(), |name| name.as_ptr()),
            executable_name: self.programs.get(rank as usize).map_or(c"".as_ptr(), |name| name.as_ptr()),
            pid: pid.cast_signed(),
        };
        // A debugger that stands still meanwhile sees the old table or the new one.
        let new: Vec<ProcDesc> = all.iter().map(describe).collect();
        self.processes.extend(new);
        // SAFETY: this thread alone writes; a debugger reads while it is stopped. The table
        // stays in place: it is dropped with the job, at the end of the program.
        unsafe {
            (&raw mut MPIR_proctable).write_volatile(self.processes.as_ptr());
            (&raw mut MPIR_proctable_size).write_volatile(self.processes.len() as c_int);
            (&raw mut MPIR_debug_state).write_volatile(SPAWNED);
        }
        MPIR_Breakpoint();
    }

    /// The job is aborting.
    pub fn abort(&mut self, why: &str) {
        self.why = text(why.as_bytes());
        // SAFETY: as above.
        unsafe {
            (&raw mut MPIR_debug_abort_string).write_volatile(self.why.as_ptr());
            (&raw mut MPIR_debug_state).write_volatile(ABORTING);
        }
        MPIR_Breakpoint();
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: as above; nobody finds what is going.
        unsafe {
            (&raw mut MPIR_proctable_size).write_volatile(0);
            (&raw mut MPIR_proctable).write_volatile(std::ptr::null());
            (&raw mut MPIR_debug_abort_string).write_volatile(std::ptr::null());
        }
    }
}

/// Hosts and programs of ranks as C texts; programs with their whole paths.
fn names(hosts: &[String], programs: &[OsString]) -> (Vec<CString>, Vec<CString>) {
    let path = |name: &OsString| std::fs::canonicalize(name).map_or_else(|_| name.clone(), Into::into);
    // Looking for a file once is enough for ranks with one program.
    let mut names: Vec<CString> = Vec::with_capacity(programs.len());
    for (n, program) in programs.iter().enumerate() {
        let same = n > 0 && programs[n - 1] == *program;
        names.push(if same { names[n - 1].clone() } else { text(path(program).as_bytes()) });
    }
    let hosts = hosts.iter().map(|host| text(host.as_bytes())).collect();
    (hosts, names)
}

/// Up to the first byte that a C text cannot have.
fn text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&c| c == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}
