//! Several ranks in one process, one thread each.
#![allow(dead_code, reason = "every test binary uses its own part of this")]

use oxmpi_datatype::{Base, Run, TypeDesc, flag};
use oxmpi_mca::{Descriptor, SliceRef};
use oxmpi_runtime::{Config, Error, Instance, Level};
use oxmpi_wireup::{Client, Source};
use std::path::PathBuf;
use std::sync::Arc;

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
}

// SAFETY: immutable.
unsafe impl Sync for Basic {}
// SAFETY: as above.
unsafe impl Send for Basic {}
