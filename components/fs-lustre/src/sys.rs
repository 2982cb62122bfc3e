//! The ioctls of layouts, behind a seam at which tests listen.

use crate::layout::Layout;
use oxmpi_fs::error::system;
use oxmpi_mca::Status;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `_IOW('f', 154, long)`.
const SET_LAYOUT: u64 = 0x4008_669a;
/// `_IOW('f', 155, long)`.
const GET_LAYOUT: u64 = 0x4008_669b;

/// Flags of an open that leaves the layout of a new file to an ioctl: those of newer versions, which mean nothing for files, and the bit of older ones.
pub const LATER_LAYOUT: u32 = (libc::O_NOCTTY | libc::O_ASYNC) as u32 | 1 << 24;

/// Sets and tells layouts of open files.
pub trait Layouts: Send + Sync + 'static {
    /// Gives a new file its layout, as bytes.
    fn set(&self, fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<(), Status>;
    /// Asks for a file's layout; the answer replaces the question.
    fn get(&self, fd: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<(), Status>;
}

/// Those of the kernel's module.
pub struct Ioctls;

fn call(fd: BorrowedFd<'_>, what: u64, bytes: *mut u8) -> Result<(), Status> {
    // SAFETY: the callers below pass as many bytes as the call reads or writes: a head without devices, and room for any layout.
    if unsafe { libc::ioctl(fd.as_raw_fd(), what as _, bytes) } >= 0 {
        return Ok(());
    }
    Err(system(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)))
}

impl Layouts for Ioctls {
    fn set(&self, fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<(), Status> {
        call(fd, SET_LAYOUT, bytes.to_vec().as_mut_ptr())
    }
    fn get(&self, fd: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<(), Status> {
        call(fd, GET_LAYOUT, bytes.as_mut_ptr())
    }
}

/// The layout of a file, where that is known.
pub fn layout_of(layouts: &impl Layouts, fd: BorrowedFd<'_>) -> Option<Layout> {
    let mut bytes = Layout::question();
    layouts.get(fd, &mut bytes).ok()?;
    Layout::decode(&bytes)
}
