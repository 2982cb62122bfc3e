//! A verb's way to its window, which is locked for a moment or waited for, and the ranks' meeting while a window is made.

use super::desk::Desk;
use super::inside::{Arrivals, Core, Inside};
use crate::comm::Comm;
use oxmpi_mca::{Entry, Status};

/// The answer of a verb: a value, or the status of MPI's error class.
pub type Result<T = ()> = core::result::Result<T, Status>;

fn done(status: Status) -> Result {
    status.ok().map(drop)
}

/// A call of a verb, for its window. Other threads may be inside of verbs of the same window.
///
/// A wait needs the call, which whoever has locked the window has borrowed:
///
/// ```compile_fail,E0499
/// use oxmpi_osc_support::simple::{Call, Window};
/// fn waits_inside<W: Window>(call: &mut Call<'_, W>) {
///     call.with(|_, _| call.progress());
/// }
/// ```
pub struct Call<'a, W> {
    entry: &'a mut Entry,
    core: &'a Core<W>,
}

impl<'a, W: Arrivals> Call<'a, W> {
    pub(super) fn new(entry: &'a mut Entry, core: &'a Core<W>) -> Call<'a, W> {
        Call { entry, core }
    }

    /// Tells which rank this process is.
    pub fn rank(&self) -> u32 {
        self.core.comm.rank()
    }

    /// Tells how many ranks the window has.
    pub fn num_ranks(&self) -> u32 {
        self.core.comm.num_ranks()
    }

    /// Looks at the window or changes it, locked; then messages go out, and some that came are taken.
    pub fn with<R>(&mut self, change: impl FnOnce(&mut W, &mut Desk) -> R) -> R {
        let answer = {
            let Inside { window, desk } = &mut *self.core.inside();
            change(window, desk)
        };
        self.core.turn(self.entry);
        answer
    }

    /// Makes progress until the window, which is locked for each question, answers with yes.
    pub fn until(&mut self, mut question: impl FnMut(&mut W) -> bool) -> Result {
        let core = self.core;
        done(core.comm.until(self.entry, || question(&mut core.inside().window)))
    }

    /// Makes progress until all messages of this rank have ended.
    pub(super) fn until_sent(&mut self) -> Result {
        let core = self.core;
        done(core.comm.until(self.entry, || core.has_sent_all()))
    }

    /// Makes one turn of progress.
    pub fn progress(&mut self) {
        self.core.comm.progress(self.entry);
    }

    /// Waits until all ranks are here.
    pub fn barrier(&mut self) -> Result {
        done(self.core.comm.barrier(self.entry))
    }

    /// Agrees with all ranks on a result: each gets a failure if any has one.
    pub fn agree(&mut self, own: Result) -> Result {
        let own = own.err().unwrap_or(Status::OK);
        done(self.core.comm.agree(self.entry, own))
    }
}

/// The ranks of a window that is being made, each of which is in [`Osc::create`](super::Osc::create).
pub struct Meeting<'a> {
    entry: &'a mut Entry,
    comm: &'a Comm,
}

impl<'a> Meeting<'a> {
    pub(super) fn new(entry: &'a mut Entry, comm: &'a Comm) -> Meeting<'a> {
        Meeting { entry, comm }
    }

    /// Tells which rank this process is.
    pub fn rank(&self) -> u32 {
        self.comm.rank()
    }

    /// Tells how many ranks the window has.
    pub fn num_ranks(&self) -> u32 {
        self.comm.num_ranks()
    }

    /// Tells all ranks the same number of words, and learns theirs, in the order of ranks.
    pub fn tell_all<const N: usize>(&mut self, own: [u64; N]) -> Result<Vec<[u64; N]>> {
        let mut all = vec![0; N * self.comm.num_ranks() as usize];
        done(self.comm.allgather(self.entry, &own, &mut all))?;
        Ok(all.as_chunks::<N>().0.to_vec())
    }
}
