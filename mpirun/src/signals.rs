//! Signals as something to wait for and read, like everything else in the two loops.

use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

/// A set of signals in the C library's form.
pub fn set_of(signals: &[i32]) -> libc::sigset_t {
    // SAFETY: a zeroed sigset_t is a valid place to initialise; sigemptyset and sigaddset write
    // only to it, and a number that is no signal changes nothing.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for &signal in signals {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// The mask of this thread.
pub fn mask() -> libc::sigset_t {
    let mut now = set_of(&[]);
    // SAFETY: with a null new set the call only writes the present mask to `now`.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, std::ptr::null(), &mut now) };
    now
}

/// Sets this thread's mask. Async-signal-safe: a child may call it between fork and exec.
pub fn set_mask(mask: &libc::sigset_t) {
    // SAFETY: `mask` is an initialised set; the old mask is not asked for.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, mask, std::ptr::null_mut()) };
}

/// True if somebody told this process to ignore the signal before it started (nohup, a shell's &).
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: a zeroed sigaction is a valid place to write to; with a null new action the call
    // only reads.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Gives a signal back its default meaning. An ignored SIGCHLD, which is inherited, would have the
/// kernel throw exit statuses away.
pub fn restore_default(signal: i32) {
    // SAFETY: SIG_DFL is a valid disposition for every signal; no handler of ours is replaced.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Signals that are held back from this process and read from a descriptor.
#[derive(Debug)]
pub struct Signals(OwnedFd);

impl Signals {
    /// Holds back `signals`.
    pub fn take(signals: &[i32]) -> Result<Signals, String> {
        let set = set_of(signals);
        // SAFETY: `set` is initialised. The descriptor that signalfd makes is ours alone.
        unsafe {
            if libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) != 0 {
                return Err(format!("cannot hold back signals: {}", std::io::Error::last_os_error()));
            }
            match libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
                -1 => Err(format!("cannot wait for signals: {}", std::io::Error::last_os_error())),
                fd => Ok(Signals(OwnedFd::from_raw_fd(fd))),
            }
        }
    }

    /// The next signal that has arrived.
    pub fn next(&self) -> Option<i32> {
        let mut record = [0; size_of::<libc::signalfd_siginfo>()];
        let got = rustix::io::retry_on_intr(|| rustix::io::read(&self.0, &mut record[..])).ok()?;
        // The signal's number is the record's first field, a u32.
        let number = record.first_chunk::<4>().filter(|_| got == record.len())?;
        Some(i32::from_ne_bytes(*number))
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

const NAMES: &[(i32, &str)] = &[
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
    (libc::SIGSYS, "SIGSYS"),
    (libc::SIGTSTP, "SIGTSTP"),
    (libc::SIGCONT, "SIGCONT"),
    (libc::SIGTTIN, "SIGTTIN"),
    (libc::SIGTTOU, "SIGTTOU"),
    (libc::SIGWINCH, "SIGWINCH"),
    (libc::SIGURG, "SIGURG"),
    (libc::SIGVTALRM, "SIGVTALRM"),
    (libc::SIGPROF, "SIGPROF"),
    (libc::SIGIO, "SIGIO"),
    (libc::SIGPWR, "SIGPWR"),
];

/// A signal's name.
pub fn name(number: i32) -> String {
    match NAMES.iter().find(|(n, _)| *n == number) {
        Some((_, name)) => format!("signal {number} ({name})"),
        None => format!("signal {number}"),
    }
}

/// The signal of a name, with or without SIG.
pub fn number(name: &str) -> Option<i32> {
    let name = name.to_ascii_uppercase();
    let bare = name.strip_prefix("SIG").unwrap_or(&name);
    NAMES.iter().find(|(_, known)| known[3..] == *bare).map(|(number, _)| *number)
}
