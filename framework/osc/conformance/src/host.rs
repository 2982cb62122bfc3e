//! The host that checks run on, as far as they see it: ranks of a job, and their windows. `tests/harness` fulfils it over a real library.

use oxmpi_mca::{RequestHeader, ThreadCtx};
use oxmpi_osc::{Mapped, Verbs, WinCounts};
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

/// Memory of a window.
#[derive(Clone, Copy, Debug)]
pub enum WantedMemory {
    /// MPI_Win_create: the check's.
    Users { base: *mut c_void, bytes: u64 },
    /// MPI_Win_allocate; `align` is a power of two, at least a pointer's size.
    Allocated { bytes: u64, align: usize },
    /// MPI_Win_create_dynamic.
    Dynamic,
    /// MPI_Win_allocate_shared; `apart`: each rank's memory may lie by itself.
    Shared { bytes: u64, apart: bool },
}

/// An error of the host: MPI's error class, and a sentence.
#[derive(Clone, Debug)]
pub struct Refused {
    pub class: i32,
    pub message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// One rank of a job or of a part of it. Functions without a thread are called by the rank's main thread.
pub trait Host: Send + Sync {
    /// The rank's number.
    fn rank(&self) -> u32;
    /// The number of ranks.
    fn size(&self) -> u32;
    /// The context of the main thread.
    fn thread(&self) -> *mut ThreadCtx;
    /// A context for the calling thread.
    fn attach_thread(&self) -> *mut ThreadCtx;
    /// Takes the context of a thread back.
    fn detach_thread(&self, thread: *mut ThreadCtx);
    /// Waits for all ranks.
    fn barrier(&self) -> Result<(), Refused>;
    /// Waits for a request.
    fn wait(&self, thread: *mut ThreadCtx, request: *mut RequestHeader);
    /// Makes a window of all ranks.
    fn window(
        &self,
        disp_unit: i64,
        memory: WantedMemory,
        hints: &[(&str, &str)],
    ) -> Result<Arc<dyn HostWindow>, Refused>;
    /// The ranks of one color, in the order of their keys.
    fn split(&self, color: u32, key: i32) -> Result<Box<dyn Host>, Refused>;
}

/// A window of one rank.
pub trait HostWindow: Send + Sync {
    /// The component's verbs; `None`: no component serves the window.
    fn verbs(&self) -> Option<&Verbs>;
    /// This rank's memory.
    fn own(&self) -> Mapped;
    /// A rank's memory, if this process can load and store it.
    fn mapped(&self, rank: u32) -> Option<Mapped>;
    /// The component's counts.
    fn counts(&self) -> WinCounts;
    /// The number of notification counters in force.
    fn num_notify(&self) -> u32;
    /// Changes hints; called by all ranks.
    fn set_hints(&self, thread: *mut ThreadCtx, hints: &[(&str, &str)]) -> Result<(), Refused>;
    /// Makes another window on the same memory; called by all ranks.
    fn dup(&self, thread: *mut ThreadCtx, hints: &[(&str, &str)]) -> Result<Arc<dyn HostWindow>, Refused>;
    /// Frees the window; called by all ranks.
    fn free(&self, thread: *mut ThreadCtx) -> Result<(), Refused>;
}
