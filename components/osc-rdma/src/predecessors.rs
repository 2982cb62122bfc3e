//! Waiting of an operation for the writes that it has to come behind (`writes.rs`).

use crate::batch::Batch;
use crate::call::Call;
use crate::layout::Block;
use crate::order::Touch;
use crate::peer::{Lane, Met, Route};
use crate::writes::{self, Kind, LaneSet, Places};
use oxmpi_mca::Status;
use oxmpi_mca::cri;
use oxmpi_mca::sync::unmodelled::Ordering;

impl Call<'_> {
    /// Operations to a rank that are complete at the origin by now have to come before those that follow.
    pub fn settle_at_origin(&mut self, peer: Met<'_>) {
        let Some(route) = peer.route() else { return };
        let (link, unordered) = (route.link(), self.win.rules.unordered());
        for (ctx, lane) in (0..).zip(&link.lanes) {
            if lane.batch.has_results() {
                self.send_batch(route, ctx);
            }
            if unordered {
                continue;
            }
            if lane.batch.waits() && !link.fences.has_batch(ctx) {
                let mut held = self.enter(ctx);
                // Sent meanwhile, it is under way and waited for. SYNC POINT with `send_batch`.
                if lane.batch.waits() {
                    link.fences.batch_waits(&mut held);
                }
            }
            // SYNC POINT with `Lane::flushed`.
            if !link.remote_done && lane.written.load(Ordering::Acquire) != 0 {
                link.fences.lane_wrote(ctx);
            }
        }
    }

    /// Waits until an operation on blocks at a rank may be issued: what it overlaps is there. `batch`: the lane whose batch it is going to join.
    #[inline]
    pub fn wait_for_writes(
        &mut self,
        route: Route<'_>,
        kind: Kind,
        batch: Option<u32>,
        blocks: &[Block],
    ) -> Result<(), Status> {
        let (unsent, sent) = route.link().fences.lanes();
        let unsent = unsent & !batch.map_or(0, writes::set_of);
        if unsent | sent == 0 || self.win.rules.unordered() {
            return Ok(());
        }
        self.wait_for_lanes(route, kind, (unsent, unsent | sent), &Places::of(blocks))
    }

    /// The same for a put of one block that is going to join a lane's batch.
    #[cold]
    #[inline(never)]
    pub fn wait_behind(&mut self, route: Route<'_>, ctx: u32, at: u64, len: u64) -> Result<(), Status> {
        self.wait_for_writes(route, Kind::TRANSFER, Some(ctx), &[Block { at, len, packed: 0 }])
    }

    #[cold]
    fn wait_for_lanes(
        &mut self,
        route: Route<'_>,
        kind: Kind,
        (unsent, all): (LaneSet, LaneSet),
        places: &Places,
    ) -> Result<(), Status> {
        let mut marks: Vec<(&Lane, u32, u64)> = Vec::new();
        for (ctx, lane) in (0..).zip(&route.link().lanes).filter(|(ctx, _)| all & writes::set_of(*ctx) != 0) {
            let mut held = self.enter(ctx);
            if unsent & writes::set_of(ctx) != 0 && lane.batch.meets(&mut held, places) {
                drop(held);
                self.send_batch(route, ctx);
                held = self.enter(ctx);
            }
            let found = lane.record.find(&mut held, &lane.flow, kind, places);
            if found.empty {
                route.link().fences.lane_is_clean(&mut held);
            }
            drop(held);
            if found.unflushed {
                self.flush_lane(route, ctx);
            }
            if found.waits {
                marks.push((lane, ctx, lane.flow.mark()));
            }
        }
        let under_way = |&(lane, ctx, mark): &(&Lane, u32, u64)| match lane.flow.is_complete(mark) {
            true => 0,
            false => cri::set_of(ctx),
        };
        let contexts = || marks.iter().fold(0, |contexts, mark| contexts | under_way(mark));
        let waited = if contexts() == 0 { Status::OK } else { self.until_idle(contexts) };
        if waited.is_err() { Err(waited) } else { Ok(()) }
    }

    /// Waits until such an accumulate may go ahead, and notes that it is under way.
    pub fn wait_for_order(&mut self, peer: Met<'_>, touch: Touch) -> Result<(), Status> {
        let orders = self.win.rules.orders();
        if peer.ordered.begin(touch, orders) {
            return Ok(());
        }
        let batches = || peer.peer().link.iter().flat_map(|link| &link.lanes).map(|lane| &lane.batch);
        loop {
            // The accumulates before it may wait in a batch, now or later.
            if let Some(route) = peer.route() {
                for (ctx, lane) in (0..).zip(&route.link().lanes) {
                    if lane.batch.waits() {
                        self.send_batch(route, ctx);
                    }
                }
            }
            let mut begun = false;
            let waited = self.until(|| {
                begun = peer.ordered.begin(touch, orders);
                begun || batches().any(Batch::waits)
            });
            if waited.is_err() || begun {
                return waited.ok().map(|_| ());
            }
        }
    }
}
