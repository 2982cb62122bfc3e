//! A failure of a function of the C interface: its class (or a user's code) and a sentence; and how statuses from
//! below become one.

use crate::constants::*;
use core::ffi::c_int;
use oxmpi_mca::Status;

/// An error for the error handler: a class (or a user's code) and a sentence.
#[derive(Debug)]
pub struct Failure {
    pub code: c_int,
    pub message: String,
}

pub type Res<T = ()> = Result<T, Failure>;

impl Failure {
    pub fn new(code: c_int, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }

    /// `Err`, for checks.
    pub fn err<T>(code: c_int, message: impl Into<String>) -> Res<T> {
        Err(Failure::new(code, message))
    }
}

impl From<oxmpi_runtime::Error> for Failure {
    fn from(e: oxmpi_runtime::Error) -> Failure {
        Failure { code: e.kind.class(), message: e.message }
    }
}

impl From<Status> for Failure {
    fn from(s: Status) -> Failure {
        let message = match s {
            s if s.0 <= OF_USER => "a callback function returned it".to_string(),
            s if oxmpi_runtime::file::class_of_system(s).is_some() => oxmpi_runtime::file::error_words(s),
            s => s.name().to_string(),
        };
        Failure { code: class_of(s), message }
    }
}

/// Statuses from here downwards carry a code of MPI or of the user's callbacks, which have no status.
const OF_USER: i32 = -(1 << 20);

/// A code of MPI, 0 for none, as a status of a request.
pub fn of_user(code: c_int) -> Status {
    if code <= 0 { Status::OK } else { Status(OF_USER.saturating_sub(code)) }
}

/// The MPI error class of a status from below.
pub fn class_of(s: Status) -> c_int {
    match s {
        Status::OK | Status::PENDING => MPI_SUCCESS,
        Status::NO_RESOURCE | Status::UNREACHABLE | Status::TIMEOUT => MPI_ERR_OTHER,
        Status::NOT_SUPPORTED | Status::NOT_AVAILABLE => MPI_ERR_UNSUPPORTED_OPERATION,
        Status::BAD_PARAM | Status::NOT_FOUND => MPI_ERR_ARG,
        Status::OUT_OF_MEMORY => MPI_ERR_NO_MEM,
        Status::PEER_FAILED | Status::REVOKED => MPI_ERR_PROC_ABORTED,
        Status::TRUNCATED => MPI_ERR_TRUNCATE,
        Status::NO_PERMISSION => MPI_ERR_ACCESS,
        Status::MISMATCH => MPI_ERR_NOT_SAME,
        Status::RMA_SYNC => MPI_ERR_RMA_SYNC,
        Status::RMA_CONFLICT => MPI_ERR_RMA_CONFLICT,
        Status::RMA_RANGE => MPI_ERR_RMA_RANGE,
        Status::RMA_ATTACH => MPI_ERR_RMA_ATTACH,
        Status::RMA_SHARED => MPI_ERR_RMA_SHARED,
        Status::RMA_FLAVOR => MPI_ERR_RMA_FLAVOR,
        Status(n) if n <= OF_USER => OF_USER - n,
        _ => oxmpi_runtime::file::class_of_system(s).unwrap_or(MPI_ERR_INTERN),
    }
}

/// Turns a status into a result with the sentence the user should read.
pub fn check(s: Status) -> Res {
    if s.is_err() { Err(s.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors of MPI survive the way through a request's start.
    #[test]
    fn classes_go_there_and_back() {
        for code in [MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_LASTCODE, 1 << 29] {
            assert_eq!(class_of(of_user(code)), code);
        }
    }
}
