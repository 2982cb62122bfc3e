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

/// The model: one entry per packed byte, and the bounds.
#[derive(Clone, Debug, PartialEq)]
struct Map {
    bytes: Vec<i64>,
    lb: i64,
    ub: i64,
}

impl Map {
    fn empty() -> Map {
        Map { bytes: vec![], lb: 0, ub: 0 }
    }
    fn extent(&self) -> i64 {
        self.ub - self.lb
    }
    /// Copies of the map at these places.
    fn at(places: &[(i64, &Map)]) -> Map {
        if places.is_empty() {
            return Map::empty();
        }
        Map {
            bytes: places.iter().flat_map(|(d, m)| m.bytes.iter().map(move |b| b + d)).collect(),
            lb: places.iter().map(|(d, m)| d + m.lb).min().unwrap(),
            ub: places.iter().map(|(d, m)| d + m.ub).max().unwrap(),
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
        Recipe::Resized(lb, extent, old) => Map { lb: *lb, ub: lb + extent, ..model(old) },
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
    let (bytes, ub): (Vec<i64>, i64) = match base {
        Base::BYTE => (vec![0], 1),
        Base::I16 => (vec![0, 1], 2),
        Base::I32 => ((0..4).collect(), 4),
        Base::F64 => ((0..8).collect(), 8),
        Base::DOUBLE_INT => ((0..12).collect(), 16),
        Base::SHORT_INT => (vec![0, 1, 4, 5, 6, 7], 8),
        other => panic!("no model of {other:?}"),
    };
    Map { bytes, lb: 0, ub }
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
    let leaf = prop::sample::select(bases).prop_map(Recipe::Basic);
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

/// The normal form, straight from its definition: blocks, then greedy runs.
fn normal_form(bytes: &[i64]) -> Vec<(i64, u64, u64, i64)> {
    let mut blocks: Vec<(i64, u64)> = vec![];
    for b in bytes {
        match blocks.last_mut() {
            Some((start, len)) if *start + *len as i64 == *b => *len += 1,
            _ => blocks.push((*b, 1)),
        }
    }
    let mut runs: Vec<(i64, u64, u64, i64)> = vec![];
    for (disp, len) in blocks {
        match runs.last_mut() {
            Some((d, l, n, s)) if *l == len && *n == 1 => (*n, *s) = (2, disp - *d),
            Some((d, l, n, s)) if *l == len && *d + *n as i64 * *s == disp => *n += 1,
            _ => runs.push((disp, len, 1, len as i64)),
        }
    }
    runs
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn a_descriptor_says_what_the_model_says(recipe in recipes()) {
        let (map, desc) = (model(&recipe), make(&recipe));
        prop_assert_eq!(desc.packed, map.bytes.len() as u64);
        prop_assert_eq!((desc.lb, desc.extent), (map.lb, map.extent()));
        let low = map.bytes.iter().copied().min().unwrap_or(0);
        let high = map.bytes.iter().map(|b| b + 1).max().unwrap_or(0);
        prop_assert_eq!((desc.true_lb, desc.true_extent), (low, high - low));
        let dense = map.bytes.iter().copied().eq(0..map.bytes.len() as i64);
        prop_assert_eq!(
            desc.is_contiguous(),
            map.bytes.is_empty() || dense && map.extent() == map.bytes.len() as i64
        );
        // A predefined type with padding behind is in this form too, so no exception for it.
        let runs: Vec<_> = desc.runs().iter().map(|r| (r.disp, r.len, r.count, r.stride)).collect();
        prop_assert_eq!(runs, normal_form(&map.bytes));
    }

    #[test]
    fn pack_and_unpack_resume_anywhere(
        recipe in recipes(),
        count in 0u64..5,
        cuts in prop::collection::vec(1u64..40, 1..8),
    ) {
        let (map, desc) = (model(&recipe), make(&recipe));
        let stream = Map::at(&(0..count as i64).map(|e| (e * map.extent(), &map)).collect::<Vec<_>>()).bytes;
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

        // Every byte of the data, in stream order (places may repeat: the last one wins), and no other.
        let mut model_after = vec![0xeeu8; size];
        for (b, v) in stream.iter().zip(&expected) {
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
    let exact = build::contiguous(5, &record).unwrap();
    let runs: Vec<_> = exact.runs().iter().map(|r| (r.disp, r.len, r.count, r.stride)).collect();
    assert_eq!(runs, [(0, 4, 1, 4), (8, 12, 4, 16), (72, 8, 1, 8)]);
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
    assert_eq!(err(build::hvector(2 << 20, 1, 1000, &row)), Some(Status::NOT_SUPPORTED));
}
