//! Messages whose every byte follows from a seed, so that what arrives can be checked without keeping
//! what was sent.

use core::ffi::c_void;
use oxmpi_btl::SendDesc;

/// A message to send and expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msg {
    pub tag: u8,
    pub header: usize,
    pub payload: usize,
    pub seed: u64,
}

impl Msg {
    pub fn new(seed: u64, header: usize, payload: usize) -> Msg {
        Msg { tag: (seed % 251) as u8, header, payload, seed }
    }

    pub fn total(&self) -> usize {
        self.header + self.payload
    }

    /// Header and payload as they must arrive.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.total() + 8);
        let mut x = self.seed ^ 0x5851_f42d_4c95_7f2d;
        while bytes.len() < self.total() {
            x = step(x);
            bytes.extend_from_slice(&x.to_le_bytes());
        }
        bytes.truncate(self.total());
        bytes
    }

    /// Hands `send` a descriptor of the message with a plain payload. The bytes are overwritten as
    /// soon as `send` returns: whoever still needed them would deliver garbage.
    pub fn describe<R>(&self, send: impl FnOnce(&SendDesc) -> R) -> R {
        let mut bytes = self.bytes();
        let (header, payload) = bytes.split_at_mut(self.header);
        // A pointer that is not null even where there is no header, as the contract's authors get it.
        let result = send(&SendDesc {
            tag: self.tag as u32,
            hdr_len: self.header as u32,
            hdr: header.as_ptr(),
            payload: payload.as_ptr(),
            len: self.payload as u64,
            pack: None,
            pack_ctx: core::ptr::null_mut(),
        });
        bytes.fill(0xee);
        // Keep the overwriting: a transport that kept a pointer must see it.
        core::hint::black_box(&bytes);
        result
    }

    /// As `describe`, with the payload produced by a pack function. Also says what was asked of it.
    pub fn describe_packed<R>(&self, send: impl FnOnce(&SendDesc) -> R) -> (R, PackLog) {
        let bytes = self.bytes();
        let (header, payload) = bytes.split_at(self.header);
        let mut source = Source { payload: payload.as_ptr(), log: PackLog::default(), len: payload.len() };
        let result = send(&SendDesc {
            tag: self.tag as u32,
            hdr_len: self.header as u32,
            hdr: header.as_ptr(),
            payload: core::ptr::null(),
            len: self.payload as u64,
            pack: Some(pack),
            pack_ctx: (&raw mut source).cast(),
        });
        (result, source.log)
    }
}

/// The calls that a transport made to a pack function.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PackLog {
    pub calls: usize,
    /// Bytes produced so far; the next call must ask from here.
    pub bytes: u64,
    /// A call that asked for a wrong offset or beyond the end.
    pub wrong: Option<(u64, u64)>,
}

struct Source {
    payload: *const u8,
    len: usize,
    log: PackLog,
}

extern "C" fn pack(ctx: *mut c_void, offset: u64, dst: *mut u8, len: u64) {
    // SAFETY: `describe_packed` passes a live Source for the call.
    let source = unsafe { &mut *ctx.cast::<Source>() };
    source.log.calls += 1;
    if offset != source.log.bytes || offset + len > source.len as u64 {
        source.log.wrong.get_or_insert((offset, len));
        return;
    }
    // SAFETY: inside the payload; `dst` is the transport's.
    unsafe { core::ptr::copy_nonoverlapping(source.payload.add(offset as usize), dst, len as usize) };
    source.log.bytes += len;
}

/// One step of a generator good enough for test data.
pub fn step(x: u64) -> u64 {
    let x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    x ^ (x >> 29)
}
