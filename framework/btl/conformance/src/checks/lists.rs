//! Lists of writes and atomic updates, where they are offered.

use crate::harness::{Harness, Link};
use crate::message::step;
use crate::rma::{Buffer, Completion, Memory, finish};
use crate::setup::Setup;
use oxmpi_btl::{LIST_ENTRY, LIST_PUT, ListDesc, ListEntry, amo, cap};
use oxmpi_mca::{SliceRef, Status};

crate::check!(OneSided: lists_are_carried_out, lists_have_a_limit);

/// Bytes of target memory.
const SIZE: usize = 16 << 10;

fn offer_list(h: &Harness, link: Link, entries: &[ListEntry]) -> Status {
    let rank = &h.ranks[link.from];
    let c = Completion::new(h, link.from, 0);
    let (done, done_ctx) = c.callback();
    let entries = SliceRef { ptr: entries.as_ptr(), len: entries.len() };
    let desc = ListDesc { entries, done, done_ctx };
    finish(h, &c, || rank.list(link.to, 0, &desc))
}

fn entry(remote: &Memory, at: usize, data: &[u8], op: u32) -> ListEntry {
    ListEntry {
        remote: remote.addr.wrapping_add(at) as u64,
        remote_handle: remote.handle(),
        len: data.len() as u64,
        data: data.as_ptr(),
        result: core::ptr::null_mut(),
        result_handle: core::ptr::null(),
        op,
        flags: 0,
        compare: 0,
    }
}

/// Writes of any length at any place, in their order, with additions between them whose old words come back.
fn lists_are_carried_out(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::LIST) {
        return;
    }
    let a = h.ranks[0].btl.attrs();
    let adds = h.ranks[0].can(cap::ATOMIC)
        && a.amo_ops & 1 << amo::ADD != 0
        && a.amo_operands & amo::operand::U64 != 0;
    for link in h.links() {
        let (mut target, mut results) = (Buffer::new(SIZE, 0xab), Buffer::new(SIZE, 0xcd));
        let (remote, local) =
            (Memory::of(&h, link.to, target.bytes()), Memory::of(&h, link.from, results.bytes()));
        let (mut expected, mut fetched) = (vec![0xabu8; SIZE], vec![0xcdu8; SIZE]);
        let mut x = 7;
        for _ in 0..20 {
            let (mut plan, mut room, mut back) = (Vec::new(), a.list_limit, 0);
            loop {
                x = step(x);
                let (len, add) = (1 + (x >> 8) as usize % 200, adds && x % 3 == 0);
                let len = if add { len.next_multiple_of(8) } else { len };
                let at = (x >> 20) as usize % (SIZE - 256);
                let at = if add { at & !7 } else { at };
                let Some(left) = room.checked_sub(LIST_ENTRY + len.next_multiple_of(8) as u64) else { break };
                if plan.len() == 60 || back + len > SIZE {
                    break;
                }
                room = left;
                plan.push((
                    at,
                    (0..len).map(|i| (x >> (i % 40)) as u8).collect::<Vec<u8>>(),
                    add.then_some(back),
                ));
                back += if add { len } else { 0 };
            }
            let entries: Vec<ListEntry> = plan
                .iter()
                .map(|(at, data, back)| ListEntry {
                    result: back.map_or(core::ptr::null_mut(), |back| local.addr.wrapping_add(back)),
                    result_handle: if back.is_some() { local.handle() } else { core::ptr::null() },
                    ..entry(&remote, *at, data, if back.is_some() { amo::ADD } else { LIST_PUT })
                })
                .collect();
            assert_eq!(offer_list(&h, link, &entries), Status::OK, "{}: {} entries", h.name, entries.len());
            for (at, data, back) in &plan {
                let Some(back) = back else {
                    expected[*at..*at + data.len()].copy_from_slice(data);
                    continue;
                };
                fetched[*back..*back + data.len()].copy_from_slice(&expected[*at..*at + data.len()]);
                for (word, operand) in expected[*at..*at + data.len()].chunks_mut(8).zip(data.chunks(8)) {
                    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("a word"));
                    word.copy_from_slice(&number(word).wrapping_add(number(operand)).to_ne_bytes());
                }
            }
            assert!(
                target.seen(0, SIZE) == expected,
                "{}: a list of {} entries went wrong",
                h.name,
                plan.len()
            );
            assert!(results.seen(0, SIZE) == fetched, "{}: what a list fetched is something else", h.name);
        }
        remote.release(&h);
        local.release(&h);
    }
}

/// A list that is longer than the module says it may be is refused, and so is an operation that there is not.
fn lists_have_a_limit(setup: &Setup) {
    let h = Harness::new(setup);
    if !h.ranks[0].can(cap::LIST) {
        return;
    }
    let (link, limit) = (h.link(), h.ranks[0].btl.attrs().list_limit);
    let most = limit.checked_sub(LIST_ENTRY).expect("room for an entry") as usize & !7;
    let mut target = Buffer::new(most + 8, 0);
    let (remote, data) = (Memory::of(&h, link.to, target.bytes()), vec![1u8; most + 8]);
    assert_eq!(offer_list(&h, link, &[entry(&remote, 0, &data, LIST_PUT)]), Status::BAD_PARAM, "{}", h.name);
    assert_eq!(offer_list(&h, link, &[entry(&remote, 0, &data[..8], 63)]), Status::BAD_PARAM, "{}", h.name);
    assert!(target.seen(0, most + 8).iter().all(|b| *b == 0), "{}: a refused list has written", h.name);
    let longest = entry(&remote, 0, &data[..most], LIST_PUT);
    assert_eq!(offer_list(&h, link, &[longest]), Status::OK, "{}: as long as may be", h.name);
    assert_eq!(target.seen(0, most), data[..most], "{}", h.name);
    remote.release(&h);
}
