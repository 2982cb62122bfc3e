//! Arming: nobody sleeps while something is there, what wakes a sleeper is in the set, and disarming undoes it.

use oxmpi_btl::{WaitSet, WaitWord};
use oxmpi_mca::Status;
use oxmpi_pml::mode;

crate::check!(sleeping, ranks: 2, |job| {
    let c = job.world();
    job.ping(&c, 0, 1, 1);
    job.settle();
    let me = job.rank(1);
    let engine = me.engine();
    let mut words = [WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 }; 8];
    let mut arm = |room: usize| {
        let mut set = WaitSet::new(&mut words[..room], &mut []);
        let status = engine.arm(&mut me.entry(), &mut set).expect("there are transports");
        engine.disarm(&mut me.entry());
        (status, set.words().len())
    };
    let (status, words) = arm(8);
    if status == Status::NOT_SUPPORTED {
        return;
    }
    assert_eq!(status, Status::OK, "nothing is there");
    assert!(words >= 1, "a sleeper that nobody wakes");
    assert_eq!(arm(0).0, Status::NO_RESOURCE, "a set without room");
    job.rank(0).send(c[0], &[1; 8], 1, 1, mode::STANDARD).expect("send");
    assert_eq!(arm(8).0, Status::PENDING, "a message is there");
    job.settle();
    let r = me.irecv(c[1], &mut [0; 8], 0, 1);
    job.wait(r);
    assert_eq!(arm(8).0, Status::OK);
    // Disarming twice is as once.
    engine.disarm(&mut me.entry());
});
