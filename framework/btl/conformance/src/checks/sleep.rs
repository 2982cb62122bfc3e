//! Sleeping and being woken, where it is offered.

use crate::harness::Harness;
use crate::message::{Msg, step};
use crate::rank::Rank;
use crate::setup::Setup;
use crate::waiting::Waits;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use oxmpi_btl::cap;
use oxmpi_mca::Status;
use std::time::{Duration, Instant};

crate::check!(Sleep: arm_sees_what_is_there, sleepers_are_woken);

/// A sleeper that was not woken looks by itself after this long.
const NAP: Duration = Duration::from_secs(3);
/// A message that lay there for this long while its receiver slept is a lost wake-up.
const LOST: Duration = Duration::from_secs(2);
/// Messages of a transport's own are over after this long.
const PEACE: Duration = Duration::from_secs(3);

fn disarm(rank: &Rank) {
    rank.disarm(0);
}

/// Sets a flag when the scope is left, by a panic too.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Arms a context that no message comes to until it lets its owner sleep. Messages of the transport's own, which arming may bring about, end some
/// attempts.
fn arm_in_peace(h: &Harness, receiver: &Rank) -> Waits {
    let begun = Instant::now();
    loop {
        while receiver.progress(0) > 0 {}
        let waits = Waits::arm(receiver, 0);
        if waits.status == Status::OK && !waits.is_awake() {
            return waits;
        }
        let may_pass = matches!(waits.status, Status::OK | Status::PENDING) && begun.elapsed() < PEACE;
        assert!(may_pass, "{}: nothing is there, but nobody may sleep: {:?}", h.name, waits.status);
        disarm(receiver);
    }
}

/// `arm` with something there does not let anybody sleep; `arm` with nothing there does.
fn arm_sees_what_is_there(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::SLEEP) {
        return;
    }
    for link in h.links() {
        let (sender, receiver) = (&h.ranks[link.from], &h.ranks[link.to]);
        for i in 0..50u64 {
            let waits = arm_in_peace(&h, receiver);
            assert!(link.from == link.to || !waits.is_empty(), "{}: nothing would wake a sleeper", h.name);
            disarm(receiver);
            let before = receiver.host.arrived();
            assert_eq!(sender.send(link.to, 0, &Msg::new(i, 24, 8)), Status::OK);
            let waits = Waits::arm(receiver, 0);
            // A device may need a moment to bring it; then it wakes.
            let awake = waits.is_awake() || waits.sleep(NAP);
            assert!(awake, "{}: a message is there, but arm lets its receiver sleep", h.name);
            disarm(receiver);
            h.settle(link.to, before + 1);
        }
    }
}

/// A receiver that sleeps whenever nothing is there sees every message in time.
fn sleepers_are_woken(setup: &Setup) {
    const ROUNDS: u64 = 3000;
    let h = Harness::new(setup);
    let Some(link) = h.links().into_iter().find(|l| l.from != l.to) else {
        return; // Only to itself: who sleeps does not send.
    };
    if !h.ranks[0].can(cap::SLEEP) {
        return;
    }
    let (sender, receiver) = (&h.ranks[link.from], &h.ranks[link.to]);
    let born = Instant::now();
    // When the newest message was sent, in microseconds since `born`; written before it is sent.
    let sent_at = AtomicU64::new(0);
    let mut slept = 0u64;
    // A failing receiver must not leave its sender waiting: the scope would never end.
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut x = 1;
            for i in 0..ROUNDS {
                // Wait until the last one was taken, then a little or not at all, so that the message
                // meets its receiver in every state between awake and asleep.
                while receiver.host.arrived() < i {
                    std::thread::yield_now();
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                }
                x = step(x);
                for _ in 0..x % 300 {
                    std::hint::spin_loop();
                }
                if x.is_multiple_of(7) {
                    std::thread::sleep(Duration::from_micros(x % 50));
                }
                sent_at.store(born.elapsed().as_micros() as u64, Ordering::SeqCst);
                while sender.send(link.to, 0, &Msg::new(i, 24, 8)) != Status::OK {
                    std::thread::yield_now();
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                }
            }
        });
        let _over = SetAtEnd(&over);
        let (mut last, mut since) = (0, Instant::now());
        while receiver.host.arrived() < ROUNDS {
            if receiver.host.arrived() != last {
                (last, since) = (receiver.host.arrived(), Instant::now());
            }
            assert!(since.elapsed() < h.patience + 2 * NAP, "{}: message {last} never comes", h.name);
            if receiver.progress(0) > 0 {
                continue;
            }
            let waits = Waits::arm(receiver, 0);
            if waits.status == Status::OK {
                slept += 1;
                let woken = waits.sleep(NAP);
                disarm(receiver);
                let before = receiver.host.arrived();
                receiver.progress(0);
                if !woken && receiver.host.arrived() > before {
                    let age = born.elapsed().as_micros() as u64 - sent_at.load(Ordering::SeqCst);
                    assert!(
                        Duration::from_micros(age) < LOST,
                        "{}: message {before} lay there for {age} us while its receiver slept",
                        h.name
                    );
                }
            } else {
                assert_eq!(waits.status, Status::PENDING, "{}: arm", h.name);
                disarm(receiver);
            }
        }
    });
    assert!(slept > 0, "{}: the receiver never slept, so this proved nothing", h.name);
}
