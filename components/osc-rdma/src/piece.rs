//! Pieces of an operation: one verb of a transport each. They name local memory by where it is in that of their operation, which has it until it ends.

use crate::local::Local;
use crate::op::{OwnPiece, done};
use crate::peer::Route;
use crate::wire::RemoteRegistration;
use core::marker::PhantomData;
use core::ptr::{null, null_mut};
use oxmpi_btl::{AtomicDesc, FlushDesc, LIST_ASK, LIST_ENTRY, ListDesc, ListEntry, RmaDesc, amo, cap};
use oxmpi_mca::sync::unmodelled::Ordering;
use oxmpi_mca::{CriGuard, SliceRef, Status};

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
                entries.check(own.local());
                let all = SliceRef { ptr: entries.all.as_ptr(), len: entries.all.len() };
                let list = ListDesc { entries: all, done, done_ctx };
                // SAFETY: results have their places until `done`; the entries, and what they name, are borrowed as long as this piece.
                unsafe { btl.list(held, to, &list) }
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

/// Entries of a list, with the registrations and the data that they name.
pub struct Entries<'p> {
    all: Vec<ListEntry>,
    results: Option<Results>,
    named: PhantomData<&'p ()>,
}

/// The local memory that results go to.
#[derive(Clone, Copy)]
pub struct Results {
    at: *mut u8,
    len: u64,
    handle: *const oxmpi_btl::RegHandle,
}

impl Results {
    pub fn of(local: &Local) -> Results {
        Results { at: local.at(), len: local.len(), handle: local.handle() }
    }
}

/// One entry.
pub struct Entry<'p> {
    pub op: u32,
    pub flags: u32,
    pub remote: u64,
    pub registration: &'p RemoteRegistration,
    /// As long as the memory that it is about, but for what is asked.
    pub data: &'p [u8],
    /// Of what is asked, the bytes of the answer.
    pub compare: u64,
    /// Where old values go in local memory, if anywhere.
    pub result: Option<u64>,
}

impl<'p> Entry<'p> {
    /// Without a result and without something to compare with.
    pub fn new(op: u32, remote: u64, registration: &'p RemoteRegistration, data: &'p [u8]) -> Entry<'p> {
        Entry { op, flags: 0, remote, registration, data, compare: 0, result: None }
    }

    /// A question for the rank's listener, and where its answer of so many bytes goes in local memory, if it has any.
    pub fn ask(
        registration: &'p RemoteRegistration,
        data: &'p [u8],
        answer: Option<(u64, u64)>,
    ) -> Entry<'p> {
        let (result, compare) = (answer.map(|(at, _)| at), answer.map_or(0, |(_, len)| len));
        Entry { compare, result, ..Entry::new(LIST_ASK, 0, registration, data) }
    }

    /// Bytes of a list that it takes.
    pub fn room(&self) -> u64 {
        room(self.data.len() as u64)
    }
}

/// Bytes of a list that an entry takes.
fn room(len: u64) -> u64 {
    LIST_ENTRY + len.next_multiple_of(8)
}

impl<'p> Entries<'p> {
    /// None yet, but room for so many. `local`: the memory that results go to, which the operation gets.
    pub fn new(capacity: usize, local: Option<&Local>) -> Entries<'p> {
        Entries::into(capacity, local.map(Results::of))
    }

    /// The same with memory that the operation has already.
    pub fn into(capacity: usize, results: Option<Results>) -> Entries<'p> {
        Entries { all: Vec::with_capacity(capacity), results, named: PhantomData }
    }

    /// Adds an entry. Panics if its result is not in local memory.
    pub fn push(&mut self, entry: Entry<'p>) {
        let len = entry.data.len() as u64;
        let fetched = if entry.op == LIST_ASK { entry.compare } else { len };
        let result = entry.result.map(|at| match self.results {
            Some(Results { at: local, len, handle })
                if at.checked_add(fetched).is_some_and(|end| end <= len) =>
            {
                (local.wrapping_add(at as usize), handle)
            }
            _ => panic!("the result of an entry is not in local memory"),
        });
        let (result, result_handle) = result.unwrap_or((null_mut(), null()));
        self.all.push(ListEntry {
            remote: entry.remote,
            remote_handle: entry.registration.handle(),
            len,
            data: entry.data.as_ptr(),
            result,
            result_handle,
            op: entry.op,
            flags: entry.flags,
            compare: entry.compare,
        });
    }

    /// As lists of which each is as long as may be. One that is too long is refused by the transport.
    pub fn lists(self, limit: u64) -> impl Iterator<Item = Piece<'p>> {
        let mut rest = Some(self);
        core::iter::from_fn(move || {
            let mut now = rest.take().filter(|rest| !rest.all.is_empty())?;
            let (mut left, mut n) = (limit, 0);
            while let Some(entry) = now.all.get(n)
                && let Some(less) = left.checked_sub(room(entry.len))
            {
                (left, n) = (less, n + 1);
            }
            let later = now.all.split_off(n.max(1).min(now.all.len()));
            rest = Some(Entries { all: later, ..now });
            Some(Piece::List(now))
        })
    }

    /// Panics unless results go to this memory, or nowhere.
    fn check(&self, local: Option<&Local>) {
        if let Some(results) = self.results {
            assert!(
                local.is_some_and(|local| local.at() == results.at),
                "results go to the operation's memory"
            );
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_btl::LIST_PUT;

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

    #[test]
    fn lists_are_as_long_as_may_be() {
        let (data, limit) = ([7; 64], 2 * (LIST_ENTRY + 8));
        let lists = |lens: &[usize]| {
            let mut entries = Entries::new(0, None);
            for len in lens {
                entries.push(Entry::new(LIST_PUT, 0, &RemoteRegistration::NONE, &data[..*len]));
            }
            let of = |piece: Piece<'_>| match piece {
                Piece::List(entries) => entries.all.iter().map(|entry| entry.len).collect::<Vec<_>>(),
                _ => Vec::new(),
            };
            entries.lists(limit).map(of).collect::<Vec<_>>()
        };
        assert_eq!(lists(&[8, 1, 8, 8, 8]), [vec![8, 1], vec![8, 8], vec![8]]);
        assert_eq!(lists(&[64, 8]), [vec![64], vec![8]], "one that is too long goes by itself");
        assert!(lists(&[]).is_empty());
    }

    #[test]
    #[should_panic(expected = "the result of an entry is not in local memory")]
    fn results_need_a_place() {
        let entry = Entry::new(amo::ADD, 0, &RemoteRegistration::NONE, &[0; 8]);
        Entries::new(1, None).push(Entry { result: Some(0), ..entry });
    }
}
