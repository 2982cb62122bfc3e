//! State of a device, and what all verbs do with it.
//!
//! **Concurrency.** The caller serialises the verbs of one context (it holds that context's lock, or only
//! one thread makes MPI calls); different contexts run at the same time. `add_proc` may run while anything
//! runs. So what belongs to a context needs no lock of its own, and what belongs to the module must not
//! change, or be atomic.

use crate::links::{Requests, Service};
use crate::params::Settings;
use crate::sys::Socket;
use crate::wire::{FRAME, Frame, Kind};
use core::cell::RefCell;
use oxmpi_btl::Message;
use oxmpi_mca::Host;

pub struct TemplateModule {
    pub(crate) host: Host,
    pub(crate) settings: Settings,
    pub(crate) contexts: Box<[Context]>,
    pub(crate) service: Service,
    /// Ours, to be compared with those of peers.
    pub(crate) place: Vec<u8>,
}

/// State that belongs to one context. Each on cache lines of its own, because another thread works on the next.
#[repr(align(128))]
pub(crate) struct Context {
    pub(crate) socket: Socket,
    /// Where a message is put together before it goes out. A ring in memory or a registered buffer takes
    /// header and payload where they belong, without this copy.
    pub(crate) out: RefCell<Box<[u8]>>,
    /// Where a message is while its receiver looks at it. Not `out`: the receiver may send.
    pub(crate) inbound: RefCell<Box<[u8]>>,
    /// Requests that have no reply yet.
    pub(crate) requests: RefCell<Requests>,
}

// SAFETY: the contract of BTLs: the caller serialises all verbs of one context, and every verb here touches
// the buffers of its own context only. Should a caller break that, RefCell sees most of it.
unsafe impl Sync for Context {}

impl TemplateModule {
    pub fn new(
        host: Host,
        settings: Settings,
        sockets: Vec<Socket>,
        service: Socket,
        place: Vec<u8>,
    ) -> TemplateModule {
        // One byte more than the largest frame: what fills it is too long.
        let buffer = || RefCell::new(vec![0; FRAME + settings.max_send_size + 1].into_boxed_slice());
        let context =
            |socket| Context { socket, out: buffer(), inbound: buffer(), requests: RefCell::default() };
        TemplateModule {
            host,
            settings,
            contexts: sockets.into_iter().map(context).collect(),
            service: Service::new(service, FRAME + settings.max_send_size + 1),
            place,
        }
    }

    /// A message as it goes out: frame, header, payload. Its length was checked.
    pub(crate) fn write<'a>(&self, out: &'a mut [u8], frame: Frame, msg: &Message<'_>) -> &'a [u8] {
        let total = msg.total_len();
        let (head, body) = out.split_at_mut(FRAME);
        let (header, payload) = body.split_at_mut(msg.header().len());
        head.copy_from_slice(&frame.encode());
        header.copy_from_slice(msg.header());
        // SAFETY: the buffer has room for `total` bytes behind the frame.
        unsafe { msg.write_payload(payload[..msg.payload_len()].as_mut_ptr()) };
        &out[..FRAME + total]
    }

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
