//! A call's way into MPI: alone, or among other threads.
//!
//! Below THREAD_MULTIPLE, and at that level while one thread alone calls, nothing on a message's path takes a lock. Whether that is so is looked at once,
//! where a call comes in (the gate), and passed down as an [`Entry`]. Another thread is let in only where nobody is inside such a call, but for calls that
//! wait or run the user's code: these let it in. So an entry is **borrowed mutably** by whatever holds a CRI, by waits and by the user's code:
//! a proof that was made by it cannot be kept across either, and of two CRIs one thread holds one at a time.

use crate::biased::{Caller, Seat};
use core::marker::PhantomData;

/// Whether the call that has it takes locks, and with which seat. It belongs to the call's thread; there is one for each call, and one for each callback
/// of a transport.
#[derive(Debug)]
pub struct Entry {
    among: bool,
    who: Caller,
    here: PhantomData<*mut ()>,
}

impl Entry {
    /// An entry among other threads without a seat: locks are taken by their words.
    #[inline(always)]
    pub const fn among() -> Entry {
        Entry { among: true, who: None, here: PhantomData }
    }

    /// An entry as `among` says, of the thread of that seat.
    ///
    /// # Safety
    /// `among`, or the calling thread is the only one in MPI for as long as the result is not lent to a wait or to the user's code. The seat is the calling
    /// thread's. The thread has no other entry that is not lent, but for such as [`Entry::among`] makes.
    #[inline(always)]
    pub const unsafe fn of(among: bool, who: Caller) -> Entry {
        Entry { among, who, here: PhantomData }
    }

    /// Whether locks are taken.
    #[inline(always)]
    pub const fn is_among(&self) -> bool {
        self.among
    }

    /// The thread's seat, if it has one.
    #[inline(always)]
    pub const fn who(&self) -> Caller {
        self.who
    }

    /// The thread's seat where locks are taken; where none is, nobody asks whose they are.
    #[inline(always)]
    pub fn seat(&self) -> Option<&'static Seat> {
        if self.among { self.who } else { None }
    }

    /// The same, for a guard or another thing that borrows this one.
    ///
    /// # Safety
    /// This one is borrowed mutably, or not used, as long as the copy lives.
    #[inline(always)]
    pub(crate) const unsafe fn lent(&self) -> Entry {
        Entry { among: self.among, who: self.who, here: PhantomData }
    }
}

/// ```compile_fail,E0277
/// fn sent<T: Send>() {}
/// sent::<oxmpi_mca::Entry>();
/// ```
#[allow(dead_code, reason = "its text is a test")]
struct AnEntryStaysWithItsThread;
