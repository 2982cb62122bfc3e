//! System calls: futexes that two processes share, the segment's memory, and copies from process to process.

use std::ffi::CStr;
use std::io;
use std::time::Duration;

/// Sleeps while `*word` is `expected`, until a wake or the time is over.
pub fn wait(word: *const u32, expected: u32, limit: Duration) {
    let time =
        libc::timespec { tv_sec: limit.as_secs() as libc::time_t, tv_nsec: limit.subsec_nanos().into() };
    // SAFETY: the word is mapped as long as either process runs; the kernel reads both arguments only.
    unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, expected, &raw const time) };
}

/// Short sleeps of this thread end when they should; by default they may last 50 microseconds longer.
pub fn sharp_timers() {
    // SAFETY: numbers. Without it sleeps are longer, which is no error.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000 as libc::c_ulong) };
}

/// Wakes all that sleep on the word.
pub fn wake(word: *const u32) {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, i32::MAX) };
}

#[repr(C)]
struct Waiter {
    value: u64,
    address: u64,
    flags: u32,
    reserved: u32,
}

/// Sleeps while each word has its value; at most 128 words. False where the kernel cannot.
pub fn wait_any(words: &[(*const u32, u32)], limit: Duration) -> bool {
    const FUTEX_32: u32 = 2;
    if words.len() > 128 {
        return false;
    }
    let list: Vec<Waiter> = words
        .iter()
        .map(|(word, value)| Waiter {
            value: (*value).into(),
            address: *word as u64,
            flags: FUTEX_32,
            reserved: 0,
        })
        .collect();
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the time, and reads the list and the words it names.
    let result = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
        time.tv_sec += limit.as_secs() as libc::time_t;
        libc::syscall(
            libc::SYS_futex_waitv,
            list.as_ptr(),
            list.len(),
            0,
            &raw const time,
            libc::CLOCK_MONOTONIC,
        )
    };
    result >= 0 || !matches!(io::Error::last_os_error().raw_os_error(), Some(libc::ENOSYS | libc::EINVAL))
}

/// Memory without a name. The descriptor is closed by exec.
pub fn memory(name: &CStr, size: usize) -> io::Result<i32> {
    // SAFETY: a name and numbers.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was made above.
    if unsafe { libc::ftruncate(fd, size as libc::off_t) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(fd)
}

/// Maps `size` bytes of a descriptor, shared with whoever else maps it.
pub fn map(fd: i32, size: usize) -> io::Result<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping; nothing existing is replaced.
    let at = unsafe {
        libc::mmap(core::ptr::null_mut(), size, protection, libc::MAP_SHARED | libc::MAP_NORESERVE, fd, 0)
    };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(at.cast()) }
}

/// Maps a part of a descriptor, shared, at this address, where nothing may be yet.
pub fn map_at(at: *mut u8, size: usize, fd: i32, offset: u64) -> io::Result<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a new mapping; nothing existing is replaced.
    let got = unsafe { libc::mmap(at.cast(), size, protection, flags, fd, offset as libc::off_t) };
    if got == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    if got != at.cast() {
        // A kernel that does not know the flag takes the address for a wish.
        unmap(got.cast(), size);
        return Err(io::ErrorKind::AddrInUse.into());
    }
    Ok(at)
}

/// Maps a part of a descriptor, shared, over memory that this process reserved.
pub fn map_over(at: *mut u8, size: usize, fd: i32, offset: u64) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: the caller's own reservation.
    unsafe { libc::mmap(at.cast(), size, protection, flags, fd, offset as libc::off_t) != libc::MAP_FAILED }
}

/// Ends a mapping that one of these functions made.
pub fn unmap(at: *mut u8, size: usize) {
    // SAFETY: the caller's own mapping, which nothing uses any more.
    unsafe { libc::munmap(at.cast(), size) };
}

/// Private memory full of zeros that takes room only where it is touched.
pub fn reserve(size: usize) -> io::Result<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping.
    let at = unsafe { libc::mmap(core::ptr::null_mut(), size, protection, flags, -1, 0) };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(at.cast()) }
}

/// Puts a private copy over the mapping of a shared one, at the same address.
pub fn make_private(at: *mut u8, size: usize, fd: i32) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the range is the segment's own mapping.
    unsafe { libc::mmap(at.cast(), size, protection, flags, fd, 0) != libc::MAP_FAILED }
}

/// Puts a private copy over one part of a shared mapping.
pub fn make_private_at(at: *mut u8, size: usize, fd: i32, offset: u64) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the range is a mapping of the segment.
    unsafe { libc::mmap(at.cast(), size, protection, flags, fd, offset as libc::off_t) != libc::MAP_FAILED }
}

/// Is there a process of this number?
pub fn alive(pid: i32) -> bool {
    // SAFETY: signal 0 only asks.
    unsafe { libc::kill(pid, 0) == 0 || *libc::__errno_location() != libc::ESRCH }
}

/// A piece of another process's memory.
#[derive(Clone, Copy)]
pub struct Run {
    pub addr: u64,
    pub bytes: u64,
}

/// Copies between a buffer here and runs of process `pid`, in order.
///
/// # Safety
/// `local` holds as many bytes as the runs together, and may be written if they are read.
pub unsafe fn copy(pid: i32, local: *mut u8, runs: &[Run], from_there: bool) -> io::Result<()> {
    let mut local = local;
    for run in runs {
        let mut done = 0;
        while done < run.bytes {
            // The kernel copies at most about 2 GiB in a call.
            let length = (run.bytes - done).min(1 << 30) as usize;
            let here = libc::iovec { iov_base: local.cast(), iov_len: length };
            let there = libc::iovec { iov_base: (run.addr + done) as *mut libc::c_void, iov_len: length };
            // SAFETY: the buffer here is the caller's; the kernel checks the other one.
            let copied = unsafe {
                match from_there {
                    true => libc::process_vm_readv(pid, &raw const here, 1, &raw const there, 1, 0),
                    false => libc::process_vm_writev(pid, &raw const here, 1, &raw const there, 1, 0),
                }
            };
            if copied <= 0 {
                return Err(io::Error::last_os_error());
            }
            done += copied as u64;
            // SAFETY: inside the buffer, or at its end.
            local = unsafe { local.add(copied as usize) };
        }
    }
    Ok(())
}

/// Processors this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Their numbers, in ascending order; none where the system does not say.
pub fn allowed() -> Vec<usize> {
    // SAFETY: a local set, whose size is told.
    let (set, error) = unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        let error = libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
        (set, error)
    };
    // SAFETY: a number below the set's size.
    let is_in = |cpu: &usize| error == 0 && unsafe { libc::CPU_ISSET(*cpu, &set) };
    (0..libc::CPU_SETSIZE as usize).filter(is_in).collect()
}
