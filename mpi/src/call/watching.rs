//! Record of the call each thread is in, for `mpirun --report-state-on-timeout`.
//!
//! **Where.** A page of memory for the process, a memfd named `oxmpi-calls`, with a slot for each thread: the thread's
//! number, the length of a text, the text. The node daemon finds it in the process's map of memory and reads it when the time
//! limit has passed (`mpirun/src/daemon/census.rs`); the process has no part in that, it may be stuck anywhere.
//!
//! **When.** Only in a job that was started with that option, which [`VARIABLE`] says. Then the functions on a message's
//! path go the way of unusual calls (`process::quick` finds none), where they write their record; otherwise they
//! pay nothing, and others a test of a flag where they enter. A record costs a fraction of a microsecond: it is
//! written in place, without an allocation.
//!
//! **Requests.** A function that starts an operation leaves its record with the handle, so that MPI_Wait can say
//! for which receive from whom it waits. A handle that is used again replaces its record, so there are no more of
//! them than handles.
//!
//! **Access.** A slot is written by its thread alone. The reader is another process and may see half a text
//! while one is written: the length is 0 meanwhile, and what it reads is only shown to a person. A call inside of a
//! call (a callback's) leaves the outer record as it is.

use crate::comm;
use crate::constants::*;
use crate::request;
use crate::types::{Comm, Request};
use core::cell::Cell;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Set by mpirun.
const VARIABLE: &str = "OXMPI_REPORT_CALLS";
/// Shared with `mpirun/src/daemon/census.rs`: the name, and the layout of [`Slot`].
const NAME: &core::ffi::CStr = c"oxmpi-calls";
const SLOTS: usize = 64;
const TEXT: usize = 1016;

#[repr(C)]
struct Slot {
    thread: AtomicU32,
    length: AtomicU32,
    text: [u8; TEXT],
}

static ON: AtomicBool = AtomicBool::new(false);
static PAGE: AtomicPtr<Slot> = AtomicPtr::new(core::ptr::null_mut());
static NEXT: AtomicUsize = AtomicUsize::new(0);
static STARTED: Mutex<Option<HashMap<usize, Call>>> = Mutex::new(None);

thread_local! {
    /// The thread's slot, and how deep in calls it is.
    static MINE: Cell<Option<usize>> = const { Cell::new(None) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The communicator that was described last, and how.
    static COMM: Cell<Option<(usize, [u8; 64], usize)>> = const { Cell::new(None) };
}

/// Whether calls are recorded.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Before MPI starts: looks whether calls are to be recorded. Where there is no memory for that they are not.
pub fn start() {
    if on() || std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let bytes = SLOTS * size_of::<Slot>();
    // SAFETY: a fresh file without a name, mapped where the kernel likes; the mapping stays for the process's life.
    let page = unsafe {
        let file = libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return;
        }
        let sized = libc::ftruncate(file, bytes as libc::off_t) == 0;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let page = match sized {
            true => libc::mmap(core::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, file, 0),
            false => libc::MAP_FAILED,
        };
        libc::close(file);
        page
    };
    if page != libc::MAP_FAILED {
        PAGE.store(page.cast(), Ordering::Release);
        *STARTED.lock() = Some(HashMap::new());
        ON.store(true, Ordering::Release);
    }
}

/// An argument's bytes as one word: a number, a handle or an address.
pub fn word<T: Copy>(argument: &T) -> u64 {
    let mut word = [0; 8];
    let n = size_of::<T>().min(8);
    // SAFETY: so many bytes are there on both sides; the standard's parameters have no padding.
    unsafe { core::ptr::copy_nonoverlapping((argument as *const T).cast::<u8>(), word.as_mut_ptr(), n) };
    u64::from_le_bytes(word)
}

const _: () = assert!(cfg!(target_endian = "little"), "the low bytes of a number come first");

/// The part of a call that is shown.
#[derive(Clone, Copy, Default)]
struct Call {
    name: &'static str,
    source: Option<i32>,
    dest: Option<i32>,
    root: Option<i32>,
    tag: Option<i32>,
    comm: Option<usize>,
    /// Handles of requests: a place, and how many.
    requests: Option<(usize, usize)>,
}

impl Call {
    fn new(name: &'static str, arguments: &[(&'static str, u64)]) -> Call {
        let mut call = Call { name, ..Call::default() };
        let mut count = 1;
        for &(argument, word) in arguments {
            match argument {
                "source" => call.source = Some(word as i32),
                "dest" => call.dest = Some(word as i32),
                "root" => call.root = Some(word as i32),
                "tag" | "recvtag" => call.tag = Some(word as i32),
                "comm" | "local_comm" | "comm_old" => call.comm = Some(word as usize),
                "count" | "incount" => count = (word as i32).max(0) as usize,
                "request" => call.requests = Some((word as usize, 1)),
                "array_of_requests" => call.requests = Some((word as usize, count)),
                _ => {}
            }
        }
        call
    }

    /// Whether it waits for the requests whose places it was given.
    fn takes_requests(&self) -> bool {
        self.name.starts_with("MPI_Wait") || self.name.starts_with("MPI_Test")
    }

    /// Whether it leaves a request in the place it was given.
    fn makes_request(&self) -> bool {
        self.comm.is_some() && self.requests.is_some_and(|(place, count)| place != 0 && count == 1)
    }

    fn describe(&self, to: &mut Text<'_>, depth: u32) {
        let rank = |n: i32| (n >= 0).then_some(n);
        // A text that is full takes no more; nothing else can fail.
        let _ = write!(to, "{}", self.name);
        match self.source.map(|source| (source, rank(source))) {
            Some((_, Some(source))) => _ = write!(to, " from rank {source}"),
            Some((MPI_ANY_SOURCE, _)) => _ = write!(to, " from any rank"),
            _ => {}
        }
        if let Some(dest) = self.dest.and_then(rank) {
            let _ = write!(to, " to rank {dest}");
        }
        match self.tag {
            Some(MPI_ANY_TAG) => _ = write!(to, " with any tag"),
            Some(tag) => _ = write!(to, " with tag {tag}"),
            None => {}
        }
        if let Some(root) = self.root.and_then(rank) {
            let _ = write!(to, " with root {root}");
        }
        if let Some(comm) = self.comm {
            let _ = to.write_str(" on ");
            describe_comm(comm, to);
        }
        if depth == 0 && self.takes_requests() {
            self.describe_requests(to);
        }
    }

    fn describe_requests(&self, to: &mut Text<'_>) {
        let Some((place, count)) = self.requests.filter(|(place, _)| *place != 0) else { return };
        let started = STARTED.lock();
        let (Some(started), Some(process)) = (started.as_ref(), crate::call::process::current()) else {
            return;
        };
        let mut shown = 0;
        for i in 0..count {
            // SAFETY: the caller's handles, as many as it says.
            let handle = unsafe { *(place as *const Request).add(i) };
            let pending = request::find(process, handle).is_some_and(|found| !request::ready(found));
            if !pending {
                continue;
            }
            shown += 1;
            match started.get(&handle.0) {
                _ if shown > 4 => {}
                Some(call) => {
                    let _ = to.write_str(if shown == 1 { " for " } else { ", " });
                    call.describe(to, 1);
                }
                None => _ = to.write_str(if shown == 1 { " for a request" } else { ", a request" }),
            }
        }
        if shown > 4 {
            let _ = write!(to, " and {} more", shown - 4);
        }
    }
}

fn describe_comm(handle: usize, to: &mut Text<'_>) {
    if let Some((known, text, length)) = COMM.get()
        && known == handle
    {
        to.bytes(&text[..length]);
        return;
    }
    let described =
        comm::get(Comm(handle)).map_or_else(|| "no communicator".into(), |object| object.describe());
    let mut text = [0; 64];
    let length = described.floor_char_boundary(text.len());
    text[..length].copy_from_slice(&described.as_bytes()[..length]);
    COMM.set(Some((handle, text, length)));
    to.bytes(&text[..length]);
}

/// A text that is written in place.
struct Text<'a> {
    bytes: &'a mut [u8; TEXT],
    length: usize,
}

impl Text<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        let n = bytes.len().min(TEXT - self.length);
        self.bytes[self.length..self.length + n].copy_from_slice(&bytes[..n]);
        self.length += n;
    }
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

/// A call that is under way; its record is withdrawn when this is dropped.
pub struct Inside(Call);

/// A call begins, with these arguments.
#[cold]
#[inline(never)]
pub fn enter(name: &'static str, arguments: &[(&'static str, u64)]) -> Inside {
    let call = Call::new(name, arguments);
    let depth = DEPTH.replace(DEPTH.get() + 1);
    if depth == 0
        && let Some(slot) = slot()
    {
        // SAFETY: a slot of the page that belongs to this thread; the other process only reads.
        unsafe {
            let mut text = Text { bytes: &mut (*slot).text, length: 0 };
            call.describe(&mut text, 0);
            let length = text.length as u32;
            (*slot).length.store(length, Ordering::Release);
        }
    }
    Inside(call)
}

fn slot() -> Option<*mut Slot> {
    let page = PAGE.load(Ordering::Acquire);
    let number = MINE.get().unwrap_or_else(|| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        MINE.set(Some(number));
        if number < SLOTS {
            // SAFETY: inside of the page; the call has no arguments and no memory.
            unsafe {
                let thread = libc::syscall(libc::SYS_gettid) as u32;
                (*page.add(number)).thread.store(thread, Ordering::Relaxed);
            }
        }
        number
    });
    // SAFETY: inside of the page.
    (number < SLOTS && !page.is_null()).then(|| unsafe { page.add(number) })
}

impl Drop for Inside {
    #[cold]
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth > 0 {
            return;
        }
        if let Some(slot) = slot() {
            // SAFETY: the slot is this thread's own, and its page stays.
            unsafe { (*slot).length.store(0, Ordering::Release) };
        }
        let call = self.0;
        if call.name == "MPI_Comm_set_name" {
            COMM.set(None);
        }
        if let Some((place, _)) = call.requests.filter(|_| call.makes_request()) {
            // SAFETY: the caller's place for a handle, which the call has written unless it failed.
            let handle = unsafe { *(place as *const Request) };
            if let Some(started) = STARTED.lock().as_mut() {
                started.insert(handle.0, call);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &'static str, arguments: &[(&'static str, u64)]) -> String {
        let mut bytes = [0; TEXT];
        let mut text = Text { bytes: &mut bytes, length: 0 };
        Call::new(name, arguments).describe(&mut text, 1);
        let length = text.length;
        String::from_utf8(bytes[..length].to_vec()).expect("text")
    }

    #[test]
    fn calls_are_described() {
        let any = (MPI_ANY_SOURCE as u64, MPI_ANY_TAG as u64);
        assert_eq!(text("MPI_Recv", &[("source", 1), ("tag", 9)]), "MPI_Recv from rank 1 with tag 9");
        assert_eq!(
            text("MPI_Recv", &[("source", any.0), ("tag", any.1)]),
            "MPI_Recv from any rank with any tag"
        );
        assert_eq!(text("MPI_Ssend", &[("dest", 3), ("tag", 0)]), "MPI_Ssend to rank 3 with tag 0");
        assert_eq!(text("MPI_Bcast", &[("root", 2)]), "MPI_Bcast with root 2");
    }

    #[test]
    fn a_text_that_is_full_takes_no_more() {
        let mut bytes = [0; TEXT];
        let mut text = Text { bytes: &mut bytes, length: 0 };
        for _ in 0..200 {
            text.bytes(b"0123456789");
        }
        assert_eq!(text.length, TEXT);
    }
}
