//! A failure sent in place of a message: its receive ends with the error and no data, in its turn among the messages of its sender.

use crate::job::{Comm, Job};
use crate::{CommSpec, Req, data::pattern};
use core::ptr::{null, null_mut};
use oxmpi_mca::{MsgStatus, Status};
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, SendArgs, mode};

/// Sends a failure from a rank to the other one; `Err`: the verb's answer.
fn tell(job: &Job, from: u32, comms: &[Comm], tag: i32, error: Status) -> Result<Req, Status> {
    let caller = job.rank(from);
    let args = SendArgs {
        comm: comms[from as usize].0,
        thread: caller.thread(),
        buf: null(),
        count: 0,
        dtype: null(),
        dst: 1 - from.cast_signed(),
        tag,
        mode: mode::STANDARD,
        reserved: 0,
        host_comm: null_mut(),
    };
    let ((table, state), mut req) = (caller.pml(), null_mut());
    match (table.send_failure)(state, &args, error, &mut req) {
        Status::PENDING => Ok(Req(req)),
        answer => Err(answer),
    }
}

/// A receive ended with the error that was told.
fn failed(status: MsgStatus, error: Status, tag: i32) {
    assert_eq!((status.error, status.source, status.tag, status.bytes), (error, 0, tag, 0));
}

crate::check!(failures_told, ranks: 2, |job| {
    let spare = job.comms(&CommSpec { gid: [99, 9], ..CommSpec::default() });
    match tell(job, 1, &spare, -5, Status::UNREACHABLE) {
        Err(Status::NOT_SUPPORTED) => return,
        told => {
            job.wait(told.expect("a request"));
        }
    }
    for no_error in [Status::OK, Status::PENDING] {
        assert!(tell(job, 0, &spare, 1, no_error).is_err(), "{no_error} is no error");
    }
    // A communicator that nobody has spoken on, and one that both know.
    for (turn, error) in [Status::UNREACHABLE, Status::PEER_FAILED, Status::INTERNAL].into_iter().enumerate() {
        let c = job.comms(&CommSpec { gid: [turn as u64, 9], ..CommSpec::default() });
        for (tag, posted_first) in [(-7, true), (-7, false), (3, true), (3, false)] {
            in_turn(job, &c, tag, error, posted_first);
        }
        at_once(job, &c, error);
        job.ping(&c, 0, 1, 1);
    }
});

/// A message, a failure and a message with one tag meet three receives in their order.
fn in_turn(job: &Job, c: &[Comm], tag: i32, error: Status, posted_first: bool) {
    let data = [pattern(40, 1), pattern(40, 2)];
    let mut bufs = [[0xAAu8; 64]; 3];
    let mut receives = vec![];
    let mut post = |bufs: &mut [[u8; 64]; 3]| {
        receives.extend(bufs.iter_mut().map(|buf| job.rank(1).irecv(c[1], buf, 0, tag)));
    };
    if posted_first {
        post(&mut bufs);
    }
    let sent = [
        job.rank(0).isend(c[0], &data[0], 1, tag, mode::STANDARD),
        tell(job, 0, c, tag, error).expect("a request"),
        job.rank(0).isend(c[0], &data[1], 1, tag, mode::STANDARD),
    ];
    if !posted_first {
        job.settle();
        post(&mut bufs);
    }
    sent.into_iter().for_each(|req| assert_eq!(job.wait(req).error, Status::OK));
    let [first, told, last] = [0, 1, 2].map(|at| job.wait(receives[at]));
    assert_eq!((first.error, last.error), (Status::OK, Status::OK));
    failed(told, error, tag);
    assert!(bufs[0][..40] == data[0] && bufs[2][..40] == data[1], "the messages around it");
    assert!(bufs[1] == [0xAA; 64], "a failure has no data");
}

/// A failure that is there already: probes show an empty message; blocking and matched receives end with the error.
fn at_once(job: &Job, c: &[Comm], error: Status) {
    let mut buf = [0xAA; 64];
    for how in ["recv", "imrecv"] {
        let sent = tell(job, 0, c, 4, error).expect("a request");
        job.settle();
        let seen = job.rank(1).probe(c[1], ANY_SOURCE, ANY_TAG).expect("a failure can be seen");
        assert_eq!((seen.error, seen.source, seen.tag, seen.bytes), (Status::OK, 0, 4, 0));
        let ended = match how {
            "recv" => {
                job.rank(1).recv(c[1], &mut buf, ANY_SOURCE, ANY_TAG).unwrap_or_else(|req| job.wait(req))
            }
            _ => {
                let (_, message) = job.rank(1).improbe(c[1], 0, 4).expect("a failure can be taken");
                job.wait(job.rank(1).imrecv(c[1], message, &mut buf))
            }
        };
        failed(ended, error, 4);
        assert_eq!(job.wait(sent).error, Status::OK);
    }
    assert!(buf == [0xAA; 64], "a failure has no data");
}
