//! An open file of a check, its bell, and operations under way.
//!
//! Waits are those of a host: harvest, look, announce on the bell's word, look once more, sleep until the bell wakes or the component's descriptor is readable. A sleep has no time-out but
//! the patience of the setup, behind which the check fails.

use crate::rig::Rig;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::time::Duration;
use oxmpi_fbtl::{Bell, FileFacts, Operation, Piece, Transfer, transfer};
use oxmpi_fs::mode;
use oxmpi_mca::{Status, WakingWord};
use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Mutex;

/// The word of a file's bell and a descriptor for each of its sleepers.
struct Doorbell {
    word: WakingWord,
    sleepers: Mutex<Vec<RawFd>>,
}

extern "C" fn wake(ctx: *mut c_void, _: *const WakingWord) -> Status {
    let one = 1u64.to_ne_bytes();
    // SAFETY: the context is the doorbell, which lives as long as the file.
    let doorbell = unsafe { &*ctx.cast::<Doorbell>() };
    for fd in doorbell.sleepers.lock().expect("whole").iter() {
        // SAFETY: 8 bytes on the stack.
        let written = unsafe { libc::write(*fd, one.as_ptr().cast(), 8) };
        assert_eq!(written, 8, "a sleeper's descriptor");
    }
    Status::OK
}

/// A file that the component has open.
pub struct File<'a> {
    rig: &'a Rig,
    file: *mut c_void,
    /// The same file, for what a check itself does there.
    pub std: std::fs::File,
    _direct: Option<std::fs::File>,
    doorbell: Box<Doorbell>,
    submitted: std::sync::atomic::AtomicU32,
}

// SAFETY: all functions of the table may be called concurrently; the rest are descriptors and atomics.
unsafe impl Send for File<'_> {}
// SAFETY: as above.
unsafe impl Sync for File<'_> {}

/// An operation that was submitted, with all that it names.
pub struct Pending {
    operation: Box<Operation>,
    _transfer: Box<Transfer>,
    _pieces: Box<[Piece]>,
}

// SAFETY: addresses of memory that the check keeps, behind the operation that anybody may look at.
unsafe impl Send for Pending {}

impl Drop for Pending {
    /// A check that fails leaves operations under way: what they name stays until they have ended, or for good.
    fn drop(&mut self) {
        for _ in 0..200 {
            if self.operation.result().is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        // A late write there would hit what others have by then.
        eprintln!("an operation that nobody waited for has not ended within 10 s");
        std::process::abort();
    }
}

impl<'a> File<'a> {
    /// Makes a file of that name for reading and writing.
    pub fn new(rig: &'a Rig, name: &str) -> File<'a> {
        let std = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(rig.path(name));
        File::of(rig, std.expect("a file"), None, mode::RDWR)
    }

    /// A file with a descriptor past the cache; `None` where the file system has none.
    pub fn direct(rig: &'a Rig, name: &str) -> Option<File<'a>> {
        let std = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(rig.path(name));
        let direct =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).open(rig.path(name));
        Some(File::of(rig, std.expect("a file"), Some(direct.ok()?), mode::RDWR))
    }

    /// A file that is there, open as `mode` says, whatever the descriptor may do.
    pub fn at(rig: &'a Rig, path: &Path, mode: u32, writable: bool) -> File<'a> {
        let std = OpenOptions::new().read(true).write(writable).open(path);
        File::of(rig, std.expect("a file"), None, mode)
    }

    fn of(rig: &'a Rig, std: std::fs::File, direct: Option<std::fs::File>, mode: u32) -> File<'a> {
        let doorbell = Box::new(Doorbell { word: WakingWord::new(0), sleepers: Mutex::default() });
        let ctx = (&raw const *doorbell).cast_mut().cast();
        let bell = Bell { word: &doorbell.word, wake, ctx };
        let facts = FileFacts {
            size: size_of::<FileFacts>() as u32,
            fd: std.as_raw_fd(),
            direct_fd: direct.as_ref().map_or(-1, AsRawFd::as_raw_fd),
            direct_for: if direct.is_some() { oxmpi_fs::mode::RDWR } else { 0 },
            direct_unit: 4096,
            keeps: 0,
            mode,
            magic: 0,
            bell: &bell,
        };
        let mut priority = i32::MIN;
        let status = (rig.module.query)(rig.module.state, &facts, &mut priority);
        assert_eq!(status, Status::OK, "query");
        assert!(priority > i32::MIN, "query sets the priority");
        let mut file = null_mut();
        assert_eq!((rig.table().open)(rig.module.state, &facts, &mut file), Status::OK, "open");
        File { rig, file, std, _direct: direct, doorbell, submitted: 0.into() }
    }

    /// Submits a list; the check keeps its memory until the end. An error: it was not taken.
    pub fn submit(&self, what: u32, flags: u32, pieces: &[Piece]) -> Result<Pending, Status> {
        self.submit_with(what, flags, 0, pieces)
    }

    /// The same with a measure of sieving.
    pub fn submit_with(
        &self,
        what: u32,
        flags: u32,
        sieve_bytes: u64,
        pieces: &[Piece],
    ) -> Result<Pending, Status> {
        let pieces: Box<[Piece]> = pieces.into();
        let transfer = Box::new(Transfer {
            size: size_of::<Transfer>() as u32,
            what,
            flags,
            reserved: 0,
            pieces: pieces.as_ptr(),
            num_pieces: pieces.len(),
            sieve_bytes,
        });
        let operation = Box::new(Operation::new());
        let status = (self.rig.table().submit)(self.file, &*transfer, &*operation);
        if status != Status::OK {
            assert!(operation.result().is_none(), "an operation that was refused has ended: {status}");
            return Err(status);
        }
        self.submitted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(Pending { operation, _transfer: transfer, _pieces: pieces })
    }

    /// Submits a list, again and again while the queue is full.
    pub fn offer(&self, what: u32, flags: u32, pieces: &[Piece]) -> Pending {
        let until = std::time::Instant::now() + self.rig.patience;
        loop {
            match self.submit(what, flags, pieces) {
                Ok(pending) => return pending,
                Err(Status::NO_RESOURCE) if std::time::Instant::now() < until => {
                    self.rig.harvest();
                    std::thread::yield_now();
                }
                Err(status) => panic!("submit: {status}"),
            }
        }
    }

    /// Asks for an early end.
    pub fn cancel(&self, pending: &Pending) {
        (self.rig.table().cancel)(self.file, &*pending.operation);
    }

    /// Sleeps until an operation has ended: its result.
    pub fn wait(&self, pending: &Pending) -> (Status, u64) {
        let word = &self.doorbell.word;
        loop {
            self.rig.harvest();
            if let Some(result) = pending.operation.result() {
                return result;
            }
            // SAFETY: a new descriptor.
            let own = unsafe {
                let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
                assert!(fd >= 0, "an eventfd");
                OwnedFd::from_raw_fd(fd)
            };
            self.doorbell.sleepers.lock().expect("whole").push(own.as_raw_fd());
            word.announce();
            let woken = pending.operation.result().is_some() || self.sleep(&own);
            word.retract();
            self.doorbell.sleepers.lock().expect("whole").retain(|fd| *fd != own.as_raw_fd());
            assert!(
                woken,
                "an operation has not ended within {:?}, or its end was not told",
                self.rig.patience
            );
        }
    }

    /// Sleeps until the bell or the component's descriptor wakes; false: nothing did.
    fn sleep(&self, own: &OwnedFd) -> bool {
        let mut wanted = [own.as_raw_fd(), self.rig.event_fd().unwrap_or(-1)].map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        });
        let patience = self.rig.patience.as_millis() as i32;
        // SAFETY: two descriptions on the stack.
        unsafe { libc::poll(wanted.as_mut_ptr(), 2, patience) != 0 }
    }

    /// Submits and waits.
    pub fn run(&self, what: u32, flags: u32, pieces: &[Piece]) -> (Status, u64) {
        let pending = self.submit(what, flags, pieces).unwrap_or_else(|status| panic!("submit: {status}"));
        self.wait(&pending)
    }

    /// Writes these bytes at an offset, now or later.
    pub fn write(&self, flags: u32, offset: u64, bytes: &[u8]) -> (Status, u64) {
        let piece = Piece { offset, memory: bytes.as_ptr().cast_mut(), len: bytes.len() as u64 };
        self.run(transfer::WRITE, flags, &[piece])
    }

    /// The whole content, by the system's own calls.
    pub fn content(&self) -> Vec<u8> {
        let mut all = vec![0; self.std.metadata().expect("a length").len() as usize];
        self.std.read_exact_at(&mut all, 0).expect("the content");
        all
    }
}

impl Drop for File<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let rings = self.doorbell.word.load();
            assert_eq!(rings, *self.submitted.get_mut(), "the bell rings once for each operation");
            self.rig.harvest();
            if let Some(fd) = self.rig.event_fd() {
                let mut wanted = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
                // SAFETY: one description on the stack.
                let ready = unsafe { libc::poll(&mut wanted, 1, 0) };
                assert_eq!(ready, 0, "the descriptor is quiet when nothing is left to harvest");
            }
        }
        (self.rig.table().close)(self.file);
    }
}
