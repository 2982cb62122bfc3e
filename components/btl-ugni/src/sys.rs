//! Every system call, the dynamic linker's and the environment of the job's manager included.

use core::ffi::{CStr, c_void};
use core::time::Duration;
use rustix::event::{EventfdFlags, eventfd};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

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

/// The number at `index` of a list that ALPS or Slurm has put into the environment: decimal, separated by colons, and negative
/// where it was written as a signed number.
pub fn manager_number(name: &str, index: usize) -> Option<u32> {
    number_of(&std::env::var(name).ok()?, index)
}

fn number_of(list: &str, index: usize) -> Option<u32> {
    let number: i64 = list.split(':').nth(index)?.trim().parse().ok()?;
    (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&number).then_some(number as u32)
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
pub struct Timer(OwnedFd);

impl Timer {
    pub fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Timer(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }
    /// Starts the timer anew, to expire once. An expiry from before is cleared.
    pub fn set(&self, after: Duration) {
        let it_value = Timespec { tv_sec: after.as_secs() as i64, tv_nsec: after.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        let _ = timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once);
    }
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::number_of;

    #[test]
    fn lists_of_managers_are_read() {
        assert_eq!(number_of("12:13", 0), Some(12));
        assert_eq!(number_of("12:13", 1), Some(13));
        assert_eq!(number_of("-2:13", 0), Some(0xffff_fffe), "written with a sign");
        assert_eq!(number_of("4294967295", 0), Some(u32::MAX));
        assert_eq!(number_of("12", 1), None);
        assert_eq!(number_of("12,13", 0), None);
        assert_eq!(number_of("4294967296", 0), None);
    }
}
