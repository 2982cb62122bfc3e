//! Constructors, pack and unpack against a plain model: a layout is the list of the user offsets of
//! its packed bytes, and everything else follows from that list.

use oxmpi_datatype::build::{self, Part};
use oxmpi_datatype::{Base, TypeDesc, TypeRef, copy, pack, unpack};
use proptest::prelude::*;

/// How a type is made.
#[derive(Clone, Debug)]
enum Recipe {
    Basic(Base),
    Contiguous(u64, Box<Recipe>),
    Vector(u64, u64, i64, Box<Recipe>),
    Hvector(u64, u64, i64, Box<Recipe>),
    Resized(i64, i64, Box<Recipe>),
    Structure(Vec<(i64, u64, Recipe)>),
    Dup(Box<Recipe>),
}

/// The model: one entry per packed byte, the bounds that were set, and the strictest alignment.
#[derive(Clone, Debug, PartialEq)]
struct Map {
    bytes: Vec<i64>,
    set: Option<(i64, i64)>,
    /// Lower and upper bound where none were set.
    natural: (i64, i64),
    align: i64,
}

impl Map {
    fn first(&self) -> i64 {
        self.bytes.iter().copied().min().unwrap_or(0)
    }
    fn end(&self) -> i64 {
        self.bytes.iter().map(|b| b + 1).max().unwrap_or(0)
    }
    fn lb(&self) -> i64 {
        self.set.map_or(self.natural.0, |set| set.0)
    }
    fn extent(&self) -> i64 {
        let (lb, ub) = self.set.unwrap_or(self.natural);
        ub - lb
    }
    /// Copies of the map at these places.
    fn at(places: &[(i64, &Map)]) -> Map {
        let set = places.iter().filter_map(|(d, m)| m.set.map(|(l, u)| (l + d, u + d)));
        let data = places.iter().filter(|(_, m)| !m.bytes.is_empty());
        let align = data.clone().map(|(_, m)| m.align).max().unwrap_or(1);
        let lb = data.clone().map(|(d, m)| d + m.lb()).min().unwrap_or(0);
        let ub = data.map(|(d, m)| d + m.lb() + m.extent()).max().unwrap_or(0);
        Map {
            bytes: places.iter().flat_map(|(d, m)| m.bytes.iter().map(move |b| b + d)).collect(),
            set: set.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
            natural: (lb, lb + (ub - lb + align - 1).div_euclid(align) * align),
            align,
        }
    }
}

fn model(recipe: &Recipe) -> Map {
    let blocks = |count: u64, len: u64, stride: i64, old: &Map| {
        let mut places = vec![];
        for i in 0..count as i64 {
            for j in 0..len as i64 {
                places.push((i * stride + j * old.extent(), old));
            }
        }
        Map::at(&places)
    };
    match recipe {
        Recipe::Basic(base) => basic_map(*base),
        Recipe::Contiguous(n, old) => {
            let old = model(old);
            blocks(*n, 1, old.extent(), &old)
        }
        Recipe::Vector(n, len, stride, old) => {
            let old = model(old);
            blocks(*n, *len, stride * old.extent(), &old)
        }
        Recipe::Hvector(n, len, stride, old) => blocks(*n, *len, *stride, &model(old)),
        Recipe::Resized(lb, extent, old) => Map { set: Some((*lb, lb + extent)), ..model(old) },
        Recipe::Structure(parts) => {
            let parts: Vec<_> = parts.iter().map(|(d, n, old)| (*d, *n, model(old))).collect();
            let places: Vec<_> = parts
                .iter()
                .flat_map(|(d, n, old)| (0..*n as i64).map(move |i| (d + i * old.extent(), old)))
                .collect();
            Map::at(&places)
        }
        Recipe::Dup(old) => model(old),
    }
}

/// Written out by hand, not taken from the crate.
fn basic_map(base: Base) -> Map {
    let (bytes, align): (Vec<i64>, i64) = match base {
        Base::BYTE => (vec![0], 1),
        Base::I16 => (vec![0, 1], 2),
        Base::I32 => ((0..4).collect(), 4),
        Base::F64 => ((0..8).collect(), 8),
        Base::DOUBLE_INT => ((0..12).collect(), 8),
        Base::SHORT_INT => (vec![0, 1, 4, 5, 6, 7], 4),
        other => panic!("no model of {other:?}"),
    };
    let end = bytes[bytes.len() - 1] + 1;
    Map { bytes, set: None, natural: (0, (end + align - 1) / align * align), align }
}

fn make(recipe: &Recipe) -> TypeRef {
    match recipe {
        Recipe::Basic(base) => predefined(*base),
        Recipe::Contiguous(n, old) => build::contiguous(*n, &make(old)).unwrap(),
        Recipe::Vector(n, len, stride, old) => build::vector(*n, *len, *stride, &make(old)).unwrap(),
        Recipe::Hvector(n, len, stride, old) => build::hvector(*n, *len, *stride, &make(old)).unwrap(),
        Recipe::Resized(lb, extent, old) => build::resized(*lb, *extent, &make(old)).unwrap(),
        Recipe::Structure(parts) => {
            let olds: Vec<_> = parts.iter().map(|p| make(&p.2)).collect();
            let parts: Vec<_> = parts
                .iter()
                .zip(&olds)
                .map(|((disp, count, _), old)| Part { disp: *disp, count: *count, old })
                .collect();
            build::structure(&parts).unwrap()
        }
        Recipe::Dup(old) => build::dup(&make(old)),
    }
}

fn predefined(base: Base) -> TypeRef {
    let desc: &'static TypeDesc = Box::leak(Box::new(TypeDesc::basic(base).unwrap()));
    // SAFETY: leaked, so it lives.
    unsafe { TypeRef::retain(desc) }
}

fn recipes() -> impl Strategy<Value = Recipe> {
    let bases = vec![Base::BYTE, Base::I16, Base::I32, Base::F64, Base::DOUBLE_INT, Base::SHORT_INT];
    let basic = prop::sample::select(bases).prop_map(Recipe::Basic);
    // Lists without a pattern, some with one block that is not like the others.
    let listed = vec![Base::I16, Base::I32, Base::F64, Base::DOUBLE_INT];
    let list = (prop::sample::select(listed), prop::collection::vec(0i64..5, 9..40), 0usize..60);
    let list = list.prop_map(|(base, gaps, odd)| {
        let size = basic_map(base).bytes.len() as i64;
        let mut at = -20;
        let part = |(i, gap): (usize, i64)| {
            at += size + gap * 3;
            (at, 1, Recipe::Basic(if i == odd { Base::BYTE } else { base }))
        };
        Recipe::Structure(gaps.into_iter().enumerate().map(part).collect())
    });
    let leaf = prop_oneof![9 => basic, 1 => list];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let old = inner.clone().prop_map(Box::new);
        prop_oneof![
            (0u64..7, old.clone()).prop_map(|(n, old)| Recipe::Contiguous(n, old)),
            (0u64..6, 0u64..4, -5i64..6, old.clone())
                .prop_map(|(n, len, stride, old)| Recipe::Vector(n, len, stride, old)),
            (0u64..6, 0u64..4, -40i64..40, old.clone())
                .prop_map(|(n, len, stride, old)| Recipe::Hvector(n, len, stride, old)),
            (-9i64..9, -9i64..40, old.clone()).prop_map(|(lb, ext, old)| Recipe::Resized(lb, ext, old)),
            prop::collection::vec((-60i64..60, 0u64..4, inner), 0..4).prop_map(Recipe::Structure),
            old.prop_map(Recipe::Dup),
        ]
    })
}

/// Blocks of the data in order, as long as possible.
fn blocks_of(bytes: &[i64]) -> Vec<(i64, u64)> {
    let mut blocks: Vec<(i64, u64)> = vec![];
    for b in bytes {
        match blocks.last_mut() {
            Some((start, len)) if *start + *len as i64 == *b => *len += 1,
            _ => blocks.push((*b, 1)),
        }
    }
    blocks
}

/// Each of these blocks put down by itself.
fn block_by_block(blocks: &[(i64, u64)]) -> TypeRef {
    let byte = predefined(Base::BYTE);
    let parts: Vec<_> = blocks.iter().map(|&(disp, count)| Part { disp, count, old: &byte }).collect();
    build::structure(&parts).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn a_descriptor_says_what_the_model_says(recipe in recipes()) {
        let (map, desc) = (model(&recipe), make(&recipe));
        prop_assert_eq!(desc.packed, map.bytes.len() as u64);
        prop_assert_eq!((desc.lb, desc.extent), (map.lb(), map.extent()));
        prop_assert_eq!((desc.true_lb, desc.true_extent), (map.first(), map.end() - map.first()));
        let dense = map.bytes.iter().copied().eq(0..map.bytes.len() as i64);
        prop_assert_eq!(
            desc.is_contiguous(),
            map.bytes.is_empty() || dense && map.extent() == map.bytes.len() as i64
        );
        // The blocks are told in order, and the description is not longer than they are.
        let blocks = blocks_of(&map.bytes);
        let mut told = vec![];
        oxmpi_datatype::blocks(&desc, 1, 0, u64::MAX, |disp, len| {
            told.extend(disp..disp + len as i64);
            true
        });
        prop_assert_eq!(told, map.bytes);
        prop_assert!(desc.runs().len() <= 2 * blocks.len() + 2, "{:?}", desc.runs());
        prop_assert!(desc.top() <= desc.runs().len());
        // The list of its blocks describes the same, in no more than a run each.
        let listed = block_by_block(&blocks);
        let mut told = vec![];
        oxmpi_datatype::blocks(&listed, 1, 0, u64::MAX, |disp, len| {
            told.push((disp, len));
            true
        });
        prop_assert_eq!(told, blocks);
    }

    #[test]
    fn pack_and_unpack_resume_anywhere(
        recipe in recipes(),
        count in 0u64..5,
        cuts in prop::collection::vec(1u64..40, 1..8),
    ) {
        let (map, desc) = (model(&recipe), make(&recipe));
        let places: Vec<_> = (0..count as i64).map(|e| (e * map.extent(), &map)).collect();
        let stream = Map::at(&places).bytes;
        let low = stream.iter().copied().min().unwrap_or(0);
        let size = stream.iter().map(|b| b - low + 1).max().unwrap_or(0) as usize;
        let user: Vec<u8> = (0..size).map(|i| (i * 37 + i / 256) as u8 ^ 0x5a).collect();
        let expected: Vec<u8> = stream.iter().map(|b| user[(b - low) as usize]).collect();

        let mut packed = vec![0u8; expected.len() + 64];
        let mut from = 0;
        for len in cuts.iter().copied().cycle() {
            // SAFETY: `user` spans all offsets of the model, which the descriptor was found to equal;
            // `packed` has room for the last piece.
            let n = unsafe {
                let base = user.as_ptr().wrapping_offset(-low as isize);
                pack(&desc, count, base, from, packed.as_mut_ptr().add(from as usize), len)
            };
            prop_assert_eq!(n, len.min(expected.len() as u64 - from));
            from += n;
            if n < len {
                break;
            }
        }
        prop_assert_eq!(&packed[..expected.len()], &expected[..]);

        // Pieces of other lengths, and the last one first.
        let mut again = vec![0xeeu8; expected.len()];
        let mut ends = vec![0];
        for len in cuts.iter().rev().map(|c| c * 3).cycle() {
            let end = (ends[ends.len() - 1] + len).min(expected.len() as u64);
            ends.push(end);
            if end == expected.len() as u64 {
                break;
            }
        }
        for piece in ends.windows(2).rev() {
            // SAFETY: as above; the piece lies inside of `again`.
            unsafe {
                let base = user.as_ptr().wrapping_offset(-low as isize);
                let at = again.as_mut_ptr().add(piece[0] as usize);
                prop_assert_eq!(pack(&desc, count, base, piece[0], at, piece[1] - piece[0]), piece[1] - piece[0]);
            }
        }
        prop_assert_eq!(&again, &expected);

        // Every byte of the data and no other. MPI forbids to receive into a place twice.
        let mut model_after = vec![0xeeu8; size];
        for (b, v) in stream.iter().zip(&expected) {
            if model_after[(b - low) as usize] != 0xee && model_after[(b - low) as usize] != *v {
                return Ok(());
            }
            model_after[(b - low) as usize] = *v;
        }
        let mut back = vec![0xeeu8; size];
        let mut from = 0;
        for len in cuts.iter().copied().cycle() {
            // SAFETY: as above.
            let n = unsafe {
                let base = back.as_mut_ptr().wrapping_offset(-low as isize);
                unpack(&desc, count, base, from, packed.as_ptr().add(from as usize), len)
            };
            from += n;
            if n < len {
                break;
            }
        }
        prop_assert_eq!(&back, &model_after);
        let mut back = vec![0xeeu8; size];
        for piece in ends.windows(2).rev() {
            // SAFETY: as above.
            unsafe {
                let base = back.as_mut_ptr().wrapping_offset(-low as isize);
                unpack(&desc, count, base, piece[0], expected.as_ptr().add(piece[0] as usize), piece[1] - piece[0]);
            }
        }
        prop_assert_eq!(&back, &model_after);

        let mut copied = vec![0xeeu8; size];
        // SAFETY: as above.
        unsafe {
            let (src, dst) = (user.as_ptr(), copied.as_mut_ptr());
            copy(&desc, count, src.wrapping_offset(-low as isize), dst.wrapping_offset(-low as isize));
        }
        prop_assert_eq!(&copied, &model_after);
    }
}

#[test]
fn large_types_are_small() {
    let int = predefined(Base::I32);
    let double = predefined(Base::F64);
    let column = build::vector(1 << 40, 1, 7, &int).unwrap();
    assert_eq!(column.runs().len(), 1);
    assert_eq!(column.packed, 1 << 42);
    let block = build::contiguous(1 << 50, &int).unwrap();
    assert!(block.is_contiguous());
    // An int, a hole and a double, side by side: but for the ends, doubles touch the next int.
    let record =
        build::structure(&[Part { disp: 0, count: 1, old: &int }, Part { disp: 8, count: 1, old: &double }])
            .unwrap();
    let many = build::contiguous(1 << 40, &record).unwrap();
    assert_eq!(many.packed, 12 << 40);
    assert!(many.runs().len() <= 3, "{:?}", many.runs());
    assert_eq!(items(&build::contiguous(5, &record).unwrap()), ["0: 4", "8: 4 x 12 by 16", "72: 8"]);
}

/// The description, readable: loops with their bodies in brackets.
fn items(t: &TypeDesc) -> Vec<String> {
    fn list(t: &TypeDesc, at: std::ops::Range<usize>) -> Vec<String> {
        at.map(|i| {
            let r = t.runs()[i];
            let body = t
                .nest()
                .get(i)
                .filter(|n| n.items > 0)
                .map(|n| n.first as usize..(n.first + n.items) as usize);
            let what = body.map_or(r.len.to_string(), |b| format!("{:?}", list(t, b)).replace('"', ""));
            let head = format!("{}: ", r.disp);
            head + &if r.count > 1 { format!("{} x {what} by {}", r.count, r.stride) } else { what }
        })
        .collect()
    }
    list(t, 0..t.top())
}

/// The same layout from several constructors is the same description.
#[test]
fn equal_layouts_are_equally_fast() {
    let (byte, int) = (predefined(Base::BYTE), predefined(Base::I32));
    let listed = |places: &[i64], len| {
        let parts: Vec<_> = places.iter().map(|&disp| Part { disp, count: len, old: &byte }).collect();
        build::structure(&parts).unwrap()
    };
    // A face of a cube of 10 x 10 x 10 ints: every plane has a column.
    let column = build::vector(10, 1, 10, &int).unwrap();
    let face = build::hvector(10, 1, 400, &column).unwrap();
    let places: Vec<i64> = (0..100).map(|i| i / 10 * 400 + i % 10 * 40).collect();
    assert_eq!(items(&face), ["0: 100 x 4 by 40"], "the columns continue one another");
    assert_eq!(items(&listed(&places, 4)), items(&face));
    // A box of 3 x 4 x 5 ints inside of it, from the list of its rows, from vectors, from a subarray.
    let places: Vec<i64> = (0..12).map(|i| 444 + i / 4 * 400 + i % 4 * 40).collect();
    let slice = |part, start| oxmpi_datatype::array::Slice { whole: 10, part, start };
    let slices = [slice(3, 1), slice(4, 1), slice(5, 1)];
    let sub = oxmpi_datatype::array::subarray(&slices, oxmpi_datatype::array::Order::C, &int).unwrap();
    assert_eq!(items(&sub), ["444: 3 x [0: 4 x 20 by 40] by 400"]);
    assert_eq!(items(&listed(&places, 20)), items(&sub));
    let rows = build::vector(4, 5, 10, &int).unwrap();
    let planes = build::hvector(3, 1, 400, &rows).unwrap();
    assert_eq!(items(&build::structure(&[Part { disp: 444, count: 1, old: &planes }]).unwrap()), items(&sub));
    // Records with a hole, one by one, as a vector, and block by block.
    let record =
        build::structure(&[Part { disp: 0, count: 1, old: &int }, Part { disp: 8, count: 1, old: &byte }]);
    let record = build::resized(0, 20, &record.unwrap()).unwrap();
    let parts: Vec<_> = (0..50).map(|i| Part { disp: 20 * i, count: 1, old: &record }).collect();
    let one_by_one = build::structure(&parts).unwrap();
    assert_eq!(items(&one_by_one), ["0: 50 x [0: 4, 8: 1] by 20"]);
    assert_eq!(items(&build::contiguous(50, &record).unwrap()), items(&one_by_one));
    assert_eq!(items(&build::vector(10, 5, 5, &record).unwrap()), items(&one_by_one));
}

/// Thirty levels of vectors with gaps, and 2^30 blocks: no more than a few items.
#[test]
fn deep_nests_are_small_and_right() {
    let mut nest = predefined(Base::BYTE);
    for level in 0..30 {
        nest = build::hvector(2, 1, nest.extent + level % 3, &nest).unwrap();
    }
    assert_eq!(nest.packed, 1 << 30);
    assert!(nest.runs().len() <= 60, "{}", nest.runs().len());
    // The block that a byte lies in, found from the front and by the levels' bits.
    for byte in [0u64, 1, 77, 12345, (1 << 30) - 1, 0x2aaa_aaaa] {
        let (mut disp, mut extent) = (0, 1);
        for level in 0..30 {
            disp += (byte >> level & 1) as i64 * (extent + level % 3);
            extent = 2 * extent + level % 3;
        }
        let mut found = None;
        oxmpi_datatype::blocks(&nest, 1, byte, 1, |at, _| {
            found = Some(at);
            true
        });
        assert_eq!(found, Some(disp), "byte {byte}");
    }
}

/// A million blocks without a pattern: found by a binary search, not by looking at all of them.
#[test]
fn irregular_types_are_entered_anywhere() {
    let int = predefined(Base::I32);
    let mut disp = 0;
    let places: Vec<i64> = (0..1_000_000u64)
        .map(|i| {
            disp += 8 + 4 * (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61) as i64;
            disp
        })
        .collect();
    let parts: Vec<_> = places.iter().map(|&disp| Part { disp, count: 1, old: &int }).collect();
    let t = build::structure(&parts).unwrap();
    assert_eq!(t.packed, 4_000_000);
    for byte in (0..4_000_000).step_by(39_916) {
        let mut found = None;
        oxmpi_datatype::blocks(&t, 1, byte, 1, |at, _| {
            found = Some(at);
            true
        });
        assert_eq!(found, Some(places[byte as usize / 4] + byte as i64 % 4));
    }
}

#[test]
fn what_cannot_be_described_is_refused() {
    use oxmpi_mca::Status;
    let int = predefined(Base::I32);
    let err = |r: Result<TypeRef, Status>| r.err();
    assert_eq!(err(build::contiguous(u64::MAX, &int)), Some(Status::BAD_PARAM));
    assert_eq!(err(build::vector(2, 1, i64::MAX / 2, &int)), Some(Status::BAD_PARAM));
    assert_eq!(err(build::hvector(3, 1, i64::MAX / 2, &int)), Some(Status::BAD_PARAM));
    assert_eq!(err(build::resized(i64::MAX, 1, &int)), Some(Status::BAD_PARAM));
    let row = build::vector(3, 1, 2, &int).unwrap();
    assert!(build::hvector(2 << 40, 1, 1000, &row).is_ok());
}

#[test]
fn lists_without_a_pattern_are_kept_as_places() {
    fn without_pattern(i: i64) -> i64 {
        2 + (i.wrapping_mul(0x1e37_79b9_7f4a_7c15) >> 40).rem_euclid(3)
    }
    let double = predefined(Base::F64);
    let list = |gap: fn(i64) -> i64| {
        let mut at = 0;
        let parts: Vec<_> = (0..200)
            .map(|i| {
                at += 8 * gap(i);
                Part { disp: at, count: 1, old: &double }
            })
            .collect();
        build::structure(&parts).unwrap()
    };
    assert_eq!(list(without_pattern).places().len(), 200);
    assert!(list(|_| 3).places().is_empty(), "blocks at equal distances are a run");
    assert!(list(|i| if i % 50 == 0 { 9 } else { 2 }).places().is_empty(), "long runs are none");
    assert!(list(|i| if i == 100 { 1 << 30 } else { without_pattern(i) }).places().is_empty(), "too far");
}

/// Places that are addresses, from a null base (MPI_BOTTOM): lengths without a loop of their own, too.
#[test]
fn places_may_be_addresses() {
    for base in [Base::I8, Base::I16, Base::I32, Base::F64] {
        let old = predefined(base);
        for count in 1..8 {
            let len = old.packed * count;
            let from: Vec<u8> = (0..len as u8).map(|b| b + 1).collect();
            let mut to = vec![0u8; len as usize];
            let at = |place: *const u8| {
                build::structure(&[Part { disp: place as i64, count, old: &old }]).expect("a type")
            };
            let (source, target) = (at(from.as_ptr()), at(to.as_mut_ptr()));
            let (mut packed, nothing) = (vec![0u8; len as usize], core::ptr::null_mut::<u8>());
            // SAFETY: the types say where the bytes are, and there is room for them.
            unsafe {
                assert_eq!(pack(&source, 1, nothing, 0, packed.as_mut_ptr(), len), len);
                assert_eq!(unpack(&target, 1, nothing, 0, packed.as_ptr(), len), len);
            }
            assert_eq!((&packed, &to), (&from, &from));
        }
    }
}
