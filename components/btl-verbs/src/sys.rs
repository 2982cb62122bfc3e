//! Every system call, the dynamic linker's included.

use core::ffi::{CStr, c_void};
use rustix::event::epoll;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// A shared library, which is never closed: its threads and tables may outlive us.
#[derive(Clone, Copy)]
pub struct Library(*mut c_void);

impl Library {
    /// The error is the dynamic linker's sentence.
    pub fn open(path: &str) -> Result<Library, String> {
        let path = CString::new(path).map_err(|_| "the path contains a null byte".to_owned())?;
        // SAFETY: loading runs the library's constructors, as its user has asked for.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if !handle.is_null() {
            return Ok(Library(handle));
        }
        // SAFETY: the linker's own text, of this thread.
        let why = unsafe {
            let text = libc::dlerror();
            if text.is_null() {
                "it cannot be opened".into()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        };
        Err(why)
    }

    pub fn symbol(self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: an open library and a string.
        let at = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!at.is_null()).then_some(at)
    }
}

/// Whether the kernel knows a verbs device, as far as one look tells.
pub fn kernel_has_devices() -> bool {
    std::fs::read_dir("/sys/class/infiniband_verbs").is_ok_and(|entries| {
        entries.filter_map(Result::ok).any(|e| e.file_name().to_string_lossy().starts_with("uverbs"))
    })
}

/// Bytes that nobody guesses.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut at = 0;
    while at < N {
        at += rustix::rand::getrandom(&mut bytes[at..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// Memory of its own pages, zero at first.
pub struct Pages {
    base: *mut u8,
    len: usize,
}

// SAFETY: memory, used as its owner says.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    pub fn new(len: usize) -> io::Result<Pages> {
        let len = len.max(1).next_multiple_of(4096);
        let flags = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe { mmap_anonymous(core::ptr::null_mut(), len, flags.0, flags.1) }?;
        Ok(Pages { base: base.cast(), len })
    }
    pub fn base(&self) -> *mut u8 {
        self.base
    }
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and used no more.
        let _ = unsafe { munmap(self.base.cast(), self.len) };
    }
}

/// A descriptor that becomes readable when somebody rings.
pub struct Bell(OwnedFd);

impl Bell {
    pub fn new() -> io::Result<Bell> {
        Ok(Bell(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }
    /// A full counter rings as well.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }
    pub fn silence(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// A descriptor that becomes readable when a time is over.
pub struct Alarm(OwnedFd);

impl Alarm {
    pub fn new() -> io::Result<Alarm> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Alarm(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }
    /// Rings once, so much later; zero: not at all, and what has rung is silent.
    pub fn set(&self, after: Duration) {
        let value = Timespec { tv_sec: after.as_secs() as i64, tv_nsec: after.subsec_nanos().into() };
        let spec = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        let _ = timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &spec);
    }
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// A set of descriptors that is one itself.
pub struct Set(OwnedFd);

impl Set {
    pub fn new() -> io::Result<Set> {
        Ok(Set(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }
    /// # Safety
    /// The descriptor is open as long as the set.
    pub unsafe fn add(&self, fd: RawFd) -> io::Result<()> {
        // SAFETY: the caller's promise.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        Ok(epoll::add(&self.0, fd, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?)
    }
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Makes a library's descriptor answer at once where nothing is there.
///
/// # Safety
/// The descriptor is open.
pub unsafe fn never_block(fd: RawFd) -> io::Result<()> {
    // SAFETY: the caller's promise.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(rustix::io::ioctl_fionbio(fd.as_fd(), true)?)
}

/// Waits until one of the descriptors has something, or for so long. `None`: for ever.
pub fn wait(fds: &[RawFd], limit: Option<Duration>) {
    let mut polled: Vec<PollFd<'_>> = fds
        .iter()
        // SAFETY: the caller keeps them open during the call.
        .map(|fd| PollFd::from_borrowed_fd(unsafe { BorrowedFd::borrow_raw(*fd) }, PollFlags::IN))
        .collect();
    let limit = limit.map(|l| Timespec { tv_sec: l.as_secs() as i64, tv_nsec: l.subsec_nanos().into() });
    let _ = rustix::event::poll(&mut polled, limit.as_ref());
}

/// Runs a call of a C library, and says why it failed where it has told.
pub fn called<R>(call: impl FnOnce() -> R) -> (R, String) {
    // SAFETY: this thread's own error number.
    unsafe { *libc::__errno_location() = 0 };
    let result = call();
    let error = io::Error::last_os_error();
    let why = if error.raw_os_error() == Some(0) { "it is refused".to_owned() } else { error.to_string() };
    (result, why)
}
