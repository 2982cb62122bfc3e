//! The calling thread, found once per call where a function is entered: with its context, and with the process.
//!
//! The forms of `mpi_fn!` that [`gate`](crate::call::gate) describes enter here; so this is where a second thread is noticed and let
//! in. Where MPI is opened for the first user stands here, too.

use crate::call::gate::GATE;
use crate::call::process::{self, Process};
use crate::constants::MPI_THREAD_MULTIPLE;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, Ordering};
use oxmpi_mca::Entry;
use oxmpi_waiting::gate::Answer;
use oxmpi_waiting::thread::thread_pointer;

/// Proof of being inside a function of the C interface whose thread is marked, or let in with all others. There is one for each call, and a call's context is
/// made of it, so that there is one entry.
#[must_use]
pub struct Inside(PhantomData<*mut ()>);

/// The calling thread, found once per call: the process, and its way into MPI.
pub struct CallContext {
    pub process: &'static Process,
    pub entry: Entry,
}

/// The body of a hot function: inside, with the context where nothing more is to be done than what the function does.
#[must_use]
pub struct Admission {
    quick: Option<CallContext>,
    inside: Inside,
}

impl Inside {
    /// In a function of the C interface, before its body.
    ///
    /// # Safety
    /// Once for each call, by a thread that [`enter`] or its kin let in, until it leaves.
    #[inline(always)]
    pub unsafe fn new() -> Inside {
        Inside(PhantomData)
    }

    /// The context of the call, while MPI is in use, if `usual` says that the arguments are there.
    #[inline(always)]
    pub fn context_if(self, usual: bool) -> Result<CallContext, Inside> {
        match process::current().filter(|_| usual) {
            Some(process) => Ok(self.of(process)),
            None => Err(self),
        }
    }

    /// As the body of a hot function has it: without a context where there is more to do than what such a function does.
    #[inline(always)]
    pub fn hot(self) -> Admission {
        Admission { quick: process::quick().map(|process| Inside(PhantomData).of(process)), inside: self }
    }

    /// The context of the call in that process.
    #[inline(always)]
    pub fn of(self, process: &'static Process) -> CallContext {
        // SAFETY: the thread is marked, so that it is the only one inside while the flag is not set; the proof is used up, so there is no other entry.
        let entry = unsafe { Entry::of(process.instance.threaded(), process.thread()) };
        CallContext { process, entry }
    }
}

impl Admission {
    /// The context of the call, where the function does nothing unusual.
    #[inline(always)]
    pub fn quick(self) -> Result<CallContext, Inside> {
        self.quick.ok_or(self.inside)
    }

    /// The context, if it is there and `usual` says that the arguments are.
    #[inline(always)]
    pub fn quick_if(self, usual: bool) -> Result<CallContext, Inside> {
        if usual { self.quick() } else { Err(self.unusual()) }
    }

    /// The proof for the way of unusual calls.
    #[inline(always)]
    pub fn unusual(self) -> Inside {
        self.inside
    }

    /// Whether this is an unusual call.
    #[inline(always)]
    pub fn is_unusual(&self) -> bool {
        self.quick.is_none()
    }
}

impl CallContext {
    /// Gives the context up for the way of unusual calls.
    #[inline(always)]
    pub fn unusual(self) -> Inside {
        Inside(PhantomData)
    }
}

/// The way in of a function that the library calls back for the owner of a request.
///
/// # Safety
/// The call that has led here has lent its entry.
pub unsafe fn lent(process: &Process) -> Entry {
    // SAFETY: the thread is inside, so that it is the only one there while the flag is not set; the other entry is lent.
    unsafe { Entry::of(process.instance.threaded(), process.thread()) }
}

/// At the beginning of a plain function. Whether it left a mark, which [`leave_own`](crate::call::gate::leave_own) takes back.
#[inline(always)]
pub fn enter() -> bool {
    GATE.enter(thread_pointer()) || (!GATE.is_shared() && ask())
}

/// The owner of the gate, who is inside: without a context where there is more to do than what a hot function does.
///
/// # Safety
/// As for [`Inside::new`], and the thread is marked as the owner.
#[inline(always)]
pub unsafe fn owner() -> Admission {
    let context = |process: &'static Process| {
        // SAFETY: the mark keeps others out until it is taken back; the owner's is the main context.
        let entry = unsafe { Entry::of(false, process.of_owner()) };
        CallContext { process, entry }
    };
    Admission { quick: process::quick().map(context), inside: Inside(PhantomData) }
}

/// The calling thread where everybody is let in: without a context where there is more to do than what a hot function does.
///
/// # Safety
/// As for [`Inside::new`].
#[inline(always)]
pub unsafe fn one_of_several() -> Admission {
    let context = |process: &'static Process| {
        // SAFETY: it takes locks; the context is what this thread has set.
        let entry = unsafe { Entry::of(true, process.own_thread()) };
        CallContext { process, entry }
    };
    Admission { quick: process::quick().map(context), inside: Inside(PhantomData) }
}

/// In a hot function of anybody else, after [`enter_as_newcomer`].
///
/// # Safety
/// As for [`Inside::new`].
#[inline(always)]
pub unsafe fn newcomer() -> Admission {
    Inside(PhantomData).hot()
}

/// In a hot function whose calls are recorded: the way of unusual calls is taken.
///
/// # Safety
/// As for [`Inside::new`].
#[inline(always)]
pub unsafe fn recorded() -> Admission {
    Admission { quick: None, inside: Inside(PhantomData) }
}

/// At the beginning of a hot function of anybody else. Whether it left a mark.
#[inline(always)]
pub fn enter_as_newcomer() -> bool {
    ask()
}

/// In by the longer way, for who is not the owner and where somebody wants to get in. Whether it left a mark.
#[cold]
#[inline(never)]
fn ask() -> bool {
    loop {
        match GATE.ask(thread_pointer()) {
            Answer::Inside => return true,
            Answer::Free => return false,
            Answer::Raise => act_threaded(),
        }
    }
}

/// A second thread is here.
#[cold]
fn act_threaded() {
    let Some(process) = process::current() else { return };
    if !process.instance.act_threaded() {
        process.instance.fail("the point-to-point layer does not take a second thread");
    }
}

/// MPI is in use from now on, or by one more; the calling thread is not marked.
pub fn open(process: &Process) {
    static FORKS_ARE_SEEN: AtomicBool = AtomicBool::new(false);
    if !FORKS_ARE_SEEN.swap(true, Ordering::Relaxed) {
        // SAFETY: `in_child` only stores words and closes a descriptor. Where there is no room for it a child that breaks the rules
        // by calling MPI may wait for a thread of its parent.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
    match process.instance.threaded() {
        true => GATE.share(thread_pointer()),
        false => GATE.open(process.level() == MPI_THREAD_MULTIPLE),
    }
}

/// A child has no part in MPI, and not the threads whose marks it has.
unsafe extern "C" fn in_child() {
    GATE.forget();
    if let Some(process) = process::current() {
        process.instance.forked();
    }
}
