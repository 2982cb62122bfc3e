//! Notified put and get, and the counters of this rank that they add to.
//!
//! **Order.** A counter is a state word of its target; it is added to once the data is where it belongs. On mapped memory the copy is
//! followed by one atomic. By a transport operations overtake each other, so the call waits until its own operation is complete at the target, for the transport
//! alone and for nothing that was issued before it; then the atomic goes on its way, which the next flush waits for.
//!
//! A reader of the counter sees the data: the add releases what was stored before it and the look acquires it; over a transport the data was
//! written before the add was issued.

use crate::call::Call;
use crate::mapped_targets::barrier;
use crate::op::Op;
use crate::operate::UNDER_WAY;
use crate::peer::{Link, Peer};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicI32, AtomicU64, Ordering};
use oxmpi_osc::RmaArgs;

impl<'a> Call<'a> {
    pub fn notified(&self, args: &RmaArgs, put: bool, counter: u32) -> Result<(), Status> {
        let win = self.win;
        let word = win.shelf().layout.notification(counter).ok_or(Status::BAD_PARAM)?;
        if !win.epochs.is_passive() {
            return Err(Status::RMA_SYNC);
        }
        let peer = self.target(args.target)?;
        if !win.copies(args, put) {
            let ended = AtomicI32::new(UNDER_WAY);
            let started = self.transfer(args, put, Op { waiter: &ended, ..Op::new(self.rdma(), peer) })?;
            if let (true, Some(link)) = (started, &peer.link) {
                self.wait_until_complete(peer, link, &ended, put)?;
            }
        }
        self.add_later(peer, word, 1)
    }

    /// Waits until an operation of this thread's context is complete, a put also at its target.
    fn wait_until_complete(
        &self,
        peer: &Peer,
        link: &Link,
        ended: &AtomicI32,
        put: bool,
    ) -> Result<(), Status> {
        let ctx = self.context(link);
        // SYNC POINT with `Op::end`.
        let under_way = || ended.load(Ordering::Acquire) == UNDER_WAY;
        self.win.comm.until_idle(self.thread, || u64::from(under_way()) << ctx).ok()?;
        Status(ended.load(Ordering::Acquire)).ok()?;
        if put && !link.remote_done {
            self.run(peer, link, |pieces| {
                pieces.flush();
            })?;
        }
        Ok(())
    }

    /// A counter of this rank.
    fn counter(&self, counter: u32) -> Result<&'a AtomicU64, Status> {
        let word = self.win.shelf().layout.notification(counter).ok_or(Status::BAD_PARAM)?;
        let own = self.peer(self.win.comm.rank())?;
        own.mapped_word(word).ok_or(Status::INTERNAL)
    }

    pub fn notifications(&self, counter: u32, reset: bool) -> Result<u64, Status> {
        let word = self.counter(counter)?;
        // Programs loop over it until a notification has come, perhaps by this rank's own progress.
        (self.win.comm.services().progress)(self.win.comm.get().comm, self.thread);
        let value = match reset {
            true => word.swap(0, Ordering::SeqCst),
            false => word.load(Ordering::SeqCst),
        };
        barrier();
        Ok(value)
    }

    pub fn await_notifications(&self, counter: u32, threshold: u64) -> Result<u64, Status> {
        let word = self.counter(counter)?;
        self.until(|| word.load(Ordering::SeqCst) >= threshold).ok()?;
        barrier();
        Ok(word.load(Ordering::SeqCst))
    }
}
