//! The transport of the tests: bounded queues between processes, and a `get` that does as told.

use super::host::{Proc, proc_of};
use super::keeps::{Flying, send_kept, take_kept};
use super::places::{Coming, Placing, place as bring, place_by};
use super::spin::Spin;
use core::ffi::c_void;
use oxmpi_btl::{BtlAttrs, BtlHandle, FlushDesc, RmaDesc, RmaVectorDesc, SendDesc, WaitSet, WaitWord, cap};
use oxmpi_mca::host::receive::{CONTINUE, STOP, TAKEN};
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{PartDesc, RecvDesc, Status};
use oxmpi_progress::policy::kind::Kind;
use oxmpi_testing::{Landing, Registry, Transfer, Unflushed, transport};
use std::collections::{HashMap, VecDeque};

/// The behaviour of the transport's `get`.
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
    /// The first piece works later, the second is refused later.
    RefusedSecondLater,
    /// Fails for good: in the call, or later.
    Breaks,
    BreaksLater,
    /// Answers PENDING; `done` comes when the test says so (`World::land`).
    Held,
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
    /// The behaviour of get and put.
    pub get: Get,
    pub offers_get: bool,
    pub get_alignment: u64,
    pub offers_put: bool,
    pub min_put: u64,
    pub put_limit: u64,
    pub put_alignment: u64,
    /// `done` of a put says that the data is there; else a flush does.
    pub put_is_remote: bool,
    /// Messages may be delivered in parts.
    pub delivers_parts: bool,
    /// Bytes of a registration handle, and how many a process may have at a time.
    pub handle: u32,
    pub registrations: usize,
    pub offers_vector: bool,
    /// pml_ob1_min_get_run
    pub min_get_run: i64,
    pub credit: i64,
    pub threaded: bool,
    pub sleeps: bool,
    /// Resource instances of each process, and how it uses them (`cri_mode`).
    pub cris: u32,
    pub modes: u32,
    /// How its threads make turns, where `modes` does not say that they are serial.
    pub progress: Kind,
    /// The transport says that messages are visible at once (they are).
    pub visible: bool,
    /// The transport tells receivers what waits for room.
    pub holds: bool,
    /// pml_ob1_fork_turns
    pub fork_turns: i64,
    /// Messages are offered before all of them is there.
    pub parts: bool,
    /// Long messages are brought to their place.
    pub places: bool,
    /// Those are claimed that have no place.
    pub claims: bool,
    /// Payload of long messages is kept where it lies until they are received.
    pub keeps: bool,
    /// There is a second transport, which has one context and reaches nobody.
    pub narrow: bool,
    /// There is a second transport to everybody, for fragments, gets and puts.
    pub twin: bool,
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
            get_alignment: 0,
            offers_put: false,
            min_put: u64::MAX,
            put_limit: 0,
            put_alignment: 0,
            put_is_remote: false,
            delivers_parts: true,
            handle: 0,
            registrations: usize::MAX,
            offers_vector: true,
            min_get_run: 2048,
            credit: 4 << 20,
            threaded: false,
            sleeps: true,
            cris: 1,
            modes: 0,
            progress: Kind::OwnFirst,
            visible: true,
            holds: true,
            fork_turns: 8,
            parts: true,
            places: false,
            claims: false,
            keeps: false,
            narrow: false,
            twin: false,
        }
    }
}

#[derive(Default)]
pub struct Queues {
    /// `[to][from * cris + ctx]`
    pub messages: Vec<Vec<VecDeque<Vec<u8>>>>,
    pub spare: Vec<Vec<u8>>,
    /// How much of the first message of a queue was taken already, by its place.
    pub taken: HashMap<(usize, usize), u64>,
    /// Messages that are on their way to their place, by that of their queue; how many got there, and how many went nowhere.
    pub coming: HashMap<(usize, usize), Coming>,
    pub placed: u64,
    pub claimed: u64,
    /// Messages whose payload is kept, by where they come from; how many were, and how many ended.
    pub flying: HashMap<usize, VecDeque<Flying>>,
    pub kept: u64,
    pub landed: u64,
    pub gone: u64,
    /// Offers of parts made, and taken.
    pub offers: u64,
    pub parted: u64,
    /// `[process * cris + ctx]`
    pub done: Vec<Vec<Landing>>,
    /// Those that the test keeps in the air.
    pub aloft: Vec<Vec<Landing>>,
    /// Puts that are not visible yet, by who made them.
    pub unflushed: Vec<Unflushed>,
    /// Gets and puts by the second transport.
    pub of_twin: u64,
    /// Gets and puts by all, and flushes.
    pub gets: u64,
    pub puts: u64,
    pub flushes: u64,
    pub sent: u64,
    /// A process's word about messages that wait, by (to, from).
    pub held: HashMap<(u32, u32), u64>,
}

/// State that all processes share.
pub struct Net {
    pub setup: Setup,
    pub get: Spin<Get>,
    pub room: AtomicU32,
    /// The process that has ended, or `u32::MAX`.
    pub ended: AtomicU32,
    pub queues: Spin<Queues>,
    pub registry: Spin<Registry>,
    pub cards: Spin<HashMap<u32, Vec<u8>>>,
}

// The verbs; the state of a module is its process.

/// The place of a process's context in lists of both.
pub fn place(net: &Net, rank: u32, ctx: u32) -> usize {
    assert!(ctx < net.setup.cris);
    (rank * net.setup.cris + ctx) as usize
}

extern "C" fn t_send(s: *mut c_void, ep: *mut c_void, ctx: u32, d: *const SendDesc) -> Status {
    let me = proc_of(s);
    let net = me.net();
    let (to, from) = (ep as usize - 1, place(net, me.rank, ctx));
    // SAFETY: the descriptor is valid for the call.
    let d = unsafe { &*d };
    if to as u32 == net.ended.load(Ordering::Relaxed) {
        return Status::PEER_FAILED;
    }
    let mut guard = net.queues.lock();
    let q = &mut *guard;
    let behind_kept = q.flying.get(&from).is_some_and(|all| !all.is_empty());
    if behind_kept || q.messages[to][from].len() >= net.room.load(Ordering::Relaxed) as usize {
        return Status::NO_RESOURCE;
    }
    let total = u64::from(d.hdr_len) + d.len;
    assert!(total <= net.setup.max_send, "message of {total} bytes is larger than the transport takes");
    let mut bytes = q.spare.pop().unwrap_or_default();
    bytes.clear();
    // SAFETY: what the descriptor points to is readable for the call.
    unsafe { transport::append(d, &mut bytes) };
    q.messages[to][from].push_back(bytes);
    q.sent += 1;
    Status::OK
}
extern "C" fn t_progress(s: *mut c_void, ctx: u32) -> i32 {
    let me = proc_of(s);
    let net = me.net();
    me.turned.fetch_or(1 << ctx, Ordering::Relaxed);
    let mut events = take_kept(me, place(net, me.rank, ctx));
    loop {
        let done = net.queues.lock().done[place(net, me.rank, ctx)].pop();
        let Some(landing) = done else { break };
        land(net, place(net, me.rank, ctx), landing);
        events += 1;
    }
    for from in 0..net.setup.procs {
        // A batch per source, so that sources mix.
        for _ in 0..16 {
            let next = net.queues.lock().messages[me.rank as usize][place(net, from, ctx)].pop_front();
            let Some(bytes) = next else { break };
            let desc = RecvDesc {
                data: bytes.as_ptr(),
                len: bytes.len() as u64,
                proc: from,
                ctx,
                module: s,
                link: 0,
            };
            let queue = place(net, from, ctx);
            match bring(me, queue, &desc) {
                Placing::Never => {}
                Placing::Part => {
                    net.queues.lock().messages[me.rank as usize][queue].push_front(bytes);
                    events += 1;
                    break;
                }
                Placing::All(answer) => {
                    note_answer(me, answer);
                    net.queues.lock().spare.push(bytes);
                    events += 1;
                    continue;
                }
            }
            let entry = me.am.lock()[oxmpi_mca::host::am_tag::PML as usize];
            if !net.setup.parts || desc.len < 40 {
                // SAFETY: the caller of this verb holds the context; the message lives as long as the call.
                note_answer(me, unsafe { (entry.receive)(entry.ctx, &desc) });
            } else if !in_parts(me, place(net, from, ctx), desc) {
                net.queues.lock().messages[me.rank as usize][place(net, from, ctx)].push_front(bytes);
                break;
            }
            net.queues.lock().spare.push(bytes);
            events += 1;
        }
    }
    events
}
/// Counts the messages behind which the turn may end; this transport goes on.
fn note_answer(me: &Proc, answer: u32) {
    assert!(answer == CONTINUE || answer == STOP);
    me.stops.fetch_add(u32::from(answer == STOP), Ordering::Relaxed);
}
/// Offers what is said to be there of a message, more each time, and hands it up whole if nobody wants that. False: not all of it is
/// there yet.
fn in_parts(me: &Proc, queue: usize, message: RecvDesc) -> bool {
    let (net, key, len) = (me.net(), (me.rank as usize, queue), message.len);
    let entry = me.am.lock()[oxmpi_mca::host::am_tag::PML as usize];
    let take = me.parts.lock()[oxmpi_mca::host::am_tag::PML as usize].expect("registered");
    let mut desc = PartDesc { message, from: 0, to: 0 };
    loop {
        let turn = {
            let mut q = net.queues.lock();
            desc.from = q.taken.get(&key).copied().unwrap_or(0);
            q.offers += 1;
            q.offers
        };
        // At first sometimes less than a header, or all at once; the next part after this turn or in it.
        let step = [len / 3, len, len / 2, 20][turn as usize % 4].max(1);
        desc.to = len.min(desc.from + step);
        if desc.from == 0 && desc.to == len {
            // SAFETY: the caller of this verb holds the context, and all of the message is there.
            note_answer(me, unsafe { (entry.receive)(entry.ctx, &desc.message) });
            return true;
        }
        // SAFETY: the caller of this verb holds the context; as much of the message is there as the part says.
        let answer = unsafe { take(entry.ctx, &desc) };
        note_answer(me, answer & !TAKEN);
        let taken = answer & TAKEN != 0;
        assert!(taken || desc.from == 0, "what was taken goes on");
        let mut q = net.queues.lock();
        q.parted += u64::from(taken);
        if desc.to == len {
            q.taken.remove(&key);
            return true;
        }
        if taken {
            q.taken.insert(key, desc.to);
        }
        // A transport that says messages are visible at once keeps none back whose send is over.
        if turn % 3 == 0 && (net.setup.cris == 1 || !net.setup.visible) {
            return false;
        }
    }
}
/// The third argument says whether it is a put.
fn move_piece(s: *mut c_void, ctx: u32, d: *const RmaDesc, put: bool) -> Status {
    let me = proc_of(s);
    let (net, setup) = (me.net(), &me.net().setup);
    // SAFETY: the descriptor is valid for the call.
    let d = unsafe { &*d };
    let (limit, alignment) = match put {
        true => (setup.put_limit, setup.put_alignment),
        false => (setup.get_limit, setup.get_alignment),
    };
    assert!(d.len > 0 && (limit == 0 || d.len <= limit));
    assert!(alignment <= 1 || [d.local as u64, d.remote, d.len].iter().all(|v| v.is_multiple_of(alignment)));
    let transfer = Transfer::new(&net.registry.lock(), d, put);
    let turn = {
        let mut q = net.queues.lock();
        let count = if put { &mut q.puts } else { &mut q.gets };
        *count += 1;
        *count
    };
    let mode = *net.get.lock();
    let at = place(net, me.rank, ctx);
    let landing = |transfer, status| Landing { status, ..Landing::new(d.done, d.done_ctx, transfer) };
    let later = |transfer, status| {
        net.queues.lock().done[at].push(landing(transfer, status));
        Status::PENDING
    };
    let now = |transfer| {
        net.queues.lock().unflushed[at].arrive(transfer, &mut net.registry.lock());
        Status::OK
    };
    match mode {
        Get::Works => now(transfer),
        Get::Later => later(Some(transfer), Status::OK),
        Get::Refused => Status::NO_PERMISSION,
        Get::RefusedLater => later(None, Status::NO_PERMISSION),
        Get::Busy if turn % 2 == 1 => Status::NO_RESOURCE,
        Get::RefusedSecond if turn % 2 == 0 => Status::NOT_SUPPORTED,
        Get::RefusedSecondLater if turn % 2 == 0 => later(None, Status::NO_PERMISSION),
        Get::RefusedSecondLater => later(Some(transfer), Status::OK),
        Get::Busy | Get::RefusedSecond => now(transfer),
        Get::Breaks => Status::INTERNAL,
        Get::BreaksLater => later(None, Status::INTERNAL),
        Get::Held => {
            net.queues.lock().aloft[at].push(landing(Some(transfer), Status::OK));
            Status::PENDING
        }
    }
}
extern "C" fn t_get(s: *mut c_void, _ep: *mut c_void, ctx: u32, d: *const RmaDesc) -> Status {
    move_piece(s, ctx, d, false)
}
extern "C" fn t_get_vector(s: *mut c_void, _: *mut c_void, _: u32, d: *const RmaVectorDesc) -> Status {
    let net = proc_of(s).net();
    let mut q = net.queues.lock();
    q.gets += 1;
    let mode = *net.get.lock();
    match mode {
        Get::Refused | Get::RefusedLater => return Status::NO_PERMISSION,
        Get::RefusedSecond if q.gets % 2 == 0 => return Status::NOT_SUPPORTED,
        _ => {}
    }
    // SAFETY: the descriptor is valid for the call; both sides are in this process and large enough, or
    // the test is wrong.
    let whole = unsafe {
        (*d).stretches(|local, remote, len| {
            core::ptr::copy_nonoverlapping(remote as *const u8, local as *mut u8, len as usize);
            true
        })
    };
    assert!(whole, "a list is shorter than it says");
    Status::OK
}
extern "C" fn twin_get(s: *mut c_void, _ep: *mut c_void, ctx: u32, d: *const RmaDesc) -> Status {
    proc_of(s).net().queues.lock().of_twin += 1;
    move_piece(s, ctx, d, false)
}
extern "C" fn twin_put(s: *mut c_void, _ep: *mut c_void, ctx: u32, d: *const RmaDesc) -> Status {
    proc_of(s).net().queues.lock().of_twin += 1;
    move_piece(s, ctx, d, true)
}
extern "C" fn t_put(s: *mut c_void, _ep: *mut c_void, ctx: u32, d: *const RmaDesc) -> Status {
    move_piece(s, ctx, d, true)
}
extern "C" fn t_flush(s: *mut c_void, _ep: *mut c_void, ctx: u32, d: *const FlushDesc) -> Status {
    let me = proc_of(s);
    let net = me.net();
    assert!(!net.setup.put_is_remote, "every put was flushed by itself");
    // SAFETY: the descriptor is valid for the call.
    let d = unsafe { &*d };
    let at = place(net, me.rank, ctx);
    let landing = Landing::new(d.done, d.done_ctx, None);
    let turn = {
        let mut q = net.queues.lock();
        q.flushes += 1;
        q.flushes
    };
    let mode = *net.get.lock();
    match mode {
        Get::Busy if turn % 2 == 1 => Status::NO_RESOURCE,
        // It is done behind the puts in front of it.
        Get::Later | Get::RefusedSecondLater | Get::RefusedLater => {
            net.queues.lock().done[at].insert(0, landing);
            Status::PENDING
        }
        Get::Held => {
            net.queues.lock().aloft[at].push(landing);
            Status::PENDING
        }
        _ => {
            net.queues.lock().unflushed[at].flush(&mut net.registry.lock());
            Status::OK
        }
    }
}
/// A piece or a flush comes to its end.
fn land(net: &Net, place: usize, mut landing: Landing) {
    net.queues.lock().unflushed[place].land(&mut landing, &mut net.registry.lock());
    landing.tell();
}
extern "C" fn t_arm(s: *mut c_void, _: u32, set: *mut WaitSet) -> Status {
    let me = proc_of(s);
    me.armed.fetch_add(1, Ordering::SeqCst);
    let waiting = me.net().queues.lock().messages[me.rank as usize].iter().any(|q| !q.is_empty());
    if waiting {
        return Status::PENDING;
    }
    // SAFETY: the caller's set; the address is not slept on here.
    unsafe { &mut *set }.add_word(WaitWord { addr: me.threaded.as_ptr(), expected: 7, reserved: 0 })
}
extern "C" fn t_disarm(s: *mut c_void, _: u32) {
    proc_of(s).armed.fetch_sub(1, Ordering::SeqCst);
}
extern "C" fn t_hold(s: *mut c_void, ep: *mut c_void, oldest: u64) {
    let me = proc_of(s);
    me.net().queues.lock().held.insert((ep as usize as u32 - 1, me.rank), oldest);
}
extern "C" fn t_held(s: *mut c_void, ep: *mut c_void) -> u64 {
    let me = proc_of(s);
    me.net().queues.lock().held.get(&(me.rank, ep as usize as u32 - 1)).copied().unwrap_or(0)
}

/// The transport's description of itself.
pub fn attrs_of(setup: &Setup) -> BtlAttrs {
    let mut attrs = BtlAttrs::new();
    attrs.eager_limit = setup.eager;
    attrs.rndv_eager_limit = setup.eager;
    attrs.max_send_size = setup.max_send;
    attrs.min_get_size = setup.min_get;
    attrs.get_limit = setup.get_limit;
    attrs.get_alignment = setup.get_alignment;
    attrs.min_put_size = setup.min_put;
    attrs.put_limit = setup.put_limit;
    attrs.put_alignment = setup.put_alignment;
    attrs.registration_handle_size = setup.handle;
    attrs.contexts = setup.cris;
    attrs.flags = if setup.twin { BtlAttrs::STRIPES } else { 0 }
        | if setup.visible { BtlAttrs::VISIBLE_AT_ONCE } else { 0 }
        | if setup.put_is_remote { BtlAttrs::PUT_DONE_IS_REMOTE } else { 0 }
        | if setup.delivers_parts { BtlAttrs::PARTIAL_DELIVERY } else { 0 };
    attrs
}

impl Proc {
    /// A transport with one context that reaches nobody.
    pub fn narrow(&self, setup: &Setup, attrs: &BtlAttrs) -> BtlHandle {
        extern "C" fn progress(_: *mut c_void, ctx: u32) -> i32 {
            assert_eq!(ctx, 0, "it has one context");
            0
        }
        extern "C" fn arm(_: *mut c_void, ctx: u32, _: *mut WaitSet) -> Status {
            assert_eq!(ctx, 0, "it has one context");
            Status::NOT_SUPPORTED
        }
        BtlHandle { progress, arm, index: 1, ..self.transport(setup, attrs) }
    }

    /// A second one like the first, whose progress is the first one's.
    pub fn twin(&self, setup: &Setup, attrs: &BtlAttrs) -> BtlHandle {
        extern "C" fn progress(_: *mut c_void, _: u32) -> i32 {
            0
        }
        BtlHandle { progress, get: twin_get, put: twin_put, index: 1, ..self.transport(setup, attrs) }
    }

    pub fn transport(&self, setup: &Setup, attrs: &BtlAttrs) -> BtlHandle {
        BtlHandle {
            caps: if setup.offers_get { cap::GET } else { 0 }
                | if setup.offers_put { cap::PUT } else { 0 }
                | if setup.offers_put && !setup.put_is_remote { cap::FLUSH } else { 0 }
                | if setup.handle > 0 { cap::REGISTER } else { 0 }
                | if setup.offers_vector { cap::GET_VECTOR } else { 0 }
                | if setup.keeps { cap::KEEPS } else { 0 }
                | if setup.places { cap::PLACES } else { 0 }
                | if setup.sleeps { cap::SLEEP } else { 0 }
                | if setup.holds { cap::HOLD } else { 0 },
            send: t_send,
            progress: t_progress,
            get: t_get,
            put: t_put,
            flush: t_flush,
            arm: t_arm,
            disarm: t_disarm,
            get_vector: t_get_vector,
            hold: t_hold,
            held: t_held,
            place_by,
            send_kept,
            ..transport::bare(self, attrs, "fake")
        }
    }
}
