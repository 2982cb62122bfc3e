//! The suite itself, tested: a BTL that is right passes every check, and each of a list of faults makes
//! the check that looks for it fail. A check that nothing can fail proves nothing.
//!
//! The BTL grows: processes of its job are found by the exchange of addresses, those of a second job by the segment that the host tells, into which
//! each process writes the address of its inbox.

#[path = "catches/faults.rs"]
mod faults;

use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use faults::FAULTS;
use oxmpi_btl::{
    Arrival, Btl, BtlAttrs, BtlFlush, BtlGet, BtlKeeps, BtlLists, BtlModule, BtlPlaces, BtlPut, BtlSleep,
    Completion, Entered, LIST_ENTRY, LIST_PUT, ListDesc, Message, Peer, Placer, ProcInfo, RmaDesc, Vouched,
    WaitSet, WaitWord,
};
use oxmpi_btl_conformance::{BTL_CHECKS, Reach, Setup, run_all};
use oxmpi_mca::{Component, Host, OpenError, ParamDecl, ParamKind, Params, RecvDesc, Status};
use rustix::thread::futex;
use std::collections::{HashMap, VecDeque};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::time::Duration;

/// Where a rank's messages wait. Shared by address: all ranks live in one process here.
#[derive(Default)]
struct Inbox {
    queues: [Mutex<Queue>; 2],
    word: AtomicU32,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<(u8, Sender, Vec<u8>)>,
    bytes: usize,
}

/// The sender of a message.
#[derive(Clone, Copy)]
struct Sender {
    job: u64,
    rank: u32,
    /// Address of its inbox, by which processes of other jobs are known.
    inbox: usize,
}

const ROOM: usize = 64 << 10;
const MAX_SEND: usize = 8 << 10;
/// Longer messages are offered in part.
const LONG: usize = 3 << 10;
const LIST_LIMIT: u64 = 2000;

struct Memory {
    host: Host,
    fault: String,
    inbox: &'static Inbox,
    sent: AtomicU32,
    /// Messages that only our own progress sends on (a fault).
    held_back: Mutex<Vec<HeldBack>>,
    /// Processes of other jobs, by segment and place: their indices and endpoints.
    guests: Mutex<HashMap<(u32, u32), Guest>>,
    /// True: somebody has been parted from; and the processes that were met (for faults).
    parted: AtomicBool,
    met: Mutex<Vec<u32>>,
    placers: Mutex<HashMap<u8, Placer>>,
    /// Messages that are kept, by context, until the next turn.
    kept: [Mutex<Vec<Kept>>; 2],
}

/// A message that is kept: where to, its tag, its header, and where its payload lies.
struct Kept {
    to: &'static Inbox,
    tag: u8,
    bytes: Vec<u8>,
    payload: (usize, usize),
    done: Completion,
}

/// A process of another job.
struct Guest {
    proc: u32,
    endpoints: u32,
    file: OwnedFd,
}

/// Where to, on which context, with which tag.
type HeldBack = (&'static Inbox, u32, u8, Vec<u8>);

/// A peer: its inbox, or where its process writes the address of that.
enum To {
    Here(&'static Inbox),
    Guest { segment: u32, place: u32, file: OwnedFd },
}

impl To {
    /// The inbox; `None`: the process has not come yet.
    fn inbox(&self) -> Option<&'static Inbox> {
        match self {
            To::Here(inbox) => Some(inbox),
            To::Guest { place, file, .. } => {
                let at = address(file, *place)? as *const Inbox;
                // SAFETY: a leaked inbox of this process, whose address a rank has written.
                Some(unsafe { &*at })
            }
        }
    }
}

/// The address that the process at a place of a segment has written; `None`: none yet.
fn address(file: &OwnedFd, place: u32) -> Option<usize> {
    let mut word = [0; 8];
    let read = rustix::io::pread(file, &mut word, 8 * u64::from(place)).unwrap();
    Some(usize::from_le_bytes(word)).filter(|&at| read == word.len() && at != 0)
}

/// A context has nothing of its own.
type At<'a> = Entered<'a, ()>;

impl Memory {
    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// Takes the first message whose sender is known.
    fn next(&self, ctx: u32) -> Option<(u8, u32, Vec<u8>)> {
        let mut queue = self.inbox.queues[ctx as usize].lock().unwrap();
        if self.has("loses what comes too early") {
            queue.messages.retain(|(_, from, _)| self.index_of(*from).is_some());
        }
        let known = |(at, (_, from, _)): (usize, &(u8, Sender, Vec<u8>))| Some((at, self.index_of(*from)?));
        let (at, proc) = queue.messages.iter().enumerate().find_map(known)?;
        queue.messages.remove(at).map(|(tag, _, bytes)| (tag, proc, bytes))
    }

    /// Index of a sender; `None`: nobody knows it here.
    fn index_of(&self, from: Sender) -> Option<u32> {
        let job = self.host.job();
        if from.job == job.job_id {
            return Some(from.rank);
        }
        let guests = self.guests.lock().unwrap();
        let found =
            guests.iter().find(|((_, place), guest)| address(&guest.file, *place) == Some(from.inbox));
        found.map(|(_, guest)| guest.proc)
    }

    /// Meets a process of another job.
    fn meet(&self, proc: &ProcInfo) -> Result<Option<To>, Status> {
        let there = match self.host.segment(proc.segment) {
            Err(_) if self.has("reaches nobody in silence") => return Ok(None),
            Err(status) => {
                self.host.error(&format!("no segment {} of process {}: {status}", proc.segment, proc.proc));
                return Err(status);
            }
            Ok(there) => there,
        };
        // SAFETY: open for the call, by the host's promise.
        let fd = unsafe { BorrowedFd::borrow_raw(there.fd) };
        let here = (self.inbox as *const Inbox as usize).to_le_bytes();
        rustix::io::pwrite(fd, &here, 8 * u64::from(there.local_rank)).unwrap();
        let copy = || fd.try_clone_to_owned().unwrap();
        let (segment, place) = (proc.segment, proc.local_rank);
        let mut guests = self.guests.lock().unwrap();
        let new = || Guest { proc: proc.proc, endpoints: 0, file: copy() };
        let guest = guests.entry((segment, place)).or_insert_with(new);
        guest.endpoints += 1;
        if !self.has("keeps the first index") {
            guest.proc = proc.proc;
        }
        Ok(Some(To::Guest { segment, place, file: copy() }))
    }

    /// Hands up a message, a long one in two parts as if the second had come later.
    fn hand_up(&self, at: &mut At<'_>, tag: u8, proc: u32, data: &[u8]) {
        let arrival = || Arrival { proc, tag, bytes: data.into(), link: 0 };
        if data.len() > LONG && self.place(at, tag, proc, data) {
            return;
        }
        let (half, end) = (data.len() as u64 / 2, data.len() as u64);
        if data.len() > LONG && at.deliver_part(&self.host, arrival(), 0, half).took() {
            if self.has("delivers between parts") {
                at.deliver(&self.host, arrival());
            }
            let again = if self.has("delivers a part twice") { half - 1 } else { half };
            let early = if self.has("leaves the last byte out") { end - 1 } else { end };
            at.deliver_part(&self.host, arrival(), again, early);
            return;
        }
        if !self.has("names another context") {
            at.deliver(&self.host, Arrival { proc, tag, bytes: data.into(), link: 0 });
            return;
        }
        let (row, ctx) = (self.host.am(tag), at.number() ^ 1);
        let len = data.len() as u64;
        let desc = RecvDesc { data: data.as_ptr(), len, proc, ctx, module: null_mut(), link: 0 };
        // SAFETY: a context is entered, though another one than it says: that is the fault.
        unsafe { (row.receive)(row.ctx, &desc) };
    }

    /// Whether a message that is kept waits on a context.
    fn keeps(&self, at: &At<'_>) -> bool {
        !self.kept[at.number() as usize].lock().unwrap().is_empty()
    }

    /// Brings a message to its place in two parts, as if the second had come later. False: it has none.
    fn place(&self, at: &mut At<'_>, tag: u8, proc: u32, data: &[u8]) -> bool {
        let Some(placer) = self.placers.lock().unwrap().get(&tag).copied() else { return false };
        let (len, half) = (data.len() as u64, data.len() / 2);
        let start = |link| Arrival { proc, tag, bytes: data[..128].into(), link };
        let (mut place, mut name) = (at.place_of(&placer, &start(0), len), 0);
        let claims = if self.has("claims a message twice") { 2 } else { 1 };
        for _ in 0..if place.is_none() { claims } else { 0 } {
            let Some((found, link)) = at.claim(&placer, &start(0), len) else { return false };
            (place, name) = (Some(found), link);
        }
        let Some(place) = place else { return false };
        if name != 0 && self.has("delivers what was claimed") {
            return false;
        }
        let name = if self.has("forgets the name of a message") { 0 } else { name };
        let header = place.header as usize;
        // SAFETY: the place was just named, and takes all that is behind the header.
        let write = |from: usize, to: usize| unsafe {
            core::ptr::copy_nonoverlapping(data[from..].as_ptr(), place.at.add(from - header), to - from)
        };
        write(header, half);
        let again = at.place_of(&placer, &start(name), len);
        if again.is_some() || self.has("writes where a place was") {
            write(half, if self.has("places too little") { data.len() - 1 } else { data.len() });
        }
        if self.has("writes behind a place") {
            // SAFETY: the suite leaves a margin; that it is written is the fault.
            unsafe { place.at.add(data.len() - header).write(1) };
        }
        at.deliver_placed(&placer, &start(name), len, again);
        if self.has("delivers what it has placed") {
            at.deliver(&self.host, Arrival { proc, tag, bytes: data.into(), link: 0 });
        }
        true
    }

    fn post(&self, inbox: &'static Inbox, ctx: u32, tag: u8, bytes: Vec<u8>) {
        let mut q = inbox.queues[ctx as usize].lock().unwrap();
        q.bytes += bytes.len() + 64;
        let job = self.host.job();
        let from = Sender { job: job.job_id, rank: job.rank, inbox: self.inbox as *const Inbox as usize };
        if self.has("duplicates") && bytes.len() == 77 {
            q.bytes += bytes.len() + 64;
            q.messages.push_back((tag, from, bytes.clone()));
        }
        if self.has("overtakes") && q.messages.len() == 5 {
            q.messages.push_front((tag, from, bytes));
        } else {
            q.messages.push_back((tag, from, bytes));
        }
        drop(q);
        inbox.word.fetch_add(1, Ordering::SeqCst);
        if !self.has("wakes nobody") {
            let _ = futex::wake(&inbox.word, futex::Flags::empty(), 1);
        }
    }
}

impl Btl for Memory {
    type Context = ();
    type Endpoint = To;
    type Lane = ();

    fn attrs(&self) -> BtlAttrs {
        let mut a = BtlAttrs::new();
        a.max_send_size = MAX_SEND as u64;
        a.flags |= BtlAttrs::GATHERS;
        if !self.has("does not announce parts") {
            a.flags |= BtlAttrs::PARTIAL_DELIVERY;
        }
        if self.has("limits contradict") {
            a.eager_limit = 2 * a.max_send_size;
        }
        a.rndv_eager_limit = 4096;
        a.list_limit = LIST_LIMIT;
        a.device[..6].copy_from_slice(b"memory");
        a
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<To>, Status> {
        if proc.job != 0 {
            return self.meet(proc);
        }
        if proc.proc == self.host.job().rank
            && !self.has("reaches itself, too")
            && !self.has("delivers in send")
        {
            return Ok(None);
        }
        let blob = self.host.exchange_get(proc.proc)?;
        let address = usize::from_le_bytes(blob.try_into().map_err(|_| Status::BAD_PARAM)?);
        let mut met = self.met.lock().unwrap();
        if self.has("knows a process once") && self.parted.load(Ordering::SeqCst) && met.contains(&proc.proc)
        {
            return Err(Status::BAD_PARAM);
        }
        met.push(proc.proc);
        // SAFETY: a leaked inbox of this process.
        Ok(Some(To::Here(unsafe { &*(address as *const Inbox) })))
    }

    fn del_proc(&self, peer: &To) {
        self.parted.store(true, Ordering::SeqCst);
        let To::Guest { segment, place, .. } = peer else { return };
        let mut guests = self.guests.lock().unwrap();
        let Some(guest) = guests.get_mut(&(*segment, *place)) else { return };
        guest.endpoints -= 1;
        let keeps = self.has("keeps who has parted") || self.has("keeps the first index");
        if guest.endpoints == 0 && !keeps {
            guests.remove(&(*segment, *place));
        }
    }

    fn lane(&self, _: &To, _: u32) {}

    fn send(&self, at: &mut At<'_>, peer: &Peer<Self>, msg: &Message<'_>) -> Status {
        let ctx = at.number();
        if msg.total_len() > MAX_SEND && !self.has("takes what is too large") {
            return Status::BAD_PARAM;
        }
        // It has not come yet.
        let Some(to) = peer.inbox() else { return Status::NO_RESOURCE };
        if self.keeps(at) && !self.has("overtakes what is kept") {
            return Status::NO_RESOURCE;
        }
        if self.has("parts for good") && self.parted.load(Ordering::SeqCst) {
            return Status::NO_RESOURCE;
        }
        let full = to.queues[ctx as usize].lock().unwrap().bytes + msg.total_len() + 64 > ROOM;
        if full && !self.has("sends though it is full") {
            return Status::NO_RESOURCE;
        }
        let mut bytes = vec![0u8; msg.total_len()];
        let hdr = msg.header().len();
        bytes[..hdr].copy_from_slice(msg.header());
        match msg.desc().pack {
            Some(pack) if self.has("packs backwards") && msg.payload_len() > 100 => {
                let (ctx, half) = (msg.desc().pack_ctx, msg.payload_len() / 2);
                let second = (msg.payload_len() - half) as u64;
                // SAFETY: room for both halves; that they come in the wrong order is the fault.
                unsafe {
                    pack(ctx, half as u64, bytes[hdr + half..].as_mut_ptr(), second);
                    pack(ctx, 0, bytes[hdr..].as_mut_ptr(), half as u64);
                }
            }
            // SAFETY: room for the payload.
            _ => unsafe { msg.write_payload(bytes[hdr..].as_mut_ptr()) },
        }
        let n = self.sent.fetch_add(1, Ordering::Relaxed);
        if self.has("loses one") && n % 100 == 99 {
            return Status::OK;
        }
        if self.has("cuts off a byte") && bytes.len() > 5000 {
            bytes.pop();
        }
        if self.has("flips a bit") && bytes.len() > 5000 {
            bytes[4999] ^= 1;
        }
        let tag = if self.has("mistakes tags") { msg.tag() & 0x7f } else { msg.tag() };
        if self.has("gathers for ever") && msg.may_wait() {
            self.held_back.lock().unwrap().push((to, ctx, tag, bytes));
            return Status::PENDING;
        }
        if self.has("needs its own progress") {
            self.held_back.lock().unwrap().push((to, ctx, tag, bytes));
            return Status::OK;
        }
        if self.has("delivers in send") && core::ptr::eq(to, self.inbox) {
            self.hand_up(at, tag, self.host.job().rank, &bytes);
            return Status::OK;
        }
        self.post(to, ctx, tag, bytes);
        if full { Status::NO_RESOURCE } else { Status::OK }
    }

    fn progress(&self, at: &mut At<'_>) -> i32 {
        let ctx = at.number();
        let kept = std::mem::take(&mut *self.kept[ctx as usize].lock().unwrap());
        for Kept { to, tag, mut bytes, payload: (from, len), done } in kept {
            // SAFETY: the sender keeps it.
            bytes.extend_from_slice(unsafe {
                core::slice::from_raw_parts(core::ptr::with_exposed_provenance(from), len)
            });
            self.post(to, ctx, tag, bytes);
            if !self.has("tells no end") && !self.has("tells the end too early") {
                at.complete(done, Status::OK);
            }
        }
        let held = std::mem::take(&mut *self.held_back.lock().unwrap());
        for (inbox, ctx, tag, bytes) in held {
            self.post(inbox, ctx, tag, bytes);
        }
        let mut handled = 0;
        while handled < 16 {
            let Some((tag, proc, bytes)) = self.next(ctx) else { break };
            self.inbox.queues[ctx as usize].lock().unwrap().bytes -= bytes.len() + 64;
            let proc = if self.has("mistakes senders") { proc + 100 } else { proc };
            self.hand_up(at, tag, proc, &bytes);
            if self.has("reports peers") && bytes.len() == 77 {
                self.host.peer_error(proc, true, "does not like it");
            }
            handled += 1;
        }
        handled
    }

    fn finalize(&self, _: &mut oxmpi_btl::Contexts<'_, ()>) {
        if self.has("forgets in finalize") {
            let blob = self.host.exchange_get((self.host.job().rank + 1) % self.host.job().job_size).unwrap();
            // SAFETY: a leaked inbox of this process.
            let next = unsafe { &*(usize::from_le_bytes(blob.try_into().unwrap()) as *const Inbox) };
            next.queues[0].lock().unwrap().messages.clear();
        }
    }
}

impl BtlGet for Memory {
    fn get(&self, _: &mut At<'_>, _: &Peer<Self>, rma: Vouched<'_, RmaDesc>, _: Completion) -> Status {
        let len = rma.len - (self.has("reads too little") && rma.len > 4096) as u64;
        // SAFETY: memory of this process, as the suite gave it.
        unsafe { core::ptr::copy(rma.remote as *const u8, rma.local, len as usize) };
        if self.has("completes twice") {
            // SAFETY: the context is entered; that this is told besides the answer is the fault.
            unsafe { (rma.done.unwrap())(rma.done_ctx, Status::OK) };
        }
        Status::OK
    }
}

impl BtlPut for Memory {
    fn put(&self, _: &mut At<'_>, _: &Peer<Self>, rma: Vouched<'_, RmaDesc>, _: Completion) -> Status {
        let more = self.has("writes too much") as usize;
        // SAFETY: memory of this process; the suite leaves a margin.
        unsafe { core::ptr::copy(rma.local, rma.remote as *mut u8, rma.len as usize + more) };
        Status::OK
    }
}

impl BtlKeeps for Memory {
    /// Takes nothing else before the next turn, in which the message goes.
    fn send_kept(&self, at: &mut At<'_>, peer: &Peer<Self>, msg: &Message<'_>, done: Completion) -> Status {
        if msg.total_len() > MAX_SEND && !self.has("keeps what is too large") {
            return Status::BAD_PARAM;
        }
        let Some(to) = peer.inbox() else { return Status::NO_RESOURCE };
        let full = to.queues[at.number() as usize].lock().unwrap().bytes + msg.total_len() + 64 > ROOM;
        if full || self.keeps(at) {
            return Status::NO_RESOURCE;
        }
        let payload = (msg.desc().payload.expose_provenance(), msg.payload_len());
        let kept = Kept { to, tag: msg.tag(), bytes: msg.header().to_vec(), payload, done };
        self.kept[at.number() as usize].lock().unwrap().push(kept);
        if self.has("tells the end too early") { Status::OK } else { Status::PENDING }
    }
}

impl BtlPlaces for Memory {
    fn place_by(&self, tag: u8, placer: Placer) -> Status {
        let had = self.placers.lock().unwrap().insert(tag, placer);
        if had.is_some() && !self.has("gives a tag away") { Status::BAD_PARAM } else { Status::OK }
    }
}

impl BtlLists for Memory {
    fn list(&self, _: &mut At<'_>, _: &Peer<Self>, list: Vouched<'_, ListDesc>, _: Completion) -> Status {
        // SAFETY: the caller's list.
        let entries = unsafe { list.entries.get() };
        let bytes: u64 = entries.iter().map(|e| LIST_ENTRY + e.len.next_multiple_of(8)).sum();
        let long = bytes > LIST_LIMIT && !self.has("takes any list");
        if long || entries.iter().any(|e| e.op != LIST_PUT) {
            return Status::BAD_PARAM;
        }
        let left_out = self.has("leaves an entry out") as usize;
        for entry in &entries[left_out..] {
            // SAFETY: memory of this process, as the suite gave it.
            unsafe { core::ptr::copy(entry.data, entry.remote as *mut u8, entry.len as usize) };
        }
        Status::OK
    }
}

impl BtlFlush for Memory {
    fn flush(&self, _: &mut At<'_>, _: Option<&Peer<Self>>, _: Completion) -> Status {
        if self.has("does not flush") { Status::INTERNAL } else { Status::OK }
    }
}

impl BtlSleep for Memory {
    fn arm(&self, _: &mut At<'_>, set: &mut WaitSet) -> Status {
        let expected = self.inbox.word.load(Ordering::SeqCst);
        let known =
            |q: &Mutex<Queue>| q.lock().unwrap().messages.iter().any(|m| self.index_of(m.1).is_some());
        let empty = !self.inbox.queues.iter().any(known);
        if self.has("never sleeps") {
            return Status::PENDING;
        }
        if !empty && !self.has("sleeps on messages") {
            return Status::PENDING;
        }
        set.add_word(WaitWord { addr: self.inbox.word.as_ptr(), expected, reserved: 0 })
    }
    fn disarm(&self, _: &mut At<'_>) {}
}

struct Opener;

impl Component for Opener {
    type Module = BtlModule;
    const NAME: &'static str = "memory";
    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let inbox: &'static Inbox = Box::leak(Box::default());
        host.exchange_put(&(inbox as *const Inbox as usize).to_le_bytes());
        let fault = params.text(0).to_owned();
        let device = Memory {
            host,
            fault,
            inbox,
            sent: AtomicU32::new(0),
            held_back: Mutex::default(),
            guests: Mutex::default(),
            parted: AtomicBool::new(false),
            met: Mutex::default(),
            placers: Mutex::default(),
            kept: Default::default(),
        };
        let contexts = (0..host.num_cris().min(2)).map(|_| ());
        Ok((
            0,
            vec![
                oxmpi_btl::module(device, contexts)
                    .get()
                    .put()
                    .lists()
                    .flush()
                    .sleep()
                    .places()
                    .keeps()
                    .build(),
            ],
        ))
    }
}

const PARAMS: &[ParamDecl] =
    &[ParamDecl::new("fault", ParamKind::STRING, 9, "none", "What this transport does wrong on purpose")];

oxmpi_mca::component! {
    component: Opener, symbol: oxmpi_component_btl_memory, framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION, name: "memory", aliases: [], params: PARAMS, help: "",
}

fn setup() -> Setup {
    Setup::new(descriptor()).reach(Reach::Others).grows().patience(Duration::from_secs(2))
}

#[test]
fn what_is_right_passes() {
    run_all(&setup().patience(Duration::from_secs(20)));
}

#[test]
fn every_fault_is_seen() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut unseen = Vec::new();
    for (fault, name) in FAULTS {
        let check = BTL_CHECKS.iter().find(|e| e.name == *name).expect("a check of that name").run;
        let faulty = match *fault {
            "delivers in send" => setup().reach(Reach::Everyone).param("fault", fault),
            _ => setup().param("fault", fault),
        };
        eprintln!("{fault}: {name}");
        if std::panic::catch_unwind(|| check(&faulty)).is_ok() {
            unseen.push(format!("\"{fault}\" passes {name}"));
        }
    }
    let _ = std::panic::take_hook();
    assert!(unseen.is_empty(), "{}", unseen.join(", "));
}
