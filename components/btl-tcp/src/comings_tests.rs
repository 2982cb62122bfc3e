//! Tests: processes come and go, and what was of one never reaches the next in its slot.

use crate::call::{Call, Stage};
use crate::card::{PeerAddress, peer_addresses};
use crate::component::{Parts, rails};
use crate::context::Context;
use crate::frame::{HEADER, Kind};
use crate::gathered::Waiting;
use crate::hello::{Hello, LONGEST, NONCE};
use crate::params::PARAMS;
use crate::peer::{Core, Route};
use crate::rail::Tcp;
use crate::service::Service;
use crate::stream::Link;
use crate::sys::{Interest, idle_socket};
use crate::turn::InTurn;
use core::ffi::c_void;
use oxmpi_btl::{Arrival, Completion, Message};
use oxmpi_btl_conformance::Msg;
use oxmpi_mca::services::HostServices;
use oxmpi_mca::{Host, HostTable, JobInfo, Params, ProcName, Status};
use oxmpi_testing::{Desk, FakeHost, JobState};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// More processes than come in any test.
const MANY: u32 = 5000;

struct Rank {
    desk: Desk,
    /// Processes of other jobs that it knows, by index.
    strangers: Mutex<Vec<(u32, ProcName)>>,
}

const USUAL: HostServices = oxmpi_testing::services::<Rank>();

extern "C" fn name_of(host: *mut c_void, proc: u32, out: *mut ProcName) -> Status {
    let strangers = Rank::of(host).strangers.lock().expect("nobody panicked");
    match strangers.iter().find(|(index, _)| *index == proc) {
        // SAFETY: the caller's out pointer.
        Some((_, name)) => unsafe { out.write(*name) },
        None => return (USUAL.name_of)(host, proc, out),
    }
    Status::OK
}

extern "C" fn index_of(host: *mut c_void, name: *const ProcName, out: *mut u32) -> Status {
    let strangers = Rank::of(host).strangers.lock().expect("nobody panicked");
    // SAFETY: the caller's name.
    match strangers.iter().find(|(_, known)| *known == unsafe { *name }) {
        // SAFETY: the caller's out pointer.
        Some((index, _)) => unsafe { out.write(*index) },
        None => return (USUAL.index_of)(host, name, out),
    }
    Status::OK
}

impl FakeHost for Rank {
    const SERVICES: Option<&'static HostServices> = Some(&HostServices { name_of, index_of, ..USUAL });

    fn desk(&self) -> &Desk {
        &self.desk
    }
    fn unused(&self, what: &str) -> Status {
        panic!("{what}")
    }
    fn failed(&self, proc: u32, status: Status, message: &str) {
        panic!("process {proc} is reported ({status}): {message}");
    }
}

/// A process with one context at one interface.
struct Process {
    rail: Tcp,
    cx: Context,
    service: Service,
    /// Behind the rail, which uses both.
    host: (Box<HostTable>, Box<Rank>),
}

impl Process {
    /// A process of a large job.
    fn new(rank: u32, state: &Arc<JobState>) -> Process {
        Process::of(Desk::job_of(rank, MANY), state)
    }

    fn of(job: JobInfo, state: &Arc<JobState>) -> Process {
        Process::with(job, state, &[])
    }

    /// One with parameters.
    fn with(job: JobInfo, state: &Arc<JobState>, params: &[(&str, &str)]) -> Process {
        let job = JobInfo { oversubscribed: 1, cores: 2, ..job };
        let desk = Desk::new(job, 1, false, state.clone());
        let host = Box::new(Rank { desk, strangers: Mutex::default() });
        let table = Box::new(host.desk.table(&*host));
        // SAFETY: the table stays where it is and goes behind the rail.
        let view = unsafe { Host::new(&*table, "tcp") };
        let given = [("if_include", "lo")].iter().chain(params);
        let given: Vec<_> = given.map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let values = oxmpi_testing::setup::values(PARAMS, &given).expect("parameters");
        let mut all = rails(view, Params(values)).unwrap_or_else(|e| panic!("{}", e.message));
        let Parts { rail, mut contexts, service } = all.remove(0);
        Process { rail, cx: contexts.remove(0), service, host: (table, host) }
    }

    fn core(&self, proc: u32) -> Arc<Core> {
        let name = Tcp::name_of(&self.rail.host, proc).expect("it is one of the job");
        self.rail.core_of(proc, name)
    }
}

/// A context whose messages are kept, with the process that they came from.
struct Kept<'a>(&'a mut Context, &'a mut Vec<(u32, Vec<u8>)>);

impl InTurn for Kept<'_> {
    fn context(&mut self) -> &mut Context {
        self.0
    }
    fn hand_up(&mut self, _host: &Host, _slot: usize, message: Arrival<'_>) -> bool {
        // SAFETY: the message's bytes, for the call.
        let bytes =
            unsafe { core::slice::from_raw_parts(message.bytes.as_ptr(), message.bytes.len() as usize) };
        self.1.push((message.proc, bytes.to_vec()));
        false
    }
    fn tell_end(&mut self, _done: Completion, _status: Status) {}
}

impl Process {
    /// Takes a turn; what came.
    fn turn(&mut self) -> Vec<(u32, Vec<u8>)> {
        let mut got = Vec::new();
        self.cx.note_event();
        self.rail.turn(&mut Kept(&mut self.cx, &mut got));
        got
    }

    /// Puts a message on the stream in a slot.
    fn push(&mut self, slot: usize, kind: Kind, msg: &Msg) -> Status {
        msg.describe(|desc| {
            // SAFETY: `Message` is a transparent wrapper of the descriptor, which outlives the call.
            let message = unsafe { &*core::ptr::from_ref(desc).cast::<Message<'_>>() };
            self.rail.push(&mut self.cx, slot, kind, message, false)
        })
    }
}

/// Waits until something is there; both processes take turns.
fn until<T>(what: &str, mut is_there: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(it) = is_there() {
            return it;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "waited for a minute: {what}");
        std::thread::yield_now();
    }
}

/// A process that comes, says something, is answered and goes. The slot of its stream at `home`.
fn visit(home: &mut Process, rank: u32, state: &Arc<JobState>) -> usize {
    let mut visitor = Process::new(rank, state);
    let core = visitor.core(0);
    let route = visitor.rail.route_to(0, core.first).expect("it has published").expect("it is reached");
    assert!(core.route.set(route).is_ok(), "a new process");
    let (there, _) = visitor.rail.first_use(&mut visitor.cx, &core, 0).expect("it is not over");
    let (said, answer) = (Msg::new(rank.into(), 8, 40), Msg::new(rank.into(), 8, 16));
    until("its message goes", || {
        home.turn();
        visitor.turn();
        visitor.push(there, Kind::Message, &said).is_ok().then_some(())
    });
    let got = until("its message comes", || Some(home.turn()).filter(|got| !got.is_empty()));
    assert_eq!(got, [(rank, said.bytes())], "its own message, under its own number");
    let core = home.core(rank);
    let slot = home.cx.streams.find(core.number, 0).expect("it has a stream");
    assert!(home.push(slot, Kind::Message, &answer).is_ok());
    let got = until("the answer", || Some(visitor.turn()).filter(|got| !got.is_empty()));
    assert_eq!(got, [(0, answer.bytes())]);
    visitor.rail.part(|each| each(&mut visitor.cx));
    until("its good-bye", || {
        assert_eq!(home.turn(), []);
        home.cx.streams[slot].is_shut().then_some(())
    });
    slot
}

/// Many processes come and go, and their streams have one slot; what was kept of an earlier one finds nobody.
#[test]
fn slots_are_used_again() {
    let state = Arc::<JobState>::default();
    let mut home = Process::new(0, &state);
    let mut names = Vec::new();
    for rank in 1..40 {
        let slot = visit(&mut home, rank, &state);
        assert_eq!((slot, home.cx.streams.len()), (0, 1), "process {rank}");
        let (core, name) = (home.core(rank), home.cx.streams.name(slot));
        // By an endpoint that is still there one learns that it has gone, and no stream is made for that.
        let answer = home.rail.first_use(&mut home.cx, &core, 0).map(|(slot, _)| slot);
        assert_eq!((answer, home.cx.streams.len()), (Err(Status::PEER_FAILED), 1));
        assert!(!names.contains(&name), "a name that another one had");
        assert!(names.iter().all(|earlier| home.cx.streams.slot(*earlier).is_none()));
        names.push(name);
    }
    // Those that are there at once have slots of their own, as many as there are at once.
    for ranks in [100..110, 110..120, 120..130] {
        let cores: Vec<_> = ranks.map(|rank| home.core(rank)).collect();
        let open = |core: &Arc<Core>| home.rail.first_use(&mut home.cx, core, 0).expect("new").0;
        let mut slots: Vec<usize> = cores.iter().map(open).collect();
        // One that is shut twice is free once.
        slots.iter().chain(&slots).for_each(|&slot| home.rail.shut(&mut home.cx, slot));
        slots.sort_unstable();
        assert_eq!(slots, (0..10).collect::<Vec<_>>());
    }
    assert_eq!(home.cx.streams.len(), 10);
}

/// A connection whose other end is returned.
fn connect(rail: &Tcp, cx: &mut Context, slot: usize) -> std::os::unix::net::UnixStream {
    let (here, there) = std::os::unix::net::UnixStream::pair().expect("sockets");
    here.set_nonblocking(true).and_then(|()| there.set_nonblocking(true)).expect("they can");
    rail.connection_proved(cx, slot, here.into(), 1 << 20);
    assert!(cx.streams[slot].is_up());
    there
}

/// Makes a stream to a process, with a connection.
fn opened(rail: &Tcp, cx: &mut Context, core: &Arc<Core>) -> (usize, std::os::unix::net::UnixStream) {
    let (slot, _) = rail.first_use(cx, core, 0).expect("it is not over");
    let there = connect(rail, cx, slot);
    (slot, there)
}

/// A call that has not come further than to begin.
fn call() -> Call {
    Call {
        fd: idle_socket().expect("a socket"),
        stage: Stage::Connecting,
        hello: [0; Hello::BYTES],
        nonce: [0; NONCE],
        got: [0; LONGEST],
        have: 0,
        begun: Instant::now(),
        deadline: Instant::now() + Duration::from_secs(600),
        from: 0,
        to: ([127, 0, 0, 1], 9).into(),
    }
}

/// Work that was to be done for a stream is not done for the next in its slot.
#[test]
fn nothing_to_do_is_left_to_the_next_stream() {
    let state = Arc::<JobState>::default();
    let mut home = Process::new(0, &state);
    let (first, second) = (home.core(1), home.core(2));
    let (rail, cx) = (&home.rail, &mut home.cx);
    let (slot, _there) = opened(rail, cx, &first);
    let token = cx.streams.name(slot).token();
    cx.list(slot);
    cx.send_late(slot);
    cx.hot = slot;
    cx.streams[slot].gathered = true;
    cx.gathering.push(slot);
    cx.gathered.put(Waiting { slot, fd: -1, from: core::ptr::null(), len: 0, wrote: 0, failed: true });
    rail.shut(cx, slot);
    assert_eq!(cx.stream(&second, 0, &rail.settings), slot, "the same slot");
    assert_eq!((cx.next_listed(), cx.next_late(), cx.hot), (None, None, usize::MAX));
    assert!(cx.gathering.is_empty() && cx.gathered.take(slot).is_none(), "a note of the first");
    assert_eq!(cx.streams.slot_of_token(token), None);
    assert_eq!(cx.streams.slot_of_token(cx.streams.name(slot).token()), Some(slot));
    // An event of the first, which comes late: with it a call of the second would go on that has nobody yet.
    cx.streams[slot].link = Link::Calling(Box::new(call()));
    let (event, other) = std::os::unix::net::UnixStream::pair().expect("sockets");
    cx.poller.add(&event, token, Interest::Read).expect("it can be watched");
    drop(other);
    (0..20).for_each(|_| assert_eq!(home.turn(), []));
    let link = &home.cx.streams[slot].link;
    let waits = matches!(link, Link::Calling(call) if matches!(call.stage, Stage::Connecting));
    assert!(waits, "an event of the first stream has reached the second");
}

/// The reply to a request of a stream that has gone goes to nobody.
#[test]
fn replies_go_to_nobody_else() {
    let state = Arc::<JobState>::default();
    let mut home = Process::new(0, &state);
    let (first, second) = (home.core(1), home.core(2));
    let (rail, service) = (&home.rail, &mut home.service);
    let (slot, _gone) = opened(rail, &mut service.context, &first);
    let earlier = service.context.streams.name(slot);
    rail.shut(&mut service.context, slot);
    let (again, mut there) = opened(rail, &mut service.context, &second);
    assert_eq!(again, slot, "the same slot");
    let now = service.context.streams.name(slot);
    let reply = |service: &mut Service, link| {
        Msg::new(5, 8, 24).describe(|desc| {
            // SAFETY: as in `push`.
            let message = unsafe { &*core::ptr::from_ref(desc).cast::<Message<'_>>() };
            rail.send_reply(service, link, message)
        })
    };
    let mut bytes = [0; 256];
    for (serving, link) in [(now, earlier), (earlier, earlier), (earlier, now)] {
        service.serving = Some(serving);
        assert_eq!(reply(service, link.token()), Status::BAD_PARAM, "{serving:?} {link:?}");
        let read = std::io::Read::read(&mut there, &mut bytes).map_err(|e| e.kind());
        assert_eq!(read, Err(std::io::ErrorKind::WouldBlock), "the second has heard something");
    }
    service.serving = Some(now);
    assert_eq!(reply(service, now.token()), Status::OK);
    let read = std::io::Read::read(&mut there, &mut bytes).expect("the reply");
    assert_eq!(read, HEADER + 32);
}

/// Two jobs of one process each.
struct Jobs([Process; 2]);

impl Jobs {
    fn new() -> Jobs {
        let state = Arc::<JobState>::default();
        let job = |job_id| Process::of(JobInfo { job_id, ..Desk::job_of(0, 1) }, &state);
        Jobs([job(11), job(12)])
    }

    fn turn(&mut self) -> [Vec<(u32, Vec<u8>)>; 2] {
        self.0.each_mut().map(Process::turn)
    }

    /// One gets to know the other by an index.
    fn meet(&mut self, me: usize, index: u32) -> Arc<Core> {
        self.meet_at(me, index, None)
    }

    /// `before`: an address to call before the other's own.
    fn meet_at(&mut self, me: usize, index: u32, before: Option<SocketAddr>) -> Arc<Core> {
        let name = self.0[1 - me].rail.name;
        let card = self.0[1 - me].rail.card.clone();
        let process = &mut self.0[me];
        process.host.1.strangers.lock().expect("nobody panicked").push((index, name));
        let core = process.core(index);
        let (rail, mut addresses) =
            peer_addresses(&process.rail.card, 0, &card, core.first).expect("they are reached");
        let before = before.map(|to| PeerAddress { from: addresses[0].from, to });
        addresses.splice(0..0, before);
        assert!(core.route.set(Route { contexts: 1, rail, addresses }).is_ok(), "a process that is new");
        core
    }

    /// One knows the other no more.
    fn part(&mut self, me: usize, core: &Arc<Core>) {
        self.0[me].host.1.strangers.lock().expect("nobody panicked").clear();
        assert!(self.0[me].rail.has_parted(core));
        self.0[me].rail.doors.ring(0);
    }

    /// Has one say something to the other, which knows it as `index`.
    fn talk(&mut self, me: usize, to: &Arc<Core>, index: u32) {
        let msg = Msg::new(index.into(), 8, 24);
        let process = &mut self.0[me];
        let slot = process.rail.first_use(&mut process.cx, to, 0).expect("it is not over").0;
        until("its message goes", || {
            assert_eq!(self.turn(), [const { Vec::new() }; 2]);
            self.0[me].push(slot, Kind::Message, &msg).is_ok().then_some(())
        });
        let got = until("its message comes", || Some(self.turn()).filter(|got| !got[1 - me].is_empty()));
        assert_eq!(got[1 - me], [(index, msg.bytes())]);
    }

    /// Streams that are not shut.
    fn open(&self) -> [usize; 2] {
        self.0.each_ref().map(|process| process.cx.streams.iter().filter(|s| !s.is_shut()).count())
    }
}

/// Two processes meet and part again and again, and both go on: their connections end when both have parted, and not before.
#[test]
fn connections_end_when_both_have_parted() {
    let mut jobs = Jobs::new();
    for round in 0..20 {
        let (here, there) = (100 + round, 200 + round);
        let cores = [jobs.meet(0, here), jobs.meet(1, there)];
        jobs.talk(0, &cores[0], there);
        jobs.talk(1, &cores[1], here);
        let first = round as usize % 2;
        jobs.part(first, &cores[first]);
        // The later one still has something to say, and hears nothing of an end.
        (0..20).for_each(|_| _ = jobs.turn());
        assert_eq!(jobs.open(), [1, 1], "round {round}");
        let index = [here, there][first];
        jobs.talk(1 - first, &cores[1 - first], index);
        assert!(!cores[1 - first].is_over());
        jobs.part(1 - first, &cores[1 - first]);
        until("both streams are shut", || {
            assert_eq!(jobs.turn(), [const { Vec::new() }; 2]);
            (jobs.open() == [0, 0]).then_some(())
        });
        assert_eq!(jobs.0.each_ref().map(|process| process.cx.streams.len()), [1, 1]);
    }
}

/// Somebody else takes connections at an address of a process, and says nothing: it is called at another.
#[test]
fn another_address_is_called_where_nobody_answers() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let state = Arc::<JobState>::default();
    let short = [("handshake_timeout", "20000")];
    let job = |job_id| Process::with(JobInfo { job_id, ..Desk::job_of(0, 1) }, &state, &short);
    let mut jobs = Jobs([job(11), job(12)]);
    let core = jobs.meet_at(0, 7, Some(silent.local_addr().expect("bound")));
    jobs.meet(1, 8);
    let (told, taken) = std::sync::mpsc::channel();
    std::thread::spawn(move || silent.incoming().try_for_each(|connection| told.send(connection)));
    jobs.talk(0, &core, 8);
    assert!(taken.try_recv().is_ok(), "it was called first");
}

/// A process that has parted and dies is no failure, and no call goes to it.
#[test]
fn a_process_that_parted_may_die() {
    let mut jobs = Jobs::new();
    let cores = [jobs.meet(0, 7), jobs.meet(1, 8)];
    jobs.talk(0, &cores[0], 8);
    jobs.part(0, &cores[0]);
    (0..20).for_each(|_| _ = jobs.turn());
    assert_eq!(jobs.open(), [1, 1]);
    let Jobs([mut here, there]) = jobs;
    drop(there);
    until("its stream is shut", || {
        assert_eq!(here.turn(), []);
        here.cx.streams[0].is_shut().then_some(())
    });
}
