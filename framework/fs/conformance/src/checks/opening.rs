//! Modes, and what stands in the way of an open.

use crate::rig::how;
use crate::{File, Rig};
use oxmpi_fs::error::system;
use oxmpi_fs::{FsFile, OpenFile, mode};
use oxmpi_mca::Status;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

/// The error of an open.
fn refused(rig: &Rig, name: &str, mode: u32) -> Option<Status> {
    File::open(rig, &rig.path(name), mode).err()
}

crate::check!(modes_of_opening, |rig| {
    assert_eq!(refused(rig, "missing", mode::RDWR), Some(system(libc::ENOENT)));
    assert!(!rig.path("missing").exists(), "an open without CREATE made a file");
    for bad in [0, mode::CREATE, mode::RDONLY | mode::WRONLY, mode::RDONLY | mode::RDWR] {
        assert_eq!(refused(rig, "bad", bad), Some(Status::BAD_PARAM), "mode {bad}");
    }
    assert!(!rig.path("bad").exists(), "an open that was refused made a file");
    let first = File::new(rig, "one");
    (&*first.std()).write_all(b"content").expect("written");
    assert_eq!(refused(rig, "one", mode::CREATE | mode::EXCL | mode::RDWR), Some(system(libc::EEXIST)));
    let again = File::open(rig, &rig.path("one"), mode::CREATE | mode::RDWR).expect("it is there");
    assert_eq!(again.length(), Ok(7), "opening cuts nothing");
    let exclusive = mode::CREATE | mode::EXCL | mode::RDWR;
    assert!(File::open(rig, &rig.path("new"), exclusive).is_ok() && rig.path("new").exists());
    // A position of the descriptor is nobody's business, APPEND is the host's.
    let appended = File::open(rig, &rig.path("one"), mode::RDWR | mode::APPEND).expect("it is there");
    use std::os::unix::fs::FileExt;
    appended.std().write_all_at(b"C", 0).expect("written");
    assert_eq!(std::fs::read(rig.path("one")).expect("the content"), b"Content");
});

crate::check!(directions, |rig| {
    std::fs::write(rig.path("two"), b"abc").expect("a file");
    let reads = File::open(rig, &rig.path("two"), mode::RDONLY).expect("for reading");
    let mut content = String::new();
    (&*reads.std()).read_to_string(&mut content).expect("it can be read");
    assert_eq!(content, "abc");
    assert!((&*reads.std()).write_all(b"x").is_err(), "open for reading alone, and written");
    let writes = File::open(rig, &rig.path("two"), mode::WRONLY).expect("for writing");
    (&*writes.std()).write_all(b"x").expect("it can be written");
    assert!((&*writes.std()).read_to_string(&mut content).is_err(), "open for writing alone, and read");
    // DELETE_ON_CLOSE is the host's.
    let kept = File::open(rig, &rig.path("two"), mode::RDWR | mode::DELETE_ON_CLOSE).expect("it is there");
    assert_eq!(kept.close(), Status::OK);
    assert!(rig.path("two").exists(), "a component deletes nothing by itself");
});

crate::check!(what_is_no_file, |rig| {
    std::fs::create_dir(rig.path("folder")).expect("a folder");
    for access in [mode::RDONLY, mode::RDWR, mode::CREATE | mode::RDWR] {
        assert_eq!(refused(rig, "folder", access), Some(system(libc::EISDIR)), "mode {access}");
    }
    std::fs::write(rig.path("file"), b"").expect("a file");
    assert_eq!(refused(rig, "file/inside", mode::RDWR), Some(system(libc::ENOTDIR)));
    assert_eq!(refused(rig, "no/such", mode::CREATE | mode::RDWR), Some(system(libc::ENOENT)));
    std::os::unix::fs::symlink(rig.path("loop"), rig.path("loop")).expect("a link");
    assert_eq!(refused(rig, "loop", mode::RDWR), Some(system(libc::ELOOP)));
    let left: Vec<_> =
        std::fs::read_dir(rig.folder()).expect("the folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 3, "nothing else was made: {left:?}");
});

crate::check!(permissions, |rig| {
    let open = OpenFile { permissions: 0o600, ..how(mode::CREATE | mode::RDWR) };
    let _file = File::open_as(rig, &rig.path("private"), open).expect("a file");
    let mode = rig.path("private").metadata().expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
});

crate::check!(descriptors_close, |rig| {
    let open = |fd: i32| std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok();
    let hints = OpenFile { direct_read: 1, direct_write: 1, ..how(mode::CREATE | mode::RDWR) };
    let file = File::open_as(rig, &rig.path("closing"), hints).expect("a file");
    let target = |fd: i32| std::fs::read_link(format!("/proc/self/fd/{fd}")).ok();
    let (fd, direct) = (file.fd(), file.told.direct_fd);
    let here = rig.path("closing");
    assert!(open(fd) && target(fd) == Some(here.clone()));
    assert_eq!(file.close(), Status::OK);
    // Another thread may have the number by now, and not for this file.
    for fd in [fd, direct] {
        assert_ne!(target(fd), Some(here.clone()), "a descriptor is left open");
    }
});

// An older host has less room.
crate::check!(smaller_descriptions, |rig| {
    let mut told = crate::rig::place(core::mem::offset_of!(FsFile, because));
    told.because = oxmpi_mca::StrRef::new("mine");
    let status = rig.open(&rig.path("small"), how(mode::CREATE | mode::RDWR), &mut told);
    assert_eq!(
        (status, told.because.len),
        (Status::OK, 4),
        "a field behind the host's description was written"
    );
    assert_eq!((rig.table().close)(told.file), Status::OK);
});
