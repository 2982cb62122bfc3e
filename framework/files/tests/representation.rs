//! External32 in the file: extents, and data that ends anywhere.

use oxmpi_datatype::build::{Part, hvector, structure};
use oxmpi_datatype::external::Atom;
use oxmpi_datatype::{Base, Signature, TypeDesc, TypeRef};
use oxmpi_files::representation::{Convert, External, Predefined, basic_in_file, in_file};
use oxmpi_mca::Status;
use std::sync::Arc;

fn basic(base: Base) -> TypeRef {
    let desc: &'static TypeDesc = Box::leak(Box::new(TypeDesc::basic(base).unwrap()));
    // SAFETY: leaked, so it lives.
    unsafe { TypeRef::retain(desc) }
}

#[test]
fn names() {
    assert_eq!(Predefined::named("external32"), Some(Predefined::External32));
    assert_eq!(Predefined::named("External32"), None);
    assert!(Predefined::Internal.converts() && !Predefined::Native.converts());
}

#[test]
fn types_shrink_with_their_elements() {
    let (wide, int) = (basic(Base::WCHAR), basic(Base::I32));
    let parts = [Part { disp: 4, count: 2, old: &wide }, Part { disp: 20, count: 1, old: &wide }];
    let some = hvector(3, 1, 40, &structure(&parts).unwrap()).unwrap();
    let signature = Signature::basic(Base::WCHAR);
    let small = in_file(&some, &signature).unwrap();
    assert_eq!((small.packed, small.extent, small.true_lb), (some.packed / 2, some.extent / 2, 2));
    let mut places = vec![];
    oxmpi_datatype::blocks(&small, 1, 0, u64::MAX, |disp, len| {
        places.push((disp, len));
        true
    });
    assert_eq!(places, [(2, 4), (10, 2), (22, 4), (30, 2), (42, 4), (50, 2)]);
    let same = in_file(&int, &Signature::basic(Base::I32)).unwrap();
    assert_eq!((same.packed, same.extent), (4, 4));
    let mut mixed = Signature::basic(Base::I32);
    mixed.append(&Arc::new(Signature::atom(Atom::LONG)), 1).unwrap();
    assert_eq!(in_file(&int, &mixed).err(), Some(Status::NOT_SUPPORTED));
    assert_eq!(basic_in_file(&Signature::atom(Atom::LONG)).unwrap().extent, 4);
}

#[test]
fn data_may_end_inside_an_element() {
    let (int, wide) = (basic(Base::I32), basic(Base::WCHAR));
    let parts = [Part { disp: 0, count: 1, old: &int }, Part { disp: 8, count: 2, old: &wide }];
    let record = structure(&parts).unwrap();
    let mut signature = Signature::basic(Base::I32);
    signature.append(&Arc::new(Signature::basic(Base::WCHAR)), 2).unwrap();
    let external = External { desc: &record, signature: &signature };
    let n = 5u64;
    let user: Vec<u8> =
        (0..16 * n).map(|i| if i % 16 >= 8 && i % 4 >= 2 { 0 } else { i as u8 + 1 }).collect();
    let mut file = vec![0; external.file_bytes(n) as usize];
    // SAFETY: the buffers hold `n` records in the one and the other form.
    unsafe { external.encode(user.as_ptr(), n, 0, file.as_mut_ptr()) }.unwrap();
    // A record is 4 + 2 + 2 bytes there, 4 + 4 + 4 here.
    for bytes in 0..=file.len() as u64 {
        let mut back = vec![0xee; user.len()];
        // SAFETY: as above.
        let got = unsafe { external.decode(file.as_ptr(), bytes, 0, back.as_mut_ptr()) }.unwrap();
        let expected = bytes / 8 * 12 + [0, 0, 0, 0, 4, 4, 8, 8][(bytes % 8) as usize];
        assert_eq!(got, expected, "{bytes} bytes");
        let places: Vec<usize> =
            (0..n as usize).flat_map(|e| (0..4).chain(8..16).map(move |b| e * 16 + b)).collect();
        for (i, place) in places.iter().enumerate() {
            let expected = if (i as u64) < got { user[*place] } else { 0xee };
            assert_eq!(back[*place], expected, "byte {place} of {bytes}");
        }
    }
}
