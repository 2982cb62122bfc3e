use super::memory::window;
use super::*;
use crate::wire::{
    Flag, GRANULE, LONG, LONG_PIECES, MAX_SHORT, MORE, PER_LINE, PIECE, Place, SHORT, lap, lines_of,
    pieces_of, slot,
};
use oxmpi_mca::sync::Ordering;
use proptest::prelude::*;
use std::collections::VecDeque;

/// 64 lines, 4096 bytes of bulk.
const LOG2: u32 = 12;
const LINES: u64 = 64;
const BULK: u64 = 1 << LOG2;

/// Ring memory on the heap, with both ends over it.
fn ring() -> (Vec<[u64; 512]>, Producer<Mapped>, Consumer<Mapped>) {
    let mut memory = vec![[0u64; 512], [0u64; 512], [!0; 512], [!0; 512]];
    // SAFETY: a page of heads, one of lines and one of bulk, which starts a little behind a page, alive as long as the vector.
    let mem = unsafe { Mapped::new(memory.as_mut_ptr().cast(), LOG2, false) };
    let producer = Producer::adopt(mem).expect("a fresh ring");
    (memory, producer, Consumer::new(mem))
}

/// Sends `len` bytes of `tag`. Lines are filled to their end, with what a flag would look like at worst.
fn send(p: &mut Producer<Mapped>, len: u64, tag: u8) -> bool {
    let (lines, bulk) = if len <= MAX_SHORT { (lines_of(len), 0) } else { (1, slot(len)) };
    let known = p.has_lines(lines) && (bulk == 0 || p.find_bulk(bulk, lines).is_some());
    if !known {
        match p.make_room(lines, bulk) {
            Room::Free => {}
            Room::Full => return false,
            Room::Garbage(head) => panic!("head {head}"),
        }
    }
    if bulk > 0 {
        let at = p.find_bulk(bulk, lines).expect("room");
        let fill = |mem: &Mapped, from: u64, to: u64| {
            // SAFETY: `bulk` bytes are free there.
            unsafe { core::ptr::write_bytes(mem.bulk_at(at).add(from as usize), tag, (to - from) as usize) };
        };
        fill(p.mem(), 0, len);
        p.publish_long(at, len, tag);
        return true;
    }
    let fill = |mem: &Mapped, line: u64, index: u64| {
        let here = (len - index * PER_LINE).min(PER_LINE) as usize;
        // SAFETY: a line's bytes, which are free.
        unsafe {
            core::ptr::write_bytes(mem.line_data(line), tag, here);
            core::ptr::write_bytes(mem.line_data(line).add(here), 0xff, PER_LINE as usize - here);
        }
    };
    if lines == 1 {
        fill(p.mem(), p.tail(), 0);
        p.next_line().publish(len, tag);
    } else {
        p.publish_lines(len, tag, fill);
    }
    true
}

/// Takes one message: length and tag, with its bytes checked.
fn receive(c: &Consumer<Mapped>) -> Option<(u64, u8)> {
    let check = |bytes: &[u8], tag: u8| assert!(bytes.iter().all(|&b| b == tag), "tag {tag}");
    match c.look() {
        Look::Nothing => None,
        Look::Garbage(word) => panic!("garbage {word:#x}"),
        Look::Assist { .. } => panic!("nobody asked for help"),
        Look::Cell { .. } | Look::Pieces { .. } => panic!("nobody sends such"),
        Look::Short { at, len, tag, lines } => {
            assert_eq!(c.has_all(at, lines, 1), Rest::Here);
            let mut bytes = [0u8; MAX_SHORT as usize];
            // SAFETY: room for the longest message.
            unsafe { c.mem().copy_lines(at, lines, bytes.as_mut_ptr()) };
            check(&bytes[..len as usize], tag);
            c.advance(lines);
            Some((len, tag))
        }
        Look::Long { at, len, tag } => {
            // SAFETY: the message lies there.
            check(unsafe { core::slice::from_raw_parts(c.mem().bulk_at(at), len as usize) }, tag);
            c.advance_long(at, len, 1);
            Some((len, tag))
        }
    }
}

#[test]
fn one_at_a_time_over_many_laps() {
    let (_memory, mut p, c) = ring();
    for i in 0..3000u64 {
        let len = i * 37 % (BULK / 2);
        assert!(send(&mut p, len, i as u8));
        assert_eq!(receive(&c), Some((len, i as u8)));
        assert_eq!(receive(&c), None);
    }
}

#[test]
fn full_ring_refuses_and_loses_nothing() {
    let (_memory, mut p, c) = ring();
    for len in [8, 200, MAX_SHORT] {
        let mut sent = 0u64;
        while send(&mut p, len, sent as u8) {
            sent += 1;
        }
        assert!(!send(&mut p, len, 0), "still full");
        for i in 0..sent {
            assert_eq!(receive(&c), Some((len, i as u8)));
        }
        assert_eq!(receive(&c), None);
        assert!(send(&mut p, len, 1));
        assert_eq!(receive(&c), Some((len, 1)));
    }
}

#[test]
fn the_largest_message_always_gets_through_when_all_was_read() {
    // From every place, with the receiver silent about up to a quarter.
    for start in 0..LINES {
        for behind in 0..BULK / GRANULE {
            let (_memory, mut p, c) = ring();
            for _ in 0..start {
                assert!(send(&mut p, 8, 1));
                assert!(receive(&c).is_some());
            }
            // A long message of every size before.
            let before = MAX_SHORT + 1;
            if behind * GRANULE > before && behind * GRANULE <= largest_slot(BULK) {
                assert!(send(&mut p, behind * GRANULE, 1));
                assert!(receive(&c).is_some());
            }
            for len in [MAX_SHORT, largest_slot(BULK) - 1, largest_slot(BULK)] {
                assert!(send(&mut p, len, 7), "start {start}, {behind} granules behind");
                assert_eq!(receive(&c), Some((len, 7)));
            }
        }
    }
}

#[test]
fn a_message_that_is_being_written_is_left_alone() {
    let (_memory, mut p, c) = ring();
    assert_eq!(p.make_room(3, 0), Room::Free);
    p.publish_lines(3 * PER_LINE, 9, |_, _, index| match index {
        0 => assert_eq!(c.look(), Look::Nothing),
        _ => {
            assert_eq!(c.look(), Look::Short { at: 0, len: 3 * PER_LINE, tag: 9, lines: 3 });
            assert_eq!(c.has_all(0, 3, 5), Rest::Missing);
            assert!(c.is_empty(), "its sender may be dead");
        }
    });
    assert_eq!(c.has_all(0, 3, 1), Rest::Here);
    assert!(!c.is_empty(), "nobody may go to sleep over it");
}

#[test]
fn short_messages_stay_in_the_window_of_a_large_ring() {
    const LARGE: u32 = 20;
    let mut memory = vec![[0u64; 512]; Place::len_for(LARGE, false) as usize / 4096];
    // SAFETY: a ring of that size, alive as long as the vector.
    let mem = unsafe { Mapped::new(memory.as_mut_ptr().cast(), LARGE, false) };
    let (mut p, c) = (Producer::adopt(mem).expect("a fresh ring"), Consumer::new(mem));
    let mut highest_of = |len: u64| {
        let size = slot(len);
        let mut highest = 0;
        for _ in 0..2000 {
            if p.find_bulk(size, 1).is_none() || p.tail().is_multiple_of(8) {
                assert_eq!(p.make_room(1, size), Room::Free);
            }
            let at = p.find_bulk(size, 1).expect("room");
            p.publish_long(at, len, 1);
            highest = highest.max(at % (1 << LARGE) + size);
            assert_eq!(receive_unchecked(&c), len);
        }
        highest
    };
    let (short, long) = (MAX_SHORT + 1, 40 << 10);
    assert!(highest_of(short) <= window(1 << LARGE, slot(short)));
    assert!(highest_of(long) > window(1 << LARGE, slot(short)), "long ones use all of it");
}

/// Takes a long message whatever is in it.
fn receive_unchecked(c: &Consumer<Mapped>) -> u64 {
    let Look::Long { at, len, .. } = c.look() else { panic!("no long message") };
    c.advance_long(at, len, 1);
    len
}

/// A word in a line: any at all, or one like those that senders write.
fn words() -> impl Strategy<Value = u64> {
    let lens = prop_oneof![0..2 * PER_LINE, Just(u32::MAX as u64), 0..u32::MAX as u64];
    let alike = (0..16u64, lens, any::<u8>(), 0..3 * LINES)
        .prop_map(|(kind, len, tag, at)| Flag::new(kind, len, tag, lap(at, 6)).0);
    prop_oneof![1 => any::<u64>(), 9 => alike]
}

proptest! {
    #[test]
    fn the_short_look_sees_what_the_long_one_does(word in words(), second in any::<u64>()) {
        let (_memory, p, c) = ring();
        p.mem().second(0).store(second, Ordering::Relaxed);
        p.mem().flag(0).store(word, Ordering::Relaxed);
        let is_there = Flag(word).is_of(lap(0, 6));
        match (c.front(), c.explain(Flag(word))) {
            (Front::Nothing, _) => prop_assert!(!is_there && c.look() == Look::Nothing),
            (Front::Line(LineMessage { at, len, tag }), look) => {
                prop_assert!(is_there);
                prop_assert_eq!(Look::Short { at, len, tag, lines: 1 }, look);
            }
            (Front::Other(flag), look) => {
                prop_assert!(is_there && flag == Flag(word));
                prop_assert!(!matches!(look, Look::Short { lines: 1, .. }), "{:?} was missed", look);
            }
        }
    }
}

#[test]
fn garbage_is_named() {
    let lap = lap(0, 6);
    for word in [
        Flag::new(SHORT, MAX_SHORT + 1, 0, lap).0,
        Flag::new(SHORT, u32::MAX as u64, 0, lap).0,
        Flag::new(MORE, 0, 0, lap).0,
        Flag::new(0, 8, 0, lap).0,
        Flag::new(15, 8, 0, lap).0,
    ] {
        let (_memory, p, c) = ring();
        p.mem().flag(0).store(word, Ordering::Relaxed);
        assert_eq!(c.look(), Look::Garbage(word));
    }
    let far = u64::MAX - 63;
    for (at, len) in
        [(1, BULK), (64, BULK), (BULK, 64), (far, 64), (far + 63, 64), (BULK / 2, BULK), (0, BULK + 1)]
    {
        let (_memory, p, c) = ring();
        p.mem().second(0).store(at, Ordering::Relaxed);
        p.mem().flag(0).store(Flag::new(LONG, len, 0, lap).0, Ordering::Relaxed);
        assert_eq!(c.look(), Look::Garbage(at), "{at} {len}");
    }
    let (_memory, mut p, c) = ring();
    p.mem().flag(0).store(Flag::new(SHORT, 100, 0, lap).0, Ordering::Relaxed);
    let second = Flag::new(SHORT, 8, 0, lap).0;
    p.mem().flag(1).store(second, Ordering::Relaxed);
    assert_eq!(c.has_all(0, 2, 9), Rest::Garbage(second));
    for head in [1, u64::MAX, 1 << 40] {
        c.mem().head().store(head, Ordering::Relaxed);
        assert_eq!(p.make_room(1, 0), Room::Garbage(head));
    }
    c.mem().head().store(0, Ordering::Relaxed);
    for head in [64, 1, u64::MAX - 63] {
        c.mem().bulk_head().store(head, Ordering::Relaxed);
        assert_eq!(p.make_room(1, 0), Room::Garbage(head));
    }
}

#[test]
fn a_sender_finds_its_place_again() {
    let (_memory, mut p, c) = ring();
    for i in 0..900u64 {
        let len = i * 61 % (BULK / 2);
        assert!(send(&mut p, len, 1));
        if i % 3 == 0 {
            p = Producer::adopt(*p.mem()).expect("our own messages");
        }
        assert_eq!(receive(&c), Some((len, 1)));
    }
    c.publish_heads();
    let again = Consumer::new(*c.mem());
    assert_eq!(receive(&again), None);
    assert!(send(&mut p, 8, 2));
    assert_eq!(receive(&again), Some((8, 2)));
    // A ring full of nonsense is not walked for ever.
    let flag = Flag::new(MORE, 0, 0, lap(p.tail(), 6));
    p.mem().flag(p.tail()).store(flag.0, Ordering::Relaxed);
    assert!(Producer::adopt(*p.mem()).is_none());
}

proptest! {
    /// Any mixture of sends and receives is a queue.
    #[test]
    fn is_a_queue(steps in proptest::collection::vec((any::<bool>(), 0u64..=BULK / 2), 1..400)) {
        let (_memory, mut p, c) = ring();
        let mut model = VecDeque::new();
        let mut tag = 0u8;
        for (sending, len) in steps {
            // Half of them short.
            let len = if len % 2 == 0 { len % 150 } else { len };
            if sending {
                tag = tag.wrapping_add(1);
                let sent = send(&mut p, len, tag);
                prop_assert!(sent || !model.is_empty(), "an empty ring refused {}", len);
                if sent {
                    model.push_back((len, tag));
                }
            } else {
                prop_assert_eq!(receive(&c), model.pop_front());
            }
        }
        while let Some(want) = model.pop_front() {
            prop_assert_eq!(receive(&c), Some(want));
        }
        prop_assert_eq!(receive(&c), None);
    }
}

/// Messages in pieces in the bulk, over many laps, with senders that come back; of each the receiver finds first what is there.
#[test]
fn pieces_lie_in_the_bulk_as_long_messages_do() {
    let log2 = 17;
    let mut memory = vec![[0u64; 512]; (crate::wire::Place::len_for(log2, false) / 4096) as usize];
    // SAFETY: a ring of that size, alive as long as the vector.
    let mem = unsafe { Mapped::new(memory.as_mut_ptr().cast(), log2, false) };
    let (mut p, c) = (Producer::adopt(mem).expect("a fresh ring"), Consumer::new(mem));
    for i in 0..2000u64 {
        let (len, tag) = (2 * PIECE + i * 7919 % (28 << 10), i as u8);
        let (lines, size) = (pieces_of(len), slot(len));
        assert_eq!(p.make_room(lines, size), Room::Free);
        let at = p.find_bulk(size, lines).expect("room");
        let line = p.tail();
        let mut ends = Vec::new();
        p.publish_pieces(Location::Bulk(at), len, tag, |from, to| {
            let found = c.look();
            if from == 0 {
                assert_eq!(found, Look::Nothing);
            } else {
                assert_eq!(found, Look::Pieces { location: Location::Bulk(at), len, tag, line, lines });
                assert_eq!(c.has_line(line + ends.len() as u64, 1), Rest::Missing);
                assert!(c.is_empty(), "no whole message");
            }
            assert!(to == len || (at + to).is_multiple_of(GRANULE), "pieces end where lines do");
            // SAFETY: there is room for the message.
            unsafe { core::ptr::write_bytes(mem.bulk_at(at + from), tag, (to - from) as usize) };
            ends.push(to);
        });
        assert!(ends.len() as u64 == lines && ends.last() == Some(&len) && !c.is_empty());
        if i % 3 == 0 {
            // Its sender comes back, and goes on behind it.
            p = Producer::adopt(mem).expect("a ring in order");
            assert_eq!(p.tail(), line + lines);
        }
        assert_eq!(c.has_all(line, lines, 1), Rest::Here);
        // SAFETY: the message lies there.
        let bytes = unsafe { core::slice::from_raw_parts(mem.bulk_at(at), len as usize) };
        assert!(bytes.iter().all(|&b| b == tag), "message {i}");
        c.advance_long(at, len, lines);
    }
    // Places and lengths that cannot be.
    for (at, len) in [
        (1 << log2, 40_000),
        (0, 1 << log2),
        (GRANULE - 8, 40_000),
        ((1 << log2) - 4096, 40_000),
        (u64::MAX, 70_000),
        (0, u32::MAX.into()),
    ] {
        let (p, c) = (Producer::adopt(mem).expect("a ring in order"), Consumer::new(mem));
        let place = p.tail();
        mem.second(place).store(at, Ordering::Relaxed);
        let flag = Flag::new(LONG_PIECES, len, 1, lap(place, mem.lines_log2()));
        mem.flag(place).store(flag.0, Ordering::Relaxed);
        assert!(matches!(c.look(), Look::Garbage(_)), "{at} {len}");
        mem.flag(place).store(0, Ordering::Relaxed);
    }
}
