//! An operation under way by a transport: its pieces, its local memory, and what happens when the last piece ends.
//!
//! It is drawn up as a [`Draft`] and begun under the CRI of its context by whoever issues it, who has one piece of it ([`OwnPiece`]) until all others are issued. It
//! ends under the same CRI, in the `done` of its last piece or in the issuing call. Ending does, in this order: what came is put where it goes, local memory is
//! given back, the request is completed or a failure noted at the rank, the flow counts it, and whoever waits for it ([`Waiting`]) is told, who has its local
//! memory then.
//!
//! **Lives.** The operation is its own box, known by an address: of its issuer as long as that has a piece, of the transport for each piece under way,
//! of who waits for it until that is told. The last of them frees it. Counts belong to the context's CRI.

use crate::local::{Local, Scratch};
use crate::order::Ending;
use crate::peer::{Peer, Route};
use crate::rdma::Rdma;
use core::ffi::c_void;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use oxmpi_mca::sync::unmodelled::{AtomicI32, Ordering};
use oxmpi_mca::{CriGuard, OfCri, Status};
use oxmpi_osc::{Flow, Token};
use oxmpi_osc_support::{Address, Destination, Pending, Sink};

/// In [`Op::ended`]: not yet.
const UNDER_WAY: i32 = Status::PENDING.0;

/// The step to take with the data in local memory.
#[derive(Default)]
pub struct FinalStep(Step);

#[derive(Default)]
enum Step {
    #[default]
    Nothing,
    Copy {
        to: Address<u8>,
        len: usize,
    },
    Unpack {
        to: Destination,
        len: usize,
    },
    /// Results of a list, each in whole words.
    Scatter(Vec<(Address<u8>, usize)>),
}

impl FinalStep {
    /// The first `len` bytes go to elements of the program's, which has them for the operation until that is complete.
    pub fn to(sink: &Sink<'_>, len: usize) -> FinalStep {
        FinalStep(match sink.one_block() {
            Some(to) => {
                // SAFETY: the program's memory, the operation's until that is complete, in whichever thread.
                let to = unsafe { Address::of(to) };
                Step::Copy { to, len: len.min(sink.bytes() as usize) }
            }
            None => Step::Unpack { to: Destination::of(&sink.elements()), len },
        })
    }

    /// Each result of a list goes to the program's memory of that length, which has it for the operation until that is complete.
    pub fn scatter(results: Vec<(Address<u8>, usize)>) -> FinalStep {
        FinalStep(Step::Scatter(results))
    }

    fn take_from(&self, local: &Scratch) {
        match &self.0 {
            Step::Nothing => {}
            Step::Copy { to, len } => {
                let from = &local.bytes()[..*len];
                // SAFETY: the elements have as many bytes, and can be written until the operation is complete, by the promise of whoever made the sink.
                unsafe { core::ptr::copy(from.as_ptr(), to.get(), from.len()) };
            }
            Step::Unpack { to, len } => {
                // SAFETY: the elements can be written until the operation is complete, by the promise of whoever made the sink.
                let _ = unsafe { to.fill(0, &local.bytes()[..*len]) };
            }
            Step::Scatter(results) => {
                let mut rest = local.bytes();
                for &(to, len) in results {
                    let (from, behind) = rest.split_at(len.next_multiple_of(8));
                    // SAFETY: as above, by the promise of whoever made the operation that the result is of.
                    unsafe { core::ptr::copy(from.as_ptr(), to.get(), len) };
                    rest = behind;
                }
            }
        }
    }
}

/// Everything about an operation that its issuer decides.
#[derive(Default)]
pub struct Plan {
    /// Memory that its pieces read or write.
    pub local: Option<Local>,
    pub final_step: FinalStep,
    pub request: Option<Pending>,
    /// Accumulates that later ones may have to wait for.
    pub ordered: Ending,
    /// Locks on its way are counted.
    pub is_put: bool,
}

/// See the file's text.
struct Op {
    plan: Plan,
    rdma: Address<Rdma>,
    peer: Address<Peer>,
    /// Its place among those under way.
    token: Option<Token>,
    counts: OfCri<Counts>,
    /// How it ended, for whoever waits for it.
    ended: AtomicI32,
    /// Somebody does, and frees it.
    waited: bool,
}

/// Of the holder of the context's CRI.
struct Counts {
    /// Pieces that have not ended, and one for the issuer while that issues.
    left: u32,
    /// The first failure.
    status: Status,
}

/// An operation that is not under way yet. Its box is made once, and not moved.
pub struct Draft(Box<Op>);

/// The piece of an operation that its issuer has: while there is this, the operation is.
pub struct OwnPiece(NonNull<Op>);

impl Default for Draft {
    fn default() -> Draft {
        Draft(Box::new(Op {
            plan: Plan::default(),
            rdma: Address::NULL,
            peer: Address::NULL,
            token: None,
            counts: OfCri::new(0, Counts { left: 0, status: Status::OK }),
            ended: AtomicI32::new(UNDER_WAY),
            waited: false,
        }))
    }
}

impl Deref for Draft {
    type Target = Plan;
    fn deref(&self) -> &Plan {
        &self.0.plan
    }
}
impl DerefMut for Draft {
    fn deref_mut(&mut self) -> &mut Plan {
        &mut self.0.plan
    }
}

impl Draft {
    /// The operation is under way from now on, to that rank, on the context that is held.
    pub fn begin(mut self, held: &mut CriGuard<'_>, route: Route<'_>) -> OwnPiece {
        let (op, ctx) = (&mut *self.0, held.ctx());
        // SAFETY: both are shared by threads, and outlive the operation (`Route`).
        (op.rdma, op.peer) = unsafe { (Address::of(route.rdma()), Address::of(route.peer())) };
        op.token = Some(route.lane(ctx).begin(held));
        op.counts = OfCri::new(ctx, Counts { left: 1, status: Status::OK });
        OwnPiece(NonNull::from(Box::leak(self.0)))
    }

    /// The same for one that somebody waits for.
    pub fn begin_waited(mut self, held: &mut CriGuard<'_>, route: Route<'_>) -> (OwnPiece, Waiting) {
        self.0.waited = true;
        let own = self.begin(held, route);
        let waiting = Waiting { op: own.0, ctx: held.ctx() };
        (own, waiting)
    }
}

impl Op {
    /// A piece has ended; with the last one the operation ends.
    ///
    /// # Safety
    /// `op` has a piece left that nobody ends but the caller.
    unsafe fn end_piece(op: NonNull<Op>, held: &mut CriGuard<'_>) {
        // SAFETY: while a piece is left the operation is there.
        let counts = unsafe { op.as_ref() }.counts.get(held);
        counts.left -= 1;
        if counts.left == 0 {
            let status = counts.status;
            // SAFETY: that was the last piece.
            unsafe { Op::end(op, status) }
        }
    }

    /// # Safety
    /// No piece of the operation is left. Its context's CRI is held.
    unsafe fn end(op: NonNull<Op>, status: Status) {
        let op = op.as_ptr();
        // SAFETY: nobody has the operation any more but who waits for it, and that looks at `ended` alone until it is told; so the plan is ours.
        let (plan, token, waited) = unsafe { (&mut (*op).plan, (*op).token, (*op).waited) };
        // SAFETY: the table of ranks keeps both, since the flow has not counted this operation yet (`Peers`).
        let peer = unsafe { &*(*op).peer.get() };
        if status.is_ok()
            && let Some(Local::Scratch(local)) = &plan.local
        {
            plan.final_step.take_from(local);
        }
        if !waited {
            plan.local = None;
        }
        if !plan.ordered.is_empty() {
            peer.ordered.end(core::mem::take(&mut plan.ordered));
        }
        match plan.request.take() {
            Some(request) => request.complete(status),
            None if !waited && status.is_err() => peer.note_failure(status),
            None => {}
        }
        if let Some(token) = token {
            // SAFETY: counted in `Draft::begin`, and ended once, here, under the CRI; the lane is the rank's. Failures have been told.
            unsafe { Flow::done(token.done_ctx(), Status::OK) };
        }
        // SAFETY: it is freed by who waits for it, and not before it is told, which is the last that is done with it here; or by nobody else.
        unsafe {
            match waited {
                // SYNC POINT with `Waiting::status`.
                true => (*op).ended.store(status.0, Ordering::Release),
                false => drop(Box::from_raw(op)),
            }
        }
    }
}

impl OwnPiece {
    fn op(&self) -> &Op {
        // SAFETY: it is there until its last piece has ended, and this is one.
        unsafe { self.0.as_ref() }
    }

    /// Its local memory.
    pub fn local(&self) -> Option<&Local> {
        self.op().plan.local.as_ref()
    }

    pub fn is_put(&self) -> bool {
        self.op().plan.is_put
    }

    /// For [`done`].
    pub fn done_ctx(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    /// A piece was offered, and the transport has not said that it has no room: whether the next one is to follow.
    pub fn count(&self, held: &mut CriGuard<'_>, answer: Status) -> bool {
        let counts = self.op().counts.get(held);
        if answer == Status::PENDING {
            counts.left += 1;
        }
        counts.note(answer);
        !counts.status.is_err()
    }

    /// Nothing more is issued.
    pub fn end(self, held: &mut CriGuard<'_>) {
        // SAFETY: our piece, which is used up.
        unsafe { Op::end_piece(self.0, held) }
    }
}

impl Counts {
    /// The first failure counts.
    fn note(&mut self, status: Status) {
        if status.is_err() && !self.status.is_err() {
            self.status = status;
        }
    }
}

/// An operation that somebody waits for. One that is dropped before its end is left to itself.
#[must_use]
pub struct Waiting {
    op: NonNull<Op>,
    ctx: u32,
}

impl Waiting {
    /// On which context it is under way.
    pub fn ctx(&self) -> u32 {
        self.ctx
    }

    fn status(&self) -> Status {
        // SAFETY: nobody frees it but this; of what is in it only the word is looked at, which is for all threads.
        let ended = unsafe { &(*self.op.as_ptr()).ended };
        // SYNC POINT with `Op::end`.
        Status(ended.load(Ordering::Acquire))
    }

    pub fn is_under_way(&self) -> bool {
        self.status().0 == UNDER_WAY
    }

    /// How it ended; if well, with its local memory. PENDING as a failure: it has not.
    pub fn end(self) -> Result<Ended, Status> {
        match self.status() {
            Status::OK => Ok(Ended(self)),
            status => Err(status),
        }
    }
}

/// An operation that has ended well.
pub struct Ended(Waiting);

impl Ended {
    /// The bytes of its local memory, where that is not the program's.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: it has ended, so nobody else has it any more, and it is there until this goes.
        match unsafe { &(*self.0.op.as_ptr()).plan.local } {
            Some(Local::Scratch(scratch)) => scratch.bytes(),
            _ => &[],
        }
    }

    /// The first eight of them as a number.
    pub fn word(&self) -> u64 {
        self.bytes().first_chunk().map_or(0, |word| u64::from_ne_bytes(*word))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_under_way() {
            // SAFETY: it has ended, so nobody else has it any more.
            drop(unsafe { Box::from_raw(self.op.as_ptr()) });
        }
    }
}

/// For transports: a piece of the operation that is the context has ended.
///
/// # Safety
/// `op` is [`OwnPiece::done_ctx`] of an operation on the context whose CRI the caller holds, and this is called once for each piece of it that answered PENDING.
pub unsafe extern "C" fn done(op: *mut c_void, status: Status) {
    // SAFETY: the address of a box, which is not null.
    let op = unsafe { NonNull::new_unchecked(op.cast::<Op>()) };
    // SAFETY: while a piece is left the operation is there, and the component's state as long as it.
    let (counts, host) = unsafe { (&(*op.as_ptr()).counts, &(*(*op.as_ptr()).rdma.get()).host) };
    // SAFETY: the transport calls this inside a verb of the context, whose caller holds its CRI and has lent its guard; where locks are not taken it is the only
    // thread in MPI.
    let mut held = unsafe { host.inherit(counts.ctx(), host.threaded()) };
    counts.get(&mut held).note(status);
    // SAFETY: the piece that has ended.
    unsafe { Op::end_piece(op, &mut held) }
}
