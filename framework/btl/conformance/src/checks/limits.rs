//! Limits that a module announces.

use crate::harness::Harness;
use crate::rma::{ALL, Buffer, Completion, Memory, Transfer, Verb, block, movers};
use crate::setup::Setup;
use oxmpi_btl::cap;
use oxmpi_mca::Status;

crate::check!(OneSided: limits_are_kept);
crate::check!(Memory: registration_limit_is_kept);

/// An operation that is longer than a limit, or not aligned, is refused for good, and nothing happens.
fn limits_are_kept(setup: &Setup) {
    let h = Harness::new(setup);
    let (link, a) = (h.link(), h.ranks[0].btl.attrs());
    for verb in movers(&h) {
        let (limit, align) =
            if verb == Verb::Get { (a.get_limit, a.get_alignment) } else { (a.put_limit, a.put_alignment) };
        let step = block(&h);
        let mut cases = Vec::new();
        if limit != 0 && limit < 1 << 28 {
            cases.push((0, limit as usize / step * step + step));
        }
        if align > 1 {
            cases.extend([(1, step), (0, step - 1)]);
        }
        for (at, len) in cases {
            let (mut near, mut far) = (Buffer::new(at + len, 1), Buffer::new(at + len, 2));
            let (local, remote) =
                (Memory::of(&h, link.from, near.bytes()), Memory::of(&h, link.to, far.bytes()));
            let t = Transfer { verb, local: (&local, at), remote: (&remote, at), len };
            let c = Completion::new(&h, link.from, 0);
            let status = t.start(&h, link, 0, &c);
            let refused = status.is_err() && status != Status::NO_RESOURCE;
            assert!(refused, "{}: {verb:?} of {len} bytes at {at}: {status}", h.name);
            (0..20).for_each(|_| _ = h.progress());
            assert_eq!(c.calls(), 0, "{}: {verb:?}: done of what was refused", h.name);
            local.release(&h);
            remote.release(&h);
        }
    }
}

/// Registration answers NO_RESOURCE at its limit, and has room again when something was deregistered.
fn registration_limit_is_kept(setup: &Setup) {
    let h = Harness::new(setup);
    let limit = h.ranks[0].btl.attrs().registration_limit;
    if !h.ranks[0].can(cap::REGISTER) || limit == 0 || limit > 1 << 30 {
        return;
    }
    let piece = (limit / 8).max(1) as usize;
    let mut bytes = vec![0u8; piece * 10];
    let mut all = Vec::new();
    let status = loop {
        let at = all.len() * piece;
        assert!(at < bytes.len(), "{}: more was registered than the limit says", h.name);
        match Memory::try_of(&h, 0, &mut bytes[at..at + piece], ALL) {
            Ok(memory) => all.push(memory),
            Err(status) => break status,
        }
    };
    assert_eq!(status, Status::NO_RESOURCE, "{}: at the limit", h.name);
    assert!(all.len() >= 8, "{}: {} of 8 pieces fit", h.name, all.len());
    all.pop().into_iter().for_each(|m| m.release(&h));
    let again = Memory::try_of(&h, 0, &mut bytes[..piece], ALL);
    assert!(again.is_ok(), "{}: no room behind a deregistration", h.name);
    again.into_iter().chain(all).for_each(|m| m.release(&h));
}
