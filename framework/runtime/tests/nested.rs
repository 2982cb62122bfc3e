//! A collective component that builds on nodes: parts of the communicator, memory of the node, words that are waited
//! for, peers' memory. Several ranks in one process, on one node and on several.

mod common;

use common::{Basic, Form, Thread, config, job_on};
use oxmpi_coll::{Coll, CollArgs, CollComm, CollFn, CollModule, CollTable, part, step, which};
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_mca::{Component, Host, JobInfo, MsgStatus, OpenError, Params, Place, Status, StrRef, WakingWord};
use oxmpi_runtime::coll::Slot;
use oxmpi_runtime::request::Header;
use oxmpi_runtime::{Communicator, Config, Envelope, Instance, Level};
use oxmpi_waiting::Awaited;
use oxmpi_waiting::futex::wake_shared;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, OnceLock, PoisonError};

struct Nest;

/// The hosts that opened it, by job and rank.
static HOSTS: Mutex<Vec<((u64, u32), Host)>> = Mutex::new(Vec::new());

/// The job and the rank.
fn of(job: &JobInfo) -> (u64, u32) {
    (job.job_id, job.rank)
}

/// A table with a barrier and what waits for words.
const fn only(barrier: CollFn, waits: [Option<CollFn>; 2]) -> CollTable {
    // SAFETY: numbers, and slots for which null is `None`.
    let mut table: CollTable = unsafe { core::mem::zeroed() };
    table.size = size_of::<CollTable>() as u32;
    table.version = 1;
    table.barrier = Some(barrier);
    [table.bcast, table.reduce] = waits;
    table.scan = Some(in_all);
    table
}

/// Parts that a communicator's module has, from the first barrier on.
struct Parts {
    /// Null in ranks that lead no node.
    leaders: *mut c_void,
    /// Arrivals, then how many barriers are over.
    words: *const [WakingWord; 2],
}

#[derive(Default)]
struct Module(OnceLock<Parts>);

// SAFETY: parts and memory may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Coll for Nest {
    type Module = Module;
    const TABLE: CollTable = only(barrier, [Some(in_vain), None]);
    const PLANS: Option<CollTable> = Some(only(planned, [Some(in_vain), Some(changes)]));
    const NESTS: bool = true;

    fn query(&self, comm: &CollComm) -> Option<(i32, Module)> {
        assert!(comm.num_nodes >= 1 && comm.node < comm.num_nodes);
        Some((100, Module::default()))
    }
}

impl Component for Nest {
    type Module = CollModule;
    const NAME: &'static str = "nest";

    fn open(host: Host, _: Params<'_>) -> Result<(i32, Vec<CollModule>), OpenError> {
        HOSTS.lock().unwrap_or_else(PoisonError::into_inner).push((of(host.job()), host));
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
    let turn = over.load();
    let (before, sleepers) = arrived.add(1);
    if sleepers {
        assert_eq!((s.wake_word)(comm, arrived), Status::OK);
    }
    let mut here = before + 1;
    if own.node_rank != 0 {
        return (s.wait_word)(comm, over, turn);
    }
    while here < own.node_size {
        assert_eq!((s.wait_word)(comm, arrived, here), Status::OK);
        here = arrived.load();
    }
    let mut view = MaybeUninit::uninit();
    assert_eq!((s.sub_view)(comm, parts.leaders, view.as_mut_ptr()), Status::OK);
    // SAFETY: filled.
    let status = (s.call)(unsafe { view.assume_init_ref() }, which::BARRIER, args);
    // Only this rank waits for it.
    let _ = arrived.store(0);
    if over.add(1).1 {
        assert_eq!((s.wake_word)(comm, over), Status::OK);
    }
    status
}

/// Broadcasts in the part of all ranks: one in which the root takes part without data, and one with.
extern "C" fn in_all(_: *mut c_void, comm: *const CollComm, _: *const CollArgs) -> Status {
    // SAFETY: the host's communicator and table.
    let (comm, s) = unsafe { (&*comm, &*(*comm).services) };
    assert!(s.can_lose());
    let (mut sub, mut view) = (null_mut(), MaybeUninit::uninit());
    assert_eq!((s.sub_comm)(comm, part::ALL, StrRef::of("nest"), &mut sub), Status::OK);
    assert_eq!((s.sub_view)(comm, sub, view.as_mut_ptr()), Status::OK);
    // SAFETY: filled.
    let view: &CollComm = unsafe { view.assume_init_ref() };
    assert_eq!((view.rank, view.num_ranks), (comm.rank, comm.num_ranks));
    let int = TypeDesc::basic(Base::I32).expect("a basic type");
    let mut data = [comm.rank as i32 + 7];
    let args = CollArgs { recvbuf: data.as_mut_ptr().cast(), recvcount: 1, recvtype: &int, ..CollArgs::NONE };
    assert_eq!((s.call_lost)(view, which::BCAST, &args, Status::OK), Status::BAD_PARAM, "no error");
    if comm.rank == 0 {
        (s.call_lost)(view, which::BCAST, &args, Status::UNREACHABLE);
    } else {
        assert_eq!((s.call)(view, which::BCAST, &args), Status::UNREACHABLE);
    }
    let second = (s.call)(view, which::BCAST, &args);
    assert_eq!(data, [7], "the second one has data");
    second
}

/// The word that planned barriers wait for.
static DOOR: WakingWord = WakingWord::new(0);

/// The word that broadcasts wait for in plans and outside of them, and that nobody changes.
static WALL: WakingWord = WakingWord::new(0);

/// The word that planned reductions change.
static PLANNED: WakingWord = WakingWord::new(0);

/// Waits until the door is open.
extern "C" fn planned(_: *mut c_void, comm: *const CollComm, _: *const CollArgs) -> Status {
    // SAFETY: the host's communicator and table.
    let s = unsafe { &*(*comm).services };
    let mut own = Place::default();
    assert_eq!((s.place)(comm, 0, &mut own), Status::OK);
    assert_eq!((s.node_memory)(comm, 8, &mut null_mut()), Status::NOT_SUPPORTED);
    (s.wait_word)(comm, &DOOR, 0)
}

/// Waits for what never comes.
extern "C" fn in_vain(_: *mut c_void, comm: *const CollComm, _: *const CollArgs) -> Status {
    // SAFETY: as above.
    unsafe { ((*(*comm).services).wait_word)(comm, &WALL, 0) }
}

/// A step of its own changes the word, and the next one wakes who sleeps on it.
extern "C" fn changes(_: *mut c_void, comm: *const CollComm, _: *const CollArgs) -> Status {
    extern "C" fn stores(_: *mut c_void, what: u32) -> Status {
        if what == step::START {
            let _ = PLANNED.store(1);
        }
        Status::OK
    }
    // SAFETY: as above.
    let s = unsafe { &*(*comm).services };
    assert_eq!((s.step)(comm, stores, null_mut()), Status::OK);
    (s.wake_word)(comm, &PLANNED)
}

fn with_nest() -> Config {
    with_nest_at(Level::Single)
}

fn with_nest_at(level: Level) -> Config {
    let mut config = config(Form::LinkedIn, level, &[]);
    config.builtin.push(btl_template::descriptor());
    config.builtin.push(descriptor());
    config
}

/// Begins a collective without buffers.
fn begin(thread: Thread<'_>, world: &Communicator, which: Slot) -> Result<Header, Status> {
    // SAFETY: the arguments point to nothing.
    unsafe { world.begin_collective(&mut thread.entry(), which, &CollArgs::NONE, None) }
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
                assert_eq!(Thread::main(instance).barrier(&world), Status::OK);
                assert!(came.iter().all(|c| c.load(Ordering::Acquire) >= turn), "turn {turn} on {nodes:?}");
            }
        });
    }
}

/// Ranks that wait for one without data hear of it, whatever their places, and the next collective of the part works.
#[test]
fn a_rank_takes_part_without_data() {
    for nodes in [&[0, 0, 0][..], &[0, 1, 0, 1, 2]] {
        job_on(nodes, with_nest, |instance| {
            let world = instance.world();
            // SAFETY: the arguments point to nothing.
            let status = unsafe { world.scan(&mut Thread::main(instance).entry(), &CollArgs::NONE) };
            assert_eq!(status, Status::OK);
        });
    }
}

#[test]
fn plans_wait_for_words() {
    let both_have_looked = Barrier::new(2);
    job_on(&[0, 0], with_nest, |instance| {
        let (world, thread) = (instance.world(), Thread::main(instance));
        let begun = begin(thread, &world, Slot::Barrier);
        let request = begun.expect("a request");
        for _ in 0..50 {
            instance.progress(&mut thread.entry());
        }
        assert!(!request.is_complete(), "the door is closed");
        both_have_looked.wait();
        if world.rank() == 0 && DOOR.store(1) {
            wake_shared(DOOR.address().addr());
        }
        // SAFETY: ours, and not used any more.
        assert_eq!(unsafe { thread.finish(request) }.error, Status::OK);
    });
}

/// Loses rank 2, as a transport tells it from a thread of its own.
fn lose_rank_2(instance: &Instance) {
    instance.survive_failures(true);
    let hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, host) = hosts.iter().find(|(key, _)| *key == of(instance.job())).expect("it was opened");
    let failed = host.services().peer_failed;
    assert_eq!(failed(host.table().instance, 2, Status::PEER_FAILED, StrRef::of("a test")), Status::OK);
}

/// A rank that waits for a word of a lost process sleeps until that is told, and then no longer; so does a plan. Communicators without it go on.
#[test]
fn waits_for_words_end_when_a_process_is_lost() {
    for patience in ["1", "10000"] {
        let waiting = || {
            let mut config = with_nest();
            config.params.push(("mpi_spin_count".into(), patience.into()));
            config
        };
        job_on(&[0, 0, 0], waiting, |instance| {
            let (world, thread) = (instance.world(), Thread::main(instance));
            if world.rank() == 2 {
                return;
            }
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(std::time::Duration::from_millis(30));
                    lose_rank_2(instance);
                });
                let plan = begin(thread, &world, Slot::Bcast);
                // SAFETY: the arguments point to nothing.
                assert_eq!(unsafe { world.bcast(&mut thread.entry(), &CollArgs::NONE) }, Status::PEER_FAILED);
                let request = plan.expect("a request");
                // SAFETY: ours, and not used any more.
                assert_eq!(unsafe { thread.finish(request) }.error, Status::PEER_FAILED);
            });
        });
        assert_eq!(WALL.sleepers.load(Ordering::Relaxed), 0, "a sleeper is still announced");
    }
}

/// A plan changes a word, and wakes who waits for it in another process's name.
#[test]
fn plans_wake_who_waits_for_a_word() {
    job_on(&[0, 0], with_nest, |instance| {
        let (world, thread) = (instance.world(), Thread::main(instance));
        if world.rank() == 0 {
            // SAFETY: a static.
            instance.wait_word(&mut thread.entry(), unsafe { Awaited::new(&PLANNED, 0) }, || false);
            return assert_eq!(PLANNED.load(), 1);
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
        let request = begin(thread, &world, Slot::Reduce).expect("a request");
        // SAFETY: ours, and not used any more.
        unsafe { thread.finish(request) };
    });
    assert_eq!(PLANNED.sleepers.load(Ordering::Relaxed), 0);
}

/// One thread waits for a message and another one for a word; whichever has the progress, each wait ends with what it is for, and the
/// second thread's ends while the first one's does not.
#[test]
fn a_thread_waits_for_a_word_beside_one_that_waits_for_a_message() {
    static WORD: WakingWord = WakingWord::new(0);
    static ANSWER: WakingWord = WakingWord::new(0);
    for (round, spins) in (1..).zip(["1", "10000", "1"]) {
        let threads = || {
            let mut config = with_nest_at(Level::Multiple);
            config.params.push(("mpi_spin_count".into(), spins.into()));
            config
        };
        job_on(&[0, 0], threads, |instance| {
            let (world, thread) = (instance.world(), Thread::main(instance));
            let (long, mut number) = (Basic::new(Base::U64, 8), [0u64]);
            let wait = |thread: Thread<'_>, word: &'static WakingWord| {
                // SAFETY: a static.
                instance.wait_word(&mut thread.entry(), unsafe { Awaited::new(word, round - 1) }, || false);
            };
            let change = |word: &'static WakingWord| {
                if word.store(round) {
                    wake_shared(word.address().addr());
                }
            };
            if world.rank() == 1 {
                std::thread::sleep(std::time::Duration::from_millis(30));
                change(&WORD);
                wait(thread, &ANSWER);
                let sent = world.send(&mut thread.entry(), long.data(&number), Envelope::new(0, 5));
                return assert_eq!(sent, Status::OK);
            }
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let own = Thread::attach(instance);
                    wait(own, &WORD);
                    change(&ANSWER);
                    own.detach();
                });
                let (place, mut status) = (long.place(&mut number), MsgStatus::EMPTY);
                let answer = world.recv(&mut thread.entry(), place, Envelope::new(1, 5), &mut status);
                assert_eq!(answer, Status::OK);
            });
        });
        assert_eq!((WORD.sleepers.load(Ordering::Relaxed), ANSWER.sleepers.load(Ordering::Relaxed)), (0, 0));
    }
}
