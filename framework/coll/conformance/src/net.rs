//! Point-to-point between threads: one lock, a list of posted receives and one of unexpected messages
//! per rank. Unless sends are eager, a matched message is in flight until somebody who waits lands it,
//! in any order, and only then its data is read from the sender's buffer: as large messages do, one
//! may arrive before another that was sent earlier.
//!
//! Nothing here panics, since it runs under the component's frames: what is wrong is noted, and the job fails at its end. A wait in
//! which nothing happens for too long ends the net, and with it the waits of all ranks.

use core::time::Duration;
use oxmpi_datatype::{TypeDesc, pack, unpack};
use oxmpi_mca::{Descriptor, Status};
use oxmpi_testing::{JobState, held};
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

/// Elements in a rank's memory.
pub type Elements = (*const u8, u64, *const TypeDesc);

/// The line that a receive names: its peer, its communicator or plan, its tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub peer: u32,
    pub context: u64,
    pub tag: i32,
}

pub struct Net {
    /// Serves the parts of a communicator that components ask the host for.
    pub parts: Option<&'static Descriptor>,
    synchronous: bool,
    /// After so many operations no message arrives any more, and everything fails.
    dies_after: usize,
    /// Pairs of ranks, the lower one first, that do not reach each other.
    cut: Vec<(u32, u32)>,
    patience: Duration,
    state: Mutex<State>,
    woken: Vec<Condvar>,
    /// How often each word was woken, by address, and who sleeps until one is.
    words: Mutex<HashMap<usize, u64>>,
    words_changed: Condvar,
    /// Memory of nodes.
    pub shared: Arc<JobState>,
}

#[derive(Default)]
struct State {
    ranks: Vec<Mail>,
    requests: Vec<Request>,
    /// Matched pairs of a send and a receive.
    flying: Vec<(usize, usize)>,
    landed: usize,
    operations: usize,
    /// Ranks that were told that the net is dead.
    told: Vec<bool>,
    /// The job is over before its time.
    ended: bool,
    complaints: Vec<String>,
}

#[derive(Default)]
struct Mail {
    posted: Vec<usize>,
    unexpected: Vec<usize>,
}

/// A send or a receive; requests are named by their index.
struct Request {
    owner: u32,
    line: Line,
    data: Data,
    /// How it ends: a receive by what its sender told.
    outcome: Status,
    done: bool,
    waited: bool,
}

enum Data {
    /// Address, count and type in the owner's memory, which waits until it is done.
    User(usize, u64, usize),
    Copied(Vec<u8>),
    /// In place of a message: its receive ends with this.
    Failure(Status),
}

// SAFETY (of the pointers above): both sides wait for their requests, and matching is under the lock.
impl Data {
    fn of((buf, count, dtype): Elements) -> Data {
        Data::User(buf as usize, count, dtype as usize)
    }
    fn len(&self) -> u64 {
        match self {
            // SAFETY: the type lives until the request is waited for.
            Data::User(_, count, dtype) => unsafe { (*(*dtype as *const TypeDesc)).packed * count },
            Data::Copied(bytes) => bytes.len() as u64,
            Data::Failure(_) => 0,
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
            Data::Failure(_) => Vec::new(),
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

/// Ends the net when the thread that has it panics: the other ranks would wait for it.
pub struct EndsWithPanics<'a>(&'a Net);

impl Drop for EndsWithPanics<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop("a rank failed (above)".into());
        }
    }
}

impl Net {
    pub fn new(
        parts: Option<&'static Descriptor>,
        n: u32,
        synchronous: bool,
        dies_after: usize,
        cut: Vec<(u32, u32)>,
        patience: Duration,
    ) -> Net {
        let state = State {
            ranks: (0..n).map(|_| Mail::default()).collect(),
            told: vec![false; n as usize],
            ..State::default()
        };
        let woken = (0..n).map(|_| Condvar::new()).collect();
        let state = Mutex::new(state);
        Net {
            parts,
            synchronous,
            dies_after,
            cut,
            patience,
            state,
            woken,
            words: Mutex::default(),
            words_changed: Condvar::new(),
            shared: Arc::default(),
        }
    }

    pub fn size(&self) -> u32 {
        self.woken.len() as u32
    }

    pub fn ends_with_panics(&self) -> EndsWithPanics<'_> {
        EndsWithPanics(self)
    }

    pub fn violation(&self, what: String) {
        held(&self.state).complain(what);
    }

    /// The mistakes that were found, also operations that are posted, on their way, or were never waited for.
    pub fn complaints(&self) -> Vec<String> {
        let mut state = held(&self.state);
        if !state.ended {
            let alive = !state.is_dead(self);
            let left = |mail: &&Mail| !mail.posted.is_empty() || !mail.unexpected.is_empty();
            if alive && state.ranks.iter().any(|mail| left(&mail)) {
                let ranks: Vec<_> = (0..state.ranks.len()).filter(|r| left(&&state.ranks[*r])).collect();
                state.complain(format!("messages or receives are left over at ranks {ranks:?}"));
            }
            if !state.requests.iter().all(|r| r.waited) {
                state.complain("a request was never waited for".into());
            }
        }
        core::mem::take(&mut state.complaints)
    }

    /// Whether this rank was told that the net is dead.
    pub fn told(&self, me: u32) -> bool {
        held(&self.state).told[me as usize]
    }

    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Ends the job: everything fails from now on.
    pub fn stop(&self, why: String) {
        self.end(&mut held(&self.state), why);
    }

    /// Whether everything fails from now on.
    pub fn is_dead(&self) -> bool {
        held(&self.state).is_dead(self)
    }

    pub fn start_send(&self, me: u32, what: Elements, line: Line) -> Result<usize, Status> {
        let user = Data::of(what);
        self.post_send(me, if self.synchronous { user } else { Data::Copied(user.read()) }, line)
    }

    /// In place of a message: its receive ends with `error`.
    pub fn start_failure(&self, me: u32, error: Status, line: Line) -> Result<usize, Status> {
        self.post_send(me, Data::Failure(error), line)
    }

    fn post_send(&self, me: u32, data: Data, line: Line) -> Result<usize, Status> {
        let mut state = held(&self.state);
        self.count(&mut state, me, line.peer)?;
        let done = !self.synchronous;
        let id = state.add(Request { owner: me, line, data, outcome: Status::OK, done, waited: false });
        let wanted = Line { peer: me, ..line };
        let posted = &state.ranks[line.peer as usize].posted;
        match posted.iter().position(|r| state.requests[*r].line == wanted) {
            Some(place) => {
                let receive = state.ranks[line.peer as usize].posted.remove(place);
                self.deliver(&mut state, id, receive);
            }
            None => state.ranks[line.peer as usize].unexpected.push(id),
        }
        Ok(id)
    }

    pub fn start_recv(&self, me: u32, what: Elements, line: Line) -> Result<usize, Status> {
        let mut state = held(&self.state);
        self.count(&mut state, me, line.peer)?;
        let data = Data::of(what);
        let id =
            state.add(Request { owner: me, line, data, outcome: Status::OK, done: false, waited: false });
        let sent = |s: &usize| {
            let request = &state.requests[*s];
            request.owner == line.peer && request.line == Line { peer: me, ..line }
        };
        match state.ranks[me as usize].unexpected.iter().position(sent) {
            Some(place) => {
                let message = state.ranks[me as usize].unexpected.remove(place);
                self.deliver(&mut state, message, id);
            }
            None => state.ranks[me as usize].posted.push(id),
        }
        Ok(id)
    }

    /// Counts an operation, which may be one too many, or with a rank that is not reached.
    fn count(&self, state: &mut State, me: u32, peer: u32) -> Result<(), Status> {
        state.operations += 1;
        if !state.is_dead(self) {
            let is_cut = self.cut.contains(&(me.min(peer), me.max(peer)));
            return if is_cut { Err(Status::UNREACHABLE) } else { Ok(()) };
        }
        state.told[me as usize] = true;
        self.wake_all();
        Err(Status::PEER_FAILED)
    }

    /// Counts a wait for a word, which is an operation, too.
    pub fn count_wait(&self, me: u32) -> Result<(), Status> {
        self.count(&mut held(&self.state), me, me)
    }

    /// Notes that a rank is told that the net is dead.
    pub fn tell(&self, me: u32) {
        held(&self.state).told[me as usize] = true;
    }

    fn wake_all(&self) {
        self.woken.iter().for_each(Condvar::notify_all);
        self.words_changed.notify_all();
    }

    /// Wakes who sleeps on the word at an address.
    pub fn wake_word(&self, word: usize) {
        *held(&self.words).entry(word).or_default() += 1;
        self.words_changed.notify_all();
    }

    /// How often the word at an address was woken; to be asked before the word is looked at.
    pub fn words_woken(&self, word: usize) -> u64 {
        held(&self.words).get(&word).copied().unwrap_or(0)
    }

    /// Sleeps until the word at an address was woken more often than `before`, or the net is dead; false: neither was so for the
    /// time that is `left`.
    pub fn sleep_on_word(&self, word: usize, before: u64, left: Duration) -> bool {
        /// The time between two looks whether the net is dead, which no word tells.
        const LOOK: Duration = Duration::from_millis(20);
        let until = Instant::now() + left;
        let mut words = held(&self.words);
        while words.get(&word).copied().unwrap_or(0) == before {
            if Instant::now() >= until {
                return false;
            }
            words = self.words_changed.wait_timeout(words, LOOK).unwrap_or_else(|e| e.into_inner()).0;
            if self.is_dead() {
                return true;
            }
        }
        true
    }

    fn end(&self, state: &mut State, why: String) {
        if !core::mem::replace(&mut state.ended, true) {
            state.complain(why);
        }
        self.wake_all();
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
        if let Data::Failure(error) = state.requests[message].data {
            state.requests[receive].outcome = error;
        } else if bytes.len() as u64 == room {
            state.requests[receive].data.write(&bytes);
        } else {
            let len = bytes.len();
            state.complain(format!("{len} bytes of rank {from} for a receive of {room} in rank {to}"));
        }
        for id in [message, receive] {
            state.requests[id].done = true;
            self.woken[state.requests[id].owner as usize].notify_all();
        }
    }

    pub fn wait(&self, me: u32, id: usize) -> Status {
        let mut state = held(&self.state);
        if state.requests.get(id).is_none_or(|r| r.owner != me || r.waited) {
            state.complain(format!("rank {me} waits for what is no request of its own any more"));
            return Status::BAD_PARAM;
        }
        while !state.requests[id].done && !state.is_dead(self) {
            if !state.flying.is_empty() {
                state.landed += 1;
                let any = state.landed * 7919 % state.flying.len();
                let (message, receive) = state.flying.swap_remove(any);
                self.land(&mut state, message, receive);
                continue;
            }
            // The rank that matched ours waits for its own side of it, and lands it.
            let before = state.operations + state.landed;
            let waited = self.woken[me as usize].wait_timeout(state, self.patience);
            let (next, time) = waited.unwrap_or_else(|e| e.into_inner());
            state = next;
            if time.timed_out() && state.operations + state.landed == before {
                let report = state.report(me, id, self.patience);
                self.end(&mut state, report);
            }
        }
        state.requests[id].waited = true;
        if state.requests[id].done {
            return state.requests[id].outcome;
        }
        state.told[me as usize] = true;
        Status::PEER_FAILED
    }
}

impl State {
    fn is_dead(&self, net: &Net) -> bool {
        self.ended || self.operations > net.dies_after
    }

    /// Notes what is wrong, once each.
    fn complain(&mut self, what: String) {
        if !self.complaints.contains(&what) {
            self.complaints.push(what);
        }
    }

    fn add(&mut self, request: Request) -> usize {
        self.requests.push(request);
        self.requests.len() - 1
    }

    /// Somebody waits for a message that nobody sends.
    fn report(&self, me: u32, id: usize, patience: Duration) -> String {
        let open = self.requests.iter().filter(|r| !r.done);
        let open: Vec<_> = open.map(|r| (r.owner, r.line.peer, r.line.tag, r.data.len())).collect();
        let line = self.requests[id].line;
        format!(
            "nothing happened for {patience:?} while rank {me} waits for (peer {}, tag {}); all open, by rank, peer, tag, bytes: {open:?}",
            line.peer, line.tag
        )
    }
}
