//! The gate of a living instance: a second thread gets in while the first one waits or sleeps.

mod common;

use common::{Basic, Form, Thread, config, job};
use oxmpi_datatype::Base;
use oxmpi_mca::{MsgStatus, Status};
use oxmpi_runtime::{Envelope, Level};
use oxmpi_waiting::gate::Answer;
use oxmpi_waiting::thread::thread_pointer;
use std::sync::atomic::{AtomicU32, Ordering};

/// Waits for a word that another thread of this test sets.
fn until(word: &AtomicU32) {
    while word.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
}

/// The level rises while the only thread of a rank waits for a message, which is sent only then.
#[test]
fn the_level_rises_under_a_waiting_thread() {
    static ENTERS: AtomicU32 = AtomicU32::new(0);
    static HAS_RISEN: AtomicU32 = AtomicU32::new(0);
    job(
        2,
        || config(Form::Loaded, Level::Serialized, &[("mpi_yield_when_idle", "1")]),
        |instance| {
            let byte = Basic::new(Base::BYTE, 1);
            let c = instance.world();
            let t = Thread::main(instance);
            if c.rank() == 0 {
                until(&HAS_RISEN);
                assert_eq!(c.send(&mut t.entry(), byte.data(&[5u8]), Envelope::new(1, 1)), Status::OK);
                return;
            }
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    until(&ENTERS);
                    assert_eq!(instance.raise_level(Level::Funneled), Level::Serialized, "it never falls");
                    assert_eq!(instance.raise_level(Level::Multiple), Level::Multiple);
                    assert!(instance.threaded());
                    HAS_RISEN.store(1, Ordering::Release);
                });
                let mut got = [0_u8];
                let mut status = MsgStatus::EMPTY;
                let (gate, me) = (instance.gate(), thread_pointer());
                gate.open(false);
                assert_eq!(gate.ask(me), Answer::Inside);
                ENTERS.store(1, Ordering::Release);
                let answer = c.recv(&mut t.entry(), byte.place(&mut got), Envelope::new(0, 1), &mut status);
                assert_eq!(answer, Status::OK);
                gate.leave();
                assert_eq!(got, [5]);
                assert!(!gate.enter(me) && gate.ask(me) == Answer::Free);
            });
        },
    );
}

/// A level that is raised while the only thread sleeps is there long before that one would wake by itself.
#[test]
fn a_sleeper_is_woken_for_the_second_thread() {
    job(
        1,
        || config(Form::Loaded, Level::Serialized, &[("mpi_yield_when_idle", "1"), ("mpi_yield_count", "1")]),
        |instance| {
            let gate = instance.gate();
            gate.open(false);
            let done = AtomicU32::new(0);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..20 {
                        // So that it mostly sleeps; a round in which it does not yet is one, too.
                        std::thread::sleep(std::time::Duration::from_millis(3));
                        assert!(!instance.threaded());
                        // Nothing is changed: the sleeper is woken, stands aside, and sleeps again.
                        assert!(!gate.stop(fence_all, wake, || false));
                    }
                    assert!(instance.act_threaded());
                    done.store(1, Ordering::Release);
                });
                assert_eq!(gate.ask(thread_pointer()), Answer::Inside);
                instance
                    .wait_until(&mut Thread::main(instance).entry(), |_| done.load(Ordering::Acquire) == 1);
                gate.leave();
            });
            assert!(instance.threaded());
        },
    );
}

fn fence_all() -> bool {
    use rustix::thread::{MembarrierCommand, membarrier};
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
        && membarrier(MembarrierCommand::PrivateExpedited).is_ok()
}

fn wake(bed: usize) {
    // SAFETY: FUTEX_WAKE touches no memory.
    unsafe { libc::syscall(libc::SYS_futex, bed, libc::FUTEX_WAKE, 1) };
}
