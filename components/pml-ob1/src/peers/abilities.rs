//! Whether a transport's get and put serve long messages, and in pieces of how many bytes.

use oxmpi_btl::{BtlAttrs, BtlHandle, cap};

/// Whether a transport has a verb that long messages can use: if its memory has to be registered, it must be able to
/// register.
fn has(btl: &BtlHandle, verb: u32) -> bool {
    btl.can(verb) && (btl.attrs().registration_handle_size == 0 || btl.can(cap::REGISTER))
}
/// Whether a transport's get serves long messages.
pub fn can_get(btl: &BtlHandle) -> bool {
    has(btl, cap::GET) && piece(btl.attrs().get_limit, btl.attrs().get_alignment) > 0
}
/// Whether a transport's put serves long messages: a flush, or `done` itself, says when the data is there.
pub fn can_put(btl: &BtlHandle) -> bool {
    let a = btl.attrs();
    let ends = a.flags & BtlAttrs::PUT_DONE_IS_REMOTE != 0 || btl.can(cap::FLUSH);
    has(btl, cap::PUT) && ends && piece(a.put_limit, a.put_alignment) > 0
}

/// Gives the bytes of one piece of a get or put: the transport's limit (0: none), cut to whole units of the alignment.
/// 0: no piece is possible.
pub fn piece(limit: u64, alignment: u64) -> u64 {
    match (limit, alignment) {
        (0, _) => u64::MAX,
        (limit, 0 | 1) => limit,
        (limit, alignment) => limit - limit % alignment,
    }
}
