//! Which contexts of which transports are used and progressed: those that a transport has, and all that somebody has said to use.

mod common;

use common::*;
use oxmpi_mca::host::cri_mode::{ROUND_ROBIN, SERIAL_PROGRESS};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{LayerFunction, Status, ThreadCtx};
use oxmpi_pml::{SendArgs, mode};
use oxmpi_progress::policy::kind::Kind;
use std::ffi::c_void;
use std::ptr::null_mut;

const CRIS: u32 = 3;

fn send(w: &World, comm: Comm, thread: *mut ThreadCtx, tag: i32) {
    let (table, state) = w.table(comm.proc);
    let args = SendArgs { thread, ..w.send_args(comm, bytes(&[7]), 1, tag, mode::STANDARD) };
    let mut req = null_mut();
    assert_eq!((table.isend)(state, &args, &mut req), Status::PENDING);
}

/// A transport with one context beside the one that reaches the peer leaves that as many FIFOs as it has, and is progressed
/// on its one context alone.
#[test]
fn a_narrow_transport_leaves_others_their_width() {
    for narrow in [false, true] {
        let setup = Setup { cris: CRIS, modes: ROUND_ROBIN, threaded: true, narrow, ..Setup::default() };
        let w = World::new(setup);
        let comms = w.world();
        let threads = [new_thread(0), new_thread(1)];
        threads.iter().for_each(|&thread| send(&w, comms[0], thread, 5));
        w.settle();
        for n in 0..30 {
            send(&w, comms[0], threads[n % 2], 5);
        }
        let used = (0..CRIS as usize).filter(|&ctx| w.waiting_on(1, ctx) > 0).count();
        assert!(used > 1, "narrow {narrow}: everything goes on one FIFO");
        w.settle();
        assert_eq!(w.in_flight(1), 0);
    }
}

/// Another layer says that it uses CRI 2: from then on progress covers it, and so does whoever goes to sleep.
#[test]
fn what_another_layer_uses_is_progressed_and_armed() {
    for (threaded, modes, progress) in [
        (false, 0, Kind::OwnFirst),
        (true, 0, Kind::OwnFirst),
        (true, SERIAL_PROGRESS, Kind::Serial),
        (true, 0, Kind::OneLock),
        (true, 0, Kind::DedicatedThenAll),
        (true, 0, Kind::RoundRobin),
    ] {
        let w = World::new(Setup { cris: CRIS, modes, progress, threaded, ..Setup::default() });
        let me = &w.procs[0];
        let turned = || me.turned.swap(0, Ordering::Relaxed);
        w.progress_one(0);
        assert_eq!(turned(), 1, "nobody uses more than the first");
        me.host().activate(2);
        let mut seen = 0;
        // Others' CRIs get a turn once in a while.
        for _ in 0..1000 {
            w.progress_one(0);
            seen |= turned();
            if seen == 7 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        assert_eq!(
            seen, 7,
            "threaded {threaded}, modes {modes}, {progress:?}: all that are active are progressed"
        );
        let mut words = [oxmpi_btl::WaitWord { addr: std::ptr::null(), expected: 0, reserved: 0 }; 4];
        let mut set = oxmpi_btl::WaitSet::new(&mut words, &mut []);
        // SAFETY: a call without a context, in the only thread.
        let none = &mut unsafe { me.entry(null_mut()) };
        assert_eq!(me.engine.arm(none, &mut set), Some(Status::OK));
        assert_eq!(me.armed.load(Ordering::Relaxed), CRIS);
        me.engine.disarm(none);
        assert_eq!(me.armed.load(Ordering::Relaxed), 0);
    }
}

extern "C" fn brings_nothing(_: *mut c_void, _: *mut ThreadCtx) -> i32 {
    0
}
extern "C" fn cannot_be_armed(_: *mut c_void, _: *mut ThreadCtx, _: *mut oxmpi_btl::WaitSet) -> Status {
    Status::NOT_SUPPORTED
}

/// Another layer cannot wake a sleeper: nobody sleeps, and no transport stays armed, since no disarm follows that answer.
#[test]
fn a_layer_that_cannot_be_armed_leaves_no_transport_armed() {
    let w = World::new(Setup::default());
    let me = &w.procs[0];
    let layer = LayerFunction { arm: Some(cannot_be_armed), ..LayerFunction::new(brings_nothing, &(), None) };
    // SAFETY: functions of the test, which look at nothing.
    assert_eq!(unsafe { me.engine.register(&layer) }, Status::OK);
    let mut words = [oxmpi_btl::WaitWord { addr: std::ptr::null(), expected: 0, reserved: 0 }; 4];
    let mut set = oxmpi_btl::WaitSet::new(&mut words, &mut []);
    // SAFETY: a call without a context, in the only thread.
    let none = &mut unsafe { me.entry(null_mut()) };
    assert_eq!(me.engine.arm(none, &mut set), Some(Status::NOT_SUPPORTED));
    assert_eq!(me.armed.load(Ordering::Relaxed), 0);
}
