//! A sender out of credits that sleeps is woken when its receiver has taken messages, however late that is.

mod common;

use common::setup;
use oxmpi_btl::{WaitFd, WaitSet, WaitWord};
use oxmpi_btl_conformance::{Harness, Msg};
use oxmpi_mca::Status;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::BorrowedFd;
use std::time::Instant;

/// How often the sender wants to sleep before its receiver looks.
const LOOKS: usize = 300;

#[test]
fn credits_wake_their_sender() {
    let h = Harness::new(&setup().ranks(2).cris(1).param("smsg_max_credits", "4"));
    let (sender, receiver) = (&h.ranks[0], &h.ranks[1]);
    let mut sent = receiver.host.arrived();
    for round in 0..5u64 {
        let msg = Msg::new(round, 24, 8);
        while sender.send(1, 0, &msg) == Status::OK {
            sent += 1;
        }
        for _ in 0..LOOKS {
            let mut words = vec![WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 }; 8];
            let mut fds = vec![WaitFd { fd: -1, events: 0 }; 8];
            let mut set = WaitSet::new(&mut words, &mut fds);
            // SAFETY: one thread makes all calls; the set lives.
            let status = unsafe { (sender.btl.arm)(sender.btl.state, 0, &mut set) };
            // SAFETY: one thread makes all calls.
            unsafe { (sender.btl.disarm)(sender.btl.state, 0) };
            sender.progress(0);
            if status != Status::OK {
                continue;
            }
            assert!(!set.fds().is_empty(), "nothing would wake it");
            let mut polled: Vec<PollFd<'_>> = set
                .fds()
                .iter()
                // SAFETY: the component keeps them open.
                .map(|f| PollFd::from_borrowed_fd(unsafe { BorrowedFd::borrow_raw(f.fd) }, PollFlags::IN))
                .collect();
            let patience = Timespec { tv_sec: h.patience.as_secs() as i64, tv_nsec: 0 };
            assert!(
                poll(&mut polled, Some(&patience)).expect("polls") > 0,
                "round {round}: it sleeps for ever"
            );
        }
        let begun = Instant::now();
        while receiver.host.arrived() < sent {
            receiver.progress(0);
            assert!(begun.elapsed() < h.patience, "round {round}: not all has come");
        }
        while sender.send(1, 0, &msg) != Status::OK {
            sender.progress(0);
            assert!(begun.elapsed() < h.patience, "round {round}: there is never room again");
        }
        sent += 1;
    }
}
