//! Views and pieces against lists of bytes: a view is the list of the file offsets of its bytes, memory the list of its addresses, and everything follows from those.

use oxmpi_datatype::build::{Part, contiguous, hvector, resized, structure};
use oxmpi_datatype::{Base, TypeDesc, TypeRef};
use oxmpi_files::{Memory, Pieces, Refusal, View, view};
use proptest::prelude::*;

fn byte() -> TypeRef {
    static BYTE: std::sync::OnceLock<TypeDesc> = std::sync::OnceLock::new();
    // SAFETY: it lives for ever.
    unsafe { TypeRef::retain(BYTE.get_or_init(|| TypeDesc::basic(Base::BYTE).unwrap())) }
}

/// A type that a failing case shows as the places of its bytes.
#[derive(Clone)]
struct Shown(TypeRef);

impl core::ops::Deref for Shown {
    type Target = TypeRef;
    fn deref(&self) -> &TypeRef {
        &self.0
    }
}

impl core::fmt::Debug for Shown {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "extent {} of {:?}", self.0.extent, flat(&self.0))
    }
}

/// Offsets of the bytes of one element.
fn flat(desc: &TypeDesc) -> Vec<i64> {
    let mut all = vec![];
    oxmpi_datatype::blocks(desc, 1, 0, u64::MAX, |disp, len| {
        all.extend((0..len as i64).map(|i| disp + i));
        true
    });
    all
}

/// Offsets of the bytes of so many elements.
fn repeated(desc: &TypeDesc, count: u64) -> Vec<i64> {
    let one = flat(desc);
    (0..count as i64).flat_map(|n| one.iter().map(move |b| b + n * desc.extent)).collect()
}

/// A type whose displacements rise, and that may repeat: blocks behind gaps, repeated, inside one another.
fn rising() -> impl Strategy<Value = Shown> {
    let list = (0u64..7, prop::collection::vec((0i64..9, 1u64..9), 1..14), 0i64..9);
    let list = list.prop_map(|(lb, blocks, tail)| {
        let mut at = lb as i64;
        let places: Vec<_> = blocks
            .iter()
            .map(|(gap, len)| {
                at += gap;
                let disp = at;
                at += *len as i64;
                (disp, *len)
            })
            .collect();
        let old = byte();
        let parts: Vec<_> =
            places.iter().map(|(disp, count)| Part { disp: *disp, count: *count, old: &old }).collect();
        Shown(resized(0, at + tail, &structure(&parts).unwrap()).unwrap())
    });
    (list, 1u64..4, 0i64..20, 1u64..4).prop_map(|(inner, count, gap, times)| {
        let row = hvector(count, 1, inner.extent + gap, &inner).unwrap();
        let row = resized(0, row.true_lb + row.true_extent + gap, &row).unwrap();
        Shown(contiguous(times, &row).unwrap())
    })
}

/// A type for memory: any order, gaps, no byte twice.
fn memory() -> impl Strategy<Value = Shown> {
    (rising(), any::<bool>()).prop_map(|(desc, back)| {
        let old = byte();
        let places = flat(&desc);
        let order: Vec<_> = if back { places.iter().rev().copied().collect() } else { places.clone() };
        let parts: Vec<_> = order.iter().map(|disp| Part { disp: *disp, count: 1, old: &old }).collect();
        Shown(resized(0, places[places.len() - 1] + 1, &structure(&parts).unwrap()).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    #[test]
    fn positions_and_offsets_answer_each_other(desc in rising(), displacement in 0u64..40) {
        prop_assert_eq!(view::check(&byte(), &desc, true), Ok(()));
        let seen = View::new(displacement, &desc);
        prop_assert!(!seen.overlaps());
        let list: Vec<u64> = repeated(&desc, 3).into_iter().map(|b| b as u64 + displacement).collect();
        for (position, offset) in list.iter().enumerate() {
            prop_assert_eq!(seen.offset(position as u64), Some(*offset));
        }
        for offset in 0..list[list.len() - 1] + 1 {
            let expected = list.partition_point(|at| *at < offset) as u64;
            prop_assert_eq!(seen.position(offset), expected, "offset {}", offset);
            prop_assert_eq!(seen.etypes_before(offset, 3), expected.div_ceil(3));
        }
        prop_assert_eq!(seen.is_contiguous(), list.windows(2).all(|w| w[0] + 1 == w[1]));
    }

    #[test]
    fn pieces_are_the_bytes_of_both_sides(
        desc in rising(), place in memory(), displacement in 0u64..40, from in 0u64..50, len in 0u64..300, at in 0u64..20,
        most in 1usize..9, bytes in 1u64..60,
    ) {
        let tiles = (from + len) / desc.packed + 1;
        let file: Vec<u64> = repeated(&desc, tiles).into_iter().map(|b| b as u64 + displacement).collect();
        let elements = (at + len) / place.packed + 1;
        let there = repeated(&place, elements);
        let mut room = vec![0u8; (elements as i64 * place.extent.max(1)) as usize + 64];
        let base = room.as_mut_ptr();
        // SAFETY: only addresses are looked at.
        let memory = unsafe { Memory::new(base, &place) };
        let seen = View::new(displacement, &desc);
        let mut pieces = Pieces::new(&seen, from, len, &memory, at);
        let (mut told, mut done) = (vec![], 0);
        while pieces.left() > 0 {
            let mut batch = vec![];
            let n = pieces.batch(most, bytes, &mut batch);
            prop_assert!(n > 0 && n <= bytes && batch.len() <= most);
            prop_assert_eq!(batch.iter().map(|piece| piece.len).sum::<u64>(), n);
            for two in batch.windows(2) {
                let touch = two[0].offset + two[0].len == two[1].offset && two[0].memory.wrapping_add(two[0].len as usize) == two[1].memory;
                prop_assert!(!touch, "pieces that touch are one");
            }
            for piece in &batch {
                for i in 0..piece.len {
                    told.push((piece.offset + i, piece.memory.addr() - base.addr() + i as usize));
                }
            }
            done += n;
        }
        prop_assert_eq!(done, len);
        let expected: Vec<_> = (0..len as usize).map(|i| (file[from as usize + i], there[at as usize + i] as usize)).collect();
        prop_assert_eq!(told, expected);
    }

    #[test]
    fn types_are_refused_for_what_they_are(places in prop::collection::vec((-3i64..30, 1u64..5), 1..7), extent in 0i64..40) {
        let old = byte();
        let parts: Vec<_> = places.iter().map(|(disp, count)| Part { disp: *disp, count: *count, old: &old }).collect();
        let desc = resized(0, extent, &structure(&parts).unwrap()).unwrap();
        let starts: Vec<i64> = flat(&desc);
        let end = starts.iter().max().unwrap() + 1;
        let rises = starts.windows(2).all(|w| w[1] > w[0]);
        let fits = starts[0] + extent >= end;
        let fine = starts[0] >= 0 && rises;
        prop_assert_eq!(view::check(&old, &desc, true).is_ok(), fine, "{:?} {}", starts, extent);
        if fine {
            prop_assert_eq!(view::check(&old, &desc, false), Ok(()));
            // One whose elements would overlap has one of them.
            let seen = View::new(4, &desc);
            let len = starts.len() as u64;
            prop_assert_eq!(seen.is_one_tile(), !fits);
            prop_assert_eq!(seen.end(0, len), Some(end as u64 + 4));
            prop_assert_eq!(seen.offset(len).is_some(), fits);
            if !fits {
                for offset in 0..end as u64 + 50 {
                    let before = starts.iter().filter(|at| **at + 4 < offset as i64).count();
                    prop_assert_eq!(seen.position(offset), before as u64);
                }
            }
        }
        prop_assert_eq!(View::new(0, &desc).overlaps(), !rises);
    }
}

#[test]
fn reasons_of_refusal() {
    let old = byte();
    let at = |disp: i64, count: u64| Part { disp, count, old: &old };
    let of = |parts: &[Part<'_>]| structure(parts).unwrap();
    let (twice, back) = (of(&[at(0, 4), at(2, 4)]), of(&[at(8, 4), at(0, 4)]));
    assert_eq!(view::check(&old, &of(&[at(-1, 4)]), false), Err(Refusal::Negative));
    assert_eq!(view::check(&old, &back, false), Err(Refusal::Falls));
    assert_eq!(view::check(&old, &twice, true), Err(Refusal::Overlaps));
    assert_eq!(view::check(&old, &twice, false), Ok(()));
    let small = resized(0, 3, &of(&[at(0, 4)])).unwrap();
    assert_eq!(view::check(&old, &small, true), Ok(()));
    assert_eq!((View::new(0, &small).end(0, 4), View::new(0, &small).end(0, 5)), (Some(4), None));
    let pair = contiguous(2, &old).unwrap();
    assert_eq!(view::check(&pair, &of(&[at(0, 3)]), true), Err(Refusal::NotOfEtypes));
    let none = contiguous(0, &old).unwrap();
    assert_eq!(view::check(&old, &none, true), Ok(()));
    let seen = View::new(7, &none);
    assert!(seen.is_empty());
    assert_eq!((seen.offset(0), seen.position(1 << 40), seen.end(0, 1)), (None, 0, None));
}

#[test]
fn large_views_cost_what_their_description_does() {
    let old = byte();
    let cell = resized(0, 16, &contiguous(8, &old).unwrap()).unwrap();
    // 10^18 pieces.
    let row = hvector(1_000_000_000, 1, 16, &cell).unwrap();
    let all = hvector(100_000_000, 1, row.extent, &row).unwrap();
    assert_eq!(view::check(&cell, &all, true), Ok(()));
    let seen = View::new(5, &all);
    for position in [0u64, 7, 8, 1 << 33, 123_456_789_012_345] {
        let offset = position / 8 * 16 + position % 8 + 5;
        assert_eq!(seen.offset(position), Some(offset));
        assert_eq!(seen.position(offset), position);
    }
    assert_eq!(seen.offset(1 << 62), None);
    // Memory of more than 2^32 elements beside it.
    // SAFETY: nobody follows the pieces.
    let memory = unsafe { Memory::new(core::ptr::null_mut(), &old) };
    let mut pieces = Pieces::new(&seen, 3, 1 << 40, &memory, 1 << 34);
    let mut batch = vec![];
    assert_eq!(pieces.batch(3, u64::MAX, &mut batch), 5 + 8 + 8);
    assert_eq!(batch[2].offset, 5 + 32);
    assert_eq!(batch[0].memory.addr(), 1 << 34);
    let plain = View::new(0, &old);
    let mut pieces = Pieces::new(&plain, 1 << 35, 1 << 41, &memory, 0);
    batch.clear();
    assert_eq!((pieces.batch(9, u64::MAX, &mut batch), batch.len()), (1 << 41, 1));
}
