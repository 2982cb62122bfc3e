//! Small operations of one context to one rank that wait to go together, as one list of the transport's.
//!
//! A batch belongs to its lane and is used under the lane's CRI, so threads that have contexts of their own share nothing. Puts copy their data
//! into it and are complete at the origin; accumulates copy their operands, and their old elements, as the bytes of gets, come when the list is answered. It is
//! sent when it is full, before any other operation of its lane, by whatever completes puts at the target and, if it has results, at the origin, and by
//! accumulates that have to come behind some in it: those look at [`Batch::waits`] of all lanes, which is set behind each operation and cleared when the operation that the
//! batch has become is counted, so they find them here or there.

use crate::order::{Ending, Touch};
use crate::writes::{Kind, Places};
use oxmpi_btl::{LIST_ASK, LIST_ENTRY, LIST_PUT};
use oxmpi_mca::sync::unmodelled::{AtomicU32, Ordering};
use oxmpi_mca::{CriGuard, OfCri};
use oxmpi_osc_support::Address;

/// In [`Batch::waits`]: something does.
const WAITS: u32 = 1;
/// Something in it has a result.
const HAS_RESULTS: u32 = 2;

pub struct Batch {
    waits: AtomicU32,
    members: OfCri<Members>,
}

/// Operations on memory of one registration, in the order of their calls.
#[derive(Default)]
pub struct Members {
    all: Vec<Member>,
    data: Vec<u8>,
    /// Bytes of all results, each in whole words.
    results: usize,
    /// Accumulates among them.
    pub ordered: Ending,
}

/// One operation, as an entry of a list.
#[derive(Clone, Copy)]
pub struct Member {
    pub op: u32,
    pub flags: u32,
    pub compare: u64,
    /// Address of what it is about; 0 of what is asked, where the question says that.
    pub remote: u64,
    /// The bytes that it writes at the target, as one place with all that lies between, and how; `None`: it reads alone.
    pub writes: Option<(Kind, u64, u64)>,
    /// Memory of the program's for its result, and how many bytes, if it has one.
    pub result: Option<(Address<u8>, usize)>,
    /// Where its bytes are in the batch, which [`Batch::add`] finds, and how many.
    pub at: usize,
    pub len: usize,
}

impl Member {
    /// Of so many bytes of data, which are as many at the target, without a result.
    pub fn new(op: u32, remote: u64, len: usize) -> Member {
        let kind = if op == LIST_PUT { Kind::TRANSFER } else { Kind::ACCUMULATE };
        let writes = Some((kind, remote, len as u64));
        Member { op, flags: 0, compare: 0, remote, writes, result: None, at: 0, len }
    }

    /// A question of so many bytes, which has nothing written, without an answer.
    pub fn ask(len: usize) -> Member {
        Member { writes: None, ..Member::new(LIST_ASK, 0, len) }
    }
}

impl Batch {
    /// Of the lane of a context.
    pub fn new(ctx: u32) -> Batch {
        Batch { waits: AtomicU32::new(0), members: OfCri::new(ctx, Members::default()) }
    }

    /// Whether operations wait in it.
    #[inline]
    pub fn waits(&self) -> bool {
        // SYNC POINT with `add` and `sent`.
        self.waits.load(Ordering::Acquire) != 0
    }

    /// Whether any of them is not complete at the origin before it is sent and answered.
    #[inline]
    pub fn has_results(&self) -> bool {
        // SYNC POINT as above.
        self.waits.load(Ordering::Acquire) & HAS_RESULTS != 0
    }

    /// Adds an operation and answers where its data is to be written at once; `None`: there is no room in a list of `limit` bytes.
    #[inline]
    pub fn add<'s>(
        &'s self,
        held: &'s mut CriGuard<'_>,
        member: Member,
        touch: Option<Touch>,
        limit: u64,
    ) -> Option<&'s mut [u8]> {
        let members = self.members.get(held);
        let (at, end) = (members.data.len(), members.data.len() + member.len.next_multiple_of(8));
        let results = members.results + member.result.map_or(0, |(_, len)| len.next_multiple_of(8));
        if LIST_ENTRY * (members.all.len() as u64 + 1) + end as u64 > limit || results as u64 > limit {
            return None;
        }
        members.data.resize(end, 0);
        members.all.push(Member { at, ..member });
        members.results = results;
        if let Some(touch) = touch {
            members.ordered.add(touch);
        }
        // SYNC POINT with `waits`.
        self.waits.store(if results > 0 { WAITS | HAS_RESULTS } else { WAITS }, Ordering::Release);
        Some(&mut members.data[at..at + member.len])
    }

    /// Whether a write that waits is to any of these places.
    pub fn meets(&self, held: &mut CriGuard<'_>, places: &Places) -> bool {
        let members = self.members.get(held);
        members.writes().any(|(at, len)| places.meet(at, at.saturating_add(len)))
    }

    /// Takes what waits. `sent` follows.
    pub fn take(&self, held: &mut CriGuard<'_>) -> Members {
        core::mem::take(self.members.get(held))
    }

    /// The operations that were taken are counted as one. The CRI was not left since.
    pub fn sent(&self, _: &mut CriGuard<'_>) {
        // SYNC POINT with `waits`.
        self.waits.store(0, Ordering::Release);
    }

    /// Memory that was used, for the operations that follow.
    pub fn give_back(&self, held: &mut CriGuard<'_>, mut used: Members) {
        let members = self.members.get(held);
        if members.all.is_empty() {
            used.all.clear();
            used.data.clear();
            (used.results, used.ordered) = (0, Ending::default());
            *members = used;
        }
    }
}

impl Members {
    pub fn all(&self) -> &[Member] {
        &self.all
    }

    /// Bytes of all results, each in whole words.
    pub fn results(&self) -> usize {
        self.results
    }

    /// Whether they are puts that may land in any order.
    pub fn are_puts_apart(&self) -> bool {
        let end = |put: &Member| put.remote.saturating_add(put.len as u64);
        let behind = |n: usize| self.all.get(n + 1..).unwrap_or(&[]);
        self.all.iter().all(|member| member.op == LIST_PUT)
            && self
                .all
                .iter()
                .enumerate()
                .all(|(n, a)| behind(n).iter().all(|b| end(a) <= b.remote || end(b) <= a.remote))
    }

    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Addresses and lengths of what is written at the target.
    fn writes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.all.iter().filter_map(|member| member.writes).map(|(_, at, len)| (at, len))
    }

    /// The same of one kind.
    pub fn places(&self, kind: Kind) -> impl Iterator<Item = (u64, u64)> {
        let writes = self.all.iter().filter_map(|member| member.writes);
        writes.filter(move |write| write.0 == kind).map(|(_, at, len)| (at, len))
    }

    /// The bytes of an operation.
    pub fn data_of(&self, member: &Member) -> &[u8] {
        &self.data[member.at..member.at + member.len]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::layout::Block;
    use oxmpi_btl::amo;

    fn held<'a>() -> CriGuard<'a> {
        // SAFETY: one thread, which has one at a time.
        unsafe { CriGuard::inherited(2, false, None) }
    }

    #[test]
    fn puts_wait_until_there_is_no_room() {
        let batch = Batch::new(2);
        let mut held = held();
        let mut put = |remote: u64, len| {
            let member = Member::new(LIST_PUT, remote, len);
            let to = batch.add(&mut held, member, None, 2 * (LIST_ENTRY + 8))?;
            to.fill(remote as u8);
            Some(())
        };
        assert!(!batch.waits());
        assert_eq!((put(1, 3), put(2, 8), put(3, 1)), (Some(()), Some(()), None));
        assert!(batch.waits() && !batch.has_results());
        let taken = batch.take(&mut held);
        batch.sent(&mut held);
        assert!(!batch.waits());
        assert_eq!(taken.data(), [1, 1, 1, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(taken.places(Kind::TRANSFER).collect::<Vec<_>>(), [(1, 3), (2, 8)]);
        let data: Vec<&[u8]> = taken.all().iter().map(|put| taken.data_of(put)).collect();
        assert_eq!(data, [&[1; 3][..], &[2; 8]]);
        batch.give_back(&mut held, taken);
        assert!(batch.add(&mut held, Member::new(LIST_PUT, 4, 8), None, 100).is_some());
        assert_eq!(batch.take(&mut held).all().len(), 1);
    }

    #[test]
    fn results_and_accumulates_are_counted() {
        let (batch, mut room) = (Batch::new(2), [0u8; 8]);
        let mut held = held();
        let touch = Touch::BOTH.in_line(2);
        let add = Member::new(amo::ADD, 8, 4);
        // SAFETY: nobody follows it.
        let result = Some((unsafe { Address::of(room.as_mut_ptr()) }, 4));
        assert!(batch.add(&mut held, Member::new(LIST_PUT, 16, 8), None, 1000).is_some());
        assert!(batch.add(&mut held, add, Some(touch), 1000).is_some() && !batch.has_results());
        assert!(batch.add(&mut held, Member { result, ..add }, Some(touch), 1000).is_some());
        assert!(batch.has_results());
        let asked = Member { writes: Some((Kind::ACCUMULATE, 32, 100)), ..Member::ask(20) };
        assert!(batch.add(&mut held, asked, None, 1000).is_some());
        assert!(batch.add(&mut held, Member::ask(20), None, 1000).is_some());
        let meets =
            |held: &mut CriGuard<'_>, at| batch.meets(held, &Places::of(&[Block { at, len: 1, packed: 0 }]));
        assert!(
            meets(&mut held, 16) && meets(&mut held, 131) && !meets(&mut held, 132) && !meets(&mut held, 0)
        );
        let taken = batch.take(&mut held);
        let mut due = Ending::from(touch);
        due.add(touch);
        assert_eq!((taken.results(), taken.ordered), (8, due));
        assert!(!taken.are_puts_apart(), "not puts alone");
        assert_eq!(taken.places(Kind::TRANSFER).collect::<Vec<_>>(), [(16, 8)]);
        assert_eq!(taken.places(Kind::ACCUMULATE).collect::<Vec<_>>(), [(8, 4), (8, 4), (32, 100)]);
        batch.give_back(&mut held, taken);
        let again = batch.take(&mut held);
        assert!(again.results() == 0 && again.ordered.is_empty() && again.all().is_empty());
        let long = Some((Address::NULL, 101));
        assert!(
            batch.add(&mut held, Member { result: long, ..add }, None, 100).is_none(),
            "no room in the answer"
        );
    }

    #[test]
    #[should_panic(expected = "data of another CRI was asked for than CRI 1")]
    fn another_context_reaches_nothing() {
        // SAFETY: one thread.
        let mut held = unsafe { CriGuard::inherited(1, false, None) };
        Batch::new(2).take(&mut held);
    }
}
