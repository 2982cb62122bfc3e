//! MPI_Compare_and_swap: an atomic, or read-compare-write under the target's lock, as `elements.rs` says.

use crate::call::Call;
use crate::claim::Claim;
use crate::elements::{Update, swap_if};
use crate::layout::Block;
use crate::order::Touch;
use crate::piece::Amo;
use crate::spot::Spot;
use crate::task::element;
use crate::writes::Kind;
use oxmpi_btl::amo;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;
use oxmpi_osc::Rma;
use oxmpi_osc_support::Address;

impl Call<'_> {
    // Not in one with what is tried before it, which needs few registers.
    #[inline(never)]
    pub fn compare_and_swap(&mut self, args: Rma<'_>) -> Result<(), Status> {
        let peer = self.target(args.target)?;
        // SAFETY: vouched for, or null, and valid during the call.
        let dtype = unsafe { args.origin_type.as_ref() }.ok_or(Status::BAD_PARAM)?;
        let update = Update::new(op::REPLACE, dtype.base)?;
        let width = update.width as usize;
        // SAFETY: vouched for: one element each, which is read (MPI 5.0 §12.3.4).
        let (new, compare) = unsafe {
            (
                element(core::slice::from_raw_parts(args.origin, width)),
                element(core::slice::from_raw_parts(args.compare, width)),
            )
        };
        let spot = self.spot(peer, args.disp, 1, dtype)?;
        let at = spot.address();
        let rules = &self.win.rules;
        // As few elements of an accumulate: see `accumulate.rs`.
        let copies = rules.under_lock && matches!(&spot, Spot::There(there) if there.route.link().copies);
        let by_atomic = !rules.coarse && !copies && update.is_atomic_at(at);
        let place = Block { at, len: width as u64, packed: 0 };
        if let Spot::There(there) = &spot {
            // SAFETY: vouched for: the result is one element, which is written, and the operation's until that is complete.
            let result = unsafe { Address::of(args.result) };
            if by_atomic && !rules.under_lock && self.join_swap(there, place, [compare, new], result)? {
                return Ok(());
            }
            self.wait_for_writes(there.route, Kind::ACCUMULATE, None, &[place])?;
            let touch = Touch::BOTH.at([(at, width as u64)].into_iter());
            self.wait_for_order(peer, touch)?;
            peer.ordered.end(touch.into());
            if !by_atomic && let Some(old) = self.ask_swap(there.route, place, dtype.base, [compare, new])? {
                // SAFETY: as below.
                unsafe { core::ptr::copy_nonoverlapping(old.as_ptr(), args.result, width) };
                return Ok(());
            }
        }
        let swap = |call: &mut Self| call.swap(&spot, at, &Swap { width, compare, new, by_atomic });
        let old = match (by_atomic, rules.under_lock) {
            (true, false) => swap(self),
            (true, true) => self.holding(peer, Claim::SHARED, swap),
            (false, _) => self.holding(peer, Claim::ALONE, swap),
        }?;
        // SAFETY: vouched for: the result is one element, which is written.
        unsafe { core::ptr::copy_nonoverlapping(old.to_ne_bytes().as_ptr(), args.result, width) };
        Ok(())
    }

    /// Compares and swaps the element at the target, by an atomic or under the lock; the old element.
    fn swap(&mut self, spot: &Spot<'_>, at: u64, swap: &Swap) -> Result<u64, Status> {
        let Swap { width, compare, new, by_atomic } = *swap;
        let mut bytes = [0; 8];
        match spot {
            // SAFETY: mapped memory of the window, as `spot` has found, in its natural place.
            Spot::Here(here) if by_atomic => return Ok(unsafe { swap_if(*here, width, compare, new) }),
            Spot::Here(here) => {
                // SAFETY: mapped memory of the window, as `spot` has found; room for eight bytes.
                unsafe { core::ptr::copy(*here, bytes.as_mut_ptr(), width) };
                if element(&bytes[..width]) == compare {
                    // SAFETY: mapped memory of the window, as `spot` has found.
                    unsafe { core::ptr::copy(new.to_ne_bytes().as_ptr(), *here, width) };
                }
            }
            Spot::There(there) => {
                let block = Block { at, len: width as u64, packed: 0 };
                let registration = there.registration(&block)?;
                if by_atomic || (!there.route.link().copies && is_word(at, width)) {
                    let flags = if width == 4 { amo::WIDTH_32 } else { 0 };
                    let amo = Amo { op: amo::COMPARE_SWAP, flags, operand: new, compare };
                    return self.atomic(there.route, at, registration, amo);
                }
                let now = self.fetch(there.route, at, registration, width)?;
                bytes[..width].copy_from_slice(now.bytes());
                if element(&bytes[..width]) == compare {
                    self.write_there(there, &[&block], &new.to_ne_bytes()[..width])?;
                }
            }
        }
        Ok(element(&bytes[..width]))
    }
}

/// Whether an atomic can have it.
fn is_word(at: u64, width: usize) -> bool {
    matches!(width, 4 | 8) && at.is_multiple_of(width as u64)
}

/// The elements of a compare-and-swap as numbers.
struct Swap {
    width: usize,
    compare: u64,
    new: u64,
    by_atomic: bool,
}
