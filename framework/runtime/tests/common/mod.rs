//! Several ranks in one process, one thread each.
#![allow(dead_code, reason = "every test binary uses its own part of this")]

use oxmpi_coll::CollArgs;
use oxmpi_datatype::{Base, Run, TypeDesc, flag};
use oxmpi_mca::{Descriptor, Entry, MsgStatus, SliceRef, Status, ThreadCtx};
use oxmpi_runtime::request::Header;
use oxmpi_runtime::{Communicator, Config, Error, Instance, Level, RecvBuffer, SendBuffer};
use oxmpi_wireup::{Client, Source};
use std::backtrace::Backtrace;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Once};

/// Where cargo puts the components' libraries: beside the test's own binary.
pub fn component_dir() -> PathBuf {
    let exe = std::env::current_exe().expect("the path of the test");
    exe.parent().expect("a folder").to_path_buf()
}

/// In which form the components are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Loaded,
    LinkedIn,
}

pub fn config(form: Form, level: Level, params: &[(&str, &str)]) -> Config {
    let mut config = Config { level, ..Config::default() };
    config.params = params.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    match form {
        Form::Loaded => config.component_dirs.push(component_dir()),
        Form::LinkedIn => config.builtin = linked_in(),
    }
    config
}

pub fn linked_in() -> Vec<*const Descriptor> {
    vec![btl_self::descriptor(), btl_shm::descriptor(), coll_basic::descriptor(), pml_ob1::descriptor()]
}

/// Starts a singleton.
pub fn alone(mut config: Config) -> Result<Arc<Instance>, Error> {
    config.wireup = Source::Singleton;
    Instance::start(config)
}

/// Runs `body` on `n` ranks of one job and finalizes each.
pub fn job(n: u32, make: impl Fn() -> Config + Sync, body: impl Fn(&Arc<Instance>) + Sync) {
    job_on(&vec![0; n as usize], make, body);
}

/// The same on several nodes: the node of each rank.
pub fn job_on(nodes: &[u32], make: impl Fn() -> Config + Sync, body: impl Fn(&Arc<Instance>) + Sync) {
    say_panics_aloud();
    let clients = Client::local_nodes(nodes).expect("a job in this process");
    std::thread::scope(|scope| {
        for client in clients {
            let (make, body) = (&make, &body);
            scope.spawn(move || {
                let _guard = EndsTheTest;
                let mut config = make();
                config.wireup = Source::Given(client);
                let instance = Instance::start(config).unwrap_or_else(|e| panic!("start: {e}"));
                body(&instance);
                instance.finalize().unwrap_or_else(|e| panic!("finalize: {e}"));
            });
        }
    });
}

/// Has panics written past the test harness's capture, which an abort would take with it.
fn say_panics_aloud() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let place = Backtrace::capture();
            // Nobody is left to be told of a closed output.
            let _ = writeln!(std::io::stderr(), "{panic}\n{place}");
        }));
    });
}

/// The other ranks of a job would wait for ever for one that panicked.
struct EndsTheTest;

impl Drop for EndsTheTest {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("a rank panicked (above); the process ends");
            std::process::abort();
        }
    }
}

/// A thread of a rank, as its calls come in: each has an entry of its own, which is gone when the call returns.
#[derive(Clone, Copy)]
pub struct Thread<'a> {
    instance: &'a Instance,
    context: *mut ThreadCtx,
}

impl<'a> Thread<'a> {
    /// The thread that started the rank: the one that runs a job's `body`.
    pub fn main(instance: &'a Instance) -> Thread<'a> {
        Thread { instance, context: instance.main_thread() }
    }

    /// The calling thread, with a context of its own until [`Thread::detach`].
    pub fn attach(instance: &'a Instance) -> Thread<'a> {
        Thread { instance, context: instance.attach_thread() }
    }

    pub fn detach(self) {
        self.instance.detach_thread(self.context);
    }

    /// For calls across the boundary.
    pub fn context(self) -> *mut ThreadCtx {
        self.context
    }

    /// The entry of one call.
    pub fn entry(self) -> Entry {
        // SAFETY: where the flag is not set the test has one thread in MPI. The context is that thread's, since this type stays with the thread that made it, and
        // the instance is borrowed. Tests make an entry for each call, and inside of one only where it waits and has lent its own.
        unsafe { Entry::of(self.instance.threaded(), self.context) }
    }

    /// Waits for a request, takes its status and releases it.
    ///
    /// # Safety
    /// The caller has the request, which is of this thread's instance, and does not use it any more.
    pub unsafe fn finish(self, req: Header) -> MsgStatus {
        self.instance.wait(&mut self.entry(), req);
        // SAFETY: complete, and ours until it is released (the caller's promise).
        unsafe {
            let status = req.status();
            req.release(&mut self.entry());
            status
        }
    }

    /// A barrier, which has no buffers.
    pub fn barrier(self, c: &Communicator) -> Status {
        // SAFETY: the arguments point to nothing.
        unsafe { c.barrier(&mut self.entry(), &CollArgs::NONE) }
    }
}

/// Elements without padding, of which every pattern of bits is one.
pub trait Element: Copy {}
impl Element for u8 {}
impl Element for u64 {}

/// A contiguous predefined type of `size` bytes.
pub struct Basic {
    run: Run,
    desc: TypeDesc,
}

impl Basic {
    pub fn new(base: Base, size: u64) -> Box<Basic> {
        let run = Run { disp: 0, len: size, count: 1, stride: size as i64 };
        let desc = TypeDesc {
            size: size_of::<TypeDesc>() as u32,
            flags: flag::CONTIGUOUS | flag::PREDEFINED | flag::COMMITTED,
            packed: size,
            lb: 0,
            extent: size as i64,
            true_lb: 0,
            true_extent: size as i64,
            base,
            refs: oxmpi_mca::sync::AtomicU32::new(1),
            elements: 1,
            runs: SliceRef { ptr: std::ptr::null(), len: 0 },
            free: None,
            nest: SliceRef::new(&[]),
            top: 0,
            places: SliceRef::new(&[]),
        };
        let mut basic = Box::new(Basic { run, desc });
        basic.desc.runs = SliceRef { ptr: &raw const basic.run, len: 1 };
        basic
    }
    pub fn desc(&self) -> &TypeDesc {
        &self.desc
    }

    /// How many of this type a slice is.
    fn count<T: Element>(&self, data: &[T]) -> u64 {
        let bytes = size_of_val(data) as u64;
        assert!(bytes.is_multiple_of(self.desc.packed));
        bytes / self.desc.packed
    }

    /// Elements to send, in a call that is over when it returns.
    pub fn data<'a, T: Element>(&'a self, data: &'a [T]) -> SendBuffer<'a> {
        // SAFETY: borrowed, as the type is; only calls that go on ask for more than that, and get it from `data_later`.
        unsafe { SendBuffer::new(data.as_ptr().cast(), self.count(data), &self.desc) }
    }

    /// A place to receive into, in a call that is over when it returns.
    pub fn place<'a, T: Element>(&'a self, data: &'a mut [T]) -> RecvBuffer<'a> {
        // SAFETY: borrowed for this alone, as the type is; what goes on gets its place from `place_later`.
        unsafe { RecvBuffer::new(data.as_mut_ptr().cast(), self.count(data), &self.desc) }
    }

    /// Elements to send by an operation that goes on.
    ///
    /// # Safety
    /// They and the type stay where they are, and nobody writes to them, until the operation is complete.
    pub unsafe fn data_later<T: Element>(&self, data: &[T]) -> SendBuffer<'static> {
        // SAFETY: the caller's promise; the slice says that so many are there.
        unsafe { SendBuffer::new(data.as_ptr().cast(), self.count(data), &self.desc) }
    }

    /// A place to receive into by an operation that goes on.
    ///
    /// # Safety
    /// It and the type stay where they are, and nobody uses it, until the operation is complete.
    pub unsafe fn place_later<T: Element>(&self, data: &mut [T]) -> RecvBuffer<'static> {
        // SAFETY: the caller's promise; the slice says that so many are there.
        unsafe { RecvBuffer::new(data.as_mut_ptr().cast(), self.count(data), &self.desc) }
    }
}

// SAFETY: immutable.
unsafe impl Sync for Basic {}
// SAFETY: what it has belongs to no thread: numbers, and a pointer to its own run.
unsafe impl Send for Basic {}
