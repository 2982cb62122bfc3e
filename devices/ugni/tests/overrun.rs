//! A queue of remote events that nobody empties: events are lost, and the program is told.

mod common;

use common::*;
use oxmpi_ugni_emulation::api::posts::*;
use oxmpi_ugni_emulation::numbers::*;
use oxmpi_ugni_emulation::{counters, entry};

#[test]
fn a_full_queue_loses_events_and_says_so() {
    set_up("");
    let (a, b) = (Domain::new(1, mode::FMA_SHARED, 64), Domain::new(2, mode::FMA_SHARED, 64));
    let remote_cq = queue(b.nic, 4, 0);
    let memory = vec![0u8; 4096];
    let there = b.register(&memory, remote_cq, 0);
    let ep = a.to(b.address, b.inst);
    for i in 0..6 {
        let mut d = descriptor(post::CQWRITE, cqmode::GLOBAL_EVENT);
        (d.remote_mem_hndl, d.cqwrite_value) = (there, i);
        // SAFETY: the descriptor stays.
        assert_eq!(unsafe { GNI_PostCqWrite(ep, &mut *d) }, rc::SUCCESS);
        assert_eq!(complete(a.cq, &d), rc::SUCCESS, "the sender does not learn of it");
    }
    assert_eq!(counters::get("overruns"), Some(2));
    for i in 0..3 {
        let (code, e) = event(remote_cq);
        assert_eq!((code, entry::gni_cq_get_data(e)), (rc::SUCCESS, i));
    }
    let (code, e) = event(remote_cq);
    assert_eq!((code, entry::gni_cq_overrun(e)), (rc::ERROR_RESOURCE, 1), "with the newest that was kept");
}
