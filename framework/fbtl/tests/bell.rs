//! The bell of a file is touched for the last time before `close` returns, and lost jobs end.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_fbtl::{
    Bell, Fbtl, FbtlModule, FileFacts, Job, Key, Opened, Operation, Refusal, Transfer, Transfers, transfer,
};
use oxmpi_fs::mode;
use oxmpi_mca::{Status, WakingWord};
use std::time::Duration;

/// Ends jobs in threads of its own, and loses those that are to be done at once.
struct Threads;
struct File;

impl Fbtl for Threads {
    type File = File;
    fn query(&self, _: &Opened) -> Option<i32> {
        Some(1)
    }
    fn open(&self, _: Opened) -> Result<File, Status> {
        Ok(File)
    }
}

impl Transfers for File {
    fn submit(&self, job: Job) -> Result<(), Refusal> {
        match job.is_now() {
            true => drop(job),
            false => drop(std::thread::spawn(|| job.end(Status::OK, 0))),
        }
        Ok(())
    }
    fn cancel(&self, _: Key) {}
}

#[derive(Default)]
struct Gate {
    open: AtomicBool,
    passed: AtomicBool,
}

extern "C" fn wake(ctx: *mut c_void, _: *const WakingWord) -> Status {
    // SAFETY: the gate of the test, which outlives the file.
    let gate = unsafe { &*ctx.cast::<Gate>() };
    while !gate.open.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    gate.passed.store(true, Ordering::Release);
    Status::OK
}

fn open(module: &FbtlModule, bell: &Bell) -> usize {
    let facts = FileFacts {
        size: size_of::<FileFacts>() as u32,
        fd: -1,
        direct_fd: -1,
        direct_for: 0,
        direct_unit: 0,
        keeps: 0,
        mode: mode::RDWR,
        magic: 0,
        bell,
    };
    let mut file = null_mut();
    // SAFETY: a table of the module.
    assert_eq!(unsafe { ((*module.table).open)(module.state, &facts, &mut file) }, Status::OK);
    file.expose_provenance()
}

fn nothing(flags: u32) -> Transfer {
    let size = size_of::<Transfer>() as u32;
    Transfer { size, what: transfer::READ, flags, reserved: 0, pieces: null(), num_pieces: 0, sieve_bytes: 0 }
}

#[test]
fn close_waits_for_who_rings() {
    let (gate, word) = (Gate::default(), WakingWord::new(0));
    let bell = Bell { word: &word, wake, ctx: (&raw const gate).cast_mut().cast() };
    let module = oxmpi_fbtl::module(Threads);
    let file = open(&module, &bell);
    // SAFETY: as above.
    let (submit, close) = unsafe { ((*module.table).submit, (*module.table).close) };
    let (what, operation) = (nothing(0), Operation::new());
    // Somebody sleeps, so the bell wakes.
    word.announce();
    assert_eq!(submit(core::ptr::with_exposed_provenance_mut(file), &what, &operation), Status::OK);
    while operation.result().is_none() {
        std::thread::yield_now();
    }
    std::thread::scope(|scope| {
        let closer = scope.spawn(|| {
            close(core::ptr::with_exposed_provenance_mut(file));
            gate.passed.load(Ordering::Acquire)
        });
        // Time for a close that does not wait to return.
        std::thread::sleep(Duration::from_millis(20));
        gate.open.store(true, Ordering::Release);
        assert!(closer.join().expect("it closes"), "the file was closed while its bell was rung");
    });
    word.retract();
    (module.finalize)(module.state);
}

#[test]
fn a_job_that_is_lost_ends() {
    let (gate, word) = (Gate::default(), WakingWord::new(0));
    let bell = Bell { word: &word, wake, ctx: (&raw const gate).cast_mut().cast() };
    let module = oxmpi_fbtl::module(Threads);
    let file = core::ptr::with_exposed_provenance_mut(open(&module, &bell));
    let (what, operation) = (nothing(transfer::NOW), Operation::new());
    // SAFETY: as above.
    unsafe {
        assert_eq!(((*module.table).submit)(file, &what, &operation), Status::OK);
        assert_eq!(operation.result(), Some((Status::INTERNAL, 0)));
        assert_eq!(word.load(), 1, "the bell was rung");
        ((*module.table).close)(file);
    }
    (module.finalize)(module.state);
}
