//! Paths of every kind, and deletion.

use crate::File;
use oxmpi_fs::error::system;
use oxmpi_fs::mode;
use oxmpi_mca::Status;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

crate::check!(paths_that_are_no_text, |rig| {
    for name in [&b"caf\xe9 \xff\xfe"[..], b"a b\n'\"$c", b"nfs:x", "größe".as_bytes()] {
        let path = rig.path(OsStr::from_bytes(name));
        assert!(rig.query(&path, true).is_ok(), "{path:?}");
        let file =
            File::open(rig, &path, mode::CREATE | mode::RDWR).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        assert!(path.exists(), "{path:?} is another file");
        drop(file);
        assert_eq!(rig.delete(&path), Status::OK);
        assert!(!path.exists(), "{path:?} was not deleted");
    }
});

crate::check!(paths_that_cannot_be, |rig| {
    let zero = rig.path(OsStr::from_bytes(b"one\0two"));
    assert_eq!(File::open(rig, &zero, mode::CREATE | mode::RDWR).err(), Some(Status::BAD_PARAM));
    assert_eq!(rig.delete(&zero), Status::BAD_PARAM);
    assert!(!rig.path("one").exists());
    let long = rig.path("x".repeat(300));
    assert_eq!(File::open(rig, &long, mode::CREATE | mode::RDWR).err(), Some(system(libc::ENAMETOOLONG)));
    assert_eq!(rig.delete(&long), system(libc::ENAMETOOLONG));
    assert_eq!(File::open(rig, Path::new(""), mode::RDWR).err(), Some(system(libc::ENOENT)));
});

crate::check!(delete, |rig| {
    assert_eq!(rig.delete(&rig.path("missing")), system(libc::ENOENT));
    let file = File::new(rig, "goes");
    assert_eq!(rig.delete(&rig.path("goes")), Status::OK);
    assert!(!rig.path("goes").exists());
    // It is open still.
    assert_eq!((file.resize(10), file.length()), (Status::OK, Ok(10)));
    std::fs::create_dir(rig.path("folder")).expect("a folder");
    assert!(rig.delete(&rig.path("folder")).is_err() && rig.path("folder").exists(), "a folder is no file");
});
