//! Receiving: takes what came in on a context and hands it up.

use crate::device::TemplateModule;
use crate::wire::{FRAME, Frame, Kind};
use core::ffi::c_void;
use oxmpi_mca::RecvDesc;

/// Messages handed up in one call at most, so that other transports get their turn.
const BATCH: i32 = 32;

impl TemplateModule {
    /// Called over and over by whoever waits, so the idle case must be cheap. (Here it is a system call;
    /// a good transport looks at one cache line.) Returns how much it handled.
    pub(crate) fn receive(&self, ctx: u32) -> i32 {
        let context = &self.contexts[ctx as usize];
        // Taken while its receiver looks at it. A progress call from inside a receive callback is against the
        // contract, and finds it taken.
        let Ok(mut inbound) = context.inbound.try_borrow_mut() else { return 0 };
        context.requests.borrow_mut().send_unsent(&context.socket, &self.host);
        let mut handled = 0;
        while handled < BATCH {
            match context.socket.receive(&mut inbound) {
                Ok(Some(len)) => {
                    self.hand_up(ctx, &inbound[..len]);
                    handled += 1;
                }
                Ok(None) => break,
                Err(e) => {
                    self.host.error(&format!("cannot receive on context {ctx}: {e}"));
                    break;
                }
            }
        }
        handled
    }

    /// Checks what came in, then calls the receiver of its tag. The callback may send on this context;
    /// `data` is valid until it returns.
    fn hand_up(&self, ctx: u32, datagram: &[u8]) {
        let job = self.host.job();
        // A stranger's datagram is dropped without a word: he must not be able to fill our log.
        let Some(frame) = Frame::decode(datagram).filter(|f| f.job_id == job.job_id) else { return };
        let bytes = &datagram[FRAME..];
        let answered = match frame.kind {
            Kind::Message => true,
            // One that was asked for, and in its turn.
            Kind::Reply => self.contexts[ctx as usize].requests.borrow_mut().take_reply(ctx, &frame),
            Kind::Request => false,
        };
        if frame.proc >= job.job_size || bytes.len() > self.settings.max_send_size || !answered {
            self.refuse(&frame, bytes.len());
            return;
        }
        let row = self.host.am(frame.tag);
        let desc = RecvDesc {
            data: bytes.as_ptr(),
            len: bytes.len() as u64,
            proc: frame.proc,
            ctx,
            module: self as *const TemplateModule as *mut c_void,
            link: 0,
        };
        // Its answer may ask for the end of the batch: worth heeding where a message that comes early costs a copy.
        (row.receive)(row.ctx, &desc);
    }
}
