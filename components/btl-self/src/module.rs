//! The one device: a queue per context, and the process's own memory.

use crate::amo;
use crate::endpoint::SelfEndpoint;
use crate::params::Settings;
use crate::queue::Queue;
use core::ffi::c_void;
use oxmpi_btl::amo::operand;
use oxmpi_btl::{
    AtomicDesc, Btl, BtlAtomics, BtlAttrs, BtlFlush, BtlGet, BtlGetVector, BtlHold, BtlPut, BtlSleep,
    FlushDesc, Message, ProcInfo, RmaDesc, RmaVectorDesc, WaitSet,
};
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_mca::{Host, RecvDesc, Status};

/// Messages handed up in one progress call at most, so that other transports get their turn.
const BATCH: usize = 64;

pub struct SelfModule {
    host: Host,
    settings: Settings,
    contexts: Box<[Context]>,
    /// Our word to ourselves about messages that wait for room.
    held: AtomicU64,
}

/// A queue that only the holder of its context touches.
#[repr(align(128))]
struct Context(Queue);

// SAFETY: the contract of BTLs: the caller serialises all verbs of one context (by the CRI's lock,
// or because only one thread makes calls), and no verb here touches another context's queue.
unsafe impl Sync for Context {}
// SAFETY: the queue owns its memory and has no tie to a thread.
unsafe impl Send for Context {}

impl SelfModule {
    pub fn new(host: Host, settings: Settings, queues: Vec<Queue>) -> SelfModule {
        SelfModule {
            host,
            settings,
            contexts: queues.into_iter().map(Context).collect(),
            held: AtomicU64::new(0),
        }
    }

    #[inline(always)]
    fn queue(&self, ctx: u32) -> &Queue {
        &self.contexts[ctx as usize].0
    }
}

impl Btl for SelfModule {
    type Endpoint = SelfEndpoint;

    fn attrs(&self) -> BtlAttrs {
        let mut attrs = BtlAttrs::new();
        attrs.contexts = self.contexts.len() as u32;
        attrs.eager_limit = self.settings.eager_limit as u64;
        attrs.rndv_eager_limit = self.settings.rndv_eager_limit as u64;
        attrs.max_send_size = self.settings.max_send_size as u64;
        // One copy instead of two, and no limit: `get` is better as soon as a message must wait.
        attrs.min_get_size = self.settings.eager_limit as u64;
        attrs.latency = self.settings.latency;
        attrs.bandwidth = self.settings.bandwidth;
        attrs.exclusivity = self.settings.exclusivity;
        attrs.flags = BtlAttrs::ONLY_SELF
            | BtlAttrs::VISIBLE_AT_ONCE
            | BtlAttrs::PUT_DONE_IS_REMOTE
            | BtlAttrs::PUTS_ORDERED
            | BtlAttrs::AMO_COHERENT;
        attrs.amo_ops = amo::ALL;
        attrs.amo_operands = operand::ALL;
        attrs.device[..4].copy_from_slice(b"self");
        attrs
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Box<SelfEndpoint>>, Status> {
        Ok((proc.proc == self.host.job().rank).then(|| Box::new(SelfEndpoint)))
    }

    #[inline]
    fn send(&self, _me: &SelfEndpoint, ctx: u32, msg: &Message<'_>) -> Status {
        let total = msg.total_len();
        if total > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let header = msg.header();
        let room = self.queue(ctx).push(msg.tag(), total, |dst| {
            // SAFETY: `push` gives room for `total` bytes, header and payload; the header is the
            // sender's and does not overlap the queue.
            unsafe {
                core::ptr::copy_nonoverlapping(header.as_ptr(), dst, header.len());
                msg.write_payload(dst.add(header.len()));
            }
        });
        if room { Status::OK } else { Status::NO_RESOURCE }
    }

    #[inline]
    fn progress(&self, ctx: u32) -> i32 {
        let queue = self.queue(ctx);
        if queue.is_empty() {
            return 0;
        }
        let (proc, module) = (self.host.job().rank, self as *const SelfModule as *mut c_void);
        queue.deliver(BATCH, |tag, data, len| {
            let row = self.host.am(tag);
            (row.receive)(row.ctx, &RecvDesc { data, len: len as u64, proc, ctx, module, link: 0 });
        }) as i32
    }
}

impl BtlGet for SelfModule {
    fn get(&self, _me: &SelfEndpoint, _ctx: u32, rma: &RmaDesc) -> Status {
        // SAFETY: both addresses are this process's own, named by the caller, who vouches for them
        // as it does for a local copy; `copy` allows them to overlap.
        unsafe { core::ptr::copy(rma.remote as usize as *const u8, rma.local, rma.len as usize) };
        Status::OK
    }
}

impl BtlGetVector for SelfModule {
    fn get_vector(&self, _me: &SelfEndpoint, _ctx: u32, rma: &RmaVectorDesc) -> Status {
        // SAFETY: the lists are the caller's, alive for the call; the addresses in them as in `get`.
        let whole = unsafe {
            rma.stretches(|local, remote, len| {
                core::ptr::copy(remote as usize as *const u8, local as usize as *mut u8, len as usize);
                true
            })
        };
        if whole { Status::OK } else { Status::BAD_PARAM }
    }
}

impl BtlPut for SelfModule {
    fn put(&self, _me: &SelfEndpoint, _ctx: u32, rma: &RmaDesc) -> Status {
        // SAFETY: as in `get`.
        unsafe { core::ptr::copy(rma.local, rma.remote as usize as *mut u8, rma.len as usize) };
        Status::OK
    }
}

impl BtlFlush for SelfModule {
    /// Everything was complete when its call returned.
    fn flush(&self, _me: Option<&SelfEndpoint>, _ctx: u32, _flush: &FlushDesc) -> Status {
        Status::OK
    }
}

impl BtlAtomics for SelfModule {
    fn atomic(&self, _me: &SelfEndpoint, _ctx: u32, op: &AtomicDesc) -> Status {
        // SAFETY: the address is this process's own, named by the caller; alignment is checked there.
        unsafe { amo::apply(op) }
    }
}

impl BtlHold for SelfModule {
    fn hold(&self, _me: &SelfEndpoint, oldest: u64) {
        // SYNC POINT with `held`: what waited before was sent before.
        self.held.store(oldest, Ordering::Release);
    }
    fn held(&self, _me: &SelfEndpoint) -> u64 {
        // SYNC POINT with `hold`.
        self.held.load(Ordering::Acquire)
    }
}

impl BtlSleep for SelfModule {
    fn arm(&self, ctx: u32, _set: &mut WaitSet) -> Status {
        // The queue can only fill by a call of this process on this context, and whoever holds the
        // context is about to sleep: an empty queue stays empty, so nobody needs to wake anybody.
        if self.queue(ctx).is_empty() { Status::OK } else { Status::PENDING }
    }

    fn disarm(&self, _ctx: u32) {}
}
