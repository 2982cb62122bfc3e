//! Failures of components of files as the host's errors: MPI's class of the system's number, the path, and the system's words (MPI 5.0 §14.7).

use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Status;
use std::path::Path;

/// MPI's class of a number of the system's.
pub(super) fn kind_of_errno(errno: i32) -> ErrorKind {
    match errno {
        libc::ENOENT => ErrorKind::NoSuchFile,
        libc::EEXIST => ErrorKind::FileExists,
        libc::EACCES | libc::EPERM => ErrorKind::Access,
        libc::EROFS => ErrorKind::ReadOnly,
        libc::ENOSPC | libc::EFBIG => ErrorKind::NoSpace,
        libc::EDQUOT => ErrorKind::Quota,
        libc::EISDIR | libc::ENAMETOOLONG | libc::ELOOP | libc::ENOTDIR | libc::EINVAL => ErrorKind::BadFile,
        libc::ETXTBSY | libc::EBUSY => ErrorKind::FileInUse,
        libc::ENOMEM => ErrorKind::NoMem,
        _ => ErrorKind::Io,
    }
}

/// MPI's class of a status of a component of files.
pub(super) fn kind(status: Status) -> ErrorKind {
    match (oxmpi_fs::error::errno(status), ErrorKind::of(status)) {
        (Some(errno), _) => kind_of_errno(errno),
        (None, ErrorKind::Other) => ErrorKind::Io,
        (None, kind) => kind,
    }
}

/// MPI's class of a failure of the system's; `None`: it is another failure.
pub fn class_of_system(status: Status) -> Option<i32> {
    oxmpi_fs::error::errno(status).map(|errno| kind_of_errno(errno).class())
}

/// All that the system, or the component, says.
pub fn words(status: Status) -> String {
    match oxmpi_fs::error::errno(status) {
        Some(errno) => std::io::Error::from_raw_os_error(errno).to_string(),
        None => status.to_string(),
    }
}

/// The error of a file: what could not be done, with which, and why.
pub(super) fn of(status: Status, what: &str, path: &Path) -> Error {
    let kind = match (kind(status), what) {
        // An argument of the system's call that the path has no part in.
        (ErrorKind::BadFile, "read" | "written") => ErrorKind::Io,
        (kind, _) => kind,
    };
    Error::new(kind, format!("{} cannot be {what}: {}", path.display(), words(status)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_fs::error::system;

    #[test]
    fn classes_path_and_words() {
        for (errno, due) in [
            (libc::ENOENT, ErrorKind::NoSuchFile),
            (libc::ENOTDIR, ErrorKind::BadFile),
            (libc::EDQUOT, ErrorKind::Quota),
            (libc::EIO, ErrorKind::Io),
        ] {
            let error = of(system(errno), "opened", Path::new("/a/b"));
            assert_eq!(error.kind, due);
            assert!(
                error.message.contains("/a/b") && error.message.contains("os error"),
                "{}",
                error.message
            );
        }
        assert_eq!(kind(Status::NOT_SUPPORTED), ErrorKind::Unsupported);
        assert_eq!(kind(Status::NOT_AVAILABLE), ErrorKind::Io);
    }
}
