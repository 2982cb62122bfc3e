//! Writing messages into a ring's memory: into lines, into the bulk or a cell, in one piece or several.
//!
//! The caller has found room for the message; nothing here looks for it.

use crate::copy::{self, Limits};
use crate::ring::{Location, Mapped, Producer};
use crate::wire::{MAX_SHORT, PER_LINE, pieces_of};
use oxmpi_btl::Message;

/// Two moves of a word that may overlap cover every length from one word to two.
macro_rules! move_ends {
    ($word:ty, $src:expr, $dst:expr, $len:expr) => {{
        let last = $len - size_of::<$word>();
        move_word!($word, $src, $dst, 0);
        move_word!($word, $src, $dst, last);
    }};
}

/// Copies one word at offset `at` from `src` to `dst`.
macro_rules! move_word {
    ($word:ty, $src:expr, $dst:expr, $at:expr) => {{
        let (src, dst, at): (*const u8, *mut u8, usize) = ($src, $dst, $at);
        // SAFETY: the word lies within the bytes for which the caller vouches; words are unaligned.
        unsafe { dst.add(at).cast::<$word>().write_unaligned(src.add(at).cast::<$word>().read_unaligned()) }
    }};
}

/// Longest header and longest payload of the fast path.
pub const SHORT: usize = 32;

/// Copies up to [`SHORT`] bytes without a call, and in words of at most eight bytes: a header was just
/// written in such words, and a wider load could not take it from the store buffer.
///
/// # Safety
/// As `copy_nonoverlapping`, with `len` at most `SHORT`.
#[inline(always)]
pub unsafe fn copy_short(src: *const u8, dst: *mut u8, len: usize) {
    if len > 16 {
        move_word!(u64, src, dst, 0);
        move_word!(u64, src, dst, 8);
        if len > 24 {
            move_word!(u64, src, dst, 16);
        }
        move_word!(u64, src, dst, len - 8);
    } else if len >= 8 {
        move_ends!(u64, src, dst, len);
    } else if len >= 4 {
        move_ends!(u32, src, dst, len);
    } else if len >= 2 {
        move_ends!(u16, src, dst, len);
    } else if len == 1 {
        move_word!(u8, src, dst, 0);
    }
}

/// Writes header and payload of any size; contiguous payload as `limits` say.
///
/// # Safety
/// `dst` must be writable for the message's length.
pub unsafe fn write(msg: &Message<'_>, dst: *mut u8, limits: Limits) {
    let (header, desc) = (msg.header(), msg.desc());
    let payload = msg.payload_len();
    // SAFETY: `dst` has room for both parts; a payload without packer is readable.
    unsafe {
        if header.len() <= SHORT {
            copy_short(header.as_ptr(), dst, header.len());
        } else {
            core::ptr::copy_nonoverlapping(header.as_ptr(), dst, header.len());
        }
        let dst = dst.add(header.len());
        if desc.pack.is_some() {
            msg.write_payload(dst);
        } else if payload >= limits.string {
            copy::by_string(desc.payload, dst, payload);
        } else if payload >= limits.past {
            copy::past_the_cache(desc.payload, dst, payload);
        } else {
            msg.write_payload(dst);
        }
    }
}

/// Writes a message into free lines of the ring, and publishes each line when it is written. The caller has found
/// room.
pub fn write_lines(producer: &mut Producer<Mapped>, msg: &Message<'_>) {
    const LINE: usize = PER_LINE as usize;
    let desc = msg.desc();
    let (header, len) = (desc.hdr_len as usize, msg.total_len());
    if header > SHORT || desc.pack.is_some() {
        return write_staged(producer, msg);
    }
    let (body, body_len) = (desc.payload, desc.len as usize);
    // SAFETY: header and payload are readable; a line takes LINE bytes, of which the first line's first
    // are the header's. Every piece lies within the payload.
    producer.publish_lines(len as u64, msg.tag(), |mem, line, index| unsafe {
        let at = mem.line_data(line);
        if index == 0 {
            copy_short(desc.hdr, at, header);
            core::ptr::copy_nonoverlapping(body, at.add(header), body_len.min(LINE - header));
            return;
        }
        let from = index as usize * LINE - header;
        if body_len - from >= LINE {
            core::ptr::copy_nonoverlapping(body.add(from), at, LINE);
        } else {
            core::ptr::copy_nonoverlapping(body.add(from), at, body_len - from);
        }
    });
}

/// Writes a message into lines by way of a buffer on the stack: packed payload, and headers longer than [`SHORT`].
#[inline(never)]
fn write_staged(producer: &mut Producer<Mapped>, msg: &Message<'_>) {
    let mut staged = [0u8; MAX_SHORT as usize];
    let len = msg.total_len();
    let staged = &mut staged[..len];
    // SAFETY: the slice is as long as the message.
    unsafe { write(msg, staged.as_mut_ptr(), Limits::NONE) };
    let mut pieces = staged.chunks(PER_LINE as usize);
    producer.publish_lines(len as u64, msg.tag(), |mem, line, _| {
        let piece = pieces.next().unwrap_or_default();
        // SAFETY: a piece is no longer than a line.
        unsafe { core::ptr::copy_nonoverlapping(piece.as_ptr(), mem.line_data(line), piece.len()) };
    });
}

/// Writes a message to `at` piece by piece, and announces each piece when it is written, so that the receiver copies one
/// while the next is written. `location` names the same memory as `at`: the cell, or the position of the bulk. The caller has
/// found a line for each piece; the payload is contiguous, and goes by string.
///
/// # Safety
/// `at` must be writable for the message's length.
#[inline(never)]
pub unsafe fn write_pieces(
    producer: &mut Producer<Mapped>,
    location: Location,
    at: *mut u8,
    msg: &Message<'_>,
) {
    let (header, len) = (msg.header(), msg.total_len() as u64);
    let (mem, tail) = (*producer.mem(), producer.tail());
    (0..pieces_of(len)).for_each(|line| mem.fetch_to_write(tail + line));
    let mut piece = 0;
    // SAFETY: a piece is longer than a header, all lie within the message, and by the caller's promise there is room for it.
    producer.publish_pieces(location, len, msg.tag(), |from, to| unsafe {
        // The receiver's polls move the line to its core. It is prefetched again while the piece is written.
        mem.fetch_to_write(tail + piece);
        piece += 1;
        let (mut from, to) = (from as usize, to as usize);
        if from == 0 {
            core::ptr::copy_nonoverlapping(header.as_ptr(), at, header.len());
            from = header.len();
        }
        copy::by_string(msg.desc().payload.add(from - header.len()), at.add(from), to - from);
    });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{SHORT, copy_short};

    #[test]
    fn copies_exactly_what_it_is_told() {
        let src: Vec<u8> = (1..=200).collect();
        for len in 0..=SHORT {
            let mut dst = vec![0u8; 200];
            // SAFETY: both have more than `len` bytes.
            unsafe { copy_short(src.as_ptr(), dst.as_mut_ptr(), len) };
            assert_eq!(dst[..len], src[..len]);
            assert!(dst[len..].iter().all(|&b| b == 0), "{len}");
        }
    }
}
