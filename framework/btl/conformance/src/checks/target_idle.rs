//! Native verbs at a target that makes no call.

use crate::harness::Harness;
use crate::message::Msg;
use crate::rma::{Buffer, Completion, Memory, Transfer, Verb, block, flush_alone, movers, offer, wait_for};
use crate::setup::Setup;
use oxmpi_btl::{BtlAttrs, cap};
use oxmpi_mca::Status;

crate::check!(OneSided: targets_need_no_call);

/// Gets and puts complete, and puts are visible where that is promised, with progress of the initiator's context alone.
fn targets_need_no_call(setup: &Setup) {
    let h = Harness::new(setup);
    for link in h.links() {
        for verb in movers(&h) {
            let len = block(&h);
            let (mut near, mut far) = (Buffer::new(len, 1), Buffer::new(len, 2));
            let data = Msg::new(link.from as u64, 0, len).bytes();
            (if verb == Verb::Get { &mut far } else { &mut near }).bytes().copy_from_slice(&data);
            let (local, remote) =
                (Memory::of(&h, link.from, near.bytes()), Memory::of(&h, link.to, far.bytes()));
            let c = Completion::new(&h, link.from, 0);
            let t = Transfer { verb, local: (&local, 0), remote: (&remote, 0), len };
            let status = offer(&h, link.from, 0, || t.start(&h, link, 0, &c));
            if status == Status::PENDING {
                wait_for(&h, link.from, 0, [&*c]);
            }
            let status = if status == Status::PENDING { c.status() } else { status };
            assert_eq!(status, Status::OK, "{}: {verb:?} over {link:?}", h.name);
            let rank = &h.ranks[link.from];
            let at_once = rank.btl.attrs().flags & BtlAttrs::PUT_DONE_IS_REMOTE != 0;
            if verb == Verb::Put && !at_once && rank.can(cap::FLUSH) {
                // Local memory is ours again, whatever is still under way.
                // SAFETY: the buffer's bytes; the operation does not use them any more.
                unsafe { core::slice::from_raw_parts_mut(local.addr, len) }.fill(0xee);
                assert_eq!(flush_alone(&h, link, 0), Status::OK, "{}: flush", h.name);
            }
            let there = if verb == Verb::Get { &near } else { &far };
            assert!(there.seen(0, len) == data, "{}: {verb:?} over {link:?}: done, but not there", h.name);
            local.release(&h);
            remote.release(&h);
        }
    }
}
