//! Checks of the access modes that MPI_File_open takes (MPI 5.0 §14.2.1).

use core::fmt;
use oxmpi_fs::mode::*;

/// Why a mode is refused; the error class is MPI_ERR_AMODE for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A bit that is of no mode.
    Unknown,
    /// None or several of RDONLY, WRONLY, RDWR.
    NotOneAccess,
    /// CREATE or EXCL with RDONLY.
    CreatesReadOnly,
    /// SEQUENTIAL with RDWR.
    SequentialReadWrite,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Refusal::Unknown => "the mode has bits that no MPI_MODE constant has",
            Refusal::NotOneAccess => {
                "the mode must have exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR"
            }
            Refusal::CreatesReadOnly => "MPI_MODE_CREATE and MPI_MODE_EXCL do not go with MPI_MODE_RDONLY",
            Refusal::SequentialReadWrite => "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR",
        })
    }
}

/// Every bit of a mode.
const ALL: u32 = CREATE | RDONLY | WRONLY | RDWR | DELETE_ON_CLOSE | UNIQUE_OPEN | EXCL | APPEND | SEQUENTIAL;

/// The mode as bits of `oxmpi_fs::mode`, if it is one.
pub fn check(amode: i32) -> Result<u32, Refusal> {
    let mode = amode.cast_unsigned();
    if mode & !ALL != 0 {
        return Err(Refusal::Unknown);
    }
    if (mode & (RDONLY | WRONLY | RDWR)).count_ones() != 1 {
        return Err(Refusal::NotOneAccess);
    }
    if mode & RDONLY != 0 && mode & (CREATE | EXCL) != 0 {
        return Err(Refusal::CreatesReadOnly);
    }
    if mode & SEQUENTIAL != 0 && mode & RDWR != 0 {
        return Err(Refusal::SequentialReadWrite);
    }
    Ok(mode)
}

/// Whether a file of that mode may be read.
pub fn reads(mode: u32) -> bool {
    mode & (RDONLY | RDWR) != 0
}

/// Whether it may be written.
pub fn writes(mode: u32) -> bool {
    mode & (WRONLY | RDWR) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_judged_as_the_standard_does() {
        for amode in 0..1024 {
            let bits = |mask: u32| amode as u32 & mask;
            let one = [RDONLY, WRONLY, RDWR].into_iter().filter(|bit| bits(*bit) != 0).count() == 1;
            let fine = amode < 512
                && one
                && !(bits(RDONLY) != 0 && (bits(CREATE) != 0 || bits(EXCL) != 0))
                && !(bits(RDWR) != 0 && bits(SEQUENTIAL) != 0);
            assert_eq!(check(amode), check(amode).and(Ok(amode as u32)));
            assert_eq!(check(amode).is_ok(), fine, "mode {amode}");
        }
        assert_eq!(check(-1), Err(Refusal::Unknown));
        assert_eq!(check(0), Err(Refusal::NotOneAccess));
        assert_eq!(check(2 | 64), Err(Refusal::CreatesReadOnly));
        assert_eq!(check(8 | 256), Err(Refusal::SequentialReadWrite));
        assert!(reads(RDWR) && reads(RDONLY) && !reads(WRONLY) && writes(WRONLY) && !writes(RDONLY));
    }
}
