//! Emulated one-sided verbs between ranks in one process, over transports that lack them: btl-template (all
//! verbs) and btl-shm (atomics; without single copy all verbs). This test is in the place of a one-sided component: it calls
//! the verbs as those do.

mod common;
#[path = "common/rma.rs"]
mod rma;

use common::{Form, config, job, linked_in};
use oxmpi_btl::{AtomicDesc, FlushDesc, Reach, SendDesc, amo, cap};
use oxmpi_mca::Status;
use oxmpi_runtime::{Config, Instance, Level};
use rma::{Done, LIMIT, Meeting, Remote, Window, atomic, done, reach, rma, services};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A verb of a transport. Tests keep memory and descriptors until the operation is over, endpoints as long as the instance, and contexts apart.
macro_rules! call {
    ($btl:expr, $verb:ident($($argument:expr),*)) => {
        // SAFETY: what the text above says.
        unsafe { ($btl.$verb)($btl.state, $($argument),*) }
    };
}

/// A transport between the ranks, as settings.
type TransportSettings = &'static [(&'static str, &'static str)];
const TEMPLATE: TransportSettings = &[("btl", "template,self")];
const SHM: TransportSettings = &[("btl", "shm,self")];
const SHM_WITHOUT_COPIES: TransportSettings =
    &[("btl", "shm,self"), ("btl_shm_single_copy_mechanism", "none")];
const EVERY: [TransportSettings; 3] = [TEMPLATE, SHM, SHM_WITHOUT_COPIES];

fn make(settings: TransportSettings, level: Level) -> Config {
    let mut config = config(Form::LinkedIn, level, settings);
    config.builtin = linked_in();
    config.builtin.push(btl_template::descriptor());
    config
}

/// Offers a verb until there is room for it.
fn offer(instance: &Instance, mut verb: impl FnMut() -> Status) -> Status {
    let begin = Instant::now();
    loop {
        match verb() {
            Status::NO_RESOURCE => {
                assert!(begin.elapsed() < LIMIT, "there is no room for an operation");
                instance.progress(instance.main_thread());
            }
            status => return status,
        }
    }
}

fn put(instance: &Instance, to: Reach, remote: &Remote, offset: u64, data: &[u8]) -> Status {
    let completion = Done::default();
    let desc = rma(remote, offset, data.as_ptr().cast_mut(), data.len() as u64, &completion);
    let btl = to.btl();
    let status = offer(instance, || call!(btl, put(to.endpoint, 0, &desc)));
    completion.wait(instance, status)
}

fn get(instance: &Instance, from: Reach, remote: &Remote, offset: u64, into: &mut [u8]) -> Status {
    let completion = Done::default();
    let desc = rma(remote, offset, into.as_mut_ptr(), into.len() as u64, &completion);
    let btl = from.btl();
    let status = offer(instance, || call!(btl, get(from.endpoint, 0, &desc)));
    completion.wait(instance, status)
}

fn flush(instance: &Instance, to: Reach) -> Status {
    let completion = Done::default();
    let desc = FlushDesc { done: Some(done), done_ctx: completion.ctx() };
    let btl = to.btl();
    let status = offer(instance, || call!(btl, flush(to.endpoint, 0, &desc)));
    completion.wait(instance, status)
}

fn fetch_add(instance: &Instance, to: Reach, remote: &Remote, offset: u64, operand: u64) -> u64 {
    let (completion, mut old) = (Done::default(), u64::MAX);
    let desc = atomic(remote, offset, amo::ADD, operand, &mut old, &completion);
    let btl = to.btl();
    let status = offer(instance, || call!(btl, atomic(to.endpoint, 0, &desc)));
    assert_eq!(completion.wait(instance, status), Status::OK);
    old
}

/// Runs `body` on ranks that have a window of so many words each, reached by `settings`.
fn windows(
    ranks: u32,
    settings: TransportSettings,
    words: usize,
    body: impl Fn(&Arc<Instance>, &Meeting, &Window, &[Remote]) + Sync,
) {
    let meeting = Meeting::new(ranks);
    job(
        ranks,
        || make(settings, Level::Single),
        |instance| {
            let other = (instance.job().rank + 1) % ranks;
            let (window, mine) = Window::new(instance, words, reach(instance, other).btl);
            let remotes = meeting.exchange(instance, mine);
            body(instance, &meeting, &window, &remotes);
            meeting.barrier.wait();
            window.close(instance);
        },
    );
}

#[test]
fn handles_say_what_is_emulated() {
    let of = |settings: TransportSettings, emulated: u32| {
        job(
            2,
            || make(settings, Level::Single),
            |instance| {
                let btl = reach(instance, 1 - instance.job().rank).btl();
                assert_eq!(btl.emulated, emulated, "{settings:?}");
                assert!(btl.can(cap::GET | cap::PUT | cap::ATOMIC | cap::FLUSH | cap::REGISTER | cap::LIST));
                let me = reach(instance, instance.job().rank).btl();
                assert_eq!((me.emulated, me.name()), (0, "self"));
                assert_eq!(instance.service_counts().helpers, 0, "nothing is registered");
            },
        );
    };
    let all = cap::GET | cap::PUT | cap::ATOMIC | cap::FLUSH | cap::LIST;
    of(TEMPLATE, all);
    of(SHM_WITHOUT_COPIES, all);
    of(SHM, cap::ATOMIC | cap::LIST);
}

/// The target is in no MPI call from the beginning to the end.
#[test]
fn a_target_that_makes_no_call_is_served() {
    for settings in EVERY {
        windows(2, settings, 4096, |instance, meeting, window, remotes| {
            if instance.job().rank == 0 {
                let to = reach(instance, 1);
                let data: Vec<u8> = (0..32768u32).map(|i| (i * 7 + i / 256) as u8).collect();
                for len in [1, 8, 100, 4096, 30_000, 32768] {
                    assert_eq!(put(instance, to, &remotes[1], 0, &data[..len]), Status::OK);
                    assert_eq!(flush(instance, to), Status::OK);
                    let mut back = vec![0; len];
                    assert_eq!(get(instance, to, &remotes[1], 0, &mut back), Status::OK);
                    assert!(back == data[..len], "{len} bytes over {settings:?}");
                }
                let last = u64::from_ne_bytes(*data.last_chunk().expect("8 bytes"));
                for n in 0..20 {
                    assert_eq!(fetch_add(instance, to, &remotes[1], 32760, 3), last.wrapping_add(3 * n));
                }
                meeting.barrier.wait();
            } else {
                meeting.barrier.wait();
                assert!(instance.service_counts().by_helper > 0);
                assert_eq!(
                    window.memory[0].load(Ordering::Relaxed).to_ne_bytes(),
                    [0, 7, 14, 21, 28, 35, 42, 49]
                );
            }
        });
    }
}

/// Oneself is a target, too, reached by btl-self without help of anybody.
#[test]
fn oneself_is_reached_without_help() {
    job(
        2,
        || make(SHM, Level::Single),
        |instance| {
            let me = reach(instance, instance.job().rank);
            let (window, remote) = Window::new(instance, 64, me.btl);
            let data: Vec<u8> = (1..=256u32).map(|i| i as u8).collect();
            assert_eq!(put(instance, me, &remote, 0, &data), Status::OK);
            assert_eq!(flush(instance, me), Status::OK);
            let mut back = vec![0; data.len()];
            assert_eq!(get(instance, me, &remote, 0, &mut back), Status::OK);
            assert_eq!(back, data);
            assert_eq!(fetch_add(instance, me, &remote, 504, 5), 0);
            assert_eq!(window.memory[63].load(Ordering::Relaxed), 5);
            assert_eq!(instance.service_counts().helpers, 0);
            window.close(instance);
        },
    );
}

/// Each rank is a requester and a target, and waits in MPI alone.
#[test]
fn ranks_that_flush_each_other_serve_each_other() {
    for settings in EVERY {
        windows(3, settings, 64, |instance, meeting, window, remotes| {
            let me = instance.job().rank;
            let n = 200;
            for i in 0..n {
                for target in (0..3).filter(|t| *t != me) {
                    let to = reach(instance, target);
                    fetch_add(instance, to, &remotes[target as usize], 0, 1);
                    let word = (u64::from(me) << 32 | i).to_ne_bytes();
                    let at = 8 * (1 + u64::from(me));
                    assert_eq!(put(instance, to, &remotes[target as usize], at, &word), Status::OK);
                    assert_eq!(flush(instance, to), Status::OK);
                }
            }
            meeting.barrier.wait();
            assert_eq!(window.memory[0].load(Ordering::Relaxed), 2 * n);
            for peer in (0..3).filter(|t| *t != me) {
                let word = window.memory[1 + peer as usize].load(Ordering::Relaxed);
                assert_eq!(word, u64::from(peer) << 32 | (n - 1));
            }
        });
    }
}

/// More operations at once than there is room for; each completes once, and a flush behind all of them.
#[test]
fn many_are_under_way() {
    for settings in EVERY {
        windows(2, settings, 4096, |instance, meeting, window, remotes| {
            let me = instance.job().rank;
            let (to, remote) = (reach(instance, 1 - me), &remotes[1 - me as usize]);
            let btl = to.btl();
            let ops: Vec<Done> = (0..600).map(|_| Done::default()).collect();
            let big: Vec<u8> = vec![me as u8 + 1; 20_000];
            let mut pending = 0;
            for (i, op) in ops.iter().enumerate() {
                let status = if i % 20 == 0 {
                    let desc = rma(remote, 8192, big.as_ptr().cast_mut(), big.len() as u64, op);
                    offer(instance, || call!(btl, put(to.endpoint, 0, &desc)))
                } else {
                    let desc = atomic(remote, 8, amo::ADD, 1, std::ptr::null_mut(), op);
                    offer(instance, || call!(btl, atomic(to.endpoint, 0, &desc)))
                };
                assert!(!status.is_err(), "{status}");
                pending += u32::from(status == Status::PENDING);
            }
            // To anybody.
            let (all, end) =
                (Done::default(), || ops.iter().map(|o| o.times.load(Ordering::Acquire)).sum::<u32>());
            let desc = FlushDesc { done: Some(done), done_ctx: all.ctx() };
            let status = offer(instance, || call!(btl, flush(std::ptr::null_mut(), 0, &desc)));
            assert_eq!(all.wait(instance, status), Status::OK);
            assert_eq!(end(), pending, "a flush is done when all before it is");
            meeting.barrier.wait();
            assert_eq!(window.memory[1].load(Ordering::Relaxed), 570);
            assert!(
                window.memory[1024..3524]
                    .iter()
                    .all(|w| w.load(Ordering::Relaxed) == 0x0101_0101_0101_0101 * (2 - u64::from(me)))
            );
        });
    }
}

/// Requests by hand, as no requester of ours would make them.
#[test]
fn hostile_requests_are_answered_with_errors() {
    for settings in EVERY {
        windows(2, settings, 64, |instance, meeting, window, remotes| {
            if instance.job().rank == 0 {
                let (to, good) = (reach(instance, 1), &remotes[1]);
                let mut none = good.clone();
                none.handle.iter_mut().for_each(|w| *w ^= 1 << 40);
                let mut completion = [0u64; 4];
                for (remote, offset, expected) in [
                    (&none, 0, Status::NOT_FOUND),
                    (good, 512, Status::RMA_RANGE),
                    (good, 508, Status::RMA_RANGE),
                    (good, 0u64.wrapping_sub(8), Status::RMA_RANGE),
                    (good, u64::MAX - good.base - 3, Status::RMA_RANGE),
                ] {
                    let op = Done::default();
                    let remote =
                        Remote { base: remote.base.wrapping_add(offset), handle: remote.handle.clone() };
                    let desc = atomic(&remote, 0, amo::ADD, 1, completion.as_mut_ptr(), &op);
                    let btl = to.btl();
                    let status = offer(instance, || call!(btl, atomic(to.endpoint, 0, &desc)));
                    assert_eq!(op.wait(instance, status), expected, "{settings:?} {offset:#x}");
                }
                let op = Done::default();
                let bad = AtomicDesc { op: 99, ..atomic(good, 0, amo::ADD, 1, std::ptr::null_mut(), &op) };
                assert_eq!(call!(to.btl(), atomic(to.endpoint, 0, &bad)), Status::BAD_PARAM);
                // Bytes that are no request at all. Nobody waits for their replies.
                for len in [0usize, 5, 63, 64, 100] {
                    let junk = vec![0xa5u8; len];
                    let desc = SendDesc {
                        tag: 1,
                        hdr_len: len as u32,
                        hdr: junk.as_ptr(),
                        payload: std::ptr::null(),
                        len: 0,
                        pack: None,
                        pack_ctx: std::ptr::null_mut(),
                    };
                    let btl = to.btl();
                    let sent = offer(instance, || call!(btl, service_request(to.endpoint, 0, &desc)));
                    assert_eq!(sent, Status::OK);
                }
                assert_eq!(fetch_add(instance, to, good, 0, 1), 0);
                meeting.barrier.wait();
            } else {
                meeting.barrier.wait();
                assert_eq!(window.memory[0].load(Ordering::Relaxed), 1);
                assert!(window.memory[1..].iter().all(|w| w.load(Ordering::Relaxed) == 0));
            }
        });
    }
}

/// Memory that was given back is reached no more.
#[test]
fn revoked_memory_is_not_touched() {
    for settings in EVERY {
        let meeting = Meeting::new(2);
        job(
            2,
            || make(settings, Level::Single),
            |instance| {
                let me = instance.job().rank;
                let to = reach(instance, 1 - me);
                let (window, mine) = Window::new(instance, 64, to.btl);
                let remotes = meeting.exchange(instance, mine);
                if me == 1 {
                    let memory = window.memory.as_ptr();
                    let Window { memory: kept, registration, btl } = window;
                    let services = services(instance);
                    assert_eq!((services.deregister)(services.instance, btl, registration), Status::OK);
                    meeting.barrier.wait();
                    meeting.barrier.wait();
                    assert_eq!(kept.as_ptr(), memory);
                    assert_eq!(kept[0].load(Ordering::Relaxed), 0);
                } else {
                    meeting.barrier.wait();
                    let op = Done::default();
                    let desc = atomic(&remotes[1], 0, amo::ADD, 1, std::ptr::null_mut(), &op);
                    let btl = to.btl();
                    let status = offer(instance, || call!(btl, atomic(to.endpoint, 0, &desc)));
                    assert_eq!(op.wait(instance, status), Status::NOT_FOUND);
                    meeting.barrier.wait();
                    window.close(instance);
                }
            },
        );
    }
}

/// The peer fails while something is under way to it: that completes, once, and its memory is not touched by what
/// comes later.
#[test]
fn a_failed_peer_completes_what_is_under_way() {
    windows(2, TEMPLATE, 64, |instance, meeting, _, remotes| {
        if instance.job().rank == 0 {
            let (to, btl) = (reach(instance, 1), reach(instance, 1).btl());
            let ops: Vec<Done> = (0..4).map(|_| Done::default()).collect();
            let mut old = [7u64; 4];
            for (op, old) in ops.iter().zip(&mut old) {
                let desc = atomic(&remotes[1], 0, amo::ADD, 1, old, op);
                assert_eq!(call!(btl, atomic(to.endpoint, 0, &desc)), Status::PENDING);
            }
            let all = Done::default();
            let desc = FlushDesc { done: Some(done), done_ctx: all.ctx() };
            assert_eq!(call!(btl, flush(to.endpoint, 0, &desc)), Status::PENDING);
            instance.fail_emulated(1);
            // Some may have completed before.
            for op in &ops {
                let status = op.wait(instance, Status::PENDING);
                assert!(matches!(status, Status::OK | Status::PEER_FAILED), "{status}");
            }
            assert!(matches!(all.wait(instance, Status::PENDING), Status::OK | Status::PEER_FAILED));
            let before = old;
            std::thread::sleep(Duration::from_millis(5));
            for _ in 0..1000 {
                instance.progress(instance.main_thread());
            }
            assert_eq!(old, before);
            let op = Done::default();
            let desc = atomic(&remotes[1], 0, amo::ADD, 1, std::ptr::null_mut(), &op);
            assert_eq!(call!(btl, atomic(to.endpoint, 0, &desc)), Status::PEER_FAILED);
            let desc = FlushDesc { done: Some(done), done_ctx: op.ctx() };
            assert_eq!(call!(btl, flush(to.endpoint, 0, &desc)), Status::PEER_FAILED);
        }
        meeting.barrier.wait();
    });
}

/// Messages on the world communicator, by the one thread of each rank, while their services are open: neither waiters nor
/// helpers take the service lock.
#[test]
fn messages_take_no_service_lock() {
    for settings in EVERY {
        windows(2, settings, 64, |instance, meeting, _, _| {
            let (world, me) = (instance.world(), instance.job().rank);
            let byte = common::Basic::new(oxmpi_datatype::Base::BYTE, 1);
            let t = instance.main_thread();
            meeting.barrier.wait();
            // Helpers go to sleep.
            std::thread::sleep(Duration::from_millis(50));
            let before = instance.service_counts();
            assert_eq!(before.helpers, 1);
            for n in 0..2000u64 {
                let (mut got, mut status) = (0u64, oxmpi_mca::MsgStatus::EMPTY);
                let send = || {
                    let at = std::ptr::from_ref(&n).cast();
                    let sent = world.send(t, at, 8, byte.desc(), 1 - me as i32, 5, oxmpi_pml::mode::STANDARD);
                    assert_eq!(sent, Status::OK);
                };
                if me == 0 {
                    send();
                }
                let at = std::ptr::from_mut(&mut got).cast();
                let answer = world.recv(t, at, 8, byte.desc(), 1 - me as i32, 5, &mut status);
                assert_eq!((answer, got), (Status::OK, n));
                if me == 1 {
                    send();
                }
            }
            let after = instance.service_counts();
            if settings != TEMPLATE {
                assert_eq!(after, before);
            }
            assert_eq!(after.handled, before.handled);
        });
    }
}
