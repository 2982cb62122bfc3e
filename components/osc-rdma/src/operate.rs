//! Operations that a call starts and waits for.

use crate::call::Call;
use crate::issue::Issue;
use crate::op::Op;
use crate::peer::{Link, Peer};
use oxmpi_btl::RegHandle;
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::{AtomicI32, Ordering};

/// In a waiter's word: not ended.
pub const UNDER_WAY: i32 = Status::PENDING.0;

/// Where an operation that somebody waits for says how it ended.
pub struct Waiter(AtomicI32);

impl Default for Waiter {
    fn default() -> Waiter {
        Waiter(AtomicI32::new(UNDER_WAY))
    }
}

impl<'a> Call<'a> {
    /// Runs an operation to its end: `issue` starts its pieces.
    pub fn run(
        &self,
        peer: &Peer,
        link: &Link,
        issue: impl FnOnce(&mut Issue<'a, '_>),
    ) -> Result<(), Status> {
        let waiter = Waiter::default();
        let ctx = self.set_off(&waiter, peer, link, issue);
        self.finish(&waiter, ctx)
    }

    /// Starts an operation that `finish` is called for before the waiter goes; its context.
    pub fn set_off(
        &self,
        waiter: &Waiter,
        peer: &Peer,
        link: &Link,
        issue: impl FnOnce(&mut Issue<'a, '_>),
    ) -> u32 {
        let op = Op { waiter: &waiter.0, ..Op::new(self.rdma(), peer) };
        let mut pieces = Issue::begin(*self, link, op);
        issue(&mut pieces);
        pieces.end()
    }

    /// Waits for an operation that was started.
    pub fn finish(&self, waiter: &Waiter, ctx: u32) -> Result<(), Status> {
        // SYNC POINT with `Op::end`.
        let status = || waiter.0.load(Ordering::Acquire);
        let waited = self.win.comm.until_idle(self.thread, || u64::from(status() == UNDER_WAY) << ctx);
        match Status(status()) {
            // Nothing ends it any more only where the host cannot wait: not while a window lives.
            _ if waited.is_err() => Err(waited),
            status if status.is_err() => Err(status),
            _ => Ok(()),
        }
    }

    /// Reads a rank's memory.
    pub fn fetch(
        &self,
        peer: &Peer,
        link: &Link,
        remote: u64,
        handle: *const RegHandle,
        into: &mut [u8],
    ) -> Result<(), Status> {
        let local = self.scratch(link, into.len())?;
        self.run(peer, link, |pieces| {
            pieces.get(&local, 0, remote, into.len() as u64, handle);
        })?;
        // SAFETY: as many bytes as were asked for.
        unsafe { core::ptr::copy_nonoverlapping(local.at(), into.as_mut_ptr(), into.len()) };
        Ok(())
    }
}
