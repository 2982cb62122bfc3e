//! Operations that a call starts and waits for.

use crate::call::Call;
use crate::issue::NOTHING;
use crate::local::{Local, Scratch};
use crate::op::{Plan, Waiting};
use crate::peer::Route;
use crate::piece::{Piece, Stretch, gets};
use crate::wire::RemoteRegistration;
use oxmpi_mca::Status;

impl Call<'_> {
    /// Runs an operation to its end; its local memory.
    pub fn run<'p>(
        &mut self,
        route: Route<'_>,
        local: Option<Scratch>,
        pieces: impl Iterator<Item = Piece<'p>>,
    ) -> Result<Option<Scratch>, Status> {
        let plan = Plan { local: local.map(Local::Scratch), ..Plan::default() };
        let waiting = self.set_off(route, plan, pieces, NOTHING);
        self.finish(waiting)
    }

    /// Waits for an operation that was started; its local memory. After a failure to wait it keeps that, and is left to itself: that is so only where the host
    /// cannot wait, which is not while a window lives.
    pub fn finish(&mut self, waiting: Waiting) -> Result<Option<Scratch>, Status> {
        self.until_idle(|| u64::from(waiting.is_under_way()) << waiting.ctx()).ok()?;
        Ok(match waiting.end()? {
            Some(Local::Scratch(scratch)) => Some(scratch),
            _ => None,
        })
    }

    /// Reads a rank's memory, into local memory of so many bytes.
    pub fn fetch(
        &mut self,
        route: Route<'_>,
        remote: u64,
        registration: &RemoteRegistration,
        len: usize,
    ) -> Result<Scratch, Status> {
        let local = self.scratch(route.link(), len)?;
        let stretch = Stretch { local: 0, remote, len: len as u64, registration };
        let read = self.run(route, Some(local), gets(route, core::iter::once(stretch)))?;
        read.ok_or(Status::INTERNAL)
    }
}
