//! Messages by `send_kept`, whose payload is overwritten once its end is told.

use crate::message::Msg;
use crate::rank::Rank;
use core::ffi::c_void;
use oxmpi_btl::{KeptDesc, SendDesc};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};

/// A message whose payload is kept, and the times that its end was told. It stays where it is until then.
pub struct Kept {
    pub msg: Msg,
    bytes: Vec<u8>,
    told: AtomicU32,
    failed: AtomicU32,
    pending: bool,
}

extern "C" fn done(ctx: *mut c_void, status: Status) {
    // SAFETY: the check keeps what it has sent until the end.
    let kept = unsafe { &*ctx.cast::<Kept>() };
    kept.told.fetch_add(1, Ordering::Relaxed);
    kept.failed.fetch_add(status.is_err().into(), Ordering::Relaxed);
}

impl Kept {
    pub fn new(msg: Msg) -> Box<Kept> {
        let bytes = msg.bytes();
        Box::new(Kept { msg, bytes, told: AtomicU32::new(0), failed: AtomicU32::new(0), pending: false })
    }

    /// Offers it once.
    pub fn send(&mut self, rank: &Rank, to: usize, ctx: u32) -> Status {
        let (header, payload) = self.bytes.split_at(self.msg.header);
        let message = SendDesc {
            tag: self.msg.tag.into(),
            hdr_len: header.len() as u32,
            hdr: header.as_ptr(),
            payload: payload.as_ptr(),
            len: payload.len() as u64,
            pack: None,
            pack_ctx: core::ptr::null_mut(),
        };
        let done_ctx = core::ptr::from_ref(self).cast_mut().cast();
        let status = rank.send_kept(to, ctx, &KeptDesc { message, done: Some(done), done_ctx });
        self.pending = status == Status::PENDING;
        if status.is_ok() {
            self.overwrite();
        }
        status
    }

    /// How often its end was told, and how often as a failure.
    pub fn told(&self) -> (u32, u32) {
        (self.told.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }

    /// Whether the transport has kept it, and is to tell its end.
    pub fn is_pending(&self) -> bool {
        self.pending
    }

    /// The payload is the caller's again: who still reads it sends garbage.
    fn overwrite(&mut self) {
        self.bytes.fill(0xee);
        core::hint::black_box(&self.bytes);
    }

    /// Whether its end has been told; then the payload goes.
    pub fn is_over(&mut self) -> bool {
        let over = !self.pending || self.told.load(Ordering::Relaxed) > 0;
        if over {
            self.overwrite();
        }
        over
    }
}
