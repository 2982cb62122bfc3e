//! The layer's functions for placing payload, as authors keep them: vouched for by whoever made them.

use crate::placing::PlaceBy;

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
