//! One collective access while its plan is written: what the rank has, and verbs that write down steps.
//!
//! A planner's work is a chain of functions: each writes steps and hands what it has found out to the next one by [`Call::then`], which the host calls when those steps are done. Captures of
//! such a function live until it has run, or until the plan is thrown away; memory by [`Call::memory`] lives as long as the plan.

use crate::table::*;
use core::ffi::c_void;
use core::ptr::null_mut;
use oxmpi_coll::{CollComm, CollServices, FIRST_TAG, extend};
use oxmpi_datatype::{Base, TypeDesc, TypeRef};
use oxmpi_fbtl::Piece;
use oxmpi_fbtl::transfer::WRITE;
use oxmpi_files::{View, pieces};
use oxmpi_mca::{RequestHeader, Status};

/// Memory of a plan: an address and a length, which others of the plan may be given. Its use is by `unsafe` code, since messages and transfers use it, too.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    at: *mut u8,
    len: u64,
}

#[allow(clippy::len_without_is_empty, reason = "nobody asks for memory of no bytes")]
impl Memory {
    /// First byte; aligned to 64 bytes.
    pub fn at(self) -> *mut u8 {
        self.at
    }

    /// Number of bytes.
    pub fn len(self) -> u64 {
        self.len
    }

    /// The part from byte `from` on, of `len` bytes.
    pub fn part(self, from: u64, len: u64) -> Memory {
        Memory { at: self.at.wrapping_add(from as usize), len }
    }
}

// SAFETY: an address; one step of a plan runs at a time.
unsafe impl Send for Memory {}

/// A message that was started and is to be waited for.
#[derive(Clone, Copy, Debug)]
pub struct Request(*mut RequestHeader);

// SAFETY: as above.
unsafe impl Send for Request {}

/// Pointers that the host gave for an access; the same in all steps of its plan.
#[derive(Clone, Copy)]
struct Given {
    layout: *const Layout,
    access: *const Access,
    services: *const FcollServices,
    ctx: *mut c_void,
}

// SAFETY: the host keeps all of it until the plan has ended, and one step runs at a time.
unsafe impl Send for Given {}

/// A collective access whose plan is being written, in one rank.
pub struct Call<'a> {
    comm: &'a CollComm,
    given: Given,
}

/// A function that writes further steps; `true`: data of the plan is missing, since a message failed.
type Next = Box<dyn FnOnce(&Call<'_>, bool) -> Result<(), Status> + Send>;

/// The context of a step that writes further ones.
struct Link {
    given: Given,
    next: Option<Next>,
}

/// Calls the function of a [`Link`].
///
/// # Safety
/// As [`oxmpi_coll::ExtendFn`]; the context is from [`Call::then`].
unsafe extern "C" fn go_on(ctx: *mut c_void, comm: *const CollComm, what: u32) -> Status {
    let link = ctx.cast::<Link>();
    if what == extend::DROP {
        // SAFETY: the last call with what `then` made.
        let link = unsafe { Box::from_raw(link) };
        let run = std::panic::AssertUnwindSafe(move || drop(link));
        return std::panic::catch_unwind(run).map_or(Status::PANICKED, |()| Status::OK);
    }
    // SAFETY: alive until DROP, and nobody else has it meanwhile; `comm` is there during the call.
    let (link, comm) = unsafe { (&mut *link, &*comm) };
    let Some(next) = link.next.take() else { return Status::INTERNAL };
    let given = link.given;
    let run = std::panic::AssertUnwindSafe(move || {
        let call = Call { comm, given };
        next(&call, what == extend::LOST).err().unwrap_or(Status::OK)
    });
    std::panic::catch_unwind(run).unwrap_or(Status::PANICKED)
}

fn answer(status: Status) -> Result<(), Status> {
    if status.is_err() { Err(status) } else { Ok(()) }
}

impl<'a> Call<'a> {
    /// The call of a host's arguments: for the host's own plans, and by [`crate::module`] for those of components.
    ///
    /// # Safety
    /// They are as the contract says.
    pub unsafe fn of(args: &PlanArgs) -> Call<'a> {
        let given =
            Given { layout: args.layout, access: args.access, services: args.services, ctx: args.ctx };
        // SAFETY: the caller's promise.
        Call { comm: unsafe { &*args.comm }, given }
    }

    /// This rank in the file's communicator.
    pub fn rank(&self) -> u32 {
        self.comm.rank
    }

    /// Ranks of the file's communicator.
    pub fn num_ranks(&self) -> u32 {
        self.comm.num_ranks
    }

    /// Nodes of the file's communicator.
    pub fn num_nodes(&self) -> u32 {
        self.comm.num_nodes
    }

    /// The layout of the file: equal in all ranks.
    pub fn layout(&self) -> &'a Layout {
        // SAFETY: the host keeps it until the plan has ended.
        unsafe { &*self.given.layout }
    }

    /// The ranks that transfer for others, in the order of their domains.
    pub fn aggregators(&self) -> &'a [u32] {
        let layout = self.layout();
        // SAFETY: as above.
        unsafe { core::slice::from_raw_parts(layout.aggregators, layout.num_aggregators as usize) }
    }

    /// This rank's part.
    pub fn access(&self) -> &'a Access {
        // SAFETY: as above.
        unsafe { &*self.given.access }
    }

    /// Whether data goes to the file.
    pub fn writes(&self) -> bool {
        self.access().what == WRITE
    }

    /// Whether the user wants accesses of this direction by aggregators: one of [`want`].
    pub fn wanted(&self) -> u32 {
        if self.writes() { self.layout().write } else { self.layout().read }
    }

    /// This rank's view.
    pub fn view(&self) -> View<'a> {
        let access = self.access();
        // SAFETY: the type lives until the plan has ended.
        View::new(access.displacement, unsafe { &*access.filetype })
    }

    /// The type of this rank's elements in memory.
    pub fn memtype(&self) -> &'a TypeDesc {
        // SAFETY: as above.
        unsafe { &*self.access().memtype }
    }

    /// This rank's memory, for pieces.
    pub fn memory_of_access(&self) -> pieces::Memory<'a> {
        // SAFETY: the host's promise about an access's memory.
        unsafe { pieces::Memory::new(self.access().memory, self.memtype()) }
    }

    fn services(&self) -> &'a CollServices {
        // SAFETY: valid as long as the communicator.
        unsafe { &*self.comm.services }
    }

    fn transfers(&self) -> &'a FcollServices {
        // SAFETY: valid until the plan has ended.
        unsafe { &*self.given.services }
    }

    /// Memory of the plan, not initialised.
    pub fn memory(&self, len: u64) -> Result<Memory, Status> {
        let mut at = null_mut();
        answer((self.services().memory)(self.comm, len, &mut at))?;
        Ok(Memory { at, len })
    }

    /// Memory of the plan whose bytes are 0.
    pub fn zeroed(&self, len: u64) -> Result<Memory, Status> {
        let memory = self.memory(len)?;
        // SAFETY: fresh memory of that length.
        unsafe { core::ptr::write_bytes(memory.at, 0, len as usize) };
        Ok(memory)
    }

    /// Starts a message of `count` elements at `at` to rank `to`. Messages from one rank to another arrive in the order in which they were started.
    ///
    /// # Safety
    /// Elements and type stay as they are until the request has been waited for, or the plan has ended.
    pub unsafe fn send(
        &self,
        at: *const u8,
        count: u64,
        desc: &TypeDesc,
        to: u32,
    ) -> Result<Request, Status> {
        let mut request = null_mut();
        answer((self.services().isend)(self.comm, at, count, desc, to, FIRST_TAG, &mut request))?;
        Ok(Request(request))
    }

    /// Starts a message from rank `from` to the same kind of place. It must have exactly that many bytes.
    ///
    /// # Safety
    /// As of [`Call::send`]; the place is the message's.
    pub unsafe fn recv(
        &self,
        at: *mut u8,
        count: u64,
        desc: &TypeDesc,
        from: u32,
    ) -> Result<Request, Status> {
        let mut request = null_mut();
        answer((self.services().irecv)(self.comm, at, count, desc, from, FIRST_TAG, &mut request))?;
        Ok(Request(request))
    }

    /// Waits for messages before the steps behind; takes them out of the list.
    pub fn wait(&self, requests: &mut Vec<Request>) -> Result<(), Status> {
        let mut all: Vec<_> = requests.drain(..).map(|request| request.0).collect();
        answer((self.services().wait_all)(self.comm, all.as_mut_ptr(), all.len()))
    }

    /// Transfers pieces, as [`FcollServices::transfer`] says. `moved` and `outcome` are places for the result.
    ///
    /// # Safety
    /// The memory of the pieces and the places are there until the transfer has ended, or the plan.
    pub unsafe fn transfer(
        &self,
        what: u32,
        pieces: &[Piece],
        result: &Memory,
        later: bool,
    ) -> Result<(), Status> {
        let (moved, outcome) = (result.at.cast::<u64>(), result.at.wrapping_add(8).cast::<i32>());
        answer((self.transfers().transfer)(
            self.given.ctx,
            self.comm,
            what,
            pieces.as_ptr(),
            pieces.len(),
            moved,
            outcome,
            later.into(),
        ))
    }

    /// A place for the result of a transfer.
    pub fn result(&self) -> Result<Memory, Status> {
        self.zeroed(16)
    }

    /// Waits for the transfers that were written down to end later.
    pub fn settle(&self) -> Result<(), Status> {
        answer((self.transfers().settle)(self.given.ctx, self.comm))
    }

    /// Says how many bytes of its own access this rank has moved, and with what outcome. Once, at the plan's end.
    pub fn moved(&self, bytes: u64, outcome: Status) {
        (self.transfers().moved)(self.given.ctx, bytes, outcome);
    }

    /// Has `next` called when all steps that were written before are done. It writes the ones that follow; `true` tells it that data of the plan is missing, since a message failed.
    pub fn then(
        &self,
        next: impl FnOnce(&Call<'_>, bool) -> Result<(), Status> + Send + 'static,
    ) -> Result<(), Status> {
        if !self.services().can_extend() {
            return Err(Status::NOT_SUPPORTED);
        }
        let link = Box::into_raw(Box::new(Link { given: self.given, next: Some(Box::new(next)) }));
        let status = (self.services().extend)(self.comm, go_on, link.cast());
        if status.is_err() {
            // SAFETY: the host has not taken it.
            drop(unsafe { Box::from_raw(link) });
        }
        answer(status)
    }
}

/// The type of a byte, for messages: a descriptor that its owner keeps as long as messages name it.
pub(crate) fn byte() -> Result<TypeRef, Status> {
    let byte = TypeDesc::basic(Base::BYTE).ok_or(Status::INTERNAL)?;
    // SAFETY: it lives until the constructor, which keeps no reference, has returned.
    let byte = unsafe { TypeRef::retain(&byte) };
    Ok(oxmpi_datatype::build::dup(&byte))
}

impl Call<'_> {
    /// The type of a byte, which the caller keeps as long as messages name it.
    pub fn byte(&self) -> Result<TypeRef, Status> {
        byte()
    }
}
