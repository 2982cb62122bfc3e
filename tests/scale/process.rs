//! One process of a job of any size, as a one-sided component sees it: the component is real, its host counts, and nobody else is there.
//!
//! **Two casts.** osc-rdma needs nothing of other ranks but memory, so all of them are *echoes* of the one process: what a leader tells
//! comes back as what every leader tells, and every address that is reached is its own. Its transport's gets, puts and atomics are
//! carried out there and counted. Shared locks of other ranks fall on the own word together, where they add up and come off again. osc-pt2pt
//! needs answers, so the ranks of its windows are there, all served by one instance of the component: the origin sees a window of
//! all ranks, each target one of two, the origin and itself, since a target's part in a lock is between these.
//!
//! The host answers at once and waits for nobody; a wait that nothing ends fails the test.

use crate::allocations::apart;
use crate::echo::{self, Counts, more};
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_btl::{BtlAttrs, BtlHandle, BtlServices, Reach};
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::host::ProgressFn;
use oxmpi_mca::services::{HostServices, NodeMemory};
use oxmpi_mca::{
    Descriptor, HostTable, LayerFunction, MsgStatus, Place, RequestHeader, SliceRef, Status, StrRef,
    ThreadCtx,
};
use oxmpi_osc::{
    Mapped, OscModule, OscTable, OscWindow, Outstanding, Predicate, WinComm, WinDesc, WinServices, flavor,
};
use oxmpi_testing::{Desk, FakeHost, JobState, services};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

/// Sender, tag, bytes.
type Message = (u32, i32, Vec<u8>);

/// An instance of a component and its host.
pub struct Instance {
    desk: Desk,
    table: std::cell::OnceCell<Box<HostTable>>,
    module: Cell<Option<OscModule>>,
    progress: RefCell<Vec<(ProgressFn, *mut c_void)>>,
    pub counts: Counts,
    /// Messages to ranks of the origin's window, by rank; each with its sender, in that window, its tag and its bytes.
    boxes: RefCell<Vec<VecDeque<Message>>>,
    /// Messages with this tag do not come.
    pub held: Cell<Option<i32>>,
    attrs: BtlAttrs,
    /// Memory of the node.
    node: RefCell<Vec<Vec<Line>>>,
    thread: Box<std::cell::UnsafeCell<ThreadCtx>>,
}

// SAFETY: an instance stays with the thread of its test; the trait of hosts wants more than that.
unsafe impl Sync for Instance {}

/// Where a rank of a window is among nodes of equal size.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub nodes: u32,
    pub per_node: u32,
    pub rank: u32,
}

impl Shape {
    pub fn ranks(&self) -> u32 {
        self.nodes * self.per_node
    }
}

/// Whom the other ranks are played by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// The process itself.
    Echo,
    /// Ranks that are there; which one of the origin's window this is.
    There(u32),
}

/// A window of one rank. Never moves.
pub struct Win {
    pub instance: Rc<Instance>,
    shape: Shape,
    cast: Cast,
    flavor: u32,
    comm: WinComm,
    btl_services: BtlServices,
    handle: BtlHandle,
    reach: Cell<Reach>,
    pub byte: TypeDesc,
    /// Bytes that this process told another by a tag: echoes tell the same.
    told: RefCell<HashMap<i32, Vec<u8>>>,
    pub base: Box<[u64]>,
    made: Cell<Option<(*mut c_void, *const OscTable)>>,
}

/// A message that is on its way.
struct Pending {
    into: *mut u8,
    len: usize,
    from: i32,
    tag: i32,
    sends: bool,
}

impl FakeHost for Instance {
    const SERVICES: Option<&'static HostServices> =
        Some(&HostServices { node_memory, node_memory_free, ..services::<Instance>() });

    fn desk(&self) -> &Desk {
        &self.desk
    }
    fn unused(&self, what: &str) -> Status {
        panic!("the component {what}")
    }
    fn failed(&self, proc: u32, status: Status, message: &str) {
        panic!("process {proc}: {status}: {message}")
    }
    fn progress_register(&self, function: &LayerFunction) -> Status {
        apart(|| self.progress.borrow_mut().push((function.function, function.context)));
        Status::OK
    }
    fn progress_unregister(&self, _: ProgressFn, ctx: *mut c_void) -> Status {
        apart(|| self.progress.borrow_mut().retain(|(_, at)| *at != ctx));
        Status::OK
    }
}

impl Instance {
    /// Opens a component with parameters by their short names, in a job of so many processes. `boxes`: of ranks that are there.
    pub fn open(
        descriptor: *const Descriptor,
        given: &[(&str, &str)],
        processes: u32,
        boxes: u32,
    ) -> Rc<Instance> {
        Instance::with_lists(descriptor, given, processes, boxes, 0)
    }

    /// The same with a transport that has lists of so many bytes.
    pub fn with_lists(
        descriptor: *const Descriptor,
        given: &[(&str, &str)],
        processes: u32,
        boxes: u32,
        lists: u64,
    ) -> Rc<Instance> {
        let shared = Arc::new(JobState::default());
        let instance = Rc::new(Instance {
            desk: Desk::new(Desk::job_of(0, processes), 1, false, shared),
            table: std::cell::OnceCell::new(),
            module: Cell::new(None),
            progress: RefCell::default(),
            counts: Counts::default(),
            boxes: RefCell::new((0..boxes).map(|_| VecDeque::new()).collect()),
            held: Cell::new(None),
            attrs: echo::attrs(lists),
            node: RefCell::default(),
            thread: Box::new(std::cell::UnsafeCell::new(ThreadCtx::new(0, 0))),
        });
        let table = instance.table.get_or_init(|| Box::new(instance.desk.table(&*instance)));
        let given: Vec<(String, String)> =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        // SAFETY: a component that is linked in.
        let descriptor = unsafe { &*descriptor };
        let opened = oxmpi_testing::setup::open::<OscModule>(descriptor, table, &given);
        let (_, modules) = opened.unwrap_or_else(|e| panic!("the component does not open: {e}"));
        instance.module.set(modules.first().copied());
        instance
    }

    fn module(&self) -> OscModule {
        self.module.get().expect("it is open")
    }

    pub fn thread(&self) -> *mut ThreadCtx {
        self.thread.get()
    }

    /// A turn of progress of everybody who is there.
    pub fn turn(&self) -> i32 {
        let all = apart(|| self.progress.borrow().clone());
        let events = all.iter().map(|(f, ctx)| f(*ctx, self.thread())).sum();
        apart(|| drop(all));
        events
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(module) = self.module.get() {
            (module.finalize)(module.state);
        }
    }
}

impl Win {
    /// Makes the window of one rank. `flavor`: of [`flavor`]; `bytes` of memory.
    pub fn make(instance: &Rc<Instance>, shape: Shape, cast: Cast, flavor: u32, bytes: u64) -> Box<Win> {
        let mut win = apart(|| {
            Box::new(Win {
                instance: instance.clone(),
                shape,
                cast,
                flavor,
                comm: WinComm {
                    size: size_of::<WinComm>() as u32,
                    num_ranks: shape.ranks(),
                    rank: shape.rank,
                    num_nodes: shape.nodes,
                    comm: null_mut(),
                    services: &SERVICES,
                    btl: core::ptr::null(),
                },
                btl_services: echo::services(&instance.counts),
                handle: echo::handle(&instance.attrs, &instance.counts),
                reach: Cell::new(Reach {
                    btl: core::ptr::null(),
                    endpoint: null_mut(),
                    width: 1,
                    reserved: 0,
                }),
                byte: TypeDesc::basic(Base::U8).expect("a basic type"),
                told: RefCell::default(),
                base: vec![0; bytes.div_ceil(8) as usize].into(),
                made: Cell::new(None),
            })
        });
        let at: *mut Win = &mut *win;
        win.comm.comm = at.cast();
        win.comm.btl = &win.btl_services;
        win.reach.set(Reach { btl: &win.handle, endpoint: at.cast(), width: 1, reserved: 0 });
        let dynamic = flavor == flavor::DYNAMIC;
        // SAFETY: numbers and addresses, for all of which 0 means that nothing is said.
        let mut desc: WinDesc = unsafe { core::mem::MaybeUninit::zeroed().assume_init() };
        desc.size = size_of::<WinDesc>() as u32;
        (desc.flavor, desc.disp_unit, desc.ordering) = (flavor, 8, oxmpi_osc::ordering::ALL);
        desc.comm = &win.comm;
        if !dynamic {
            (desc.base, desc.bytes) = (win.base.as_ptr().cast_mut().cast(), bytes);
        }
        let mut out = OscWindow { window: null_mut(), table: core::ptr::null() };
        let module = instance.module();
        let status = (module.create)(module.state, &desc, instance.thread(), &mut out);
        assert!(!status.is_err(), "{shape:?}: no window: {status}");
        win.made.set(Some((out.window, out.table)));
        win
    }

    pub fn verbs(&self) -> (*mut c_void, &OscTable, *mut ThreadCtx) {
        let (window, table) = self.made.get().expect("it is made");
        // SAFETY: the component's, as long as the window.
        (window, unsafe { &*table }, self.instance.thread())
    }

    pub fn lock_all(&self) {
        let (window, table, thread) = self.verbs();
        assert_eq!((table.lock_all)(window, thread, 0), Status::OK);
    }

    pub fn unlock_all(&self) {
        let (window, table, thread) = self.verbs();
        assert_eq!((table.unlock_all)(window, thread), Status::OK);
    }

    /// The sender of a rank's messages, and the box that messages to a rank go to, in the origin's numbers.
    fn ends(&self, rank: u32) -> (u32, u32) {
        match self.cast {
            Cast::There(0) => (0, rank),
            Cast::There(me) => (me, if rank == 0 { 0 } else { me }),
            Cast::Echo => unreachable!("echoes have no boxes"),
        }
    }
}

impl Drop for Win {
    /// Without communication: the others are not told.
    fn drop(&mut self) {
        if let Some((window, table)) = self.made.get() {
            // SAFETY: the component's, freed once.
            let freed = unsafe { ((*table).free)(window, self.instance.thread(), 1) };
            assert_eq!(freed, Status::OK);
        }
    }
}

// ---- services of a window

fn of<'a>(win: *mut c_void) -> &'a Win {
    // SAFETY: `WinComm::comm` and the like are the window's address, which outlives the component's module.
    unsafe { &*win.cast::<Win>() }
}

fn hand_out<T>(value: T, out: *mut T) -> Status {
    // SAFETY: the component's out pointer.
    unsafe { out.write(value) };
    Status::OK
}

static SERVICES: WinServices = WinServices {
    size: size_of::<WinServices>() as u32,
    reserved: 0,
    place,
    reach,
    mapped,
    isend,
    irecv,
    wait,
    test,
    cancel,
    wait_until,
    progress,
    barrier,
    allgather,
    alltoall,
    agree,
    byte_type,
    wait_contexts,
};

extern "C" fn place(win: *mut c_void, rank: u32, out: *mut Place) -> Status {
    let Shape { per_node, rank: me, .. } = of(win).shape;
    if rank >= of(win).shape.ranks() {
        return Status::BAD_PARAM;
    }
    let (node, own) = (rank / per_node, me / per_node);
    let local = (node == own).into();
    hand_out(
        Place { proc: rank, node, node_rank: rank % per_node, node_size: per_node, endpoint: 0, local },
        out,
    )
}

extern "C" fn reach(win: *mut c_void, _: u32, out: *mut SliceRef<Reach>) -> Status {
    hand_out(SliceRef { ptr: of(win).reach.as_ptr(), len: 1 }, out)
}

/// The own memory, and all of the node's where MPI allocates it.
extern "C" fn mapped(win: *mut c_void, rank: u32, out: *mut Mapped) -> Status {
    let win = of(win);
    let (node, own) = (rank / win.shape.per_node, win.shape.rank / win.shape.per_node);
    let there = match win.flavor {
        flavor::ALLOCATE | flavor::SHARED => node == own,
        _ => rank == win.shape.rank,
    };
    if !there {
        return Status::NOT_FOUND;
    }
    let base = win.base.as_ptr().cast_mut().cast();
    hand_out(Mapped { base, bytes: size_of_val(&*win.base) as u64, disp_unit: 8 }, out)
}

fn pending(made: Pending, out: *mut *mut RequestHeader) -> Status {
    hand_out(apart(|| Box::into_raw(Box::new(made))).cast(), out)
}

extern "C" fn isend(
    win: *mut c_void,
    _: *mut ThreadCtx,
    at: *const u8,
    count: u64,
    _: *const TypeDesc,
    to: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let win = of(win);
    // SAFETY: the component's bytes.
    let bytes = unsafe { core::slice::from_raw_parts(at, count as usize) };
    if to != win.shape.rank {
        more(&win.instance.counts.messages);
    }
    apart(|| match win.cast {
        Cast::Echo => {
            win.told.borrow_mut().insert(tag, bytes.to_vec());
        }
        Cast::There(_) => {
            let (from, to) = win.ends(to);
            let mut boxes = win.instance.boxes.borrow_mut();
            boxes[to as usize].push_back((from, tag, bytes.to_vec()));
        }
    });
    pending(Pending { into: null_mut(), len: 0, from: 0, tag, sends: true }, out)
}

extern "C" fn irecv(
    _: *mut c_void,
    _: *mut ThreadCtx,
    into: *mut u8,
    count: u64,
    _: *const TypeDesc,
    from: i32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    pending(Pending { into, len: count as usize, from, tag, sends: false }, out)
}

/// The message for a receive, if it is there.
fn take(win: &Win, wanted: &Pending) -> Option<(u32, Vec<u8>)> {
    let Cast::There(me) = win.cast else {
        return Some((0, win.told.borrow().get(&wanted.tag).cloned().unwrap_or_default()));
    };
    let mut boxes = win.instance.boxes.borrow_mut();
    // A target knows the origin as rank 0 and itself as rank 1.
    let known = |from: u32| if me == 0 { from } else { u32::from(from != 0) };
    let fits = |(from, tag, _): &Message| {
        *tag == wanted.tag && (wanted.from == -1 || wanted.from.cast_unsigned() == known(*from))
    };
    if win.instance.held.get() == Some(wanted.tag) {
        return None;
    }
    let at = boxes[me as usize].iter().position(fits)?;
    let (from, _, bytes) = boxes[me as usize].remove(at)?;
    Some((known(from), bytes))
}

extern "C" fn test(
    win: *mut c_void,
    _: *mut ThreadCtx,
    request: *mut RequestHeader,
    out: *mut MsgStatus,
) -> Status {
    apart(|| {
        let request: *mut Pending = request.cast();
        // SAFETY: a request of ours that was not given back.
        let wanted = unsafe { &*request };
        let mut status = MsgStatus { error: Status::OK, ..MsgStatus::EMPTY };
        if !wanted.sends {
            let Some((from, bytes)) = take(of(win), wanted) else { return Status::PENDING };
            assert!(bytes.len() <= wanted.len, "a message fits");
            // SAFETY: the component's memory, which is long enough.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), wanted.into, bytes.len()) };
            (status.source, status.tag, status.bytes) = (from as i32, wanted.tag, bytes.len() as u64);
        }
        // SAFETY: made by `pending`; null, or the component's out pointer.
        unsafe {
            drop(Box::from_raw(request));
            if !out.is_null() {
                out.write(status);
            }
        }
        Status::OK
    })
}

extern "C" fn wait(
    win: *mut c_void,
    thread: *mut ThreadCtx,
    request: *mut RequestHeader,
    out: *mut MsgStatus,
) -> Status {
    let status = test(win, thread, request, out);
    assert_eq!(status, Status::OK, "a wait that nothing ends");
    status
}

extern "C" fn cancel(_: *mut c_void, _: *mut ThreadCtx, request: *mut RequestHeader) -> Status {
    // SAFETY: made by `pending`, given back once.
    apart(|| drop(unsafe { Box::from_raw(request.cast::<Pending>()) }));
    Status::OK
}

extern "C" fn wait_until(win: *mut c_void, _: *mut ThreadCtx, so: Predicate, ctx: *mut c_void) -> Status {
    // Every turn brings something, or nothing comes any more: batches rest for a turn before they are sent.
    let mut idle = 0;
    while so(ctx) == 0 {
        idle = if of(win).instance.turn() > 0 { 0 } else { idle + 1 };
        assert!(idle < 8, "a wait that nothing ends");
    }
    Status::OK
}

extern "C" fn wait_contexts(
    win: *mut c_void,
    _: *mut ThreadCtx,
    under_way: Outstanding,
    ctx: *mut c_void,
) -> Status {
    let counts = &of(win).instance.counts;
    more(&counts.waits);
    counts.end_all();
    // All has ended; some look a few times whatever it says.
    assert!((0..8).any(|_| under_way(ctx) == 0), "a wait that nothing ends");
    Status::OK
}

extern "C" fn progress(win: *mut c_void, _: *mut ThreadCtx) -> i32 {
    of(win).instance.turn()
}

extern "C" fn barrier(_: *mut c_void, _: *mut ThreadCtx) -> Status {
    Status::OK
}

extern "C" fn allgather(
    win: *mut c_void,
    _: *mut ThreadCtx,
    mine: *const u8,
    bytes: u64,
    all: *mut u8,
) -> Status {
    for rank in 0..of(win).shape.ranks() as usize {
        // SAFETY: as much of each rank.
        unsafe { core::ptr::copy(mine, all.add(rank * bytes as usize), bytes as usize) };
    }
    Status::OK
}

extern "C" fn alltoall(_: *mut c_void, _: *mut ThreadCtx, _: *const u8, _: u64, _: *mut u8) -> Status {
    panic!("no component of these tests does that")
}

extern "C" fn agree(_: *mut c_void, _: *mut ThreadCtx, own: Status) -> Status {
    own
}

extern "C" fn byte_type(win: *mut c_void) -> *const TypeDesc {
    &of(win).byte
}

// ---- memory of the node

extern "C" fn node_memory(instance: *mut c_void, _: StrRef, bytes: u64, out: *mut NodeMemory) -> Status {
    let counts = &Instance::of(instance).counts;
    counts.node_bytes.set(counts.node_bytes.get() + bytes);
    let lines = apart(|| vec![Line([0; 16]); bytes.div_ceil(128) as usize]);
    let base = lines.as_ptr().cast_mut().cast();
    apart(|| Instance::of(instance).node.borrow_mut().push(lines));
    hand_out(NodeMemory { base, bytes, first: 1, reserved: 0 }, out)
}

#[repr(align(128))]
#[derive(Clone, Copy)]
struct Line(#[expect(dead_code, reason = "memory of the component")] [u64; 16]);

/// It has one user, and goes with the instance.
extern "C" fn node_memory_free(_: *mut c_void, _: StrRef) -> Status {
    Status::OK
}
