//! How data looks in the file (MPI 5.0 §14.5): sizes, types with the file's extents, conversion of data on its way.
//!
//! `native` is memory as it is; `internal` and `external32` are the portable form of `oxmpi_datatype::external`; registered representations are the user's functions, which
//! the host brings by [`Convert`].
//!
//! A view's types mean what the same constructor calls would make with basic types of the file (MPI 5.0 §14.5.1). [`basic_in_file`] is the leaf for a host that repeats those
//! calls; [`in_file`] is for types whose sizes all change by one ratio, where the layout itself can be changed.

use core::ptr;
use oxmpi_datatype::build::{Part, contiguous, hvector, resized, structure};
use oxmpi_datatype::external::{self, Atom, Misfit};
use oxmpi_datatype::{Base, Signature, TypeDesc, TypeRef};
use oxmpi_mca::Status;

/// The representations that need no registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predefined {
    /// As in memory.
    Native,
    /// The library's own for files that several of its builds read: that of external32.
    Internal,
    /// Big-endian, IEEE formats, fixed sizes.
    External32,
}

impl Predefined {
    /// The one of a name.
    pub fn named(name: &str) -> Option<Predefined> {
        match name {
            "native" => Some(Predefined::Native),
            "internal" => Some(Predefined::Internal),
            "external32" => Some(Predefined::External32),
            _ => None,
        }
    }

    /// Whether data is converted.
    pub fn converts(self) -> bool {
        self != Predefined::Native
    }
}

/// Runs `f` with a reference to the type of a byte.
fn with_byte<T>(f: impl FnOnce(&TypeRef) -> T) -> Option<T> {
    let byte = TypeDesc::basic(Base::BYTE)?;
    // SAFETY: it lives until the reference is gone, which no constructor keeps; predefined types are not counted.
    let byte = unsafe { TypeRef::retain(&byte) };
    Some(f(&byte))
}

/// A type of that many bytes, one behind the other: any basic type of a registered representation.
pub fn bytes_in_file(bytes: u64) -> Result<TypeRef, Status> {
    with_byte(|byte| contiguous(bytes, byte)).unwrap_or(Err(Status::INTERNAL))
}

/// A predefined type as it is in external32: its elements without gaps, and that is its extent.
pub fn basic_in_file(signature: &Signature) -> Result<TypeRef, Status> {
    bytes_in_file(signature.external_bytes())
}

/// A type as it is in external32, where all its basic elements keep their sizes or all change them by one ratio. NOT_SUPPORTED: they do not, and only the calls
/// that made the type tell what it is in the file.
pub fn in_file(desc: &TypeRef, signature: &Signature) -> Result<TypeRef, Status> {
    let mut ratio: Option<(i64, i64)> = None;
    let mut equal = true;
    signature.kinds(&mut |atom: Atom| {
        let this = (atom.external_bytes() as i64, atom.bytes() as i64);
        let (to, from) = *ratio.get_or_insert(this);
        equal &= to * this.1 == from * this.0;
    });
    match ratio {
        _ if !equal => Err(Status::NOT_SUPPORTED),
        Some((to, from)) if to != from => scaled(desc, to, from),
        _ => Ok(desc.clone()),
    }
}

/// The same layout with every distance and length multiplied by `to / from`. NOT_SUPPORTED: one of them is no whole number then.
pub fn scaled(desc: &TypeRef, to: i64, from: i64) -> Result<TypeRef, Status> {
    let scale = |n: i64| {
        let n = n as i128 * to as i128;
        let whole = n % from as i128 == 0;
        let scaled = i64::try_from(n / from as i128).ok().filter(|_| whole);
        scaled.ok_or(Status::NOT_SUPPORTED)
    };
    let data = list(desc, 0..desc.top(), &scale)?;
    resized(scale(desc.lb)?, scale(desc.extent)?, &data)
}

/// Items of the layout as a type, with lengths and distances changed.
fn list(
    desc: &TypeDesc,
    items: core::ops::Range<usize>,
    scale: &impl Fn(i64) -> Result<i64, Status>,
) -> Result<TypeRef, Status> {
    let mut parts = Vec::new();
    for item in items {
        let run = desc.runs()[item];
        let block = match desc.nest().get(item).filter(|nest| nest.items > 0) {
            Some(nest) => list(desc, nest.first as usize..(nest.first + nest.items) as usize, scale)?,
            None => bytes_in_file(scale(run.len as i64)? as u64)?,
        };
        parts.push((scale(run.disp)?, hvector(run.count, 1, scale(run.stride)?, &block)?));
    }
    let parts: Vec<_> = parts.iter().map(|(disp, old)| Part { disp: *disp, count: 1, old }).collect();
    structure(&parts)
}

/// Conversion between elements of one type in memory and in the file. External32 is one ([`External`]), a registered representation is the host's.
pub trait Convert {
    /// A failure of the conversion.
    type Failure;

    /// Bytes of `count` elements in the file.
    fn file_bytes(&self, count: u64) -> u64;

    /// Converts `count` elements at `base`, the first of which is element `position` of the access, to [`Convert::file_bytes`] bytes at `out`.
    ///
    /// # Safety
    /// `base` is readable where the type says, `out` writable.
    unsafe fn encode(
        &self,
        base: *const u8,
        count: u64,
        position: u64,
        out: *mut u8,
    ) -> Result<(), Self::Failure>;

    /// Converts the first `bytes` bytes of elements at `input`, the first of which is element `position` of the access, to elements at `base`; returns how many bytes of data
    /// those have in memory. A basic element of which not all bytes are there is left out.
    ///
    /// # Safety
    /// `input` is readable, `base` writable where the type says.
    unsafe fn decode(
        &self,
        input: *const u8,
        bytes: u64,
        position: u64,
        base: *mut u8,
    ) -> Result<u64, Self::Failure>;
}

/// External32 of a type.
#[derive(Clone, Copy)]
pub struct External<'a> {
    /// Its layout in memory.
    pub desc: &'a TypeDesc,
    /// Its basic elements.
    pub signature: &'a Signature,
}

impl External<'_> {
    /// Bytes in memory of the basic elements that are whole in the first `bytes` bytes of one element in the file.
    fn whole_in_memory(&self, bytes: u64) -> u64 {
        let (mut left, mut found) = (bytes, 0);
        let _ = self.signature.each(1, &mut |atom, n| {
            let whole = (left / atom.external_bytes()).min(n);
            left -= whole * atom.external_bytes();
            found += whole * atom.bytes();
            if whole < n { Err(()) } else { Ok(()) }
        });
        found
    }

    /// The part of an element: decoded as a whole beside, of which the bytes that count are taken over.
    ///
    /// # Safety
    /// As [`Convert::decode`], for less than one element.
    unsafe fn part_from_file(&self, input: *const u8, bytes: u64, base: *mut u8) -> u64 {
        let whole = self.whole_in_memory(bytes);
        let mut portable = vec![0u8; self.signature.external_bytes() as usize];
        let mut native = vec![0u8; self.desc.packed as usize];
        let Ok(packed) = bytes_in_file(self.desc.packed) else { return 0 };
        // SAFETY: `bytes` is less than an element has; `packed` describes `native`.
        unsafe {
            ptr::copy_nonoverlapping(input, portable.as_mut_ptr(), bytes as usize);
            external::decode((&packed, self.signature), 1, portable.as_ptr(), native.as_mut_ptr());
            oxmpi_datatype::unpack(self.desc, 1, base, 0, native.as_ptr(), whole)
        }
    }
}

impl Convert for External<'_> {
    type Failure = Misfit;

    fn file_bytes(&self, count: u64) -> u64 {
        self.signature.external_bytes().saturating_mul(count)
    }

    unsafe fn encode(&self, base: *const u8, count: u64, _: u64, out: *mut u8) -> Result<(), Misfit> {
        // SAFETY: the caller's promise.
        unsafe { external::encode((self.desc, self.signature), count, base, out) }
    }

    unsafe fn decode(&self, input: *const u8, bytes: u64, _: u64, base: *mut u8) -> Result<u64, Misfit> {
        let each = self.signature.external_bytes();
        let (count, rest) = (bytes.checked_div(each).unwrap_or(0), bytes.checked_rem(each).unwrap_or(0));
        // SAFETY: the caller's promise, for whole elements and for the one behind them.
        let part = unsafe {
            external::decode((self.desc, self.signature), count, input, base);
            let behind = base.wrapping_offset(count as isize * self.desc.extent as isize);
            if rest == 0 {
                0
            } else {
                self.part_from_file(input.wrapping_add((count * each) as usize), rest, behind)
            }
        };
        Ok(count * self.desc.packed + part)
    }
}
