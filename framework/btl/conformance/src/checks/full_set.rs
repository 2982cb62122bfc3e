//! A sleeper without room for words and descriptors.

use crate::harness::Harness;
use crate::setup::Setup;
use oxmpi_btl::{WaitFd, WaitSet, WaitWord, cap};
use oxmpi_mca::Status;

crate::check!(Sleep: arm_says_that_the_set_is_full);

/// `arm` adds what there is room for and says NO_RESOURCE; several contexts share a set.
fn arm_says_that_the_set_is_full(setup: &Setup) {
    let h = Harness::new(setup);
    let rank = &h.ranks[h.link().to];
    if !rank.can(cap::SLEEP) {
        return;
    }
    let arm = |ctx, set: &mut WaitSet| rank.arm(ctx, set);
    let disarm = |ctx| rank.disarm(ctx);
    let mut words = [WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 }; 64];
    let mut fds = [WaitFd { fd: -1, events: 0 }; 64];
    let mut set = WaitSet::new(&mut words, &mut fds);
    for ctx in 0..rank.contexts() {
        assert_eq!(arm(ctx, &mut set), Status::OK, "{}: context {ctx} of several", h.name);
    }
    let needed = set.num_words + set.num_fds;
    (0..rank.contexts()).for_each(disarm);
    let mut none = WaitSet::new(&mut [], &mut []);
    let status = arm(0, &mut none);
    assert_eq!((none.num_words, none.num_fds), (0, 0), "{}: wrote where no room is", h.name);
    let expected = if needed == 0 { Status::OK } else { Status::NO_RESOURCE };
    assert_eq!(status, expected, "{}: a set without room", h.name);
    disarm(0);
}
