//! Return codes of the functions that a transport calls, each provoked. The table in README.md says which test provokes which.

mod common;

use common::*;
use oxmpi_ugni_emulation::api::{
    datagrams::*, domains::*, endpoints::*, memory::*, names::*, posts::*, queues::*, smsg::*,
};
use oxmpi_ugni_emulation::entry;
use oxmpi_ugni_emulation::layouts::{CtCqWrite, CtPut, DevRes, JobRes, MemHandle, SmsgAttr};
use oxmpi_ugni_emulation::numbers::*;
use std::ffi::CStr;
use std::ptr::null_mut;

/// Aries; the credentials are given, so that wrong ones are told.
fn domains(base: u32) -> (Domain, Domain) {
    set_up("ptag=10,cookie=0x1234,cqs=64,mdds=64");
    (Domain::new(base, mode::FMA_SHARED, 16), Domain::new(base + 1, mode::FMA_SHARED, 16))
}

/// A number that is nobody's handle.
const NOBODY: Handle = 8 as Handle;

#[test]
fn of_domains() {
    let (a, _b) = domains(1);
    let (mut cdm, mut nic, mut address) = (null_mut(), null_mut(), 0);
    // SAFETY: places of ours, or NULL, which the functions refuse.
    unsafe {
        assert_eq!(GNI_CdmCreate(9, 10, COOKIE, 0, null_mut()), rc::INVALID_PARAM);
        assert_eq!(GNI_CdmCreate(9, 10, COOKIE, 0x8000_0000, &mut cdm), rc::INVALID_PARAM, "a reserved mode");
        assert_eq!(GNI_CdmCreate(9, 10, COOKIE + 1, mode::FMA_SHARED, &mut cdm), rc::SUCCESS);
        assert_eq!(GNI_CdmAttach(cdm, 0, &mut address, &mut nic), rc::PERMISSION_ERROR, "another cookie");
        assert_eq!(GNI_CdmAttach(cdm, 0, null_mut(), &mut nic), rc::INVALID_PARAM);
        assert_eq!(GNI_CdmAttach(cdm, 0, &mut address, null_mut()), rc::INVALID_PARAM);
        assert_eq!((GNI_CdmDestroy(cdm), GNI_CdmDestroy(cdm)), (rc::SUCCESS, rc::INVALID_PARAM));
        assert_eq!(GNI_CdmCreate(9, 255, COOKIE, mode::FMA_SHARED, &mut cdm), rc::SUCCESS);
        assert_eq!(
            GNI_CdmAttach(cdm, u32::MAX, &mut address, &mut nic),
            rc::SUCCESS,
            "the nearest; the tag is found"
        );
        assert_eq!(
            GNI_CdmAttach(cdm, u32::MAX, &mut address, &mut nic),
            rc::INVALID_STATE,
            "there is no other"
        );
        assert_eq!(GNI_CdmAttach(cdm, 7, &mut address, &mut nic), rc::NO_MATCH);
        assert_eq!(GNI_CdmDestroy(cdm), rc::SUCCESS);
        let mut cpu = 0;
        assert_eq!(GNI_CdmGetNicAddress(0, &mut address, &mut cpu), rc::SUCCESS);
        assert_eq!(address, a.address);
        assert_eq!(GNI_CdmGetNicAddress(5, &mut address, &mut cpu), rc::NO_MATCH);
    }
}

#[test]
fn of_questions() {
    let (a, _b) = domains(11);
    let (mut kind, mut version, mut value, mut tag) = (-1, 0, 0, 0);
    let (mut job, mut device) = (JobRes::default(), DevRes::default());
    // SAFETY: places of ours, or NULL.
    unsafe {
        assert_eq!((GNI_GetDeviceType(&mut kind), kind), (rc::SUCCESS, device::ARIES));
        assert_eq!(GNI_GetDeviceType(null_mut()), rc::INVALID_PARAM);
        assert_eq!((GNI_GetVersion(&mut version), version >> 24), (rc::SUCCESS, 0x5d));
        assert_eq!(GNI_GetVersion(null_mut()), rc::INVALID_PARAM);
        assert_eq!(GNI_GetVersionInformation(null_mut()), rc::INVALID_PARAM);
        assert_eq!((GNI_GetNumLocalDevices(&mut kind), kind), (rc::SUCCESS, 1));
        assert_eq!(GNI_GetNumLocalDevices(null_mut()), rc::INVALID_PARAM);
        assert_eq!(GNI_GetLocalDeviceIds(0, &mut kind), rc::INVALID_PARAM, "no room");
        assert_eq!((GNI_GetLocalDeviceIds(1, &mut kind), kind), (rc::SUCCESS, 0));
        assert_eq!((GNI_GetPtag(0, COOKIE, &mut tag), tag), (rc::SUCCESS, 10));
        assert_eq!(GNI_GetPtag(0, COOKIE + 1, &mut tag), rc::NO_MATCH);
        assert_eq!(GNI_GetPtag(4, COOKIE, &mut tag), rc::INVALID_PARAM);
        assert_eq!((GNI_GetJobResInfo(0, 10, 1, &mut job), job.limit), (rc::SUCCESS, 64));
        assert_eq!(GNI_GetJobResInfo(0, 10, 2, &mut job), rc::INVALID_PARAM, "Aries has no table of pages");
        assert_eq!(GNI_GetJobResInfo(4, 10, 1, &mut job), rc::INVALID_PARAM);
        assert_eq!(GNI_GetJobResInfo(0, 10, 99, &mut job), rc::INVALID_PARAM);
        assert_eq!(GNI_GetJobResInfo(0, 10, 1, null_mut()), rc::INVALID_PARAM);
        assert_eq!((GNI_GetDevResInfo(0, 3, &mut device), device.total), (rc::SUCCESS, 64));
        assert_eq!(GNI_GetDevResInfo(0, 2, &mut device), rc::INVALID_PARAM);
        assert_eq!(GNI_GetDevResInfo(0, 3, null_mut()), rc::INVALID_PARAM);
        assert_eq!((GNI_GetNicStat(a.nic, 2, &mut value), value), (rc::SUCCESS, 0));
        assert_eq!(GNI_GetNicStat(a.nic, 7, &mut value), rc::INVALID_PARAM);
        assert_eq!(GNI_GetNicStat(NOBODY, 2, &mut value), rc::INVALID_PARAM);
        assert_eq!(GNI_GetNicStat(a.nic, 2, null_mut()), rc::INVALID_PARAM);
        assert_eq!(
            (GNI_ResetNicStat(a.nic, 2), GNI_ResetNicStat(a.nic, -1)),
            (rc::SUCCESS, rc::INVALID_PARAM)
        );
        assert_eq!(CStr::from_ptr(gni_dev_res_to_str(1)), c"MDD");
        assert_eq!(CStr::from_ptr(gni_job_res_to_str(10)), c"SFMA");
        assert_eq!(CStr::from_ptr(gni_job_res_to_str(99)), c"?");
    }
    assert_eq!((gni_dev_res_valid(0), gni_dev_res_valid(8), gni_job_res_valid(14)), (0, 1, 0));
}

#[test]
fn of_endpoints() {
    let (a, b) = domains(21);
    let mut ep = null_mut();
    let remote_cq = queue(a.nic, 4, 0);
    let memory = [0u64; 8];
    a.register(&memory, remote_cq, 0);
    // SAFETY: places of ours, or NULL.
    unsafe {
        assert_eq!(GNI_EpCreate(NOBODY, a.cq, &mut ep), rc::INVALID_PARAM);
        assert_eq!(GNI_EpCreate(a.nic, NOBODY, &mut ep), rc::INVALID_PARAM);
        assert_eq!(GNI_EpCreate(a.nic, remote_cq, &mut ep), rc::INVALID_PARAM, "a queue of remote events");
        assert_eq!(GNI_EpCreate(a.nic, a.cq, null_mut()), rc::INVALID_PARAM);
    }
    for code in [GNI_EpBind(NOBODY, 1, 1), GNI_EpUnbind(NOBODY), GNI_EpDestroy(NOBODY), GNI_EpIdle(NOBODY)] {
        assert_eq!(code, rc::INVALID_PARAM);
    }
    let ep = a.unbound();
    assert_eq!(GNI_EpSetEventData(ep, 1, 2), rc::INVALID_PARAM, "not bound");
    assert_eq!((GNI_EpIdle(ep), GNI_EpUnbind(ep)), (rc::INVALID_PARAM, rc::INVALID_PARAM), "not bound");
    assert_eq!(GNI_EpBind(ep, b.address, b.inst), rc::SUCCESS);
    assert_eq!((GNI_EpBind(ep, 1, 1), GNI_EpSetEventData(ep, 1, 2)), (rc::INVALID_PARAM, rc::SUCCESS));
    assert_eq!(
        (GNI_EpIdle(ep), GNI_EpUnbind(ep), GNI_EpUnbind(ep)),
        (rc::SUCCESS, rc::SUCCESS, rc::INVALID_PARAM)
    );
    assert_eq!((GNI_EpDestroy(ep), GNI_EpDestroy(ep)), (rc::SUCCESS, rc::INVALID_PARAM));
}

#[test]
fn of_datagrams() {
    let (a, b) = domains(31);
    let (wild, ep) = (a.unbound(), a.to(b.address, b.inst));
    let (mut state, mut address, mut inst, mut id) = (0, 0, 0, 0);
    let mut data = [0u8; 200];
    let data = data.as_mut_ptr().cast();
    // SAFETY: places of ours, which outlive the datagrams; or NULL.
    unsafe {
        assert_eq!(GNI_EpPostDataWId(NOBODY, data, 4, data, 4, 1), rc::INVALID_PARAM);
        assert_eq!(GNI_EpPostDataWId(ep, data, 4, data, 4, u64::MAX), rc::INVALID_PARAM, "no identifier");
        assert_eq!(GNI_EpPostDataWId(ep, null_mut(), 4, data, 4, 1), rc::INVALID_PARAM);
        assert_eq!(GNI_EpPostDataWId(ep, data, 129, data, 4, 1), rc::SIZE_ERROR);
        assert_eq!(GNI_EpPostDataWId(ep, data, 4, data, 129, 1), rc::SIZE_ERROR);
        assert_eq!(GNI_EpPostData(wild, data, 4, data, 4), rc::INVALID_PARAM, "a wildcard has an identifier");
        assert_eq!(GNI_EpPostDataWId(wild, data, 4, data, 4, 7), rc::SUCCESS);
        assert_eq!(GNI_EpPostDataWId(ep, data, 4, data, 4, 8), rc::SUCCESS);
        assert_eq!(GNI_EpPostDataWId(ep, data, 4, data, 4, 9), rc::ERROR_RESOURCE, "one at a time");
        let second = a.to(b.address, b.inst);
        assert_eq!(GNI_EpPostDataWId(second, data, 4, data, 4, 9), rc::ERROR_RESOURCE, "one to a peer");
        assert_eq!(GNI_EpPostDataTestById(ep, 5, &mut state, &mut address, &mut inst), rc::NO_MATCH);
        assert_eq!(
            GNI_EpPostDataTestById(ep, u64::MAX, &mut state, &mut address, &mut inst),
            rc::INVALID_PARAM
        );
        assert_eq!(GNI_EpPostDataWaitById(ep, 8, 0, &mut state, &mut address, &mut inst), rc::INVALID_PARAM);
        assert_eq!(
            GNI_EpPostDataWaitById(NOBODY, 8, 1, &mut state, &mut address, &mut inst),
            rc::INVALID_PARAM
        );
        assert_eq!(GNI_EpPostDataWaitById(wild, 7, 3, &mut state, &mut address, &mut inst), rc::TIMEOUT);
        assert_eq!(GNI_PostDataProbeById(a.nic, &mut id), rc::NO_MATCH, "none has ended");
        assert_eq!(GNI_PostDataProbeById(NOBODY, &mut id), rc::INVALID_PARAM);
        assert_eq!(GNI_PostdataProbeWaitById(a.nic, 1, null_mut()), rc::INVALID_PARAM);
        assert_eq!(GNI_EpPostDataCancelById(wild, 6), rc::NO_MATCH);
        assert_eq!(GNI_EpPostDataCancelById(NOBODY, 6), rc::INVALID_PARAM);
        assert_eq!(
            (GNI_EpPostDataCancelById(wild, 7), GNI_EpPostDataCancelById(wild, 7)),
            (rc::SUCCESS, rc::NO_MATCH)
        );
        // The peer answers: the waiting one is found by its identifier; a place that is too small is told.
        let mut small = [0u8; 2];
        let back = b.to(a.address, a.inst);
        let small = small.as_mut_ptr().cast();
        assert_eq!(GNI_EpPostDataWId(back, data, 4, small, 2, 3), rc::SUCCESS);
        assert_eq!(
            GNI_EpPostDataWaitById(back, 3, 60_000, &mut state, &mut address, &mut inst),
            rc::SIZE_ERROR
        );
        assert_eq!(GNI_EpPostDataWaitById(ep, 8, 60_000, &mut state, &mut address, &mut inst), rc::SUCCESS);
        assert_eq!((state, address, inst), (post_state::COMPLETED, b.address, b.inst));
    }
}

#[test]
fn of_registrations() {
    let (a, _b) = domains(41);
    let memory = vec![0u8; 8192];
    let at = memory.as_ptr() as u64;
    let remote_cq = queue(a.nic, 4, 0);
    a.to(a.address, a.inst);
    let untouched = MemHandle { qword1: 7, qword2: 7 };
    let mut handle = untouched;
    // SAFETY: places of ours, or NULL.
    unsafe {
        let mut register =
            |nic, len, cq, flags| GNI_MemRegister(nic, at, len, cq, flags, u32::MAX, &mut handle);
        assert_eq!(register(NOBODY, 8, null_mut(), 0), rc::INVALID_PARAM);
        assert_eq!(register(a.nic, 0, null_mut(), 0), rc::INVALID_PARAM, "no bytes");
        assert_eq!(register(a.nic, 8, null_mut(), 1 << 30), rc::INVALID_PARAM, "an unknown flag");
        assert_eq!(register(a.nic, 8, NOBODY, 0), rc::INVALID_PARAM);
        assert_eq!(register(a.nic, 8, a.cq, 0), rc::INVALID_PARAM, "a queue of local events");
        assert_eq!(handle, untouched, "where it fails");
        let code = GNI_MemRegister(
            a.nic,
            GNI_CdmCreate as *const () as u64,
            8,
            null_mut(),
            0,
            u32::MAX,
            &mut handle,
        );
        assert_eq!((code, handle), (rc::PERMISSION_ERROR, untouched), "memory that cannot be written");
        assert_eq!(GNI_MemRegister(a.nic, at, 8, null_mut(), 0, u32::MAX, null_mut()), rc::INVALID_PARAM);
        let held: Vec<_> =
            std::iter::from_fn(|| a.try_register(at, 8, remote_cq, 0).ok()).take(100).collect();
        assert!(held.len() < 100, "the node's limit");
        assert_eq!(a.try_register(at, 8, null_mut(), 0), Err(rc::ERROR_RESOURCE));
        assert_eq!(GNI_CqDestroy(remote_cq), rc::ERROR_RESOURCE, "memory refers to it");
        let mut answer = 9;
        let mut first = held[0];
        assert_eq!((GNI_MemHndlQueryAttr(&mut first, 1, &mut answer), answer), (rc::SUCCESS, 0));
        assert_eq!(GNI_MemHndlQueryAttr(&mut first, 9, &mut answer), rc::INVALID_PARAM);
        for mut one in held {
            assert_eq!(GNI_MemDeregister(a.nic, &mut one), rc::SUCCESS);
            assert_eq!(GNI_MemDeregister(a.nic, &mut one), rc::INVALID_PARAM, "once");
        }
        assert_eq!(GNI_MemDeregister(NOBODY, &mut first), rc::INVALID_PARAM);
        assert_eq!((GNI_CqDestroy(remote_cq), GNI_CqDestroy(remote_cq)), (rc::SUCCESS, rc::INVALID_PARAM));
    }
}

#[test]
fn of_queues() {
    let (a, _b) = domains(51);
    let (mut cq, mut e, mut which, mut answer) = (null_mut(), 0, 0, 0);
    let (blocking, mut done) = (queue(a.nic, 4, cq_mode::BLOCKING), null_mut());
    // SAFETY: places of ours, or NULL.
    unsafe {
        assert_eq!(GNI_CqCreate(NOBODY, 4, 0, 0, None, null_mut(), &mut cq), rc::INVALID_PARAM);
        assert_eq!(GNI_CqCreate(a.nic, 0, 0, 0, None, null_mut(), &mut cq), rc::INVALID_PARAM, "no entries");
        assert_eq!(GNI_CqCreate(a.nic, 4, 0, 1 << 9, None, null_mut(), &mut cq), rc::INVALID_PARAM, "a mode");
        assert_eq!(GNI_CqCreate(a.nic, 4, 0, 0, None, null_mut(), null_mut()), rc::INVALID_PARAM);
        assert_eq!((GNI_CqGetEvent(a.cq, &mut e), GNI_CqTestEvent(a.cq)), (rc::NOT_DONE, rc::NOT_DONE));
        assert_eq!(
            (GNI_CqGetEvent(NOBODY, &mut e), GNI_CqTestEvent(NOBODY)),
            (rc::INVALID_PARAM, rc::INVALID_PARAM)
        );
        assert_eq!(GNI_CqGetEvent(a.cq, null_mut()), rc::INVALID_PARAM);
        assert_eq!(GNI_CqWaitEvent(a.cq, 1, &mut e), rc::ERROR_RESOURCE, "not a blocking one");
        assert_eq!(
            (GNI_CqWaitEvent(blocking, 1, &mut e), GNI_CqWaitEvent(NOBODY, 1, &mut e)),
            (rc::TIMEOUT, rc::INVALID_PARAM)
        );
        let both = [blocking, a.cq];
        assert_eq!(GNI_CqVectorMonitor(both.as_ptr(), 2, 1, &mut which), rc::ERROR_RESOURCE);
        assert_eq!(GNI_CqVectorMonitor(both.as_ptr(), 1, 1, &mut which), rc::TIMEOUT);
        assert_eq!(GNI_CqVectorMonitor(both.as_ptr(), 0, 1, &mut which), rc::INVALID_PARAM);
        assert_eq!(GNI_CqVectorMonitor(both.as_ptr(), 1, 1, null_mut()), rc::INVALID_PARAM);
        assert_eq!(
            (GNI_CqInterruptMask(blocking), GNI_CqInterruptMask(a.cq)),
            (rc::SUCCESS, rc::ERROR_RESOURCE)
        );
        assert_eq!(GNI_CqVectorMonitor(both.as_ptr(), 1, 1, &mut which), rc::NOT_DONE, "masked");
        assert_eq!(
            (GNI_CqInterruptUnmask(blocking), GNI_CqInterruptUnmask(NOBODY)),
            (rc::SUCCESS, rc::INVALID_PARAM)
        );
        assert_eq!(GNI_GetCompleted(NOBODY, 0, &mut done), rc::INVALID_PARAM);
        assert_eq!(GNI_GetCompleted(a.cq, 0, null_mut()), rc::INVALID_PARAM);
        assert_eq!(
            (GNI_GetCompleted(a.cq, 0, &mut done), done),
            (rc::INVALID_PARAM, null_mut()),
            "nobody's request"
        );
        let mut message = 0u64;
        entry::gni_cq_set_type(&mut message, event::SMSG);
        assert_eq!((GNI_GetCompleted(a.cq, message, &mut done), done), (rc::DESCRIPTOR_ERROR, null_mut()));
        let mut text = [0u8; 4];
        assert_eq!(GNI_CqErrorStr(0, null_mut(), 9), rc::INVALID_PARAM);
        assert_eq!(GNI_CqErrorStr(0, text.as_mut_ptr().cast(), 0), rc::INVALID_PARAM);
        assert_eq!(GNI_CqErrorStr(0, text.as_mut_ptr().cast(), 1), rc::SIZE_ERROR);
        assert_eq!(GNI_CqErrorRecoverable(0, &mut answer), rc::INVALID_STATE, "no entry");
    }
}

#[test]
fn of_writes_into_queues() {
    let (a, b) = domains(61);
    let ep = a.to(b.address, b.inst);
    let memory = vec![0u8; 4096];
    let remote_cq = queue(b.nic, 8, 0);
    let there = b.register(&memory, remote_cq, 0);
    let element =
        |at, next_descr| CtCqWrite { next_descr, ep_hndl: at, remote_mem_hndl: there, cqwrite_value: 2 };
    let mut third = element(a.to(b.address, b.inst), null_mut());
    let mut second = element(ep, (&raw mut third).cast());
    let mut d = descriptor(post::CQWRITE, cqmode::GLOBAL_EVENT);
    (d.remote_mem_hndl, d.cqwrite_value) = (there, 1);
    // SAFETY: the descriptors stay.
    unsafe {
        assert_eq!(GNI_PostCqWrite(NOBODY, &mut *d), rc::INVALID_PARAM);
        assert_eq!(GNI_PostCqWrite(ep, null_mut()), rc::INVALID_PARAM);
        assert_eq!(GNI_PostCqWrite(a.unbound(), &mut *d), rc::INVALID_PARAM, "not bound");
        let mut wrong = descriptor(post::FMA_PUT, 0);
        assert_eq!(GNI_PostCqWrite(ep, &mut *wrong), rc::INVALID_PARAM, "another type");
        let mut local = descriptor(post::CQWRITE, cqmode::LOCAL_EVENT);
        assert_eq!(GNI_PostCqWrite(ep, &mut *local), rc::INVALID_PARAM, "no local event");
        assert_eq!(GNI_CtPostCqWrite(ep, &mut *local), rc::INVALID_PARAM);
        let mut lost = element(NOBODY, null_mut());
        d.next_descr = (&raw mut lost).cast();
        assert_eq!(GNI_CtPostCqWrite(ep, &mut *d), rc::INVALID_PARAM, "an element's endpoint");
        d.next_descr = (&raw mut second).cast();
        assert_eq!(GNI_CtPostCqWrite(ep, &mut *d), rc::SUCCESS);
    }
    assert_eq!(complete(a.cq, &d), rc::SUCCESS);
    let mut values: Vec<u64> = (0..3).map(|_| entry::gni_cq_get_data(event(remote_cq).1)).collect();
    values.sort_unstable();
    assert_eq!(values, [1, 2, 2]);
    assert_eq!(GNI_CqTestEvent(a.cq), rc::NOT_DONE, "one completion for the chain");
}

#[test]
fn of_messages() {
    let (a, b) = domains(71);
    let ep = a.to(b.address, b.inst);
    let (mine, theirs) = (Mailbox::new(&a, null_mut(), 2, 100), Mailbox::new(&b, null_mut(), 2, 100));
    let (mut size, mut message, mut tag) = (0, null_mut(), SMSG_ANY_TAG);
    // SAFETY: places of ours, or NULL.
    unsafe {
        let needed = |attr: SmsgAttr| {
            let mut size = 0;
            GNI_SmsgBufferSizeNeeded(&attr, &mut size)
        };
        assert_eq!(GNI_SmsgBufferSizeNeeded(core::ptr::null(), &mut size), rc::INVALID_PARAM);
        assert_eq!(GNI_SmsgBufferSizeNeeded(&mine.attr, null_mut()), rc::INVALID_PARAM);
        assert_eq!(needed(SmsgAttr { msg_type: 0, ..mine.attr }), rc::INVALID_PARAM);
        assert_eq!(needed(SmsgAttr { mbox_maxcredit: 0, ..mine.attr }), rc::INVALID_PARAM);
        assert_eq!(needed(SmsgAttr { msg_maxsize: SMSG_MAX_SIZE + 1, ..mine.attr }), rc::INVALID_PARAM);
        assert_eq!(send(ep, b"x", 1, 0), rc::INVALID_PARAM, "no mailbox yet");
        assert_eq!(GNI_SmsgGetNextWTag(ep, &mut message, &mut tag), rc::INVALID_PARAM);
        assert_eq!(GNI_SmsgRelease(ep), rc::INVALID_PARAM);
        let init = |local, remote| GNI_SmsgInit(ep, &local, &remote);
        assert_eq!(GNI_SmsgInit(ep, core::ptr::null(), &theirs.attr), rc::INVALID_PARAM);
        assert_eq!(
            init(mine.attr, SmsgAttr { mbox_maxcredit: 3, ..theirs.attr }),
            rc::INVALID_PARAM,
            "they differ"
        );
        assert_eq!(init(SmsgAttr { buff_size: 8, ..mine.attr }, theirs.attr), rc::INVALID_PARAM, "too small");
        assert_eq!(
            init(SmsgAttr { mbox_offset: 4, ..mine.attr }, theirs.attr),
            rc::INVALID_PARAM,
            "not aligned"
        );
        assert_eq!(GNI_SmsgInit(a.unbound(), &mine.attr, &theirs.attr), rc::INVALID_STATE, "not bound");
        assert_eq!(init(mine.attr, theirs.attr), rc::SUCCESS);
        assert_eq!(init(mine.attr, theirs.attr), rc::INVALID_STATE, "once");
        assert_eq!(GNI_SmsgGetNextWTag(ep, &mut message, &mut tag), rc::NOT_DONE, "no message");
        assert_eq!(GNI_SmsgGetNextWTag(ep, null_mut(), &mut tag), rc::INVALID_PARAM);
        assert_eq!(GNI_SmsgRelease(ep), rc::NOT_DONE, "no message");
        assert_eq!(GNI_SmsgSendWTag(ep, null_mut(), 4, null_mut(), 0, 1, 0), rc::INVALID_PARAM);
        assert_eq!(send(ep, &[0; 101], 1, 0), rc::ERROR_RESOURCE, "longer than agreed on");
        assert_eq!((send(ep, b"x", 1, 0), send(ep, b"y", 2, 0)), (rc::SUCCESS, rc::SUCCESS));
        assert_eq!(send(ep, b"z", 3, 0), rc::NOT_DONE, "no credit");
        assert_eq!(
            (GNI_SmsgSetMaxRetrans(a.nic, 3), GNI_SmsgSetMaxRetrans(NOBODY, 3)),
            (rc::SUCCESS, rc::INVALID_PARAM)
        );
        assert_eq!(
            (GNI_SmsgSetDeliveryMode(a.nic, 0), GNI_SmsgSetDeliveryMode(NOBODY, 0)),
            (rc::SUCCESS, rc::INVALID_PARAM)
        );
    }
    for _ in 0..2 {
        assert_eq!(event(a.cq).0, rc::SUCCESS, "both arrive");
    }
}

/// Every rule of alignment on Aries: (operation, local, remote, length) and what is said of it.
#[test]
fn of_alignment() {
    let (a, b) = domains(81);
    let ep = a.to(b.address, b.inst);
    let (local, remote) = (vec![0u64; 64], vec![0u64; 64]);
    let (here, there) = (a.register(&local, null_mut(), 0), b.register(&remote, null_mut(), 0));
    let (ok, alignment) = (rc::SUCCESS, rc::ALIGNMENT_ERROR);
    let cases = [
        (post::FMA_PUT, 0, 1, 3, 5, ok),
        (post::FMA_PUT, 0, 0, 0, 0, ok),
        (post::FMA_GET, 0, 1, 4, 8, ok),
        (post::FMA_GET, 0, 0, 2, 8, alignment),
        (post::FMA_GET, 0, 0, 4, 6, alignment),
        (post::RDMA_PUT, 0, 1, 3, 5, ok),
        (post::RDMA_GET, 0, 1, 4, 8, ok),
        (post::RDMA_GET, 0, 0, 2, 8, alignment),
        (post::RDMA_GET, 0, 0, 4, 6, alignment),
        (post::AMO, 0x008, 0, 8, 8, ok),
        (post::AMO, 0x008, 4, 8, 8, alignment),
        (post::AMO, 0x008, 0, 4, 8, alignment),
        (post::AMO, 0x108, 4, 8, 8, ok), // it fetches nothing
        (post::AMO, 0x254, 4, 4, 4, ok),
        (post::AMO, 0x254, 2, 4, 4, alignment),
        (post::AMO, 0x254, 0, 2, 4, alignment),
    ];
    for (kind, command, from, to, length, expected) in cases {
        let mut d = descriptor(kind, cqmode::GLOBAL_EVENT);
        (d.local_addr, d.local_mem_hndl, d.length) = (local.as_ptr() as u64 + from, here, length);
        (d.remote_addr, d.remote_mem_hndl, d.amo_cmd) = (remote.as_ptr() as u64 + to, there, command);
        let is_bulk = matches!(kind, post::RDMA_PUT | post::RDMA_GET);
        let code = if is_bulk { rdma(ep, &mut d) } else { fma(ep, &mut d) };
        assert_eq!(code, expected, "type {kind}, command {command:#x}, {from}, {to}, {length} bytes");
        if code == ok {
            assert_eq!(complete(a.cq, &d), ok);
        }
    }
    let mut d = descriptor(post::FMA_PUT_W_SYNCFLAG, cqmode::GLOBAL_EVENT);
    (d.local_addr, d.length) = (local.as_ptr() as u64, 8);
    (d.remote_addr, d.remote_mem_hndl, d.sync_flag_addr) =
        (remote.as_ptr() as u64, there, remote.as_ptr() as u64 + 4);
    assert_eq!(fma(ep, &mut d), alignment, "a flag is a word");
}

#[test]
fn of_chains() {
    let (a, b) = domains(91);
    let ep = a.to(b.address, b.inst);
    let memory = vec![0u64; 64];
    let here = b.register(&memory, null_mut(), 0);
    let at = memory.as_ptr() as u64;
    let chain = |kind, ep_hndl, length| {
        let mut second = CtPut {
            next_descr: null_mut(),
            ep_hndl,
            length,
            remote_addr: at,
            remote_mem_hndl: here,
            local_addr: at,
        };
        let mut d = descriptor(kind, cqmode::GLOBAL_EVENT);
        (d.local_addr, d.length, d.remote_addr, d.remote_mem_hndl) = (at, 8, at + 64, here);
        d.next_descr = (&raw mut second).cast();
        // SAFETY: what is refused has no operation behind it.
        unsafe { GNI_CtPostFma(ep, &mut *d) }
    };
    assert_eq!(chain(post::RDMA_PUT, ep, 8), rc::INVALID_PARAM, "not a fast type");
    assert_eq!(chain(post::FMA_PUT, NOBODY, 8), rc::INVALID_PARAM, "an element's endpoint");
    assert_eq!(chain(post::FMA_PUT, ep, 1 << 20), rc::SIZE_ERROR, "a shared window is 1 MiB");
    let mut d = descriptor(post::FMA_GET, cqmode::GLOBAL_EVENT);
    (d.local_addr, d.length, d.remote_addr, d.remote_mem_hndl) = (at, 6, at + 64, here);
    let mut tail = descriptor(post::FMA_PUT, cqmode::GLOBAL_EVENT);
    tail.dlvr_mode = dlvmode::ORDERED_TAIL;
    // SAFETY: as above.
    unsafe {
        assert_eq!(GNI_CtPostFma(ep, &mut *d), rc::ALIGNMENT_ERROR);
        assert_eq!(GNI_CtPostFma(ep, &mut *tail), rc::INVALID_PARAM, "an ordered tail");
        assert_eq!(GNI_CtPostFma(NOBODY, &mut *d), rc::INVALID_PARAM);
        assert_eq!(GNI_CtPostFma(ep, null_mut()), rc::INVALID_PARAM);
    }
}
