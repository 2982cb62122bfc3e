//! The verbs of the contract, by name.

use crate::device::Shm;
use crate::sender::outgoing::Endpoint;
use crate::service::link;
use crate::sys::{self, Direction};
use oxmpi_btl::{
    Btl, BtlAttrs, BtlFlush, BtlGet, BtlGetVector, BtlHold, BtlPut, BtlSleep, FlushDesc, Message, ProcInfo,
    RmaDesc, RmaVectorDesc, WaitSet,
};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;

impl Btl for Shm {
    type Endpoint = Endpoint;

    fn attrs(&self) -> BtlAttrs {
        let s = &self.settings;
        let shared = self.host.job().oversubscribed != 0;
        let min_get_size = s.min_get(shared, self.xpmem.is_some());
        // Where ranks share cores, who asks to be read waits until the reader has a core.
        let reads = if min_get_size < u64::MAX && !shared { BtlAttrs::GET_COST_VARIES } else { 0 };
        let mut attrs = BtlAttrs {
            contexts: self.contexts(),
            eager_limit: s.eager_limit(self.host.job().local_size),
            rndv_eager_limit: s.rndv_eager_limit(self.host.job().local_size),
            max_send_size: self.max_send_size,
            min_get_size,
            latency: s.latency,
            bandwidth: s.bandwidth,
            exclusivity: s.exclusivity,
            service_limit: link::MOST as u32,
            flags: BtlAttrs::VISIBLE_AT_ONCE | reads,
            ..BtlAttrs::new()
        };
        attrs.device[..3].copy_from_slice(b"shm");
        attrs
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Box<Endpoint>>, Status> {
        let job = self.host.job();
        if proc.local == 0 || proc.node != job.node || proc.local_rank == self.local_rank {
            return Ok(None);
        }
        if proc.local_rank >= job.local_size {
            return Err(Status::BAD_PARAM);
        }
        let first = (proc.local_rank * self.contexts()) as usize;
        Ok(Some(Box::new(Endpoint { peer: proc.local_rank, outgoing: &self.outgoing[first] })))
    }

    #[inline(always)]
    fn send(&self, endpoint: &Endpoint, ctx: u32, msg: &Message<'_>) -> Status {
        self.send_on(endpoint, ctx, msg)
    }

    #[inline(always)]
    fn progress(&self, ctx: u32) -> i32 {
        self.turn(ctx)
    }

    /// Messages that peers have not read yet stay in the segment for them. In a child after `fork` this
    /// unmaps the child's copy and says nothing to anyone.
    fn finalize(&self) {
        if sys::pid() == self.pid {
            for receiver in &self.receivers {
                receiver.close();
                if let Some(device) = &self.xpmem {
                    receiver.attached.borrow_mut().clear(device.as_ref());
                }
            }
            self.segment.leave(self.local_rank);
        }
    }
}

impl BtlGet for Shm {
    fn get(&self, endpoint: &Endpoint, ctx: u32, rma: &RmaDesc) -> Status {
        self.copy_memory(Direction::Read, endpoint, ctx, rma)
    }
}

impl BtlGetVector for Shm {
    fn get_vector(&self, endpoint: &Endpoint, ctx: u32, rma: &RmaVectorDesc) -> Status {
        self.read_pieces(endpoint, ctx, rma)
    }
}

impl BtlPut for Shm {
    fn put(&self, endpoint: &Endpoint, ctx: u32, rma: &RmaDesc) -> Status {
        self.copy_memory(Direction::Write, endpoint, ctx, rma)
    }
}

impl BtlFlush for Shm {
    fn flush(&self, _endpoint: Option<&Endpoint>, _ctx: u32, _flush: &FlushDesc) -> Status {
        self.flush_puts()
    }
}

impl BtlHold for Shm {
    fn hold(&self, endpoint: &Endpoint, oldest: u64) {
        // SYNC POINT with `held`: what waited before was sent before.
        self.segment.oldest_pending(endpoint.peer, self.local_rank).store(oldest, Ordering::Release);
    }
    fn held(&self, endpoint: &Endpoint) -> u64 {
        // SYNC POINT with `hold`: who sees a later word sees what was sent before it.
        self.segment.oldest_pending(self.local_rank, endpoint.peer).load(Ordering::Acquire)
    }
}

impl BtlSleep for Shm {
    fn arm(&self, ctx: u32, set: &mut WaitSet) -> Status {
        self.arm_ctx(ctx).map_or(Status::PENDING, |word| set.add_word(word))
    }
    fn disarm(&self, ctx: u32) {
        self.disarm_ctx(ctx)
    }
}
