//! Registered memory: handles of sixteen bytes, checks of every access, copies.
//!
//! A handle has the documented fields (page, index of the domain descriptor, number of pages, flags, CRC) and in the entropy field a
//! generation, so that one used after deregistration is found out. Bounds are those of pages, as in hardware. Hardware pins pages;
//! here memory may be unmapped under a registration, so bytes go through system calls that report a fault instead of dying of it.

use crate::config::config;
use crate::counters::{self, Counter};
use crate::cq::Cq;
use crate::layouts::MemHandle;
use crate::node;
use crate::numbers::{PAGE, Return, mem, rc, status};
use crate::sys::{self, Populated};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

struct Domain {
    generation: u16,
    first: u64,
    pages: u64,
    read_only: bool,
    cookie: u32,
    cq: Option<Arc<Cq>>,
}

/// Index by the handle's twelve bits; `Err`: free, with the generation that was last.
static DOMAINS: Mutex<Vec<Result<Domain, u16>>> = Mutex::new(Vec::new());

fn domains() -> std::sync::MutexGuard<'static, Vec<Result<Domain, u16>>> {
    DOMAINS.lock().unwrap_or_else(|e| e.into_inner())
}

/// CRC-8 over a handle's first fifteen bytes, by what each bit of a byte contributes.
fn crc(handle: MemHandle) -> u8 {
    const BITS: [u8; 8] = [0x5e, 0xbc, 0x61, 0xc2, 0x9d, 0x23, 0x46, 0x8c];
    let bytes = [handle.qword1.to_le_bytes(), handle.qword2.to_le_bytes()].concat();
    bytes[..15].iter().fold(0, |crc, byte| {
        let x = crc ^ byte;
        (0..8).filter(|b| x >> b & 1 == 1).fold(0, |sum, b| sum ^ BITS[b])
    })
}

/// Of a handle's flags.
const NEW_FORMAT: u64 = 0x80;

fn encode(index: usize, d: &Domain) -> MemHandle {
    let flags = NEW_FORMAT | u64::from(d.read_only);
    let qword1 = (d.first / PAGE) & ((1 << 52) - 1) | u64::from(d.generation & 0xfff) << 52;
    let qword2 = d.pages & 0xfff_ffff | 12 << 28 | flags << 34 | (index as u64) << 42;
    let handle = MemHandle { qword1, qword2 };
    MemHandle { qword1, qword2: qword2 | u64::from(crc(handle)) << 56 }
}

/// Whether a handle can be one at all.
pub fn is_whole(handle: MemHandle) -> bool {
    handle.qword2 >> 56 == u64::from(crc(MemHandle { qword2: handle.qword2 & (u64::MAX >> 8), ..handle }))
}

pub fn is_read_only(handle: MemHandle) -> bool {
    handle.qword2 >> 34 & 1 == 1
}

/// Whether the index stands where the format for shared descriptors has it. In the original one it stands in the place of the entropy.
fn is_new(handle: MemHandle) -> bool {
    handle.qword2 >> 34 & NEW_FORMAT != 0
}

fn index_of(handle: MemHandle) -> usize {
    let field = if is_new(handle) { handle.qword2 >> 42 } else { handle.qword1 >> 52 };
    (field & 0xfff) as usize
}

/// Whether a handle names this registration. Programs make handles of the original format out of the page and the index that they took from one
/// (libfabric's keys), with as many pages as the field holds; these have no generation that would tell a later registration at the place,
/// and no CRC where they are for fast operations, which do not look at it.
fn names(handle: MemHandle, index: usize, d: &Domain) -> bool {
    const BASE: u64 = (1 << 52) - 1;
    match is_new(handle) {
        true => encode(index, d) == handle,
        false => handle.qword1 & BASE == (d.first / PAGE) & BASE,
    }
}

/// Registers memory.
///
/// # Errors
/// INVALID_PARAM for no bytes or unknown flags, PERMISSION_ERROR for pages that cannot be written, ERROR_RESOURCE at a limit of the node.
pub fn register(
    address: u64,
    length: u64,
    cq: Option<Arc<Cq>>,
    flags: u32,
    cookie: u32,
) -> Result<MemHandle, Return> {
    let Some(end) = address.checked_add(length).filter(|_| length > 0 && flags & !mem::KNOWN == 0) else {
        return Err(rc::INVALID_PARAM);
    };
    let first = address / PAGE * PAGE;
    let pages = (end - first).div_ceil(PAGE);
    let read_only = flags & mem::READ_ONLY != 0;
    check_pages(address, end, read_only)?;
    if !node::take(node::Resource::Memory, 1, config().mdds.into()) {
        return Err(rc::ERROR_RESOURCE);
    }
    if config().mrt != 0 && !node::take(node::Resource::Pages, pages, config().mrt) {
        node::give(node::Resource::Memory, 1);
        return Err(rc::ERROR_RESOURCE);
    }
    if let Some(cq) = &cq {
        cq.attach_memory();
    }
    let mut domains = domains();
    let index = domains.iter().position(Result::is_err).unwrap_or_else(|| {
        domains.push(Err(0));
        domains.len() - 1
    });
    let generation = domains[index].as_ref().err().map_or(1, |g| (g + 1) & 0xfff);
    let domain = Domain { generation, first, pages, read_only, cookie, cq };
    let handle = encode(index, &domain);
    domains[index] = Ok(domain);
    counters::add(Counter::Registrations, 1);
    Ok(handle)
}

/// Every page can be read, and written where it shall be: the kernel makes them all present, as pinning does, in one call. Their bytes
/// stay what they are. Memory that the kernel does not populate (that of devices), and kernels older than 5.14, are asked page by page.
fn check_pages(address: u64, end: u64, read_only: bool) -> Result<(), Return> {
    match sys::populate(address, end, !read_only) {
        Populated::Whole => Ok(()),
        Populated::NotMapped => Err(rc::INVALID_PARAM),
        Populated::Refused => look_at_pages(address, end, read_only),
    }
}

/// The same, by a read of each page and the kernel's list of mappings.
fn look_at_pages(address: u64, end: u64, read_only: bool) -> Result<(), Return> {
    let mut at = address;
    while at < end {
        if !sys::read_memory(at, &mut [0]) {
            return Err(rc::INVALID_PARAM);
        }
        at = (at / PAGE + 1) * PAGE;
    }
    if read_only || is_writable(address, end) { Ok(()) } else { Err(rc::PERMISSION_ERROR) }
}

/// Whether the kernel's list of mappings says that a range may be written. Writing to find out would change what a program reads.
fn is_writable(address: u64, end: u64) -> bool {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return true };
    maps.lines().all(|line| {
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(rights)) = (words.next(), words.next()) else { return true };
        let Some((from, to)) = range.split_once('-') else { return true };
        let hex = |t| u64::from_str_radix(t, 16).unwrap_or(0);
        hex(to) <= address || hex(from) >= end || rights.as_bytes().get(1) == Some(&b'w')
    })
}

/// Ends a registration, behind an access that is being carried out. False: there is none of that handle.
pub fn deregister(handle: MemHandle) -> bool {
    let mut domains = domains();
    let index = index_of(handle);
    let Some(Ok(domain)) = domains.get(index) else { return false };
    if encode(index, domain) != handle {
        return false;
    }
    node::give(node::Resource::Memory, 1);
    if config().mrt != 0 {
        node::give(node::Resource::Pages, domain.pages);
    }
    if let Some(cq) = &domain.cq {
        cq.detach_memory();
    }
    domains[index] = Err(domain.generation);
    true
}

/// A range of registered memory that is to be read or written.
#[derive(Clone, Copy)]
pub struct Access {
    pub handle: MemHandle,
    pub address: u64,
    pub length: u64,
    pub write: bool,
    /// The job it must belong to.
    pub cookie: u32,
}

impl Access {
    fn domain<'a>(&self, domains: &'a [Result<Domain, u16>]) -> Result<&'a Domain, u8> {
        let index = index_of(self.handle);
        let Some(Ok(d)) = domains.get(index) else { return Err(status::AT_MDD_INV) };
        if !names(self.handle, index, d) {
            return Err(status::AT_MDD_INV);
        }
        if d.cookie != self.cookie {
            return Err(status::AT_PROTECTION);
        }
        let end = self.address.checked_add(self.length).ok_or(status::AT_BOUNDS)?;
        if self.address < d.first || end > d.first + d.pages * PAGE {
            return Err(status::AT_BOUNDS);
        }
        if self.write && d.read_only { Err(status::AT_MDD_WR_PERMISSION) } else { Ok(d) }
    }

    /// Checks the access and carries it out: its result, and the queue at the memory. [`deregister`] waits until it is over, so memory is
    /// not touched any more when that returns. An error is the status of the completion.
    pub fn run<T>(&self, act: impl FnOnce() -> Result<T, u8>) -> Result<(T, Option<Arc<Cq>>), u8> {
        let domains = domains();
        let cq = self.domain(&domains)?.cq.clone();
        act().map(|done| (done, cq))
    }

    /// Checks the access alone: the queue at the memory.
    pub fn check(&self) -> Result<Option<Arc<Cq>>, u8> {
        self.run(|| Ok(())).map(|((), cq)| cq)
    }
}

/// Copies bytes out of the program's memory.
pub fn read(address: u64, to: &mut [u8]) -> Result<(), u8> {
    if sys::read_memory(address, to) { Ok(()) } else { Err(status::AT_BOUNDS) }
}

/// Copies bytes into the program's memory.
pub fn write(address: u64, from: &[u8]) -> Result<(), u8> {
    if sys::write_memory(address, from) { Ok(()) } else { Err(status::AT_BOUNDS) }
}

/// Stores a word that a program polls: in one piece, behind everything before.
pub fn store(address: u64, value: u64, bytes: usize) -> Result<(), u8> {
    if !address.is_multiple_of(bytes as u64) {
        return write(address, &value.to_le_bytes()[..bytes]);
    }
    // The page is there, and was writable when it was registered: the store faults only where the program has changed that since.
    let mut old = [0; 8];
    read(address, &mut old[..bytes])?;
    // SAFETY: aligned, mapped as just read; the program shares the word by atomics or after a completion.
    unsafe {
        match bytes {
            4 => (*(address as *const AtomicU32)).store(value as u32, Ordering::Release),
            _ => (*(address as *const AtomicU64)).store(value, Ordering::Release),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_known_by_its_bits_and_ends_with_its_registration() {
        let buffer = vec![0u8; 3 * PAGE as usize];
        let address = buffer.as_ptr() as u64;
        let handle = register(address + 5, 2 * PAGE, None, mem::READ_ONLY, 7).expect("registered");
        assert_eq!(handle.qword1 & ((1 << 52) - 1), (address + 5) / PAGE);
        assert_eq!((handle.qword2 >> 28 & 0x3f, is_read_only(handle), is_whole(handle)), (12, true, true));
        assert!(!is_whole(MemHandle { qword1: handle.qword1 ^ 1, ..handle }), "a changed bit is seen");

        let check = |handle, address, length, write, cookie| {
            Access { handle, address, length, write, cookie }.check()
        };
        assert!(check(handle, address + 5, PAGE, false, 7).is_ok());
        assert_eq!(check(handle, address + 5, PAGE, true, 7).err(), Some(status::AT_MDD_WR_PERMISSION));
        assert_eq!(check(handle, address + 5, 9 * PAGE, false, 7).err(), Some(status::AT_BOUNDS));
        assert_eq!(check(handle, u64::MAX, 2, false, 7).err(), Some(status::AT_BOUNDS));
        assert_eq!(check(handle, address + 5, 1, false, 8).err(), Some(status::AT_PROTECTION));

        assert!(deregister(handle) && !deregister(handle), "once");
        let again = register(address + 5, 2 * PAGE, None, mem::READ_ONLY, 7).expect("registered again");
        assert_ne!(handle, again, "another generation");
        assert_eq!(check(handle, address + 5, 1, false, 7).err(), Some(status::AT_MDD_INV));
        assert!(deregister(again));
    }

    /// As libfabric does: page, index and rights are kept, the rest is made up.
    #[test]
    fn a_handle_of_the_original_format_names_its_registration() {
        let buffer = vec![0u8; 3 * PAGE as usize];
        let address = buffer.as_ptr() as u64;
        let handle = register(address, 2 * PAGE, None, 0, 7).expect("registered");
        let page = handle.qword1 & ((1 << 52) - 1);
        let made = |page: u64, index: u64| {
            let bare = MemHandle { qword1: page | index << 52, qword2: 0xfff_ffff | 12 << 28 };
            MemHandle { qword2: bare.qword2 | u64::from(crc(bare)) << 56, ..bare }
        };
        let index = index_of(handle) as u64;
        let check = |handle, length| Access { handle, address, length, write: true, cookie: 7 }.check();
        assert!(check(made(page, index), 2 * PAGE).is_ok());
        let bare = MemHandle { qword2: made(page, index).qword2 & (u64::MAX >> 8), ..made(page, index) };
        assert!(check(bare, 8).is_ok(), "without a CRC");
        assert_eq!(
            check(made(page, index), 9 * PAGE).err(),
            Some(status::AT_BOUNDS),
            "the registration's pages"
        );
        assert_eq!(check(made(page + 1, index), 8).err(), Some(status::AT_MDD_INV), "another page");
        assert_eq!(check(made(page, index + 700), 8).err(), Some(status::AT_MDD_INV), "another index");
        assert!(!deregister(made(page, index)), "the handle that was given ends it");
        assert!(deregister(handle));
    }

    #[test]
    fn what_is_not_there_or_cannot_be_written_is_not_registered() {
        assert_eq!(register(4096, 8, None, 0, 1), Err(rc::INVALID_PARAM), "not mapped");
        let code = register as *const () as u64;
        assert_eq!(register(code, 8, None, 0, 1), Err(rc::PERMISSION_ERROR), "not writable");
        let value = 0u64;
        assert_eq!(register(&raw const value as u64, 0, None, 0, 1), Err(rc::INVALID_PARAM), "no bytes");
        assert_eq!(
            register(&raw const value as u64, 8, None, 1 << 30, 1),
            Err(rc::INVALID_PARAM),
            "unknown flag"
        );
    }
}
