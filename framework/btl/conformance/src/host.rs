//! The host as a component sees it, for one rank: real where a BTL uses it, and a witness everywhere.

use crate::message::step;
use crate::places::Places;
use core::ffi::c_void;
use oxmpi_btl::SERVICE_CTX;
use oxmpi_mca::host::{ProgressFn, receive as answer};
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{
    AmEntry, AmParts, Host, HostTable, JobInfo, LayerFunction, PartDesc, RecvDesc, RequestHeader,
    SharedSegment, Status,
};
use oxmpi_testing::{Desk, JobState, held};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

/// A message as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub proc: u32,
    pub ctx: u32,
    pub tag: u8,
    /// Of a request on a service link.
    pub link: u64,
    pub bytes: Vec<u8>,
}

/// A function that runs inside the receive callback, besides recording.
pub type Hook = Arc<dyn Fn(&Arrived) + Send + Sync>;

/// The offers of partial delivery that the host takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taking {
    #[default]
    EveryOther,
    All,
    None,
}

/// One row of the active-message table.
pub(crate) struct Row {
    pub host: *const FakeHost,
    pub tag: u8,
}

/// The thread that is inside `progress` of a context, by its mark, or 0; and whether a callback runs.
#[derive(Default)]
struct Turn {
    thread: AtomicU64,
    in_callback: AtomicU32,
}

pub struct FakeHost {
    table: Option<Box<HostTable>>,
    desk: Desk,
    /// Bytes taken so far of messages that come in parts, by process and context; and how many messages were offered.
    coming: Mutex<HashMap<(u32, u32), Vec<u8>>>,
    offers: AtomicU64,
    /// The module has said that it delivers messages in parts.
    parts_come: AtomicBool,
    taking: Mutex<Taking>,
    pub(crate) rows: Vec<Row>,
    pub places: Places,
    /// One per context, and one for the service context behind them.
    turns: Vec<Turn>,
    /// State of the module under test, to compare with what callbacks say.
    pub module_state: AtomicPtr<c_void>,
    inbox: Mutex<Vec<Arrived>>,
    arrived: AtomicU64,
    /// A check expects that peers are reported as failed.
    may_fail: AtomicBool,
    hook: Mutex<Option<Hook>>,
    violations: Mutex<Vec<String>>,
    log: Mutex<Vec<(i32, String)>>,
    progress: Mutex<Vec<(ProgressFn, usize)>>,
    /// Processes of further jobs that are known now.
    guests: Mutex<Vec<u32>>,
}

// SAFETY: the raw pointers inside name heap memory of this very object (rows, table), which is
// boxed and never moves; everything that changes is atomic or behind a mutex.
unsafe impl Send for FakeHost {}
// SAFETY: as above.
unsafe impl Sync for FakeHost {}

/// A number for the calling thread, never 0.
fn thread_mark() -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    std::thread::current().id().hash(&mut hasher);
    hasher.finish() | 1
}

/// A random number, as a job id is one.
pub fn random() -> u64 {
    step(std::hash::RandomState::new().build_hasher().finish())
}

impl FakeHost {
    pub fn new(job: JobInfo, num_cris: u32, threaded: bool, shared: Arc<JobState>) -> Box<FakeHost> {
        let mut host = Box::new(FakeHost {
            table: None,
            desk: Desk::new(job, num_cris, threaded, shared),
            turns: (0..=num_cris).map(|_| Turn::default()).collect(),
            coming: Mutex::default(),
            offers: AtomicU64::new(0),
            parts_come: AtomicBool::new(false),
            taking: Mutex::default(),
            rows: Vec::new(),
            places: Places::default(),
            module_state: AtomicPtr::new(core::ptr::null_mut()),
            inbox: Mutex::default(),
            arrived: AtomicU64::new(0),
            may_fail: AtomicBool::new(false),
            hook: Mutex::default(),
            violations: Mutex::default(),
            log: Mutex::default(),
            progress: Mutex::default(),
            guests: Mutex::default(),
        });
        let this: *const FakeHost = &*host;
        host.rows = (0..=u8::MAX).map(|tag| Row { host: this, tag }).collect();
        for row in &host.rows {
            let ctx = core::ptr::from_ref(row).cast_mut().cast();
            host.desk.set_row(row.tag, AmEntry { receive, ctx });
            host.desk.set_parts(row.tag, receive_part);
        }
        host.table = Some(Box::new(host.desk.table(&*host)));
        host
    }

    /// The table that a component is opened with.
    pub fn table(&self) -> &HostTable {
        self.table.as_ref().expect("made")
    }

    /// As a component sees it.
    pub fn view(&self) -> Host {
        // SAFETY: the table is this host's, which the suite keeps for longer.
        unsafe { Host::new(self.table(), "conformance") }
    }

    pub fn threaded(&self) -> bool {
        self.desk.is_threaded()
    }

    /// Watches a call in which messages may be handed up on a context.
    fn watched(&self, turn: &Turn, call: impl FnOnce() -> i32) -> i32 {
        turn.thread.store(thread_mark(), Ordering::SeqCst);
        let events = call();
        turn.thread.store(0, Ordering::SeqCst);
        if events < 0 {
            self.violation(format!("progress returned {events}"));
        }
        events
    }

    /// Whether the calling thread is inside `progress` of a context ([`SERVICE_CTX`]: of the service context).
    pub fn is_in_progress(&self, ctx: u32) -> bool {
        self.turn_of(ctx).is_some_and(|t| t.thread.load(Ordering::SeqCst) == thread_mark())
    }

    fn turn_of(&self, ctx: u32) -> Option<&Turn> {
        match ctx {
            SERVICE_CTX => self.turns.last(),
            _ => self.turns[..self.desk.cris.len()].get(ctx as usize),
        }
    }

    /// Runs a progress call of the service context; the caller holds its lock.
    pub fn serve(&self, poll: impl FnOnce() -> i32) -> i32 {
        self.watched(self.turns.last().expect("one more than contexts"), poll)
    }

    /// Runs a progress call of the module as the host does, watching what happens inside.
    pub fn turn(&self, ctx: u32, poll: impl FnOnce() -> i32) -> i32 {
        let events = self.watched(&self.turns[ctx as usize], poll);
        let registered = held(&self.progress).clone();
        for (f, c) in registered {
            f(c as *mut c_void, core::ptr::null_mut());
        }
        events
    }

    pub fn set_hook(&self, hook: Option<Hook>) {
        *held(&self.hook) = hook;
    }

    /// How many messages came in so far.
    pub fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Acquire)
    }

    /// Messages that came in since the last call, in order.
    pub fn take(&self) -> Vec<Arrived> {
        std::mem::take(&mut held(&self.inbox))
    }

    /// As if nothing had come in yet.
    pub fn forget(&self) {
        self.take();
        self.arrived.store(0, Ordering::Release);
    }

    pub fn violation(&self, what: String) {
        held(&self.violations).push(format!("rank {}: {what}", self.desk.job.rank));
    }

    /// Gives this rank shared segment `number` of the node, or takes it away.
    pub fn set_segment(&self, number: u32, segment: Option<SharedSegment>) {
        match segment {
            Some(segment) => self.desk.add_segment(number, segment),
            None => self.desk.remove_segment(number),
        }
    }

    /// Says which processes beyond those of the job may send from now on.
    pub fn set_guests(&self, procs: Vec<u32>) {
        *held(&self.guests) = procs;
    }

    /// Whether the module may offer messages of which only a part is there.
    pub fn let_parts_come(&self, may: bool) {
        self.parts_come.store(may, Ordering::Relaxed);
    }

    /// Takes these offers from here on.
    pub fn take_parts(&self, taking: Taking) {
        *held(&self.taking) = taking;
    }

    /// From here on peers may be reported as failed.
    pub fn let_peers_fail(&self) {
        self.may_fail.store(true, Ordering::SeqCst);
    }

    /// Tells who subscribed that a process has failed, as a host does that heard it elsewhere.
    pub fn tell_failure(&self, proc: u32) {
        self.desk.tell_failure(proc, Status::PEER_FAILED);
    }

    /// Failures that were reported.
    pub fn failures(&self) -> Vec<(u32, Status)> {
        held(&self.desk.failures).clone()
    }

    pub fn violations(&self) -> Vec<String> {
        held(&self.violations).clone()
    }

    /// Messages that the component logged, and its reports of processes that it has lost.
    pub fn logged(&self) -> String {
        held(&self.log).iter().map(|(level, m)| format!("[{level}] {m}\n")).collect()
    }
}

/// The receive callback of every tag. Nothing here may panic: it runs under the component's frames.
pub(crate) extern "C" fn receive(ctx: *mut c_void, msg: *const RecvDesc) -> u32 {
    // SAFETY: rows name their host; both live as long as the component.
    let (row, msg) = unsafe { (&*ctx.cast::<Row>(), &*msg) };
    // SAFETY: as above.
    let host = unsafe { &*row.host };
    let Some(turn) = host.turn_of(msg.ctx) else {
        host.violation(format!("a message came in on context {}, which is none", msg.ctx));
        return answer::CONTINUE;
    };
    if msg.link != 0 && msg.ctx != SERVICE_CTX {
        host.violation(format!("a message on context {} has link {}", msg.ctx, msg.link));
    }
    match turn.thread.load(Ordering::SeqCst) {
        0 => host.violation(format!("tag {} was delivered outside progress of context {}", row.tag, msg.ctx)),
        t if t != thread_mark() => {
            host.violation(format!("tag {} was delivered on a thread that is not in progress", row.tag))
        }
        _ => {}
    }
    if turn.in_callback.swap(1, Ordering::SeqCst) != 0 {
        host.violation(format!("tag {} was delivered inside another delivery", row.tag));
    }
    if held(&host.coming).contains_key(&(msg.proc, msg.ctx)) {
        host.violation(format!("process {} has a message delivered between the parts of another", msg.proc));
    }
    if msg.module != host.module_state.load(Ordering::Relaxed) {
        host.violation("a message named another module than the one that was driven".into());
    }
    if msg.proc >= host.desk.job.job_size && !held(&host.guests).contains(&msg.proc) {
        host.violation(format!("a message came from process {}, which is none", msg.proc));
    }
    if !host.places.forget(msg.proc, msg.ctx) {
        host.violation("a message came whole in place of one that was claimed".into());
    }
    let bytes = match msg.len {
        0 => Vec::new(),
        // SAFETY: valid during the callback.
        len => unsafe { core::slice::from_raw_parts(msg.data, len as usize) }.to_vec(),
    };
    let arrived = Arrived { proc: msg.proc, ctx: msg.ctx, tag: row.tag, link: msg.link, bytes };
    let hook = held(&host.hook).clone();
    if let Some(hook) = hook {
        hook(&arrived);
    }
    held(&host.inbox).push(arrived);
    // SYNC POINT with `arrived()`: what the counter says lies in the inbox.
    let number = host.arrived.fetch_add(1, Ordering::Release);
    turn.in_callback.store(0, Ordering::SeqCst);
    // A receiver may ask for the end of the batch at any time.
    if number % 5 == 4 { answer::STOP } else { answer::CONTINUE }
}

/// Takes messages that are offered before all of them is there, or not ([`Taking`]), and hands them to `receive` when it is.
extern "C" fn receive_part(ctx: *mut c_void, part: *const PartDesc) -> u32 {
    // SAFETY: as in `receive`.
    let (row, part) = unsafe { (&*ctx.cast::<Row>(), &*part) };
    // SAFETY: as above.
    let host = unsafe { &*row.host };
    let (msg, key) = (&part.message, (part.message.proc, part.message.ctx));
    if !host.parts_come.load(Ordering::Relaxed) {
        host.violation("a message was offered in part by a module without PARTIAL_DELIVERY".into());
    }
    if part.from >= part.to || part.to > msg.len {
        host.violation(format!("bytes {} to {} of {} were offered", part.from, part.to, msg.len));
        return answer::CONTINUE;
    }
    let mut coming = held(&host.coming);
    let has = coming.get(&key).map_or(0, Vec::len) as u64;
    if part.from != has {
        host.violation(format!("a part that starts at {} came where {has} bytes had been taken", part.from));
        return answer::CONTINUE;
    }
    let refuses = || match *held(&host.taking) {
        Taking::EveryOther => host.offers.fetch_add(1, Ordering::Relaxed).is_multiple_of(2),
        Taking::All => false,
        Taking::None => true,
    };
    if has == 0 && refuses() {
        return answer::CONTINUE;
    }
    // SAFETY: valid during the callback.
    let there = unsafe { core::slice::from_raw_parts(msg.data, part.to as usize) };
    coming.entry(key).or_default().extend_from_slice(&there[part.from as usize..]);
    if part.to == msg.len
        && let Some(whole) = coming.remove(&key)
    {
        drop(coming);
        return answer::TAKEN | receive(ctx, &RecvDesc { data: whole.as_ptr(), ..*msg });
    }
    answer::TAKEN
}

impl oxmpi_testing::FakeHost for FakeHost {
    fn desk(&self) -> &Desk {
        &self.desk
    }
    /// A BTL never waits, and has no requests.
    fn unused(&self, what: &str) -> Status {
        self.violation(what.into());
        Status::NOT_SUPPORTED
    }
    /// A violation, unless the check has made the peer fail.
    fn failed(&self, proc: u32, status: Status, message: &str) {
        if !self.may_fail.load(Ordering::SeqCst) {
            self.violation(format!("reported process {proc} ({status}): {message}"));
        }
        held(&self.log).push((0, format!("process {proc} has failed ({status}): {message}")));
        self.desk.tell_failure(proc, status);
    }
    fn log(&self, level: i32, component: &str, message: &str) {
        held(&self.log).push((level, format!("{component}: {message}")));
    }
    fn last_words(&self) -> String {
        self.logged()
    }
    fn am_register(&self, tag: u8, entry: AmEntry) -> Status {
        self.violation(format!("took the receiver of tag {tag} away from the suite"));
        self.desk.set_row(tag, entry);
        Status::OK
    }
    fn am_register_parts(&self, tag: u8, _: AmParts) -> Status {
        self.violation(format!("took the receiver of parts of tag {tag} away from the suite"));
        Status::OK
    }
    fn progress_register(&self, function: &LayerFunction) -> Status {
        held(&self.progress).push((function.function, function.context as usize));
        Status::OK
    }
    fn progress_unregister(&self, f: ProgressFn, ctx: *mut c_void) -> Status {
        let mut list = held(&self.progress);
        let before = list.len();
        list.retain(|(g, c)| !(core::ptr::fn_addr_eq(*g, f) && *c == ctx as usize));
        if list.len() < before { Status::OK } else { Status::NOT_FOUND }
    }
    unsafe fn request_slot(&self, _: *mut RequestHeader) -> Status {
        self.unused("asked for a request slot: a BTL has no requests")
    }
}
