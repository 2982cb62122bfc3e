//! Waiting of a call for all that was issued before.

use crate::call::Call;
use crate::mapped_targets::barrier;
use crate::peer::{Lane, Met};
use oxmpi_mca::Status;
use oxmpi_mca::cri::set_of;
use oxmpi_mca::sync::unmodelled::Ordering;

impl Call<'_> {
    /// Waits until all that was issued before has ended, at the targets too if `remote`; the first failure since the last time.
    pub fn settle(&mut self, peers: &[Met<'_>], remote: bool) -> Status {
        self.send_what_rests();
        if remote {
            self.begin_settling(peers);
        } else {
            peers.iter().for_each(|peer| self.settle_at_origin(*peer));
        }
        let mut marks: Vec<(&Lane, u32, u64)> = Vec::new();
        for peer in peers {
            let Some(link) = &peer.link else { continue };
            for (ctx, lane) in (0..).zip(&link.lanes) {
                if !lane.flow.is_empty() {
                    marks.push((lane, ctx, lane.flow.mark()));
                }
            }
        }
        let under_way = |&(lane, ctx, mark): &(&Lane, u32, u64)| match lane.flow.is_complete(mark) {
            true => 0,
            false => set_of(ctx),
        };
        let waited = self.until_idle(|| marks.iter().fold(0, |contexts, mark| contexts | under_way(mark)));
        barrier();
        let failures = peers.iter().map(|peer| peer.take_failure());
        failures.fold(waited, |first, next| if first.is_err() { first } else { next })
    }

    /// Sends the puts that wait, and issues the flushes of transports that `settle` would wait for.
    pub fn begin_settling(&mut self, peers: &[Met<'_>]) {
        for route in peers.iter().filter_map(|peer| peer.route()) {
            for (ctx, lane) in (0..).zip(&route.link().lanes) {
                if lane.batch.waits() {
                    self.send_batch(route, ctx);
                }
                // SYNC POINT with `Lane::flushed`.
                if !route.link().remote_done && lane.written.load(Ordering::Acquire) != 0 {
                    self.flush_lane(route, ctx);
                }
            }
        }
    }

    /// Sends all batches of the window that wait.
    #[inline]
    pub fn send_what_rests(&mut self) {
        if self.win.resting.any() {
            self.send_resting();
        }
    }

    #[cold]
    fn send_resting(&mut self) {
        let win = self.win;
        for route in win.resting.take().into_iter().filter_map(|rank| win.peers.get(rank)?.route()) {
            for (ctx, lane) in (0..).zip(&route.link().lanes) {
                if lane.batch.waits() {
                    self.send_batch(route, ctx);
                }
            }
        }
    }
}
