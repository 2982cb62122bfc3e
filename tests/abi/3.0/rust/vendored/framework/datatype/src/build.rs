//! Constructors of derived types.
//!
//! A layout is kept in its normal form (`layout.rs`): construction of a regular type costs the same
//! whatever its counts, and equal layouts are equally fast whichever constructors made them.
//!
//! **Bounds.** An element begins with the first element it is made of and ends with the last one, rounded up
//! so that the next one is aligned as the strictest basic type wants. Where the user set bounds in anything
//! an element is made of, those alone count (MPI 5.0 §5.1.6).
//!
//! **Ownership.** A descriptor made here is counted ([`TypeRef`]) and refers to no other: a type may be
//! freed while those built from it live on (MPI 5.0 §5.1.9). Its items are shared with the types that differ
//! in their bounds only.

use crate::desc::{Base, TypeDesc, TypeRef, flag};
use crate::layout::{Item, Items, Store, items_of};
use oxmpi_mca::sync::AtomicU32;
use oxmpi_mca::{SliceRef, Status};
use std::sync::Arc;

/// `count` elements of `old`, one behind the other (MPI_Type_contiguous).
pub fn contiguous(count: u64, old: &TypeRef) -> Result<TypeRef, Status> {
    hvector(count, 1, old.extent, old)
}

/// `count` blocks of `blocklen` elements, `stride_elems` extents from start to start (MPI_Type_vector).
pub fn vector(count: u64, blocklen: u64, stride_elems: i64, old: &TypeRef) -> Result<TypeRef, Status> {
    hvector(count, blocklen, stride_elems.checked_mul(old.extent).ok_or(Status::BAD_PARAM)?, old)
}

/// As [`vector`], with the stride in bytes (MPI_Type_create_hvector).
pub fn hvector(count: u64, blocklen: u64, stride_bytes: i64, old: &TypeRef) -> Result<TypeRef, Status> {
    let mut draft = Draft::new();
    draft.add(0, count, blocklen, stride_bytes, old)?;
    draft.finish()
}

/// Some elements of a type at a byte displacement: a part of [`structure`].
pub struct Part<'a> {
    pub disp: i64,
    pub count: u64,
    pub old: &'a TypeRef,
}

/// Parts in the order given: struct, and with equal types hindexed, indexed and indexed_block
/// (MPI 5.0 §5.1.2).
pub fn structure(parts: &[Part<'_>]) -> Result<TypeRef, Status> {
    let mut draft = Draft::new();
    for part in parts {
        draft.add(part.disp, 1, part.count, 0, part.old)?;
    }
    draft.finish()
}

/// The same data with other bounds (MPI_Type_create_resized).
pub fn resized(lb: i64, extent: i64, old: &TypeRef) -> Result<TypeRef, Status> {
    lb.checked_add(extent).ok_or(Status::BAD_PARAM)?;
    Ok(copy(old, lb, extent, flag::BOUNDED))
}

/// A descriptor of its own with the same meaning (MPI_Type_dup).
pub fn dup(old: &TypeRef) -> TypeRef {
    copy(old, old.lb, old.extent, old.flags & flag::COMMITTED)
}

/// The same data, with `flags` besides those that belong to it.
fn copy(old: &TypeRef, lb: i64, extent: i64, flags: u32) -> TypeRef {
    let store = match old.free {
        // SAFETY: descriptors with this function are the first fields of `Owned`s, made by `into_ref`.
        Some(how) if core::ptr::fn_addr_eq(how, free as extern "C" fn(*mut TypeDesc)) => unsafe {
            (*old.as_ptr().cast::<Owned>()).store.clone()
        },
        _ => Arc::new(Store {
            runs: old.runs().to_vec(),
            nest: old.nest().to_vec(),
            top: old.top() as u64,
            places: old.places().to_vec(),
        }),
    };
    let shape = Shape {
        packed: old.packed,
        lb,
        extent,
        true_lb: old.true_lb,
        true_extent: old.true_extent,
        base: old.base,
        elements: old.elements,
        store,
    };
    shape.into_ref(flags | old.flags & (flag::BOUNDED | flag::ALIGN_MASK))
}

/// The fields of a descriptor, before it is one.
struct Shape {
    packed: u64,
    lb: i64,
    extent: i64,
    true_lb: i64,
    true_extent: i64,
    base: Base,
    elements: u64,
    store: Arc<Store>,
}

/// A descriptor and what it points to. The descriptor stands first, so its address is the owner's.
#[repr(C)]
struct Owned {
    desc: TypeDesc,
    /// Never changed after `desc` was made to point into it.
    store: Arc<Store>,
}

extern "C" fn free(desc: *mut TypeDesc) {
    // SAFETY: only set in descriptors that `into_ref` made as the first field of a boxed `Owned`, and
    // called once, by the last reference.
    drop(unsafe { Box::from_raw(desc.cast::<Owned>()) });
}

impl Shape {
    fn into_ref(self, flags: u32) -> TypeRef {
        let contiguous = match self.store.runs[..] {
            // No bytes are a block of no bytes.
            [] => true,
            [run] => run.count == 1 && run.disp == 0 && self.extent == run.len as i64,
            _ => false,
        };
        let (runs, nest, places) = (&self.store.runs, &self.store.nest, &self.store.places);
        let desc = TypeDesc {
            size: core::mem::size_of::<TypeDesc>() as u32,
            flags: flags | if contiguous { flag::CONTIGUOUS } else { 0 },
            packed: self.packed,
            lb: self.lb,
            extent: self.extent,
            true_lb: self.true_lb,
            true_extent: self.true_extent,
            base: self.base,
            refs: AtomicU32::new(1),
            elements: self.elements,
            runs: SliceRef { ptr: runs.as_ptr(), len: runs.len() },
            free: Some(free),
            nest: SliceRef { ptr: nest.as_ptr(), len: nest.len() },
            top: self.store.top,
            places: SliceRef { ptr: places.as_ptr(), len: places.len() },
        };
        let owned = Box::into_raw(Box::new(Owned { desc, store: self.store }));
        // SAFETY: born with one reference, which is the one we give. The pointer is to the whole `Owned`.
        unsafe { TypeRef::adopt(owned.cast()) }
    }
}

/// A type under construction.
struct Draft {
    items: Items,
    packed: u64,
    elements: u64,
    base: Option<Base>,
    align: u64,
    /// First byte of the data and the first one behind it, if there is any.
    data: Option<(i64, i64)>,
    /// The same of the elements of what was added, with what alignment put behind them.
    natural: Option<(i64, i64)>,
    /// Lower and upper bounds that the user set in what was added.
    bounds: Option<(i64, i64)>,
    /// The items of the type added last.
    last: Option<(*const TypeDesc, Vec<Item>)>,
}

impl Draft {
    fn new() -> Draft {
        Draft {
            items: Items::default(),
            packed: 0,
            elements: 0,
            align: 1,
            base: None,
            data: None,
            natural: None,
            bounds: None,
            last: None,
        }
    }

    /// `count` blocks, `stride` bytes apart, of `blocklen` elements of `old`, the first at `disp`.
    fn add(
        &mut self,
        disp: i64,
        count: u64,
        blocklen: u64,
        stride: i64,
        old: &TypeDesc,
    ) -> Result<(), Status> {
        let number = count.checked_mul(blocklen).ok_or(Status::BAD_PARAM)?;
        if number == 0 {
            return Ok(());
        }
        let within = |total: u64, each: u64| {
            let sum = number.checked_mul(each).and_then(|n| n.checked_add(total));
            sum.filter(|n| *n <= i64::MAX as u64).ok_or(Status::BAD_PARAM)
        };
        self.packed = within(self.packed, old.packed)?;
        self.elements = within(self.elements, old.elements)?;
        if old.packed > 0 {
            self.base = Some(match self.base {
                Some(base) if base != old.base => Base::MIXED,
                _ => old.base,
            });
        }
        self.widen(disp, corner(count, stride)?, corner(blocklen, old.extent)?, old)?;
        if let Some((at, len)) = old.one_block(blocklen) {
            let run = crate::desc::Run { disp: disp.wrapping_add(at), len, count, stride };
            return self.items.run(run);
        }
        let same = |(desc, _): &(*const TypeDesc, _)| core::ptr::eq(*desc, old);
        let (_, items) = match self.last.take().filter(same) {
            Some(known) => self.last.insert(known),
            None => self.last.insert((old, items_of(old))),
        };
        if blocklen == 1 {
            return self.items.repeat(disp, items, count, stride);
        }
        let mut block = Items::default();
        block.repeat(0, items, blocklen, old.extent)?;
        self.items.repeat(disp, &block.finish()?, count, stride)
    }

    /// Bounds over all the copies of `old`: they are reached where both steps are at an end.
    fn widen(&mut self, disp: i64, block: i64, inside: i64, old: &TypeDesc) -> Result<(), Status> {
        let wide = |steps: i128, bound: i64| {
            i64::try_from(disp as i128 + steps + bound as i128).map_err(|_| Status::BAD_PARAM)
        };
        let grown = |bounds: Option<(i64, i64)>, (low, high): (i64, i64)| {
            let (l, h) = bounds.unwrap_or((low, high));
            Some((l.min(low), h.max(high)))
        };
        let first = block.min(0) as i128 + inside.min(0) as i128;
        let last = block.max(0) as i128 + inside.max(0) as i128;
        let end = |start: i64, len: i64| start.checked_add(len).ok_or(Status::BAD_PARAM);
        let both = |low, high| Ok::<_, Status>((wide(first, low)?, wide(last, high)?));
        let bounds = both(old.lb, end(old.lb, old.extent)?)?;
        if old.flags & flag::BOUNDED != 0 {
            self.bounds = grown(self.bounds, bounds);
        }
        if old.packed > 0 {
            self.natural = grown(self.natural, bounds);
            self.data = grown(self.data, both(old.true_lb, end(old.true_lb, old.true_extent)?)?);
            self.align = self.align.max(old.align());
        }
        Ok(())
    }

    fn finish(self) -> Result<TypeRef, Status> {
        let length = |(low, high): (i64, i64)| high.checked_sub(low).ok_or(Status::BAD_PARAM);
        let data = self.data.unwrap_or((0, 0));
        let true_extent = length(data)?;
        // Without bounds of the user's the element ends with its data, and with what the alignment of its
        // basic types needs for the next one.
        let (lb, extent, flags) = match self.bounds {
            Some(bounds) => (bounds.0, length(bounds)?, flag::BOUNDED),
            None => {
                let natural = self.natural.unwrap_or((0, 0));
                let extent = (length(natural)? as u64).checked_next_multiple_of(self.align);
                let extent = extent.and_then(|n| i64::try_from(n).ok()).ok_or(Status::BAD_PARAM)?;
                natural.0.checked_add(extent).ok_or(Status::BAD_PARAM)?;
                (natural.0, extent, 0)
            }
        };
        let shape = Shape {
            packed: self.packed,
            lb,
            extent,
            true_lb: data.0,
            true_extent,
            base: self.base.unwrap_or(Base::MIXED),
            elements: self.elements,
            store: Arc::new(Store::of(&self.items.finish()?)?),
        };
        Ok(shape.into_ref(flags | flag::of_align(self.align)))
    }
}

/// From the first to the last of `count` things `step` apart.
fn corner(count: u64, step: i64) -> Result<i64, Status> {
    i64::try_from((count as i128 - 1) * step as i128).map_err(|_| Status::BAD_PARAM)
}
