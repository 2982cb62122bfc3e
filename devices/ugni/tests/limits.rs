//! Limits of a node and of a queue, on a Gemini with few of everything.

mod common;

use common::*;
use oxmpi_ugni_emulation::api::{domains::*, memory::*, queues::*};
use oxmpi_ugni_emulation::layouts::JobRes;
use oxmpi_ugni_emulation::numbers::*;
use std::ptr::null_mut;

/// All in one test, since a node's limits are the whole process's.
#[test]
fn nothing_goes_beyond_a_limit() {
    set_up("device=gemini,fma=2,cqs=4,mdds=3,mrt=40,ptag=10,error_at=5,error_status=39");
    let a = Domain::new(1, mode::ERR_NO_KILL, 2);
    let (_, b_nic, address) = attach(2, 0).expect("the second descriptor");
    assert_eq!(attach(3, 0).err(), Some(rc::ERROR_RESOURCE), "no fast descriptor is left");
    let (mut cdm, mut nic, mut at) = (null_mut(), null_mut(), 0);
    // SAFETY: places of ours.
    unsafe {
        assert_eq!(GNI_CdmCreate(4, 11, COOKIE, 0, &mut cdm), rc::SUCCESS);
        assert_eq!(GNI_CdmAttach(cdm, 0, &mut at, &mut nic), rc::PERMISSION_ERROR, "another tag");
    }
    let mut used = JobRes::default();
    // SAFETY: a place of ours.
    assert_eq!(unsafe { GNI_GetJobResInfo(0, 10, 6, &mut used) }, rc::SUCCESS);
    assert_eq!((used.used, used.limit), (2, 2));

    for _ in 0..3 {
        queue(b_nic, 4, 0);
    }
    let mut cq = null_mut();
    // SAFETY: a place of ours.
    let fifth = unsafe { GNI_CqCreate(b_nic, 4, 0, 0, None, null_mut(), &mut cq) };
    assert_eq!(fifth, rc::ERROR_RESOURCE, "four queues on the node");

    let memory = vec![0u8; 64 * 4096];
    let at = memory.as_ptr() as u64;
    assert_eq!(
        a.try_register(at, 60 * 4096, null_mut(), 0),
        Err(rc::ERROR_RESOURCE),
        "sixty pages are too many"
    );
    let handles: Vec<_> = (0..3).map(|_| a.register(&memory[..4096], null_mut(), 0)).collect();
    assert_eq!(a.try_register(at, 8, null_mut(), 0), Err(rc::ERROR_RESOURCE), "three registrations");
    let mut last = handles[2];
    // SAFETY: a place of ours.
    assert_eq!(unsafe { GNI_MemDeregister(a.nic, &mut last) }, rc::SUCCESS);
    assert!(a.try_register(at, 8, null_mut(), 0).is_ok(), "one is free again");

    // Two requests fit into a queue of two entries.
    let ep = a.to(address, 1);
    let source = [3u8; 8];
    let mut posts: Vec<_> = (0..3).map(|_| descriptor(post::FMA_PUT, cqmode::GLOBAL_EVENT)).collect();
    let outcomes: Vec<Return> = posts
        .iter_mut()
        .map(|d| {
            (d.local_addr, d.length, d.remote_addr, d.remote_mem_hndl) =
                (source.as_ptr() as u64, 8, at, handles[0]);
            fma(ep, d)
        })
        .collect();
    assert_eq!(outcomes, [rc::SUCCESS, rc::SUCCESS, rc::ERROR_RESOURCE]);
    assert_eq!((complete(a.cq, &posts[0]), complete(a.cq, &posts[1])), (rc::SUCCESS, rc::SUCCESS));
    let mut again = |expected| {
        assert_eq!(fma(ep, &mut posts[2]), rc::SUCCESS);
        assert_eq!(complete(a.cq, &posts[2]), expected);
    };
    again(rc::SUCCESS);
    again(rc::SUCCESS);
    again(rc::TRANSACTION_ERROR);
    again(rc::SUCCESS);

    // Operations that this device refuses.
    let mut d = descriptor(post::FMA_GET, cqmode::GLOBAL_EVENT);
    (d.local_addr, d.local_mem_hndl, d.length) = (at + 2, handles[0], 8);
    (d.remote_addr, d.remote_mem_hndl) = (at, handles[0]);
    assert_eq!(fma(ep, &mut d), rc::ALIGNMENT_ERROR, "Gemini wants the local address aligned");
    let mut d = descriptor(post::AMO, 0);
    (d.amo_cmd, d.length, d.remote_addr, d.remote_mem_hndl) = (0x147, 8, at, handles[0]);
    assert_eq!(fma(ep, &mut d), rc::ILLEGAL_OP, "no swap on Gemini");
}
