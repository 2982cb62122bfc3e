//! A call's way into MPI: alone, or among other threads.
//!
//! Below THREAD_MULTIPLE, and at that level while one thread alone calls, nothing on a message's path takes a lock. That is looked at once,
//! where a call comes in (the gate), and passed down as an [`Entry`]. Another thread is let in only where nobody is inside such a call, but for calls that
//! wait or run the user's code: these let it in. So an entry is **borrowed mutably** by whatever holds a CRI, by waits and by the user's code:
//! a proof that was made by it cannot be kept across either, and of two CRIs one thread holds one at a time.

use crate::biased::{Caller, Seat};
use crate::thread::ThreadCtx;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::null_mut;

/// A call's way in: says whether the call takes locks, and has the context of its thread. It belongs to that thread; there is one for each call, and one for each callback
/// of a transport.
#[derive(Debug)]
pub struct Entry {
    among: bool,
    thread: *mut ThreadCtx,
    here: PhantomData<*mut ()>,
}

impl Entry {
    /// An entry among other threads without a thread's context: locks are taken by their words.
    #[inline(always)]
    pub const fn among() -> Entry {
        Entry { among: true, thread: null_mut(), here: PhantomData }
    }

    /// An entry as `among` says, of the thread with that context, or null.
    ///
    /// # Safety
    /// `among`, or the calling thread is the only one in MPI for as long as the result is not lent to a wait or to the user's code. The context is the calling
    /// thread's in an instance that outlives the result, or null. The thread has no other entry that is not lent, but for such as [`Entry::among`] makes.
    #[inline(always)]
    pub const unsafe fn of(among: bool, thread: *mut ThreadCtx) -> Entry {
        Entry { among, thread, here: PhantomData }
    }

    /// True where locks are taken.
    #[inline(always)]
    pub const fn is_among(&self) -> bool {
        self.among
    }

    /// The context of the calling thread, or null, for calls across the boundary.
    #[inline(always)]
    pub const fn thread(&self) -> *mut ThreadCtx {
        self.thread
    }

    /// The context of the calling thread, if it has one.
    #[inline(always)]
    pub fn context(&self) -> Option<&ThreadCtx> {
        // SAFETY: null, or the calling thread's context, which outlives this (`of`).
        unsafe { self.thread.as_ref() }
    }

    /// The thread's seat, if it has one.
    #[inline(always)]
    pub fn who(&self) -> Caller {
        // SAFETY: as in `context`; it is used for locks of that instance.
        unsafe { ThreadCtx::seat_of(self.thread) }
    }

    /// The thread's seat where locks are taken; where none is, nobody asks whose they are.
    #[inline(always)]
    pub fn seat(&self) -> Option<&'static Seat> {
        if self.among { self.who() } else { None }
    }

    /// Brings the entry up to date behind a wait or the user's code: locks are taken from now on if there may be several threads, as `among` says.
    #[inline(always)]
    pub const fn raise(&mut self, among: bool) {
        self.among |= among;
    }

    /// Calls `f`, which is not inlined, with the entry in memory of its own, so that this one stays in registers.
    #[inline(always)]
    pub fn apart<R>(&mut self, f: impl FnOnce(&mut Entry) -> R) -> R {
        let mut own = core::mem::replace(self, Entry::among());
        let result = f(&mut own);
        *self = own;
        result
    }

    /// The entry as a call sees it that is not inlined: this one stays in registers.
    #[inline(always)]
    pub fn seen(&self) -> Seen<'_, Entry> {
        // SAFETY: the copy is only shown, as long as this one is borrowed.
        Seen::of(unsafe { self.lent() })
    }

    /// The entry once more, as long as this one is borrowed. For calls that are not inlined: this one stays in registers.
    #[inline(always)]
    pub fn lend(&mut self) -> Lent<'_> {
        // SAFETY: this one is borrowed mutably as long as the copy lives.
        Lent { entry: unsafe { self.lent() }, of: PhantomData }
    }

    /// The same, and locks are taken whatever this one says: for what is only called among other threads, and is compiled for that alone.
    #[inline(always)]
    pub fn lend_among(&mut self) -> Lent<'_> {
        Lent { entry: Entry { among: true, thread: self.thread, here: PhantomData }, of: PhantomData }
    }

    /// The entry once more, for a guard or another thing that borrows this one.
    ///
    /// # Safety
    /// This one is borrowed mutably, or not used, as long as the copy lives.
    #[inline(always)]
    pub(crate) const unsafe fn lent(&self) -> Entry {
        Entry { among: self.among, thread: self.thread, here: PhantomData }
    }
}

/// A copy of an entry or a guard, to look at while the original is borrowed. It gives nothing back.
#[derive(Debug)]
pub struct Seen<'a, T> {
    copy: ManuallyDrop<T>,
    of: PhantomData<&'a T>,
}

impl<T> Seen<'_, T> {
    #[inline(always)]
    pub(crate) fn of(copy: T) -> Self {
        Seen { copy: ManuallyDrop::new(copy), of: PhantomData }
    }
}

impl<T> Deref for Seen<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.copy
    }
}

/// An entry that stands for another, which it has borrowed.
#[derive(Debug)]
pub struct Lent<'a> {
    entry: Entry,
    of: PhantomData<&'a mut Entry>,
}

impl Deref for Lent<'_> {
    type Target = Entry;
    #[inline(always)]
    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl DerefMut for Lent<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Entry {
        &mut self.entry
    }
}

/// ```compile_fail,E0277
/// fn sent<T: Send>() {}
/// sent::<oxmpi_mca::Entry>();
/// ```
#[allow(dead_code, reason = "its text is a test")]
struct AnEntryStaysWithItsThread;
