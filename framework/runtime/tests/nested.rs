//! A collective component that builds on nodes: parts of the communicator, memory of the node, words that are waited
//! for, peers' memory. Several ranks in one process, on one node and on several.

mod common;

use common::{Form, config, job_on};
use oxmpi_coll::{Coll, CollArgs, CollComm, CollFn, CollModule, CollTable, part, which};
use oxmpi_mca::sync::AtomicU32;
use oxmpi_mca::{Component, Host, OpenError, Params, Place, Status, StrRef};
use oxmpi_runtime::coll::Slot;
use oxmpi_runtime::{Config, Level};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};

struct Nest;

/// A table with a barrier and nothing else.
const fn only(barrier: CollFn) -> CollTable {
    // SAFETY: numbers, and slots for which null is `None`.
    let mut table: CollTable = unsafe { core::mem::zeroed() };
    table.size = size_of::<CollTable>() as u32;
    table.version = 1;
    table.barrier = Some(barrier);
    table
}

/// Parts that a communicator's module has, from the first barrier on.
struct Parts {
    /// Null in ranks that lead no node.
    leaders: *mut c_void,
    /// Arrivals, then how many barriers are over.
    words: *const [AtomicU32; 2],
}

#[derive(Default)]
struct Module(OnceLock<Parts>);

// SAFETY: parts and memory may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Coll for Nest {
    type Module = Module;
    const TABLE: CollTable = only(barrier);
    const PLANS: Option<CollTable> = Some(only(planned));
    const NESTS: bool = true;

    fn query(&self, comm: &CollComm) -> Option<(i32, Module)> {
        assert!(comm.num_nodes >= 1 && comm.node < comm.num_nodes);
        Some((100, Module::default()))
    }
}

impl Component for Nest {
    type Module = CollModule;
    const NAME: &'static str = "nest";

    fn open(_: Host, _: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        Ok((0, vec![oxmpi_coll::module(Nest)]))
    }
}

oxmpi_mca::component! {
    component: Nest,
    symbol: oxmpi_component_coll_nest,
    framework: oxmpi_coll::FRAMEWORK,
    framework_version: oxmpi_coll::VERSION,
    name: "nest",
    aliases: [],
    params: &[],
    help: "",
}

fn make(comm: &CollComm) -> Parts {
    // SAFETY: the host's table.
    let s = unsafe { &*comm.services };
    let sub = |which| {
        let mut sub = null_mut();
        match (s.sub_comm)(comm, which, StrRef::of("nest"), &mut sub) {
            Status::OK => sub,
            status => {
                assert_eq!(status, Status::NOT_FOUND);
                null_mut()
            }
        }
    };
    assert!(!sub(part::NODE).is_null() && !sub(part::ACROSS).is_null(), "every rank is in these");
    let leaders = sub(part::LEADERS);
    let mut words = null_mut();
    assert_eq!((s.node_memory)(comm, 64, &mut words), Status::OK);
    Parts { leaders, words: words.cast() }
}

/// Ranks meet at their node's words, the leaders by the collective that was selected for their part.
extern "C" fn barrier(module: *mut c_void, comm: *const CollComm, args: *const CollArgs) -> Status {
    // SAFETY: the host passes a module of ours and its communicator.
    let (module, comm) = unsafe { (&*module.cast::<Module>(), &*comm) };
    // SAFETY: the host's table.
    let s = unsafe { &*comm.services };
    let parts = module.0.get_or_init(|| make(comm));
    let mut own = Place::default();
    assert_eq!((s.place)(comm, comm.rank, &mut own), Status::OK);
    assert_eq!((own.node, own.local, own.node_rank == 0), (comm.node, 1, !parts.leaders.is_null()));
    // SAFETY: memory of the node's ranks, which lives as long as the module.
    let [arrived, over] = unsafe { &*parts.words };
    let turn = over.load(Ordering::Acquire);
    let mut here = arrived.fetch_add(1, Ordering::AcqRel) + 1;
    if own.node_rank != 0 {
        return (s.wait_word)(comm, over, turn);
    }
    while here < own.node_size {
        assert_eq!((s.wait_word)(comm, arrived, here), Status::OK);
        here = arrived.load(Ordering::Acquire);
    }
    let mut view = MaybeUninit::uninit();
    assert_eq!((s.sub_view)(comm, parts.leaders, view.as_mut_ptr()), Status::OK);
    // SAFETY: filled.
    let status = (s.call)(unsafe { view.assume_init_ref() }, which::BARRIER, args);
    arrived.store(0, Ordering::Release);
    over.fetch_add(1, Ordering::AcqRel);
    status
}

/// The word that planned barriers wait for.
static DOOR: AtomicU32 = AtomicU32::new(0);

/// Waits until the door is open.
extern "C" fn planned(_: *mut c_void, comm: *const CollComm, _: *const CollArgs) -> Status {
    // SAFETY: the host's communicator and table.
    let s = unsafe { &*(*comm).services };
    let mut own = Place::default();
    assert_eq!((s.place)(comm, 0, &mut own), Status::OK);
    assert_eq!((s.node_memory)(comm, 8, &mut null_mut()), Status::NOT_SUPPORTED);
    (s.wait_word)(comm, &DOOR, 0)
}

fn with_nest() -> Config {
    let mut config = config(Form::LinkedIn, Level::Single, &[]);
    config.builtin.push(btl_template::descriptor());
    config.builtin.push(descriptor());
    config
}

/// A rank leaves no barrier before all have come to it.
#[test]
fn barriers_in_two_levels_keep_everybody_together() {
    for nodes in [&[0, 0, 0, 0][..], &[0, 1, 0, 1], &[0, 0, 1, 2]] {
        let came: Vec<AtomicU64> = nodes.iter().map(|_| AtomicU64::new(0)).collect();
        job_on(nodes, with_nest, |instance| {
            let world = instance.world();
            for turn in 1..=100 {
                came[world.rank() as usize].store(turn, Ordering::Release);
                assert_eq!(world.barrier(instance.main_thread(), &CollArgs::NONE), Status::OK);
                assert!(came.iter().all(|c| c.load(Ordering::Acquire) >= turn), "turn {turn} on {nodes:?}");
            }
        });
    }
}

#[test]
fn plans_wait_for_words() {
    let both_have_looked = Barrier::new(2);
    job_on(&[0, 0], with_nest, |instance| {
        let (world, thread) = (instance.world(), instance.main_thread());
        let begun = world.begin_collective(thread, Slot::Barrier, &CollArgs::NONE, None);
        let request = begun.expect("a request");
        for _ in 0..50 {
            instance.progress(thread);
        }
        // SAFETY: ours until it is released.
        assert!(!unsafe { &(*request).completion }.is_complete(), "the door is closed");
        both_have_looked.wait();
        if world.rank() == 0 {
            DOOR.store(1, Ordering::Release);
        }
        instance.wait(thread, request);
        // SAFETY: as above.
        unsafe {
            assert_eq!((*request).status.error, Status::OK);
            ((*(*request).ops).release)(request, thread);
        }
    });
}
