//! Order across threads, with ranks as threads of one process, so that a sanitizer sees all of a rank's threads and all of
//! the code they run: the threads of a rank hand a token round, and each in turn sends the next number to the same peer;
//! those of the peer do the same with receives. Every number comes in its place, in every assignment, way of progress and
//! matching engine, over every transport. (tests/programs/order.c is the same from outside, on any MPI library.)

mod common;

use common::{Basic, Form, Thread, config, job};
use oxmpi_datatype::Base;
use oxmpi_mca::sync::{AtomicU32, Ordering};
use oxmpi_mca::{Entry, Lock, MsgStatus, Status};
use oxmpi_pml::{ANY_SOURCE, ANY_TAG};
use oxmpi_runtime::request::Header;
use oxmpi_runtime::{Communicator, Envelope, Instance, Level};
use std::sync::Arc;

const ENGINES: [&str; 8] = ["adaptive", "list", "hash", "perpeer", "vector", "fuzzy32", "fuzzy16", "fuzzy8"];
const ASSIGNMENTS: [&str; 3] = ["stream", "dedicated", "round_robin"];
const PROGRESS: [&str; 2] = ["concurrent", "serial"];
const LONG: usize = 70_000;

/// How the program orders the calls of its threads; by means that sanitizers understand.
#[derive(Clone, Copy, Debug)]
enum Token {
    Lock,
    Barrier,
    Turn,
}

/// One tag; many, received by MPI_ANY_TAG; many, received by their tag and by MPI_ANY_TAG in turn.
#[derive(Clone, Copy, Debug)]
enum Tags {
    One,
    Any,
    Mixed,
}

/// Blocking; all posted first; into a peer that does not listen for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Blocking,
    Posted,
    Flood,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    token: Token,
    tags: Tags,
    manner: Manner,
    count: u32,
}

impl Round {
    fn tag(&self, n: u32) -> i32 {
        match self.tags {
            Tags::One => 7,
            Tags::Any | Tags::Mixed => (n * 5 + n / 3) as i32 % 97,
        }
    }
    fn bytes(&self, n: u32) -> usize {
        match n {
            n if n % 31 == 30 => LONG,
            n if n % 7 == 6 => 200,
            _ => 8,
        }
    }
    fn asked(&self, n: u32) -> i32 {
        match self.tags {
            Tags::One => self.tag(n),
            Tags::Mixed if n % 2 == 1 => self.tag(n),
            Tags::Any | Tags::Mixed => ANY_TAG,
        }
    }
}

/// Those of one rank who send, or who receive.
struct Side {
    sending: bool,
    threads: u32,
    lock: Lock,
    /// Whose turn is next; changed under the lock.
    next: AtomicU32,
    /// Turns taken, and for the barrier arrivals.
    turn: AtomicU32,
}

/// One thread of a side.
struct Caller<'a> {
    c: &'a Communicator,
    t: Thread<'a>,
    byte: &'a Basic,
    peer: i32,
    round: Round,
    started: Vec<(Header, u32, Vec<u8>)>,
}

fn contents(n: u32, bytes: usize) -> Vec<u8> {
    let mut data = vec![n as u8; bytes];
    data[..4].copy_from_slice(&n.to_le_bytes());
    data
}

impl Caller<'_> {
    fn step(&mut self, sending: bool, n: u32) {
        match sending {
            true => self.send(n),
            false => self.receive(n),
        }
    }

    fn send(&mut self, n: u32) {
        let (c, t, round) = (self.c, self.t, self.round);
        let data = contents(n, round.bytes(n));
        let to = Envelope::new(self.peer, round.tag(n));
        if round.manner == Manner::Blocking {
            let answer = c.send(&mut t.entry(), self.byte.data(&data), to);
            assert_eq!(answer, Status::OK);
            return;
        }
        // SAFETY: the data lies in `started` until the request is complete, and the type outlives the caller.
        let buffer = unsafe { self.byte.data_later(&data) };
        let req = c.isend(&mut t.entry(), buffer, to).expect("a request");
        self.started.push((req, n, data));
    }

    fn receive(&mut self, n: u32) {
        let (c, t, round) = (self.c, self.t, self.round);
        let mut data = vec![0; round.bytes(n)];
        let source = if n.is_multiple_of(3) { ANY_SOURCE } else { self.peer };
        let from = Envelope::new(source, round.asked(n));
        if round.manner == Manner::Posted {
            // SAFETY: the place lies in `started` until the request is complete, and the type outlives the caller.
            let place = unsafe { self.byte.place_later(&mut data) };
            let req = c.irecv(&mut t.entry(), place, from).expect("a request");
            self.started.push((req, n, data));
            return;
        }
        let mut status = MsgStatus::EMPTY;
        let answer = c.recv(&mut t.entry(), self.byte.place(&mut data), from, &mut status);
        assert_eq!(answer, Status::OK);
        self.check(n, &data, status);
    }

    fn check(&self, n: u32, data: &[u8], status: MsgStatus) {
        let got = u32::from_le_bytes(data[..4].try_into().expect("four bytes"));
        assert_eq!(got, n, "{:?}", self.round);
        assert_eq!((status.tag, status.bytes), (self.round.tag(n), data.len() as u64), "{:?}", self.round);
        assert!(data == contents(n, data.len()), "number {n}, {:?}", self.round);
    }

    fn finish(&mut self, sending: bool) {
        for (req, n, data) in std::mem::take(&mut self.started) {
            // SAFETY: ours, and not used any more.
            let status = unsafe { self.t.finish(req) };
            assert_eq!(status.error, Status::OK);
            if !sending {
                self.check(n, &data, status);
            }
        }
    }
}

/// One thread's part in a round.
fn take_part(side: &Side, me: u32, caller: &mut Caller<'_>) {
    let count = caller.round.count;
    let wait_for = |turn: u32| {
        while side.turn.load(Ordering::Acquire) < turn {
            std::thread::yield_now();
        }
    };
    match caller.round.token {
        Token::Lock => loop {
            let among = Entry::among();
            let held = side.lock.guard(&among);
            let next = side.next.load(Ordering::Relaxed);
            if next == count {
                break;
            }
            caller.step(side.sending, next);
            side.next.store(next + 1, Ordering::Relaxed);
            drop(held);
            std::thread::yield_now();
        },
        Token::Barrier => {
            for n in 0..count {
                if n % side.threads == me {
                    caller.step(side.sending, n);
                }
                side.turn.fetch_add(1, Ordering::AcqRel);
                wait_for((n + 1) * side.threads);
            }
        }
        Token::Turn => {
            for n in (me..count).step_by(side.threads as usize) {
                wait_for(n);
                caller.step(side.sending, n);
                side.turn.store(n + 1, Ordering::Release);
            }
        }
    }
}

fn round(instance: &Instance, c: &Communicator, threads: u32, round: Round) {
    let byte = Basic::new(Base::BYTE, 1);
    let alone = c.size() == 1;
    let sides: Vec<Side> = [true, false]
        .into_iter()
        .filter(|sending| alone || *sending == c.rank().is_multiple_of(2))
        .map(|sending| Side {
            sending,
            threads,
            lock: Lock::new(),
            next: AtomicU32::new(0),
            turn: AtomicU32::new(0),
        })
        .collect();
    if round.manner == Manner::Flood && !alone && !sides[0].sending {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let finished = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for side in &sides {
            for me in 0..threads {
                let (byte, finished) = (&byte, &finished);
                scope.spawn(move || {
                    let t = Thread::attach(instance);
                    let peer = if alone { 0 } else { (c.rank() ^ 1) as i32 };
                    let mut caller = Caller { c, t, byte, peer, round, started: Vec::new() };
                    take_part(side, me, &mut caller);
                    caller.finish(side.sending);
                    t.detach();
                    finished.fetch_add(1, Ordering::Release);
                });
            }
        }
    });
    // The scope's end means this already; the counter says it in a word that a sanitizer sees.
    assert_eq!(finished.load(Ordering::Acquire), threads * sides.len() as u32);
}

/// All tokens, tags and manners, on the world (the first is the first contact) and on duplicates of it; with as many
/// messages as asked for times OXMPI_ORDER_TIMES.
fn order(ranks: u32, threads: u32, count: u32, params: &[(&str, &str)]) {
    order_among(ranks, threads, count, &[params]);
}

/// The same with parameters that are each rank's own.
fn order_among(ranks: u32, threads: u32, count: u32, params: &[&[(&str, &str)]]) {
    let turn = AtomicU32::new(0);
    let times: u32 = std::env::var("OXMPI_ORDER_TIMES").map_or(1, |n| n.parse().expect("a number"));
    job(
        ranks,
        || {
            let turn = turn.fetch_add(1, Ordering::Relaxed) as usize;
            let mut config = config(Form::LinkedIn, Level::Multiple, params[turn % params.len()]);
            config.builtin.push(btl_template::descriptor());
            config
        },
        |instance| {
            let count = count * times;
            let mut c: Arc<Communicator> = instance.world();
            for token in [Token::Lock, Token::Barrier, Token::Turn] {
                for tags in [Tags::Any, Tags::One, Tags::Mixed] {
                    for manner in [Manner::Blocking, Manner::Posted, Manner::Flood] {
                        let count = if manner == Manner::Flood { 3 * count } else { count };
                        round(instance, &c, threads, Round { token, tags, manner, count });
                    }
                    c = instance.world().dup(None).expect("dup");
                }
            }
        },
    );
}

fn in_every_mode(assignment: &str) {
    for progress in PROGRESS {
        for (i, engine) in ENGINES.into_iter().enumerate() {
            let mode = [
                ("runtime_cri_assignment", assignment),
                ("runtime_progress", progress),
                ("pml_ob1_matching", engine),
                ("runtime_num_cris", ["3", "2", "5"][i % 3]),
                ("pml_ob1_max_shards", ["64", "4", "1"][i / 3]),
            ];
            order(2, 3 + i as u32 % 2, 20, &mode);
        }
    }
}

#[test]
fn stream() {
    in_every_mode("stream");
}

#[test]
fn dedicated() {
    in_every_mode("dedicated");
}

#[test]
fn round_robin() {
    in_every_mode("round_robin");
}

#[test]
fn one_instance_for_all() {
    order(2, 4, 40, &[("runtime_num_cris", "1")]);
}

/// Ranks with other numbers of CRIs and of contexts, and another idea of the best transport, than their peers.
#[test]
fn ranks_that_differ() {
    for assignment in ASSIGNMENTS {
        for progress in PROGRESS {
            // All transports by name: what a job of one node does not need is closed where nobody names it.
            let with = |more: &[(&'static str, &'static str)]| {
                let mode = [("runtime_cri_assignment", assignment), ("runtime_progress", progress)];
                [&mode[..], &[("btl", "shm,self,template")], more].concat()
            };
            let wide = with(&[("runtime_num_cris", "6")]);
            let narrow = with(&[("runtime_num_cris", "4"), ("btl_shm_virtual_device_count", "2")]);
            let one = with(&[("runtime_num_cris", "1")]);
            let like_sockets = [("btl_template_exclusivity", "65535"), ("btl_shm_exclusivity", "0")];
            let other = with(&[&like_sockets[..], &[("runtime_num_cris", "3")]].concat());
            for pair in [[&wide, &narrow], [&one, &wide], [&wide, &other]] {
                order_among(2, 3, 20, &pair.map(|params| &params[..]));
            }
        }
    }
}

/// To its own rank; over sockets; with rings that are full at once; asleep between any two messages.
#[test]
fn over_other_transports_and_full_rings() {
    for assignment in ASSIGNMENTS {
        for progress in PROGRESS {
            let with = |more: &[(&'static str, &'static str)]| {
                let mode = [("runtime_cri_assignment", assignment), ("runtime_progress", progress)];
                [&mode[..], &[("runtime_num_cris", "3")], more].concat()
            };
            order(1, 3, 20, &with(&[("btl", "self")]));
            order(2, 3, 20, &with(&[("btl", "template,self")]));
            order(2, 3, 40, &with(&[("btl_shm_ring_size", "64k"), ("pml_ob1_eager_credit", "10k")]));
            order(2, 3, 20, &with(&[("mpi_spin_count", "1"), ("mpi_yield_count", "1")]));
        }
    }
}
