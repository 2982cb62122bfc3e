//! Datagrams and short messages, with losses: every third message and every second packet of a datagram is lost once.

mod common;

use common::*;
use oxmpi_ugni_emulation::api::{datagrams::*, domains::*, endpoints::*, queues::*, smsg::*};
use oxmpi_ugni_emulation::layouts::SmsgAttr;
use oxmpi_ugni_emulation::numbers::*;
use oxmpi_ugni_emulation::{counters, entry};
use std::ptr::null_mut;
use std::time::Instant;

fn domain(inst: u32) -> Domain {
    set_up("smsg_drop=3,datagram_drop=2,shuffle=1");
    Domain::new(inst, mode::FMA_SHARED, 64)
}

/// Bytes of attributes, as a program sends them to its peer.
fn bytes(attr: &SmsgAttr) -> Vec<u8> {
    // SAFETY: a structure of 56 bytes, of which padding does not matter.
    unsafe { core::slice::from_raw_parts(core::ptr::from_ref(attr).cast::<u8>(), 56) }.to_vec()
}
fn attr(bytes: &[u8]) -> SmsgAttr {
    // SAFETY: 56 bytes that were attributes.
    unsafe { bytes.as_ptr().cast::<SmsgAttr>().read_unaligned() }
}

#[test]
fn a_wildcard_meets_a_post_and_messages_go_both_ways() {
    let (a, b) = (domain(1), domain(2));
    let (near_cq, far_cq) = (queue(a.nic, 256, 0), queue(b.nic, 256, 0));
    let (near, far) = (Mailbox::new(&a, near_cq, 4, 200), Mailbox::new(&b, far_cq, 4, 200));
    let (mine, theirs) = (near.attr, far.attr);
    let (ea, eb) = (a.to(b.address, b.inst), b.unbound());
    let mut got = [0u8; 128];
    let listener = std::thread::spawn({
        let (eb, data) = (eb as usize, bytes(&theirs));
        move || {
            let mut got = [0u8; 128];
            let peer = exchange(eb as Handle, &data, &mut got, 0);
            (peer, got)
        }
    });
    assert_eq!(exchange(ea, &bytes(&mine), &mut got, 1 << 63), (post_state::COMPLETED, b.address, b.inst));
    let (peer, seen) = listener.join().expect("the wildcard ended");
    assert_eq!(peer, (post_state::COMPLETED, a.address, a.inst));
    assert_eq!((attr(&seen).msg_buffer, attr(&got).msg_buffer), (mine.msg_buffer, theirs.msg_buffer));

    let back = b.to(a.address, a.inst);
    // SAFETY: attributes of ours.
    unsafe {
        assert_eq!(GNI_SmsgInit(eb, &theirs, &mine), rc::INVALID_STATE, "not bound");
        assert_eq!(
            GNI_SmsgInit(ea, &mine, &SmsgAttr { mbox_maxcredit: 3, ..theirs }),
            rc::INVALID_PARAM,
            "they differ"
        );
        assert_eq!(GNI_SmsgInit(ea, &mine, &attr(&got)), rc::SUCCESS);
        assert_eq!(GNI_SmsgInit(back, &theirs, &mine), rc::SUCCESS);
    }
    assert_eq!(send(ea, &[0; 201], 1, 0), rc::ERROR_RESOURCE, "longer than agreed on");
    assert_eq!(GNI_SmsgRelease(back), rc::NOT_DONE, "no message");

    // More than there are credits; the receiver's calls give them back.
    let mut sent = 0u32;
    let mut received = 0u32;
    let end = Instant::now() + PATIENCE;
    let payloads: Vec<Vec<u8>> = (0..100).map(|i| vec![i as u8; 150]).collect();
    let mut told = Vec::new();
    let mut stalled = false;
    while received < 100 {
        assert!(Instant::now() < end, "{received} of 100 messages came");
        if sent < 100 {
            match send(ea, &payloads[sent as usize], 1000 + sent, (sent % 5) as u8) {
                rc::SUCCESS => sent += 1,
                code => {
                    assert_eq!(code, rc::NOT_DONE);
                    stalled = true;
                }
            }
        }
        if stalled && let Some((message, tag)) = receive(back, 150) {
            assert_eq!(
                (message, tag),
                (payloads[received as usize].clone(), (received % 5) as u8),
                "in order"
            );
            received += 1;
        }
        let mut e = 0;
        // SAFETY: a place of ours.
        if unsafe { GNI_CqGetEvent(a.cq, &mut e) } == rc::SUCCESS {
            assert_eq!(entry::gni_cq_get_type(e), event::SMSG);
            told.push(entry::gni_cq_get_msg_id(e) as u32);
        }
    }
    while told.len() < 100 {
        told.push(entry::gni_cq_get_msg_id(event(a.cq).1) as u32);
    }
    told.sort_unstable();
    assert_eq!(told, (1000..1100).collect::<Vec<u32>>(), "every identifier once");
    assert!(stalled, "credits ran out");
    assert!(counters::get("resent").expect("a counter") > 10, "messages were lost and sent again");
    let mut retrans = 0;
    // SAFETY: a place of ours.
    assert_eq!(unsafe { GNI_GetNicStat(a.nic, 4, &mut retrans) }, rc::SUCCESS);
    assert!(retrans > 10);
    // A remote event for each message.
    for _ in 0..100 {
        assert_eq!(entry::gni_cq_get_type(event(far_cq).1), event::SMSG);
    }
    assert_eq!((GNI_EpUnbind(ea), GNI_EpIdle(ea)), (rc::SUCCESS, rc::INVALID_PARAM));
}

#[test]
fn a_tag_that_is_not_wanted_leaves_the_message() {
    let (a, b) = (domain(11), domain(12));
    let (near, far) = (Mailbox::new(&a, null_mut(), 2, 64), Mailbox::new(&b, null_mut(), 2, 64));
    let (mine, theirs) = (near.attr, far.attr);
    let (ea, eb) = (a.to(b.address, b.inst), b.to(a.address, a.inst));
    // SAFETY: attributes of ours.
    unsafe {
        assert_eq!(GNI_SmsgInit(ea, &mine, &theirs), rc::SUCCESS);
        assert_eq!(GNI_SmsgInit(eb, &theirs, &mine), rc::SUCCESS);
    }
    assert_eq!(send(ea, b"seven", 1, 7), rc::SUCCESS);
    let end = Instant::now() + PATIENCE;
    let (mut message, mut tag) = (null_mut(), 8);
    // SAFETY: places of ours.
    while unsafe { GNI_SmsgGetNextWTag(eb, &mut message, &mut tag) } != rc::NO_MATCH {
        assert!(Instant::now() < end, "the message did not come");
    }
    assert_eq!(receive(eb, 5), Some((b"seven".to_vec(), 7)));
}

#[test]
fn a_datagram_to_nobody_is_pending_until_it_is_withdrawn() {
    let a = domain(21);
    let ep = a.to(a.address, 999);
    let (mut state, mut address, mut inst) = (9, 0, 0);
    // SAFETY: places of ours.
    unsafe {
        assert_eq!(GNI_EpPostData(ep, [1u8; 129].as_mut_ptr().cast(), 129, null_mut(), 0), rc::SIZE_ERROR);
        assert_eq!(GNI_EpPostData(ep, [1u8; 4].as_mut_ptr().cast(), 4, null_mut(), 0), rc::SUCCESS);
        assert_eq!(GNI_EpPostData(ep, null_mut(), 0, null_mut(), 0), rc::ERROR_RESOURCE, "one at a time");
        assert_eq!(GNI_EpUnbind(ep), rc::NOT_DONE);
        assert_eq!(
            (GNI_EpPostDataTest(ep, &mut state, &mut address, &mut inst), state),
            (rc::SUCCESS, post_state::PENDING)
        );
        assert_eq!(GNI_EpPostDataWait(ep, 0, &mut state, &mut address, &mut inst), rc::INVALID_PARAM);
        assert_eq!(GNI_EpPostDataWait(ep, 5, &mut state, &mut address, &mut inst), rc::TIMEOUT);
        assert_eq!(GNI_EpPostDataCancel(ep), rc::SUCCESS);
        assert_eq!(
            (GNI_EpPostDataTest(ep, &mut state, &mut address, &mut inst), state),
            (rc::SUCCESS, post_state::TERMINATED)
        );
        assert_eq!(GNI_EpPostDataTest(ep, &mut state, &mut address, &mut inst), rc::NO_MATCH);
        assert_eq!(GNI_PostDataProbe(a.nic, &mut address, &mut inst), rc::NO_MATCH);
        let mut id = 0;
        assert_eq!(GNI_PostdataProbeWaitById(a.nic, 2, &mut id), rc::TIMEOUT);
    }
    assert_eq!(GNI_EpUnbind(ep), rc::SUCCESS);
}
