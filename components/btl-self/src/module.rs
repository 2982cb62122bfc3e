//! The one device: a queue per context, and the process's own memory.

use crate::amo;
use crate::endpoint::SelfEndpoint;
use crate::params::Settings;
use crate::queue::{Front, Queue};
use oxmpi_btl::amo::operand;
use oxmpi_btl::{
    Arrival, AtomicDesc, Btl, BtlAtomics, BtlAttrs, BtlFlush, BtlGet, BtlGetVector, BtlHold, BtlPut,
    BtlSleep, Bytes, Completion, Entered, Message, Peer, ProcInfo, RmaDesc, RmaVectorDesc, Vouched, WaitSet,
};
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_mca::{Host, Status};

/// Messages handed up in one progress call at most, so that other transports get their turn.
const BATCH: usize = 64;

pub struct SelfModule {
    host: Host,
    settings: Settings,
    /// Our word to ourselves about messages that wait for room.
    held: AtomicU64,
}

impl SelfModule {
    pub fn new(host: Host, settings: Settings) -> SelfModule {
        SelfModule { host, settings, held: AtomicU64::new(0) }
    }
}

type At<'a> = Entered<'a, Queue>;
type Me = Peer<SelfModule>;

impl Btl for SelfModule {
    type Context = Queue;
    type Endpoint = SelfEndpoint;
    type Lane = ();

    fn attrs(&self) -> BtlAttrs {
        let mut attrs = BtlAttrs::new();
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

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<SelfEndpoint>, Status> {
        Ok((proc.proc == self.host.job().rank).then_some(SelfEndpoint))
    }

    fn lane(&self, _me: &SelfEndpoint, _ctx: u32) {}

    #[inline]
    fn send(&self, at: &mut At<'_>, _me: &Me, msg: &Message<'_>) -> Status {
        let total = msg.total_len();
        if total > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let header = msg.header();
        let room = at.push(msg.tag(), total, |dst| {
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
    fn progress(&self, at: &mut At<'_>) -> i32 {
        let batch = at.begin(BATCH);
        if batch == 0 {
            return 0;
        }
        let proc = self.host.job().rank;
        for _ in 0..batch {
            let Front { tag, data, len } = at.front();
            // SAFETY: the bytes stay until `pass`.
            let bytes = unsafe { Bytes::new(data, len as u64) };
            at.deliver(&self.host, Arrival { proc, tag, bytes, link: 0 });
            at.pass();
        }
        at.end();
        batch as i32
    }
}

impl BtlGet for SelfModule {
    fn get(&self, _at: &mut At<'_>, _me: &Me, rma: Vouched<'_, RmaDesc>, _done: Completion) -> Status {
        // SAFETY: both addresses are this process's own, named by the caller, who vouches for them
        // as it does for a local copy; `copy` allows them to overlap.
        unsafe { core::ptr::copy(rma.remote as usize as *const u8, rma.local, rma.len as usize) };
        Status::OK
    }
}

impl BtlGetVector for SelfModule {
    fn get_vector(&self, _at: &mut At<'_>, _me: &Me, rma: Vouched<'_, RmaVectorDesc>) -> Status {
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
    fn put(&self, _at: &mut At<'_>, _me: &Me, rma: Vouched<'_, RmaDesc>, _done: Completion) -> Status {
        // SAFETY: as in `get`.
        unsafe { core::ptr::copy(rma.local, rma.remote as usize as *mut u8, rma.len as usize) };
        Status::OK
    }
}

impl BtlFlush for SelfModule {
    /// Everything was complete when its call returned.
    fn flush(&self, _at: &mut At<'_>, _me: Option<&Me>, _done: Completion) -> Status {
        Status::OK
    }
}

impl BtlAtomics for SelfModule {
    fn atomic(&self, _at: &mut At<'_>, _me: &Me, op: Vouched<'_, AtomicDesc>, _done: Completion) -> Status {
        // SAFETY: the address is this process's own, named by the caller; alignment is checked there.
        unsafe { amo::apply(&op) }
    }
}

impl BtlHold for SelfModule {
    fn hold(&self, _me: &Me, oldest: u64) {
        // SYNC POINT with `held`: what waited before was sent before.
        self.held.store(oldest, Ordering::Release);
    }
    fn held(&self, _me: &Me) -> u64 {
        // SYNC POINT with `hold`.
        self.held.load(Ordering::Acquire)
    }
}

impl BtlSleep for SelfModule {
    fn arm(&self, at: &mut At<'_>, _set: &mut WaitSet) -> Status {
        // The queue can only fill by a call of this process on this context, and whoever holds the
        // context is about to sleep: an empty queue stays empty, so nobody needs to wake anybody.
        if at.is_empty() { Status::OK } else { Status::PENDING }
    }

    fn disarm(&self, _at: &mut At<'_>) {}
}
