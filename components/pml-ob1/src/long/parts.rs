//! Packed parts of a request's data are sent behind a header, straight out of the user's buffer or by a packer that the transport calls.

use crate::long::transfers::Transfers;
use crate::peers::peer::Peer;
use crate::requests::request::Request;
use crate::wire::{Header, Parcel};
use core::ffi::c_void;
use oxmpi_btl::SendDesc;
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{CriGuard, Status};

/// Packs a part of a user's buffer straight into the transport's.
pub struct Packer<'a> {
    pub dtype: &'a TypeDesc,
    pub count: u64,
    pub base: *const u8,
    pub from: u64,
}

/// The transport's callback that packs bytes `[offset, offset + len)` of a message into `dst`.
///
/// # Safety
/// `ctx` is the [`Packer`] of the descriptor that is being sent, whose buffer is the user's until completion; `dst` has room for so many bytes.
pub unsafe extern "C" fn pack_part(ctx: *mut c_void, offset: u64, dst: *mut u8, len: u64) {
    // SAFETY: the caller's promise.
    let p = unsafe { &*ctx.cast::<Packer<'_>>() };
    // SAFETY: the caller's promise, of both buffers.
    unsafe {
        oxmpi_datatype::pack(p.dtype, p.count, p.base, p.from + offset, dst, len);
    }
}

impl Transfers {
    /// Sends packed bytes `[from, from + len)` of a request behind a header, on the peer's own transport.
    pub fn transmit_part(
        &self,
        held: &mut CriGuard<'_>,
        peer: &Peer,
        req: &Request,
        header: &Header,
        from: u64,
        len: u64,
    ) -> Status {
        Self::with_part(req, header, from, len, |parcel| peer.transmit(held, &parcel))
    }

    /// Calls `send` with a parcel of packed bytes `[from, from + len)` of a request behind a header; data that is
    /// not contiguous is packed by the transport's callback.
    pub fn with_part(
        req: &Request,
        header: &Header,
        from: u64,
        len: u64,
        send: impl FnOnce(Parcel<'_>) -> Status,
    ) -> Status {
        let base = req.buf().cast_const();
        let with_len = SendDesc { len, ..Parcel::header_only(header).into_desc() };
        match req.dtype() {
            None => {
                let desc = SendDesc { payload: base.wrapping_add(from as usize), ..with_len };
                // SAFETY: the header is borrowed; the buffer is the user's until completion, and has so many bytes.
                send(unsafe { Parcel::of(desc) })
            }
            Some(dtype) => {
                let mut packer = Packer { dtype, count: req.count(), base, from };
                let pack_ctx = (&raw mut packer).cast();
                let desc = SendDesc { pack: Some(pack_part), pack_ctx, ..with_len };
                // SAFETY: the header is borrowed, and the packer stays until `send` returns; the buffer is the user's until completion.
                send(unsafe { Parcel::of(desc) })
            }
        }
    }
}
