//! The verbs of the contract, by name.

use crate::context::{At, Context};
use crate::device::Shm;
use crate::sender::outgoing::Endpoint;
use crate::service::link;
use crate::sys::{self, Direction};
use oxmpi_btl::{
    Btl, BtlAttrs, BtlFlush, BtlGet, BtlGetVector, BtlHold, BtlPut, BtlSleep, Completion, Contexts, Message,
    Peer, ProcInfo, RmaDesc, RmaVectorDesc, Vouched, WaitSet, WaitWord,
};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;

impl Btl for Shm {
    type Context = Context;
    type Endpoint = Endpoint;
    type Lane = ();

    fn attrs(&self) -> BtlAttrs {
        let s = &self.settings;
        let shared = self.host.job().oversubscribed != 0;
        let min_get_size = s.min_get(shared, self.xpmem.is_some());
        // Where ranks share cores, who asks to be read waits until the reader has a core.
        let reads = if min_get_size < u64::MAX && !shared { BtlAttrs::GET_COST_VARIES } else { 0 };
        let mut attrs = BtlAttrs {
            eager_limit: s.eager_limit(self.host.job().local_size),
            rndv_eager_limit: s.rndv_eager_limit(self.host.job().local_size),
            max_send_size: self.max_send_size,
            min_get_size,
            latency: s.latency,
            bandwidth: s.bandwidth,
            exclusivity: s.exclusivity,
            service_limit: link::MOST as u32,
            flags: BtlAttrs::VISIBLE_AT_ONCE | BtlAttrs::PARTIAL_DELIVERY | reads,
            ..BtlAttrs::new()
        };
        attrs.device[..3].copy_from_slice(b"shm");
        attrs
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Endpoint>, Status> {
        let job = self.host.job();
        if proc.local == 0 {
            return Ok(None);
        }
        if proc.segment != 0 {
            let joined = self.join(proc)?;
            return Ok(joined.map(|(peer, joined)| Endpoint { peer, stamps: joined.stamps(peer) }));
        }
        if proc.node != job.node || proc.local_rank == self.local_rank {
            return Ok(None);
        }
        if proc.local_rank >= job.local_size {
            return Err(Status::BAD_PARAM);
        }
        let peer = proc.local_rank;
        Ok(Some(Endpoint { peer, stamps: self.first.stamps(peer) }))
    }

    fn del_proc(&self, to: &Endpoint) {
        if to.peer >= self.ranks() {
            self.take_leave(to.peer);
        }
    }

    fn lane(&self, _to: &Endpoint, _ctx: u32) {}

    #[inline(always)]
    fn send(&self, at: &mut At<'_>, to: &Peer<Shm>, msg: &Message<'_>) -> Status {
        self.send_on(at, to.peer, msg)
    }

    #[inline(always)]
    fn progress(&self, at: &mut At<'_>) -> i32 {
        self.turn(at)
    }

    /// Messages that peers have not read yet stay in the segment for them. In a child after `fork` this
    /// unmaps the child's copy and says nothing to anyone.
    fn finalize(&self, all: &mut Contexts<'_, Context>) {
        if sys::pid() == self.pid {
            for ctx in 0..all.count() {
                let mut at = all.enter(ctx);
                at.receiver.close();
                at.further.close();
                if let Some(device) = &self.xpmem {
                    at.attached.clear(device.as_ref());
                }
            }
            self.segment().leave(self.local_rank);
            self.further.leave_all();
        }
    }
}

impl BtlGet for Shm {
    fn get(&self, at: &mut At<'_>, from: &Peer<Shm>, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        self.copy_memory(Direction::Read, at, from.peer, rma, done)
    }
}

impl BtlGetVector for Shm {
    fn get_vector(&self, at: &mut At<'_>, from: &Peer<Shm>, rma: Vouched<'_, RmaVectorDesc>) -> Status {
        self.read_pieces(at, from.peer, rma)
    }
}

impl BtlPut for Shm {
    fn put(&self, at: &mut At<'_>, to: &Peer<Shm>, rma: Vouched<'_, RmaDesc>, done: Completion) -> Status {
        self.copy_memory(Direction::Write, at, to.peer, rma, done)
    }
}

impl BtlFlush for Shm {
    fn flush(&self, _at: &mut At<'_>, _to: Option<&Peer<Shm>>, _done: Completion) -> Status {
        self.flush_puts()
    }
}

impl BtlHold for Shm {
    fn hold(&self, to: &Peer<Shm>, oldest: u64) {
        // SYNC POINT with `held`: what waited before was sent before.
        if let Some(joined) = self.segment_of(to.peer) {
            joined.segment.stamp(to.stamps[0]).store(oldest, Ordering::Release);
        }
    }
    fn held(&self, to: &Peer<Shm>) -> u64 {
        // SYNC POINT with `hold`: who sees a later word sees what was sent before it.
        self.segment_of(to.peer)
            .map_or(0, |joined| joined.segment.stamp(to.stamps[1]).load(Ordering::Acquire))
    }
}

impl BtlSleep for Shm {
    fn arm(&self, at: &mut At<'_>, set: &mut WaitSet) -> Status {
        let Some(word) = self.arm_ctx(at) else { return Status::PENDING };
        let further = at.further.bells().map(|addr| WaitWord { addr, ..word });
        let refused =
            core::iter::once(word).chain(further).map(|word| set.add_word(word)).find(|s| s.is_err());
        refused.unwrap_or(Status::OK)
    }
    fn disarm(&self, at: &mut At<'_>) {
        self.disarm_ctx(at)
    }
}
