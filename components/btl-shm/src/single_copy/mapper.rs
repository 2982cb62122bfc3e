//! The verbs of XPMEM: what maps a peer's memory.

use rustix::io::Errno;

/// The four verbs of XPMEM and their undoing.
pub trait Device: Send + Sync {
    /// Offers all memory of this process: the number by which others ask for it, never 0.
    fn make(&self) -> Result<i64, Errno>;
    /// Access to what a process offers.
    fn get(&self, segment: i64) -> Result<i64, Errno>;
    /// Maps `len` bytes of its memory from address `from` on, both multiples of a page; where.
    fn attach(&self, grant: i64, from: u64, len: u64) -> Result<*mut u8, Errno>;
    fn detach(&self, at: *mut u8, len: u64);
    fn release(&self, grant: i64);
}
