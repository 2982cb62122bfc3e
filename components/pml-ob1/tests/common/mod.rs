//! A host and a transport for tests: several processes of a job in one thread (or a few), each with its
//! own instance of pml-ob1, opened through its descriptor and driven through its table.
//!
//! The transport keeps messages in queues of bounded length, so back-pressure is real; its `get` can be
//! told to work, to finish later, or to refuse; and tests may put any bytes into a queue.

#![allow(dead_code, reason = "each test binary uses its part of the harness")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use oxmpi_btl::{BtlAttrs, BtlHandle, ProcInfo, RegHandle, RmaDesc, SendDesc, WaitWord, cap};
use oxmpi_datatype::{Base, Run, TypeDesc, flag};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::host::{Cri, HostTable};
use oxmpi_mca::{
    AmEntry, Descriptor, JobInfo, MemKind, MsgStatus, OpenArgs, ParamKind, ParamValue, RecvDesc, RequestHeader,
    SliceRef, Status, StrRef, ThreadCtx,
};
use oxmpi_pml::{CommDesc, PmlModule, RecvArgs, SendArgs};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the transport's `get` does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Get {
    Works,
    /// Answers PENDING and calls `done` from progress.
    Later,
    Refused,
    /// Answers PENDING, then says that it was refused.
    RefusedLater,
    /// Answers NO_RESOURCE every other time.
    Busy,
    /// The first piece works, the second is refused.
    RefusedSecond,
}

/// How a world is made.
#[derive(Clone, Copy)]
pub struct Setup {
    pub procs: u32,
    /// Messages a queue of the transport holds.
    pub room: usize,
    pub eager: u64,
    pub max_send: u64,
    pub min_get: u64,
    pub get_limit: u64,
    pub get: Get,
    pub offers_get: bool,
    pub credit: i64,
    pub threaded: bool,
    pub sleeps: bool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            procs: 2,
            room: 1 << 20,
            eager: 4096,
            max_send: 8192,
            min_get: u64::MAX,
            get_limit: 0,
            get: Get::Works,
            offers_get: true,
            credit: 4 << 20,
            threaded: false,
            sleeps: true,
        }
    }
}

type Done = (extern "C" fn(*mut c_void, Status), usize, Status);

#[derive(Default)]
struct Queues {
    /// `[to][from]`
    messages: Vec<Vec<VecDeque<Vec<u8>>>>,
    spare: Vec<Vec<u8>>,
    done: Vec<Vec<Done>>,
    gets: u64,
    sent: u64,
}

/// What all processes share.
pub struct Net {
    setup: Setup,
    get: Mutex<Get>,
    room: AtomicU32,
    queues: Mutex<Queues>,
    cards: Mutex<HashMap<u32, Vec<u8>>>,
}

/// One process: its host table and what the host was told.
pub struct Proc {
    rank: u32,
    job: Box<JobInfo>,
    pub threaded: Box<AtomicU32>,
    cris: Box<[Cri; 1]>,
    am: Mutex<Box<[AmEntry; 256]>>,
    table: Option<Box<HostTable>>,
    btl: Option<Box<BtlHandle>>,
    net: *const Net,
    pub pml: Option<PmlModule>,
    pub errors: Mutex<Vec<(u32, String)>>,
    pub logs: Mutex<Vec<(i32, String)>>,
    pub helps: Mutex<Vec<String>>,
    pub armed: AtomicU32,
    pub slots: AtomicU32,
    pub synced: AtomicU32,
    pub thread: ThreadCtx,
}

fn proc_of<'a>(p: *mut c_void) -> &'a Proc {
    // SAFETY: the harness passes processes of a world that lives.
    unsafe { &*p.cast::<Proc>() }
}
impl Proc {
    fn net(&self) -> &Net {
        // SAFETY: the net lives as long as the world.
        unsafe { &*self.net }
    }
}

fn text(s: StrRef) -> String {
    // SAFETY: valid for the call.
    unsafe { s.get() }.unwrap_or("<not UTF-8>").to_string()
}

extern "C" fn log(i: *mut c_void, level: i32, _c: StrRef, m: StrRef) {
    proc_of(i).logs.lock().unwrap().push((level, text(m)));
}
extern "C" fn help(i: *mut c_void, _c: StrRef, topic: StrRef, args: SliceRef<StrRef>) {
    // SAFETY: valid for the call.
    let args: Vec<String> = unsafe { args.get() }.iter().map(|a| text(*a)).collect();
    proc_of(i).helps.lock().unwrap().push(format!("{} {}", text(topic), args.join(" | ")));
}
extern "C" fn fatal(_: *mut c_void, _c: StrRef, m: StrRef) -> ! {
    eprintln!("fatal: {}", text(m));
    std::process::abort()
}
extern "C" fn am_register(i: *mut c_void, tag: u8, entry: AmEntry) -> Status {
    proc_of(i).am.lock().unwrap()[tag as usize] = entry;
    Status::OK
}
extern "C" fn progress_register(
    _: *mut c_void,
    _: oxmpi_mca::host::ProgressFn,
    _: *mut c_void,
    _: u32,
) -> Status {
    Status::OK
}
extern "C" fn progress_unregister(_: *mut c_void, _: oxmpi_mca::host::ProgressFn, _: *mut c_void) -> Status {
    Status::OK
}
extern "C" fn host_progress(_: *mut c_void, _: *mut ThreadCtx) -> i32 {
    0
}
extern "C" fn sync_update(i: *mut c_void, _: usize) {
    proc_of(i).synced.fetch_add(1, Ordering::SeqCst);
}
extern "C" fn request_slot(i: *mut c_void, req: *mut RequestHeader) -> Status {
    // SAFETY: a live header.
    unsafe { (*req).slot = proc_of(i).slots.fetch_add(1, Ordering::SeqCst) };
    Status::OK
}
extern "C" fn host_wait(_: *mut c_void, _: *mut ThreadCtx, _: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn exchange_put(i: *mut c_void, _c: StrRef, data: SliceRef<u8>) -> Status {
    let p = proc_of(i);
    // SAFETY: valid for the call.
    p.net().cards.lock().unwrap().insert(p.rank, unsafe { data.get() }.to_vec());
    Status::OK
}
extern "C" fn exchange_get(i: *mut c_void, _c: StrRef, proc: u32, data: *mut u8, len: *mut usize) -> Status {
    match proc_of(i).net().cards.lock().unwrap().get(&proc) {
        None => Status::NOT_FOUND,
        Some(card) => {
            // SAFETY: the caller's buffer and length; cards are short.
            unsafe {
                core::ptr::copy_nonoverlapping(card.as_ptr(), data, card.len());
                *len = card.len();
            }
            Status::OK
        }
    }
}
extern "C" fn peer_error(i: *mut c_void, _c: StrRef, proc: u32, _fatal: u32, m: StrRef) {
    proc_of(i).errors.lock().unwrap().push((proc, text(m)));
}

// --- the transport; its state is the process ---

extern "C" fn t_send(s: *mut c_void, ep: *mut c_void, _ctx: u32, d: *const SendDesc) -> Status {
    let me = proc_of(s);
    let net = me.net();
    let to = ep as usize - 1;
    // SAFETY: the descriptor is valid for the call.
    let d = unsafe { &*d };
    let mut guard = net.queues.lock().unwrap();
    let q = &mut *guard;
    if q.messages[to][me.rank as usize].len() >= net.room.load(Ordering::Relaxed) as usize {
        return Status::NO_RESOURCE;
    }
    let total = d.hdr_len as usize + d.len as usize;
    assert!(total as u64 <= net.setup.max_send, "message of {total} bytes is larger than the transport takes");
    let mut bytes = q.spare.pop().unwrap_or_default();
    bytes.clear();
    bytes.resize(total, 0xEE);
    // SAFETY: as above.
    unsafe {
        core::ptr::copy_nonoverlapping(d.hdr, bytes.as_mut_ptr(), d.hdr_len as usize);
        let dst = bytes.as_mut_ptr().add(d.hdr_len as usize);
        match d.pack {
            Some(pack) => {
                // In two parts: a packer must be resumable.
                let half = d.len / 2;
                pack(d.pack_ctx, 0, dst, half);
                pack(d.pack_ctx, half, dst.add(half as usize), d.len - half);
            }
            None if d.len > 0 => core::ptr::copy_nonoverlapping(d.payload, dst, d.len as usize),
            None => {}
        }
    }
    q.messages[to][me.rank as usize].push_back(bytes);
    q.sent += 1;
    Status::OK
}
extern "C" fn t_progress(s: *mut c_void, ctx: u32) -> i32 {
    let me = proc_of(s);
    let net = me.net();
    let mut events = 0;
    loop {
        let done = net.queues.lock().unwrap().done[me.rank as usize].pop();
        let Some((f, ctx, status)) = done else { break };
        f(ctx as *mut c_void, status);
        events += 1;
    }
    for from in 0..net.setup.procs as usize {
        // A batch per source, so that sources mix.
        for _ in 0..16 {
            let next = net.queues.lock().unwrap().messages[me.rank as usize][from].pop_front();
            let Some(bytes) = next else { break };
            let desc = RecvDesc {
                data: bytes.as_ptr(),
                len: bytes.len() as u64,
                proc: from as u32,
                ctx,
                module: s,
            };
            let entry = me.am.lock().unwrap()[oxmpi_mca::host::am_tag::PML as usize];
            (entry.receive)(entry.ctx, &desc);
            net.queues.lock().unwrap().spare.push(bytes);
            events += 1;
        }
    }
    events
}
extern "C" fn t_get(s: *mut c_void, _ep: *mut c_void, _ctx: u32, d: *const RmaDesc) -> Status {
    let me = proc_of(s);
    let net = me.net();
    // SAFETY: the descriptor is valid for the call.
    let d = unsafe { &*d };
    let mut q = net.queues.lock().unwrap();
    q.gets += 1;
    let copy = || {
        // SAFETY: both sides are in this process and large enough, or the test is wrong.
        unsafe { core::ptr::copy_nonoverlapping(d.remote as *const u8, d.local, d.len as usize) }
    };
    assert!(net.setup.get_limit == 0 || d.len <= net.setup.get_limit);
    let mode = *net.get.lock().unwrap();
    let mut later = |status| {
        q.done[me.rank as usize].push((d.done.expect("a done callback"), d.done_ctx as usize, status));
        Status::PENDING
    };
    match mode {
        Get::Works => {
            copy();
            Status::OK
        }
        Get::Later => {
            copy();
            later(Status::OK)
        }
        Get::Refused => Status::NO_PERMISSION,
        Get::RefusedLater => later(Status::NO_PERMISSION),
        Get::Busy if q.gets % 2 == 1 => Status::NO_RESOURCE,
        Get::RefusedSecond if q.gets % 2 == 0 => Status::NOT_SUPPORTED,
        Get::Busy | Get::RefusedSecond => {
            copy();
            Status::OK
        }
    }
}
extern "C" fn t_put(_: *mut c_void, _: *mut c_void, _: u32, _: *const RmaDesc) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn t_flush(_: *mut c_void, _: *mut c_void, _: u32) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn t_atomic(_: *mut c_void, _: *mut c_void, _: u32, _: *const oxmpi_btl::AtomicDesc) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn t_register(_: *mut c_void, _: *mut u8, _: u64, _: u32, _: MemKind, _: *mut RegHandle) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn t_deregister(_: *mut c_void, _: *const RegHandle) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn t_arm(s: *mut c_void, _: u32, word: *mut WaitWord) -> Status {
    let me = proc_of(s);
    me.armed.fetch_add(1, Ordering::SeqCst);
    let waiting = me.net().queues.lock().unwrap().messages[me.rank as usize].iter().any(|q| !q.is_empty());
    if waiting {
        return Status::PENDING;
    }
    // SAFETY: the caller's out pointer; the address is not slept on here.
    unsafe { *word = WaitWord { addr: me.threaded.as_ptr(), expected: 7, reserved: 0 } };
    Status::OK
}
extern "C" fn t_disarm(s: *mut c_void, _: u32) {
    proc_of(s).armed.fetch_sub(1, Ordering::SeqCst);
}
extern "C" fn t_add_procs(s: *mut c_void, procs: SliceRef<ProcInfo>, out: *mut *mut c_void) -> Status {
    // SAFETY: as many endpoints as processes.
    for (i, p) in unsafe { procs.get() }.iter().enumerate() {
        let me = proc_of(s);
        assert_eq!((p.node, p.local_rank, p.local), (0, p.proc, 1));
        let reached = p.proc < me.net().setup.procs;
        // SAFETY: as above.
        unsafe { *out.add(i) = if reached { (p.proc as usize + 1) as *mut c_void } else { null_mut() } };
    }
    Status::OK
}
extern "C" fn t_del_procs(_: *mut c_void, _: SliceRef<*mut c_void>) -> Status {
    Status::OK
}
extern "C" fn t_finalize(_: *mut c_void) -> Status {
    Status::OK
}

extern "C" fn am_nobody(_: *mut c_void, _: *const RecvDesc) {
    panic!("a message for nobody");
}

impl Proc {
    fn new(rank: u32, net: *const Net, setup: &Setup) -> Box<Proc> {
        let nobody = AmEntry { receive: am_nobody, ctx: null_mut() };
        Box::new(Proc {
            rank,
            job: Box::new(JobInfo {
                size: setup.procs,
                rank,
                // One more than there are: the last one cannot be reached.
                job_size: setup.procs + 1,
                node: 0,
                local_rank: rank,
                local_size: setup.procs,
                job_id: 1,
                segment_fd: -1,
                oversubscribed: 0,
                cores: 1,
                keeper_pid: 0,
            }),
            threaded: Box::new(AtomicU32::new(setup.threaded as u32)),
            cris: Box::new([Cri::default()]),
            am: Mutex::new(Box::new([nobody; 256])),
            table: None,
            btl: None,
            net,
            pml: None,
            errors: Mutex::default(),
            logs: Mutex::default(),
            helps: Mutex::default(),
            armed: AtomicU32::new(0),
            slots: AtomicU32::new(0),
            synced: AtomicU32::new(0),
            thread: ThreadCtx { cri: 0, index: 0, counters: null_mut(), host_private: null_mut() },
        })
    }

    fn host_table(&self) -> HostTable {
        HostTable {
            size: size_of::<HostTable>() as u32,
            abi_minor: 0,
            instance: self as *const Proc as *mut c_void,
            job: &*self.job,
            threaded: &*self.threaded,
            cris: self.cris.as_ptr(),
            num_cris: 1,
            reserved: 0,
            am_table: self.am.lock().unwrap().as_ptr(),
            log,
            help,
            fatal,
            am_register,
            progress_register,
            progress_unregister,
            progress: host_progress,
            sync_update,
            request_slot,
            wait: host_wait,
            exchange_put,
            exchange_get,
            peer_error,
        }
    }

    fn transport(&self, setup: &Setup) -> BtlHandle {
        let mut attrs = BtlAttrs::new();
        attrs.eager_limit = setup.eager;
        attrs.rndv_eager_limit = setup.eager;
        attrs.max_send_size = setup.max_send;
        attrs.min_get_size = setup.min_get;
        attrs.get_limit = setup.get_limit;
        BtlHandle {
            size: size_of::<BtlHandle>() as u32,
            caps: if setup.offers_get { cap::GET } else { 0 } | if setup.sleeps { cap::SLEEP } else { 0 },
            state: self as *const Proc as *mut c_void,
            send: t_send,
            progress: t_progress,
            get: t_get,
            put: t_put,
            flush: t_flush,
            atomic: t_atomic,
            register_mem: t_register,
            deregister_mem: t_deregister,
            arm: t_arm,
            disarm: t_disarm,
            add_procs: t_add_procs,
            del_procs: t_del_procs,
            finalize: t_finalize,
            attrs,
            name: StrRef::new("fake"),
        }
    }

    /// Opens the component as a host does and gives it its transport.
    fn open(&mut self, setup: &Setup) {
        self.table = Some(Box::new(self.host_table()));
        self.btl = Some(Box::new(self.transport(setup)));
        // SAFETY: the descriptor is a static of the component.
        let descriptor: &Descriptor = unsafe { &*pml_ob1::descriptor() };
        let values: &'static [ParamValue] = param_values(descriptor, setup).leak();
        let args = OpenArgs {
            size: size_of::<OpenArgs>() as u32,
            reserved: 0,
            host: &**self.table.as_ref().unwrap(),
            values: SliceRef { ptr: values.as_ptr(), len: values.len() },
        };
        let mut opened = Opened {
            size: size_of::<Opened>() as u32,
            priority: 0,
            modules: null(),
            count: 0,
            stride: 0,
        };
        assert_eq!((descriptor.open)(&args, &mut opened), Status::OK);
        assert_eq!((opened.count, opened.priority), (1, 20));
        // SAFETY: one module stands there.
        let pml = unsafe { *opened.modules.cast::<PmlModule>() };
        self.pml = Some(pml);
        let btl: *const BtlHandle = &**self.btl.as_ref().unwrap();
        // SAFETY: the module's table lives for ever.
        let table = unsafe { &*pml.table };
        assert_eq!((table.enable)(pml.state, SliceRef { ptr: &btl, len: 1 }), Status::OK);
    }
}

/// Defaults, with what the setup says on top.
fn param_values(descriptor: &Descriptor, setup: &Setup) -> Vec<ParamValue> {
    // SAFETY: statics of the component.
    let decls = unsafe { descriptor.params.get() };
    decls
        .iter()
        .map(|d| {
            let int = match (text(d.name).as_str(), d.kind) {
                ("eager_credit", _) => setup.credit,
                (_, ParamKind::ENUM) => 0,
                _ => text(d.default).parse().expect("a number"),
            };
            ParamValue { kind: d.kind, reserved: 0, int, double: 0.0, text: d.default }
        })
        .collect()
}

/// A communicator of one rank.
#[derive(Clone, Copy)]
pub struct Comm {
    pub proc: usize,
    pub ptr: *mut c_void,
}

/// A request of one process.
#[derive(Clone, Copy, Debug)]
pub struct Req {
    pub proc: usize,
    pub ptr: *mut RequestHeader,
}

/// A job.
pub struct World {
    pub procs: Vec<Box<Proc>>,
    pub net: Box<Net>,
}

impl World {
    pub fn new(setup: Setup) -> World {
        let n = setup.procs as usize;
        let queues = Queues {
            messages: (0..n).map(|_| (0..n).map(|_| VecDeque::new()).collect()).collect(),
            done: (0..n).map(|_| Vec::new()).collect(),
            ..Queues::default()
        };
        let net = Box::new(Net {
            setup,
            get: Mutex::new(setup.get),
            room: AtomicU32::new(setup.room as u32),
            queues: Mutex::new(queues),
            cards: Mutex::default(),
        });
        let mut procs: Vec<Box<Proc>> = (0..setup.procs).map(|r| Proc::new(r, &*net, &setup)).collect();
        for p in &mut procs {
            p.open(&setup);
        }
        World { procs, net }
    }

    pub fn set_get(&self, get: Get) {
        *self.net.get.lock().unwrap() = get;
    }
    pub fn set_room(&self, room: u32) {
        self.net.room.store(room, Ordering::Relaxed);
    }
    pub fn gets(&self) -> u64 {
        self.net.queues.lock().unwrap().gets
    }
    pub fn sent(&self) -> u64 {
        self.net.queues.lock().unwrap().sent
    }
    pub fn inject(&self, from: usize, to: usize, bytes: &[u8]) {
        self.net.queues.lock().unwrap().messages[to][from].push_back(bytes.to_vec());
    }
    pub fn set_card(&self, proc: u32, card: Option<Vec<u8>>) {
        let mut cards = self.net.cards.lock().unwrap();
        match card {
            Some(c) => drop(cards.insert(proc, c)),
            None => drop(cards.remove(&proc)),
        }
    }
    pub fn card(&self, proc: u32) -> Vec<u8> {
        self.net.cards.lock().unwrap()[&proc].clone()
    }
    /// Messages on their way to a process.
    pub fn in_flight(&self, to: usize) -> usize {
        self.net.queues.lock().unwrap().messages[to].iter().map(|q| q.len()).sum()
    }

    pub fn table(&self, proc: usize) -> (&'static oxmpi_pml::PmlTable, *mut c_void) {
        let pml = self.procs[proc].pml.unwrap();
        // SAFETY: tables live for ever.
        (unsafe { &*pml.table }, pml.state)
    }
    fn thread(&self, proc: usize) -> *mut ThreadCtx {
        &self.procs[proc].thread as *const ThreadCtx as *mut ThreadCtx
    }

    pub fn add_comm(&self, proc: usize, spec: &CommSpec<'_>) -> Comm {
        let procs: &'static [u32] = spec.procs.to_vec().leak();
        let endpoints: &'static [u16] = spec.endpoints.to_vec().leak();
        let desc = CommDesc {
            size: procs.len() as u32,
            flags: 0,
            gid: spec.gid,
            my_rank: spec.my_rank,
            num_peers: procs.len() as u32,
            procs: procs.as_ptr(),
            endpoints: if endpoints.is_empty() { null() } else { endpoints.as_ptr() },
            my_endpoint: spec.my_endpoint,
            has_fixed_index: spec.fixed.is_some() as u16,
            fixed_index: spec.fixed.unwrap_or(0),
            matching: StrRef::EMPTY,
        };
        let (t, s) = self.table(proc);
        let mut ptr = null_mut();
        assert_eq!((t.add_comm)(s, &desc, &mut ptr), Status::OK);
        Comm { proc, ptr }
    }

    /// World of all processes, index 0, on each of them.
    pub fn world(&self) -> Vec<Comm> {
        let procs: Vec<u32> = (0..self.procs.len() as u32).collect();
        let spec = |r| CommSpec { gid: [1, 1], procs: &procs, my_rank: r, fixed: Some(0), ..CommSpec::default() };
        (0..self.procs.len()).map(|p| self.add_comm(p, &spec(p as i32))).collect()
    }

    pub fn del_comm(&self, c: Comm) {
        let (t, s) = self.table(c.proc);
        assert_eq!((t.del_comm)(s, c.ptr), Status::OK);
    }

    pub fn progress(&self) -> i32 {
        (0..self.procs.len()).map(|p| self.progress_one(p)).sum()
    }
    pub fn progress_one(&self, proc: usize) -> i32 {
        let (t, s) = self.table(proc);
        (t.progress)(s, self.thread(proc))
    }
    /// Until nothing moves.
    pub fn settle(&self) {
        let mut quiet = 0;
        while quiet < 3 {
            quiet = if self.progress() == 0 { quiet + 1 } else { 0 };
        }
    }

    pub fn send_args(&self, c: Comm, buf: &[u8], ty: &TypeDesc, count: u64, dst: i32, tag: i32, mode: u32) -> SendArgs {
        SendArgs {
            comm: c.ptr,
            thread: self.thread(c.proc),
            buf: buf.as_ptr(),
            count,
            dtype: ty,
            dst,
            tag,
            mode,
            reserved: 0,
            host_comm: null_mut(),
        }
    }
    pub fn recv_args(&self, c: Comm, buf: &mut [u8], ty: &TypeDesc, count: u64, src: i32, tag: i32) -> RecvArgs {
        RecvArgs {
            comm: c.ptr,
            thread: self.thread(c.proc),
            buf: buf.as_mut_ptr(),
            count,
            dtype: ty,
            src,
            tag,
            host_comm: null_mut(),
        }
    }

    /// Blocking form: `None` is done.
    pub fn send(&self, c: Comm, buf: &[u8], dst: i32, tag: i32, mode: u32) -> Result<Option<Req>, Status> {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let args = self.send_args(c, buf, byte(), buf.len() as u64, dst, tag, mode);
        outcome(c.proc, (t.send)(s, &args, &mut out), out)
    }
    pub fn isend(&self, c: Comm, buf: &[u8], dst: i32, tag: i32, mode: u32) -> Req {
        self.isend_typed(c, buf, byte(), buf.len() as u64, dst, tag, mode)
    }
    pub fn isend_typed(&self, c: Comm, buf: &[u8], ty: &TypeDesc, n: u64, dst: i32, tag: i32, mode: u32) -> Req {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let args = self.send_args(c, buf, ty, n, dst, tag, mode);
        outcome(c.proc, (t.isend)(s, &args, &mut out), out).unwrap().expect("isend gives a request")
    }
    pub fn recv(&self, c: Comm, buf: &mut [u8], src: i32, tag: i32) -> Result<MsgStatus, Req> {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let mut status = MsgStatus::EMPTY;
        let n = buf.len() as u64;
        let args = self.recv_args(c, buf, byte(), n, src, tag);
        match outcome(c.proc, (t.recv)(s, &args, &mut status, &mut out), out).unwrap() {
            None => Ok(status),
            Some(req) => Err(req),
        }
    }
    pub fn irecv(&self, c: Comm, buf: &mut [u8], src: i32, tag: i32) -> Req {
        let n = buf.len() as u64;
        self.irecv_typed(c, buf, byte(), n, src, tag)
    }
    pub fn irecv_typed(&self, c: Comm, buf: &mut [u8], ty: &TypeDesc, n: u64, src: i32, tag: i32) -> Req {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let args = self.recv_args(c, buf, ty, n, src, tag);
        outcome(c.proc, (t.irecv)(s, &args, &mut out), out).unwrap().expect("irecv gives a request")
    }
    pub fn probe(&self, c: Comm, src: i32, tag: i32) -> Option<MsgStatus> {
        let (t, s) = self.table(c.proc);
        let mut status = MsgStatus::EMPTY;
        let args = self.recv_args(c, &mut [], byte(), 0, src, tag);
        ((t.probe)(s, &args, &mut status, null_mut()) == Status::OK).then_some(status)
    }
    pub fn improbe(&self, c: Comm, src: i32, tag: i32) -> Option<(MsgStatus, *mut c_void)> {
        let (t, s) = self.table(c.proc);
        let mut status = MsgStatus::EMPTY;
        let mut message = null_mut();
        let args = self.recv_args(c, &mut [], byte(), 0, src, tag);
        ((t.probe)(s, &args, &mut status, &mut message) == Status::OK).then_some((status, message))
    }
    pub fn imrecv(&self, c: Comm, message: *mut c_void, buf: &mut [u8]) -> Req {
        let (t, s) = self.table(c.proc);
        let mut out = null_mut();
        let n = buf.len() as u64;
        let args = self.recv_args(c, buf, byte(), n, 0, 0);
        outcome(c.proc, (t.imrecv)(s, message, &args, &mut out), out).unwrap().expect("a request")
    }

    /// Waits, releases, and gives the status.
    pub fn wait(&self, req: Req) -> MsgStatus {
        for _ in 0..200_000 {
            if req.is_complete() {
                let status = req.status();
                req.release();
                return status;
            }
            self.progress();
        }
        panic!("stuck: a request of process {} does not complete", req.proc);
    }

    /// What the processes complained about.
    pub fn errors(&self, proc: usize) -> Vec<(u32, String)> {
        self.procs[proc].errors.lock().unwrap().clone()
    }
    pub fn assert_clean(&self) {
        for p in 0..self.procs.len() {
            assert_eq!(self.errors(p), vec![]);
            assert_eq!(self.procs[p].armed.load(Ordering::SeqCst), 0);
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for p in 0..self.procs.len() {
            let (t, s) = self.table(p);
            assert_eq!((t.finalize)(s), Status::OK);
        }
    }
}

fn outcome(proc: usize, status: Status, out: *mut RequestHeader) -> Result<Option<Req>, Status> {
    match status {
        Status::OK => Ok(None),
        Status::PENDING => {
            assert!(!out.is_null());
            Ok(Some(Req { proc, ptr: out }))
        }
        error => Err(error),
    }
}

impl Req {
    fn header(&self) -> &RequestHeader {
        // SAFETY: headers live for ever.
        unsafe { &*self.ptr }
    }
    pub fn is_complete(&self) -> bool {
        self.header().completion.is_complete()
    }
    pub fn status(&self) -> MsgStatus {
        self.header().status
    }
    pub fn release(&self) {
        // SAFETY: operations live for ever.
        (unsafe { &*self.header().ops }.release)(self.ptr)
    }
    pub fn cancel(&self) -> Status {
        // SAFETY: as above.
        (unsafe { &*self.header().ops }.cancel)(self.ptr)
    }
    pub fn start(&self) -> Status {
        // SAFETY: as above.
        (unsafe { &*self.header().ops }.start)(self.ptr)
    }
}

/// How a communicator looks to one rank.
pub struct CommSpec<'a> {
    pub gid: [u64; 2],
    pub procs: &'a [u32],
    pub endpoints: &'a [u16],
    pub my_rank: i32,
    pub my_endpoint: u16,
    pub fixed: Option<u32>,
}

impl Default for CommSpec<'_> {
    fn default() -> Self {
        CommSpec { gid: [7, 7], procs: &[0, 1], endpoints: &[], my_rank: 0, my_endpoint: 0, fixed: None }
    }
}

fn type_desc(flags: u32, packed: u64, extent: i64, true_extent: i64, runs: Vec<Run>) -> &'static TypeDesc {
    let runs: &'static [Run] = runs.leak();
    Box::leak(Box::new(TypeDesc {
        size: size_of::<TypeDesc>() as u32,
        flags: flags | flag::COMMITTED | flag::PREDEFINED,
        packed,
        lb: 0,
        extent,
        true_lb: 0,
        true_extent,
        base: Base::BYTE,
        refs: AtomicU32::new(1),
        elements: packed,
        runs: SliceRef::new(runs),
        free: None,
    }))
}

/// MPI_BYTE.
pub fn byte() -> &'static TypeDesc {
    static BYTE: std::sync::OnceLock<&'static TypeDesc> = std::sync::OnceLock::new();
    BYTE.get_or_init(|| type_desc(flag::CONTIGUOUS, 1, 1, 1, vec![Run { disp: 0, len: 1, count: 1, stride: 1 }]))
}

/// `count` blocks of `len` bytes, `stride` apart; one element after the other.
pub fn strided(len: u64, count: u64, stride: u64) -> &'static TypeDesc {
    let extent = ((count - 1) * stride + len) as i64;
    let run = Run { disp: 0, len, count, stride: stride as i64 };
    type_desc(0, len * count, extent, extent, vec![run])
}

/// Bytes that differ everywhere.
pub fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x as u8
        })
        .collect()
}
