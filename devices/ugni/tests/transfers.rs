//! Posts on Aries: what arrives, what is told, what is refused.

mod common;

use common::*;
use oxmpi_ugni_emulation::api::{domains::*, endpoints::*, memory::*, posts::*, queues::*};
use oxmpi_ugni_emulation::entry;
use oxmpi_ugni_emulation::layouts::{CtPut, MemHandle};
use oxmpi_ugni_emulation::numbers::*;
use std::ptr::null_mut;
use std::sync::Mutex;

/// Tests of one process count its events one after the other.
static ONE: Mutex<()> = Mutex::new(());

fn pair(base: u32) -> (Domain, Domain) {
    set_up("mdds=2000");
    let modes = mode::DUAL_EVENTS | mode::FMA_SHARED | mode::ERR_NO_KILL;
    (Domain::new(base, modes, 64), Domain::new(base + 1, modes, 64))
}

#[test]
fn fast_puts_and_gets_of_all_lengths() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(100);
    let ep = a.to(b.address, b.inst);
    let remote_cq = queue(b.nic, 64, 0);
    let target = vec![0u8; 100_000];
    let there = b.register(&target, remote_cq, 0);
    for length in [0, 1, 7, 4096, 16 * 1024, 16 * 1024 + 1, 70_001] {
        let source: Vec<u8> = (0..length).map(|i| (i * 7 + length) as u8).collect();
        let mut d = descriptor(post::FMA_PUT, cqmode::GLOBAL_EVENT | cqmode::REMOTE_EVENT);
        (d.local_addr, d.length) = (source.as_ptr() as u64, length as u64);
        (d.remote_addr, d.remote_mem_hndl) = (target.as_ptr() as u64 + 3, there);
        assert_eq!(GNI_EpSetEventData(ep, 5, 77), rc::SUCCESS);
        assert_eq!(fma(ep, &mut d), rc::SUCCESS);
        assert_eq!(complete(a.cq, &d), rc::SUCCESS);
        assert_eq!(target[3..3 + length], source, "{length} bytes");
        let (code, e) = event(remote_cq);
        assert_eq!((code, entry::gni_cq_get_rem_inst_id(e)), (rc::SUCCESS, 77));
    }
    let back = vec![0u32; 5000];
    let here = a.register(&back, null_mut(), 0);
    let mut d = descriptor(post::FMA_GET, cqmode::GLOBAL_EVENT);
    (d.local_addr, d.local_mem_hndl, d.length) = (back.as_ptr() as u64, here, 20_000);
    (d.remote_addr, d.remote_mem_hndl) = (target.as_ptr() as u64 + 4, there);
    // 4 bytes behind the target's start, which is aligned as vectors of bytes of this size are.
    assert_eq!(d.remote_addr % 4, 0);
    assert_eq!(fma(ep, &mut d), rc::SUCCESS);
    assert_eq!(complete(a.cq, &d), rc::SUCCESS);
    // SAFETY: as bytes.
    let got = unsafe { core::slice::from_raw_parts(back.as_ptr().cast::<u8>(), 20_000) };
    assert_eq!(got, &target[4..20_004]);
}

#[test]
fn a_flag_comes_behind_its_data() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(110);
    let ep = a.to(b.address, b.inst);
    let target = vec![0u64; 8192];
    let there = b.register(&target, null_mut(), 0);
    let source = vec![9u64; 8191];
    let mut d = descriptor(post::FMA_PUT_W_SYNCFLAG, 0);
    (d.local_addr, d.length) = (source.as_ptr() as u64, 8191 * 8);
    (d.remote_addr, d.remote_mem_hndl) = (target.as_ptr() as u64, there);
    (d.sync_flag_addr, d.sync_flag_value) = (&raw const target[8191] as u64, 42);
    assert_eq!(fma(ep, &mut d), rc::SUCCESS);
    let end = std::time::Instant::now() + PATIENCE;
    // SAFETY: in the vector.
    while unsafe { (&raw const target[8191]).read_volatile() } != 42 {
        assert!(std::time::Instant::now() < end, "the flag did not come");
        std::thread::yield_now();
    }
    assert!(target[..8191].iter().all(|v| *v == 9));
    assert_eq!(GNI_CqTestEvent(a.cq), rc::NOT_DONE, "silent");
}

#[test]
fn atomics_fetch_and_change() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(120);
    let ep = a.to(b.address, b.inst);
    let target = [40u64; 4];
    let there = b.register(&target, null_mut(), 0);
    let old = [0u64; 1];
    let here = a.register(&old, null_mut(), 0);
    let run = |command, first, second, length| {
        let mut d = descriptor(post::AMO, cqmode::GLOBAL_EVENT);
        (d.amo_cmd, d.first_operand, d.second_operand, d.length) = (command, first, second, length);
        (d.local_addr, d.local_mem_hndl) = (old.as_ptr() as u64, here);
        (d.remote_addr, d.remote_mem_hndl) = (target.as_ptr() as u64, there);
        match fma(ep, &mut d) {
            rc::SUCCESS => complete(a.cq, &d),
            code => code,
        }
    };
    // SAFETY: words of the arrays, which the engine writes between the calls.
    let (value, fetched) =
        (|| unsafe { target.as_ptr().read_volatile() }, || unsafe { old.as_ptr().read_volatile() });
    assert_eq!((run(0x008, 2, 0, 8), value(), fetched()), (rc::SUCCESS, 42, 40));
    assert_eq!((run(0x00d, 42, 7, 8), value()), (rc::SUCCESS, 7));
    assert_eq!((run(0x00d, 42, 8, 8), value()), (rc::SUCCESS, 7), "a comparison that fails");
    assert_eq!((run(0x108, 1, 0, 8), value()), (rc::SUCCESS, 8), "without fetching");
    assert_eq!((run(0x254, 0xffff_ffff, 0, 4), value()), (rc::SUCCESS, 7), "32 bits");
    assert_eq!(run(0x05d, 0, 0, 8), rc::ILLEGAL_OP, "the sum of doubles");
    assert_eq!(run(0x018, 0, 0, 8), rc::ILLEGAL_OP, "cached, which the domain does not permit");
    assert_eq!(run(0x008, 0, 0, 0), rc::INVALID_PARAM, "no bytes");
    assert_eq!(run(0x008, 0, 0, 4), rc::ALIGNMENT_ERROR);
}

#[test]
fn bulk_transfers_tell_of_source_and_target() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(130);
    let ep = a.to(b.address, b.inst);
    let source: Vec<u32> = (0..300_000).collect();
    let target = vec![0u32; 300_000];
    let (here, there) = (a.register(&source, null_mut(), 0), b.register(&target, null_mut(), 0));
    let mut d = descriptor(post::RDMA_PUT, cqmode::LOCAL_EVENT | cqmode::GLOBAL_EVENT);
    (d.local_addr, d.local_mem_hndl, d.length) = (source.as_ptr() as u64, here, 1_200_000);
    (d.remote_addr, d.remote_mem_hndl) = (target.as_ptr() as u64, there);
    assert_eq!(rdma(ep, &mut d), rc::SUCCESS);
    assert_eq!(d.src_cq_hndl, a.cq, "filled in");
    for restored in [false, true] {
        let (code, e) = event(a.cq);
        let mut done = null_mut();
        // SAFETY: a place of ours.
        assert_eq!((code, unsafe { GNI_GetCompleted(a.cq, e, &mut done) }), (rc::SUCCESS, rc::SUCCESS));
        assert_eq!(d.post_id == 4711, restored, "with the last event");
    }
    assert_eq!(target, source);

    let back = vec![0u32; 300_000];
    let home = a.register(&back, null_mut(), 0);
    let mut d = descriptor(post::RDMA_GET, cqmode::GLOBAL_EVENT);
    (d.local_addr, d.local_mem_hndl, d.length) = (back.as_ptr() as u64, home, 1_200_000);
    (d.remote_addr, d.remote_mem_hndl) = (target.as_ptr() as u64, there);
    assert_eq!(rdma(ep, &mut d), rc::SUCCESS);
    assert_eq!(complete(a.cq, &d), rc::SUCCESS);
    assert_eq!(back, source);
}

#[test]
fn what_a_post_refuses() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(140);
    let ep = a.to(b.address, b.inst);
    let memory = vec![0u64; 512];
    let (here, read_only) =
        (a.register(&memory, null_mut(), 0), a.register(&memory, null_mut(), mem::READ_ONLY));
    let prepared = |kind, mode| {
        let mut d = descriptor(kind, mode);
        (d.local_addr, d.local_mem_hndl, d.length) = (memory.as_ptr() as u64, here, 64);
        (d.remote_addr, d.remote_mem_hndl) = (memory.as_ptr() as u64, here);
        d
    };
    assert_eq!(
        fma(ep, &mut prepared(post::FMA_PUT, cqmode::LOCAL_EVENT)),
        rc::INVALID_PARAM,
        "no local event of a fast post"
    );
    assert_eq!(fma(ep, &mut prepared(post::RDMA_PUT, 0)), rc::INVALID_PARAM, "not a fast type");
    assert_eq!(rdma(ep, &mut prepared(post::FMA_PUT, 0)), rc::INVALID_PARAM, "not a bulk type");
    assert_eq!(fma(a.unbound(), &mut prepared(post::FMA_PUT, 0)), rc::INVALID_PARAM, "not bound");
    assert_eq!(fma(8 as Handle, &mut prepared(post::FMA_PUT, 0)), rc::INVALID_PARAM, "no handle");

    let mut d = prepared(post::FMA_GET, cqmode::GLOBAL_EVENT);
    d.length = 0;
    assert_eq!(fma(ep, &mut d), rc::INVALID_PARAM);
    d.length = 6;
    assert_eq!(fma(ep, &mut d), rc::ALIGNMENT_ERROR);
    (d.length, d.remote_addr) = (4, d.remote_addr + 2);
    assert_eq!(fma(ep, &mut d), rc::ALIGNMENT_ERROR);

    let mut d = prepared(post::RDMA_PUT, cqmode::GLOBAL_EVENT);
    d.remote_mem_hndl = read_only;
    assert_eq!(rdma(ep, &mut d), rc::PERMISSION_ERROR);
    let mut d = prepared(post::RDMA_GET, cqmode::GLOBAL_EVENT);
    d.local_mem_hndl = read_only;
    assert_eq!(rdma(ep, &mut d), rc::PERMISSION_ERROR);
    let mut d = prepared(post::RDMA_PUT, cqmode::GLOBAL_EVENT);
    d.length = 0;
    assert_eq!(rdma(ep, &mut d), rc::INVALID_PARAM);
    d.length = BTE_MAX + 1;
    assert_eq!(rdma(ep, &mut d), rc::INVALID_PARAM);
    let mut d = prepared(post::RDMA_PUT, cqmode::GLOBAL_EVENT);
    d.rdma_mode = rdmamode::FENCE;
    assert_eq!(rdma(ep, &mut d), rc::INVALID_PARAM, "a fence wants one channel");
    d.rdma_mode = 0;
    let remote_cq = queue(a.nic, 8, 0);
    a.register(&memory, remote_cq, 0);
    d.src_cq_hndl = remote_cq;
    assert_eq!(rdma(ep, &mut d), rc::INVALID_PARAM, "a queue of remote events");
    assert_eq!(GNI_CqTestEvent(a.cq), rc::NOT_DONE, "nothing was posted");
}

#[test]
fn errors_of_memory_come_as_events() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(150);
    let ep = a.to(b.address, b.inst);
    let memory = vec![0u8; 3 * 4096];
    let there = b.register(&memory[..4096], null_mut(), 0);
    let read_only = b.register(&memory[..4096], null_mut(), mem::READ_ONLY);
    let mut stale = b.register(&memory[..4096], null_mut(), 0);
    let old = stale;
    // SAFETY: a place of ours.
    assert_eq!(unsafe { GNI_MemDeregister(b.nic, &mut stale) }, rc::SUCCESS);
    let put = |handle: MemHandle, at: u64, length: u64| {
        let source = vec![1u8; length as usize];
        let mut d = descriptor(post::FMA_PUT, cqmode::GLOBAL_EVENT);
        (d.local_addr, d.length) = (source.as_ptr() as u64, length);
        (d.remote_addr, d.remote_mem_hndl) = (at, handle);
        assert_eq!(fma(ep, &mut d), rc::SUCCESS, "a fast post does not look at handles");
        let (code, e) = event(a.cq);
        let mut done = null_mut();
        // SAFETY: a place of ours.
        unsafe { GNI_GetCompleted(a.cq, e, &mut done) };
        assert_eq!(d.status, code as u64);
        (code, entry::gni_cq_get_status(e) as u8, e)
    };
    let at = memory.as_ptr() as u64;
    let (code, status, e) = put(there, at + 2 * 4096, 4096);
    assert_eq!((code, status), (rc::TRANSACTION_ERROR, status::AT_BOUNDS));
    let mut recoverable = 9;
    let mut text = [0u8; 64];
    // SAFETY: places of ours.
    unsafe {
        assert_eq!((GNI_CqErrorRecoverable(e, &mut recoverable), recoverable), (rc::SUCCESS, 0));
        assert_eq!(GNI_CqErrorStr(e, text.as_mut_ptr().cast(), 64), rc::SUCCESS);
        assert_eq!(GNI_CqErrorStr(e, text.as_mut_ptr().cast(), 3), rc::SIZE_ERROR);
    }
    assert!(text.starts_with(b"FMA:AT_BOUNDS"));
    assert_eq!(put(read_only, at, 8).1, status::AT_MDD_WR_PERMISSION);
    assert_eq!(put(old, at, 8).1, status::AT_MDD_INV, "used behind its end");
    assert_eq!(put(there, at, 70_000).1, status::AT_BOUNDS, "of many frames");
    assert_eq!(put(there, at, 8).0, rc::SUCCESS, "and all is well");
}

#[test]
fn a_write_into_a_queue_needs_a_queue() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(160);
    let ep = a.to(b.address, b.inst);
    let memory = vec![0u8; 4096];
    let remote_cq = queue(b.nic, 8, cq_mode::BLOCKING);
    let mut d = descriptor(post::CQWRITE, cqmode::GLOBAL_EVENT);
    d.remote_mem_hndl = b.register(&memory, remote_cq, 0);
    d.cqwrite_value = 0xdead_beef_cafe;
    // SAFETY: the descriptor stays.
    assert_eq!(unsafe { GNI_PostCqWrite(ep, &mut *d) }, rc::SUCCESS);
    assert_eq!(complete(a.cq, &d), rc::SUCCESS);
    let (mut which, cqs) = (9, [remote_cq]);
    // SAFETY: places of ours.
    assert_eq!(unsafe { GNI_CqVectorMonitor(cqs.as_ptr(), 1, 60_000, &mut which) }, rc::SUCCESS);
    assert_eq!((which, entry::gni_cq_get_data(event(remote_cq).1)), (0, 0xdead_beef_cafe));
    // SAFETY: places of ours.
    assert_eq!(unsafe { GNI_CqVectorMonitor(cqs.as_ptr(), 1, 1, &mut which) }, rc::TIMEOUT);
    // SAFETY: as above.
    let of_plain = unsafe { GNI_CqVectorMonitor([a.cq].as_ptr(), 1, 1, &mut which) };
    assert_eq!(of_plain, rc::ERROR_RESOURCE, "not a blocking one");
    d.remote_mem_hndl = b.register(&memory, null_mut(), 0);
    // SAFETY: as above.
    assert_eq!(unsafe { GNI_PostCqWrite(ep, &mut *d) }, rc::SUCCESS);
    assert_eq!(event(a.cq).0, rc::TRANSACTION_ERROR);
}

#[test]
fn a_chain_has_one_completion() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(170);
    let (ep, other) = (a.to(b.address, b.inst), a.to(a.address, a.inst));
    let (target, own) = (vec![0u8; 64], vec![0u8; 64]);
    let (there, home) = (b.register(&target, null_mut(), 0), a.register(&own, null_mut(), 0));
    let source = [7u8; 64];
    let local_addr = source.as_ptr() as u64;
    let mut second = CtPut {
        next_descr: null_mut(),
        ep_hndl: other,
        length: 16,
        remote_addr: own.as_ptr() as u64,
        remote_mem_hndl: home,
        local_addr,
    };
    let mut d = descriptor(post::FMA_PUT, cqmode::GLOBAL_EVENT);
    (d.local_addr, d.length, d.remote_addr, d.remote_mem_hndl) =
        (local_addr, 8, target.as_ptr() as u64, there);
    d.next_descr = (&raw mut second).cast();
    // SAFETY: the chain stays.
    assert_eq!(unsafe { GNI_CtPostFma(ep, &mut *d) }, rc::SUCCESS);
    assert_eq!(complete(a.cq, &d), rc::SUCCESS);
    assert_eq!((target[7], target[8], own[15], own[16]), (7, 0, 7, 0));
    assert_eq!(GNI_CqTestEvent(a.cq), rc::NOT_DONE, "one event");
}

#[test]
fn objects_have_their_states() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(180);
    assert_eq!(
        attach(a.inst, mode::FMA_SHARED).err(),
        Some(rc::INVALID_STATE),
        "an instance of that number is there"
    );
    let (mut nic, mut address) = (null_mut(), 0);
    // SAFETY: places of ours.
    unsafe {
        assert_eq!(GNI_CdmAttach(a.cdm, 0, &mut address, &mut nic), rc::INVALID_STATE, "attached already");
        assert_eq!(GNI_CdmAttach(a.cdm, 3, &mut address, &mut nic), rc::NO_MATCH, "no such device");
        assert_eq!(GNI_CdmAttach(null_mut(), 0, &mut address, &mut nic), rc::INVALID_PARAM);
    }
    let ep = a.unbound();
    assert_eq!(GNI_EpUnbind(ep), rc::INVALID_PARAM);
    assert_eq!(GNI_EpBind(ep, b.address, b.inst), rc::SUCCESS);
    assert_eq!(GNI_EpBind(ep, b.address, b.inst), rc::INVALID_PARAM, "bound already");
    assert_eq!(GNI_CqDestroy(a.cq), rc::ERROR_RESOURCE, "an endpoint refers to it");
    assert_eq!(
        (GNI_EpUnbind(ep), GNI_EpDestroy(ep), GNI_EpDestroy(ep)),
        (rc::SUCCESS, rc::SUCCESS, rc::INVALID_PARAM)
    );
    assert_eq!((GNI_CqDestroy(a.cq), GNI_CqDestroy(a.cq)), (rc::SUCCESS, rc::INVALID_PARAM));
    assert_eq!((GNI_CdmDestroy(b.cdm), GNI_CdmDestroy(b.cdm)), (rc::SUCCESS, rc::INVALID_PARAM));
    for _ in 0..20 {
        let (cdm, ..) = attach(b.inst, mode::FMA_SHARED).expect("the number is free at once");
        assert_eq!(GNI_CdmDestroy(cdm), rc::SUCCESS);
    }
}

#[test]
fn a_channel_fires_for_an_armed_queue() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(190);
    let ep = a.to(b.address, b.inst);
    let memory = vec![0u8; 4096];
    let remote_cq = queue(b.nic, 8, cq_mode::BLOCKING);
    let there = b.register(&memory, remote_cq, 0);
    let (mut channel, mut fd, mut fired) = (null_mut(), -1, null_mut());
    // SAFETY: places of ours; the descriptor is the channel's.
    unsafe {
        assert_eq!(GNI_CompChanCreate(b.nic, &mut channel), rc::SUCCESS);
        assert_eq!(GNI_CompChanFd(channel, &mut fd), rc::SUCCESS);
        assert_eq!(GNI_CqAttachCompChan(remote_cq, channel), rc::SUCCESS);
        assert_eq!(GNI_CompChanGetEvent(channel, &mut fired), rc::NOT_DONE);
        assert_eq!(GNI_CqArmCompChan([remote_cq].as_ptr(), 1), rc::SUCCESS);
        let mut d = descriptor(post::CQWRITE, 0);
        d.remote_mem_hndl = there;
        assert_eq!(GNI_PostCqWrite(ep, &mut *d), rc::SUCCESS);
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        assert_eq!(libc::poll(&mut poll, 1, 60_000), 1, "the descriptor became ready");
        assert_eq!((GNI_CompChanGetEvent(channel, &mut fired), fired), (rc::SUCCESS, remote_cq));
        assert_eq!(libc::poll(&mut poll, 1, 0), 0, "once");
        assert_eq!(GNI_CompChanDestroy(channel), rc::SUCCESS);
    }
}

/// Memory that is deregistered under a put belongs to the program again: nothing is written there any more, whatever is on its way.
#[test]
fn nothing_is_written_behind_a_deregistration() {
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let (a, b) = pair(200);
    let ep = a.to(b.address, b.inst);
    let source = vec![1u8; 200_000];
    let mut refused = 0;
    for round in 0..200 {
        let mut target = vec![0u8; 200_000];
        let mut there = b.register(&target, null_mut(), 0);
        let mut d = descriptor(post::FMA_PUT, cqmode::GLOBAL_EVENT);
        (d.local_addr, d.length) = (source.as_ptr() as u64, 200_000);
        (d.remote_addr, d.remote_mem_hndl) = (target.as_ptr() as u64, there);
        assert_eq!(fma(ep, &mut d), rc::SUCCESS);
        for _ in 0..round * 50 {
            std::hint::spin_loop();
        }
        // SAFETY: a place of ours.
        assert_eq!(unsafe { GNI_MemDeregister(b.nic, &mut there) }, rc::SUCCESS);
        target.fill(9);
        refused += usize::from(complete(a.cq, &d) == rc::TRANSACTION_ERROR);
        assert!(target.iter().all(|v| *v == 9), "round {round}");
    }
    assert!(refused > 0, "some were on their way");
}
