//! Lists of operations for one rank are built entry by entry, each with what it names: one list is one message where the host carries it out.

use crate::registration::RemoteRegistration;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr::{null, null_mut};
use oxmpi_btl::{Done, LIST_ASK, LIST_ENTRY, ListDesc, ListEntry, RegHandle};
use oxmpi_mca::SliceRef;

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
    handle: *const RegHandle,
}

impl Results {
    /// Names memory of `len` bytes, and its registration with the transport that the list is for; null where that needs none.
    ///
    /// # Safety
    /// The memory can be written, and nobody else uses it, until the last list with this has ended; the registration stays as long.
    pub unsafe fn new(at: *mut u8, len: u64, handle: *const RegHandle) -> Results {
        Results { at, len, handle }
    }

    /// Gives the address of the memory.
    pub fn at(&self) -> *mut u8 {
        self.at
    }
}

/// One entry.
pub struct Entry<'p> {
    /// As in [`ListEntry`].
    pub op: u32,
    /// As in [`ListEntry`].
    pub flags: u32,
    /// Address at the rank; 0 of what is asked.
    pub remote: u64,
    /// Of the rank's memory.
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
    /// Has none yet, but room for so many. `results`: the memory that their results go to, if any has one.
    pub fn new(capacity: usize, results: Option<Results>) -> Entries<'p> {
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

    /// Cuts them into lists of which each is as long as may be. One that is too long is refused by the transport.
    pub fn lists(self, limit: u64) -> impl Iterator<Item = Entries<'p>> {
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
            Some(now)
        })
    }

    /// Gives the memory that results go to.
    pub fn results(&self) -> Option<&Results> {
        self.results.as_ref()
    }

    /// Describes them for [`oxmpi_btl::BtlHandle::list`], as long as they are; `done` is told the end, with `done_ctx`.
    ///
    /// # Safety
    /// `done` may be called once with this context behind the call of the verb.
    pub unsafe fn desc(&self, done: Done, done_ctx: *mut c_void) -> ListDesc {
        let entries = SliceRef { ptr: self.all.as_ptr(), len: self.all.len() };
        ListDesc { entries, done: Some(done), done_ctx }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use oxmpi_btl::{LIST_PUT, amo};

    #[test]
    fn lists_are_as_long_as_may_be() {
        let (data, limit) = ([7; 64], 2 * (LIST_ENTRY + 8));
        let lists = |lens: &[usize]| {
            let mut entries = Entries::new(0, None);
            for len in lens {
                entries.push(Entry::new(LIST_PUT, 0, &RemoteRegistration::NONE, &data[..*len]));
            }
            let of = |list: Entries<'_>| list.all.iter().map(|entry| entry.len).collect::<Vec<_>>();
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
