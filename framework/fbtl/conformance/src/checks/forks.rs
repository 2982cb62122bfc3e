//! A process that forks: the child has no thread and no ring of its parent's, and neither hangs nor does harm.

use crate::File;
use oxmpi_fbtl::{Piece, transfer};
use oxmpi_mca::Status;

crate::check!(a_process_that_forks, |rig| {
    let file = File::new(rig, "fork");
    let data = [1u8; 64];
    let piece = Piece { offset: 0, memory: data.as_ptr().cast_mut(), len: 64 };
    // Threads and rings are there.
    assert_eq!(file.run(transfer::WRITE, 0, &[piece]), (Status::OK, 64));
    // SAFETY: the child calls the component, which knows that it is another process and takes no lock of the parent's, and ends without running anything else.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "a process");
    if child == 0 {
        // An operation that nobody could carry out ends with a failure; one of a caller that waits goes well.
        let later = file.run(transfer::WRITE, 0, &[piece]);
        let now = file.run(transfer::WRITE, transfer::NOW, &[piece]);
        rig.end();
        let refused = later.0 == Status::NOT_SUPPORTED || later == (Status::OK, 64);
        // SAFETY: ends the child.
        unsafe { libc::_exit(if refused && now == (Status::OK, 64) { 0 } else { 1 }) }
    }
    let mut status = 0;
    for _ in 0..1200 {
        // SAFETY: the child of this process.
        if unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == child {
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "the child: {status}");
            assert_eq!(
                file.run(transfer::WRITE, 0, &[piece]),
                (Status::OK, 64),
                "the parent, behind its child"
            );
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // SAFETY: as above.
    unsafe { libc::kill(child, libc::SIGKILL) };
    panic!("the child has not ended within 60 s");
});
