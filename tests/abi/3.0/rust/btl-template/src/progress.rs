//! Receiving: takes what came in on a context and hands it up.

use crate::device::{Context, TemplateModule};
use crate::wire::{FRAME, Frame, Kind};
use oxmpi_btl::{Arrival, Entered};

/// Messages handed up in one call at most, so that other transports get their turn.
const BATCH: i32 = 32;

impl TemplateModule {
    /// Called over and over by whoever waits, so the idle case must be cheap. (Here it is a system call;
    /// a good transport looks at one cache line.) Returns how much it handled.
    pub(crate) fn receive(&self, at: &mut Entered<'_, Context>) -> i32 {
        // A progress call from inside a receive callback is against the contract, and finds the buffer taken.
        if at.inbound.is_empty() {
            return 0;
        }
        let context: &mut Context = at;
        context.requests.send_unsent(&context.socket, &self.host);
        let mut handled = 0;
        while handled < BATCH {
            match at.receive() {
                Ok(Some(len)) => {
                    // Its receiver may send on this context, so nothing of that is borrowed meanwhile.
                    let inbound = core::mem::take(&mut at.inbound);
                    self.hand_up(at, &inbound[..len]);
                    at.inbound = inbound;
                    handled += 1;
                }
                Ok(None) => break,
                Err(e) => {
                    self.host.error(&format!("cannot receive on context {}: {e}", at.number()));
                    break;
                }
            }
        }
        handled
    }

    /// Checks what came in, then calls the receiver of its tag.
    fn hand_up(&self, at: &mut Entered<'_, Context>, datagram: &[u8]) {
        let job = self.host.job();
        // A stranger's datagram is dropped without a word: he must not be able to fill our log.
        let Some(frame) = Frame::decode(datagram).filter(|f| f.job_id == job.job_id) else { return };
        let bytes = &datagram[FRAME..];
        let answered = match frame.kind {
            Kind::Message => true,
            // One that was asked for, and in its turn.
            Kind::Reply => {
                let ctx = at.number();
                at.requests.take_reply(ctx, &frame)
            }
            Kind::Request => false,
        };
        if frame.proc >= job.job_size || bytes.len() > self.settings.max_send_size || !answered {
            self.refuse(&frame, bytes.len());
            return;
        }
        // The answer may ask for the end of the batch: worth heeding where a message that comes early costs a copy.
        at.deliver(&self.host, Arrival { proc: frame.proc, tag: frame.tag, bytes: bytes.into(), link: 0 });
    }
}
