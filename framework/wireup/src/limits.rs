//! Names of the limits (`ulimit`) that a failed system call may have run into, with their values.

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::borrow::Cow;

/// Bytes that one argument, or one variable with its name, may have, its end included (the kernel's MAX_ARG_STRLEN).
pub const STRING_LIMIT: usize = 128 << 10;

/// Bytes that a path may have, its end included (PATH_MAX), and a name in one (NAME_MAX).
const PATH_LIMIT: usize = 4096;
const NAME_LIMIT: usize = 255;

/// Errors and the resources they are about, each with its unit and meaning, its name, and the option of `ulimit`.
const LIMITS: [(Errno, Resource, &str, &str); 5] = [
    (Errno::AGAIN, Resource::Nproc, "processes and threads of one user", "RLIMIT_NPROC, ulimit -u"),
    (Errno::MFILE, Resource::Nofile, "open files of a process", "RLIMIT_NOFILE, ulimit -n"),
    (Errno::FBIG, Resource::Fsize, "bytes of a file", "RLIMIT_FSIZE, ulimit -f in KiB"),
    (Errno::NOMEM, Resource::As, "bytes of a process's memory", "RLIMIT_AS, ulimit -v in KiB"),
    (Errno::NOMEM, Resource::Memlock, "bytes of locked memory", "RLIMIT_MEMLOCK, ulimit -l in KiB"),
];

/// A sentence's end that names the limits of this process which may be the cause of an error; empty: no limit is set, or the
/// error is about none.
pub fn named(errno: i32) -> String {
    if errno == Errno::TOOBIG.raw_os_error() {
        let all = arguments_limit();
        return format!(
            " (one argument or variable may have {STRING_LIMIT} bytes, all together {all}: a quarter of RLIMIT_STACK, ulimit -s)"
        );
    }
    if errno == Errno::NAMETOOLONG.raw_os_error() {
        return format!(" (a path may have {} bytes, and each name in it {NAME_LIMIT})", PATH_LIMIT - 1);
    }
    let set = LIMITS.iter().filter(|(of, ..)| of.raw_os_error() == errno).filter_map(
        |(_, resource, what, name)| Some(format!("{what}: {} ({name})", getrlimit(*resource).current?)),
    );
    let set: Vec<String> = set.collect();
    match set.is_empty() {
        true => String::new(),
        false => format!("; limits that are set here: {}", set.join(", ")),
    }
}

/// A text with the limits that a system error in it may be about: components write such errors as "… (os error 24)".
pub fn beside_error(text: &str) -> Cow<'_, str> {
    let number = text.rsplit_once("(os error ").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    match number.map(named).filter(|limits| !limits.is_empty()) {
        Some(limits) => Cow::Owned(format!("{text}{limits}")),
        None => Cow::Borrowed(text),
    }
}

/// Bytes that all arguments and variables of a program may have together: a quarter of the stack's limit, within the kernel's bounds.
fn arguments_limit() -> u64 {
    let stack = getrlimit(Resource::Stack).current.unwrap_or(u64::MAX);
    (stack / 4).clamp(STRING_LIMIT as u64, 6 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_names_and_values() {
        let files = getrlimit(Resource::Nofile).current.expect("a limit of files");
        let text = named(libc::EMFILE);
        assert!(text.contains(&files.to_string()) && text.contains("RLIMIT_NOFILE"), "{text}");
        assert!(named(libc::E2BIG).contains("131072") && named(libc::E2BIG).contains("RLIMIT_STACK"));
        assert!(named(libc::ENAMETOOLONG).contains("4095"));
        assert_eq!(named(libc::ENOENT), "");
        let error = std::io::Error::from_raw_os_error(libc::EMFILE).to_string();
        assert_eq!(beside_error(&error), format!("{error}{text}"));
        for other in ["out of memory", "(os error x)", "no such file (os error 2)"] {
            assert_eq!(beside_error(other), other);
        }
        assert_eq!(named(libc::EAGAIN).is_empty(), getrlimit(Resource::Nproc).current.is_none());
    }
}
