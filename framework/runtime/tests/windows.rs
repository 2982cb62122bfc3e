//! Windows as the host makes them: memory, places, the choice of a component, and the services that components get. The
//! components in here carry nothing out; those that do are tested by the suite in `framework/osc/conformance`.

mod common;

use common::{Form, Thread, config, job, linked_in};
use oxmpi_mca::{
    Component, Descriptor, Entry, Host, MsgStatus, Object, OpenError, Params, RequestHeader, SliceRef,
    Status, ThreadCtx,
};
use oxmpi_osc::{
    Asked, Flush, LockKind, Mapped, Memory, Osc, OscModule, Place, Rma, Vouched, Want, WinComm, WinDesc,
    WinServices,
};
use oxmpi_runtime::window::{Wanted, WantedMemory};
use oxmpi_runtime::{Config, ErrorKind, Info, Instance, Level, Window};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Which windows were given back, and how; the components have no other way to tell.
/// Held by tests that free windows of components: the counts are of the process.
static COUNTING: Mutex<()> = Mutex::new(());
static FREED: AtomicU32 = AtomicU32::new(0);
static DISCARDED: AtomicU32 = AtomicU32::new(0);

/// The requests of those windows: there are none.
enum NoRequest {}

// SAFETY: there is no object of this type.
unsafe impl Object for NoRequest {
    fn header(&self) -> *mut RequestHeader {
        match *self {}
    }
}

/// A window that refuses everything but to be freed.
struct Nothing;

impl oxmpi_osc::Window for Nothing {
    type Request = NoRequest;
    fn put(&self, _: &mut Entry, _: Rma<'_>, _: Want) -> Asked<NoRequest> {
        Err(Status::NOT_SUPPORTED)
    }
    fn get(&self, _: &mut Entry, _: Rma<'_>, _: Want) -> Asked<NoRequest> {
        Err(Status::NOT_SUPPORTED)
    }
    fn accumulate(&self, _: &mut Entry, _: Rma<'_>, _: Want) -> Asked<NoRequest> {
        Err(Status::NOT_SUPPORTED)
    }
    fn get_accumulate(&self, _: &mut Entry, _: Rma<'_>, _: Want) -> Asked<NoRequest> {
        Err(Status::NOT_SUPPORTED)
    }
    fn fetch_and_op(&self, _: &mut Entry, _: Rma<'_>) -> Status {
        Status::NOT_SUPPORTED
    }
    fn compare_and_swap(&self, _: &mut Entry, _: Rma<'_>) -> Status {
        Status::NOT_SUPPORTED
    }
    fn fence(&self, _: &mut Entry, _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    fn post(&self, _: &mut Entry, _: &[u32], _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    fn start(&self, _: &mut Entry, _: &[u32], _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    fn complete(&self, _: &mut Entry) -> Status {
        Status::NOT_SUPPORTED
    }
    fn wait(&self, _: &mut Entry) -> Status {
        Status::NOT_SUPPORTED
    }
    fn test(&self, _: &mut Entry) -> Status {
        Status::NOT_SUPPORTED
    }
    fn lock(&self, _: &mut Entry, _: LockKind, _: u32, _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    fn unlock(&self, _: &mut Entry, _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    fn lock_all(&self, _: &mut Entry, _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    fn unlock_all(&self, _: &mut Entry) -> Status {
        Status::NOT_SUPPORTED
    }
    fn flush(&self, _: &mut Entry, _: Option<u32>, _: Flush) -> Status {
        Status::NOT_SUPPORTED
    }
    fn sync(&self, _: &mut Entry) -> Status {
        Status::NOT_SUPPORTED
    }
    fn attach(&self, _: &mut Entry, _: Memory) -> Status {
        Status::NOT_SUPPORTED
    }
    fn detach(&self, _: &mut Entry, _: usize) -> Status {
        Status::NOT_SUPPORTED
    }
    fn free(&self, _: &mut Entry) -> Status {
        FREED.fetch_add(1, Ordering::SeqCst);
        Status::OK
    }
    fn discard(&self, _: &mut Entry) {
        DISCARDED.fetch_add(1, Ordering::SeqCst);
    }
}

/// A component whose answers are functions.
struct Made {
    query: fn(&WinDesc) -> Option<i32>,
    create: fn(&WinDesc, &mut Entry) -> Status,
}

impl Osc for Made {
    type Window = Nothing;
    fn query(&self, desc: Vouched<'_, WinDesc>) -> Option<i32> {
        (self.query)(&desc)
    }
    fn create(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Box<Nothing>, Status> {
        match (self.create)(&desc, entry) {
            Status::OK => Ok(Box::new(Nothing)),
            status => Err(status),
        }
    }
}

fn comm(desc: &WinDesc) -> &WinComm {
    // SAFETY: the host's, valid while the window lives.
    unsafe { &*desc.comm }
}

macro_rules! component {
    ($module:ident, $name:literal, $symbol:ident, $query:expr, $create:expr) => {
        mod $module {
            use super::*;
            struct It;
            impl Component for It {
                type Module = OscModule;
                const NAME: &'static str = $name;
                fn open(host: Host, _: Params<'_>) -> Result<(i32, Vec<OscModule>), OpenError> {
                    Ok((0, vec![oxmpi_osc::module(host, Made { query: $query, create: $create })]))
                }
            }
            oxmpi_mca::component! {
                component: It, symbol: $symbol, framework: oxmpi_osc::FRAMEWORK,
                framework_version: oxmpi_osc::VERSION, name: $name, aliases: [], params: &[], help: "",
            }
        }
    };
}

// Best on rank 0, worst on the others.
component!(
    moody,
    "moody",
    oxmpi_component_osc_moody,
    |d| Some(if comm(d).rank == 0 { 90 } else { 10 }),
    |_, _| Status::OK
);
// Better, but rank 1 cannot make it.
component!(weak, "weak", oxmpi_component_osc_weak, |_| Some(50), |d, _| {
    if comm(d).rank == 1 { Status::OUT_OF_MEMORY } else { Status::OK }
});
// Not for every window.
component!(
    picky,
    "picky",
    oxmpi_component_osc_picky,
    |d| (d.flavor == oxmpi_osc::flavor::DYNAMIC).then_some(99),
    |_, _| Status::OK
);
// Panics at rank 1 while the others wait for it.
component!(broken, "broken", oxmpi_component_osc_broken, |_| Some(60), |d, entry| {
    let c = comm(d);
    assert_ne!(c.rank, 1, "planted");
    // SAFETY: as in `comm`.
    unsafe { ((*c.services).barrier)(c.comm, entry.thread()) }
});
// Looks at everything the host gives.
component!(curious, "curious", oxmpi_component_osc_curious, |_| Some(1), |d, entry| {
    look_around(d, entry.thread());
    Status::OK
});

fn with(components: &[*const Descriptor]) -> Config {
    let mut config = config(Form::LinkedIn, Level::Single, &[]);
    config.builtin = linked_in();
    config.builtin.extend(components);
    config
}

fn make(instance: &Arc<Instance>, memory: WantedMemory) -> Result<Arc<Window>, oxmpi_runtime::Error> {
    let (world, thread) = (instance.world(), Thread::main(instance));
    assert!(!matches!(memory, WantedMemory::Users { .. }));
    // SAFETY: no memory of the test's.
    unsafe { Window::make(&world, &mut thread.entry(), Wanted { disp_unit: 4, memory }, &Info::new()) }
}

fn served(window: &Window) -> Option<&str> {
    window.verbs().map(|verbs| verbs.component())
}

#[test]
fn a_window_that_no_component_serves() {
    job(
        3,
        || with(&[]),
        |instance| {
            let thread = Thread::main(instance);
            for shared in [false, true] {
                let memory = match shared {
                    true => WantedMemory::Shared { bytes: 64, apart: true },
                    false => WantedMemory::Allocated { bytes: 64, align: 64 },
                };
                let window = make(instance, memory).expect("a window");
                assert_eq!((served(&window), window.first()), (None, Some(0)));
                let (me, size) = (window.comm().rank(), window.comm().size());
                let right = window.mapped((me + 1) % size).expect("memory of the node's ranks");
                assert_eq!((right.bytes, right.disp_unit), (64, 4));
                // SAFETY: the right neighbour's memory, which nobody else writes.
                unsafe { right.base.cast::<u32>().write_volatile(100 + me) };
                window.comm().first_without(&mut thread.entry(), true).expect("a barrier");
                // SAFETY: this rank's own memory.
                let seen = unsafe { window.own().base.cast::<u32>().read_volatile() };
                assert_eq!(seen, 100 + (me + size - 1) % size);
                assert_eq!(window.sync(&mut thread.entry()), Status::OK);
                let fenced = if shared { Status::OK } else { Status::NOT_SUPPORTED };
                assert_eq!(window.fence(&mut thread.entry(), 0), fenced);
                window.free(&mut thread.entry()).expect("freed");
            }
        },
    );
}

#[test]
fn the_best_by_the_least_priority_that_all_can_make() {
    let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = (FREED.load(Ordering::SeqCst), DISCARDED.load(Ordering::SeqCst));
    job(
        3,
        || with(&[moody::descriptor(), weak::descriptor(), picky::descriptor()]),
        |instance| {
            let thread = Thread::main(instance);
            let memory = WantedMemory::Allocated { bytes: 8, align: 64 };
            let window = make(instance, memory).expect("a window");
            // `weak` was asked first: rank 1 failed, and the others gave theirs back.
            assert_eq!(served(&window), Some("moody"));
            window.free(&mut thread.entry()).expect("freed");
            let window = make(instance, WantedMemory::Dynamic).expect("a window");
            assert_eq!(served(&window), Some("picky"));
            // This one is given back with the instance.
            std::mem::forget(window);
        },
    );
    let freed = FREED.load(Ordering::SeqCst) - before.0;
    let discarded = DISCARDED.load(Ordering::SeqCst) - before.1;
    assert_eq!((freed, discarded), (3, 2 + 3));
}

#[test]
fn a_window_that_cannot_be_made() {
    let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    job(
        2,
        || with(&[weak::descriptor()]),
        |instance| {
            let refused = make(instance, WantedMemory::Dynamic).expect_err("rank 1 has no memory");
            assert_eq!(refused.kind, ErrorKind::NoMem, "on both ranks: {refused}");
        },
    );
}

#[test]
fn components_look_at_what_the_host_gives() {
    let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    job(
        3,
        || with(&[curious::descriptor()]),
        |instance| {
            let window = make(instance, WantedMemory::Shared { bytes: 12, apart: false }).expect("a window");
            assert_eq!(served(&window), Some("curious"));
            window.free(&mut Thread::main(instance).entry()).expect("freed");
        },
    );
}

extern "C" fn three_times(ctx: *mut c_void) -> u32 {
    // SAFETY: the counter below.
    let times = unsafe { &mut *ctx.cast::<u32>() };
    *times += 1;
    (*times >= 3).into()
}

/// `create` catches panics, and the other ranks would wait for ever for one that failed.
struct EndsTheTest;

impl Drop for EndsTheTest {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("a component's look at the host's services failed (above); the process ends");
            std::process::abort();
        }
    }
}

/// Calls every service of the host.
fn look_around(desc: &WinDesc, thread: *mut ThreadCtx) {
    let _guard = EndsTheTest;
    let c = comm(desc);
    // SAFETY: as in `comm`.
    let s: &WinServices = unsafe { &*c.services };
    let (me, n) = (c.rank, c.num_ranks);
    assert_eq!((c.num_nodes, n, desc.bytes, desc.disp_unit), (1, 3, 12, 4));
    let mut place = Place::default();
    assert_eq!((s.place)(c.comm, 2, &mut place), Status::OK);
    assert_eq!(place, Place { proc: 2, node: 0, node_rank: 2, node_size: 3, endpoint: 0, local: 1 });
    assert_eq!((s.place)(c.comm, 3, &mut place), Status::BAD_PARAM);
    let mut mapped = Mapped { base: null_mut(), bytes: 0, disp_unit: 0 };
    assert_eq!((s.mapped)(c.comm, 1, &mut mapped), Status::OK);
    assert_eq!((mapped.bytes, mapped.disp_unit, mapped.base.is_null()), (12, 4, false));
    assert_eq!((s.mapped)(c.comm, 3, &mut mapped), Status::NOT_FOUND);
    for to in 0..n {
        let mut reach = SliceRef { ptr: null(), len: 0 };
        assert_eq!((s.reach)(c.comm, to, &mut reach), Status::OK, "rank {to}");
        let mut again = SliceRef { ptr: null(), len: 0 };
        assert_eq!((s.reach)(c.comm, to, &mut again), Status::OK);
        assert_eq!((again.ptr, again.len), (reach.ptr, reach.len), "the same endpoints again");
        // SAFETY: the host's list lives as long as the instance.
        let best = unsafe { reach.get() }[0];
        // SAFETY: as above.
        let name = unsafe { (*best.btl).name.get() };
        assert_eq!(name, Some(if to == me { "self" } else { "shm" }));
        assert!(!best.endpoint.is_null());
    }
    messages(s, c, thread);
    collectives(s, c, thread);
    let mut times = 0u32;
    assert_eq!((s.wait_until)(c.comm, thread, three_times, (&raw mut times).cast()), Status::OK);
    assert!(times >= 3, "asked {times} times");
    let mut asked = 0u32;
    assert_eq!((s.wait_contexts)(c.comm, thread, first_for_a_while, (&raw mut asked).cast()), Status::OK);
    assert_eq!(asked, 3);
    assert!((s.progress)(c.comm, thread) >= 0);
}

/// Something is under way on the first context, in two answers.
extern "C" fn first_for_a_while(asked: *mut c_void) -> u64 {
    // SAFETY: the caller's counter.
    let asked = unsafe { &mut *asked.cast::<u32>() };
    *asked += 1;
    u64::from(*asked < 3)
}

fn messages(s: &WinServices, c: &WinComm, thread: *mut ThreadCtx) {
    let byte = (s.byte_type)(c.comm);
    let (me, n) = (c.rank, c.num_ranks);
    let (left, right) = ((me + n - 1) % n, (me + 1) % n);
    let start_recv = |buf: &mut [u8], src: i32, tag: i32| {
        let mut req = null_mut();
        let status = (s.irecv)(c.comm, thread, buf.as_mut_ptr(), buf.len() as u64, byte, src, tag, &mut req);
        (status, req)
    };
    let mut status = MsgStatus::EMPTY;
    let (mut first, mut second, mut never) = ([0u8; 4], [0u8; 4], [0u8; 4]);
    let (answer, cancelled) = start_recv(&mut never, left as i32, 32767);
    assert_eq!(answer, Status::OK);
    let (_, any) = start_recv(&mut first, -1, -2);
    assert_eq!((s.test)(c.comm, thread, cancelled, &mut status), Status::PENDING, "nobody sends that");
    let mut send = null_mut();
    let data = [me as u8, 1, 2, 3];
    assert_eq!((s.isend)(c.comm, thread, data.as_ptr(), 4, byte, right, 0, &mut send), Status::OK);
    assert_eq!((s.wait)(c.comm, thread, any, &mut status), Status::OK);
    assert_eq!((first, status.source, status.tag, status.bytes), ([left as u8, 1, 2, 3], left as i32, 0, 4));
    assert_eq!((s.wait)(c.comm, thread, send, null_mut()), Status::OK);
    assert_eq!((s.cancel)(c.comm, thread, cancelled), Status::OK);
    // Collectives and messages do not meet, whatever is received.
    let (_, any) = start_recv(&mut second, -1, -2);
    assert_eq!((s.barrier)(c.comm, thread), Status::OK);
    assert_eq!((s.isend)(c.comm, thread, data.as_ptr(), 4, byte, right, 7, &mut send), Status::OK);
    assert_eq!((s.wait)(c.comm, thread, any, &mut status), Status::OK);
    assert_eq!((second[0], status.tag), (left as u8, 7));
    loop {
        match (s.test)(c.comm, thread, send, null_mut()) {
            Status::PENDING => (s.progress)(c.comm, thread),
            done => break assert_eq!(done, Status::OK),
        };
    }
    // Tags and ranks that are none.
    assert_eq!((s.isend)(c.comm, thread, data.as_ptr(), 4, byte, right, -1, &mut send), Status::BAD_PARAM);
    assert_eq!((s.isend)(c.comm, thread, data.as_ptr(), 4, byte, n, 0, &mut send), Status::BAD_PARAM);
    assert_eq!(start_recv(&mut never, 0, 32768).0, Status::BAD_PARAM);
    assert_eq!(start_recv(&mut never, n as i32, 0).0, Status::BAD_PARAM);
}

fn collectives(s: &WinServices, c: &WinComm, thread: *mut ThreadCtx) {
    let (me, n) = (c.rank as u8, c.num_ranks as usize);
    let mut all = vec![0u8; 2 * n];
    assert_eq!((s.allgather)(c.comm, thread, [me, 10 + me].as_ptr(), 2, all.as_mut_ptr()), Status::OK);
    assert_eq!(all, [0, 10, 1, 11, 2, 12]);
    let to: Vec<u8> = (0..n as u8).flat_map(|r| [me, r]).collect();
    assert_eq!((s.alltoall)(c.comm, thread, to.as_ptr(), 2, all.as_mut_ptr()), Status::OK);
    assert_eq!(all, [0, me, 1, me, 2, me]);
    let own = [Status::OK, Status::PENDING, Status::RMA_SYNC][c.rank as usize];
    assert_eq!((s.agree)(c.comm, thread, own), Status::RMA_SYNC);
    assert_eq!((s.agree)(c.comm, thread, Status::OK), Status::OK);
}

/// The environment of the process that plays a job whose component panics.
const PLAYED: &str = "OXMPI_TEST_PANICS";

#[test]
fn a_panic_while_a_window_is_made_ends_the_job() {
    if std::env::var_os(PLAYED).is_some() {
        job(
            3,
            || with(&[broken::descriptor()]),
            |instance| {
                let made = make(instance, WantedMemory::Dynamic);
                panic!("the job goes on: {:?}", made.err());
            },
        );
    }
    let mut child = std::process::Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "a_panic_while_a_window_is_made_ends_the_job", "--nocapture"])
        .env(PLAYED, "1")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("this binary");
    let begun = std::time::Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("our child") {
            break status;
        }
        if begun.elapsed() > std::time::Duration::from_secs(60) {
            let _ = child.kill();
            panic!("the ranks wait for the one that panicked");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("a pipe"), &mut said).expect("text");
    assert_eq!(status.code(), Some(1), "{said}");
    assert_eq!(said.matches("osc:broken: the component panicked while making a window").count(), 1, "{said}");
}
