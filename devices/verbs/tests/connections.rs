//! Reliable connections by the verbs alone: what they do, and what they refuse.

use oxmpi_verbs_abi::numbers::{cq_flags, event, wc_status, wr_opcode};
use oxmpi_verbs_abi::*;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

mod rig;

use rig::*;

/// One test, since the port and the faults are the process's.
#[test]
fn connections_do_and_refuse() {
    // SAFETY: this test is alone in its process, before there is a device.
    unsafe { std::env::set_var("OXMPI_FAKE_VERBS", format!("fabric=c{}", std::process::id())) };
    let rig = Rig::new();
    let (mut near, mut far) = (vec![1u64; 4096], vec![2u64; 4096]);
    let (local, remote) = (rig.memory(&mut near, LOCAL), rig.memory(&mut far, ALL));
    let (here, there) = (near.as_ptr() as u64, far.as_ptr() as u64);
    // SAFETY: registrations that are there.
    let (lkey, rkey) = unsafe { ((*local).lkey, (*remote).rkey) };
    let mut sge = Sge { addr: here, length: 32768, lkey };
    let (a, b) = rig.two();

    let mut write = request(wr_opcode::RDMA_WRITE, &mut sge, there, rkey, [0; 2]);
    assert_eq!(rig.run(a, &mut write), wc_status::SUCCESS);
    assert!(far.iter().all(|w| *w == 1), "all of it is there");
    far.fill(7);
    assert_eq!(
        rig.run(a, &mut request(wr_opcode::RDMA_READ, &mut sge, there, rkey, [0; 2])),
        wc_status::SUCCESS
    );
    assert!(near.iter().all(|w| *w == 7));
    let mut word = Sge { addr: here, length: 8, lkey };
    for (opcode, operands, old, new) in [
        (wr_opcode::ATOMIC_FETCH_AND_ADD, [5, 0], 7, 12),
        (wr_opcode::ATOMIC_CMP_AND_SWP, [12, 99], 12, 99),
        (wr_opcode::ATOMIC_CMP_AND_SWP, [12, 0], 99, 99),
    ] {
        assert_eq!(rig.run(a, &mut request(opcode, &mut word, there, rkey, operands)), wc_status::SUCCESS);
        assert_eq!((near[0], far[0]), (old, new));
    }
    // A message in several packets, into two pieces of receiving memory's middle.
    let mut into = Sge { addr: there + 8, length: 32000, lkey: rkey };
    rig.receive(b, &mut into, 77);
    near.fill(3);
    let mut message = Sge { addr: here, length: 20000, lkey };
    assert_eq!(rig.post(a, &mut request(wr_opcode::SEND, &mut message, 0, 0, [0; 2])), 0);
    let (x, y) = (rig.next(), rig.next());
    let got = if x.wr_id == 77 { x } else { y };
    assert_eq!((x.status, y.status, got.byte_len), (0, 0, 20000));
    assert!(far[1..2501].iter().all(|w| *w == 3) && far[2501] == 7);

    // The send queue is full until a completion has been seen.
    let mut quiet = request(wr_opcode::RDMA_WRITE, &mut word, there, rkey, [0; 2]);
    quiet.send_flags = 0;
    (0..DEPTH).for_each(|_| assert_eq!(rig.post(a, &mut quiet), 0));
    assert_eq!(rig.post(a, &mut quiet), ENOMEM);

    refusals(&rig, here, there, lkey, rkey);
    locks(&rig, &mut word, there, rkey);

    // A key that is gone, though the memory is registered anew.
    let (c, _) = rig.two();
    // SAFETY: registered above.
    assert_eq!(unsafe { ibv_dereg_mr(remote) }, 0);
    let again = rig.memory(&mut far, ALL);
    let mut old = request(wr_opcode::RDMA_WRITE, &mut word, there, rkey, [0; 2]);
    assert_eq!(rig.run(c, &mut old), wc_status::REM_ACCESS_ERR);
    assert_eq!(rig.run(c, &mut old), wc_status::WR_FLUSH_ERR, "the pair is in error");

    // Port down: nothing is answered.
    let (d, _) = rig.two();
    // SAFETY: a registration that is there.
    let key = unsafe { (*again).rkey };
    // SAFETY: the device's own function.
    assert_eq!(unsafe { oxmpi_fake_verbs_port(0) }, 0);
    let mut lost = request(wr_opcode::RDMA_WRITE, &mut word, there, key, [0; 2]);
    assert_eq!(rig.run(d, &mut lost), wc_status::RETRY_EXC_ERR);
    // SAFETY: as above.
    assert_eq!(unsafe { oxmpi_fake_verbs_port(1) }, 0);
    // Both changes are told, behind what happened to pairs before.
    let ports = std::iter::repeat_with(|| {
        let mut told = AsyncEvent::default();
        // SAFETY: as above.
        assert_eq!(unsafe { ibv_get_async_event(rig.context, &mut told) }, 0);
        told.event_type
    });
    let ports: Vec<u32> = ports.filter(|e| *e != event::QP_ACCESS_ERR).take(2).collect();
    assert_eq!(ports, [event::PORT_ERR, event::PORT_ACTIVE]);
}

/// Locks, doorbells and requests sent with the doorbell so far.
fn counted() -> [u64; 5] {
    // SAFETY: strings.
    [c"qp_locks", c"uuar_locks", c"cq_locks", c"doorbells", c"blue_flames"]
        .map(|name| unsafe { oxmpi_fake_verbs_counter(name.as_ptr()) })
}

/// Under a thread domain, with a queue for one thread, a message takes no lock; elsewhere it takes those that mlx5 takes.
fn locks(rig: &Rig, word: &mut Sge, there: u64, rkey: u32) {
    type AllocTd = unsafe extern "C" fn(*mut Context, *mut TdInitAttr) -> *mut Td;
    type Parent = unsafe extern "C" fn(*mut Context, *mut ParentDomainInitAttr) -> *mut Pd;
    type CreateCq = unsafe extern "C" fn(*mut Context, *mut CqInitAttrEx) -> *mut CqEx;
    // SAFETY: the slots in front of the context have these types.
    let (pd, cq) = unsafe {
        let slot = |distance: usize| rig.context.byte_sub(distance).cast::<*const ()>().read();
        let alloc: AllocTd = core::mem::transmute(slot(ext::ALLOC_TD));
        let parent: Parent = core::mem::transmute(slot(ext::ALLOC_PARENT_DOMAIN));
        let create: CreateCq = core::mem::transmute(slot(ext::CREATE_CQ_EX));
        let refused = alloc(rig.context, &mut TdInitAttr { comp_mask: TdInitAttr::SHARING, sharing: 1 });
        assert!(refused.is_null(), "upstream knows no sharing");
        let td = alloc(rig.context, &mut TdInitAttr::default());
        assert!(!td.is_null());
        let (comp_mask, pd_context) = (0, null_mut());
        let mut over = ParentDomainInitAttr { pd: rig.pd, td, comp_mask, alloc: 0, free: 0, pd_context };
        let mut attr = CqInitAttrEx {
            cqe: 16,
            cq_context: null_mut(),
            channel: null_mut(),
            comp_vector: 0,
            wc_flags: 0,
            comp_mask: cq_flags::MASK_FLAGS,
            flags: cq_flags::SINGLE_THREADED,
            parent_domain: null_mut(),
        };
        (parent(rig.context, &mut over), create(rig.context, &mut attr))
    };
    assert!(!pd.is_null() && !cq.is_null());
    let alone = Rig { context: rig.context, pd, cq: cq.cast() };
    for (rig, locks) in [(&alone, false), (rig, true)] {
        let (qp, _) = rig.two();
        let mut wr = request(wr_opcode::RDMA_WRITE, word, there, rkey, [0; 2]);
        let before = counted();
        assert_eq!(rig.post(qp, &mut wr), 0);
        let posted = counted();
        let difference: Vec<u64> = posted.iter().zip(before).map(|(a, b)| a - b).collect();
        assert_eq!(difference[0], u64::from(locks), "the pair's lock");
        assert_eq!(difference[2..], [0, 1, 1], "one doorbell, with the request");
        if !locks {
            assert_eq!(difference[1], 0, "the register's lock");
        }
        // The extended poll has the same completion.
        let begun = Instant::now();
        // SAFETY: an extended queue of the device; the plain one is one, too.
        unsafe {
            let ex = &mut *rig.cq.cast::<CqEx>();
            while ex.start_poll.expect("a function")(ex, null_mut()) != 0 {
                assert!(begun.elapsed() < Duration::from_secs(30), "no completion comes");
                std::thread::yield_now();
            }
            assert_eq!((ex.wr_id, ex.status), (wr.wr_id, wc_status::SUCCESS));
            assert_eq!(ex.read_qp_num.expect("a function")(ex), (*qp).qp_num);
            ex.end_poll.expect("a function")(ex);
        }
        assert_eq!(counted()[2] > posted[2], locks, "the completion queue's lock");
    }
}

fn refusals(rig: &Rig, here: u64, there: u64, lkey: u32, rkey: u32) {
    let mut word = Sge { addr: here, length: 8, lkey };
    // Beyond the end; a key without the right; a local key that is none; not aligned.
    let mut bad_local = Sge { addr: here, length: 8, lkey: lkey ^ 6 };
    let end = there + 32768 - 4;
    for (mut wr, expected) in [
        (request(wr_opcode::RDMA_WRITE, &mut word, end, rkey, [0; 2]), wc_status::REM_ACCESS_ERR),
        (request(wr_opcode::RDMA_READ, &mut word, here, lkey, [0; 2]), wc_status::REM_ACCESS_ERR),
        (request(wr_opcode::RDMA_WRITE, &mut bad_local, there, rkey, [0; 2]), wc_status::LOC_PROT_ERR),
        (
            request(wr_opcode::ATOMIC_FETCH_AND_ADD, &mut word, there + 4, rkey, [1, 0]),
            wc_status::REM_INV_REQ_ERR,
        ),
        // Nobody receives, and then the requester gives up.
        (request(wr_opcode::SEND, &mut word, 0, 0, [0; 2]), wc_status::RNR_RETRY_EXC_ERR),
    ] {
        let (qp, _) = rig.two();
        assert_eq!(rig.run(qp, &mut wr), expected, "operation {}", wr.opcode);
    }
    let lonely = rig.pair();
    let mut wr = request(wr_opcode::RDMA_WRITE, &mut word, there, rkey, [0; 2]);
    assert_eq!(rig.post(lonely, &mut wr), EINVAL, "not connected");
    rig.connect(lonely, NOBODY);
    assert_eq!(rig.run(lonely, &mut wr), wc_status::RETRY_EXC_ERR);
}
