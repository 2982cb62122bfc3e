//! Accesses that a registration does not allow.

use super::revoked::outcome;
use crate::harness::Harness;
use crate::rma::{ALL, Buffer, Memory, Transfer, Verb, block, movers};
use crate::setup::Setup;
use oxmpi_btl::{access, cap};

crate::check!(Memory: rights_and_ends_are_kept);

/// A peer neither writes to what it may read nor reads what it may write, and nothing beside what is registered.
fn rights_and_ends_are_kept(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::REGISTER) {
        return;
    }
    let (link, len) = (h.link(), block(&h));
    for verb in movers(&h) {
        let other = if verb == Verb::Get { access::REMOTE_WRITE } else { access::REMOTE_READ };
        for (rights, bytes, at) in [(access::LOCAL_WRITE | other, 2 * len, 0), (ALL, len, len), (ALL, len, 0)]
        {
            let (mut near, mut far) = (Buffer::new(2 * len, 1), Buffer::new(2 * len, 2));
            let local = Memory::of(&h, link.from, near.bytes());
            let remote = Memory::try_of(&h, link.to, &mut far.bytes()[..bytes], rights).expect("registered");
            // The last case begins inside and ends outside.
            let n = if at == 0 { 2 * len } else { len };
            let a = h.ranks[0].btl.attrs();
            let limit = if verb == Verb::Get { a.get_limit } else { a.put_limit };
            if limit == 0 || n as u64 <= limit {
                let t = Transfer { verb, local: (&local, 0), remote: (&remote, at), len: n };
                let status = outcome(&h, link, t);
                let case = format!("rights {rights}, {bytes} bytes registered, {n} at {at}");
                assert!(status.is_err(), "{}: {verb:?}: {case}: {status}", h.name);
                let clean = verb == Verb::Get || far.seen(len, len) == vec![2; len];
                assert!(clean, "{}: {verb:?}: {case}: written", h.name);
            }
            local.release(&h);
            remote.release(&h);
        }
    }
}
