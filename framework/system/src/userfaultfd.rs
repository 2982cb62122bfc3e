//! userfaultfd and the kernel's list of areas: the system calls of the cache.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, RawFd};

/// `UFFDIO_API` and the like of linux/userfaultfd.h, `PROCMAP_QUERY` of linux/fs.h.
const API: libc::c_ulong = 0xc018_aa3f;
const REGISTER: libc::c_ulong = 0xc020_aa00;
const UNREGISTER: libc::c_ulong = 0x8010_aa01;
const WRITEPROTECT: libc::c_ulong = 0xc018_aa06;
const QUERY: libc::c_ulong = 0xc068_6611;

/// `UFFD_API`, and the features that are wanted: write protection of anonymous memory, and the three events.
const VERSION: u64 = 0xaa;
const PAGEFAULT_FLAG_WP: u64 = 1;
const EVENT_REMAP: u64 = 1 << 2;
const EVENT_REMOVE: u64 = 1 << 3;
const EVENT_UNMAP: u64 = 1 << 6;
/// `UFFD_USER_MODE_ONLY`: faults of the kernel's are not asked for, so no privilege is needed.
const USER_MODE_ONLY: libc::c_int = 1;
/// `UFFDIO_REGISTER_MODE_WP`.
const MODE_WP: u64 = 2;

const REMAP: u8 = 0x14;
const REMOVE: u8 = 0x15;
const UNMAP: u8 = 0x16;

/// `struct uffd_msg`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Message {
    event: u8,
    _reserved: [u8; 7],
    words: [u64; 3],
}

impl Message {
    pub const EMPTY: Message = Message { event: 0, _reserved: [0; 7], words: [0; 3] };

    /// The addresses whose memory an event says is gone or replaced; all addresses for an unknown event.
    pub fn range(&self) -> (u64, u64) {
        let [first, second, third] = self.words;
        match self.event {
            REMAP => (first, first.saturating_add(third)),
            REMOVE | UNMAP => (first, second),
            _ => (0, u64::MAX),
        }
    }
}

/// A userfaultfd descriptor. Not closed by being dropped: a forked child has another's number.
#[derive(Clone, Copy)]
pub struct Events(RawFd);

impl Events {
    /// Opens a userfaultfd descriptor with the events of unmapping, moving and emptying; the reason if this system has
    /// none.
    pub fn open() -> Result<Events, String> {
        let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | USER_MODE_ONLY;
        // SAFETY: takes a number.
        let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, flags) };
        let Ok(fd @ 0..) = RawFd::try_from(fd) else {
            return Err(format!("userfaultfd: {}", std::io::Error::last_os_error()));
        };
        let wanted = PAGEFAULT_FLAG_WP | EVENT_REMAP | EVENT_REMOVE | EVENT_UNMAP;
        let mut api = [VERSION, wanted, 0];
        // SAFETY: a structure of three words.
        if unsafe { libc::ioctl(fd, API, api.as_mut_ptr()) } != 0 {
            let error = std::io::Error::last_os_error();
            Events(fd).close();
            return Err(format!("userfaultfd has not the events that are needed: {error}"));
        }
        Ok(Events(fd))
    }

    /// The descriptor's number, to poll it.
    pub fn fd(self) -> RawFd {
        self.0
    }

    /// Closes the descriptor, which nobody uses any more.
    pub fn close(self) {
        // SAFETY: ours; nobody uses it any more.
        unsafe { libc::close(self.0) };
    }

    /// Whether a change of mappings is under way whose event has not been read. Takes no lock, in the kernel neither.
    pub fn is_pending(self) -> bool {
        // SAFETY: the kernel looks at its count first and then fails to read a structure at 0.
        let answer = unsafe { libc::ioctl(self.0, WRITEPROTECT, 0) };
        // Anything but the failure that is expected is no proof.
        answer == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT)
    }

    /// Gives an area to the descriptor, so that changes of it are told. False: the area is of a kind for which they are
    /// not.
    pub fn watch(self, area: &Area) -> bool {
        let mut register = [area.start, area.end - area.start, MODE_WP, 0];
        // SAFETY: a structure of four words.
        unsafe { libc::ioctl(self.0, REGISTER, register.as_mut_ptr()) == 0 }
    }

    /// Takes an area from the descriptor, so that changes of it are told no more.
    pub fn unwatch(self, area: &Area) {
        let mut range = [area.start, area.end - area.start];
        // SAFETY: a structure of two words. A failure is of an area that is not what it was.
        unsafe { libc::ioctl(self.0, UNREGISTER, range.as_mut_ptr()) };
    }

    /// Reads events that are there and returns their number, 0 if there are none. Allocates nothing.
    pub fn read(self, messages: &mut [Message]) -> usize {
        // SAFETY: as many bytes as are there.
        let bytes = unsafe { libc::read(self.0, messages.as_mut_ptr().cast(), size_of_val(messages)) };
        usize::try_from(bytes).map_or(0, |bytes| bytes / size_of::<Message>())
    }
}

/// A piece of the address space, as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub start: u64,
    pub end: u64,
    /// Private, and not of a file.
    pub anonymous: bool,
}

/// The list of areas, kept open.
pub struct Areas {
    maps: File,
    queries: bool,
}

/// Whether this system tells of changes of memory by userfaultfd; the reason if not.
pub fn events_there() -> Result<(), String> {
    Events::open().map(Events::close)
}

impl Areas {
    /// Opens the list of areas and finds out whether the kernel answers queries for single ones.
    pub fn open() -> std::io::Result<Areas> {
        let maps = File::open("/proc/self/maps")?;
        let queries = query(&maps, 0).is_some();
        Ok(Areas { maps, queries })
    }

    /// The areas that have parts of a range; `None`: there is a hole in it, or the kernel does not say.
    pub fn of(&self, start: u64, end: u64) -> Option<Vec<Area>> {
        let mut found: Vec<Area> = Vec::new();
        let all = if self.queries { Vec::new() } else { read_all()? };
        let mut at = start;
        while at < end {
            let area = match self.queries {
                true => query(&self.maps, at).filter(|a| a.start <= at)?,
                false => *all.iter().find(|a| a.start <= at && at < a.end)?,
            };
            at = area.end;
            found.push(area);
        }
        Some(found)
    }

    /// All areas of the address space; empty: the kernel does not say.
    pub fn all(&self) -> Vec<Area> {
        read_all().unwrap_or_default()
    }
}

/// Asks the kernel for the area at an address, or the next one above; `None`: there is none, or this kernel answers no
/// such query.
fn query(maps: &File, at: u64) -> Option<Area> {
    const SHARED: u64 = 8;
    const COVERING_OR_NEXT: u64 = 16;
    // `struct procmap_query`: size, flags, address; start, end, flags of the area, page size, offset, inode; device,
    // lengths of names, names.
    let mut words = [104, COVERING_OR_NEXT, at, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: a structure of 104 bytes, without room for names.
    if unsafe { libc::ioctl(maps.as_raw_fd(), QUERY, words.as_mut_ptr()) } != 0 {
        return None;
    }
    Some(Area { start: words[3], end: words[4], anonymous: words[5] & SHARED == 0 && words[8] == 0 })
}

/// Reads all areas from the text of `/proc/self/maps`, which every kernel has.
fn read_all() -> Option<Vec<Area>> {
    let mut text = String::new();
    File::open("/proc/self/maps").ok()?.read_to_string(&mut text).ok()?;
    Some(text.lines().filter_map(parse).collect())
}

/// Reads an area from a line of `/proc/self/maps`; `None`: it is no such line.
fn parse(line: &str) -> Option<Area> {
    let mut words = line.split_ascii_whitespace();
    let (range, access, _, _, inode) =
        (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    let (start, end) = range.split_once('-')?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    Some(Area { start: hex(start)?, end: hex(end)?, anonymous: access.ends_with('p') && inode == "0" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_list_are_read() {
        let heap = "55d0c0a00000-55d0c0a21000 rw-p 00000000 00:00 0          [heap]";
        let expected = Area { start: 0x55d0_c0a0_0000, end: 0x55d0_c0a2_1000, anonymous: true };
        assert_eq!(parse(heap), Some(expected));
        let file = "7f00-7f01 r--p 00000000 fe:00 77 /lib/x.so";
        assert_eq!(parse(file), Some(Area { start: 0x7f00, end: 0x7f01, anonymous: false }));
        let shared = "7f00-7f01 rw-s 00000000 00:00 0";
        assert!(parse(shared).is_some_and(|a| !a.anonymous));
        assert_eq!(parse("no line"), None);
    }

    #[test]
    fn both_ways_find_the_same_areas() {
        let bytes = vec![1u8; 3 << 20];
        let (start, end) = (bytes.as_ptr() as u64, bytes.as_ptr() as u64 + bytes.len() as u64);
        let mut areas = Areas::open().unwrap();
        let one = areas.of(start, end).unwrap();
        areas.queries = false;
        assert_eq!(areas.of(start, end).unwrap(), one);
        assert!(one.iter().all(|a| a.anonymous) && one[0].start <= start && one.last().unwrap().end >= end);
        assert_eq!(areas.of(0x1000, 0x2000), None);
    }
}
