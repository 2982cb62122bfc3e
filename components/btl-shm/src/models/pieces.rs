//! Model under loom of messages that are taken while they are written: a cell goes to and fro with one, and each piece of it is read
//! as soon as its line says that it is there; and messages of which the bulk takes two follow each other through it.

use crate::models::ring::{Ring, check};
use crate::ring::{Consumer, Location, Look, Producer, Rest, RingMem, Room};
use crate::segment::cells::seen_from_here;
use crate::wire::{PIECE, THIS_RINGS, pieces_of};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use oxmpi_mca::sync::{AtomicU32, AtomicU64};

const LEN: u64 = 2 * PIECE;

/// The pieces of the one cell.
type Cell = Arc<[UnsafeCell<u64>; 2]>;

/// Sends `value` in all pieces of the cell. `late`: a piece is announced before it is written.
fn send(p: &mut Producer<Ring>, which: u64, cell: &Cell, value: u64, late: bool) {
    assert_eq!(p.make_room(pieces_of(LEN), 0), Room::Free);
    // SAFETY: loom checks that nobody else is in this piece.
    let write = |piece: u64| cell[piece as usize].with_mut(|cell| unsafe { *cell = value });
    publish(p, Location::Cell(which), value, late, write);
}

fn publish<M: RingMem>(p: &mut Producer<M>, location: Location, value: u64, late: bool, write: impl Fn(u64)) {
    p.publish_pieces(location, LEN, value as u8, |from, to| {
        assert_eq!(to - from, PIECE);
        match (from / PIECE).checked_sub(u64::from(late)) {
            Some(piece) => write(piece),
            None => {}
        }
    });
    if late {
        write(1);
    }
}

/// Waits for a message, looking at what is there of it again and again, and returns the cell it was in.
fn receive(c: &Consumer<Ring>, cell: &Cell, value: u64) -> u64 {
    let mut taken = 0;
    loop {
        match c.look() {
            Look::Pieces { location: Location::Cell(which), len, line, lines, .. } => {
                assert_eq!((len, lines), (LEN, 2));
                while taken < lines {
                    if taken > 0 && c.has_line(line + taken, 1) != Rest::Here {
                        break;
                    }
                    // SAFETY: loom checks that nobody writes this piece.
                    assert_eq!(cell[taken as usize].with(|cell| unsafe { *cell }), value);
                    taken += 1;
                }
                if taken == lines {
                    c.advance(lines);
                    return seen_from_here(which);
                }
                assert!(c.is_empty() || c.has_line(line + 1, 1) == Rest::Here, "no whole message is there");
                thread::yield_now();
            }
            Look::Nothing => thread::yield_now(),
            other => panic!("{other:?}"),
        }
    }
}

fn to_and_fro(late: bool) {
    check(3, move || {
        let rings = [Ring::new(4, 1), Ring::new(4, 1)];
        let cell: Cell = Arc::new([UnsafeCell::new(0), UnsafeCell::new(0)]);
        let ends = |out: &Ring, back: &Ring| {
            (Producer::adopt(out.clone()).expect("fresh"), Consumer::new(back.clone()))
        };
        let (mut out, back) = ends(&rings[0], &rings[1]);
        let (mut answer, arriving) = ends(&rings[1], &rings[0]);
        let there = cell.clone();
        let other = thread::spawn(move || {
            let which = receive(&arriving, &there, 1);
            send(&mut answer, which, &there, 2, late);
        });
        send(&mut out, THIS_RINGS, &cell, 1, late);
        assert_eq!(receive(&back, &cell, 2), THIS_RINGS);
        other.join().expect("the other side");
    });
}

#[test]
fn model_pieces_to_and_fro() {
    to_and_fro(false);
}

#[test]
#[should_panic]
fn model_pieces_that_are_announced_early_are_seen() {
    to_and_fro(true);
}

/// A ring with room for two messages in its bulk; what is in that, each piece one cell, is beside it.
#[derive(Clone)]
struct BulkRing(Ring);

type Bulk = Arc<[UnsafeCell<u64>; 4]>;

impl RingMem for BulkRing {
    fn lines_log2(&self) -> u32 {
        self.0.lines_log2()
    }
    fn bulk_size(&self) -> u64 {
        2 * LEN
    }
    fn flag(&self, line: u64) -> &AtomicU64 {
        self.0.flag(line)
    }
    fn second(&self, line: u64) -> &AtomicU64 {
        self.0.second(line)
    }
    fn head(&self) -> &AtomicU64 {
        self.0.head()
    }
    fn bulk_head(&self) -> &AtomicU64 {
        self.0.bulk_head()
    }
    fn notification(&self) -> &AtomicU32 {
        self.0.notification()
    }
}

/// Three messages, the last of which lies where the first did.
fn through_the_bulk(late: bool) {
    check(3, move || {
        let ring = BulkRing(Ring::new(8, 1));
        let bulk: Bulk = Arc::new([0; 4].map(UnsafeCell::new));
        let (mut p, c) = (Producer::adopt(ring.clone()).expect("fresh"), Consumer::new(ring));
        let there = bulk.clone();
        let piece = |at: u64, piece: u64| (at / PIECE + piece) as usize % 4;
        let other = thread::spawn(move || {
            for value in 1..=3 {
                let (mut taken, mut over) = (0, false);
                while !over {
                    match c.look() {
                        Look::Pieces { location: Location::Bulk(at), len, line, lines, .. } => {
                            while taken < lines && (taken == 0 || c.has_line(line + taken, 1) == Rest::Here) {
                                // SAFETY: loom checks that nobody writes this piece.
                                let found = there[piece(at, taken)].with(|cell| unsafe { *cell });
                                assert_eq!(found, value);
                                taken += 1;
                            }
                            over = taken == lines;
                            if over {
                                c.advance_long(at, len, lines);
                            } else {
                                thread::yield_now();
                            }
                        }
                        Look::Nothing => thread::yield_now(),
                        other => panic!("{other:?}"),
                    }
                }
            }
        });
        for value in 1..=3 {
            while p.make_room(2, LEN) != Room::Free {
                thread::yield_now();
            }
            let at = p.find_bulk(LEN, 2).expect("room");
            publish(&mut p, Location::Bulk(at), value, late, |n| {
                // SAFETY: loom checks that nobody else is in this piece.
                bulk[piece(at, n)].with_mut(|cell| unsafe { *cell = value });
            });
        }
        other.join().expect("the other side");
    });
}

#[test]
fn model_pieces_through_the_bulk() {
    through_the_bulk(false);
}

#[test]
#[should_panic]
fn model_pieces_of_the_bulk_that_are_announced_early_are_seen() {
    through_the_bulk(true);
}
