//! Operations that a call starts and waits for.

use crate::call::Call;
use crate::issue::NOTHING;
use crate::local::{Local, Scratch};
use crate::op::{Draft, Ended, Waiting};
use crate::peer::Route;
use crate::piece::{Piece, Stretch, gets};
use oxmpi_mca::Status;
use oxmpi_mca::cri::set_of;
use oxmpi_osc_support::RemoteRegistration;

impl Call<'_> {
    /// Runs an operation to its end.
    pub fn run<'p>(
        &mut self,
        route: Route<'_>,
        local: Option<Scratch>,
        pieces: impl Iterator<Item = Piece<'p>>,
    ) -> Result<Ended, Status> {
        let mut op = Draft::default();
        op.local = local.map(Local::Scratch);
        let waiting = self.set_off(route, op, pieces, NOTHING);
        self.finish(waiting)
    }

    /// Waits for an operation that was started. After a failure to wait it is left to itself: that is so only where the host cannot wait, which is not while a
    /// window lives.
    pub fn finish(&mut self, waiting: Waiting) -> Result<Ended, Status> {
        self.until_idle(|| if waiting.is_under_way() { set_of(waiting.ctx()) } else { 0 }).ok()?;
        waiting.end()
    }

    /// Reads so many bytes of a rank's memory.
    pub fn fetch(
        &mut self,
        route: Route<'_>,
        remote: u64,
        registration: &RemoteRegistration,
        len: usize,
    ) -> Result<Ended, Status> {
        let local = self.scratch(route.link(), len)?;
        let stretch = Stretch { local: 0, remote, len: len as u64, registration };
        self.run(route, Some(local), gets(route, core::iter::once(stretch)))
    }
}
