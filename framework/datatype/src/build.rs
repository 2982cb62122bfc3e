//! Constructors of derived types.
//!
//! **Normal form.** A layout is a sequence of blocks in the order of the type map. Blocks that touch
//! (one ends where the next begins) are one block; then, from the front, blocks of equal length at
//! equal distances form a [`Run`], as long as possible. The form is a function of the sequence alone,
//! so equal layouts have equal runs whichever constructors made them, and `contiguous(4, MPI_INT)`,
//! a vector whose blocks touch and four times MPI_INT in a struct are one block each.
//!
//! [`Runs`] computes it without looking at every block: a run of many blocks is pushed as four
//! single ones, after which the rest can only continue what the fourth began. The last block stays
//! outside (`pending`) until a next one is known not to touch it.
//!
//! **Size.** A run has one level of stride. A deeper nest (a vector of vectors whose strides do not
//! continue one another) is written out, one run for each inner one, up to [`MAX_RUNS`]; beyond
//! that the constructors answer NOT_SUPPORTED. Elements of a message are not written out: any count
//! of a type costs nothing here.
//!
//! **Ownership.** A descriptor made here is counted ([`TypeRef`]), owns its runs, and refers to no
//! other: a type may be freed while those built from it live on (MPI 5.0 §5.1.9).

use crate::desc::{Base, Run, TypeDesc, TypeRef, flag};
use oxmpi_mca::sync::AtomicU32;
use oxmpi_mca::{SliceRef, Status};

/// Most runs of one type: 32 MiB of description.
pub const MAX_RUNS: usize = 1 << 20;

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
/// (MPI 5.0 §5.1.2). No padding for alignment is added; that is [`resized`]'s.
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
    Ok(copy(old, lb, extent))
}

/// A descriptor of its own with the same meaning (MPI_Type_dup).
pub fn dup(old: &TypeRef) -> TypeRef {
    copy(old, old.lb, old.extent)
}

fn copy(old: &TypeDesc, lb: i64, extent: i64) -> TypeRef {
    Shape {
        packed: old.packed,
        lb,
        extent,
        true_lb: old.true_lb,
        true_extent: old.true_extent,
        base: old.base,
        elements: old.elements,
        runs: old.runs().to_vec(),
    }
    .into_ref(old.flags & flag::COMMITTED)
}

/// What a descriptor says, before it is one.
struct Shape {
    packed: u64,
    lb: i64,
    extent: i64,
    true_lb: i64,
    true_extent: i64,
    base: Base,
    elements: u64,
    runs: Vec<Run>,
}

/// A descriptor and what it points to. The descriptor stands first, so its address is the owner's.
#[repr(C)]
struct Owned {
    desc: TypeDesc,
    /// Never touched after `desc.runs` was taken of it.
    _runs: Vec<Run>,
}

extern "C" fn free(desc: *mut TypeDesc) {
    // SAFETY: only set in descriptors that `into_ref` made as the first field of a boxed `Owned`, and
    // called once, by the last reference.
    drop(unsafe { Box::from_raw(desc.cast::<Owned>()) });
}

impl Shape {
    fn into_ref(self, flags: u32) -> TypeRef {
        let contiguous = match self.runs[..] {
            // No bytes are a block of no bytes.
            [] => true,
            [run] => run.count == 1 && run.disp == 0 && self.extent == run.len as i64,
            _ => false,
        };
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
            runs: SliceRef { ptr: self.runs.as_ptr(), len: self.runs.len() },
            free: Some(free),
        };
        let owned = Box::into_raw(Box::new(Owned { desc, _runs: self.runs }));
        // SAFETY: born with one reference, which is the one we give.
        unsafe { TypeRef::adopt(owned.cast()) }
    }
}

/// A type under construction.
struct Draft {
    runs: Runs,
    packed: u64,
    elements: u64,
    base: Option<Base>,
    /// Lower and upper bound of what was added, if anything was.
    bounds: Option<(i64, i64)>,
}

impl Draft {
    fn new() -> Draft {
        Draft { runs: Runs::default(), packed: 0, elements: 0, base: None, bounds: None }
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
        let mut block = Runs::default();
        block.repeat(0, old.runs(), blocklen, old.extent)?;
        self.runs.repeat(disp, &block.finish()?, count, stride)
    }

    /// Bounds over all the copies of `old`: they are reached where both steps are at an end.
    fn widen(&mut self, disp: i64, block: i64, inside: i64, old: &TypeDesc) -> Result<(), Status> {
        let wide = |steps: i128, bound: i64| {
            i64::try_from(disp as i128 + steps + bound as i128).map_err(|_| Status::BAD_PARAM)
        };
        let first = block.min(0) as i128 + inside.min(0) as i128;
        let last = block.max(0) as i128 + inside.max(0) as i128;
        let upper = old.lb.checked_add(old.extent).ok_or(Status::BAD_PARAM)?;
        // The data may stick out of the bounds, and its addresses must be numbers too.
        wide(first, old.true_lb)?;
        wide(last, old.true_lb.saturating_add(old.true_extent))?;
        let (lb, ub) = (wide(first, old.lb)?, wide(last, upper)?);
        let (low, high) = self.bounds.unwrap_or((lb, ub));
        self.bounds = Some((low.min(lb), high.max(ub)));
        Ok(())
    }

    fn finish(self) -> Result<TypeRef, Status> {
        let runs = self.runs.finish()?;
        let (lb, ub) = self.bounds.unwrap_or((0, 0));
        let ends = |r: &Run| {
            let last = last_block(r);
            (r.disp.min(last), r.disp.max(last) + r.len as i64)
        };
        let low = runs.iter().map(|r| ends(r).0).min().unwrap_or(0);
        let high = runs.iter().map(|r| ends(r).1).max().unwrap_or(0);
        let shape = Shape {
            packed: self.packed,
            lb,
            extent: ub.checked_sub(lb).ok_or(Status::BAD_PARAM)?,
            true_lb: low,
            true_extent: high.checked_sub(low).ok_or(Status::BAD_PARAM)?,
            base: self.base.unwrap_or(Base::MIXED),
            elements: self.elements,
            runs,
        };
        Ok(shape.into_ref(0))
    }
}

/// From the first to the last of `count` things `step` apart.
fn corner(count: u64, step: i64) -> Result<i64, Status> {
    i64::try_from((count as i128 - 1) * step as i128).map_err(|_| Status::BAD_PARAM)
}

/// Where the last block of a run begins. Sums of displacements wrap on their way; the bounds of all
/// copies were found to be numbers before ([`Draft::widen`]), so their results do not.
fn last_block(run: &Run) -> i64 {
    run.disp.wrapping_add((run.count as i64 - 1).wrapping_mul(run.stride))
}

/// A sequence of blocks in normal form.
#[derive(Default)]
struct Runs {
    done: Vec<Run>,
    /// The last block: start and length.
    pending: Option<(i64, u64)>,
}

impl Runs {
    /// `count` copies of `runs` (in normal form), `step` apart, the first at `disp`.
    fn repeat(&mut self, disp: i64, runs: &[Run], count: u64, step: i64) -> Result<(), Status> {
        if let [one] = *runs {
            if one.count == 1 {
                return self.run(Run {
                    disp: disp.wrapping_add(one.disp),
                    len: one.len,
                    count,
                    stride: step,
                });
            }
            // The copies continue one another.
            let next = one.stride.checked_mul(one.count as i64);
            if count > 1 && next == Some(step) {
                return self.run(Run { disp: disp.wrapping_add(one.disp), count: one.count * count, ..one });
            }
        }
        if runs.is_empty() {
            return Ok(());
        }
        let mut copy = 0;
        while copy < count {
            let before = (self.done.len(), self.done.last().copied(), self.pending);
            for run in runs {
                let disp = disp.wrapping_add(step.wrapping_mul(copy as i64)).wrapping_add(run.disp);
                self.run(Run { disp, ..*run })?;
            }
            copy += 1;
            // Where a copy only made the last run longer and left us as it found us, one step further
            // on, all others will: what a copy does depends on no more than this.
            if let (len, Some(was), Some((start, pending))) = before
                && len == self.done.len()
                && let Some(last) = self.done.last_mut()
                && self.pending == Some((start.wrapping_add(step), pending))
            {
                let more = last.count - was.count;
                if last.stride == was.stride && last.stride.checked_mul(more as i64) == Some(step) {
                    let rest = count - copy;
                    last.count += rest * more;
                    self.pending = Some((start.wrapping_add(step.wrapping_mul(rest as i64 + 1)), pending));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, run: Run) -> Result<(), Status> {
        if run.count > 1 && run.stride == run.len as i64 {
            return self.block(run.disp, run.len * run.count);
        }
        for i in 0..run.count.min(4) as i64 {
            self.block(run.disp.wrapping_add(run.stride.wrapping_mul(i)), run.len)?;
        }
        if run.count > 4 {
            // Of the four at least the last three are one run by now or begin one.
            self.flush()?;
            let last = self.done.last_mut().ok_or(Status::INTERNAL)?;
            debug_assert_eq!((last.len, last.stride), (run.len, run.stride));
            last.count += run.count - 5;
            self.pending = Some((last_block(&run), run.len));
        }
        Ok(())
    }

    fn block(&mut self, disp: i64, len: u64) -> Result<(), Status> {
        if let Some((start, before)) = &mut self.pending
            && start.wrapping_add(*before as i64) == disp
        {
            *before += len;
            return Ok(());
        }
        self.flush()?;
        self.pending = Some((disp, len));
        Ok(())
    }

    /// Puts the pending block behind the others.
    fn flush(&mut self) -> Result<(), Status> {
        let Some((disp, len)) = self.pending.take() else { return Ok(()) };
        if let Some(last) = self.done.last_mut().filter(|last| last.len == len) {
            if last.count == 1 {
                last.stride = disp.wrapping_sub(last.disp);
                last.count = 2;
                return Ok(());
            }
            if last_block(last).wrapping_add(last.stride) == disp {
                last.count += 1;
                return Ok(());
            }
        }
        if self.done.len() == MAX_RUNS {
            return Err(Status::NOT_SUPPORTED);
        }
        self.done.push(Run { disp, len, count: 1, stride: len as i64 });
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Run>, Status> {
        self.flush()?;
        self.done.shrink_to_fit();
        Ok(self.done)
    }
}
