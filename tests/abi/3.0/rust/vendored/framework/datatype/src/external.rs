//! external32, the portable form of data (MPI 5.0 §14.5.2): big-endian, IEEE formats, sizes that do not
//! depend on the machine.
//!
//! A stream in native form is converted element by element, guided by the type's [`Signature`]. Most
//! elements only change their order of bytes. Three change size: MPI_LONG and MPI_UNSIGNED_LONG (8
//! bytes to 4), MPI_WCHAR (4 to 2), and long double changes format (x87's 80 bits to binary128).
//! **A value that does not fit is an error**, never cut off.

pub use crate::atom::{Atom, Misfit};
use crate::desc::TypeDesc;
use crate::signature::Signature;
use crate::walk::{pack, unpack};

/// Native bytes converted at once, on the stack; a multiple of every element's size.
const CHUNK: usize = 8192;

/// Converts `count` elements at `base` to `out`.
///
/// # Safety
/// `base` must be readable where the descriptor says, which `signature` belongs to; `out` writable for
/// `count` times the signature's external bytes.
pub unsafe fn encode(
    (desc, signature): (&TypeDesc, &Signature),
    count: u64,
    base: *const u8,
    mut out: *mut u8,
) -> Result<(), Misfit> {
    let mut chunk = [0u8; CHUNK];
    // The part of the chunk that is not converted yet, and the place in the stream where the chunk ends.
    let (mut at, mut end, mut packed) = (0, 0, 0);
    signature.each(count, &mut |atom, n| {
        let (from, to) = (atom.bytes() as usize, atom.external_bytes() as usize);
        for _ in 0..n {
            if end - at < from {
                chunk.copy_within(at..end, 0);
                end -= at;
                at = 0;
                // SAFETY: the caller's promise; the rest of the chunk has that room.
                let got = unsafe {
                    pack(desc, count, base, packed, chunk.as_mut_ptr().add(end), (CHUNK - end) as u64)
                };
                packed += got;
                end += got as usize;
            }
            let mut element = [0u8; 32];
            atom.encode(&chunk[at..at + from], &mut element[..to])?;
            // SAFETY: the caller's room, of which no more is used than the signature has.
            unsafe {
                core::ptr::copy_nonoverlapping(element.as_ptr(), out, to);
                out = out.add(to);
            }
            at += from;
        }
        Ok(())
    })
}

/// Converts external32 at `input` to `count` elements at `base`.
///
/// # Safety
/// As [`encode`], with the roles exchanged.
pub unsafe fn decode(
    (desc, signature): (&TypeDesc, &Signature),
    count: u64,
    mut input: *const u8,
    base: *mut u8,
) {
    let mut chunk = [0u8; CHUNK];
    let (mut end, mut unpacked) = (0, 0);
    let mut flush = |chunk: &[u8]| {
        // SAFETY: the caller's promise.
        unpacked += unsafe { unpack(desc, count, base, unpacked, chunk.as_ptr(), chunk.len() as u64) };
    };
    let never: Result<(), core::convert::Infallible> = signature.each(count, &mut |atom, n| {
        let (to, from) = (atom.bytes() as usize, atom.external_bytes() as usize);
        for _ in 0..n {
            if CHUNK - end < to {
                flush(&chunk[..end]);
                end = 0;
            }
            // SAFETY: the caller's input has as many bytes as the signature says.
            let element = unsafe { core::slice::from_raw_parts(input, from) };
            atom.decode(element, &mut chunk[end..end + to]);
            input = input.wrapping_add(from);
            end += to;
        }
        Ok(())
    });
    let Ok(()) = never;
    flush(&chunk[..end]);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::build::{Part, structure};
    use crate::desc::{Base, TypeRef};
    use std::sync::Arc;

    #[test]
    fn a_record_goes_there_and_back() {
        let desc = |base| -> TypeRef {
            let d: &'static TypeDesc = Box::leak(Box::new(TypeDesc::basic(base).unwrap()));
            // SAFETY: leaked, so it lives.
            unsafe { TypeRef::retain(d) }
        };
        let (pair, wide) = (desc(Base::SHORT_INT), desc(Base::WCHAR));
        let parts = [Part { disp: 0, count: 2, old: &pair }, Part { disp: 20, count: 3, old: &wide }];
        let record = structure(&parts).unwrap();
        let mut sig = Signature::default();
        sig.append(&Arc::new(Signature::basic(Base::SHORT_INT)), 2).unwrap();
        sig.append(&Arc::new(Signature::basic(Base::WCHAR)), 3).unwrap();
        assert_eq!((sig.bytes(), sig.external_bytes()), (record.packed, 18));
        let n = 3000u64;
        let user: Vec<u8> =
            (0..32 * n).map(|i| if i % 32 >= 20 && i % 4 >= 2 { 0 } else { i as u8 }).collect();
        let mut external = vec![0; 18 * n as usize];
        let mut back = vec![0xee; user.len()];
        // SAFETY: the buffers hold `n` records in the one and the other form.
        unsafe {
            encode((&record, &sig), n, user.as_ptr(), external.as_mut_ptr()).unwrap();
            decode((&record, &sig), n, external.as_ptr(), back.as_mut_ptr());
        }
        let first: Vec<u8> = vec![1, 0, 7, 6, 5, 4, 9, 8, 15, 14, 13, 12, 21, 20, 25, 24, 29, 28];
        assert_eq!(external[..18], first);
        for (i, b) in back.iter().enumerate() {
            let data = matches!(i % 32, 0..2 | 4..10 | 12..16 | 20..32);
            assert_eq!(*b, if data { user[i] } else { 0xee }, "byte {i}");
        }
    }
}
