//! Waiting of an operation for the writes that it has to come behind (`writes.rs`).

use crate::call::Call;
use crate::issue::Issue;
use crate::layout::Block;
use crate::op::Op;
use crate::order::Touch;
use crate::peer::{Lane, Link, Peer};
use crate::writes::{Kind, Places};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::Ordering;

impl Call<'_> {
    /// Operations to a rank that are complete at the origin by now have to come before those that follow.
    pub fn settle_at_origin(&self, peer: &Peer) {
        let Some(link) = peer.link.as_ref().filter(|_| !self.win.rules.unordered()) else { return };
        for (ctx, lane) in (0..).zip(&link.lanes) {
            if lane.batch.waits() && !link.fences.has_batch(ctx) {
                let _inside = self.enter(ctx);
                // Sent meanwhile, it is under way and waited for. SYNC POINT with `send_batch`.
                if lane.batch.waits() {
                    link.fences.batch_waits(ctx);
                }
            }
            // SYNC POINT with `flush_lane`.
            if !link.remote_done && lane.written.load(Ordering::Acquire) != 0 {
                link.fences.lane_wrote(ctx);
            }
        }
    }

    /// Waits until an operation on blocks at a rank may be issued: what it overlaps is there. `batch`: the lane whose batch it is going to join.
    #[inline]
    pub fn wait_for_writes(
        &self,
        peer: &Peer,
        link: &Link,
        kind: Kind,
        batch: Option<u32>,
        blocks: &[Block],
    ) -> Result<(), Status> {
        let (unsent, sent) = link.fences.lanes();
        let unsent = unsent & !batch.map_or(0, |ctx| 1 << ctx);
        if unsent | sent == 0 || self.win.rules.unordered() {
            return Ok(());
        }
        self.wait_for_lanes(peer, link, kind, (unsent, unsent | sent), &Places::of(blocks))
    }

    /// The same for a put of one block that is going to join a lane's batch.
    #[cold]
    #[inline(never)]
    pub fn wait_behind(&self, peer: &Peer, link: &Link, ctx: u32, at: u64, len: u64) -> Result<(), Status> {
        self.wait_for_writes(peer, link, Kind::TRANSFER, Some(ctx), &[Block { at, len, packed: 0 }])
    }

    #[cold]
    fn wait_for_lanes(
        &self,
        peer: &Peer,
        link: &Link,
        kind: Kind,
        (unsent, all): (u64, u64),
        places: &Places,
    ) -> Result<(), Status> {
        let mut marks: Vec<(&Lane, u32, u64)> = Vec::new();
        for (ctx, lane) in (0..).zip(&link.lanes).filter(|(ctx, _)| all & (1 << ctx) != 0) {
            let mut inside = self.enter(ctx);
            // SAFETY: the context is entered.
            if unsent & (1 << ctx) != 0 && unsafe { lane.batch.meets(places) } {
                Issue::send_batch(*self, link, peer, ctx, inside);
                inside = self.enter(ctx);
            }
            // SAFETY: as above.
            let found = unsafe { lane.record.find(&lane.flow, kind, places) };
            if found.empty {
                link.fences.lane_is_clean(ctx);
            }
            drop(inside);
            if found.unflushed {
                self.flush_lane(peer, link, ctx);
            }
            if found.waits {
                marks.push((lane, ctx, lane.flow.mark()));
            }
        }
        let under_way =
            |&(lane, ctx, mark): &(&Lane, u32, u64)| u64::from(!lane.flow.is_complete(mark)) << ctx;
        let contexts = || marks.iter().fold(0, |contexts, mark| contexts | under_way(mark));
        let waited =
            if contexts() == 0 { Status::OK } else { self.win.comm.until_idle(self.thread, contexts) };
        if waited.is_err() { Err(waited) } else { Ok(()) }
    }

    /// Issues a flush of the transport's behind what was written, as one more operation.
    pub fn flush_lane(&self, peer: &Peer, link: &Link, ctx: u32) {
        let inside = self.enter(ctx);
        let mut pieces = Issue::begin_on_context(*self, link, ctx, inside, Op::new(self.rdma(), peer));
        // It is counted: whoever finds nothing written finds this flush under way. SYNC POINT with `begin_settling`.
        let lane = &link.lanes[ctx as usize];
        lane.written.store(0, Ordering::Release);
        // SAFETY: the context is entered, and the flush counted.
        unsafe { lane.record.flush(&lane.flow) };
        pieces.flush();
        pieces.end();
    }

    /// Waits until such an accumulate may go ahead, and notes that it is under way.
    pub fn wait_for_order(&self, peer: &Peer, touch: Touch) -> Result<(), Status> {
        let orders = self.win.rules.orders();
        let waited = self.until(|| peer.ordered.begin(touch, orders));
        if waited.is_err() { Err(waited) } else { Ok(()) }
    }
}
