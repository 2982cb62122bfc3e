//! The host's errors: an MPI error class and a sentence.
//!
//! Sentences are written for the person at the terminal; they name the thing, its value and what
//! would have been right. Below the host only [`Status`] codes travel.

use oxmpi_mca::Status;

/// MPI's error classes as far as the host gives them (MPI 5.0 §9.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    Buffer,
    Count,
    Type,
    Tag,
    Comm,
    Rank,
    Request,
    Root,
    Group,
    Op,
    Arg,
    Truncate,
    Other,
    Intern,
    Info,
    NoMem,
    RmaSync,
    RmaConflict,
    RmaRange,
    RmaAttach,
    RmaShared,
    RmaFlavor,
    Unsupported,
    ProcAborted,
    /// A port, the name of a service, a service, a process that is to be started (MPI 5.0 §11).
    Port,
    Name,
    Service,
    Spawn,
    /// There are not so many endpoints (`mpi-ext.h`).
    Endpoints,
    Access,
    Amode,
    BadFile,
    Conversion,
    FileExists,
    FileInUse,
    File,
    InfoValue,
    Io,
    NotSame,
    NoSpace,
    NoSuchFile,
    Quota,
    ReadOnly,
    UnsupportedDatarep,
}

impl ErrorKind {
    /// The class's number in MPI's standard ABI (MPI 5.0 §20).
    pub const fn class(self) -> i32 {
        match self {
            ErrorKind::Buffer => 1,
            ErrorKind::Count => 2,
            ErrorKind::Type => 3,
            ErrorKind::Tag => 4,
            ErrorKind::Comm => 5,
            ErrorKind::Rank => 6,
            ErrorKind::Request => 7,
            ErrorKind::Root => 8,
            ErrorKind::Group => 9,
            ErrorKind::Op => 10,
            ErrorKind::Arg => 13,
            ErrorKind::Truncate => 15,
            ErrorKind::Other => 16,
            ErrorKind::Intern => 17,
            ErrorKind::Info => 34,
            ErrorKind::Name => 38,
            ErrorKind::NoMem => 39,
            ErrorKind::Port => 43,
            ErrorKind::Service => 51,
            ErrorKind::Spawn => 53,
            ErrorKind::RmaAttach => 46,
            ErrorKind::RmaConflict => 47,
            ErrorKind::RmaRange => 48,
            ErrorKind::RmaShared => 49,
            ErrorKind::RmaSync => 50,
            ErrorKind::Unsupported => 55,
            ErrorKind::RmaFlavor => 57,
            ErrorKind::ProcAborted => 58,
            ErrorKind::Endpoints => 16_001,
            ErrorKind::Access => 20,
            ErrorKind::Amode => 21,
            ErrorKind::BadFile => 23,
            ErrorKind::Conversion => 25,
            ErrorKind::FileExists => 28,
            ErrorKind::FileInUse => 29,
            ErrorKind::File => 30,
            ErrorKind::InfoValue => 33,
            ErrorKind::Io => 35,
            ErrorKind::NotSame => 40,
            ErrorKind::NoSpace => 41,
            ErrorKind::NoSuchFile => 42,
            ErrorKind::Quota => 44,
            ErrorKind::ReadOnly => 45,
            ErrorKind::UnsupportedDatarep => 54,
        }
    }

    /// The kinds that ranks tell each other of as classes.
    const TOLD: [ErrorKind; 20] = [
        ErrorKind::Type,
        ErrorKind::Comm,
        ErrorKind::Arg,
        ErrorKind::Intern,
        ErrorKind::NoMem,
        ErrorKind::Unsupported,
        ErrorKind::Access,
        ErrorKind::Amode,
        ErrorKind::BadFile,
        ErrorKind::Conversion,
        ErrorKind::FileExists,
        ErrorKind::FileInUse,
        ErrorKind::Io,
        ErrorKind::NotSame,
        ErrorKind::NoSpace,
        ErrorKind::NoSuchFile,
        ErrorKind::Quota,
        ErrorKind::ReadOnly,
        ErrorKind::UnsupportedDatarep,
        ErrorKind::InfoValue,
    ];

    /// The kind of a class that another rank has told; `None`: there is none among those that are told.
    pub fn of_class(class: i32) -> Option<ErrorKind> {
        ErrorKind::TOLD.into_iter().find(|kind| kind.class() == class)
    }

    /// The error class to which a component's status belongs.
    pub const fn of(status: Status) -> ErrorKind {
        match status {
            Status::TRUNCATED => ErrorKind::Truncate,
            Status::NOT_SUPPORTED => ErrorKind::Unsupported,
            Status::BAD_PARAM => ErrorKind::Arg,
            Status::OUT_OF_MEMORY | Status::NO_RESOURCE => ErrorKind::NoMem,
            Status::PEER_FAILED | Status::REVOKED => ErrorKind::ProcAborted,
            Status::INTERNAL | Status::PANICKED => ErrorKind::Intern,
            Status::RMA_SYNC => ErrorKind::RmaSync,
            Status::RMA_CONFLICT => ErrorKind::RmaConflict,
            Status::RMA_RANGE => ErrorKind::RmaRange,
            Status::RMA_ATTACH => ErrorKind::RmaAttach,
            Status::RMA_SHARED => ErrorKind::RmaShared,
            Status::RMA_FLAVOR => ErrorKind::RmaFlavor,
            _ => ErrorKind::Other,
        }
    }
}

/// A class and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub kind: ErrorKind,
    pub message: String,
}

impl Error {
    /// Makes an error of a class and a sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// Makes an error of a component's status; `what` says what could not be done.
    pub fn status(status: Status, what: &str) -> Error {
        Error { kind: ErrorKind::of(status), message: format!("{what}: {status}") }
    }

    /// MPI's error class.
    pub fn class(&self) -> i32 {
        self.kind.class()
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<oxmpi_mca_params::ParamError> for Error {
    fn from(e: oxmpi_mca_params::ParamError) -> Error {
        Error::new(ErrorKind::Other, e.to_string())
    }
}

impl From<oxmpi_wireup::Error> for Error {
    fn from(e: oxmpi_wireup::Error) -> Error {
        Error::new(ErrorKind::Other, e.message)
    }
}
