//! Memory of the node in this process: a descriptor without a name is given its length, its pages are made, and it is mapped.
//!
//! Pages are made when the memory is got, so that a lack of memory is an error then and not a signal later. A process that
//! gets the descriptor gives it the length, as the others do; it cannot shrink ([`crate::Client::share`]).

use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::process::{Resource, getrlimit};
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::ptr::null_mut;

/// A mapping; unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    base: *mut c_void,
    len: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread; what is in it is its users'.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Of nothing.
    pub const NONE: Mapping = Mapping { base: null_mut(), len: 0 };

    /// Gives the memory a length, makes the pages of a part exist (offset and bytes), and maps all of it.
    pub fn new(memory: &OwnedFd, len: u64, own: (u64, u64)) -> Result<Mapping, String> {
        lengthen(memory, len)?;
        reserve(memory, own.0, own.1)?;
        let len = usize::try_from(len).map_err(|why| why.to_string())?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base =
            unsafe { mmap(null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, memory, 0) };
        base.map(|base| Mapping { base, len }).map_err(|why| format!("{len} bytes cannot be mapped: {why}"))
    }

    /// The address of the first byte; null where nothing is mapped.
    pub fn base(&self) -> *mut u8 {
        self.base.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: mapped in `new`, dropped once; who has pointers into it after that broke the rules.
            let _ = unsafe { munmap(self.base, self.len) };
        }
    }
}

/// Sets the length of a piece of memory. An error beyond the limit on file sizes, where the kernel would send a signal.
fn lengthen(memory: &OwnedFd, len: u64) -> Result<(), String> {
    if let Some(limit) = getrlimit(Resource::Fsize).current
        && len > limit
    {
        return Err(format!("the limit on file sizes is {limit} bytes (ulimit -f), {len} are asked for"));
    }
    ftruncate(memory, len).map_err(|why| why.to_string())
}

/// Makes the pages of a range exist.
fn reserve(memory: &OwnedFd, offset: u64, bytes: u64) -> Result<(), String> {
    if bytes == 0 {
        return Ok(());
    }
    loop {
        match fallocate(memory, FallocateFlags::empty(), offset, bytes) {
            Err(Errno::INTR) => {}
            other => return other.map_err(|why| format!("there are no {bytes} bytes: {why}")),
        }
    }
}

/// Checks that the node has so many bytes of memory left. The kernel sets memory without a name no limit: it would kill
/// processes to give what is asked for.
pub fn check_free_memory(bytes: u64) -> Result<(), String> {
    match left() {
        Some(left) if bytes > left => Err(format!("the node has {left} bytes left, {bytes} are asked for")),
        _ => Ok(()),
    }
}

/// The bytes of memory and swap space that the node has left; `None`: the kernel does not say.
fn left() -> Option<u64> {
    available(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// Reads available memory plus free swap space, in bytes, from the text of `/proc/meminfo`; swap space counts as 0 if
/// the text does not tell it. `None`: it does not tell the available memory.
fn available(meminfo: &str) -> Option<u64> {
    let of = |name: &str| {
        let value = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    };
    of("MemAvailable")?.checked_add(of("SwapFree").unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Client;

    fn memory() -> OwnedFd {
        Client::singleton().expect("alone").share("test", 1).expect("there is memory").0
    }

    #[test]
    fn more_than_the_node_has_is_refused() {
        let meminfo = "MemTotal:       100 kB\nMemAvailable:    10 kB\nSwapFree:  3 kB\n";
        assert_eq!(available(meminfo), Some(13 << 10));
        assert_eq!(available("MemAvailable: many"), None);
        assert!(left().is_some());
        assert!(check_free_memory(1 << 60).is_err() && check_free_memory(1).is_ok());
    }

    #[test]
    fn two_mappings_are_one_memory_whoever_comes_first() {
        let memory = memory();
        let one = Mapping::new(&memory, 5000, (0, 100)).unwrap();
        let other = Mapping::new(&memory, 5000, (100, 4900)).unwrap();
        // SAFETY: inside both mappings; one thread.
        unsafe {
            assert_eq!(one.base().add(4999).read_volatile(), 0);
            one.base().add(100).write_volatile(77);
            assert_eq!(other.base().add(100).read_volatile(), 77);
        }
    }
}
