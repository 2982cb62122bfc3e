//! Failures of the data, which are the operation's, and of calls.

use crate::File;
use oxmpi_fbtl::{Piece, transfer};
use oxmpi_fs::error::system;
use oxmpi_fs::mode;
use oxmpi_mca::Status;
use std::path::Path;

const WAYS: [u32; 2] = [0, transfer::NOW];

/// An address at which nothing is.
fn nowhere() -> *mut u8 {
    core::ptr::without_provenance_mut(4096)
}

crate::check!(no_space, |rig| {
    let file = File::at(rig, Path::new("/dev/full"), mode::RDWR, true);
    for flags in WAYS {
        assert_eq!(file.write(flags, 0, b"some"), (system(libc::ENOSPC), 0));
    }
});

crate::check!(not_writable, |rig| {
    std::fs::write(rig.path("closed"), b"abcdef").expect("a file");
    let file = File::at(rig, &rig.path("closed"), mode::RDWR, false);
    for flags in WAYS {
        assert_eq!(file.write(flags, 0, b"some"), (system(libc::EBADF), 0));
    }
    assert_eq!(file.content(), b"abcdef");
});

crate::check!(memory_that_is_not_there, |rig| {
    let file = File::new(rig, "memory");
    let mut data = *b"0123456789";
    assert_eq!(file.write(transfer::NOW, 0, &data), (Status::OK, 10));
    let pieces = [
        Piece { offset: 0, memory: data.as_mut_ptr(), len: 4 },
        Piece { offset: 4, memory: nowhere(), len: 3 },
        Piece { offset: 7, memory: data.as_mut_ptr().wrapping_add(7), len: 3 },
    ];
    for flags in WAYS {
        for what in [transfer::WRITE, transfer::READ] {
            let result = file.run(what, flags, &pieces);
            assert_eq!(result, (system(libc::EFAULT), 4), "what {what}, flags {flags}");
        }
    }
    assert_eq!(file.content()[..4], *b"0123");
});

crate::check!(offsets_that_cannot_be, |rig| {
    let file = File::new(rig, "offsets");
    let data = *b"0123";
    for offset in [u64::MAX - 3, 1 << 63] {
        for flags in WAYS {
            let (status, bytes) = file.write(flags, offset, &data);
            assert!(status.is_err() && bytes == 0, "offset {offset}: {status}, {bytes}");
        }
    }
    assert_eq!(file.content(), b"");
});

crate::check!(wrong_direction, |rig| {
    std::fs::write(rig.path("one"), b"abcdef").expect("a file");
    let mut byte = [0u8];
    let piece = Piece { offset: 0, memory: byte.as_mut_ptr(), len: 1 };
    let reads = File::at(rig, &rig.path("one"), mode::RDONLY, true);
    let writes = File::at(rig, &rig.path("one"), mode::WRONLY, true);
    for flags in WAYS {
        assert_eq!(reads.submit(transfer::WRITE, flags, &[piece]).err(), Some(Status::BAD_PARAM));
        assert_eq!(writes.submit(transfer::READ, flags, &[piece]).err(), Some(Status::BAD_PARAM));
        assert_eq!(reads.submit(7, flags, &[piece]).err(), Some(Status::BAD_PARAM));
    }
    assert_eq!(reads.run(transfer::READ, 0, &[piece]), (Status::OK, 1));
    assert_eq!(byte, *b"a");
});
