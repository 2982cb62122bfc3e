//! One rank as checks see it: windows, operations with types, barriers.

use crate::host::{Host, HostWindow, WantedMemory};
use core::ptr::{null, null_mut};
use oxmpi_datatype::kernel::{OpDesc, op};
use oxmpi_datatype::{Base, TypeDesc, TypeRef};
use oxmpi_mca::{Entry, RequestHeader, Status, ThreadCtx};
use oxmpi_osc::{Operation, RmaArgs, Verbs};
use std::sync::Arc;

/// MPI_ERR_UNSUPPORTED_OPERATION.
const UNSUPPORTED: i32 = 55;

/// One rank of a job. Its own thread calls it; others use the window and the host.
pub struct Rank {
    pub host: Box<dyn Host>,
    component: String,
    whole: bool,
}

/// A number that tells ranks and places apart.
pub fn rank_value(rank: u32, at: usize) -> i64 {
    i64::from(rank) << 32 | at as i64
}

/// A basic type.
pub fn basic(base: Base) -> TypeRef {
    let desc = TypeDesc::basic(base).expect("a basic type");
    // SAFETY: predefined types are not counted; the descriptor is leaked, some bytes for each check that makes one.
    unsafe { TypeRef::adopt(Box::leak(Box::new(desc))) }
}

/// A predefined operation.
pub fn operation(code: u32) -> OpDesc {
    OpDesc {
        size: size_of::<OpDesc>() as u32,
        code,
        commutative: (code != op::REPLACE).into(),
        reserved: 0,
        user: None,
        ctx: null_mut(),
    }
}

/// Elements in memory of the origin.
#[derive(Clone, Copy)]
pub struct Data<'a> {
    pub at: *mut u8,
    pub count: u64,
    pub dtype: &'a TypeDesc,
}

impl<'a> Data<'a> {
    /// To be read.
    pub fn of<T>(values: &'a [T], dtype: &'a TypeDesc) -> Data<'a> {
        Data { at: values.as_ptr().cast_mut().cast(), count: values.len() as u64, dtype }
    }
    /// To be written.
    pub fn into<T>(values: &'a mut [T], dtype: &'a TypeDesc) -> Data<'a> {
        Data { at: values.as_mut_ptr().cast(), count: values.len() as u64, dtype }
    }
}

/// Elements at a target.
#[derive(Clone, Copy)]
pub struct TargetElements<'a> {
    pub rank: u32,
    pub disp: i64,
    pub count: u64,
    pub dtype: &'a TypeDesc,
}

impl Rank {
    /// A rank of a job in which `component` is tested. `whole`: optional verbs must be there.
    pub fn new(host: Box<dyn Host>, component: &str, whole: bool) -> Rank {
        Rank { host, component: component.into(), whole }
    }

    /// Whether an optional verb is there: it is not if it answers so.
    pub fn has(&self, verb: &str, answer: Status) -> bool {
        let there = answer != Status::NOT_SUPPORTED;
        assert!(there || !self.whole, "{verb} is not there");
        if !there && self.me() == 0 {
            eprintln!("  {} has no {verb}", self.component);
        }
        there
    }

    pub fn me(&self) -> u32 {
        self.host.rank()
    }
    pub fn size(&self) -> u32 {
        self.host.size()
    }
    pub fn right(&self) -> u32 {
        (self.me() + 1) % self.size()
    }
    pub fn left(&self) -> u32 {
        (self.me() + self.size() - 1) % self.size()
    }
    pub fn all(&self) -> Vec<u32> {
        (0..self.size()).collect()
    }
    pub fn thread(&self) -> *mut ThreadCtx {
        self.host.thread()
    }
    /// The main thread's way in, for one call.
    pub fn entry(&self) -> Entry {
        // SAFETY: among others; the main thread's context, which the host keeps longer than the check.
        unsafe { Entry::of(true, self.thread()) }
    }
    pub fn barrier(&self) {
        self.host.barrier().unwrap_or_else(|e| panic!("a barrier: {e}"));
    }

    /// A window of all ranks, which the component under test must serve.
    pub fn window(&self, disp_unit: i64, memory: WantedMemory) -> Win<'_> {
        self.window_with(disp_unit, memory, &[])
    }

    pub fn window_with(&self, disp_unit: i64, memory: WantedMemory, hints: &[(&str, &str)]) -> Win<'_> {
        let window = self.host.window(disp_unit, memory, hints);
        let window = window.unwrap_or_else(|e| panic!("a window: {e}"));
        let by = window.verbs().map(Verbs::component);
        assert_eq!(by, Some(self.component.as_str()), "the window is served by another component");
        Win::new(window, self)
    }

    /// Over memory of the check's.
    pub fn over<T>(&self, memory: &mut [T]) -> Win<'_> {
        let bytes = size_of_val(memory) as u64;
        self.window(size_of::<T>() as i64, WantedMemory::Users { base: memory.as_mut_ptr().cast(), bytes })
    }
}

/// A request of a check, given back when it is waited for.
pub struct Pending(*mut RequestHeader);

/// A window of a check. Every call must succeed, but those whose names begin with `try_`.
#[derive(Clone)]
pub struct Win<'a> {
    pub window: Arc<dyn HostWindow>,
    pub rank: &'a Rank,
    thread: *mut ThreadCtx,
}

// SAFETY: a check gives a thread a window with that thread's own context ([`Win::on`]); all else in it may go to any thread.
unsafe impl Send for Win<'_> {}
// SAFETY: a shared one is made one of the thread's own ([`Win::on`]) before a call is made by it.
unsafe impl Sync for Win<'_> {}

fn fine(status: Status, what: &str) {
    assert!(!status.is_err(), "{what}: {status}");
}

impl<'a> Win<'a> {
    /// For the main thread of the rank.
    pub fn new(window: Arc<dyn HostWindow>, rank: &'a Rank) -> Win<'a> {
        Win { window, rank, thread: rank.thread() }
    }

    pub fn verbs(&self) -> &Verbs {
        self.window.verbs().expect("a window that a component serves")
    }
    fn thread(&self) -> *mut ThreadCtx {
        self.thread
    }
    /// The thread's way in, for one call.
    fn entry(&self) -> Entry {
        // SAFETY: among others; the context of the thread that the window is for (`on`), which has it until its check is over.
        unsafe { Entry::of(true, self.thread()) }
    }
    /// The same window for another thread, which has this context.
    pub fn on(&self, thread: *mut ThreadCtx) -> Self {
        Win { thread, ..self.clone() }
    }

    pub fn free(self) {
        let freed = self.window.free(self.thread());
        freed.unwrap_or_else(|e| panic!("freeing a window: {e}"));
    }

    pub fn fence(&self) {
        fine(self.verbs().fence(&mut self.entry(), 0), "fence");
    }
    pub fn lock(&self, kind: u32, rank: u32) {
        fine(self.verbs().lock(&mut self.entry(), kind, rank, 0), "lock");
    }
    pub fn unlock(&self, rank: u32) {
        fine(self.verbs().unlock(&mut self.entry(), rank), "unlock");
    }
    pub fn lock_all(&self) {
        fine(self.verbs().lock_all(&mut self.entry(), 0), "lock_all");
    }
    pub fn unlock_all(&self) {
        fine(self.verbs().unlock_all(&mut self.entry()), "unlock_all");
    }
    pub fn flush(&self, rank: u32) {
        fine(self.verbs().flush(&mut self.entry(), Some(rank), false), "flush");
    }
    pub fn flush_local(&self, rank: u32) {
        fine(self.verbs().flush(&mut self.entry(), Some(rank), true), "flush_local");
    }
    pub fn flush_all(&self) {
        fine(self.verbs().flush(&mut self.entry(), None, false), "flush_all");
    }
    pub fn sync(&self) {
        fine(self.verbs().sync(&mut self.entry()), "sync");
    }

    /// Another window on the same memory; `None`: the component makes none.
    pub fn dup(&self, hints: &[(&str, &str)]) -> Option<Win<'a>> {
        match self.window.dup(self.thread(), hints) {
            Ok(window) => Some(Win { window, ..self.clone() }),
            Err(e) if e.class == UNSUPPORTED => {
                self.rank.has("dup", Status::NOT_SUPPORTED);
                None
            }
            Err(e) => panic!("a duplicate: {e}"),
        }
    }
    pub fn try_put_notify(&self, data: Data<'_>, there: TargetElements<'_>, counter: u32) -> Status {
        self.begin_notified(Operation::Put, &self.with(data, there), counter)
    }
    pub fn try_get_notify(&self, data: Data<'_>, there: TargetElements<'_>, counter: u32) -> Status {
        self.begin_notified(Operation::Get, &self.with(data, there), counter)
    }
    pub fn put_notify(&self, data: Data<'_>, there: TargetElements<'_>, counter: u32) {
        fine(self.try_put_notify(data, there, counter), "put_notify");
    }
    pub fn get_notify(&self, data: Data<'_>, there: TargetElements<'_>, counter: u32) {
        fine(self.try_get_notify(data, there, counter), "get_notify");
    }
    pub fn try_notifications(&self, counter: u32, reset: bool) -> Result<u64, Status> {
        self.verbs().notify_read(&mut self.entry(), counter, reset)
    }
    /// Waits until a counter is as high; its value.
    pub fn notified(&self, counter: u32, threshold: u64) -> u64 {
        let value = self.verbs().notify_wait(&mut self.entry(), counter, threshold);
        value.unwrap_or_else(|e| panic!("notify_wait: {e}"))
    }
    /// Whether the component has notifications.
    pub fn notifies(&self) -> bool {
        let answer = self.try_notifications(0, false).err().unwrap_or(Status::OK);
        self.rank.has("notify_read", answer)
    }

    fn args(&self, there: TargetElements<'_>) -> RmaArgs {
        RmaArgs {
            thread: self.thread(),
            origin: null_mut(),
            origin_count: 0,
            origin_type: null(),
            result: null_mut(),
            result_count: 0,
            result_type: null(),
            compare: null(),
            target: there.rank,
            reserved: 0,
            disp: there.disp,
            target_count: there.count,
            target_type: there.dtype,
            op: null(),
        }
    }

    fn with(&self, data: Data<'_>, there: TargetElements<'_>) -> RmaArgs {
        RmaArgs { origin: data.at, origin_count: data.count, origin_type: data.dtype, ..self.args(there) }
    }

    /// Starts an operation of the window's thread, whose entry is lent to nobody else meanwhile.
    fn start(&self, operation: Operation, args: &RmaArgs) -> Status {
        // SAFETY: the thread's own context; descriptions are there during the call, and a check keeps its data until the epoch is over.
        unsafe { self.verbs().start(operation, args) }
    }
    /// The same, counted at the target.
    fn begin_notified(&self, operation: Operation, args: &RmaArgs, counter: u32) -> Status {
        // SAFETY: as in `start`.
        unsafe { self.verbs().notified(operation, args, counter) }
    }

    pub fn try_put(&self, data: Data<'_>, there: TargetElements<'_>) -> Status {
        self.start(Operation::Put, &self.with(data, there))
    }
    pub fn put(&self, data: Data<'_>, there: TargetElements<'_>) {
        fine(self.try_put(data, there), "put");
    }
    pub fn try_get(&self, data: Data<'_>, there: TargetElements<'_>) -> Status {
        self.start(Operation::Get, &self.with(data, there))
    }
    pub fn get(&self, data: Data<'_>, there: TargetElements<'_>) {
        fine(self.try_get(data, there), "get");
    }
    pub fn try_accumulate(&self, data: Data<'_>, there: TargetElements<'_>, code: u32) -> Status {
        let op = operation(code);
        self.start(Operation::Accumulate, &RmaArgs { op: &op, ..self.with(data, there) })
    }
    pub fn accumulate(&self, data: Data<'_>, there: TargetElements<'_>, code: u32) {
        fine(self.try_accumulate(data, there, code), "accumulate");
    }
    /// `data` `None`: for NO_OP.
    pub fn get_accumulate(
        &self,
        data: Option<Data<'_>>,
        result: Data<'_>,
        there: TargetElements<'_>,
        code: u32,
    ) {
        let op = operation(code);
        let args = data.map_or_else(|| self.args(there), |data| self.with(data, there));
        let (at, count, dtype) = (result.at, result.count, result.dtype);
        let args = RmaArgs { op: &op, result: at, result_count: count, result_type: dtype, ..args };
        fine(self.start(Operation::GetAccumulate, &args), "get_accumulate");
    }
    /// One element each.
    pub fn fetch_and_op(&self, data: Data<'_>, result: Data<'_>, there: TargetElements<'_>, code: u32) {
        let op = operation(code);
        let (at, count, dtype) = (result.at, result.count, result.dtype);
        let args = RmaArgs {
            op: &op,
            result: at,
            result_count: count,
            result_type: dtype,
            ..self.with(data, there)
        };
        fine(self.start(Operation::FetchAndOp, &args), "fetch_and_op");
    }
    /// One element each.
    pub fn compare_and_swap(
        &self,
        data: Data<'_>,
        compare: Data<'_>,
        result: Data<'_>,
        there: TargetElements<'_>,
    ) {
        let (at, count, dtype) = (result.at, result.count, result.dtype);
        let args = RmaArgs {
            compare: compare.at,
            result: at,
            result_count: count,
            result_type: dtype,
            ..self.with(data, there)
        };
        fine(self.start(Operation::CompareAndSwap, &args), "compare_and_swap");
    }

    /// The request of an operation; for get_accumulate with a result in the place of `data`, `code` NO_OP.
    pub fn request(&self, which: Operation, data: Data<'_>, there: TargetElements<'_>, code: u32) -> Pending {
        let op = operation(code);
        let mut args = RmaArgs { op: &op, ..self.with(data, there) };
        if which == Operation::GetAccumulate {
            (args.result, args.result_count, args.result_type) = (data.at, data.count, data.dtype);
        }
        // SAFETY: as in `start`; a check keeps its data until it has waited.
        let request = unsafe { self.verbs().request(which, &args) };
        Pending(request.unwrap_or_else(|e| panic!("a request: {e}")))
    }

    /// Waits for a request and gives it back; what came of the operation.
    pub fn wait(&self, pending: Pending) -> Status {
        self.rank.host.wait(self.thread(), pending.0);
        // SAFETY: complete.
        let error = unsafe { (*pending.0).status.error };
        self.release(pending);
        error
    }

    /// Gives a request back, complete or not (MPI_Request_free).
    pub fn release(&self, pending: Pending) {
        // SAFETY: of the component under test, given back once.
        unsafe { ((*(*pending.0).ops).release)(pending.0, self.thread()) };
    }
}
