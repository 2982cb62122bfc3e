//! Reading, writing and updating another rank's memory, where it is offered.

use crate::harness::{Harness, Link};
use crate::message::{Msg, step};
use crate::rma::{Memory, Verb, flush, transfer, update};
use crate::setup::Setup;
use oxmpi_btl::{AtomicDesc, Piece, RegHandle, RmaDesc, RmaVectorDesc, WaitWord, access, amo, cap};
use oxmpi_mca::{MemKind, SliceRef, Status};

/// What is not offered answers NOT_SUPPORTED and does nothing, in the host's full table.
pub fn one_sided_is_offered_or_refused(setup: &Setup) {
    let h = Harness::new(setup);
    let link = h.link();
    let rank = &h.ranks[link.from];
    let (btl, endpoint) = (&rank.btl, rank.endpoint(link.to));
    let mut word = 7u64;
    let desc = RmaDesc {
        local: (&raw mut word).cast(),
        remote: &raw mut word as u64,
        len: 0,
        local_handle: core::ptr::null(),
        remote_handle: core::ptr::null(),
        done: None,
        done_ctx: core::ptr::null_mut(),
    };
    let none = SliceRef { ptr: core::ptr::NonNull::dangling().as_ptr(), len: 0 };
    let vector = RmaVectorDesc { local: none, remote: none, len: 0 };
    let mut handle = RegHandle { bytes: [0; 64] };
    let mut wait = WaitWord { addr: core::ptr::null(), expected: 0, reserved: 0 };
    let refused = [
        (cap::GET, (!rank.can(cap::GET)).then(|| (btl.get)(btl.state, endpoint, 0, &desc))),
        (cap::PUT, (!rank.can(cap::PUT)).then(|| (btl.put)(btl.state, endpoint, 0, &desc))),
        (
            cap::GET_VECTOR,
            (!rank.can(cap::GET_VECTOR)).then(|| (btl.get_vector)(btl.state, endpoint, 0, &vector)),
        ),
        (cap::FLUSH, (!rank.can(cap::FLUSH)).then(|| (btl.flush)(btl.state, endpoint, 0))),
        (
            cap::REGISTER,
            (!rank.can(cap::REGISTER)).then(|| {
                (btl.register_mem)(btl.state, desc.local, 8, access::REMOTE_READ, MemKind::HOST, &mut handle)
            }),
        ),
        (cap::SLEEP, (!rank.can(cap::SLEEP)).then(|| (btl.arm)(btl.state, 0, &mut wait))),
    ];
    for (capability, answer) in refused {
        if let Some(status) = answer {
            assert_eq!(status, Status::NOT_SUPPORTED, "{}: capability bit {capability}", h.name);
        }
    }
    assert_eq!(word, 7);
}

fn lengths(limit: u64) -> Vec<usize> {
    let limit = if limit == 0 { usize::MAX } else { limit as usize };
    [0usize, 1, 3, 4, 8, 63, 64, 65, 4095, 4096, 5000, 65536, 1 << 20, (1 << 20) + 8]
        .into_iter()
        .filter(|&l| l <= limit)
        .collect()
}

/// Moves pieces of every length and checks both sides, also around the piece.
fn moves(setup: &Setup, verb: Verb) {
    let h = Harness::new(setup);
    let rank = &h.ranks[0];
    if !rank.can(if verb == Verb::Get { cap::GET } else { cap::PUT }) {
        return;
    }
    let attrs = &rank.btl.attrs;
    let (limit, align) = match verb {
        Verb::Get => (attrs.get_limit, attrs.get_alignment),
        Verb::Put => (attrs.put_limit, attrs.put_alignment),
    };
    let align = align.max(1) as usize;
    for link in h.links() {
        for len in lengths(limit) {
            let len = len.next_multiple_of(align);
            one_move(&h, link, verb, len, align);
        }
    }
}

fn one_move(h: &Harness, link: Link, verb: Verb, len: usize, align: usize) {
    const MARGIN: usize = 64;
    let size = len + 2 * MARGIN + 16;
    let mut source = Msg::new(len as u64 + 1, 0, size).bytes();
    let mut target = vec![0xabu8; size];
    // Different offsets, each as aligned as the module asks.
    let (from, to) = ((MARGIN + 3).next_multiple_of(align), (MARGIN + 5).next_multiple_of(align));
    let (source_copy, remote_rank) = (source.clone(), link.to);
    let (near, far) = match verb {
        Verb::Get => (&mut target, &mut source),
        Verb::Put => (&mut source, &mut target),
    };
    let local = Memory::of(h, link.from, near);
    let remote = Memory::of(h, remote_rank, far);
    // Alignment counts from the address, not from the buffer's start.
    let adjust = |m: &Memory, at: usize| at + (m.addr as usize + at).wrapping_neg() % align;
    let (l, r) = match verb {
        Verb::Get => (adjust(&local, to), adjust(&remote, from)),
        Verb::Put => (adjust(&local, from), adjust(&remote, to)),
    };
    let status = transfer(h, link, verb, (&local, l), (&remote, r), len);
    assert_eq!(status, Status::OK, "{}: {verb:?} of {len} bytes over {link:?}", h.name);
    if verb == Verb::Put {
        assert_eq!(flush(h, link), Status::OK, "{}: flush", h.name);
    }
    local.release(h);
    remote.release(h);
    let (from, to) = if verb == Verb::Get { (r, l) } else { (l, r) };
    assert!(
        target[to..to + len] == source[from..from + len],
        "{}: {verb:?} of {len} bytes went wrong",
        h.name
    );
    assert!(
        target[..to].iter().chain(&target[to + len..]).all(|&b| b == 0xab),
        "{}: {verb:?} of {len} bytes wrote beside its target",
        h.name
    );
    assert!(source == source_copy, "{}: {verb:?} changed its source", h.name);
}

/// `get` brings exactly the bytes asked for.
pub fn get_reads(setup: &Setup) {
    moves(setup, Verb::Get)
}

/// Cuts a buffer into pieces with gaps between them; `seed` decides where. Bytes of data in all.
fn cut(buffer: &mut [u8], mut seed: u64) -> (Vec<Piece>, u64) {
    let (mut pieces, mut at, mut data) = (Vec::new(), 0, 0);
    let longest = 1 + seed % 5000;
    while at < buffer.len() {
        seed = step(seed);
        let len = (seed % longest).min((buffer.len() - at) as u64);
        pieces.push(Piece { addr: buffer[at..].as_ptr() as u64, len });
        data += len;
        at += (len + seed / 7 % 100) as usize;
    }
    (pieces, data)
}

/// `get_vector` brings the pieces asked for to where they belong, and is through when it returns.
pub fn get_vector_reads_pieces(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::GET_VECTOR) {
        return;
    }
    for link in h.links() {
        for seed in 1..40u64 {
            let size = (seed * seed * 97) as usize;
            let mut source = Msg::new(seed, 0, size).bytes();
            let mut target = vec![0xabu8; size * 2];
            let (remote, there) = cut(&mut source, step(seed));
            let (local, here) = cut(&mut target, step(seed + 100));
            let len = there.min(here) / if seed % 3 == 0 { 2 } else { 1 };
            let of = |list: &[Piece]| SliceRef { ptr: list.as_ptr(), len: list.len() };
            let desc = RmaVectorDesc { local: of(&local), remote: of(&remote), len };
            let rank = &h.ranks[link.from];
            let read = || (rank.btl.get_vector)(rank.btl.state, rank.endpoint(link.to), 0, &desc);
            assert_eq!(rank.on(0, read), Status::OK, "{}: {len} bytes over {link:?}", h.name);
            let mut expected = vec![0xabu8; size * 2];
            let base = target.as_ptr() as u64;
            let from = source.as_ptr() as u64;
            // SAFETY: the lists are slices; nothing is read through their addresses.
            let whole = unsafe {
                desc.stretches(|local, remote, len| {
                    let (to, at, len) = ((local - base) as usize, (remote - from) as usize, len as usize);
                    expected[to..to + len].copy_from_slice(&source[at..at + len]);
                    true
                })
            };
            assert!(whole && target == expected, "{}: {len} bytes in pieces went wrong", h.name);
        }
    }
}

/// `put` writes exactly the bytes given, and they are there after `flush`.
pub fn put_writes_and_flushes(setup: &Setup) {
    moves(setup, Verb::Put)
}

/// The plain meaning of an atomic operation.
fn model(op: u32, flags: u32, old: u64, operand: u64, compare: u64) -> u64 {
    let narrow = flags & amo::WIDTH_32 != 0;
    let cut = |x: u64| if narrow { x as u32 as u64 } else { x };
    let signed = |x: u64| if narrow { x as u32 as i32 as i64 } else { x as i64 };
    let (old, operand, compare) = (cut(old), cut(operand), cut(compare));
    let pick = |smaller: bool| {
        let less = if flags & amo::SIGNED != 0 { signed(operand) < signed(old) } else { operand < old };
        if less == smaller { operand } else { old }
    };
    cut(match op {
        amo::ADD => old.wrapping_add(operand),
        amo::AND => old & operand,
        amo::OR => old | operand,
        amo::XOR => old ^ operand,
        amo::SWAP => operand,
        amo::MIN => pick(true),
        amo::MAX => pick(false),
        _ => {
            if old == compare {
                operand
            } else {
                old
            }
        }
    })
}

/// Every operation the module announces, 64 and 32 bits wide, fetching and not.
pub fn atomics_update(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::ATOMIC) {
        return;
    }
    let announced = h.ranks[0].btl.attrs.amo_ops;
    for link in h.links() {
        let mut words = [0u64; 3];
        let base = words.as_mut_ptr();
        // SAFETY: the array's bytes; seen through the pointers only until the memory is released.
        let bytes = unsafe { core::slice::from_raw_parts_mut(base.cast::<u8>(), 24) };
        let remote = Memory::of(&h, link.to, bytes);
        let mut x = 42u64;
        for round in 0..200u32 {
            for op in (0..=amo::COMPARE_SWAP).filter(|op| announced & (1 << op) != 0) {
                x = step(x);
                let narrow = round % 2 * amo::WIDTH_32;
                let flags = narrow | if x & 1 == 0 { amo::SIGNED } else { 0 };
                let (old, operand) = (step(x ^ 1), step(x ^ 2));
                let compare = if x & 2 == 0 { old } else { step(x ^ 3) };
                // SAFETY: inside the array; nothing is under way.
                unsafe { base.write_volatile(!0) };
                // SAFETY: as above.
                unsafe { base.add(1).write_volatile(old) };
                let mut result = 0u64;
                let fetch = x & 4 == 0;
                let desc = AtomicDesc {
                    result: if fetch { &mut result } else { core::ptr::null_mut() },
                    remote: base.wrapping_add(1) as u64,
                    remote_handle: core::ptr::null(),
                    op,
                    flags,
                    operand,
                    compare,
                    done: None,
                    done_ctx: core::ptr::null_mut(),
                };
                let status = update(&h, link, &remote, desc);
                assert_eq!(status, Status::OK, "{}: operation {op}, flags {flags}", h.name);
                if h.ranks[link.from].can(cap::FLUSH) {
                    assert_eq!(flush(&h, link), Status::OK);
                }
                // SAFETY: as above.
                let (before, now) = unsafe { (base.read_volatile(), base.add(1).read_volatile()) };
                let new = model(op, flags, old, operand, compare);
                let expected = if narrow != 0 { old & !0xffff_ffff | new } else { new };
                let case = format!("operation {op}, flags {flags}: {old:#x} with {operand:#x}, {compare:#x}");
                assert_eq!(now, expected, "{}: {case}", h.name);
                assert_eq!(before, !0, "{}: {case}: wrote in front of its target", h.name);
                if fetch {
                    let was = if narrow != 0 { old as u32 as u64 } else { old };
                    assert_eq!(result, was, "{}: {case}: fetched", h.name);
                }
            }
        }
        remote.release(&h);
    }
}

/// Registration, where it is needed: any piece of memory, often, and no memory of unknown kind.
pub fn registration(setup: &Setup) {
    let h = Harness::new(setup);
    let rank = &h.ranks[0];
    if !rank.can(cap::REGISTER) {
        return;
    }
    let btl = &rank.btl;
    let mut bytes = vec![0u8; 100_000];
    for i in 0..200usize {
        let (at, len) = (i * 37, 1 + i * 401);
        let memory = Memory::of(&h, 0, &mut bytes[at..at + len.min(90_000 - at)]);
        let handle = memory.handle.expect("registered");
        assert!(
            handle.bytes[btl.attrs.registration_handle_size as usize..].iter().all(|&b| b == 0),
            "{}: a handle is longer than registration_handle_size",
            h.name
        );
        memory.release(&h);
    }
    let mut handle = RegHandle { bytes: [0; 64] };
    let status = (btl.register_mem)(
        btl.state,
        bytes.as_mut_ptr(),
        100,
        access::REMOTE_READ,
        MemKind(999),
        &mut handle,
    );
    assert!(status.is_err(), "{}: registered memory of an unknown kind", h.name);
}
