//! State of a device, and what all verbs do with it.
//!
//! **Concurrency.** The types say who touches what, and the compiler holds it. The module is shared by all threads: what changes in it
//! is atomic or behind a lock (here nothing changes). A [`Context`] belongs to whoever has entered it, so it is plain data. `add_proc`
//! may run while anything runs, and gets the module alone.

use crate::links::Requests;
use crate::params::Settings;
use crate::sys::Socket;
use crate::wire::{FRAME, Frame, Kind, buffer};
use oxmpi_btl::Message;
use oxmpi_mca::Host;
use std::io;

pub struct TemplateModule {
    pub(crate) host: Host,
    pub(crate) settings: Settings,
    /// Ours, to be compared with those of peers.
    pub(crate) place: Vec<u8>,
}

/// State that belongs to one context. Each on cache lines of its own, because another thread works on the next.
#[repr(align(128))]
pub struct Context {
    pub(crate) socket: Socket,
    /// Where a message is put together before it goes out. A ring in memory or a registered buffer takes
    /// header and payload where they belong, without this copy.
    pub(crate) out: Box<[u8]>,
    /// Where a message is while its receiver looks at it. It is taken out meanwhile, since the receiver may send on this context: what is
    /// handed up cannot lie in it.
    pub(crate) inbound: Box<[u8]>,
    /// Bytes of a message that lies in `inbound` already.
    pub(crate) early: Option<usize>,
    /// Requests that have no reply yet.
    pub(crate) requests: Requests,
}

impl Context {
    pub fn new(socket: Socket, settings: &Settings) -> Context {
        Context {
            socket,
            out: buffer(settings.max_send_size),
            inbound: buffer(settings.max_send_size),
            early: None,
            requests: Requests::default(),
        }
    }

    /// Bytes of the next message, which is in `inbound` then.
    pub(crate) fn receive(&mut self) -> io::Result<Option<usize>> {
        match self.early.take() {
            Some(len) => Ok(Some(len)),
            None => self.socket.receive(&mut self.inbound),
        }
    }

    /// Whether there is something to receive. (A failure is told by receiving.)
    pub(crate) fn is_readable(&mut self) -> bool {
        match self.receive() {
            Ok(found) => {
                self.early = found;
                found.is_some()
            }
            Err(_) => true,
        }
    }
}

impl TemplateModule {
    /// The frame of what we send: all but kind and link.
    pub(crate) fn frame(&self, msg: &Message<'_>) -> Frame {
        let job = self.host.job();
        Frame { job_id: job.job_id, proc: job.rank, tag: msg.tag(), kind: Kind::Message, ctx: 0, sequence: 0 }
    }

    /// Nobody who keeps to the protocol sends that.
    #[cold]
    pub(crate) fn refuse(&self, frame: &Frame, len: usize) {
        let kind = frame.kind;
        let what = format!("process {} sent {len} bytes as {kind:?}, which cannot be", frame.proc);
        self.host.peer_error(frame.proc.min(self.host.job().job_size - 1), true, &what);
    }
}

/// A message as it goes out: frame, header, payload. Its length was checked.
pub(crate) fn write<'a>(out: &'a mut [u8], frame: Frame, msg: &Message<'_>) -> &'a [u8] {
    let (head, rest) = out.split_at_mut(FRAME);
    head.copy_from_slice(&frame.encode());
    msg.write(&mut rest[..msg.total_len()]);
    &out[..FRAME + msg.total_len()]
}
