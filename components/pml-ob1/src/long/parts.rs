//! Packed parts of a request's data are sent behind a header, straight out of the user's buffer or by a packer that the transport calls.

use crate::long::transfers::Transfers;
use crate::peers::peer::Peer;
use crate::requests::request::Request;
use crate::state::guarded::Held;
use crate::wire::{Header, header_only};
use core::ffi::c_void;
use oxmpi_btl::SendDesc;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::Status;

/// Packs a part of a user's buffer straight into the transport's.
pub struct Packer {
    pub dtype: *const TypeDesc,
    pub count: u64,
    pub base: *const u8,
    pub from: u64,
}

/// The transport's callback that packs bytes `[offset, offset + len)` of a message into `dst`. `ctx`: the [`Packer`] of
/// the descriptor that is being sent.
pub extern "C" fn pack_part(ctx: *mut c_void, offset: u64, dst: *mut u8, len: u64) {
    // SAFETY: the transport passes the context of the descriptor we are in the middle of sending.
    let p = unsafe { &*ctx.cast::<Packer>() };
    // SAFETY: the buffer is the user's until completion; `dst` is the transport's.
    unsafe {
        oxmpi_datatype::pack(&*p.dtype, p.count, p.base, p.from + offset, dst, len);
    }
}

impl Transfers {
    /// Sends packed bytes `[from, from + len)` of a request behind a header, on the peer's own transport.
    pub fn transmit_part(
        &self,
        held: &Held<'_>,
        peer: &Peer,
        req: &Request,
        header: &Header,
        from: u64,
        len: u64,
    ) -> Status {
        Self::with_part(req, header, from, len, |desc| peer.transmit(held, desc))
    }

    /// Calls `send` with a descriptor of packed bytes `[from, from + len)` of a request behind a header; data that is
    /// not contiguous is packed by the transport's callback.
    pub fn with_part(
        req: &Request,
        header: &Header,
        from: u64,
        len: u64,
        send: impl FnOnce(&SendDesc) -> Status,
    ) -> Status {
        let mut desc = header_only(header);
        desc.len = len;
        let base = req.buf().cast_const();
        match req.dtype() {
            None => {
                desc.payload = base.wrapping_add(from as usize);
                send(&desc)
            }
            Some(dtype) => {
                let mut packer = Packer { dtype, count: req.count(), base, from };
                desc.pack = Some(pack_part);
                desc.pack_ctx = (&raw mut packer).cast();
                send(&desc)
            }
        }
    }
}
