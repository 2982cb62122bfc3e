//! Locks of descriptions: who excludes whom, in this process and from another one.

use crate::{File, Rig};
use oxmpi_fs::lock::{EXCLUSIVE, SHARED};
use oxmpi_fs::{keeps, mode};
use oxmpi_mca::Status;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

/// A file, where the component has locks.
fn lockable<'a>(rig: &'a Rig, name: &str) -> Option<File<'a>> {
    let file = File::new(rig, name);
    if file.told.keeps & keeps::LOCKS_HERE == 0 {
        assert_eq!(file.lock(0, 1, SHARED), Status::NOT_SUPPORTED, "no locks were told, and there are some");
        assert_eq!(file.unlock(0, 1), Status::NOT_SUPPORTED);
        eprintln!("left out: the component has no locks here");
        return None;
    }
    Some(file)
}

fn again<'a>(rig: &'a Rig, name: &str) -> File<'a> {
    File::open(rig, &rig.path(name), mode::RDWR).expect("it is there")
}

/// Whether another process can lock a byte of the file for itself.
fn other_process_can(rig: &Rig, name: &str, byte: i64) -> bool {
    let path = CString::new(rig.path(name).as_os_str().as_bytes()).expect("a path");
    // SAFETY: plain numbers.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    lock.l_start = byte;
    lock.l_len = 1;
    // SAFETY: the child makes system calls alone, with what was made before.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0, "a process");
        if child == 0 {
            let fd = libc::open(path.as_ptr(), libc::O_RDWR);
            libc::_exit(if fd >= 0 && libc::fcntl(fd, libc::F_OFD_SETLK, &lock) == 0 { 0 } else { 1 });
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        assert!(libc::WIFEXITED(status), "the other process");
        libc::WEXITSTATUS(status) == 0
    }
}

crate::check!(lock_matrix, |rig| {
    let Some(one) = lockable(rig, "matrix") else { return };
    let two = again(rig, "matrix");
    for (held, asked, fits) in [
        (SHARED, SHARED, true),
        (SHARED, EXCLUSIVE, false),
        (EXCLUSIVE, SHARED, false),
        (EXCLUSIVE, EXCLUSIVE, false),
    ] {
        assert_eq!(one.lock(100, 50, held), Status::OK);
        let expected = if fits { Status::OK } else { Status::PENDING };
        for (offset, len) in [(100, 50), (149, 1), (90, 11), (120, 5), (0, 0)] {
            assert_eq!(two.lock(offset, len, asked), expected, "{held}, {asked} at {offset}, {len}");
            assert_eq!(two.unlock(offset, len), Status::OK);
        }
        for (offset, len) in [(99, 1), (150, 1), (0, 100), (150, 0)] {
            assert_eq!(two.lock(offset, len, asked), Status::OK, "beside it, at {offset}, {len}");
            assert_eq!(two.unlock(offset, len), Status::OK);
        }
        assert_eq!(one.unlock(100, 50), Status::OK);
        assert_eq!(two.lock(100, 50, EXCLUSIVE), Status::OK, "it was given back");
        assert_eq!(two.unlock(0, 0), Status::OK);
    }
});

crate::check!(locks_of_a_description, |rig| {
    let Some(one) = lockable(rig, "description") else { return };
    let two = again(rig, "description");
    assert_eq!(one.lock(10, 10, EXCLUSIVE), Status::OK);
    assert_eq!(one.lock(10, 10, EXCLUSIVE), Status::OK, "a description does not exclude itself");
    // Another descriptor of the file that goes takes no lock with it.
    drop(std::fs::File::open(rig.path("description")).expect("there"));
    drop(again(rig, "description"));
    assert_eq!(two.lock(10, 1, SHARED), Status::PENDING);
    // A kind is changed in place, as far as others let it.
    assert_eq!(one.lock(10, 10, SHARED), Status::OK);
    assert_eq!(two.lock(10, 10, SHARED), Status::OK);
    assert_eq!(one.lock(10, 10, EXCLUSIVE), Status::PENDING);
    assert_eq!(two.lock(10, 10, EXCLUSIVE), Status::PENDING, "a lock that was refused another kind is kept");
    assert_eq!(two.unlock(10, 10), Status::OK);
    assert_eq!(one.lock(10, 10, EXCLUSIVE), Status::OK);
    // Part of a range.
    assert_eq!(one.unlock(12, 3), Status::OK);
    assert_eq!((two.lock(12, 3, EXCLUSIVE), two.lock(11, 1, SHARED)), (Status::OK, Status::PENDING));
    assert_eq!(one.unlock(1 << 40, 5), Status::OK, "where none is");
    // The end of the file takes its locks.
    assert_eq!(one.close(), Status::OK);
    assert_eq!(two.lock(0, 0, EXCLUSIVE), Status::OK);
});

crate::check!(locks_of_other_processes, |rig| {
    let Some(file) = lockable(rig, "processes") else { return };
    assert!(other_process_can(rig, "processes", 5));
    for kind in [SHARED, EXCLUSIVE] {
        assert_eq!(file.lock(5, 1, kind), Status::OK);
        assert!(!other_process_can(rig, "processes", 5), "another process has what is locked");
        assert!(other_process_can(rig, "processes", 4) && other_process_can(rig, "processes", 6));
        assert_eq!(file.unlock(5, 1), Status::OK);
        assert!(other_process_can(rig, "processes", 5));
    }
    assert_eq!(file.lock(7, 0, EXCLUSIVE), Status::OK);
    assert!(!other_process_can(rig, "processes", i64::MAX - 1), "0 bytes are all there can be");
});

// An open tries locks; nothing of that may be left.
crate::check!(opening_leaves_no_lock, |rig| {
    for access in [mode::CREATE | mode::RDWR, mode::RDONLY, mode::WRONLY] {
        let _file = File::open(rig, &rig.path("left"), access).expect("a file");
        for byte in [0, 1 << 40, i64::MAX - 2, i64::MAX - 1] {
            assert!(other_process_can(rig, "left", byte), "byte {byte} is locked");
        }
    }
});

crate::check!(locks_by_direction, |rig| {
    let Some(both) = lockable(rig, "direction") else { return };
    let reads = File::open(rig, &rig.path("direction"), mode::RDONLY).expect("there");
    let writes = File::open(rig, &rig.path("direction"), mode::WRONLY).expect("there");
    assert_eq!(reads.lock(0, 5, SHARED), Status::OK);
    assert_eq!(writes.lock(0, 5, EXCLUSIVE), Status::PENDING);
    assert_eq!(reads.unlock(0, 5), Status::OK);
    assert_eq!(writes.lock(0, 5, EXCLUSIVE), Status::OK);
    assert_eq!(both.lock(0, 5, SHARED), Status::PENDING);
    assert_eq!(writes.unlock(0, 5), Status::OK);
    // Where the system has no shared lock for a description it is another one that excludes as much.
    assert_eq!(writes.lock(0, 5, SHARED), Status::OK);
    assert_eq!(both.lock(0, 5, EXCLUSIVE), Status::PENDING);
});

crate::check!(locks_that_cannot_be, |rig| {
    let Some(file) = lockable(rig, "cannot") else { return };
    for kind in [0, 3] {
        assert_eq!(file.lock(0, 1, kind), Status::BAD_PARAM, "kind {kind}");
    }
    assert_eq!(file.lock(1 << 63, 1, SHARED), Status::BAD_PARAM);
    assert_eq!(file.lock(5, u64::MAX, SHARED), Status::OK, "up to the end of all");
    assert!(!other_process_can(rig, "cannot", i64::MAX - 1));
});
