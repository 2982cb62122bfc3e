//! Operations under way and their requests.
//!
//! An operation has a cursor up to which it is planned. Planning cuts the next batch from there, makes a request of it and moves the cursor on; up to [`AT_ONCE`] requests of
//! an operation are in the ring, and all requests together are no more than the ring is deep. A completion either does all of its request, which makes room to plan more; or a part, and
//! the rest goes into the ring once more; or it is an end: of the file, or a failure. The operation then plans no more, and ends when its last request is back. Of several
//! ends the first in the list is its result, as if the pieces had been transferred one after the other.
//!
//! **The lock** is held for planning, submitting and taking completions out. No request copies data meanwhile: those through the cache are given to workers of the
//! kernel. Operations end behind the lock, since who waits for them may submit again at once.
//!
//! **Threads that end** take their workers with them, and what those had not done comes back as cancelled; it goes into the ring once more. **A child** of a fork has none of the
//! ring's memory: the board knows its process, and touches nothing elsewhere.

use crate::sys::{self, Ring, Vectored};
use core::sync::atomic::{AtomicU32, Ordering};
use oxmpi_fbtl::{Job, Key, Opened, Refusal};
use oxmpi_fbtl_support::{Batch, Cursor, Extent, descriptor, unit};
use oxmpi_fs::error::system;
use oxmpi_mca::Status;
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Requests of one operation that are in the ring at once, at most.
const AT_ONCE: usize = 32;

/// A transfer under way.
struct Underway {
    job: Job,
    file: Opened,
    unit: Option<u64>,
    /// Up to where it is planned.
    planned: Cursor,
    requests: usize,
    /// The first end in the list: where, with what status and bytes.
    end: Option<(u64, Status, u64)>,
    /// Everything is planned.
    complete: bool,
}

/// A batch in the ring.
struct Request {
    operation: usize,
    /// Its first byte, and the bytes from there.
    at: Cursor,
    left: u64,
    /// Read by the kernel while the request is under way.
    extents: Vec<Extent>,
}

/// A list whose entries keep their numbers; free numbers are used again.
struct Slots<T> {
    list: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Slots<T> {
    const fn new() -> Slots<T> {
        Slots { list: Vec::new(), free: Vec::new() }
    }
    fn put(&mut self, value: T) -> usize {
        match self.free.pop() {
            Some(number) => {
                self.list[number] = Some(value);
                number
            }
            None => {
                self.list.push(Some(value));
                self.list.len() - 1
            }
        }
    }
    fn take(&mut self, number: usize) -> Option<T> {
        let value = self.list.get_mut(number)?.take();
        if value.is_some() {
            self.free.push(number);
        }
        value
    }
    fn get(&mut self, number: usize) -> Option<&mut T> {
        self.list.get_mut(number)?.as_mut()
    }
    fn len(&self) -> usize {
        self.list.len() - self.free.len()
    }
}

struct State {
    ring: Ring,
    operations: Slots<Underway>,
    requests: Slots<Request>,
    /// Operations that have more to plan than there was room for.
    due: VecDeque<usize>,
}

/// An operation's result, to be told behind the lock.
type Ended = (Job, Status, u64);

/// Operations of one instance.
pub struct Board {
    state: Mutex<State>,
    fd: RawFd,
    depth: usize,
    process: u32,
    /// Operations that have not ended, for those who look without the lock.
    underway: AtomicU32,
}

impl Board {
    pub fn new(ring: Ring, depth: u32) -> Board {
        let fd = ring.fd();
        let state = State { ring, operations: Slots::new(), requests: Slots::new(), due: VecDeque::new() };
        Board {
            state: Mutex::new(state),
            fd,
            depth: depth as usize,
            process: sys::process(),
            underway: AtomicU32::new(0),
        }
    }

    /// A descriptor that is readable while a completion lies there.
    pub fn fd(&self) -> RawFd {
        self.fd
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No step leaves the lists half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A child of the process that made the ring.
    fn is_elsewhere(&self) -> bool {
        sys::process() != self.process
    }

    /// Puts an operation into the ring. NO_RESOURCE: the ring is full.
    pub fn take(&self, job: Job, file: &Opened) -> Result<(), Refusal> {
        if self.is_elsewhere() {
            job.end(Status::NOT_SUPPORTED, 0);
            return Ok(());
        }
        let mut state = self.state();
        if state.requests.len() >= self.depth || !state.due.is_empty() {
            drop(state);
            return Err(job.refuse(Status::NO_RESOURCE));
        }
        let unit = unit(file, job.is_write());
        let (planned, file) = (Cursor::default(), *file);
        let underway = Underway { job, file, unit, planned, requests: 0, end: None, complete: false };
        let number = state.operations.put(underway);
        self.underway.fetch_add(1, Ordering::Relaxed);
        state.plan(number, self.depth);
        state.ring.submit();
        let ended = state.ended(number);
        drop(state);
        self.tell(ended.into_iter().collect());
        Ok(())
    }

    /// Takes completions out, and ends operations: how many.
    pub fn harvest(&self) -> u32 {
        // An operation of another thread that is missed here is that thread's to see.
        if self.underway.load(Ordering::Relaxed) == 0 || self.is_elsewhere() {
            return 0;
        }
        // The holder of the lock looks at completions, or submits, and the descriptor stays readable.
        let Ok(mut state) = self.state.try_lock() else { return 0 };
        let mut ended: Vec<Ended> = Vec::new();
        while let Some((number, result)) = state.ring.next() {
            let operation = state.completed(number as usize, result, self.depth);
            ended.extend(operation.and_then(|operation| state.ended(operation)));
        }
        for _ in 0..state.due.len() {
            let Some(number) = state.due.pop_front() else { break };
            state.plan(number, self.depth);
            ended.extend(state.ended(number));
        }
        state.ring.submit();
        drop(state);
        let count = ended.len() as u32;
        self.tell(ended);
        count
    }

    fn tell(&self, ended: Vec<Ended>) {
        for (job, status, bytes) in ended {
            self.underway.fetch_sub(1, Ordering::Relaxed);
            job.end(status, bytes);
        }
    }

    /// Plans no more of an operation, which ends when its requests are back.
    pub fn cancel(&self, key: Key) {
        if self.is_elsewhere() {
            return;
        }
        let mut state = self.state();
        let mut all = state.operations.list.iter_mut().flatten();
        let Some(found) = all.find(|operation| operation.job.key() == key) else { return };
        if !found.complete {
            let (at, whole) = (found.planned.total(), found.planned.whole());
            found.close(at, Status::NOT_AVAILABLE, whole);
        }
    }
}

impl Underway {
    /// Notes an end, of which the first in the list counts.
    fn close(&mut self, at: u64, status: Status, bytes: u64) {
        if self.end.is_none_or(|(first, ..)| at < first) {
            self.end = Some((at, status, bytes));
        }
    }
}

impl State {
    /// Puts as many requests of an operation into the ring as there is room for.
    fn plan(&mut self, number: usize, depth: usize) {
        loop {
            let full = self.requests.len() >= depth;
            let Some(operation) = self.operations.get(number) else { return };
            if operation.complete || operation.end.is_some() {
                return;
            }
            if full || operation.requests >= AT_ONCE {
                // A completion of its own plans more; of others only where it stands in the list.
                if operation.requests == 0 {
                    self.due.push_back(number);
                }
                return;
            }
            let mut extents = Vec::new();
            let at = operation.planned;
            let pieces = operation.job.pieces();
            let Some(batch) = at.batch(pieces, operation.unit, u64::MAX, &mut extents) else {
                operation.complete = true;
                return;
            };
            operation.planned.advance(pieces, batch.len);
            operation.requests += 1;
            let by_worker = !batch.direct;
            self.push(Request { operation: number, at, left: batch.len, extents }, batch, by_worker);
        }
    }

    /// Puts a request into the ring, which has room for as many as are under way.
    fn push(&mut self, request: Request, batch: Batch, by_worker: bool) {
        let number = self.requests.put(request);
        let Some(request) = self.requests.get(number) else { return };
        let extents: *const [Extent] = &raw const *request.extents;
        let Some(operation) = self.operations.list.get(request.operation).and_then(Option::as_ref) else {
            return;
        };
        let what = Vectored {
            fd: descriptor(&operation.file, batch.direct),
            is_write: operation.job.is_write(),
            // SAFETY: the list of a request that is in its slot until its completion was taken out; its buffer does not move with the slot.
            extents: unsafe { &*extents },
            offset: batch.offset,
            by_worker,
        };
        // SAFETY: the list as above; its memory is that of a job that is under way until all of its requests are back.
        while !unsafe { self.ring.push(&what, number as u64) } {
            // Requests that were pushed and not submitted fill it.
            self.ring.submit();
        }
    }

    /// Takes note of a completion; the operation, if that may have ended.
    fn completed(&mut self, number: usize, result: i32, depth: usize) -> Option<usize> {
        let mut request = self.requests.take(number)?;
        let owner = request.operation;
        let operation = self.operations.get(owner)?;
        match u64::try_from(result) {
            Ok(0) if operation.job.is_write() => {
                operation.close(request.at.total(), system(sys::WROTE_NOTHING), request.at.whole());
            }
            Ok(0) => operation.close(request.at.total(), Status::OK, request.at.total()),
            Ok(bytes) => {
                request.at.advance(operation.job.pieces(), bytes);
                request.left = request.left.saturating_sub(bytes);
            }
            Err(_) if sys::AGAIN.contains(&-result) => {}
            Err(_) => operation.close(request.at.total(), system(-result), request.at.whole()),
        }
        let done = request.left == 0 || operation.end.is_some_and(|(at, ..)| at <= request.at.total());
        if !done {
            let (pieces, unit) = (operation.job.pieces(), operation.unit);
            if let Some(batch) = request.at.batch(pieces, unit, request.left, &mut request.extents) {
                self.push(request, batch, true);
                return None;
            }
        }
        operation.requests -= 1;
        self.plan(owner, depth);
        Some(owner)
    }

    /// Takes an operation out whose last request is back.
    fn ended(&mut self, number: usize) -> Option<Ended> {
        let operation = self.operations.get(number)?;
        if operation.requests > 0 || !operation.complete && operation.end.is_none() {
            return None;
        }
        let operation = self.operations.take(number)?;
        let (_, status, bytes) = operation.end.unwrap_or((0, Status::OK, operation.planned.total()));
        Some((operation.job, status, bytes))
    }
}
