//! Facts that are told of a file.

use crate::File;
use crate::rig::how;
use oxmpi_fs::{OpenFile, keeps, mode};
use oxmpi_mca::Status;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;

crate::check!(facts_of_a_file, |rig| {
    let named = rig.query(&rig.path("facts"), true).expect("a component serves what the user names it for");
    assert!(named >= 0, "{named}");
    let file = File::new(rig, "facts");
    let told = &file.told;
    assert!(told.block >= 1, "a file is parted by at least a byte");
    assert!(told.fd >= 0 && !told.file.is_null());
    let all =
        keeps::LOCKS_HERE | keeps::LOCKS | keeps::COHERENT | keeps::LOCK_REVALIDATES | keeps::PREALLOCATES;
    assert_eq!(told.keeps & !all, 0, "bits that are none");
    if told.keeps & keeps::LOCKS != 0 {
        assert_ne!(told.keeps & keeps::LOCKS_HERE, 0, "locks that exclude all exclude those of this node");
    }
    let lacking = !told.keeps & (keeps::LOCKS_HERE | keeps::LOCKS | keeps::COHERENT);
    assert_eq!(lacking == 0, file.because().is_empty(), "what is missing has a reason: {:?}", file.because());
    assert!(
        !file.because().ends_with('.') && !file.because().contains('\n'),
        "one clause: {:?}",
        file.because()
    );
    assert_eq!((told.direct_fd, told.direct_for), (-1, 0), "nobody asked for a second descriptor");
});

crate::check!(second_descriptor, |rig| {
    let hints = [(1, 0, mode::RDONLY), (0, 1, mode::WRONLY), (1, 1, mode::RDWR)];
    for (direct_read, direct_write, expected) in hints {
        let hints = OpenFile { direct_read, direct_write, ..how(mode::CREATE | mode::RDWR) };
        let file = File::open_as(rig, &rig.path("direct"), hints).expect("a file");
        let told = &file.told;
        if told.direct_fd < 0 {
            assert_eq!(told.direct_for, 0);
            continue;
        }
        assert_eq!(told.direct_for, expected);
        assert!(told.direct_unit.is_power_of_two(), "unit {}", told.direct_unit);
        // It is the same file.
        let unit = told.direct_unit as usize;
        let mut buffer = vec![0x42u8; 3 * unit];
        let at = buffer.as_ptr().align_offset(unit);
        // SAFETY: open as long as the file, and not closed by this one.
        let direct = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(told.direct_fd) });
        direct.write_all_at(&buffer[at..at + unit], unit as u64).expect("an aligned write");
        let mut there = vec![0; unit];
        file.std().read_exact_at(&mut there, unit as u64).expect("read");
        assert!(there.iter().all(|byte| *byte == 0x42));
        direct.read_exact_at(&mut buffer[at..at + unit], 0).expect("an aligned read");
        assert!(buffer[at..at + unit].iter().all(|byte| *byte == 0));
        assert_eq!(file.close(), Status::OK);
        assert_eq!(rig.delete(&rig.path("direct")), Status::OK);
    }
    // A direction in which the file is not open.
    std::fs::write(rig.path("reads"), b"").expect("a file");
    let hints = OpenFile { direct_write: 1, ..how(mode::RDONLY) };
    let file = File::open_as(rig, &rig.path("reads"), hints).expect("a file");
    assert_eq!(file.told.direct_for, 0);
});
