//! Failures of system calls as status codes: one code for each number of the system.

use oxmpi_mca::Status;

/// The code of number 0; a number's code lies as far below.
const BASE: i32 = -1000;
/// Numbers of the system are below this one.
const END: i32 = 4096;

/// The code for a failure with that number (`errno`); a number that no system call answers is INTERNAL.
pub const fn system(errno: i32) -> Status {
    if errno <= 0 || errno >= END { Status::INTERNAL } else { Status(BASE - errno) }
}

/// The number (`errno`) that a code of [`system`] was made of; `None`: it is another code.
pub const fn errno(status: Status) -> Option<i32> {
    let errno = BASE - status.0;
    if errno > 0 && errno < END { Some(errno) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for n in [1, 2, 28, 122, 4095] {
            assert_eq!(errno(system(n)), Some(n));
        }
        for n in [0, -1, 4096, i32::MIN] {
            assert_eq!(system(n), Status::INTERNAL);
        }
        for status in [Status::OK, Status::PENDING, Status::REVOKED, Status(-1000), Status(i32::MIN + 1)] {
            assert_eq!(errno(status), None);
        }
    }
}
