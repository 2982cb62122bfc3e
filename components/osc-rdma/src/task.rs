//! An accumulate that is ready to be carried out.

use crate::ask::Deed;
use crate::elements::Update;
use crate::layout::Block;
use crate::local::Local;
use crate::order::Touch;
use crate::peer::Met;
use crate::piece::Amo;
use crate::spot::RemoteTarget;
use core::marker::PhantomData;
use core::ptr::{null, null_mut};
use oxmpi_btl::LIST_ENTRY;
use oxmpi_datatype::kernel::op;
use oxmpi_osc_support::{Entries, Entry, RemoteRegistration, Sink, Source};

/// An accumulate, ready to be carried out.
pub struct Task<'a> {
    pub peer: Met<'a>,
    pub update: Update,
    pub blocks: Vec<Block>,
    /// Packed bytes of all.
    pub len: u64,
    /// Packed elements of the origin's; none for MPI_NO_OP.
    pub input: Option<Packed<'a>>,
    pub result: Option<Sink<'a>>,
    /// A request stands for it.
    pub wanted: bool,
}

/// Packed elements: the program's own, or packed ones.
pub struct Packed<'a>(PackedAt<'a>);

enum PackedAt<'a> {
    Theirs { at: *const u8, len: u64, lent: PhantomData<&'a [u8]> },
    Ours(Vec<u8>),
}

impl<'a> Packed<'a> {
    pub fn of(source: &Source<'a>) -> Packed<'a> {
        Packed(match source.one_block() {
            Some(at) => PackedAt::Theirs { at, len: source.bytes(), lent: PhantomData },
            None => PackedAt::Ours(source.packed()),
        })
    }

    /// Some of the bytes. Panics if there are not so many.
    pub fn bytes(&self, packed: u64, len: u64) -> &[u8] {
        match &self.0 {
            PackedAt::Theirs { at, len: all, .. } => {
                assert!(packed.checked_add(len).is_some_and(|end| end <= *all), "as many as the target's");
                // SAFETY: a source's data, which can be read, and stays as it is.
                unsafe { core::slice::from_raw_parts(at.add(packed as usize), len as usize) }
            }
            PackedAt::Ours(bytes) => &bytes[packed as usize..(packed + len) as usize],
        }
    }
}

/// Old elements on their way to the program.
pub struct OldElements<'a>(OldAt<'a>);

enum OldAt<'a> {
    Nobody,
    Theirs { at: *mut u8, len: u64, lent: PhantomData<&'a mut [u8]> },
    Ours(Vec<u8>, Sink<'a>),
}

impl<'a> OldElements<'a> {
    /// For the first `len` packed bytes of a result.
    pub fn of(result: Option<Sink<'a>>, len: u64) -> OldElements<'a> {
        OldElements(match result {
            None => OldAt::Nobody,
            Some(result) => match result.one_block() {
                Some(at) => OldAt::Theirs { at, len: len.min(result.bytes()), lent: PhantomData },
                None => OldAt::Ours(vec![0; len as usize], result),
            },
        })
    }

    pub fn are_wanted(&self) -> bool {
        !matches!(self.0, OldAt::Nobody)
    }

    /// Where some of them go; null: nobody wants them. Panics if there are not so many.
    fn at(&mut self, packed: u64, len: u64) -> *mut u8 {
        match &mut self.0 {
            OldAt::Nobody => null_mut(),
            OldAt::Theirs { at, len: all, .. } => {
                assert!(packed.checked_add(len).is_some_and(|end| end <= *all), "as many as the target's");
                at.wrapping_add(packed as usize)
            }
            OldAt::Ours(bytes, _) => bytes[packed as usize..(packed + len) as usize].as_mut_ptr(),
        }
    }

    /// Gives some of them to whoever wants them.
    pub fn give(&mut self, packed: u64, old: &[u8]) {
        let to = self.at(packed, old.len() as u64);
        if !to.is_null() {
            // SAFETY: a sink's data, which can be written, or bytes of our own, of which there are so many.
            unsafe { core::ptr::copy(old.as_ptr(), to, old.len()) };
        }
    }

    /// All are there.
    pub fn end(self) {
        if let OldAt::Ours(bytes, result) = self.0 {
            result.unpack(0, &bytes);
        }
    }
}

impl Update {
    /// Whether the elements of a block are updated one by one.
    pub fn has_atomics_in(&self, block: &Block) -> bool {
        self.is_atomic_at(block.at) && block.len.is_multiple_of(self.width)
    }
}

/// So many elements are updated faster by atomics under the lock than by reading and writing.
pub const FEW: u64 = 8;

impl Task<'_> {
    /// Few elements, all of which atomics can update.
    pub fn is_few(&self) -> bool {
        let placed = self.blocks.iter().all(|block| self.update.has_atomics_in(block));
        placed && self.len <= FEW * self.update.width
    }

    /// The transport's atomic, if all of the operation is few elements that it can update.
    pub fn few_atomics(&self, there: Option<&RemoteTarget<'_>>) -> Option<Amo> {
        let ((amo, kind), link) = (self.update.amo()?, there?.route.link());
        (self.is_few() && !link.copies && link.has_atomic(amo.op, kind)).then_some(amo)
    }

    /// The operation as entries of lists, with its results in local memory; `zeros`: as many as a list has bytes, where nothing is put in.
    pub fn entries<'p>(
        &'p self,
        amo: Amo,
        registrations: &[&'p RemoteRegistration],
        limit: u64,
        zeros: &'p [u8],
        results: Option<&Local>,
    ) -> Entries<'p> {
        let most = (limit - LIST_ENTRY) & !7;
        let mut all = Entries::new(registrations.len(), results.map(Local::results));
        for (block, registration) in self.blocks.iter().zip(registrations) {
            for at in (0..block.len).step_by(most as usize) {
                let (packed, len) = (block.packed + at, most.min(block.len - at));
                let data = self.input.as_ref().map_or(zeros, |input| input.bytes(packed, len));
                let entry = Entry::new(amo.op, block.at + at, registration, &data[..len as usize]);
                all.push(Entry { flags: amo.flags, result: results.map(|_| packed), ..entry });
            }
        }
        all
    }

    /// A byte is read as it was at one time, whoever writes it.
    pub fn only_reads_bytes(&self) -> bool {
        self.update.code == op::NO_OP && self.update.width == 1
    }

    /// Addresses and lengths of its blocks.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> {
        self.blocks.iter().map(|block| (block.at, block.len))
    }

    /// As it is asked of a target's listener.
    pub fn deed(&self) -> Deed {
        Deed::Update { code: self.update.code, base: self.update.base.0 }
    }

    pub fn touch(&self) -> Touch {
        let (reads, writes) = (self.result.is_some(), self.update.code != op::NO_OP);
        let kind = if reads { Touch::ALONE } else { self.update.kind() };
        Touch { reads, writes, kind, ..Touch::BOTH }.at(self.places())
    }

    pub fn operand(&self, packed: u64) -> u64 {
        self.input.as_ref().map_or(0, |input| element(input.bytes(packed, self.update.width)))
    }

    /// Updates a block's elements by the processor.
    ///
    /// # Safety
    /// The block is in mapped memory, where everybody updates its elements by atomics ([`Update::has_atomics_in`]).
    pub unsafe fn apply_here(&self, block: &Block, old: &mut OldElements<'_>) {
        let (packed, len) = (block.packed, block.len);
        let input = self.input.as_ref().map_or(null(), |input| input.bytes(packed, len).as_ptr());
        let at = core::ptr::with_exposed_provenance_mut(block.at as usize);
        // SAFETY: the caller's promise; operands and results are as many, or null.
        unsafe { self.update.apply(at, len / self.update.width, input, old.at(packed, len)) };
    }
}

/// Elements of up to eight bytes as a number.
pub fn element(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(word)
}
