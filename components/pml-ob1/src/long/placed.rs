//! Fragments that a transport writes into their receive's buffer by itself ([`PlaceOf`](oxmpi_btl::PlaceOf)).
//!
//! A fragment says by its header where it belongs, so the place of its bytes is known before they come: where the receive's data is in one piece, it is an
//! address in the user's buffer. The transport asks again in each turn, and the id of a receive that has ended finds nothing, so
//! nothing is written behind the end. Of other messages those have a place that were claimed (`claims.rs`); all else is delivered as ever.

use crate::long::transfers::Transfers;
use crate::wire::{FRAG_BYTES, Reader, kind, kind_of};
use oxmpi_mca::{CriGuard, RequestHeader};
use oxmpi_pml::{Arrived, Placed};

/// A fragment's receive, and where in that it belongs.
struct Fragment {
    id: u64,
    offset: u64,
    len: u64,
}

impl Fragment {
    /// Reads the header of a message of `len` bytes. `None`: it is no fragment.
    fn read(there: &[u8], len: u64) -> Option<Fragment> {
        let mut r = Reader::new(there);
        let head = r.word()?;
        let (id, offset) = (r.word()?, r.word()?);
        let len = len.checked_sub(FRAG_BYTES as u64)?;
        (kind_of(head) == kind::FRAG).then_some(Fragment { id, offset, len })
    }
}

impl Transfers {
    /// Says where the payload of a message of `len` bytes belongs, of which the first bytes have come. `None`: nowhere, or the receive is over.
    pub fn place_of(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, len: u64) -> Option<Placed> {
        if arrived.name() != 0 {
            return self.place_of_claimed(held, arrived.proc(), arrived.name());
        }
        let Fragment { id, offset, len } = Fragment::read(arrived.bytes(), len)?;
        let req = self.instance().own(held).ids().get(id)?;
        let bytes = (offset, len);
        let fits = req.kind() == RequestHeader::RECV
            && req.is_plain()
            && (self.is_due(held, req, arrived.proc(), bytes)
                || self.fits_ahead(held, req, arrived.proc(), bytes)
                    && self.instance().own(held).ahead().is_free(id, offset, len));
        fits.then(|| Placed { header: FRAG_BYTES as u64, at: req.buf().wrapping_add(offset as usize) })
    }

    /// Counts a fragment, or goes on with a claimed message, whose bytes the transport has written. `there` is false where they have gone nowhere, since their receive was over.
    pub fn on_placed(&self, held: &mut CriGuard<'_>, arrived: Arrived<'_>, len: u64, there: bool) {
        let proc = arrived.proc();
        if arrived.name() != 0 {
            return self.on_claimed(held, proc, arrived.name(), there);
        }
        let Some(Fragment { id, offset, len }) = Fragment::read(arrived.bytes(), len) else { return };
        if there {
            self.take_fragment(held, id, proc, (offset, len), |_| {});
        } else if self.instance().own(held).ids().get(id).is_some() {
            self.peers().bad_header(held, proc, "a fragment over another one");
        }
    }
}
