//! Subarrays and distributed arrays against their definition: which elements of the array belong to
//! the part, in storage order.

use oxmpi_datatype::array::{Deal, Order, Slice, darray, subarray};
use oxmpi_datatype::{Base, TypeDesc, TypeRef, build, pack};
use proptest::prelude::*;

fn predefined(base: Base) -> TypeRef {
    let desc: &'static TypeDesc = Box::leak(Box::new(TypeDesc::basic(base).unwrap()));
    // SAFETY: leaked, so it lives.
    unsafe { TypeRef::retain(desc) }
}

/// Numbers of the elements, in storage order, whose index in each dimension satisfies `mine`.
fn members(whole: &[u64], order: Order, mine: impl Fn(usize, u64) -> bool) -> Vec<u16> {
    let total: u64 = whole.iter().product();
    let mut dims: Vec<usize> = (0..whole.len()).collect();
    if order == Order::C {
        dims.reverse();
    }
    let belongs = |n: &u64| {
        let mut rest = *n;
        dims.iter().all(|&d| {
            let index = rest % whole[d];
            rest /= whole[d];
            mine(d, index)
        })
    };
    (0..total).filter(belongs).map(|n| n as u16).collect()
}

/// The elements that the type picks out of an array whose elements are their numbers.
fn picked(t: &TypeRef, total: u64) -> Vec<u16> {
    let user: Vec<u16> = (0..total as u16).collect();
    let mut out = vec![0u16; t.packed as usize / 2];
    // SAFETY: the type lies inside an array of `total` elements, which the callers check.
    let n = unsafe { pack(t, 1, user.as_ptr().cast(), 0, out.as_mut_ptr().cast(), u64::MAX) };
    assert_eq!(n, t.packed);
    out
}

fn orders() -> impl Strategy<Value = Order> {
    prop::sample::select(vec![Order::C, Order::Fortran])
}

proptest! {
    #[test]
    fn subarrays(dims in prop::collection::vec((1u64..7, 0u64..7, 0u64..7), 1..5), order in orders()) {
        let slices: Vec<Slice> = dims.iter().map(|&(whole, part, start)| {
            let part = 1 + part % whole;
            Slice { whole, part, start: start % (whole - part + 1) }
        }).collect();
        let whole: Vec<u64> = slices.iter().map(|s| s.whole).collect();
        let total = whole.iter().product::<u64>();
        let t = subarray(&slices, order, &predefined(Base::I16)).unwrap();
        prop_assert_eq!((t.lb, t.extent), (0, 2 * total as i64));
        prop_assert!(t.true_lb >= 0 && t.true_lb + t.true_extent <= t.extent);
        let expected = members(&whole, order, |d, i| (slices[d].start..slices[d].start + slices[d].part).contains(&i));
        prop_assert_eq!(picked(&t, total), expected);
    }

    #[test]
    fn distributed_arrays(dims in prop::collection::vec((1u64..9, 1u64..5, 1u64..4), 1..4), order in orders()) {
        let whole: Vec<u64> = dims.iter().map(|d| d.0).collect();
        let total = whole.iter().product::<u64>();
        let procs: u64 = dims.iter().map(|d| d.2).product();
        let mut all = Vec::new();
        for rank in 0..procs {
            let mut left = rank;
            let deals: Vec<Deal> = dims.iter().map(|&(whole, block, procs)| {
                let rank = left % procs;
                left /= procs;
                Deal { whole, block, procs, rank }
            }).collect();
            let t = darray(&deals, order, &predefined(Base::I16)).unwrap();
            prop_assert_eq!((t.lb, t.extent), (0, 2 * total as i64));
            let mine = members(&whole, order, |d, i| i / deals[d].block % deals[d].procs == deals[d].rank);
            prop_assert_eq!(picked(&t, total), mine.clone());
            all.extend(mine);
        }
        all.sort_unstable();
        prop_assert_eq!(all, (0..total as u16).collect::<Vec<_>>());
    }
}

#[test]
fn elements_may_have_any_bounds() {
    let int = predefined(Base::I32);
    let wide = build::resized(-4, 12, &int).unwrap();
    let slices = [Slice { whole: 3, part: 2, start: 1 }, Slice { whole: 4, part: 2, start: 1 }];
    let t = subarray(&slices, Order::C, &wide).unwrap();
    assert_eq!((t.lb, t.extent, t.packed), (0, 144, 16));
    assert_eq!((t.true_lb, t.true_extent), (12 * 5, 12 * 5 + 4));
}

#[test]
fn what_is_too_large_is_refused() {
    let int = predefined(Base::I32);
    let huge = Slice { whole: 1 << 31, part: 1, start: 0 };
    assert!(subarray(&[huge, huge], Order::C, &int).is_err());
    assert!(subarray(&[huge, Slice { whole: 1 << 29, ..huge }], Order::C, &int).is_ok());
    let deal = Deal { whole: 1 << 40, block: 1 << 40, procs: 1 << 30, rank: 1 };
    assert!(darray(&[deal], Order::C, &int).is_err());
}
