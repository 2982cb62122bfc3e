//! The services of the host as a component sees them, asked by a component that offers no transport.

mod common;

use common::{Form, Thread, config, job, job_on};
use oxmpi_btl::BtlModule;
use oxmpi_mca::services::AUTH_BYTES;
use oxmpi_mca::{
    Component, Host, NodeMemory, OpenError, Params, ProcName, ProcPlace, SliceRef, Status, StrRef, WakingWord,
};
use oxmpi_runtime::{Config, Instance, Level};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The hosts that asked for the witness, by job and rank.
static HOSTS: Mutex<Option<HashMap<(u64, u32), Host>>> = Mutex::new(None);

struct Witness;

impl Component for Witness {
    type Module = BtlModule;
    const NAME: &'static str = "witness";

    fn open(host: Host, _: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let s = host.services();
        let said = [host.job().rank as u8; 3];
        let bytes = SliceRef { ptr: said.as_ptr(), len: said.len() };
        assert_eq!((s.exchange_put)(host.table().instance, StrRef::of("second"), bytes), Status::OK);
        let key = (host.job().job_id, host.job().rank);
        HOSTS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(key, host);
        Err(OpenError::not_available("it only looks"))
    }
}

oxmpi_mca::component! {
    component: Witness,
    symbol: oxmpi_component_btl_witness,
    framework: oxmpi_btl::FRAMEWORK,
    framework_version: oxmpi_btl::VERSION,
    name: "witness",
    aliases: [],
    params: &[],
    help: "",
}

fn with_witness() -> Config {
    let mut config = config(Form::LinkedIn, Level::Single, &[]);
    config.builtin.push(descriptor());
    config
}

fn host_of(instance: &Instance) -> (Host, *mut c_void) {
    let key = (instance.job().job_id, instance.job().rank);
    let hosts = HOSTS.lock().unwrap_or_else(PoisonError::into_inner);
    let host = *hosts.as_ref().and_then(|h| h.get(&key)).expect("the component was opened");
    (host, host.table().instance)
}

#[test]
fn names_lead_back_to_indices_and_damage_is_seen() {
    job(3, with_witness, |instance| {
        let (host, at) = host_of(instance);
        let s = host.services();
        for proc in 0..3 {
            let mut name = ProcName::default();
            assert_eq!((s.name_of)(at, proc, &mut name), Status::OK);
            let mut index = u32::MAX;
            assert_eq!(((s.index_of)(at, &name, &mut index), index), (Status::OK, proc));
            for byte in 0..name.bytes.len() {
                let mut bad = name;
                bad.bytes[byte] ^= 0x41;
                assert_eq!((s.index_of)(at, &bad, &mut index), Status::BAD_PARAM, "byte {byte}");
            }
            let mut place = ProcPlace::default();
            assert_eq!((s.place_of)(at, proc, &mut place), Status::OK);
            assert_eq!((place.local, place.local_rank), (1, proc));
        }
        assert_eq!((s.name_of)(at, 3, &mut ProcName::default()), Status::NOT_FOUND);
        assert_eq!((s.place_of)(at, 3, &mut ProcPlace::default()), Status::NOT_FOUND);
    });
}

#[test]
fn the_segment_of_the_job_is_number_0_and_there_is_no_other() {
    job(3, with_witness, |instance| {
        let (host, _) = host_of(instance);
        let (job, segment) = (host.job(), host.segment(0).expect("the job's segment"));
        assert_eq!((segment.fd, segment.local_size), (job.segment_fd, 3));
        assert_eq!((segment.local_rank, segment.reserved), (job.local_rank, 0));
        // Its length is that of the file: three ranks may write at once, and it does not shrink.
        let fd = instance.job().segment_fd;
        // SAFETY: the instance keeps it open.
        let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
        rustix::io::pwrite(file, &[1], (1 << 20) - 1).expect("a memfd");
        assert!(host.segment(0).expect("as before").bytes >= 1 << 20);
        for number in [1, 7, u32::MAX] {
            assert_eq!(host.segment(number), Err(Status::NOT_FOUND));
        }
    });
}

#[test]
fn modules_exchange_under_names_of_their_own() {
    job(3, with_witness, |instance| {
        let (host, at) = host_of(instance);
        let get = |module: &str, proc, data: &mut [u8]| {
            let mut len = data.len();
            let mut status = Status::PENDING;
            while status == Status::PENDING {
                len = data.len();
                let module = StrRef::of(module);
                status = (host.services().exchange_try)(at, module, proc, data.as_mut_ptr(), &mut len);
            }
            (status, len)
        };
        for proc in 0..3 {
            let mut data = [0xffu8; 3];
            assert_eq!(get("second", proc, &mut data), (Status::OK, 3));
            assert_eq!(data, [proc as u8; 3]);
            assert_eq!(get("second", proc, &mut [0; 2]), (Status::NO_RESOURCE, 3));
            assert_eq!(get("first", proc, &mut data).0, Status::NOT_FOUND);
        }
    });
}

#[test]
fn a_rank_proves_that_it_belongs_to_the_job() {
    let answers = Mutex::new(Vec::new());
    let of = |bytes: &[u8]| SliceRef { ptr: bytes.as_ptr(), len: bytes.len() };
    let make = |instance: &Instance, challenge: &[u8], context: &[u8]| {
        let (host, at) = host_of(instance);
        let mut answer = [0u8; AUTH_BYTES];
        let status = (host.services().auth_make)(at, of(challenge), of(context), answer.as_mut_ptr());
        (status, answer)
    };
    let check = |instance: &Instance, challenge: &[u8], context: &[u8], answer: &[u8]| {
        let (host, at) = host_of(instance);
        (host.services().auth_check)(at, of(challenge), of(context), of(answer))
    };
    job(2, with_witness, |instance| {
        let (status, answer) = make(instance, &[9; 16], b"to rank 0");
        assert_eq!(status, Status::OK);
        answers.lock().expect("nobody panics with it").push(answer);
        assert_eq!(check(instance, &[9; 16], b"to rank 0", &answer), Status::OK);
        assert_eq!(check(instance, &[8; 16], b"to rank 0", &answer), Status::NO_PERMISSION);
        assert_eq!(check(instance, &[9; 16], b"to rank 1", &answer), Status::NO_PERMISSION);
        assert_eq!(check(instance, &[9; 16], b"to rank 0", &answer[..31]), Status::NO_PERMISSION);
        assert_eq!(make(instance, &[9; 15], b"").0, Status::BAD_PARAM);
    });
    let answers = answers.into_inner().expect("nobody panicked");
    assert_eq!(answers[0], answers[1], "ranks of one job give one answer");
    job(1, with_witness, |stranger| {
        assert_eq!(check(stranger, &[9; 16], b"to rank 0", &answers[0]), Status::NO_PERMISSION);
    });
}

#[test]
fn memory_of_a_rank_in_this_process_is_read_written_and_pointed_to() {
    job(2, with_witness, |instance| {
        let (host, at) = host_of(instance);
        let s = host.services();
        let other = 1 - instance.job().rank;
        let (theirs, mut ours) = (vec![5u8; 3000], vec![0u8; 3000]);
        let remote = theirs.as_ptr() as u64;
        assert_eq!((s.peer_read)(at, other, remote, ours.as_mut_ptr(), 3000), Status::OK);
        assert_eq!(ours, theirs);
        ours.fill(7);
        assert_eq!((s.peer_write)(at, other, remote, ours.as_ptr(), 2999), Status::OK);
        // SAFETY: inside the vector; read as what others write.
        let ends = unsafe { (theirs.as_ptr().read_volatile(), theirs.as_ptr().add(2999).read_volatile()) };
        assert_eq!(ends, (7, 5));
        let mut pointer = std::ptr::null_mut();
        assert_eq!((s.peer_pointer)(at, other, remote, 3000, &mut pointer), Status::OK);
        assert_eq!(pointer as u64, remote);
        assert_eq!((s.peer_read)(at, other, 8, ours.as_mut_ptr(), 8), Status::BAD_PARAM);
        assert_eq!((s.peer_read)(at, other, u64::MAX, ours.as_mut_ptr(), 8), Status::BAD_PARAM);
        assert_eq!((s.peer_read)(at, 2, remote, ours.as_mut_ptr(), 8), Status::NOT_FOUND);
    });
}

#[test]
fn a_waiter_makes_progress_or_sleeps_until_the_word_changes() {
    for spins in ["1", "10000"] {
        let patience = || {
            let mut config = with_witness();
            config.params.push(("mpi_spin_count".into(), spins.into()));
            config
        };
        job(2, patience, |instance| {
            let (host, at) = host_of(instance);
            let word = WakingWord::new(1);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(std::time::Duration::from_millis(30));
                    if word.store(2) {
                        let at = host.table().instance;
                        assert_eq!((host.services().wake_word)(at, &word), Status::OK);
                    }
                });
                let status = (host.services().wait_word)(at, instance.main_thread(), &word, 1);
                assert_eq!((status, word.load()), (Status::OK, 2));
            });
            assert_eq!(word.sleepers.load(Ordering::Relaxed), 0);
        });
    }
}

/// The wait ends for a process that fails meanwhile, not for one that failed before.
#[test]
fn a_wait_for_a_word_ends_when_a_process_fails() {
    job(3, with_witness, |instance| {
        if instance.job().rank != 0 {
            return;
        }
        instance.survive_failures(true);
        let (host, at) = host_of(instance);
        let fails = |proc| {
            let at = host.table().instance;
            (host.services().peer_failed)(at, proc, Status::PEER_FAILED, StrRef::of("a test"))
        };
        let wait = |word: &WakingWord| (host.services().wait_word)(at, instance.main_thread(), word, 0);
        let word = WakingWord::new(0);
        for proc in [1, 2] {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(std::time::Duration::from_millis(30));
                    assert_eq!(fails(proc), Status::OK);
                });
                assert_eq!(wait(&word), Status::PEER_FAILED, "process {proc}");
            });
        }
        let _ = word.store(1);
        assert_eq!(wait(&word), Status::OK);
    });
}

/// Failures that a subscriber was told of.
#[derive(Default)]
struct FailureReports(Mutex<Vec<(u32, Status)>>);

extern "C" fn told(ctx: *mut c_void, proc: u32, status: Status) {
    // SAFETY: the test's list outlives its subscription.
    let told = unsafe { &*(ctx as *const FailureReports) };
    told.0.lock().expect("nobody panics with it").push((proc, status));
}

#[test]
fn failures_are_told_once_to_all_and_later_to_those_who_come() {
    job(3, with_witness, |instance| {
        if instance.job().rank != 0 {
            return;
        }
        instance.survive_failures(true);
        let (host, at) = host_of(instance);
        let s = host.services();
        let (early, late) = (FailureReports::default(), FailureReports::default());
        let of = |t: &FailureReports| std::ptr::from_ref(t).cast_mut().cast::<c_void>();
        assert_eq!((s.on_peer_failure)(at, told, of(&early)), Status::OK);
        assert_eq!((s.on_peer_failure)(at, told, of(&early)), Status::BAD_PARAM);
        for proc in [2, 2, 1, 2] {
            assert_eq!((s.peer_failed)(at, proc, Status::PEER_FAILED, StrRef::of("a test")), Status::OK);
        }
        assert!(early.0.lock().expect("as above").is_empty(), "nobody is called from where it failed");
        for _ in 0..4 {
            instance.progress(&mut Thread::main(instance).entry());
        }
        let all = vec![(2, Status::PEER_FAILED), (1, Status::PEER_FAILED)];
        assert_eq!(*early.0.lock().expect("as above"), all);
        assert_eq!((s.on_peer_failure)(at, told, of(&late)), Status::OK);
        assert_eq!(*late.0.lock().expect("as above"), all);
        assert_eq!((s.peer_failed)(at, 9, Status::PEER_FAILED, StrRef::of("nobody")), Status::NOT_FOUND);
        for t in [&early, &late] {
            assert_eq!((s.off_peer_failure)(at, told, of(t)), Status::OK);
            assert_eq!((s.off_peer_failure)(at, told, of(t)), Status::NOT_FOUND);
        }
    });
}

/// A piece of the node's memory, as a component asks for it.
fn node_memory(instance: &Instance, key: &str, bytes: u64) -> Result<NodeMemory, Status> {
    let (host, at) = host_of(instance);
    let mut memory = NodeMemory { base: std::ptr::null_mut(), bytes: 0, first: 9, reserved: 9 };
    (host.services().node_memory)(at, StrRef::of(key), bytes, &mut memory).ok()?;
    Ok(memory)
}

fn free(instance: &Instance, key: &str) -> Status {
    let (host, at) = host_of(instance);
    (host.services().node_memory_free)(at, StrRef::of(key))
}

/// The words of a piece.
fn words(memory: &NodeMemory) -> &[AtomicU32] {
    // SAFETY: aligned to pages, and there until it is freed.
    unsafe { std::slice::from_raw_parts(memory.base.cast(), memory.bytes as usize / 4) }
}

#[test]
fn ranks_of_a_node_meet_in_memory_by_key() {
    let world = |instance: &Instance| {
        let status = Thread::main(instance).barrier(&instance.world());
        assert_eq!(status, Status::OK);
    };
    // By node: how many ranks, and how many were told to be the first.
    let firsts = [AtomicU32::new(0), AtomicU32::new(0)];
    let across = || {
        let mut config = with_witness();
        config.builtin.push(btl_template::descriptor());
        config
    };
    job_on(&[0, 0, 1, 0, 1], across, |instance| {
        let (node, me) = (instance.job().node, instance.job().local_rank);
        for round in 0..3 {
            let memory = node_memory(instance, "state", 5000).expect("there is memory");
            assert!((memory.base as usize).is_multiple_of(4096) && memory.bytes == 5000 && memory.first < 2);
            firsts[node as usize].fetch_add(memory.first, Ordering::Relaxed);
            let own = &words(&memory)[10 + me as usize];
            assert_eq!(own.swap(1, Ordering::Relaxed), 0, "it is new, round {round}");
            words(&memory)[0].fetch_add(1, Ordering::Relaxed);
            words(&memory)[1000].fetch_add(10, Ordering::Relaxed);
            let again = node_memory(instance, "state", 5000).expect("it is there");
            assert_eq!((again.base, again.first), (memory.base, 0));
            let other = node_memory(instance, "other", 8).expect("there is memory");
            assert_ne!(other.base, memory.base);
            world(instance);
            let here = instance.job().local_size;
            let seen = [0, 1000].map(|at| words(&memory)[at].load(Ordering::Relaxed));
            assert_eq!(seen, [here, 10 * here], "node {node}");
            assert_eq!(node_memory(instance, "state", 5001).err(), Some(Status::MISMATCH));
            assert_eq!((free(instance, "state"), free(instance, "other")), (Status::OK, Status::OK));
            assert_eq!(words(&memory)[0].load(Ordering::Relaxed), here, "one asking is left");
            world(instance);
            assert_eq!((free(instance, "state"), free(instance, "state")), (Status::OK, Status::NOT_FOUND));
            world(instance);
        }
        assert_eq!(node_memory(instance, "none", 0).err(), Some(Status::BAD_PARAM));
        assert_eq!(node_memory(instance, &"k".repeat(300), 8).err(), Some(Status::BAD_PARAM));
        assert_eq!(node_memory(instance, "huge", 1 << 60).err(), Some(Status::OUT_OF_MEMORY));
        node_memory(instance, "left", 8).expect("what is left goes with the instance");
    });
    assert_eq!(firsts.map(AtomicU32::into_inner), [3, 3], "one in each round on each node");
}
