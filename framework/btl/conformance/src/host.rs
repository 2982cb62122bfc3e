//! The host as a component sees it, for one rank: real where a BTL uses it, and a witness everywhere.

use crate::message::step;
use crate::services::{Exchange, SERVICES};
use core::ffi::c_void;
use oxmpi_btl::{BtlHandle, SERVICE_CTX};
use oxmpi_mca::host::{ProgressFn, receive as answer};
use oxmpi_mca::services::PeerFailed;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use oxmpi_mca::{
    AmEntry, AmParts, Cri, Host, HostTable, JobInfo, LockServices, LockTable, PartDesc, RecvDesc,
    RequestHeader, SliceRef, Status, StrRef, ThreadCtx,
};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

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

/// What runs inside the receive callback, besides recording.
pub type Hook = Arc<dyn Fn(&Arrived) + Send + Sync>;

/// One row of the active-message table.
struct Row {
    host: *const FakeHost,
    tag: u8,
}

/// Who is inside `progress` of a context: the calling thread's mark, or 0; and whether a callback runs.
#[derive(Default)]
struct Turn {
    thread: AtomicU64,
    in_callback: AtomicU32,
}

pub struct FakeHost {
    pub table: HostTable,
    pub job: Box<JobInfo>,
    threaded: Box<AtomicU32>,
    pub cris: Vec<Cri>,
    am: Mutex<Vec<AmEntry>>,
    parts: Vec<Option<AmParts>>,
    /// What has been taken of messages that come in parts, by process and context; and how many were offered.
    coming: Mutex<HashMap<(u32, u32), Vec<u8>>>,
    offers: AtomicU64,
    rows: Vec<Row>,
    /// One per context, and one for the service context behind them.
    turns: Vec<Turn>,
    /// State of the module under test, to compare with what callbacks say.
    pub module_state: AtomicPtr<c_void>,
    inbox: Mutex<Vec<Arrived>>,
    arrived: AtomicU64,
    /// Failures of peers that the component reported, which a check may expect.
    pub(crate) failures: Mutex<Vec<(u32, Status)>>,
    pub(crate) may_fail: AtomicBool,
    pub(crate) failed_watchers: Mutex<Vec<(PeerFailed, usize)>>,
    hook: Mutex<Option<Hook>>,
    violations: Mutex<Vec<String>>,
    log: Mutex<Vec<(i32, String)>>,
    progress: Mutex<Vec<(ProgressFn, usize)>>,
    pub(crate) exchange: Arc<Exchange>,
}

// SAFETY: the raw pointers inside name heap memory of this very object (rows, job, table), which is
// boxed and never moves; everything that changes is atomic or behind a mutex. `am` is written by
// `am_register` only, which the contract allows before the first progress.
unsafe impl Send for FakeHost {}
// SAFETY: as above.
unsafe impl Sync for FakeHost {}

/// A mutex whose holder panicked still guards readable test data.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

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
    pub fn new(job: JobInfo, num_cris: u32, threaded: bool, exchange: Arc<Exchange>) -> Box<FakeHost> {
        let job = Box::new(job);
        let threaded = Box::new(AtomicU32::new(threaded as u32));
        let cris: Vec<Cri> = (0..num_cris).map(|_| Cri::new(LockServices::WITHOUT_OWNERS)).collect();
        let table = HostTable {
            size: size_of::<HostTable>() as u32,
            abi_minor: oxmpi_mca::ABI_MINOR as u32,
            instance: core::ptr::null_mut(),
            job: &*job,
            threaded: &*threaded,
            cris: cris.as_ptr(),
            num_cris,
            cri_modes: 0,
            am_table: core::ptr::null(),
            log,
            help,
            fatal,
            am_register,
            progress_register,
            progress_unregister,
            progress,
            sync_update,
            request_slot,
            wait,
            exchange_put,
            exchange_get,
            peer_error,
            am_parts: core::ptr::null(),
            am_register_parts,
            services: &SERVICES,
            locking: LockTable::without_calls(LockServices::WITHOUT_OWNERS),
        };
        let mut host = Box::new(FakeHost {
            table,
            job,
            threaded,
            turns: (0..=num_cris).map(|_| Turn::default()).collect(),
            cris,
            am: Mutex::new(Vec::new()),
            parts: vec![Some(receive_part as AmParts); 256],
            coming: Mutex::default(),
            offers: AtomicU64::new(0),
            rows: Vec::new(),
            module_state: AtomicPtr::new(core::ptr::null_mut()),
            inbox: Mutex::default(),
            arrived: AtomicU64::new(0),
            failures: Mutex::default(),
            may_fail: AtomicBool::new(false),
            failed_watchers: Mutex::default(),
            hook: Mutex::default(),
            violations: Mutex::default(),
            log: Mutex::default(),
            progress: Mutex::default(),
            exchange,
        });
        let this: *mut FakeHost = &mut *host;
        host.table.instance = this.cast();
        host.rows = (0..=u8::MAX).map(|tag| Row { host: this, tag }).collect();
        let am: Vec<AmEntry> = host
            .rows
            .iter()
            .map(|row| AmEntry { receive, ctx: (row as *const Row).cast_mut().cast() })
            .collect();
        host.table.am_table = am.as_ptr();
        host.am = Mutex::new(am);
        host.table.am_parts = host.parts.as_ptr();
        host
    }

    /// As a component sees it.
    pub fn view(&self) -> Host {
        // SAFETY: the table is this host's, which the suite keeps for longer.
        unsafe { Host::new(&self.table, "conformance") }
    }

    pub fn threaded(&self) -> bool {
        self.threaded.load(Ordering::Relaxed) != 0
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
            _ => self.turns[..self.cris.len()].get(ctx as usize),
        }
    }

    /// Runs a progress call of the service context; the caller holds its lock.
    pub fn serve(&self, btl: &BtlHandle) -> i32 {
        self.watched(self.turns.last().expect("one more than contexts"), || (btl.service_progress)(btl.state))
    }

    /// Runs a progress call of the module as the host does, watching what happens inside.
    pub fn turn(&self, btl: &BtlHandle, ctx: u32) -> i32 {
        let events = self.watched(&self.turns[ctx as usize], || (btl.progress)(btl.state, ctx));
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

    /// What came in since the last call, in order.
    pub fn take(&self) -> Vec<Arrived> {
        std::mem::take(&mut held(&self.inbox))
    }

    /// As if nothing had come in yet.
    pub fn forget(&self) {
        self.take();
        self.arrived.store(0, Ordering::Release);
    }

    pub fn violation(&self, what: String) {
        held(&self.violations).push(format!("rank {}: {what}", self.job.rank));
    }

    /// A peer is reported as failed: a violation, unless the check has made it fail.
    pub fn failed(&self, proc: u32, status: Status, message: &str) {
        held(&self.failures).push((proc, status));
        if !self.may_fail.load(Ordering::SeqCst) {
            self.violation(format!("reported process {proc} ({status}): {message}"));
        }
        // Outside of the lock: a subscriber may come or go meanwhile.
        let watchers = held(&self.failed_watchers).clone();
        for (f, ctx) in watchers {
            f(ctx as *mut c_void, proc, status);
        }
    }

    /// From here on peers may be reported as failed.
    pub fn let_peers_fail(&self) {
        self.may_fail.store(true, Ordering::SeqCst);
    }

    /// Failures that were reported.
    pub fn failures(&self) -> Vec<(u32, Status)> {
        held(&self.failures).clone()
    }

    pub fn violations(&self) -> Vec<String> {
        held(&self.violations).clone()
    }

    /// What the component logged, for messages.
    pub fn logged(&self) -> String {
        held(&self.log).iter().map(|(level, m)| format!("[{level}] {m}\n")).collect()
    }
}

/// The receive callback of every tag. Nothing here may panic: it runs under the component's frames.
extern "C" fn receive(ctx: *mut c_void, msg: *const RecvDesc) -> u32 {
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
    if msg.module != host.module_state.load(Ordering::Relaxed) {
        host.violation("a message named another module than the one that was driven".into());
    }
    if msg.proc >= host.job.job_size {
        host.violation(format!("a message came from process {}, which is none", msg.proc));
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

/// Takes every other message that is offered before all of it is there, and hands it to `receive` when it is.
extern "C" fn receive_part(ctx: *mut c_void, part: *const PartDesc) -> u32 {
    // SAFETY: as in `receive`.
    let (row, part) = unsafe { (&*ctx.cast::<Row>(), &*part) };
    // SAFETY: as above.
    let host = unsafe { &*row.host };
    let (msg, key) = (&part.message, (part.message.proc, part.message.ctx));
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
    if has == 0 && host.offers.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
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

pub(crate) fn host<'a>(instance: *mut c_void) -> &'a FakeHost {
    // SAFETY: the component passes the instance of the table it was given; the host outlives it.
    unsafe { &*instance.cast::<FakeHost>() }
}

pub(crate) fn text(s: StrRef) -> String {
    // SAFETY: borrowed for the call.
    unsafe { s.get() }.unwrap_or("<not UTF-8>").to_owned()
}

extern "C" fn log(instance: *mut c_void, level: i32, component: StrRef, message: StrRef) {
    held(&host(instance).log).push((level, format!("{}: {}", text(component), text(message))));
}

extern "C" fn help(instance: *mut c_void, component: StrRef, topic: StrRef, args: SliceRef<StrRef>) {
    // SAFETY: borrowed for the call.
    let args: Vec<String> = unsafe { args.get() }.iter().map(|a| text(*a)).collect();
    held(&host(instance).log)
        .push((0, format!("{}: help [{}] {}", text(component), text(topic), args.join(", "))));
}

extern "C" fn fatal(instance: *mut c_void, component: StrRef, message: StrRef) -> ! {
    eprintln!(
        "rank {}: fatal error of {}: {}\n{}",
        host(instance).job.rank,
        text(component),
        text(message),
        host(instance).logged()
    );
    std::process::abort()
}

extern "C" fn am_register(instance: *mut c_void, tag: u8, entry: AmEntry) -> Status {
    let host = host(instance);
    host.violation(format!("took the receiver of tag {tag} away from the suite"));
    let mut table = held(&host.am);
    table[tag as usize] = entry;
    Status::OK
}

extern "C" fn am_register_parts(instance: *mut c_void, tag: u8, _: AmParts) -> Status {
    host(instance).violation(format!("took the receiver of parts of tag {tag} away from the suite"));
    Status::OK
}

extern "C" fn progress_register(
    instance: *mut c_void,
    f: ProgressFn,
    ctx: *mut c_void,
    _high: u32,
) -> Status {
    held(&host(instance).progress).push((f, ctx as usize));
    Status::OK
}

extern "C" fn progress_unregister(instance: *mut c_void, f: ProgressFn, ctx: *mut c_void) -> Status {
    let mut list = held(&host(instance).progress);
    let before = list.len();
    list.retain(|(g, c)| !(core::ptr::fn_addr_eq(*g, f) && *c == ctx as usize));
    if list.len() < before { Status::OK } else { Status::NOT_FOUND }
}

extern "C" fn progress(instance: *mut c_void, _thread: *mut ThreadCtx) -> i32 {
    host(instance).violation("called the host's progress: a BTL never waits".into());
    0
}

extern "C" fn sync_update(instance: *mut c_void, _sync: usize) {
    host(instance).violation("completed a request: a BTL has none".into());
}

extern "C" fn request_slot(instance: *mut c_void, _req: *mut RequestHeader) -> Status {
    host(instance).violation("asked for a request slot: a BTL has no requests".into());
    Status::NOT_SUPPORTED
}

extern "C" fn wait(instance: *mut c_void, _thread: *mut ThreadCtx, _req: *mut RequestHeader) -> Status {
    host(instance).violation("waited for a request: a BTL never waits".into());
    Status::NOT_SUPPORTED
}

extern "C" fn exchange_put(instance: *mut c_void, component: StrRef, data: SliceRef<u8>) -> Status {
    let host = host(instance);
    // SAFETY: borrowed for the call.
    host.exchange.put(&text(component), host.job.rank, unsafe { data.get() });
    Status::OK
}

extern "C" fn exchange_get(
    instance: *mut c_void,
    component: StrRef,
    proc: u32,
    data: *mut u8,
    len: *mut usize,
) -> Status {
    // SAFETY: the caller's capacity and buffer.
    unsafe { host(instance).exchange.get(&text(component), proc, data, len) }
}

extern "C" fn peer_error(instance: *mut c_void, _component: StrRef, proc: u32, fatal: u32, message: StrRef) {
    let status = if fatal != 0 { Status::PEER_FAILED } else { Status::OK };
    host(instance).failed(proc, status, &text(message));
}
