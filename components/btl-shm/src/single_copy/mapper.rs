//! The verbs of XPMEM: what maps a peer's memory.

use rustix::io::Errno;

/// The four verbs of XPMEM and their undoing.
pub trait Device: Send + Sync {
    /// Offers all memory of this process to others; returns the number by which they ask for it, never 0.
    fn make(&self) -> Result<i64, Errno>;
    /// Asks for access to the memory that a process offers as `segment`; returns the number of the access.
    fn get(&self, segment: i64) -> Result<i64, Errno>;
    /// Maps `len` bytes of the memory behind access `grant` from address `from` on, both multiples of a page; returns
    /// the address here.
    fn attach(&self, grant: i64, from: u64, len: u64) -> Result<*mut u8, Errno>;
    /// Unmaps the `len` bytes that `attach` has mapped at `at`.
    ///
    /// # Safety
    /// It has, they were not unmapped since, and nobody uses them any more.
    unsafe fn detach(&self, at: *mut u8, len: u64);
    /// Gives back the access `grant`, all of whose mappings are unmapped.
    fn release(&self, grant: i64);
}
