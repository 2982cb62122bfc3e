//! Ranks over one memfd in this process, each with a host of its own that records what it is told.

#![allow(dead_code, reason = "each test binary uses a part")]

pub mod hostile;
pub mod memory;
pub mod services;

use core::ffi::c_void;
use oxmpi_btl::{
    BtlAttrs, BtlModule, BtlTable, Endpoint, FlushDesc, ProcInfo, ProcList, RmaDesc, RmaVectorDesc, SendDesc,
    WaitFd, WaitSet, WaitWord,
};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::host::ProgressFn;
use oxmpi_mca::host::receive as answer;
use oxmpi_mca::{
    AmEntry, AmParts, Cri, HostTable, JobInfo, LayerFunction, LockServices, LockTable, OpenArgs, ParamKind,
    ParamValue, PartDesc, RecvDesc, RequestHeader, SharedSegment, SliceRef, Status, StrRef, ThreadCtx,
};
use rustix::fd::{AsRawFd, OwnedFd, RawFd};
use rustix::fs::{MemfdFlags, memfd_create};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// A message as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub proc: u32,
    pub ctx: u32,
    pub tag: u8,
    pub bytes: Vec<u8>,
}

/// Reports that a component made to its host.
#[derive(Default, Debug)]
pub struct Reports {
    pub errors: Vec<String>,
    pub help: Vec<(String, Vec<String>)>,
    pub peer_errors: Vec<(u32, u32, String)>,
}

/// Called in the receive callback, after recording.
pub type Hook = Box<dyn Fn(&Arrived)>;

#[derive(Default)]
pub struct Record {
    pub arrived: RefCell<Vec<Arrived>>,
    pub count: Cell<usize>,
    pub keep: Cell<bool>,
    /// Messages are taken in parts, and what has been taken of one.
    pub takes_parts: Cell<bool>,
    pub part: RefCell<Vec<u8>>,
    /// Where the offers that were made ended.
    pub offers: RefCell<Vec<u64>>,
    pub hook: RefCell<Option<Hook>>,
    /// Answer of the receive callback: STOP, or 0.
    pub answer: Cell<u32>,
    pub reports: Mutex<Reports>,
    /// Segments of this node beside that of the job, by number.
    pub segments: Mutex<Vec<(u32, SharedSegment)>>,
}

unsafe extern "C" fn receive(ctx: *mut c_void, msg: *const RecvDesc) -> u32 {
    // SAFETY: `row` in `Rank::open` and the component's descriptor.
    let (row, msg) = unsafe { (&*(ctx as *const Row), &*msg) };
    // SAFETY: the record outlives the module.
    let record = unsafe { &*row.record };
    record.count.set(record.count.get() + 1);
    if record.keep.get() {
        // SAFETY: valid during the callback.
        let bytes = unsafe { std::slice::from_raw_parts(msg.data, msg.len as usize) }.to_vec();
        let arrived = Arrived { proc: msg.proc, ctx: msg.ctx, tag: row.tag, bytes };
        if let Some(hook) = &*record.hook.borrow() {
            hook(&arrived);
        }
        record.arrived.borrow_mut().push(arrived);
    }
    record.answer.take()
}

/// Takes what is offered, if it is to: all parts of a message together are one that arrived.
unsafe extern "C" fn receive_part(ctx: *mut c_void, desc: *const PartDesc) -> u32 {
    // SAFETY: `row` in `Rank::open` and the component's descriptor.
    let (row, desc) = unsafe { (&*(ctx as *const Row), &*desc) };
    // SAFETY: the record outlives the module.
    let record = unsafe { &*row.record };
    let msg = &desc.message;
    record.offers.borrow_mut().push(desc.to);
    assert!(desc.from < desc.to && desc.to <= msg.len);
    assert_eq!(desc.from, record.part.borrow().len() as u64, "parts follow each other");
    if !record.takes_parts.get() {
        assert_eq!(desc.from, 0, "nobody took what was before it");
        return answer::CONTINUE;
    }
    // SAFETY: valid during the callback.
    let there = unsafe { std::slice::from_raw_parts(msg.data, desc.to as usize) };
    record.part.borrow_mut().extend_from_slice(&there[desc.from as usize..]);
    if desc.to == msg.len {
        record.count.set(record.count.get() + 1);
        let bytes = record.part.take();
        record.arrived.borrow_mut().push(Arrived { proc: msg.proc, ctx: msg.ctx, tag: row.tag, bytes });
    }
    answer::TAKEN
}

struct Row {
    record: *const Record,
    tag: u8,
}

fn text(s: StrRef) -> String {
    // SAFETY: valid for the call.
    unsafe { s.get() }.unwrap_or("not UTF-8").to_string()
}

fn reports(instance: *mut c_void) -> std::sync::MutexGuard<'static, Reports> {
    // SAFETY: `instance` is the record, which outlives the module.
    unsafe { &*(instance as *const Record) }.reports.lock().expect("record")
}

extern "C" fn log(i: *mut c_void, level: i32, _: StrRef, message: StrRef) {
    if level == 0 {
        reports(i).errors.push(text(message));
    }
}
extern "C" fn help(i: *mut c_void, _: StrRef, topic: StrRef, args: SliceRef<StrRef>) {
    // SAFETY: valid for the call.
    let args = unsafe { args.get() }.iter().map(|&a| text(a)).collect();
    reports(i).help.push((text(topic), args));
}
extern "C" fn fatal(_: *mut c_void, _: StrRef, message: StrRef) -> ! {
    panic!("{}", text(message))
}
extern "C" fn am_register(_: *mut c_void, _: u8, _: AmEntry) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn am_register_parts(_: *mut c_void, _: u8, _: AmParts) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn progress_register(_: *mut c_void, _: *const LayerFunction) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn expect(_: *mut c_void, _: *mut ThreadCtx, _: u64) {}
extern "C" fn progress_unregister(_: *mut c_void, _: ProgressFn, _: *mut c_void) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn progress(_: *mut c_void, _: *mut ThreadCtx) -> i32 {
    0
}
extern "C" fn sync_update(_: *mut c_void, _: usize) {}
extern "C" fn request_slot(_: *mut c_void, _: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn wait(_: *mut c_void, _: *mut ThreadCtx, _: *mut RequestHeader) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn exchange_put(_: *mut c_void, _: StrRef, _: SliceRef<u8>) -> Status {
    Status::NOT_SUPPORTED
}
extern "C" fn exchange_get(_: *mut c_void, _: StrRef, _: u32, _: *mut u8, _: *mut usize) -> Status {
    Status::NOT_FOUND
}
extern "C" fn peer_error(i: *mut c_void, _: StrRef, proc: u32, fatal: u32, message: StrRef) {
    reports(i).peer_errors.push((proc, fatal, text(message)));
}

/// The values of the parameters, defaults with some replaced.
fn values(set: &[(&str, &str)]) -> Vec<ParamValue> {
    // SAFETY: statics of the component.
    let decls = unsafe { (*btl_shm::descriptor()).params.get() };
    for (name, _) in set {
        assert!(decls.iter().any(|d| text(d.name) == *name), "{name}");
    }
    decls
        .iter()
        .map(|d| {
            let name = text(d.name);
            let value = set.iter().find(|(n, _)| *n == name).map_or(text(d.default), |(_, v)| v.to_string());
            let int = match d.kind {
                ParamKind::ENUM => {
                    // SAFETY: statics of the component.
                    unsafe { d.enumerators.get() }.iter().position(|&e| text(e) == value).expect("name")
                        as i64
                }
                _ => {
                    let (digits, unit) = match value.strip_suffix('k') {
                        Some(digits) => (digits, 1024),
                        None => (value.as_str(), 1),
                    };
                    digits.parse::<i64>().expect("number") * unit
                }
            };
            ParamValue { kind: d.kind, reserved: 0, int, double: 0.0, text: StrRef::EMPTY }
        })
        .collect()
}

/// The shared memory of a node.
pub struct Node {
    pub fd: OwnedFd,
    pub ranks: u32,
    pub cris: u32,
    pub oversubscribed: bool,
}

/// Job rank of local rank `local`, different so that a mix-up shows.
pub fn job_rank(local: u32) -> u32 {
    local + 100
}

impl Node {
    pub fn new(ranks: u32) -> Node {
        // Inherited on purpose: some tests start processes.
        let fd = memfd_create("node", MemfdFlags::empty()).expect("memfd");
        Node { fd, ranks, cris: 1, oversubscribed: false }
    }

    pub fn open(&self, local: u32, set: &[(&str, &str)]) -> Rank {
        Rank::open(self.fd.as_raw_fd(), self, local, set)
            .unwrap_or_else(|(status, record)| panic!("{status}: {:?}", record.reports.lock()))
    }

    pub fn all(&self, set: &[(&str, &str)]) -> Vec<Rank> {
        (0..self.ranks).map(|r| self.open(r, set)).collect()
    }
}

/// Objects that the component holds pointers into.
type Host = (HostTable, JobInfo, AtomicU32, Vec<Cri>, Vec<AmEntry>, Vec<Row>, Vec<Option<AmParts>>);

/// One rank: its module and its host.
pub struct Rank {
    pub local: u32,
    pub module: BtlModule,
    pub table: BtlTable,
    pub record: Rc<Record>,
    closed: Cell<bool>,
    host: Box<Host>,
}

// SAFETY: tests that move ranks between threads use each from one thread at a time.
unsafe impl Send for Rank {}

/// An endpoint with the table it belongs to.
#[derive(Clone, Copy)]
pub struct PeerEndpoint(pub *mut Endpoint);
// SAFETY: an endpoint is for any thread (contract of `add_procs`).
unsafe impl Send for PeerEndpoint {}

impl Rank {
    pub fn open(
        fd: RawFd,
        node: &Node,
        local: u32,
        set: &[(&str, &str)],
    ) -> Result<Rank, (Status, Rc<Record>)> {
        let record = Rc::new(Record { keep: Cell::new(true), ..Record::default() });
        let rows: Vec<Row> = (0..=255).map(|tag| Row { record: &*record, tag }).collect();
        let am: Vec<AmEntry> =
            rows.iter().map(|r| AmEntry { receive, ctx: (r as *const Row as *mut Row).cast() }).collect();
        let parts = vec![Some(receive_part as AmParts); 256];
        let job = JobInfo {
            size: size_of::<JobInfo>() as u32,
            rank: job_rank(local),
            job_size: 5000,
            node: 3,
            local_rank: local,
            local_size: node.ranks,
            job_id: 1,
            segment_fd: fd,
            oversubscribed: node.oversubscribed as u32,
            cores: 2,
            keeper_pid: std::process::id(),
        };
        let cris: Vec<Cri> = (0..node.cris).map(|_| Cri::new(LockServices::WITHOUT_OWNERS)).collect();
        let table = HostTable {
            size: size_of::<HostTable>() as u32,
            abi_minor: 0,
            instance: (&*record as *const Record as *mut Record).cast(),
            job: core::ptr::null(),
            threaded: core::ptr::null(),
            cris: cris.as_ptr(),
            num_cris: node.cris,
            cri_modes: 0,
            am_table: am.as_ptr(),
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
            am_parts: parts.as_ptr(),
            am_register_parts,
            services: &services::SERVICES,
            locking: LockTable::without_calls(LockServices::WITHOUT_OWNERS),
            expect,
        };
        let mut host = Box::new((table, job, AtomicU32::new(0), cris, am, rows, parts));
        host.0.job = &host.1;
        host.0.threaded = &host.2;
        let values = values(set);
        let args = OpenArgs {
            size: size_of::<OpenArgs>() as u32,
            reserved: 0,
            host: &host.0,
            values: SliceRef { ptr: values.as_ptr(), len: values.len() },
            flags: 0,
        };
        let mut opened = Opened {
            size: size_of::<Opened>() as u32,
            priority: 0,
            modules: core::ptr::null(),
            count: 0,
            stride: 0,
        };
        // SAFETY: the component's descriptor.
        let status = unsafe { ((*btl_shm::descriptor()).open)(&args, &mut opened) };
        if status != Status::OK || opened.count == 0 {
            return Err((status, record));
        }
        assert_eq!((opened.count, opened.stride), (1, size_of::<BtlModule>()));
        // SAFETY: one module, as it says.
        let module = unsafe { *(opened.modules as *const BtlModule) };
        // SAFETY: the component's table.
        let table = unsafe { *module.table };
        Ok(Rank { local, module, table, record, closed: Cell::new(false), host })
    }

    /// The host's state of a context.
    pub fn cri(&self, ctx: u32) -> &Cri {
        &self.host.3[ctx as usize]
    }

    /// The endpoint of a local rank.
    pub fn to(&self, local: u32) -> PeerEndpoint {
        let default = ProcInfo::default();
        self.reach(ProcInfo { proc: job_rank(local), node: 3, local_rank: local, local: 1, ..default })
            .expect("reachable")
    }

    pub fn reach(&self, proc: ProcInfo) -> Option<PeerEndpoint> {
        self.try_reach(proc).unwrap_or_else(|status| panic!("{status}: {:?}", self.reports()))
    }

    pub fn try_reach(&self, proc: ProcInfo) -> Result<Option<PeerEndpoint>, Status> {
        let mut out = core::ptr::null_mut();
        let add = self.table.add_procs.expect("add_procs");
        // SAFETY: the module's function and state; the list and the place for an endpoint are good for the call.
        unsafe { add(self.module.state, ProcList::of(&[proc]), &mut out) }.ok()?;
        Ok((!out.is_null()).then_some(PeerEndpoint(out)))
    }

    /// Gives this rank a segment beside that of its job.
    pub fn give_segment(&self, number: u32, segment: SharedSegment) {
        self.take_segment(number);
        self.record.segments.lock().expect("record").push((number, segment));
    }

    /// Takes it away.
    pub fn take_segment(&self, number: u32) {
        self.record.segments.lock().expect("record").retain(|(n, _)| *n != number);
    }

    /// Gives an endpoint back.
    pub fn part(&self, to: PeerEndpoint) {
        let del = self.table.del_procs.expect("del_procs");
        // SAFETY: the module's function and state, and an endpoint of it that no test uses afterwards.
        let status = unsafe { del(self.module.state, SliceRef { ptr: &to.0, len: 1 }) };
        assert_eq!(status, Status::OK);
    }

    pub fn send_desc(&self, to: PeerEndpoint, ctx: u32, desc: &SendDesc) -> Status {
        // SAFETY: the module's function, state and endpoint; a test calls the verbs of a context one after the other.
        unsafe { (self.table.send.expect("send"))(self.module.state, to.0, ctx, desc) }
    }

    /// Sends `header` and `payload` on `ctx`.
    pub fn send_on(&self, to: PeerEndpoint, ctx: u32, tag: u8, header: &[u8], payload: &[u8]) -> Status {
        let desc = SendDesc {
            tag: tag as u32,
            hdr_len: header.len() as u32,
            hdr: header.as_ptr(),
            payload: payload.as_ptr(),
            len: payload.len() as u64,
            pack: None,
            pack_ctx: core::ptr::null_mut(),
        };
        self.send_desc(to, ctx, &desc)
    }

    pub fn send(&self, to: PeerEndpoint, tag: u8, header: &[u8], payload: &[u8]) -> Status {
        self.send_on(to, 0, tag, header, payload)
    }

    pub fn progress_on(&self, ctx: u32) -> i32 {
        // SAFETY: the module's function and state; a test calls the verbs of a context one after the other.
        unsafe { (self.table.progress.expect("progress"))(self.module.state, ctx) }
    }

    pub fn progress(&self) -> i32 {
        self.progress_on(0)
    }

    /// Progress until nothing comes any more; what came.
    pub fn drain(&self) -> Vec<Arrived> {
        let mut idle = 0;
        while idle < 3 {
            idle = if self.progress() == 0 { idle + 1 } else { 0 };
        }
        self.record.arrived.take()
    }

    pub fn arm(&self, ctx: u32) -> Option<WaitWord> {
        let mut words = [WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 }; 2];
        let mut fds = [WaitFd { fd: -1, events: 0 }; 1];
        let mut set = WaitSet::new(&mut words, &mut fds);
        // SAFETY: the module's function and state; a test calls the verbs of a context one after the other.
        match unsafe { (self.table.arm.expect("arm"))(self.module.state, ctx, &mut set) } {
            Status::OK => {
                assert_eq!((set.num_words, set.num_fds), (1, 0), "one doorbell");
                Some(words[0])
            }
            Status::PENDING => None,
            other => panic!("{other:?}"),
        }
    }

    /// All words on which to sleep.
    pub fn arm_all(&self, ctx: u32) -> Option<Vec<WaitWord>> {
        let mut words = [WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 }; 4];
        let mut set = WaitSet::new(&mut words, &mut []);
        // SAFETY: the module's function and state; a test calls the verbs of a context one after the other.
        match unsafe { (self.table.arm.expect("arm"))(self.module.state, ctx, &mut set) } {
            Status::OK => Some(set.words().to_vec()),
            Status::PENDING => None,
            other => panic!("{other:?}"),
        }
    }

    pub fn attrs(&self) -> BtlAttrs {
        // SAFETY: valid until `finalize`.
        unsafe { *self.module.attrs }
    }

    pub fn disarm(&self, ctx: u32) {
        // SAFETY: the module's function and state; a test calls the verbs of a context one after the other.
        unsafe { (self.table.disarm.expect("disarm"))(self.module.state, ctx) }
    }

    /// Reads or writes, and sees it through.
    pub fn rma(&self, put: bool, to: PeerEndpoint, local: &mut [u8], remote: u64) -> Status {
        unsafe extern "C" fn ended(ctx: *mut c_void, status: Status) {
            // SAFETY: `end` below, which waits for this.
            unsafe { &*ctx.cast::<Cell<Option<Status>>>() }.set(Some(status));
        }
        let end = Cell::new(None);
        let desc = RmaDesc {
            local: local.as_mut_ptr(),
            remote,
            len: local.len() as u64,
            local_handle: core::ptr::null(),
            remote_handle: core::ptr::null(),
            done: Some(ended),
            done_ctx: core::ptr::from_ref(&end).cast_mut().cast(),
        };
        let verb = if put { self.table.put } else { self.table.get };
        // SAFETY: the module's function, state and endpoint; the buffer is borrowed until the end. The remote address is a test's word.
        let status = unsafe { (verb.expect("offered"))(self.module.state, to.0, 0, &desc) };
        if status != Status::PENDING {
            return status;
        }
        loop {
            self.progress();
            if let Some(status) = end.get() {
                return status;
            }
        }
    }

    /// Reads what lies in pieces.
    pub fn get_vector(&self, from: PeerEndpoint, desc: &RmaVectorDesc) -> Status {
        let get_vector = self.table.get_vector.expect("get_vector");
        // SAFETY: the module's function, state and endpoint; the pieces are a test's word.
        unsafe { get_vector(self.module.state, from.0, 0, desc) }
    }

    /// Completes puts at everybody.
    pub fn flush_all(&self) -> Status {
        let desc = FlushDesc { done: None, done_ctx: core::ptr::null_mut() };
        // SAFETY: the module's function and state; the descriptor is good for the call.
        unsafe { (self.table.flush.expect("flush"))(self.module.state, core::ptr::null_mut(), 0, &desc) }
    }

    /// The last call.
    pub fn close(&self) {
        if !self.closed.replace(true) {
            // SAFETY: the module's function and state, and no test calls another one afterwards.
            let status = unsafe { (self.table.finalize.expect("finalize"))(self.module.state) };
            assert_eq!(status, Status::OK);
        }
    }

    pub fn reports(&self) -> std::sync::MutexGuard<'_, Reports> {
        self.record.reports.lock().expect("record")
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        self.close();
    }
}

/// Sleeps as the host does. False: the time was up and nobody rang.
pub fn sleep(word: WaitWord, at_most: Duration) -> bool {
    use rustix::thread::futex;
    // SAFETY: the module's word, live as long as the module.
    let futex_word = unsafe { AtomicU32::from_ptr(word.addr.cast_mut()) };
    let timeout =
        rustix::time::Timespec { tv_sec: at_most.as_secs() as i64, tv_nsec: at_most.subsec_nanos() as i64 };
    match futex::wait(futex_word, futex::Flags::empty(), word.expected, Some(&timeout)) {
        Err(rustix::io::Errno::TIMEDOUT) => false,
        Ok(()) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => true,
        Err(e) => panic!("{e}"),
    }
}

/// Bytes that depend on a seed.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 24) as u8
        })
        .collect()
}
