//! Several FIFOs between two processes, in every assignment of messages to them: whatever the threads that
//! send, the FIFO that is looked at first, the room in it, and the protocol, messages match as the program
//! orders them.

mod common;

use common::*;
use oxmpi_mca::host::cri_mode::{DEDICATED, ROUND_ROBIN, SERIAL_PROGRESS};
use oxmpi_mca::{Status, ThreadCtx};
use oxmpi_pml::{ANY_SOURCE, ANY_TAG, NO_HINT, RecvArgs, SendArgs, assert_flag, mode};
use proptest::prelude::*;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

const CRIS: u32 = 4;
const THREADS: u32 = 6;
const SIZES: [usize; 5] = [8, 64, 200, 3000, 20_000];

fn setup(modes: u32) -> Setup {
    Setup { cris: CRIS, modes, threaded: true, min_get: 10_000, ..Setup::default() }
}

/// The next step of a process, as one thread would drive it that stands for several.
#[derive(Clone, Debug)]
enum Step {
    Send {
        thread: u32,
        tag: i32,
        size: usize,
        sync: bool,
        late: bool,
    },
    /// A tag, or any.
    Recv {
        tag: Option<i32>,
        any_source: bool,
        late: bool,
    },
    /// One process takes what comes, looking first where a thread would.
    Progress {
        receiver: bool,
        first: u32,
    },
    /// Takes a send back, if nobody has seen it.
    Cancel(usize),
    /// The receiver is told of the second communicator.
    Meet,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let send = (0..THREADS, 0..4i32, 0..SIZES.len(), any::<bool>(), any::<bool>());
    let recv = (prop::option::of(0..4i32), any::<bool>(), any::<bool>());
    let step = prop_oneof![
        8 => send.prop_map(|(thread, tag, size, sync, late)| Step::Send { thread, tag, size, sync: sync && size < 2, late }),
        6 => recv.prop_map(|(tag, any_source, late)| Step::Recv { tag, any_source, late }),
        6 => (any::<bool>(), 0..CRIS).prop_map(|(receiver, first)| Step::Progress { receiver, first }),
        1 => any::<usize>().prop_map(Step::Cancel),
        1 => Just(Step::Meet),
    ];
    prop::collection::vec(step, 1..120)
}

struct Sent {
    tag: i32,
    data: Vec<u8>,
    req: Req,
    /// Once all is settled, whether it was cancelled.
    cancelled: bool,
}

struct Posted {
    tag: Option<i32>,
    buf: Box<[u8]>,
    req: Req,
}

/// One communicator's messages and receives, in the order of the program.
#[derive(Default)]
struct Flow {
    sent: Vec<Sent>,
    posted: Vec<Posted>,
}

impl Flow {
    /// Every receive, in its turn, has the oldest message that fits; whichever came when.
    fn check(&mut self, w: &World) {
        let mut left: Vec<&Sent> = self.sent.iter().filter(|s| !s.cancelled).collect();
        for (n, receive) in self.posted.iter().enumerate() {
            let fits = left.iter().position(|s| receive.tag.is_none_or(|t| t == s.tag));
            let Some(at) = fits else {
                assert!(!receive.req.is_complete(), "receive {n} got what was never sent");
                continue;
            };
            let message = left.remove(at);
            let status = w.wait(receive.req);
            assert_eq!(status.error, Status::OK, "receive {n}: {:?}", w.errors(1));
            assert_eq!((status.tag, status.bytes), (message.tag, message.data.len() as u64), "receive {n}");
            assert!(receive.buf[..message.data.len()] == message.data, "receive {n} has another's bytes");
        }
    }
}

/// The threads of each of two processes, which share none: what a thread keeps for itself belongs to its process.
struct Threads([Vec<*mut ThreadCtx>; 2]);

impl Threads {
    fn new(each: u32) -> Threads {
        Threads([(); 2].map(|()| (0..each).map(new_thread).collect()))
    }
    fn of(&self, process: usize, index: u32) -> *mut ThreadCtx {
        self.0[process][index as usize]
    }
}

/// Sends of several threads; the driver is one, so all is ordered by the program.
struct Driver {
    w: World,
    threads: Threads,
    comms: [[Option<Comm>; 2]; 2],
    flows: [Flow; 2],
    count: u64,
}

const BOTH: [u32; 2] = [0, 1];

impl Driver {
    fn new(setup: Setup) -> Driver {
        let w = World::new(setup);
        let world = w.world();
        let own = w.add_comm(0, &spec(0));
        Driver {
            comms: [[Some(world[0]), Some(world[1])], [Some(own), None]],
            w,
            threads: Threads::new(THREADS),
            flows: Default::default(),
            count: 0,
        }
    }

    fn meet(&mut self) {
        if self.comms[1][1].is_none() {
            self.comms[1][1] = Some(self.w.add_comm(1, &spec(1)));
        }
    }

    fn send(&mut self, thread: u32, tag: i32, size: usize, sync: bool, which: usize) {
        let Some(comm) = self.comms[which][0] else { return };
        self.count += 1;
        let data = pattern(SIZES[size], self.count);
        let (t, s) = self.w.table(0);
        let how = if sync { mode::SYNCHRONOUS } else { mode::STANDARD };
        let args = self.w.send_args(comm, bytes(&data), 1, tag, how);
        let args = SendArgs { thread: self.threads.of(0, thread), ..args };
        let mut ptr = null_mut();
        assert_eq!((t.isend)(s, &args, &mut ptr), Status::PENDING);
        self.flows[which].sent.push(Sent { tag, data, req: Req(ptr), cancelled: false });
    }

    fn recv(&mut self, tag: Option<i32>, source: i32, which: usize) {
        let Some(comm) = self.comms[which][1] else { return };
        let mut buf = vec![0; SIZES[SIZES.len() - 1]].into_boxed_slice();
        let (t, s) = self.w.table(1);
        let n = buf.len() as u64;
        let args = self.w.recv_args(comm, &mut buf, byte(), n, source, tag.unwrap_or(ANY_TAG));
        let args = RecvArgs { thread: self.threads.of(1, 0), ..args };
        let mut ptr = null_mut();
        assert_eq!((t.irecv)(s, &args, &mut ptr), Status::PENDING);
        self.flows[which].posted.push(Posted { tag, buf, req: Req(ptr) });
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Send { thread, tag, size, sync, late } => self.send(thread, tag, size, sync, late as usize),
            Step::Recv { tag, any_source, late } => {
                self.recv(tag, if any_source { ANY_SOURCE } else { 0 }, late as usize);
            }
            Step::Progress { receiver, first } => {
                let thread = self.threads.of(receiver as usize, THREADS - 1);
                // SAFETY: the driver is the only one that uses it.
                unsafe { (*thread).cri = first };
                let own = &self.w.procs[receiver as usize];
                // SAFETY: the calling thread's context, which stays.
                own.engine.turn(&mut unsafe { own.entry(thread) });
            }
            Step::Cancel(which) => {
                for flow in &mut self.flows {
                    let count = flow.sent.len();
                    if let Some(sent) = flow.sent.get_mut(which % count.max(1))
                        && !sent.req.is_complete()
                    {
                        // Else its receiver is asked, and may say so later.
                        sent.cancelled = sent.req.cancel() == Status::OK;
                    }
                }
            }
            Step::Meet => self.meet(),
        }
    }

    fn finish(mut self) {
        self.meet();
        self.w.settle();
        for sent in self.flows.iter_mut().flat_map(|f| &mut f.sent) {
            let cancelled = sent.req.is_complete() && sent.req.status().cancelled != 0;
            assert!(cancelled || !sent.cancelled, "a cancelled send went out");
            sent.cancelled = cancelled;
        }
        for flow in &mut self.flows {
            flow.check(&self.w);
        }
        self.w.assert_clean();
        // Messages that nobody received are received now, so that all sends end.
        for which in 0..2 {
            let sent = self.flows[which].sent.iter().filter(|s| !s.cancelled).count();
            let pending = self.flows[which].posted.iter().filter(|r| !r.req.is_complete()).count();
            for _ in 0..(sent + pending) {
                self.recv(None, 0, which);
            }
        }
        self.w.settle();
        for sent in self.flows.iter().flat_map(|f| &f.sent) {
            assert_eq!(self.w.wait(sent.req).cancelled != 0, sent.cancelled);
        }
        self.w.assert_clean();
        for receive in self.flows.iter().flat_map(|f| &f.posted) {
            receive.req.cancel();
        }
    }
}

fn spec(rank: i32) -> CommSpec<'static> {
    CommSpec { gid: [5, 6], procs: &BOTH, my_rank: rank, ..CommSpec::default() }
}

fn modes() -> impl Strategy<Value = u32> {
    let assignment = prop::sample::select(vec![0, DEDICATED, ROUND_ROBIN]);
    (assignment, any::<bool>()).prop_map(|(a, serial)| a | if serial { SERIAL_PROGRESS } else { 0 })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn messages_match_as_the_program_orders_them(
        modes in modes(),
        steps in steps(),
        room in prop::sample::select(vec![2usize, 5, 1 << 20]),
        credit in prop::sample::select(vec![1000i64, 4 << 20]),
        offers_get in any::<bool>(),
        fork_turns in prop::sample::select(vec![1, 3, 8]),
        visible in any::<bool>(),
    ) {
        let mut d = Driver::new(Setup { room, credit, offers_get, fork_turns, visible, ..setup(modes) });
        for step in &steps {
            d.step(step);
        }
        d.finish();
    }
}

/// Over a transport that does not show messages at once, messages with numbers use several FIFOs all the same,
/// and what overtook another is counted.
#[test]
fn numbers_put_in_order_what_came_in_another() {
    for assignment in [DEDICATED, ROUND_ROBIN] {
        let mut d = Driver::new(Setup { visible: false, ..setup(assignment) });
        for n in 0..50 {
            d.send(n % THREADS, 3, 0, false, 0);
        }
        for first in 0..CRIS {
            d.step(&Step::Progress { receiver: true, first: CRIS - 1 - first });
        }
        let (t, s) = d.w.table(1);
        let mut counts =
            oxmpi_pml::Counts { size: size_of::<oxmpi_pml::Counts>() as u32, ..Default::default() };
        d.w.settle();
        let comm = d.comms[0][1].expect("the world");
        assert_eq!((t.counts)(s, comm.ptr, &mut counts), Status::OK);
        assert!(counts.out_of_sequence > 0 && counts.most_out_of_sequence > 0, "{counts:?}");
        assert_eq!(counts.out_of_sequence_now, 0, "{counts:?}");
        for n in 0..50 {
            d.recv((n % 2 == 0).then_some(3), 0, 0);
        }
        d.finish();
    }
}

/// With the default assignment several FIFOs are in use over any transport, and over one that shows messages at once nothing is ever
/// out of sequence; over others numbers put in order what is.
#[test]
fn streams_are_never_out_of_sequence() {
    for visible in [true, false] {
        let mut d = Driver::new(Setup { visible, fork_turns: 1, ..setup(0) });
        for n in 0..50 {
            d.send(n % THREADS, n as i32 % 5, 0, false, 0);
        }
        let used = (0..CRIS).filter(|&ctx| d.w.waiting_on(1, ctx as usize) > 0).count();
        assert!(used > 1, "{used} FIFOs in use");
        d.w.settle();
        let (t, s) = d.w.table(1);
        let mut counts =
            oxmpi_pml::Counts { size: size_of::<oxmpi_pml::Counts>() as u32, ..Default::default() };
        let comm = d.comms[0][1].expect("the world");
        assert_eq!((t.counts)(s, comm.ptr, &mut counts), Status::OK);
        assert_eq!((counts.out_of_sequence_now, counts.unexpected), (0, 50));
        assert!(!visible || counts.out_of_sequence == 0, "{counts:?}");
        d.finish();
    }
}

/// Where messages may overtake each other they all come, each once, whatever the assignment, and none waits for
/// another; the library's own keep their order.
#[test]
fn overtaking_messages_all_come() {
    for assignment in [0, DEDICATED, ROUND_ROBIN] {
        let mut d = Driver::new(setup(assignment));
        let free = |rank| CommSpec { gid: [8, 9], flags: assert_flag::ALLOW_OVERTAKING, ..spec(rank) };
        d.comms[1] = [Some(d.w.add_comm(0, &free(0))), Some(d.w.add_comm(1, &free(1)))];
        for n in 0..40 {
            d.send(n % THREADS, 3, n as usize % SIZES.len(), false, 1);
        }
        // On the last FIFO first: what comes there is found though older ones are still under way.
        d.step(&Step::Progress { receiver: true, first: 0 });
        d.step(&Step::Progress { receiver: true, first: CRIS - 1 });
        let mut expected: Vec<Vec<u8>> = d.flows[1].sent.iter().map(|s| s.data.clone()).collect();
        let mut came = Vec::new();
        for _ in 0..40 {
            d.recv(Some(3), 0, 1);
        }
        for receive in d.flows[1].posted.drain(..) {
            let status = d.w.wait(receive.req);
            came.push(receive.buf[..status.bytes as usize].to_vec());
        }
        expected.sort();
        came.sort();
        assert!(came == expected);
        // Below zero are the tags of collectives.
        d.flows[1] = Flow::default();
        for n in 0..40 {
            d.send(n % THREADS, -7, n as usize % 3, false, 1);
        }
        for _ in 0..40 {
            d.recv(Some(-7), 0, 1);
        }
        d.finish();
    }
}

/// A message that waits for its communicator came before one that waits for a SWITCH on the same FIFO, and is matched first.
#[test]
fn what_waits_for_its_communicator_is_not_behind_what_came_early() {
    let mut d = Driver::new(Setup { fork_turns: 1, ..setup(0) });
    let progress = |d: &mut Driver, first| d.step(&Step::Progress { receiver: true, first });
    // The second thread: from here on there are several FIFOs, and that communicator's is another one than the world's.
    d.send(1, 1, 0, false, 0);
    d.send(0, 0, 0, false, 1);
    d.send(0, 0, 0, false, 0);
    for first in [0, 1, 1, 1] {
        progress(&mut d, first);
    }
    assert!((0..CRIS).all(|ctx| d.w.waiting_on(1, ctx as usize) == 0), "all is taken");
    // The world forks, to the FIFO on which the other communicator's messages come.
    d.send(0, 0, 0, false, 0);
    d.send(1, 1, 0, false, 0);
    d.send(0, 0, 0, false, 1);
    let waiting = |d: &Driver| [0, 1].map(|ctx| d.w.waiting_on(1, ctx));
    assert!(waiting(&d)[0] > 1 && waiting(&d)[1] == 3, "SWITCH there, OPEN and two here: {:?}", waiting(&d));
    // That FIFO alone.
    progress(&mut d, 1);
    assert!(waiting(&d)[0] > 1 && waiting(&d)[1] == 0);
    d.meet();
    d.recv(Some(0), 0, 1);
    d.recv(Some(0), 0, 1);
    d.finish();
}

/// Processes of different settings, and one below MULTIPLE, understand each other.
#[test]
fn settings_may_differ() {
    for receiver_threaded in [true, false] {
        for modes in [0, DEDICATED] {
            let w = World::with_each(setup(ROUND_ROBIN), |rank, setup| {
                if rank == 1 {
                    setup.modes = modes;
                    setup.threaded = receiver_threaded;
                    setup.cris = if receiver_threaded { 2 } else { CRIS };
                }
            });
            let c = w.world();
            let threads = Threads::new(3);
            let mut reqs = Vec::new();
            for n in 0..60u64 {
                for (from, to) in [(0usize, 1), (1, 0)] {
                    let (t, s) = w.table(from);
                    let data = pattern(8, n);
                    let args = w.send_args(c[from], bytes(&data), to, 1, mode::STANDARD);
                    let several = from == 0 || receiver_threaded;
                    let args =
                        SendArgs { thread: threads.of(from, if several { n as u32 % 3 } else { 0 }), ..args };
                    let mut ptr = null_mut();
                    assert_eq!((t.isend)(s, &args, &mut ptr), Status::PENDING);
                    reqs.push(Req(ptr));
                }
            }
            for n in 0..60 {
                for (me, from) in [(1usize, 0), (0, 1)] {
                    let mut buf = [0; 8];
                    let status = match w.recv(c[me], &mut buf, from, if n % 2 == 0 { 1 } else { ANY_TAG }) {
                        Ok(status) => status,
                        Err(req) => w.wait(req),
                    };
                    assert_eq!(status.bytes, 8);
                    assert!(buf[..] == pattern(8, n), "message {n} to {me}");
                }
            }
            for req in reqs {
                w.wait(req);
            }
            w.assert_clean();
        }
    }
}

/// A callback answers STOP when more arrives than was posted, and not before that.
#[test]
fn what_nobody_posted_ends_the_turn_once_all_else_is_here() {
    let mut d = Driver::new(setup(0));
    let send = |d: &mut Driver, count: u32| (0..count).for_each(|n| d.send(n % 2, 3, 0, false, 0));
    let receive = |d: &mut Driver, count: u32| (0..count).for_each(|_| d.recv(Some(3), 0, 0));
    // Two threads send, so that messages go by their tags.
    send(&mut d, 20);
    receive(&mut d, 20);
    d.w.settle();
    let stops = |d: &Driver| d.w.procs[1].stops.swap(0, Ordering::Relaxed);
    stops(&d);
    receive(&mut d, 3);
    send(&mut d, 2);
    d.w.settle();
    assert_eq!(stops(&d), 0, "one is still waited for");
    send(&mut d, 1);
    d.w.settle();
    assert_eq!(stops(&d), 0, "all that came was waited for");
    send(&mut d, 1);
    d.w.settle();
    assert_eq!(stops(&d), 1, "more came than was posted");
    receive(&mut d, 1);
    d.finish();
}

/// Messages of a rank that prefers a CRI take that; those to an endpoint of a process take the CRI of (communicator, endpoint), with `dedicated`
/// the one with the number of the endpoint that sends.
#[test]
fn messages_of_endpoints_and_hints_have_their_cri() {
    let overtaking = assert_flag::ALLOW_OVERTAKING;
    let none = NO_HINT;
    let cases = [
        (DEDICATED, 0, 2, 0, 2),
        (DEDICATED, 0, 7, 0, 3),
        (0, overtaking, 2, 0, 2),
        (0, 0, 2, 0, 2),
        (0, 0, 7, 5, 3),
        // The communicator's own FIFO is the last of four.
        (0, 0, none, 1, 0),
        (0, 0, none, 3, 2),
        (DEDICATED, 0, none, 2, 2),
        (DEDICATED, 0, none, 5, 1),
        (0, overtaking, none, 6, 2),
    ];
    for (modes, flags, hint, endpoint, expected) in cases {
        let w = World::new(setup(modes));
        let make = |p: usize| {
            w.add_comm(
                p,
                &CommSpec {
                    my_rank: p as i32,
                    hint,
                    flags,
                    endpoints: if endpoint == 0 { &[] } else { vec![endpoint, endpoint].leak() },
                    my_endpoint: endpoint,
                    ..CommSpec::default()
                },
            )
        };
        let c = [make(0), make(1)];
        let threads = [new_thread(0), new_thread(1)];
        let (t, s) = w.table(0);
        let send = |thread: usize, tag| {
            let mut args = w.send_args(c[0], bytes(&[1; 8]), 1, tag, mode::STANDARD);
            args.thread = threads[thread];
            let mut ptr = null_mut();
            assert_eq!((t.isend)(s, &args, &mut ptr), Status::PENDING);
            Req(ptr)
        };
        let receive = |tag| {
            let req = w.irecv(c[1], Box::leak(Box::new([0; 8])), 0, tag);
            assert_eq!(w.wait(req).error, Status::OK);
        };
        // Before there are several FIFOs.
        for n in 0..4 {
            let req = send(n % 2, 1);
            receive(1);
            w.wait(req);
            w.settle();
        }
        let reqs = [send(0, 1), send(1, 2), send(0, 3)];
        assert_eq!(w.waiting_on(1, expected), 3, "{modes} {hint} {endpoint}");
        [1, 2, 3].into_iter().for_each(receive);
        for req in reqs {
            w.wait(req);
        }
        w.settle();
        w.assert_clean();
    }
}
