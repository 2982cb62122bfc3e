//! A job in this process: an instance and a thread for each rank, and a watch over all.

use crate::host::Member;
use crate::setup::Setup;
use core::time::Duration;
use oxmpi_osc_conformance::{Check, Rank};
use oxmpi_runtime::{Config, Instance, Level};
use oxmpi_wireup::{Client, Source};
use std::backtrace::Backtrace;
use std::io::Write;
use std::sync::{Once, mpsc};

/// Runs a check on so many ranks.
pub fn run(setup: &Setup, check: &Check, ranks: u32) {
    // SAFETY: the caller of `Setup::new` vouches for the descriptor, which is not unloaded.
    let name = unsafe { (*setup.descriptor).name.get() }.expect("the component's name is UTF-8");
    let clients = Client::local_job(ranks).unwrap_or_else(|e| panic!("a job in this process: {e}"));
    let what = format!("{} with {ranks} ranks", check.name);
    say_panics_aloud();
    let (ended, ends) = mpsc::channel::<()>();
    let patience = setup.patience;
    let watch = std::thread::spawn({
        let what = what.clone();
        move || keep_watch(&ends, patience, &what)
    });
    std::thread::scope(|scope| {
        for client in clients {
            let (what, name) = (&what, name);
            scope.spawn(move || {
                let _guard = EndsTheTest(what);
                let instance = start(setup, name, check.threads, client);
                let host = Member { instance: instance.clone(), comm: instance.world() };
                let rank = Rank::new(Box::new(host), name, setup.whole);
                (check.run)(&rank);
                drop(rank);
                instance.finalize().unwrap_or_else(|e| panic!("finalize: {e}"));
            });
        }
    });
    drop(ended);
    watch.join().expect("the watch");
}

fn start(setup: &Setup, name: &str, threads: bool, client: Client) -> std::sync::Arc<Instance> {
    let mut params = setup.params.clone();
    params.push(("osc".into(), name.into()));
    let config = Config {
        builtin: vec![
            btl_self::descriptor(),
            btl_shm::descriptor(),
            coll_basic::descriptor(),
            pml_ob1::descriptor(),
            setup.descriptor,
        ],
        level: if threads { Level::Multiple } else { Level::Single },
        wireup: Source::Given(client),
        params,
        ..Config::default()
    };
    Instance::start(config).unwrap_or_else(|e| panic!("start: {e}"))
}

/// Ends the process if the job has not ended in time.
fn keep_watch(ends: &mpsc::Receiver<()>, patience: Duration, what: &str) {
    if ends.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
        eprintln!("{what}: the ranks wait for something that does not come within {patience:?}");
        std::process::abort();
    }
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
struct EndsTheTest<'a>(&'a str);

impl Drop for EndsTheTest<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: a rank panicked (above); the process ends", self.0);
            std::process::abort();
        }
    }
}
