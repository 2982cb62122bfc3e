//! Reading, writing and updating another rank's memory, where it is offered.

use crate::harness::{Harness, Link};
use crate::message::{Msg, step};
use crate::rma::{Memory, Verb, flush, transfer};
use crate::setup::Setup;
use crate::waiting::Waits;
use oxmpi_btl::{
    FlushDesc, HANDLE_LIMIT, Piece, RegHandle, RmaDesc, RmaVectorDesc, SendDesc, WaitSet, access, cap,
};
use oxmpi_mca::{SliceRef, Status};

crate::check!(OneSided: get_reads, get_vector_reads_pieces, one_sided_is_offered_or_refused, put_writes_and_flushes);

/// A verb that is not offered answers NOT_SUPPORTED and does nothing, in the host's full table.
fn one_sided_is_offered_or_refused(setup: &Setup) {
    let h = Harness::new(setup);
    let link = h.link();
    let rank = &h.ranks[link.from];
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
    let flush = FlushDesc { done: None, done_ctx: core::ptr::null_mut() };
    let mut handle = [0u64; HANDLE_LIMIT / 8];
    let to: *mut RegHandle = handle.as_mut_ptr().cast();
    let mut set = WaitSet::new(&mut [], &mut []);
    let msg = |send: &dyn Fn(&SendDesc) -> Status| Msg::new(1, 16, 0).describe(send);
    let refused = [
        (cap::GET, (!rank.can(cap::GET)).then(|| rank.get(link.to, 0, &desc))),
        (cap::PUT, (!rank.can(cap::PUT)).then(|| rank.put(link.to, 0, &desc))),
        (cap::GET_VECTOR, (!rank.can(cap::GET_VECTOR)).then(|| rank.get_vector(link.to, 0, &vector))),
        (cap::FLUSH, (!rank.can(cap::FLUSH)).then(|| rank.flush(link.to, 0, &flush))),
        (
            cap::REGISTER,
            (!rank.can(cap::REGISTER)).then(|| rank.register(desc.local, 8, access::REMOTE_READ, to)),
        ),
        (cap::SLEEP, (!rank.can(cap::SLEEP)).then(|| rank.arm(0, &mut set))),
        (
            cap::SERVICE,
            (!rank.can(cap::SERVICE)).then(|| msg(&|desc| rank.service_request(link.to, 0, desc))),
        ),
        (cap::SERVICE, (!rank.can(cap::SERVICE)).then(|| rank.service_open())),
        (cap::SERVICE_SLEEP, (!rank.can(cap::SERVICE_SLEEP)).then(|| Waits::arm_service(rank).status)),
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
    let attrs = rank.btl.attrs();
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
    if verb == Verb::Put && h.ranks[link.from].can(cap::FLUSH) {
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
fn get_reads(setup: &Setup) {
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
fn get_vector_reads_pieces(setup: &Setup) {
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
            assert_eq!(
                rank.get_vector(link.to, 0, &desc),
                Status::OK,
                "{}: {len} bytes over {link:?}",
                h.name
            );
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
fn put_writes_and_flushes(setup: &Setup) {
    moves(setup, Verb::Put)
}
