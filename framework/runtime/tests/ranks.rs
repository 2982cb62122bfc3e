//! Three instances, thus three ranks, in one process: over the loaded components (one library shared by
//! all three) and over the linked-in ones.

mod common;

use common::{Basic, Form, Thread, config, job};
use oxmpi_coll::CollArgs;
use oxmpi_datatype::{Base, TypeDesc, kernel::OpDesc, kernel::op};
use oxmpi_mca::{MsgStatus, Status};
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, mode};
use oxmpi_runtime::{Communicator, Envelope, Group, Instance, Level};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const FORMS: [Form; 2] = [Form::Loaded, Form::LinkedIn];

fn send(c: &Communicator, data: &[u64], byte: &Basic, dst: u32, tag: i32, mode: u32) -> Status {
    let t = Thread::main(c.instance());
    c.send(&mut t.entry(), byte.data(data), Envelope::with_mode(dst as i32, tag, mode))
}

fn recv(c: &Communicator, data: &mut [u64], byte: &Basic, src: i32, tag: i32) -> MsgStatus {
    let t = Thread::main(c.instance());
    let mut status = MsgStatus::EMPTY;
    let answer = c.recv(&mut t.entry(), byte.place(data), Envelope::new(src, tag), &mut status);
    assert_eq!(answer, Status::OK);
    status
}

/// Every rank sends to its right neighbour and receives from its left one.
fn ring(c: &Communicator, words: usize, byte: &Basic, tag: i32, mode: u32) {
    let (n, me) = (c.size(), c.rank());
    let left = (me + n - 1) % n;
    let t = Thread::main(c.instance());
    let data: Vec<u64> = (0..words as u64).map(|i| i << 8 | u64::from(me)).collect();
    let mut got = vec![0u64; words];
    let bytes = words as u64 * 8;
    // SAFETY: the place is not used before the receive is complete, below; the type outlives this call.
    let place = unsafe { byte.place_later(&mut got) };
    let req = c.irecv(&mut t.entry(), place, Envelope::new(ANY_SOURCE, ANY_TAG)).expect("a request");
    assert_eq!(send(c, &data, byte, (me + 1) % n, tag, mode), Status::OK);
    // SAFETY: ours, and not used any more.
    let status = unsafe { t.finish(req) };
    assert_eq!((status.source, status.tag, status.bytes), (left as i32, tag, bytes));
    assert_eq!((status.error, status.cancelled), (Status::OK, 0));
    assert!(got.iter().enumerate().all(|(i, w)| *w == (i as u64) << 8 | u64::from(left)), "{words} words");
}

fn barrier(c: &Communicator) {
    assert_eq!(Thread::main(c.instance()).barrier(c), Status::OK);
}

fn args(send: *const u8, recv: *mut u8, count: u64, dtype: *const TypeDesc, op: *const OpDesc) -> CollArgs {
    CollArgs {
        sendbuf: send,
        sendcount: count,
        sendtype: dtype,
        recvbuf: recv,
        recvcount: count,
        recvtype: dtype,
        op,
        ..CollArgs::NONE
    }
}

#[test]
fn messages_of_all_sizes() {
    for form in FORMS {
        job(
            3,
            || config(form, Level::Single, &[]),
            |instance| {
                let byte = Basic::new(Base::BYTE, 1);
                let c = instance.world();
                assert_eq!((c.size(), instance.job().job_size, instance.level()), (3, 3, Level::Single));
                for words in [0, 1, 4, 100, 512, 5_000, 200_000] {
                    for m in [mode::STANDARD, mode::SYNCHRONOUS] {
                        ring(&c, words, &byte, words as i32, m);
                    }
                }
            },
        );
    }
}

/// All three ranks use the same library, and each has state of its own in it.
#[test]
fn the_loaded_form_is_loaded_once() {
    job(
        3,
        || {
            config(
                Form::Loaded,
                Level::Single,
                &[("pml", "ob1"), ("btl", "sm,self"), ("coll", "basic"), ("osc", "rdma")],
            )
        },
        |instance| {
            let mut parts = instance.components();
            parts.sort_unstable();
            assert_eq!(
                parts,
                [("btl", "self"), ("btl", "shm"), ("coll", "basic"), ("osc", "rdma"), ("pml", "ob1")]
            );
            ring(&instance.world(), 8, &Basic::new(Base::BYTE, 1), 1, mode::STANDARD);
            let maps = std::fs::read_to_string("/proc/self/maps").expect("our own mappings");
            let code = maps.lines().filter(|l| l.contains("libpml_ob1.so") && l.contains("r-xp")).count();
            assert_eq!(code, 1, "{maps}");
        },
    );
}

#[test]
fn truncation_and_probes() {
    job(
        2,
        || config(Form::Loaded, Level::Funneled, &[]),
        |instance| {
            let byte = Basic::new(Base::BYTE, 1);
            let (c, t) = (instance.world(), Thread::main(instance));
            if c.rank() == 0 {
                for tag in 0..4 {
                    assert_eq!(send(&c, &[7, 8], &byte, 1, tag, mode::STANDARD), Status::OK);
                }
                return;
            }
            let mut status = MsgStatus::EMPTY;
            let any = Envelope::new(ANY_SOURCE, ANY_TAG);
            assert_eq!(c.probe(&mut t.entry(), Envelope::new(0, 3), &mut status), Status::OK);
            assert_eq!((status.source, status.tag, status.bytes), (0, 3, 16));
            while !c.iprobe(&mut t.entry(), any, &mut status).expect("a probe") {}
            assert_eq!(status.tag, 0, "the first message that matches");
            let mut one = [0u64];
            let status = recv(&c, &mut one, &byte, 0, 0);
            assert_eq!((status.error, status.bytes, one[0]), (Status::TRUNCATED, 8, 7));
            let mut status = MsgStatus::EMPTY;
            let message = c.mprobe(&mut t.entry(), Envelope::new(0, 2), &mut status).expect("a message");
            let mut two = [0u64; 2];
            // SAFETY: the place is not used before the receive is complete, below; the type outlives that.
            let place = unsafe { byte.place_later(&mut two) };
            let req = c.imrecv(&mut t.entry(), message, place).expect("a request");
            instance.wait_all(&mut t.entry(), &[None, Some(req)]);
            // SAFETY: complete, and released once.
            unsafe { req.release(&mut t.entry()) };
            assert_eq!(two, [7, 8]);
            assert_eq!(recv(&c, &mut two, &byte, 0, ANY_TAG).tag, 1);
            assert_eq!(recv(&c, &mut two, &byte, 0, ANY_TAG).tag, 3);
            assert!(!c.iprobe(&mut t.entry(), any, &mut status).expect("a probe"), "all are received");
        },
    );
}

#[test]
fn communicators_of_communicators() {
    for form in FORMS {
        job(
            3,
            || config(form, Level::Single, &[]),
            |instance| {
                let byte = Basic::new(Base::BYTE, 1);
                let world = instance.world();
                let dup = world.dup(None).expect("dup");
                let again = dup.dup(None).expect("dup");
                assert!(dup.gid() != world.gid() && dup.gid() != again.gid());
                // A message stays in its communicator, though the tags are equal.
                let right = (world.rank() + 1) % 3;
                for (c, word) in [(&world, 1), (&dup, 2), (&again, 3)] {
                    assert_eq!(send(c, &[word], &byte, right, 5, mode::STANDARD), Status::OK);
                }
                let mut got = [0];
                for (c, word) in [(&again, 3), (&dup, 2), (&world, 1)] {
                    recv(c, &mut got, &byte, ANY_SOURCE, 5);
                    assert_eq!(got[0], word);
                }
                split(instance, &world, &byte);
                groups(instance, &world, &byte);
                let own = instance.self_comm();
                assert_eq!((own.rank(), own.size()), (0, 1));
                ring(&own, 3, &byte, 1, mode::STANDARD);
                barrier(&own.dup(None).expect("dup of self"));
            },
        );
    }
}

fn split(instance: &Instance, world: &Communicator, byte: &Basic) {
    let t = Thread::main(instance);
    let me = world.rank();
    // Ranks 2 and 0 (in this order, by key), and rank 1 nowhere.
    let part = world.split(&mut t.entry(), (me != 1).then_some(9), -(me as i32)).expect("split");
    match part {
        None => assert_eq!(me, 1),
        Some(c) => {
            assert_eq!((c.size(), c.rank()), (2, if me == 2 { 0 } else { 1 }));
            assert_eq!(c.group().members().iter().map(|m| m.proc).collect::<Vec<_>>(), [2, 0]);
            ring(&c, 10, byte, 2, mode::STANDARD);
            barrier(&c);
        }
    }
    // Equal keys keep the order; every rank its own colour.
    let all = world.split(&mut t.entry(), Some(0), 3).expect("split").expect("a member");
    assert_eq!((all.rank(), all.size()), (me, 3));
    let single = world.split(&mut t.entry(), Some(me), 0).expect("split").expect("a member");
    assert_eq!(single.size(), 1);
}

fn groups(instance: &Instance, world: &Communicator, byte: &Basic) {
    let t = Thread::main(instance);
    let me = world.rank();
    let two = world.group().incl(&[2, 1]).expect("members");
    if me != 0 {
        let c = world.create_group(&mut t.entry(), &two, 77).expect("create_group").expect("a member");
        assert_eq!(c.rank(), if me == 2 { 0 } else { 1 });
        ring(&c, 1000, byte, 3, mode::STANDARD);
    }
    let c = world.create(&mut t.entry(), &two).expect("create");
    assert_eq!(c.is_some(), me != 0);
    if let Some(c) = c {
        ring(&c, 1, byte, 4, mode::STANDARD);
        // Rank 0 of the world is a stranger to it.
        let e = c.create(&mut t.entry(), world.group()).expect_err("a larger group");
        assert_eq!(e.class(), 9);
    }
    let whole: &Group = world.group();
    let c = world.create_group(&mut t.entry(), whole, 0).expect("create_group").expect("a member");
    ring(&c, 1, byte, 5, mode::STANDARD);
}

#[test]
fn collectives_come_from_the_component() {
    for form in FORMS {
        job(
            3,
            || config(form, Level::Single, &[]),
            |instance| {
                let long = Basic::new(Base::U64, 8);
                let (c, t) = (instance.world(), Thread::main(instance));
                let sum = OpDesc {
                    size: size_of::<OpDesc>() as u32,
                    code: op::SUM,
                    commutative: 1,
                    reserved: 0,
                    user: None,
                    ctx: std::ptr::null_mut(),
                };
                let (mine, mut total) = ([u64::from(c.rank()) + 1, 10], [0u64; 2]);
                let a = args(mine.as_ptr().cast(), total.as_mut_ptr().cast(), 2, long.desc(), &sum);
                // SAFETY: the buffers hold what the arguments say, and the call is over when it returns.
                assert_eq!(unsafe { c.allreduce(&mut t.entry(), &a) }, Status::OK);
                assert_eq!(total, [6, 30]);
                let mut all = [0u64; 3];
                let a = args(mine.as_ptr().cast(), all.as_mut_ptr().cast(), 1, long.desc(), std::ptr::null());
                // SAFETY: the buffers hold what the arguments say, and the call is over when it returns.
                assert_eq!(unsafe { c.allgather(&mut t.entry(), &a) }, Status::OK);
                assert_eq!(all, [1, 2, 3]);
                barrier(&c);
            },
        );
    }
}

/// Nobody leaves a barrier before the last has entered.
#[test]
fn a_barrier_holds_everyone() {
    static ENTERED: AtomicU32 = AtomicU32::new(0);
    job(
        3,
        || config(Form::Loaded, Level::Single, &[]),
        |instance| {
            let c = instance.world();
            for round in 1..50 {
                ENTERED.fetch_add(1, Ordering::SeqCst);
                barrier(&c);
                assert!(ENTERED.load(Ordering::SeqCst) >= 3 * round);
            }
        },
    );
}

#[test]
fn without_collectives_they_say_so() {
    job(
        2,
        || config(Form::Loaded, Level::Single, &[("coll", "^basic,template")]),
        |instance| {
            let c = instance.world();
            assert_eq!(Thread::main(instance).barrier(&c), Status::NOT_SUPPORTED);
            // Communicators need no collectives.
            let dup = c.dup(None).expect("dup");
            assert!(dup.split(&mut Thread::main(instance).entry(), Some(1), 0).expect("split").is_some());
        },
    );
}

/// Four threads per rank, each with its own communicator, while the level is MULTIPLE.
#[test]
fn several_threads_per_rank() {
    let asleep = [("mpi_yield_when_idle", "1"), ("mpi_yield_count", "2")];
    let racing = [("runtime_wait", "race"), asleep[0], asleep[1]];
    for params in [&[][..], &asleep[..], &racing[..1], &racing[..]] {
        job(
            2,
            || config(Form::Loaded, Level::Multiple, params),
            |instance| {
                assert!(instance.threaded());
                let comms: Vec<Arc<Communicator>> =
                    (0..4).map(|_| instance.world().dup(None).expect("dup")).collect();
                std::thread::scope(|scope| {
                    for c in &comms {
                        scope.spawn(move || exchange(instance, c, 400));
                    }
                });
                if params.contains(&racing[0]) {
                    assert_eq!(instance.wait_counts().parked, 0);
                }
            },
        );
    }
}

/// Ping-pong with checks; the words grow so that all protocols come.
fn exchange(instance: &Instance, c: &Communicator, rounds: u64) {
    let byte = Basic::new(Base::BYTE, 1);
    let t = Thread::attach(instance);
    let peer = 1 - c.rank() as i32;
    for i in 0..rounds {
        let words = if i % 100 == 99 { 20_000 } else { 1 + (i as usize % 7) };
        let data = vec![i; words];
        let mut got = vec![0u64; words];
        // SAFETY: place and data are not used before both are complete, below; the type outlives that.
        let (place, buffer) = unsafe { (byte.place_later(&mut got), byte.data_later(&data)) };
        let other = Envelope::new(peer, 1);
        let r = c.irecv(&mut t.entry(), place, other).expect("a request");
        let s = c.isend(&mut t.entry(), buffer, other).expect("one");
        if i % 2 == 0 {
            instance.wait_all(&mut t.entry(), &[Some(r), Some(s)]);
        } else {
            instance.wait_any(&mut t.entry(), &[Some(r), None, Some(s)]);
            assert!(r.is_complete() || s.is_complete());
            instance.wait(&mut t.entry(), r);
            instance.wait(&mut t.entry(), s);
        }
        for q in [r, s] {
            // SAFETY: complete, released once.
            unsafe {
                assert_eq!(q.status().error, Status::OK);
                q.release(&mut t.entry());
            }
        }
        assert!(got.iter().all(|w| *w == i), "round {i}");
    }
    t.detach();
}

/// Many more ranks than cores, asleep most of the time.
#[test]
fn an_oversubscribed_job() {
    job(
        9,
        || config(Form::Loaded, Level::Single, &[("mpi_yield_count", "1")]),
        |instance| {
            let byte = Basic::new(Base::BYTE, 1);
            let c = instance.world();
            for i in 0..20 {
                ring(&c, 1 + 30 * i, &byte, i as i32, mode::STANDARD);
            }
            let part = c
                .split(&mut Thread::main(instance).entry(), Some(c.rank() % 2), 0)
                .expect("split")
                .expect("in");
            ring(&part, 5, &byte, 1, mode::STANDARD);
            barrier(&c);
        },
    );
}

fn gather(c: &Communicator) {
    let byte = Basic::new(Base::BYTE, 1);
    let (mine, mut all) = ([7u8; 9], [0u8; 18]);
    let args = args(mine.as_ptr(), all.as_mut_ptr(), 9, byte.desc(), std::ptr::null());
    let t = Thread::main(c.instance());
    // SAFETY: the buffers hold what the arguments say, and the call is over when it returns.
    assert_eq!(unsafe { c.allgather(&mut t.entry(), &args) }, Status::OK);
    assert_eq!(all, [7; 18]);
}

/// Bytes that collectives move are counted while anybody asks.
#[test]
fn performance_counters() {
    use oxmpi_runtime::spc::Counter;
    job(
        2,
        || config(Form::Loaded, Level::Single, &[]),
        |instance| {
            let c = instance.world();
            let all = || instance.all_counters();
            gather(&c);
            assert!(all().iter().all(|n| *n == 0), "nobody asked");
            instance.ask_counting(true);
            instance.ask_counting(true);
            gather(&c);
            instance.ask_counting(false);
            gather(&c);
            let before = all();
            assert!(before[Counter::BytesSentMpi as usize] >= 18, "{before:?}");
            assert!(before[Counter::BytesReceivedMpi as usize] >= 18, "{before:?}");
            instance.ask_counting(false);
            gather(&c);
            assert_eq!(all(), before);
        },
    );
    for (attach, shown) in [("send", false), ("send,bytes_sent_mpi", true), ("all", true)] {
        job(
            2,
            || config(Form::Loaded, Level::Single, &[("mpi_spc_attach", attach)]),
            |instance| {
                gather(&instance.world());
                assert_eq!(instance.counters()[Counter::BytesSentMpi as usize] > 0, shown, "{attach}");
            },
        );
    }
}

/// Messages that wait for a receive are counted, while they wait and at most, and their communicator's
/// numbers outlive it.
#[test]
fn messages_that_wait_are_counted() {
    job(
        2,
        || config(Form::Loaded, Level::Single, &[]),
        |instance| {
            let byte = Basic::new(Base::BYTE, 1);
            let thread = Thread::main(instance);
            let c = instance.world();
            let dup = c.dup(None).expect("dup");
            let mut status = MsgStatus::EMPTY;
            let mut word = [0u8; 1];
            if c.rank() == 0 {
                for tag in 0..7 {
                    let to = Envelope::new(1, tag);
                    assert!(dup.send(&mut thread.entry(), byte.data(&word), to).is_ok());
                }
            } else {
                // The last one is there, so are those before it.
                assert!(dup.probe(&mut thread.entry(), Envelope::new(0, 6), &mut status).is_ok());
                let counts = dup.counts().expect("ob1 counts");
                assert_eq!((counts.unexpected, counts.waiting, counts.most_waiting), (7, 7, 7));
                for tag in 0..5 {
                    let (place, from) = (byte.place(&mut word), Envelope::new(0, tag));
                    assert!(dup.recv(&mut thread.entry(), place, from, &mut status).is_ok());
                }
                let counts = dup.counts().expect("ob1 counts");
                assert_eq!((counts.unexpected, counts.waiting, counts.most_waiting), (7, 2, 7));
                for tag in 5..7 {
                    let (place, from) = (byte.place(&mut word), Envelope::new(0, tag));
                    assert!(dup.recv(&mut thread.entry(), place, from, &mut status).is_ok());
                }
                drop(dup);
                let all = instance.message_counts();
                assert!(all.unexpected >= 7 && all.most_waiting >= 7, "{all:?}");
            }
            barrier(&c);
        },
    );
}

/// The child of a fork owns nothing: it may drop and finalize as it likes.
#[test]
fn a_forked_child_tears_nothing_down() {
    job(
        2,
        || config(Form::Loaded, Level::Single, &[]),
        |instance| {
            let byte = Basic::new(Base::BYTE, 1);
            let c = instance.world();
            let dup = c.dup(None).expect("dup");
            // SAFETY: the child makes no call but those under test and `_exit`.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let done = instance.finalize().is_ok();
                drop(dup);
                // SAFETY: ends the child without its parent's destructors.
                unsafe { libc::_exit(if done { 0 } else { 1 }) }
            }
            let mut status = 0;
            // SAFETY: waits for our own child.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0);
            for comm in [&c, &dup] {
                ring(comm, 300, &byte, 1, mode::STANDARD);
            }
        },
    );
}

/// Three starts, one after the other, in one process.
#[test]
fn start_and_end_again() {
    for form in FORMS {
        for _ in 0..3 {
            job(
                2,
                || config(form, Level::Single, &[]),
                |instance| {
                    ring(&instance.world(), 2, &Basic::new(Base::BYTE, 1), 1, mode::STANDARD);
                },
            );
        }
    }
}

/// A rank gives back all that it holds: the instance goes when its last handle does.
#[test]
fn an_instance_goes() {
    let instance = common::alone(config(Form::Loaded, Level::Single, &[])).expect("a start");
    let dup = instance.world().dup(None).expect("dup");
    let weak = Arc::downgrade(&instance);
    instance.finalize().expect("an end");
    instance.finalize().expect("nothing the second time");
    drop(instance);
    assert!(weak.upgrade().is_some(), "a communicator still holds it");
    drop(dup);
    assert!(weak.upgrade().is_none());
}

#[test]
fn ranks_rest_and_wake() {
    job(
        3,
        || config(Form::Loaded, Level::Single, &[]),
        |instance| {
            let byte = Basic::new(Base::BYTE, 1);
            let t = Thread::main(instance);
            let mut ids = std::collections::HashSet::new();
            for turn in 0..5u64 {
                let world = instance.pset("mpi://world", turn + 1).expect("the standard's");
                let make = |tag| instance.communicator_from_group(&world, tag, Default::default());
                let (all, other) = (make("turn").expect("a communicator"), make("other").expect("another"));
                assert!(ids.insert(all.gid()) && ids.insert(other.gid()), "ids are used once");
                let half =
                    all.split(&mut t.entry(), Some(all.rank() % 2), 0).expect("a split").expect("a colour");
                assert_eq!(half.group().session(), turn + 1, "children stay in the session");
                // Nobody waits for anybody: the first ranks are at rest before the last have begun.
                ring(&all, 9, &byte, turn as i32, mode::STANDARD);
                ring(&half, 9, &byte, 7, mode::STANDARD);
                if turn == 2 {
                    instance.end_world();
                }
                instance.flush(&mut t.entry()).expect("all is sent");
                drop((all, half, other));
                instance.rest();
                instance.wake().expect("again");
            }
            assert!(instance.pset("mpi://nowhere", 1).is_none());
        },
    );
}
