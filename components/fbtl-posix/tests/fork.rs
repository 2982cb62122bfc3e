//! A process that forks: the child has no threads of the pool, and neither hangs nor does harm.

use oxmpi_fbtl::{Piece, transfer};
use oxmpi_fbtl_conformance::{File, Setup, check, run_named};
use oxmpi_mca::Status;

check!(a_child_of_a_pool, |rig| {
    let file = File::new(rig, "fork");
    let data = [1u8; 64];
    let piece = Piece { offset: 0, memory: data.as_ptr().cast_mut(), len: 64 };
    // The pool has a thread.
    assert_eq!(file.run(transfer::WRITE, 0, &[piece]), (Status::OK, 64));
    // SAFETY: the child uses what the pool does with a lock that it does not take, and ends without running anything else.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "a process");
    if child == 0 {
        let later = file.run(transfer::WRITE, 0, &[piece]);
        let now = file.run(transfer::WRITE, transfer::NOW, &[piece]);
        rig.end();
        let fine = later.0 == Status::NOT_SUPPORTED && now == (Status::OK, 64);
        // SAFETY: ends the child.
        unsafe { libc::_exit(if fine { 0 } else { 1 }) }
    }
    let mut status = 0;
    for _ in 0..1200 {
        // SAFETY: the child of this process.
        if unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == child {
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "the child: {status}");
            assert_eq!(file.run(transfer::WRITE, 0, &[piece]), (Status::OK, 64));
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // SAFETY: as above.
    unsafe { libc::kill(child, libc::SIGKILL) };
    panic!("the child has not ended within 60 s");
});

#[test]
fn a_process_that_forks() {
    run_named(&Setup::new(fbtl_posix::descriptor()), "a_child_of_a_pool");
}
