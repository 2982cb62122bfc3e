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
use crate::op::Waiting;
use crate::peer::Met;
use crate::piece::Piece;
use crate::transfer::{Transfer, get_of, put_of};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicU64, Ordering};
use oxmpi_osc::Rma;

impl<'a> Call<'a> {
    /// A put that is told to its target.
    pub fn put_notified(&mut self, args: Rma<'_>, counter: u32) -> Result<(), Status> {
        let (word, peer) = self.notifiable(args.target, counter)?;
        if !self.win.puts(&args) {
            let (origin, shape) = put_of(&args)?;
            let under_way = self.notified_transfer(&args, Transfer::Put(origin), shape)?;
            self.wait_until_complete(peer, under_way, true)?;
        }
        self.add_later(peer, word, 1)
    }

    /// A get that is told to its target.
    pub fn get_notified(&mut self, args: Rma<'_>, counter: u32) -> Result<(), Status> {
        let (word, peer) = self.notifiable(args.target, counter)?;
        if !self.win.gets(&args) {
            let (origin, shape) = get_of(&args)?;
            let under_way = self.notified_transfer(&args, Transfer::Get(origin), shape)?;
            self.wait_until_complete(peer, under_way, false)?;
        }
        self.add_later(peer, word, 1)
    }

    /// The word of a counter, and the rank that it is of, to which the epoch allows notified operations.
    fn notifiable(&mut self, target: u32, counter: u32) -> Result<(u64, Met<'a>), Status> {
        let win = self.win;
        let word = win.shelf().layout.notification(counter).ok_or(Status::BAD_PARAM)?;
        if !win.epochs.is_passive() {
            return Err(Status::RMA_SYNC);
        }
        Ok((word, self.target(target)?))
    }

    /// Waits until an operation of this thread's context, if it is under way, is complete; one that wrote also at its target.
    fn wait_until_complete(
        &mut self,
        peer: Met<'_>,
        under_way: Option<Waiting>,
        wrote: bool,
    ) -> Result<(), Status> {
        let (Some(waiting), Some(route)) = (under_way, peer.route()) else { return Ok(()) };
        self.finish(waiting)?;
        if wrote && !route.link().remote_done {
            self.run(route, None, core::iter::once(Piece::Flush))?;
        }
        Ok(())
    }

    /// A counter of this rank.
    fn counter(&mut self, counter: u32) -> Result<&'a AtomicU64, Status> {
        let word = self.win.shelf().layout.notification(counter).ok_or(Status::BAD_PARAM)?;
        let own = self.peer(self.win.comm.rank())?;
        own.peer().mapped_word(word).ok_or(Status::INTERNAL)
    }

    /// Looks at a counter of this rank, behind a turn of progress, as `look` says.
    pub fn notifications(
        &mut self,
        counter: u32,
        look: impl FnOnce(&AtomicU64) -> u64,
    ) -> Result<u64, Status> {
        let word = self.counter(counter)?;
        self.send_what_rests();
        // Programs loop over it until a notification has come, perhaps by this rank's own progress.
        self.progress();
        let value = look(word);
        barrier();
        Ok(value)
    }

    pub fn await_notifications(&mut self, counter: u32, threshold: u64) -> Result<u64, Status> {
        let word = self.counter(counter)?;
        self.send_what_rests();
        self.until(|| word.load(Ordering::SeqCst) >= threshold).ok()?;
        barrier();
        Ok(word.load(Ordering::SeqCst))
    }
}
