//! Why the wire-up cannot go on.

use super::{frame, limits};

/// Kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A variable of ours is missing or makes no sense.
    Environment,
    /// The daemon does not want us, and said why.
    Refused,
    /// The other side is gone.
    Lost,
    /// The other side sent what this protocol does not have.
    Malformed,
    /// Something of ours is longer than the protocol carries.
    TooLarge,
    /// Shared memory of that name has another size.
    OtherSize,
    /// The operating system said no.
    System,
}

/// Why the wire-up cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
}

impl Error {
    /// Makes an error of a kind with a message for the user.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// A failed system call, with what it was for.
    pub(crate) fn system(what: &str, why: impl SystemError) -> Error {
        let limits = why.errno().map_or_else(String::new, limits::named);
        Error::new(ErrorKind::System, format!("{what}: {why}{limits}"))
    }

    /// Makes the error of a lost connection to the daemon.
    pub(crate) fn lost(why: impl std::fmt::Display) -> Error {
        let message = format!("the connection to the node daemon is lost ({why}); the job is ending");
        Error::new(ErrorKind::Lost, message)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<frame::Malformed> for Error {
    fn from(why: frame::Malformed) -> Error {
        Error::new(ErrorKind::Malformed, format!("the node daemon sent an impossible frame: {why}"))
    }
}

/// Error of a system call, with or without a number.
pub(crate) trait SystemError: std::fmt::Display {
    /// The number of the error; `None`: it has none.
    fn errno(&self) -> Option<i32>;
}

impl SystemError for rustix::io::Errno {
    fn errno(&self) -> Option<i32> {
        Some(self.raw_os_error())
    }
}

impl SystemError for std::io::Error {
    fn errno(&self) -> Option<i32> {
        self.raw_os_error()
    }
}
