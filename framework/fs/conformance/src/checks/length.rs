//! Lengths, space ahead, and data that is made durable.

use crate::File;
use oxmpi_fs::{keeps, mode};
use oxmpi_mca::Status;
use std::os::unix::fs::FileExt;

crate::check!(lengths, |rig| {
    let file = File::new(rig, "length");
    assert_eq!(file.length(), Ok(0));
    for bytes in [10, 5 << 32, 3, 0, 4096] {
        assert_eq!(file.resize(bytes), Status::OK);
        assert_eq!(file.length(), Ok(bytes));
    }
    // Changes by others are seen.
    let other = std::fs::OpenOptions::new().write(true).open(rig.path("length")).expect("there");
    other.set_len(77).expect("cut");
    assert_eq!(file.length(), Ok(77));
    other.write_all_at(b"x", 999).expect("written");
    assert_eq!(file.length(), Ok(1000));
    for bytes in [u64::MAX, 1 << 63] {
        assert!(file.resize(bytes).is_err(), "{bytes} bytes");
        assert_eq!(file.length(), Ok(1000));
    }
    let reads = File::open(rig, &rig.path("length"), mode::RDONLY).expect("there");
    assert!(reads.resize(5).is_err() && reads.length() == Ok(1000), "open for reading alone, and cut");
});

crate::check!(space_ahead, |rig| {
    let file = File::new(rig, "space");
    file.std().write_all_at(b"content", 0).expect("written");
    match file.preallocate(1 << 20) {
        Status::OK => assert_eq!(file.length(), Ok(1 << 20), "the file is at least that long"),
        Status::NOT_SUPPORTED => {
            assert_eq!(file.told.keeps & keeps::PREALLOCATES, 0, "told, and not there");
            assert_eq!(file.length(), Ok(7), "what is not supported changes nothing");
        }
        status => panic!("preallocate: {status}"),
    }
    let mut there = [0; 7];
    file.std().read_exact_at(&mut there, 0).expect("read");
    assert_eq!(&there, b"content");
    let length = file.length();
    assert!(matches!(file.preallocate(3), Status::OK | Status::NOT_SUPPORTED));
    assert!(matches!(file.preallocate(0), Status::OK | Status::NOT_SUPPORTED));
    assert_eq!(file.length(), length, "it does not cut");
});

crate::check!(sync_and_refresh, |rig| {
    let file = File::new(rig, "sync");
    file.std().write_all_at(b"content", 5000).expect("written");
    assert_eq!(file.sync(), Status::OK);
    for (offset, len) in [(0, 0), (4096, 10), (5003, 2), (1 << 40, 5)] {
        assert_eq!(file.refresh(offset, len), Status::OK, "{offset}, {len}");
    }
    let other = std::fs::File::options().write(true).open(rig.path("sync")).expect("there");
    other.write_all_at(b"CON", 5000).expect("written");
    assert_eq!(file.refresh(5000, 3), Status::OK);
    let mut there = [0; 7];
    file.std().read_exact_at(&mut there, 5000).expect("read");
    assert_eq!(&there, b"CONtent");
    let reads = File::open(rig, &rig.path("sync"), mode::RDONLY).expect("there");
    assert_eq!((reads.sync(), reads.refresh(0, 0)), (Status::OK, Status::OK));
});
