//! An accumulate that is ready to be carried out.

use crate::elements::Update;
use crate::issue::Amo;
use crate::layout::Block;
use crate::local::Local;
use crate::order::Touch;
use crate::peer::Peer;
use crate::spot::RemoteTarget;
use core::ptr::{null, null_mut};
use oxmpi_btl::{LIST_ENTRY, ListEntry, RegHandle};
use oxmpi_datatype::kernel::op;
use oxmpi_osc_support::Elements;

/// An accumulate, ready to be carried out.
pub struct Task<'a> {
    pub peer: &'a Peer,
    pub update: Update,
    pub blocks: Vec<Block>,
    /// Packed bytes of all.
    pub len: u64,
    /// Packed elements of the origin's; none for MPI_NO_OP.
    pub input: Option<Packed>,
    pub result: Option<Elements<'a>>,
    /// A request stands for it.
    pub wanted: bool,
}

/// Packed elements: the program's own, or packed ones.
pub enum Packed {
    Theirs(*const u8),
    Ours(Vec<u8>),
}

impl Packed {
    pub fn at(&self, packed: u64) -> *const u8 {
        match self {
            Packed::Theirs(at) => at.wrapping_add(packed as usize),
            Packed::Ours(bytes) => bytes.as_ptr().wrapping_add(packed as usize),
        }
    }
}

/// Old elements on their way to the program.
pub enum OldElements {
    Nobody,
    Theirs(*mut u8),
    Ours(Vec<u8>),
}

impl OldElements {
    pub fn at(&mut self, packed: u64) -> *mut u8 {
        match self {
            OldElements::Nobody => null_mut(),
            OldElements::Theirs(at) => at.wrapping_add(packed as usize),
            OldElements::Ours(bytes) => bytes.as_mut_ptr().wrapping_add(packed as usize),
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
        let ((amo, kind), link) = (self.update.amo()?, there?.link);
        (self.is_few() && !link.copies && link.has_atomic(amo.op, kind)).then_some(amo)
    }

    /// The operation as entries of lists, with its results in local memory; `zeros`: as many as a list has bytes, where nothing is put in.
    pub fn entries(
        &self,
        amo: Amo,
        handles: &[*const RegHandle],
        limit: u64,
        zeros: &[u8],
        results: Option<&Local>,
    ) -> Vec<ListEntry> {
        let (mut all, most) = (Vec::with_capacity(handles.len()), (limit - LIST_ENTRY) & !7);
        for (block, handle) in self.blocks.iter().zip(handles) {
            for at in (0..block.len).step_by(most as usize) {
                let packed = block.packed + at;
                all.push(ListEntry {
                    remote: block.at + at,
                    remote_handle: *handle,
                    len: most.min(block.len - at),
                    data: self.input.as_ref().map_or(zeros.as_ptr(), |input| input.at(packed)),
                    result: results.map_or(null_mut(), |local| local.at().wrapping_add(packed as usize)),
                    result_handle: results.map_or(null(), Local::handle),
                    op: amo.op,
                    flags: amo.flags,
                    compare: 0,
                });
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

    pub fn touch(&self) -> Touch {
        let (reads, writes) = (self.result.is_some(), self.update.code != op::NO_OP);
        let kind = if reads { Touch::ALONE } else { self.update.kind() };
        Touch { reads, writes, kind }
    }

    pub fn operand(&self, packed: u64) -> u64 {
        let width = self.update.width as usize;
        // SAFETY: the origin has as many packed elements as the target.
        self.input
            .as_ref()
            .map_or(0, |input| element(unsafe { core::slice::from_raw_parts(input.at(packed), width) }))
    }

    pub fn apply_here(&self, block: &Block, old: &mut OldElements) {
        let input = self.input.as_ref().map_or(null(), |input| input.at(block.packed));
        let at = core::ptr::with_exposed_provenance_mut(block.at as usize);
        // SAFETY: mapped memory of the window in its natural place; operands and results have as many packed elements.
        unsafe { self.update.apply(at, block.len / self.update.width, input, old.at(block.packed)) };
    }
}

/// Elements of up to eight bytes as a number.
pub fn element(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(word)
}
