//! Payload that a transport writes where it belongs: the question for the place, and the delivery of what lies there.
//!
//! The layer that takes messages of a tag hands its two functions to a transport ([`BtlTable::place_by`](crate::BtlTable::place_by)). The transport has the beginning of a long message
//! when it asks; a layer that finds a place by it names the address, and any other answer has the message delivered whole as ever.
//!
//! The place of some messages is known only once they have met their receive, which is a step that cannot be taken back: these are *claimed*, and go by the name that they get then.

use core::ffi::c_void;
use oxmpi_mca::RecvDesc;

/// A message of which the beginning is here, and the place of its payload.
#[repr(C)]
pub struct PlaceDesc {
    /// The message: its first [`PlaceDesc::there`] bytes lie at `data`, and `len` is all of it.
    pub message: RecvDesc,
    /// Bytes of the message at `message.data`: its header, of 128 bytes at most, is among them.
    pub there: u64,
    /// The answer: bytes of the message in front of those that have a place, at most `there`.
    pub header: u64,
    /// The answer: where the bytes behind `header` belong, up to the end of the message. In [`PlacedAll`]: null where bytes have gone nowhere.
    pub place: *mut u8,
}

/// Answers where the payload of a message belongs: 1, `header` and `place` are set; 0: nowhere. Runs in the transport's progress, under the lock of the message's
/// context, and changes nothing. The first answer decides: behind 0 the message is delivered whole by the receiver of its tag. Behind 1 the
/// transport asks again, with the same bytes, before it writes in a later turn, and each time that it has called the layer meanwhile; 0 says then that the operation has ended, and what still comes
/// of the message goes nowhere. Bytes may be written several times, and in any order, before all of the message is delivered.
pub type PlaceOf = unsafe extern "C" fn(ctx: *mut c_void, desc: *mut PlaceDesc) -> u32;

/// Takes a message whose payload lies in its place, or has gone nowhere. Otherwise as the receiver of the tag, which is not called for it: runs under the context's lock,
/// and returns one of [`receive`](oxmpi_mca::host::receive).
pub type PlacedAll = unsafe extern "C" fn(ctx: *mut c_void, desc: *const PlaceDesc) -> u32;

/// Takes a message that has no place by [`PlaceOf`], if it meets an operation in whose memory its payload belongs: 1, the message is the layer's, and `header`, `place` and
/// `message.link`, its name, which is not 0, are set; 0: nothing has happened. Runs as [`PlaceOf`] does. To be asked for a message in its
/// turn among those of its link, and only where its first `there` bytes are sure to be as they were sent; behind 1 not again. The transport asks
/// [`PlaceOf`] with that name in `message.link` then, as it asks for any place, and calls [`PlacedAll`] with it once all has come, also where a connection broke and was made
/// again meanwhile; it does not call that for a message of a process that has failed.
pub type ClaimOf = unsafe extern "C" fn(ctx: *mut c_void, desc: *mut PlaceDesc) -> u32;

/// Functions of the layer that takes messages of a tag.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PlaceBy {
    /// Bytes of this struct as the layer was built with it.
    pub size: u32,
    /// The tag, below 256.
    pub tag: u32,
    /// Says where payload belongs.
    pub place_of: PlaceOf,
    /// Takes a message whose payload lies there.
    pub placed: PlacedAll,
    /// First argument of all.
    pub ctx: *mut c_void,
    // --- 3.3 ---
    /// Takes a message that has no place before it has met its receive; none where the layer takes no message so. Behind the end of an earlier version's struct, which `size` tells.
    pub claim: Option<ClaimOf>,
}

const _: () = {
    assert!(core::mem::size_of::<PlaceDesc>() == 64);
    assert!(core::mem::size_of::<PlaceBy>() == 40);
};
