//! Point-to-point between threads: one lock, a list of posted receives and one of unexpected messages
//! per rank. Unless sends are eager, a matched message is in flight until somebody who waits lands it,
//! in any order, and only then its data is read from the sender's buffer: as large messages do, one
//! may arrive before another that was sent earlier.

use core::ffi::c_void;
use oxmpi_coll::{CollComm, CollServices, FIRST_TAG};
use oxmpi_datatype::{TypeDesc, pack, unpack};
use oxmpi_mca::{MsgStatus, RequestHeader, Status};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

pub const SERVICES: CollServices = CollServices {
    size: size_of::<CollServices>() as u32,
    reserved: 0,
    send,
    recv,
    isend,
    irecv,
    wait_all,
    memory: not_here::memory,
    pack: not_here::pack,
    unpack: not_here::unpack,
    copy: not_here::copy,
    reduce: not_here::reduce,
    step: not_here::step,
    place: not_used::place,
    node_memory: not_used::node_memory,
    peer_read: not_used::peer_read,
    peer_write: not_used::peer_write,
    peer_pointer: not_used::peer_pointer,
    wait_word: not_used::wait_word,
    sub_comm: not_used::sub_comm,
    sub_view: not_used::sub_view,
    call: not_used::call,
};

/// This component knows nothing of nodes.
mod not_used {
    use oxmpi_coll::{CollArgs, CollComm};
    use oxmpi_mca::sync::AtomicU32;
    use oxmpi_mca::{Place, Status, StrRef};
    use std::ffi::c_void;

    macro_rules! not_used {
        ($($name:ident($($t:ty),*);)*) => {
            $(pub extern "C" fn $name(_: *const CollComm $(, _: $t)*) -> Status {
                panic!("nothing of nodes is used")
            })*
        };
    }
    not_used! {
        place(u32, *mut Place);
        node_memory(u64, *mut *mut u8);
        peer_read(u32, u64, *mut u8, u64);
        peer_write(u32, u64, *const u8, u64);
        peer_pointer(u32, u64, u64, *mut *mut u8);
        wait_word(*const AtomicU32, u32);
        sub_comm(u32, StrRef, *mut *mut c_void);
        sub_view(*mut c_void, *mut CollComm);
        call(u32, *const CollArgs);
    }
}

/// A component that does not plan does these itself.
mod not_here {
    use oxmpi_coll::{CollComm, StepFn};
    use oxmpi_datatype::TypeDesc;
    use oxmpi_mca::Status;
    use std::ffi::c_void;

    macro_rules! not_here {
    ($($name:ident($($t:ty),*);)*) => {
        $(pub extern "C" fn $name(_: *const CollComm $(, _: $t)*) -> Status {
            panic!("in plans only")
        })*
    };
}
    not_here! {
        memory(u64, *mut *mut u8);
        pack(*const TypeDesc, u64, *const u8, u64, *mut u8, u64);
        unpack(*const TypeDesc, u64, *mut u8, u64, *const u8, u64);
        copy(*const TypeDesc, u64, *const u8, *mut u8);
        reduce(*const TypeDesc, u64, *const u8, *mut u8);
        step(StepFn, *mut c_void);
    }
}

/// How long a message may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The one kind of messages that a rank may send to itself: of neighborhoods, in which ranks may be their own neighbors.
pub const TO_ONESELF: i32 = FIRST_TAG - 9;

/// How one rank sees the net through a communicator.
pub struct View<'a> {
    pub net: &'a Net,
    /// Keeps communicators apart.
    pub context: i32,
    /// First of our group in the net, and of the group that messages name.
    pub mine: u32,
    pub theirs: u32,
}

pub struct Net {
    synchronous: bool,
    /// After so many operations no message arrives any more, and everything fails.
    dies_after: usize,
    state: Mutex<State>,
    woken: Vec<Condvar>,
}

struct State {
    ranks: Vec<Mail>,
    requests: Vec<Request>,
    /// Matched pairs of a send and a receive.
    flying: Vec<(usize, usize)>,
    landed: usize,
    operations: usize,
    /// Ranks that were told that the net is dead.
    told: Vec<bool>,
}

#[derive(Default)]
struct Mail {
    posted: Vec<usize>,
    unexpected: Vec<usize>,
}

/// A send or a receive; requests are named by their index.
struct Request {
    owner: u32,
    peer: u32,
    tag: i32,
    data: Data,
    done: bool,
    waited: bool,
}

enum Data {
    /// Address, count and type in the owner's memory, which waits until it is done.
    User(usize, u64, usize),
    Copied(Vec<u8>),
}

// SAFETY (of the pointers above): both sides wait for their requests, and matching is under the lock.
impl Data {
    fn len(&self) -> u64 {
        match self {
            // SAFETY: the type lives until the request is waited for.
            Data::User(_, count, dtype) => unsafe { (*(*dtype as *const TypeDesc)).packed * count },
            Data::Copied(bytes) => bytes.len() as u64,
        }
    }
    fn read(&self) -> Vec<u8> {
        match self {
            Data::User(buf, count, dtype) => {
                let mut bytes = vec![0; self.len() as usize];
                // SAFETY: as above; the buffer too.
                unsafe {
                    let dtype = &*(*dtype as *const TypeDesc);
                    pack(dtype, *count, *buf as *const u8, 0, bytes.as_mut_ptr(), bytes.len() as u64);
                }
                bytes
            }
            Data::Copied(bytes) => bytes.clone(),
        }
    }
    fn write(&self, bytes: &[u8]) {
        if let Data::User(buf, count, dtype) = self {
            // SAFETY: as above.
            unsafe {
                let dtype = &*(*dtype as *const TypeDesc);
                unpack(dtype, *count, *buf as *mut u8, 0, bytes.as_ptr(), bytes.len() as u64);
            }
        }
    }
}

impl Net {
    pub fn new(n: u32, synchronous: bool, dies_after: usize) -> Net {
        Net {
            synchronous,
            dies_after,
            state: Mutex::new(State {
                ranks: (0..n).map(|_| Mail::default()).collect(),
                requests: vec![],
                flying: vec![],
                landed: 0,
                operations: 0,
                told: vec![false; n as usize],
            }),
            woken: (0..n).map(|_| Condvar::new()).collect(),
        }
    }

    /// Nothing posted, nothing on its way, every request waited for.
    pub fn assert_empty(&self) {
        let state = self.state.lock().unwrap();
        for (rank, mail) in state.ranks.iter().enumerate().filter(|_| !state.is_dead(self)) {
            assert!(mail.posted.is_empty() && mail.unexpected.is_empty(), "left over at rank {rank}");
        }
        assert!(state.requests.iter().all(|r| r.waited), "a request was never waited for");
    }

    /// Whether this rank was told that the net is dead.
    pub fn told(&self, rank: u32) -> bool {
        self.state.lock().unwrap().told[rank as usize]
    }

    fn start_send(
        &self,
        me: u32,
        buf: *const u8,
        count: u64,
        dtype: *const TypeDesc,
        to: u32,
        tag: i32,
    ) -> Result<usize, Status> {
        assert!(tag <= FIRST_TAG && (to as usize) < self.woken.len());
        assert!(to != me || tag == TO_ONESELF, "a message to oneself");
        let user = Data::User(buf as usize, count, dtype as usize);
        let data = if self.synchronous { user } else { Data::Copied(user.read()) };
        let mut state = self.state.lock().unwrap();
        self.count(&mut state, me)?;
        let done = !self.synchronous;
        let id = state.add(Request { owner: me, peer: to, tag, data, done, waited: false });
        let posted = &state.ranks[to as usize].posted;
        match posted.iter().position(|r| state.requests[*r].peer == me && state.requests[*r].tag == tag) {
            Some(place) => {
                let receive = state.ranks[to as usize].posted.remove(place);
                self.deliver(&mut state, id, receive);
            }
            None => state.ranks[to as usize].unexpected.push(id),
        }
        Ok(id)
    }

    fn start_recv(
        &self,
        me: u32,
        buf: *mut u8,
        count: u64,
        dtype: *const TypeDesc,
        from: u32,
        tag: i32,
    ) -> Result<usize, Status> {
        assert!(tag <= FIRST_TAG && (from as usize) < self.woken.len());
        assert!(from != me || tag == TO_ONESELF, "a message from oneself");
        let data = Data::User(buf as usize, count, dtype as usize);
        let mut state = self.state.lock().unwrap();
        self.count(&mut state, me)?;
        let id = state.add(Request { owner: me, peer: from, tag, data, done: false, waited: false });
        let here = &state.ranks[me as usize].unexpected;
        match here.iter().position(|s| state.requests[*s].owner == from && state.requests[*s].tag == tag) {
            Some(place) => {
                let message = state.ranks[me as usize].unexpected.remove(place);
                self.deliver(&mut state, message, id);
            }
            None => state.ranks[me as usize].posted.push(id),
        }
        Ok(id)
    }

    /// Counts an operation, which may be one too many.
    fn count(&self, state: &mut State, me: u32) -> Result<(), Status> {
        state.operations += 1;
        if !state.is_dead(self) {
            return Ok(());
        }
        state.told[me as usize] = true;
        self.woken.iter().for_each(Condvar::notify_all);
        Err(Status::PEER_FAILED)
    }

    fn deliver(&self, state: &mut State, message: usize, receive: usize) {
        if self.synchronous {
            state.flying.push((message, receive));
        } else {
            self.land(state, message, receive);
        }
    }

    fn land(&self, state: &mut State, message: usize, receive: usize) {
        let bytes = state.requests[message].data.read();
        let (from, to) = (state.requests[message].owner, state.requests[receive].owner);
        let room = state.requests[receive].data.len();
        assert_eq!(bytes.len() as u64, room, "a message of rank {from} and its receive in rank {to}");
        state.requests[receive].data.write(&bytes);
        for id in [message, receive] {
            state.requests[id].done = true;
            self.woken[state.requests[id].owner as usize].notify_all();
        }
    }

    fn wait(&self, me: u32, id: usize) -> Status {
        let mut state = self.state.lock().unwrap();
        while !state.requests[id].done && !state.is_dead(self) {
            if !state.flying.is_empty() {
                state.landed += 1;
                let any = state.landed * 7919 % state.flying.len();
                let (message, receive) = state.flying.swap_remove(any);
                self.land(&mut state, message, receive);
                continue;
            }
            // Whoever matched ours waits for its own side of it, and lands it.
            let (next, time) = self.woken[me as usize].wait_timeout(state, PATIENCE).unwrap();
            state = next;
            if time.timed_out() {
                state.report(me, id);
            }
        }
        assert!(!std::mem::replace(&mut state.requests[id].waited, true), "waited for twice");
        if state.requests[id].done {
            return Status::OK;
        }
        state.told[me as usize] = true;
        Status::PEER_FAILED
    }
}

impl State {
    fn is_dead(&self, net: &Net) -> bool {
        self.operations > net.dies_after
    }

    fn add(&mut self, request: Request) -> usize {
        self.requests.push(request);
        self.requests.len() - 1
    }

    /// Somebody waits for a message that nobody sends.
    fn report(&self, me: u32, id: usize) -> ! {
        let r = &self.requests[id];
        let open: Vec<_> = self
            .requests
            .iter()
            .filter(|r| !r.done)
            .map(|r| (r.owner, r.peer, r.tag, r.data.len()))
            .collect();
        eprintln!("rank {me} waits for (peer {}, tag {}); all open: {open:?}", r.peer, r.tag);
        std::process::abort()
    }
}

/// The net, we in it, another rank in it, and the tag there.
fn net(comm: *const CollComm, peer: u32, tag: i32) -> (&'static Net, u32, u32, i32) {
    // SAFETY: the test's communicator, whose view and net outlive the calls.
    let (view, rank) = unsafe { (&*(*comm).comm.cast::<View<'static>>(), (*comm).rank) };
    (view.net, view.mine + rank, view.theirs + peer, tag - 1000 * view.context)
}

/// Requests travel as numbers, from 1 on; nobody but us looks behind the pointer.
fn handle(id: usize) -> *mut RequestHeader {
    std::ptr::without_provenance_mut::<c_void>(8 * (id + 1)).cast()
}

extern "C" fn send(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    to: u32,
    tag: i32,
) -> Status {
    let (net, me, to, tag) = net(comm, to, tag);
    net.start_send(me, buf, count, dtype, to, tag).map_or_else(|e| e, |id| net.wait(me, id))
}

extern "C" fn recv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    from: u32,
    tag: i32,
    status: *mut MsgStatus,
) -> Status {
    let rank = from;
    let (net, me, from, wire_tag) = net(comm, from, tag);
    let done =
        net.start_recv(me, buf, count, dtype, from, wire_tag).map_or_else(|e| e, |id| net.wait(me, id));
    if status.is_null() {
        return done;
    }
    // SAFETY: the component's out pointer.
    unsafe {
        let bytes = (*dtype).packed * count;
        *status = MsgStatus { source: rank as i32, tag, error: done, bytes, ..MsgStatus::EMPTY };
    }
    done
}

pub extern "C" fn isend(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    to: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let (net, me, to, tag) = net(comm, to, tag);
    hand_out(net.start_send(me, buf, count, dtype, to, tag), out)
}

pub extern "C" fn irecv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    from: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let (net, me, from, tag) = net(comm, from, tag);
    hand_out(net.start_recv(me, buf, count, dtype, from, tag), out)
}

fn hand_out(request: Result<usize, Status>, out: *mut *mut RequestHeader) -> Status {
    match request {
        Ok(id) => {
            // SAFETY: the component's out pointer.
            unsafe { *out = handle(id) };
            Status::OK
        }
        Err(status) => status,
    }
}

pub extern "C" fn wait_all(comm: *const CollComm, requests: *mut *mut RequestHeader, n: usize) -> Status {
    let (net, me, ..) = net(comm, 0, 0);
    // SAFETY: the component's array.
    let requests = unsafe { std::slice::from_raw_parts(requests, n) };
    let all = requests.iter().map(|request| net.wait(me, request.addr() / 8 - 1));
    all.fold(Status::OK, |first, next| if first.is_err() { first } else { next })
}
