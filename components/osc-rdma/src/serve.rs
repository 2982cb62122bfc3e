//! The listener at a target: carries out on this rank's memory what origins ask by messages (`ask.rs`), as they themselves would on mapped memory.
//!
//! **One rule for each element**, as everywhere in this component (`elements.rs`, `claim.rs`): an element of four or eight bytes in its natural place is updated by
//! the processor's atomics, unless all accumulates of the window go under locks; any other while this rank's `ACCUMULATE` word is had alone. So origins that
//! have the memory mapped, those that reach it by a transport's own verbs, this rank itself and those that ask are atomic to each other.
//!
//! **It never waits.** Where somebody has the word, what needs it is refused with NOT_AVAILABLE, nothing is done, and the origin asks again. Updates by atomics
//! alone are never refused so.
//!
//! It runs under the service lock, in whichever thread serves. Nothing of what it was sent is believed: blocks lie in the window's memory or in regions that
//! are attached, lengths fit each other, and the operation is one that the type has.

use crate::ask::{self, Ask, Deed};
use crate::elements::{Update, swap_if};
use crate::layout::Block;
use crate::mapped_targets::{read_here, write_here};
use crate::served::Served;
use crate::task::element;
use core::ptr::{null, null_mut};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;
use oxmpi_osc_support::Carrier;

impl Served {
    /// Carries out what is asked; the answer has as many bytes as that has, or nobody wants one.
    ///
    /// # Safety
    /// The caller has the service lock.
    unsafe fn carry_out_ask(&self, asked: &Ask<'_>, answer: &mut [u8]) -> Result<(), Status> {
        if !self.has(&asked.blocks) {
            return Err(Status::RMA_RANGE);
        }
        if !answer.is_empty() && answer.len() as u64 != asked.len() {
            return Err(Status::BAD_PARAM);
        }
        let blocks: Vec<&Block> = asked.blocks.iter().collect();
        match asked.deed {
            Deed::Read if asked.operands.is_empty() && !answer.is_empty() => {
                // SAFETY: memory that may be reached, which stays while the service lock is had.
                unsafe { read_here(&blocks, answer) };
                Ok(())
            }
            Deed::Read => Err(Status::BAD_PARAM),
            // SAFETY: the blocks were looked for.
            Deed::Swap { base } => unsafe { self.swap(Base(base), &blocks, asked.operands, answer) },
            Deed::Update { code, base } => {
                let update = Update::new(code, Base(base))?;
                let operands = if code == op::NO_OP { 0 } else { asked.len() };
                let fits =
                    asked.len().is_multiple_of(update.width) && asked.operands.len() as u64 == operands;
                if !fits || !update.is_there() {
                    return Err(Status::BAD_PARAM);
                }
                // SAFETY: the blocks were looked for; operands and results are as many as their elements.
                unsafe { self.update(&update, &blocks, asked.operands, answer) }
            }
        }
    }

    /// # Safety
    /// The blocks are memory that may be reached; operands, if any, and the answer, if any, are as long as all of them.
    unsafe fn update(
        &self,
        update: &Update,
        blocks: &[&Block],
        operands: &[u8],
        answer: &mut [u8],
    ) -> Result<(), Status> {
        let one_by_one = |block: &&Block| !self.under_lock && update.has_atomics_in(block);
        let (single, locked): (Vec<&Block>, Vec<&Block>) = blocks.iter().partition(|block| one_by_one(block));
        let reads_bytes = update.code == op::NO_OP && update.width == 1 && !self.coarse;
        let _alone = if locked.is_empty() || reads_bytes { None } else { Some(self.alone()?) };
        for block in single {
            let at = core::ptr::with_exposed_provenance_mut(block.at as usize);
            let packed = block.packed as usize;
            let input = operands.get(packed..).filter(|all| !all.is_empty()).map_or(null(), <[u8]>::as_ptr);
            let old = answer.get_mut(packed..).filter(|all| !all.is_empty());
            let old = old.map_or(null_mut(), <[u8]>::as_mut_ptr);
            // SAFETY: the caller's promise; the block's elements are in their natural places, where everybody updates them by atomics.
            unsafe { update.apply(at, block.len / update.width, input, old) };
        }
        if locked.is_empty() {
            return Ok(());
        }
        // SAFETY: the caller's promise, and nobody else updates these.
        unsafe { combine(update, &locked, operands, answer) }
    }

    /// # Safety
    /// The blocks are memory that may be reached.
    unsafe fn swap(
        &self,
        base: Base,
        blocks: &[&Block],
        operands: &[u8],
        answer: &mut [u8],
    ) -> Result<(), Status> {
        let update = Update::new(op::REPLACE, base)?;
        let width = update.width as usize;
        let ([block], true) = (blocks, answer.len() == width && operands.len() == 2 * width) else {
            return Err(Status::BAD_PARAM);
        };
        let (compare, new) = operands.split_at(width);
        if !self.under_lock && update.is_atomic_at(block.at) {
            let at = core::ptr::with_exposed_provenance_mut(block.at as usize);
            // SAFETY: the caller's promise; the block is as long as the answer, one element in its natural place.
            let old = unsafe { swap_if(at, width, element(compare), element(new)) };
            answer.copy_from_slice(&old.to_ne_bytes()[..width]);
            return Ok(());
        }
        let _alone = self.alone()?;
        // SAFETY: the caller's promise, and nobody else updates it; the block is as long as the answer and the new element.
        unsafe {
            read_here(blocks, answer);
            if *answer == *compare {
                write_here(blocks, new);
            }
        }
        Ok(())
    }
}

/// Reads, combines and writes blocks, which together are whole elements.
///
/// # Safety
/// As [`Served::update`], and nobody else updates them meanwhile.
unsafe fn combine(
    update: &Update,
    blocks: &[&Block],
    operands: &[u8],
    answer: &mut [u8],
) -> Result<(), Status> {
    let len: u64 = blocks.iter().map(|block| block.len).sum();
    if !len.is_multiple_of(update.width) {
        return Err(Status::BAD_PARAM);
    }
    let mut now = vec![0; len as usize];
    // SAFETY: the caller's promise.
    unsafe { read_here(blocks, &mut now) };
    let (mut at, mut input) = (0, Vec::with_capacity(now.len()));
    for block in blocks {
        let (packed, len) = (block.packed as usize, block.len as usize);
        if !answer.is_empty() {
            answer[packed..packed + len].copy_from_slice(&now[at..at + len]);
        }
        if !operands.is_empty() {
            input.extend_from_slice(&operands[packed..packed + len]);
        }
        at += len;
    }
    if operands.is_empty() {
        return Ok(());
    }
    // SAFETY: both have so many packed elements.
    unsafe { update.combine(input.as_ptr(), now.as_mut_ptr(), len / update.width) }.ok()?;
    // SAFETY: the caller's promise.
    unsafe { write_here(blocks, &now) };
    Ok(())
}

impl Carrier for Served {
    unsafe fn carry_out(&self, question: &[u8], answer: &mut [u8]) -> Result<(), Status> {
        // Bytes that are sent or answered; MPI_NO_OP without an answer does nothing.
        let most = question.len().max(answer.len()) as u64;
        let asked = ask::read(question, most).ok_or(Status::BAD_PARAM)?;
        // SAFETY: the caller's promise.
        unsafe { self.carry_out_ask(&asked, answer) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::wire::ALONE;
    use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};

    /// A window of its own, and what its listener answers to anybody.
    struct Window {
        word: Box<AtomicU64>,
        memory: Box<[u64; 8]>,
        served: Served,
    }

    impl Window {
        fn new(under_lock: bool, coarse: bool) -> Window {
            let (word, mut memory) = (Box::new(AtomicU64::new(0)), Box::new([10u64; 8]));
            // SAFETY: both stay in their boxes as long as this.
            let served = unsafe {
                let served = Served::new(&raw const *word, under_lock, coarse);
                served.add(memory.as_mut_ptr().expose_provenance() as u64, 64);
                served
            };
            Window { word, memory, served }
        }

        fn at(&self, offset: u64) -> u64 {
            (self.memory.as_ptr().addr() as u64).wrapping_add(offset)
        }

        /// Places by offset and length.
        fn ask(
            &self,
            deed: Deed,
            places: &[(u64, u64)],
            operands: &[u8],
            answer: usize,
        ) -> (Status, Vec<u8>) {
            let mut packed = 0;
            let block = |&(at, len): &(u64, u64)| {
                packed += len;
                Block { at: self.at(at), len, packed: packed - len }
            };
            let mut data = Vec::new();
            ask::write(deed, &places.iter().map(block).collect::<Vec<_>>(), &mut data);
            data.extend_from_slice(operands);
            self.raw(&data, answer)
        }

        fn raw(&self, data: &[u8], len: usize) -> (Status, Vec<u8>) {
            let mut answer = vec![0; len];
            // SAFETY: the test's memory, and one thread.
            let done = unsafe { self.served.carry_out(data, &mut answer) };
            (done.err().unwrap_or(Status::OK), answer)
        }

        fn now(&self) -> [u64; 8] {
            // SAFETY: the listener writes behind our back.
            unsafe { self.memory.as_ptr().cast::<[u64; 8]>().read_volatile() }
        }
    }

    const fn update(code: u32, base: Base) -> Deed {
        Deed::Update { code, base: base.0 }
    }

    fn bytes<const N: usize>(numbers: [u64; N]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
    }

    #[test]
    fn elements_of_any_layout_are_combined_and_their_old_values_told() {
        for (under_lock, coarse) in [(false, false), (true, false), (true, true)] {
            let window = Window::new(under_lock, coarse);
            let places = [(0, 8), (16, 16)];
            let (status, old) = window.ask(update(op::PROD, Base::U64), &places, &bytes([2, 3, 4]), 24);
            assert_eq!((status, old), (Status::OK, bytes([10; 3])));
            assert_eq!(window.now(), [20, 10, 30, 40, 10, 10, 10, 10]);
            let (status, old) = window.ask(update(op::NO_OP, Base::U64), &places, &[], 24);
            assert_eq!((status, old), (Status::OK, bytes([20, 30, 40])));
            let shorts: Vec<u8> = [1u16, 2, 3].iter().flat_map(|n| n.to_ne_bytes()).collect();
            // One of them in two blocks.
            let (status, _) =
                window.ask(update(op::SUM, Base::U16), &[(32, 2), (34, 1), (35, 3)], &shorts, 0);
            assert_eq!((status, window.now()[4]), (Status::OK, 11 | 2 << 16 | 3 << 32));
            assert_eq!(window.word.load(Ordering::SeqCst), 0, "given back");
        }
    }

    #[test]
    fn one_element_is_compared_and_swapped() {
        let window = Window::new(false, false);
        let swap = |at, width: u64, compare: u64, new: u64| {
            let operands =
                [&compare.to_ne_bytes()[..width as usize], &new.to_ne_bytes()[..width as usize]].concat();
            let base = if width == 8 { Base::U64 } else { Base::U16 };
            window.ask(Deed::Swap { base: base.0 }, &[(at, width)], &operands, width as usize)
        };
        assert_eq!(swap(0, 8, 10, 77), (Status::OK, bytes([10])));
        assert_eq!(swap(0, 8, 10, 78), (Status::OK, bytes([77])));
        assert_eq!(swap(8, 2, 10, 5), (Status::OK, vec![10, 0]));
        assert_eq!(swap(20, 8, 10 << 32, 5), (Status::OK, bytes([10 << 32])), "in no natural place");
        assert_eq!(window.now()[..4], [77, 5, 10 | 5 << 32, 0]);
    }

    #[test]
    fn whoever_has_the_word_keeps_out_what_needs_it_and_nothing_else() {
        let window = Window::new(false, false);
        for holder in [ALONE, 1] {
            window.word.store(holder, Ordering::SeqCst);
            let (status, _) = window.ask(update(op::SUM, Base::U16), &[(0, 2)], &[1, 0], 0);
            assert_eq!((status, window.now()[0]), (Status::NOT_AVAILABLE, 10));
            let odd = window.ask(Deed::Swap { base: Base::U16.0 }, &[(0, 2)], &[10, 0, 1, 0], 2).0;
            assert_eq!((odd, window.now()[0]), (Status::NOT_AVAILABLE, 10));
            // Some elements by atomics, some not: all or nothing.
            let mixed = window.ask(update(op::SUM, Base::U32), &[(8, 4), (14, 4)], &[1; 8], 0).0;
            assert_eq!((mixed, window.now()[1]), (Status::NOT_AVAILABLE, 10));
            let (status, _) = window.ask(update(op::SUM, Base::U64), &[(56, 8)], &bytes([1]), 0);
            assert_eq!(status, Status::OK);
            assert_eq!(window.ask(Deed::Read, &[(0, 3)], &[], 3), (Status::OK, vec![10, 0, 0]));
            assert_eq!(window.word.load(Ordering::SeqCst), holder);
        }
        assert_eq!(window.now()[7], 12);
        let locked = Window::new(true, true);
        locked.word.store(ALONE, Ordering::SeqCst);
        let status = locked.ask(update(op::SUM, Base::U64), &[(0, 8)], &bytes([1]), 0).0;
        assert_eq!((status, locked.now()[0]), (Status::NOT_AVAILABLE, 10));
    }

    #[test]
    fn memory_that_is_not_there_is_refused() {
        let window = Window::new(false, false);
        for places in [&[(60, 8)][..], &[(0, 8), (64, 1)], &[(u64::MAX - 7, 8)], &[(1 << 62, 4)]] {
            assert_eq!(
                window.ask(Deed::Read, places, &[], places.len() * 8).0,
                Status::RMA_RANGE,
                "{places:?}"
            );
        }
        // SAFETY: memory behind it is not touched before it is taken back.
        unsafe { window.served.add(window.at(64), 8) };
        assert!(window.served.has(&[Block { at: window.at(60), len: 12, packed: 0 }]), "regions that touch");
        window.served.take_back(window.at(64));
        assert_eq!(window.ask(Deed::Read, &[(60, 8)], &[], 8).0, Status::RMA_RANGE);
        window.served.take_back(window.at(0));
        assert_eq!(window.ask(Deed::Read, &[(0, 8)], &[], 8).0, Status::RMA_RANGE);
        assert_eq!(window.now(), [10; 8]);
    }

    #[test]
    fn what_does_not_fit_is_refused_and_nothing_is_done() {
        let window = Window::new(false, false);
        let sum = update(op::SUM, Base::U64);
        let refused = |deed, places: &[(u64, u64)], operands: &[u8], answer| {
            assert_eq!(
                window.ask(deed, places, operands, answer).0,
                Status::BAD_PARAM,
                "{deed:?} {places:?}"
            );
        };
        refused(sum, &[(0, 8)], &bytes([1, 2]), 0);
        refused(sum, &[(0, 16)], &bytes([1]), 0);
        refused(sum, &[(0, 12)], &[1; 12], 0);
        refused(sum, &[(0, 8)], &bytes([1]), 16);
        refused(update(op::NO_OP, Base::U64), &[(0, 8)], &bytes([1]), 8);
        refused(update(op::BAND, Base::F64), &[(0, 8)], &bytes([1]), 0);
        refused(update(op::USER, Base::U64), &[(0, 8)], &bytes([1]), 0);
        refused(update(4711, Base::U64), &[(0, 8)], &bytes([1]), 0);
        refused(update(op::SUM, Base(4711)), &[(0, 8)], &bytes([1]), 0);
        refused(Deed::Read, &[(0, 8)], &bytes([1]), 8);
        refused(Deed::Swap { base: Base::U64.0 }, &[(0, 4), (16, 4)], &bytes([1, 2]), 8);
        refused(Deed::Swap { base: Base::U64.0 }, &[(0, 16)], &bytes([1, 2, 3, 4]), 16);
        refused(Deed::Swap { base: Base::U64.0 }, &[(0, 8)], &bytes([1]), 8);
        assert_eq!(window.raw(&[], 0).0, Status::BAD_PARAM);
        assert_eq!(window.raw(&[9; 40], 8).0, Status::BAD_PARAM);
        assert_eq!((window.now(), window.word.load(Ordering::SeqCst)), ([10; 8], 0));
    }
}
