//! The layer's functions for placing payload, as authors keep them: vouched for by whoever made them.

use crate::placing::PlaceBy;
use core::mem::offset_of;

/// Functions of the layer that takes a tag, by which payload is placed. [`Entered::place_of`](super::Entered::place_of) and
/// [`Entered::deliver_placed`](super::Entered::deliver_placed) call them.
#[derive(Clone, Copy, Debug)]
pub struct Placer(PlaceBy);

// SAFETY: the functions run in whichever thread has entered a context (contract of `PlaceOf`); the pointer is handed back to them.
unsafe impl Send for Placer {}
// SAFETY: as above.
unsafe impl Sync for Placer {}

impl Placer {
    /// Vouches for functions.
    ///
    /// # Safety
    /// They may be called with their context, as their types say, until the module is finalized.
    pub(super) unsafe fn new(by: PlaceBy) -> Placer {
        Placer(by)
    }

    /// Reads functions of a layer that was built with this version or an earlier one, which has no claim.
    ///
    /// # Safety
    /// So many bytes are readable as the struct says.
    pub(super) unsafe fn read(by: *const PlaceBy) -> PlaceBy {
        // SAFETY: every version has the fields in front of `claim`; the others are read where they are.
        unsafe {
            let claim = match (*by).size as usize >= size_of::<PlaceBy>() {
                true => (*by).claim,
                false => None,
            };
            let mut all = core::mem::MaybeUninit::<PlaceBy>::uninit();
            core::ptr::copy_nonoverlapping(
                by.cast::<u8>(),
                all.as_mut_ptr().cast(),
                offset_of!(PlaceBy, claim),
            );
            (&raw mut (*all.as_mut_ptr()).claim).write(claim);
            all.assume_init()
        }
    }

    pub(super) fn by(&self) -> &PlaceBy {
        &self.0
    }
}

/// The place of a message's payload.
#[derive(Clone, Copy, Debug)]
pub struct PayloadPlace {
    /// Bytes of the message in front of those that have a place.
    pub header: u64,
    /// Where the others belong; writable for all of them as long as the place is good.
    pub at: *mut u8,
}
