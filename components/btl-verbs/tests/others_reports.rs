//! Contexts that share a completion queue or send buffers: reports that another context takes, and room that another one uses up.

mod common;

use common::{port, setup};
use core::time::Duration;
use oxmpi_btl::{WaitFd, WaitSet};
use oxmpi_btl_conformance::{Harness, Msg, Rank};
use oxmpi_mca::Status;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::BorrowedFd;
use std::time::Instant;

/// Arms a context: what it says, and the descriptor to wait for.
fn arm(rank: &Rank, ctx: u32) -> (Status, Option<i32>) {
    let mut fds = [WaitFd { fd: -1, events: 0 }; 4];
    let mut set = WaitSet::new(&mut [], &mut fds);
    // SAFETY: `on` holds the context.
    let status = rank.on(ctx, || unsafe { (rank.btl.arm)(rank.btl.state, ctx, &mut set) });
    let count = set.num_fds;
    (status, (count > 0).then_some(fds[0].fd))
}

fn disarm(rank: &Rank, ctx: u32) {
    // SAFETY: `on` holds the context.
    rank.on(ctx, || unsafe { (rank.btl.disarm)(rank.btl.state, ctx) });
}

fn is_readable(fd: i32, within: Duration) -> bool {
    // SAFETY: open until `disarm`.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
    poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout)).expect("polls") > 0
}

/// Context 1 sleeps, and context 0 takes the report of its message out of the queue: context 1 is woken, and has it.
fn reports_of_a_sleeper_reach_it() {
    let h = Harness::new(&setup().ranks(2).cris(2).param("share_queues", "2"));
    let (sender, receiver) = (&h.ranks[0], &h.ranks[1]);
    for i in 0..200 {
        let asleep = loop {
            while h.progress() > 0 {}
            match arm(receiver, 1) {
                (Status::OK, Some(fd)) if !is_readable(fd, Duration::ZERO) => break fd,
                _ => disarm(receiver, 1),
            }
        };
        let before = receiver.host.arrived();
        assert_eq!(sender.send(1, 1, &Msg::new(i, 24, 8)), Status::OK);
        if i % 2 == 0 {
            // Context 0 sleeps and wakes: it takes the event of the channel, too.
            let begun = Instant::now();
            while let (Status::OK, Some(fd)) = arm(receiver, 0) {
                let woken = is_readable(fd, Duration::from_millis(200));
                disarm(receiver, 0);
                if woken || begun.elapsed() > Duration::from_secs(5) {
                    break;
                }
            }
        }
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(3) {
            receiver.progress(0);
        }
        assert_eq!(receiver.host.arrived(), before, "context 0 hands up nothing of context 1's");
        assert!(is_readable(asleep, Duration::from_secs(5)), "message {i} does not wake its receiver");
        disarm(receiver, 1);
        let begun = Instant::now();
        while receiver.host.arrived() == before && begun.elapsed() < Duration::from_secs(5) {
            receiver.progress(1);
        }
        assert_eq!(receiver.host.arrived(), before + 1, "message {i} is lost");
    }
}

/// Sends on a context as long as there is room. How many.
fn fill(h: &Harness, ctx: u32) -> u64 {
    (0u64..200).take_while(|i| h.ranks[0].send(1, ctx, &Msg::new(*i, 24, 40)) == Status::OK).count() as u64
}

/// The device reports no completion: a context that has used up the common room leaves others their own, and all messages arrive
/// later on.
fn room_of_its_own(params: &[(&str, &str)], first: u64, second: u64) {
    let plain = setup().ranks(2).cris(2).param("signal_period", "1");
    let h = Harness::new(&params.iter().fold(plain, |setup, (name, value)| setup.param(name, value)));
    // Messages of connecting are reported, and none from here on.
    while h.progress() > 0 {}
    port(false);
    let (filled, other) = (fill(&h, 0), fill(&h, 1));
    let none_more = fill(&h, 0) + fill(&h, 1);
    port(true);
    let before = h.ranks[1].host.arrived();
    h.settle(1, before + filled + other);
    assert_eq!((filled, other, none_more), (first, second, 0), "{params:?}");
    assert_eq!(h.ranks[1].host.take().len() as u64, filled + other);
    // Room that is free again is common again, in whatever order: now the other context takes it.
    while h.progress() > 0 {}
    port(false);
    let (filled, other) = (fill(&h, 1), fill(&h, 0));
    port(true);
    let before = h.ranks[1].host.arrived();
    h.settle(1, before + filled + other);
    assert_eq!(filled + other, first + second, "{params:?}: all room is there again");
    assert!(filled >= second && other >= second, "{params:?}: {filled} and {other}");
}

/// One test, since the port is the process's.
#[test]
fn contexts_share_a_queue_and_buffers() {
    reports_of_a_sleeper_reach_it();
    // Of eight buffers two are of each context alone.
    room_of_its_own(&[("share_buffers", "2"), ("send_buffers", "8"), ("max_inline", "0")], 6, 2);
    // Of thirty-two requests eight.
    room_of_its_own(&[("share_queues", "2"), ("completion_depth", "64")], 24, 8);
}
