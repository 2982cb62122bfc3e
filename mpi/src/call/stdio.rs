//! Line buffering of the C library's standard output in a rank, and what is left in its buffer at a bad end.
//!
//! **Choice.** mpirun reads a rank's output from pipes, and the C library keeps what is printed to a pipe until
//! 4 KiB are full: lines come late, and are lost when the process is killed. Open MPI gives a rank a pseudo-terminal as
//! standard output, so that the C library, Python and others buffer by lines by themselves. MPICH keeps the pipe and calls
//! `setbuf(stdout, NULL)` in MPI_Init, which makes every printf a system call and does nothing for Python. Here
//! the pipe stays, and whatever buffers is told to do so by lines: C and C++ by [`arrange`], which runs when
//! this library is loaded, before main; Python and gfortran's library by the variables of theirs
//! that mpirun sets (`mpirun/src/plan/programs.rs`). A pseudo-terminal was measured and not taken: it moves
//! 40 MB/s where a pipe moves 800, takes six times as long for a line, ends a writer whose reader has gone by EIO and not by
//! SIGPIPE, and tells programs that a person looks on (colours and progress bars in files, `ls` in columns).
//! A C program without MPI that block-buffers into a pipe does so under mpirun, too; `stdbuf -oL` helps there.
//!
//! **The rest of a line** that stands in the buffer when a process ends badly is written by [`flush`] (MPI_Abort, an
//! error that ends the job) and [`rescue`] (a crash). Where mpirun ends the process by SIGTERM its node daemon writes it
//! (`mpirun/src/daemon/last_words.rs`), which [`publish`] lets find the buffer from MPI_Init on: a handler of ours would be one that
//! the program finds where it had none. `rescue` reads the C library's FILE without its lock, because the interrupted thread may
//! hold that; pointers that make no sense are left alone. It knows the layout of glibc's FILE, which is
//! part of that library's binary interface (`bits/types/struct_FILE.h`); with other libraries it does nothing.
//!
//! Nothing of this happens in a process that mpirun has not started.

use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, Ordering};

/// Set by mpirun: how standard output and standard error are buffered, as `--stream-buffering` numbers it (0 not
/// at all, 1 by lines, 2 fully).
const VARIABLE: &core::ffi::CStr = c"OXMPI_STREAM_BUFFERING";

unsafe extern "C" {
    static mut stdout: *mut libc::FILE;
    static mut stderr: *mut libc::FILE;
    fn ftrylockfile(file: *mut libc::FILE) -> c_int;
    fn funlockfile(file: *mut libc::FILE);
}

/// The process whose output is arranged; 0: none. A child of it has no part in this.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// The process whose page is made: MPI may start many times.
#[cfg(target_env = "gnu")]
static PUBLISHED: AtomicI32 = AtomicI32::new(0);

#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = arrange;

extern "C" fn arrange() {
    // SAFETY: the environment and the streams of the C library, which is loaded before this library; setvbuf
    // with no buffer of ours only sets a mode, and no other thread uses the streams yet or does so under their lock.
    unsafe {
        let asked = libc::getenv(VARIABLE.as_ptr());
        if asked.is_null() {
            return;
        }
        PROCESS.store(libc::getpid(), Ordering::Relaxed);
        match *asked.cast::<u8>() {
            b'0' => {
                libc::setvbuf(stdout, null_mut(), libc::_IONBF, 0);
            }
            b'2' => {
                libc::setvbuf(stdout, null_mut(), libc::_IOFBF, 0);
                libc::setvbuf(stderr, null_mut(), libc::_IOFBF, 0);
            }
            _ => {
                libc::setvbuf(stdout, null_mut(), libc::_IOLBF, 0);
            }
        }
    }
}

fn is_arranged() -> bool {
    // SAFETY: no arguments, no memory.
    PROCESS.load(Ordering::Relaxed) == unsafe { libc::getpid() }
}

/// Writes what stands in the buffers, before the process ends the job by itself. A stream that another thread is using is
/// left to it: that thread may wait for ever.
pub fn flush() {
    if !is_arranged() {
        return;
    }
    // SAFETY: the C library's streams, by its own functions.
    unsafe {
        for stream in [stdout, stderr] {
            if ftrylockfile(stream) == 0 {
                libc::fflush(stream);
                funlockfile(stream);
            }
        }
    }
}

/// The beginning of glibc's FILE.
#[cfg(target_env = "gnu")]
#[repr(C)]
struct Head {
    flags: c_int,
    read: [*mut u8; 3],
    write_base: *mut u8,
    write_ptr: *mut u8,
    write_end: *mut u8,
    buf_base: *mut u8,
    buf_end: *mut u8,
}

/// The same in a signal handler: a system call on what is there, without a lock.
pub fn rescue() {
    #[cfg(target_env = "gnu")]
    if is_arranged() {
        // SAFETY: a FILE of glibc begins like this. The pointers are checked against each other; the memory
        // between them is the stream's buffer, which is there as long as the stream is.
        unsafe {
            let head = stdout.cast::<Head>();
            let (base, ptr) = ((*head).write_base, (*head).write_ptr);
            let inside = (*head).buf_base <= base && base < ptr && ptr <= (*head).buf_end;
            if !base.is_null() && inside {
                let length = ptr.offset_from_unsigned(base);
                // A reader that has gone must not end this handler by SIGPIPE; the process ends anyway.
                if libc::write(libc::fileno(stdout), base.cast(), length) > 0 {
                    (*head).write_ptr = base;
                }
            }
        }
    }
}

/// Where the node daemon finds the stream, by this name of a page in the map of memory; shared with `mpirun/src/daemon/last_words.rs`.
#[cfg(target_env = "gnu")]
const PAGE: &core::ffi::CStr = c"oxmpi-stdout";

/// The content of that page.
#[cfg(target_env = "gnu")]
#[repr(C)]
struct Page {
    process: u32,
    nothing: u32,
    file: u64,
}

/// Lets the node daemon find what is left in the buffer of standard output when it ends this process. Where there is no memory for that
/// the rest of a line is lost then.
pub fn publish() {
    #[cfg(target_env = "gnu")]
    if is_arranged() {
        // SAFETY: a fresh file without a name, written from a place of ours and mapped where the kernel likes; the
        // mapping stays for the process's life.
        unsafe {
            if PUBLISHED.swap(libc::getpid(), Ordering::Relaxed) == libc::getpid() {
                return;
            }
            let page = Page { process: std::process::id(), nothing: 0, file: stdout as u64 };
            let file = libc::memfd_create(PAGE.as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 {
                return;
            }
            let written = libc::write(file, (&raw const page).cast(), size_of::<Page>());
            if usize::try_from(written) == Ok(size_of::<Page>()) {
                libc::mmap(null_mut(), size_of::<Page>(), libc::PROT_READ, libc::MAP_SHARED, file, 0);
            }
            libc::close(file);
        }
    }
}
