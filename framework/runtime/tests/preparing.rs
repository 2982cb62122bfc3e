//! A component that one rank cannot prepare serves no rank, and those below it take over; nobody hangs, whoever it is, and whatever the
//! ranks know of each other.

mod common;

use common::{Form, Thread, config, job};
use oxmpi_coll::{Coll, CollArgs, CollComm, CollModule, CollTable};
use oxmpi_mca::{Component, Host, OpenError, ParamDecl, ParamKind, Params, Status, StrRef};
use oxmpi_runtime::{Communicator, Config, Instance, Level};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Its barriers let everybody through and count; it has nothing else.
struct Picky {
    rank: u32,
    refuses: i64,
    priority: i32,
}

/// How many of its barriers a communicator has had, and how often it was prepared.
#[derive(Default)]
struct Module {
    barriers: AtomicU32,
    prepared: AtomicU32,
}

/// The hosts that opened it, by job and rank.
static HOSTS: Mutex<Vec<((u64, u32), Host)>> = Mutex::new(Vec::new());

extern "C" fn barrier(module: *mut c_void, _: *const CollComm, _: *const CollArgs) -> Status {
    // SAFETY: the host passes a module of ours.
    let module = unsafe { &*module.cast::<Module>() };
    assert_eq!(module.prepared.load(Ordering::Relaxed), 1, "prepared once, and before the first call");
    module.barriers.fetch_add(1, Ordering::Relaxed);
    // No status that coll-basic has for a barrier.
    Status::RMA_SHARED
}

impl Coll for Picky {
    type Module = Module;
    const NESTS: bool = true;
    const PREPARES: bool = true;
    const TABLE: CollTable = {
        // SAFETY: numbers, and slots for which null is `None`.
        let mut table: CollTable = unsafe { core::mem::zeroed() };
        table.size = size_of::<CollTable>() as u32;
        table.version = 1;
        table.barrier = Some(barrier);
        table
    };

    fn query(&self, _: &CollComm) -> Option<(i32, Module)> {
        Some((self.priority, Module::default()))
    }

    fn prepare(&self, module: &Module, comm: &CollComm) -> Result<(), Status> {
        module.prepared.fetch_add(1, Ordering::Relaxed);
        let mut memory = null_mut();
        // SAFETY: the host's table.
        let status = unsafe { ((*comm.services).node_memory)(comm, 4096, &mut memory) };
        match status {
            Status::OK if self.refuses == i64::from(self.rank) => Err(Status::NO_PERMISSION),
            Status::OK => Ok(()),
            status => Err(status),
        }
    }
}

impl Component for Picky {
    type Module = CollModule;
    const NAME: &'static str = "picky";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        let job = host.job();
        HOSTS.lock().unwrap_or_else(PoisonError::into_inner).push(((job.job_id, job.rank), host));
        // A priority of its own for each rank, where that is asked for.
        let apart = if params.int(1) != 0 { job.rank as i32 } else { 0 };
        let picky = Picky { rank: job.rank, refuses: params.int(0), priority: 60 + apart };
        Ok((60, vec![oxmpi_coll::module(picky)]))
    }
}

const PARAMS: &[ParamDecl] = &[
    ParamDecl::new("refuses", ParamKind::INT, 9, "-1", "The rank that refuses. Set it in tests"),
    ParamDecl::new(
        "apart",
        ParamKind::INT,
        9,
        "0",
        "Whether ranks differ in their priorities. Set it in tests",
    ),
];

oxmpi_mca::component! {
    component: Picky,
    symbol: oxmpi_component_coll_picky,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "picky",
    aliases: [],
    params: PARAMS,
    help: "",
}

/// `after`: collectives of a communicator before the component is prepared.
fn with_picky_after(after: &str, params: &[(&str, String)]) -> Config {
    let params = params.iter().map(|(name, value)| (*name, value.as_str()));
    let params: Vec<_> = params.chain([("coll_base_prepare_after", after)]).collect();
    let mut config = config(Form::LinkedIn, Level::Single, &params);
    config.builtin.push(descriptor());
    config
}

fn with_picky(params: &[(&str, String)]) -> Config {
    with_picky_after("0", params)
}

fn barriers(instance: &Instance, on: &Communicator, times: usize) -> Vec<Status> {
    (0..times).map(|_| Thread::main(instance).barrier(on)).collect()
}

/// All ranks go on with the component below, also on communicators that are made later.
#[test]
fn one_refusal_moves_all_ranks_to_the_component_below() {
    for n in 1..=8u32 {
        for refuses in -1..i64::from(n) {
            let params = [("coll_picky_refuses", refuses.to_string())];
            job(
                n,
                || with_picky(&params),
                |instance| {
                    let world = instance.world();
                    let wanted = if refuses < 0 { Status::RMA_SHARED } else { Status::OK };
                    assert_eq!(barriers(instance, &world, 3), [wanted; 3], "{n} ranks, {refuses} refuses");
                    let twin = world.dup(None).expect("a communicator");
                    assert_eq!(barriers(instance, &twin, 2), [wanted; 2], "{n} ranks, {refuses} refuses");
                },
            );
        }
    }
}

/// The first collectives of each communicator are served by the component below, in all ranks.
#[test]
fn a_component_is_prepared_when_a_communicator_has_had_some_collectives() {
    job(
        3,
        || with_picky_after("2", &[]),
        |instance| {
            let wanted = [Status::OK, Status::OK, Status::RMA_SHARED, Status::RMA_SHARED];
            let world = instance.world();
            let twin = world.dup(None).expect("a communicator");
            for on in [&*world, &twin] {
                assert_eq!(barriers(instance, on, 4), wanted);
            }
        },
    );
}

/// Ranks that would choose otherwise hear so, in all of them and for good, instead of waiting for each other.
#[test]
fn different_priorities_are_an_error_in_all_ranks() {
    for n in [2, 5] {
        let params = [("coll_picky_apart", "1".to_owned())];
        job(
            n,
            || with_picky(&params),
            |instance| {
                assert_eq!(barriers(instance, &instance.world(), 2), [Status::MISMATCH; 2]);
            },
        );
    }
}

/// A process that is lost before it has said its word ends the preparation, and what would be served answers the error from then on.
#[test]
fn a_lost_process_ends_the_preparation() {
    job(
        3,
        || with_picky(&[]),
        |instance| {
            let world = instance.world();
            if world.rank() == 2 {
                return;
            }
            instance.survive_failures(true);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(std::time::Duration::from_millis(30));
                    let own = (instance.job().job_id, instance.job().rank);
                    let hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
                    let (_, host) = hosts.iter().find(|(key, _)| *key == own).expect("it was opened");
                    let failed = host.services().peer_failed;
                    let lost = failed(host.table().instance, 2, Status::PEER_FAILED, StrRef::of("a test"));
                    assert_eq!(lost, Status::OK);
                });
                assert_eq!(barriers(instance, &world, 2), [Status::PEER_FAILED; 2]);
            });
        },
    );
}
