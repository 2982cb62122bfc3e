//! Pieces of an operation: one verb of a transport each. They name local memory by where it is in that of their operation, which has it until it ends.

use crate::local::Local;
use crate::op::{OwnPiece, done};
use crate::peer::Route;
use core::ptr::{null, null_mut};
use oxmpi_btl::{AtomicDesc, FlushDesc, RmaDesc, amo, cap};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{CriGuard, Status};
use oxmpi_osc_support::{Entries, RemoteRegistration};

/// Bytes between local memory and a rank's.
#[derive(Clone, Copy)]
pub struct Stretch<'p> {
    /// Where they are in local memory.
    pub local: u64,
    pub remote: u64,
    pub len: u64,
    /// Of the rank's memory.
    pub registration: &'p RemoteRegistration,
}

/// An atomic on a word of a rank.
#[derive(Clone, Copy)]
pub struct Amo {
    pub op: u32,
    pub flags: u32,
    pub operand: u64,
    pub compare: u64,
}

/// An atomic on a word of a rank, by a transport.
#[derive(Clone, Copy)]
pub struct RemoteAmo<'p> {
    pub amo: Amo,
    pub remote: u64,
    pub registration: &'p RemoteRegistration,
    /// Where its old value goes in local memory, if anywhere.
    pub result: Option<u64>,
}

pub enum Piece<'p> {
    /// Writes to the rank's memory.
    Put(Stretch<'p>),
    /// Reads it.
    Get(Stretch<'p>),
    Atomic(RemoteAmo<'p>),
    List(Entries<'p>),
    /// Completes what was put before at the rank; nothing where the transport does that by itself.
    Flush,
}

/// Puts of data, each as long as the transport takes.
pub fn puts<'p>(route: Route<'p>, all: impl Iterator<Item = Stretch<'p>>) -> impl Iterator<Item = Piece<'p>> {
    let limit = route.link().reach.btl().attrs().put_limit;
    cut(all, limit).map(Piece::Put)
}

/// Gets of data, each as long as the transport takes.
pub fn gets<'p>(route: Route<'p>, all: impl Iterator<Item = Stretch<'p>>) -> impl Iterator<Item = Piece<'p>> {
    let limit = route.link().reach.btl().attrs().get_limit;
    cut(all, limit).map(Piece::Get)
}

/// Lists of entries, each as long as may be.
pub fn lists<'p>(entries: Entries<'p>, limit: u64) -> impl Iterator<Item = Piece<'p>> {
    entries.lists(limit).map(Piece::List)
}

/// Cuts stretches that are longer than the limit, if that is not 0.
fn cut<'p>(mut all: impl Iterator<Item = Stretch<'p>>, limit: u64) -> impl Iterator<Item = Stretch<'p>> {
    let most = if limit == 0 { u64::MAX } else { limit };
    let mut rest: Option<Stretch<'p>> = None;
    core::iter::from_fn(move || {
        let mut now = match rest.take() {
            Some(rest) => rest,
            None => all.find(|stretch| stretch.len > 0)?,
        };
        if now.len > most {
            let (local, remote) = (now.local + most, now.remote.wrapping_add(most));
            rest = Some(Stretch { local, remote, len: now.len - most, ..now });
            now.len = most;
        }
        Some(now)
    })
}

impl Piece<'_> {
    /// Offers it to the transport on the context that is held, as a piece of that operation. Its local memory must lie in the operation's.
    pub fn offer(&self, held: &mut CriGuard<'_>, route: Route<'_>, own: &OwnPiece) -> Status {
        let (btl, to) = (route.link().reach.btl(), route.link().reach.endpoint);
        if matches!(self, Piece::Put(_) | Piece::Atomic(_)) {
            route.lane(held.ctx()).written.store(1, Ordering::Relaxed);
        }
        let (done, done_ctx) = (Some(done as oxmpi_btl::Done), own.done_ctx());
        // Of all verbs: the endpoint is the transport's, and stays as long as the instance. Local memory is the operation's, which keeps it until its
        // last piece has ended; `part` and `check` have compared where it is. All else that a piece names is read during the call.
        match self {
            Piece::Put(stretch) => {
                let local = part(own.local(), Some(stretch.local), stretch.len);
                let rma = stretch.desc(local, done, done_ctx);
                // SAFETY: the bytes can be read until `done`; endpoint and registration as said.
                unsafe { btl.put(held, to, &rma) }
            }
            Piece::Get(stretch) => {
                let local = part(own.local(), Some(stretch.local), stretch.len);
                let rma = stretch.desc(local, done, done_ctx);
                // SAFETY: the bytes can be written until `done`; endpoint and registration as said.
                unsafe { btl.get(held, to, &rma) }
            }
            Piece::Atomic(RemoteAmo { amo, remote, registration, result }) => {
                let width = if amo.flags & amo::WIDTH_32 == 0 { 8 } else { 4 };
                let (result, local_handle) = part(own.local(), *result, width);
                let desc = AtomicDesc {
                    result: result.cast(),
                    local_handle,
                    remote: *remote,
                    remote_handle: registration.handle(),
                    op: amo.op,
                    flags: amo.flags,
                    operand: amo.operand,
                    compare: amo.compare,
                    done,
                    done_ctx,
                };
                // SAFETY: the old value has a place until `done`, or is not wanted; endpoint and registration as said.
                unsafe { btl.atomic(held, to, &desc) }
            }
            Piece::List(entries) => {
                check(entries, own.local());
                // SAFETY: results have their places until `done`; the entries, and what they name, are borrowed as long as this piece.
                unsafe { btl.list(held, to, &entries.desc(crate::op::done, done_ctx)) }
            }
            Piece::Flush if !btl.can(cap::FLUSH) => Status::OK,
            // SAFETY: the endpoint as said; a flush names nothing else.
            Piece::Flush => unsafe { btl.flush(held, to, &FlushDesc { done, done_ctx }) },
        }
    }
}

/// A part of an operation's local memory for a verb; null: none is wanted. Panics if it is not in there.
fn part(local: Option<&Local>, from: Option<u64>, len: u64) -> (*mut u8, *const oxmpi_btl::RegHandle) {
    let Some(from) = from else { return (null_mut(), null()) };
    match local {
        Some(local) if from.checked_add(len).is_some_and(|end| end <= local.len()) => {
            (local.at().wrapping_add(from as usize), local.handle())
        }
        _ => panic!("a piece of an operation has local memory that is not the operation's"),
    }
}

/// Panics unless results of a list go to an operation's local memory, or nowhere.
fn check(entries: &Entries<'_>, local: Option<&Local>) {
    if let Some(results) = entries.results() {
        assert!(
            local.is_some_and(|local| local.at() == results.at()),
            "results go to the operation's memory"
        );
    }
}

impl Stretch<'_> {
    fn desc(
        &self,
        (local, local_handle): (*mut u8, *const oxmpi_btl::RegHandle),
        done: Option<oxmpi_btl::Done>,
        done_ctx: *mut core::ffi::c_void,
    ) -> RmaDesc {
        let (remote, len, remote_handle) = (self.remote, self.len, self.registration.handle());
        RmaDesc { local, remote, len, local_handle, remote_handle, done, done_ctx }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_cut_to_the_transport_s_limit() {
        let registration = &RemoteRegistration::NONE;
        let all = |len, limit| {
            let stretch = Stretch { local: 8, remote: 100, len, registration };
            let parts = cut(core::iter::once(stretch), limit);
            parts.map(|part| (part.local, part.remote, part.len)).collect::<Vec<_>>()
        };
        assert_eq!(all(10, 0), [(8, 100, 10)]);
        assert_eq!(all(10, 4), [(8, 100, 4), (12, 104, 4), (16, 108, 2)]);
        assert_eq!(all(8, 4), [(8, 100, 4), (12, 104, 4)]);
        assert_eq!(all(0, 4), []);
    }
}
