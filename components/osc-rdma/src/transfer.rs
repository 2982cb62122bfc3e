//! MPI_Put and MPI_Get: copies where the target is mapped, else put and get of a transport.
//!
//! Data of one block on both sides goes from or to the program's memory, or through a slot if it is short. Data in pieces is packed into
//! local memory, and each block of the target is a piece of the operation.

use crate::call::Call;
use crate::issue::Noted;
use crate::local::{Local, SLOT};
use crate::mapped_targets::copy_block;
use crate::op::{Draft, FinalStep, Waiting};
use crate::peer::{Link, Route};
use crate::piece::{Piece, gets, puts};
use crate::shape::Shape;
use crate::spot::{RemoteTarget, Spot, complete};
use crate::writes::Kind;
use oxmpi_mca::Status;
use oxmpi_osc::{Asked, Rma, Want};
use oxmpi_osc_support::{Elements, Pending, Request, Sink, Source};

/// Whether somebody waits for the operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Care {
    Nobody,
    Caller,
}

/// Data of an operation here, and its direction.
pub enum Transfer<'a> {
    Put(Source<'a>),
    Get(Sink<'a>),
}

/// The data of a put, and its shape at the target.
pub fn put_of<'a>(args: &Rma<'a>) -> Result<(Source<'a>, Shape<'a>), Status> {
    let (origin, shape) = sides(args)?;
    // SAFETY: vouched for: the origin's data of a put is read, and stays until that is complete.
    Ok((unsafe { origin.source() }, shape))
}

/// The same of a get.
pub fn get_of<'a>(args: &Rma<'a>) -> Result<(Sink<'a>, Shape<'a>), Status> {
    let (origin, shape) = sides(args)?;
    // SAFETY: vouched for: the origin's data of a get is written, and nobody else's until that is complete.
    Ok((unsafe { origin.sink() }, shape))
}

fn sides<'a>(args: &Rma<'a>) -> Result<(Elements<'a>, Shape<'a>), Status> {
    // SAFETY: vouched for, and valid during the call.
    let (origin, target) = unsafe {
        let origin = Elements::new(args.origin, args.origin_count, args.origin_type);
        (origin.ok_or(Status::BAD_PARAM)?, args.target_type.as_ref().ok_or(Status::BAD_PARAM)?)
    };
    Ok((origin, Shape { count: args.target_count, dtype: target }))
}

impl<'a> Call<'a> {
    pub fn put(&mut self, args: Rma<'_>, want: Want) -> Asked<Request> {
        let peer = self.target(args.target)?;
        let (origin, shape) = put_of(&args)?;
        if origin.bytes() == 0 {
            return self.done(want);
        }
        let spot = match self.spot(peer, args.disp, shape.count, shape.dtype) {
            Ok(spot) => spot,
            Err(status) => return self.refused(status, want),
        };
        if let Spot::There(there) = &spot
            && self.join_put(&origin, there, shape, want)?
        {
            return self.done(want);
        }
        self.move_data(Transfer::Put(origin), &spot, shape, want)
    }

    pub fn get(&mut self, args: Rma<'_>, want: Want) -> Asked<Request> {
        let peer = self.target(args.target)?;
        let (origin, shape) = get_of(&args)?;
        if shape.bytes() == 0 {
            return self.done(want);
        }
        let spot = match self.spot(peer, args.disp, shape.count, shape.dtype) {
            Ok(spot) => spot,
            Err(status) => return self.refused(status, want),
        };
        if let Spot::There(there) = &spot
            && want == Want::Nothing
            && self.join_get(&origin, there, shape)?
        {
            return Ok(None);
        }
        self.move_data(Transfer::Get(origin), &spot, shape, want)
    }

    #[inline(always)]
    fn move_data(
        &mut self,
        transfer: Transfer<'_>,
        spot: &Spot<'_>,
        shape: Shape<'_>,
        want: Want,
    ) -> Asked<Request> {
        let request = self.request(want)?;
        match spot {
            Spot::Here(at) => {
                // SAFETY: `spot` has found all of it in mapped memory of the window's.
                unsafe { transfer.copy(*at, shape) };
                Ok(complete(request))
            }
            Spot::There(there) => {
                let shown = request.as_ref().map(Pending::request);
                let mut op = Draft::default();
                op.request = request;
                self.move_there(transfer, there, shape, op, Care::Nobody)?;
                Ok(shown)
            }
        }
    }

    /// The same for a notified operation: under way, where somebody is to wait for it, or done.
    pub fn notified_transfer(
        &mut self,
        args: &Rma<'_>,
        transfer: Transfer<'_>,
        shape: Shape<'_>,
    ) -> Result<Option<Waiting>, Status> {
        let peer = self.peer(args.target)?;
        if transfer.bytes(shape) == 0 {
            return Ok(None);
        }
        match self.spot(peer, args.disp, shape.count, shape.dtype)? {
            Spot::Here(at) => {
                // SAFETY: `spot` has found all of it in mapped memory of the window's.
                unsafe { transfer.copy(at, shape) };
                Ok(None)
            }
            Spot::There(there) => self.move_there(transfer, &there, shape, Draft::default(), Care::Caller),
        }
    }

    /// Starts an operation by the transport.
    pub fn move_there(
        &mut self,
        transfer: Transfer<'_>,
        there: &RemoteTarget<'_>,
        shape: Shape<'_>,
        mut op: Draft,
        care: Care,
    ) -> Result<Option<Waiting>, Status> {
        let (link, len) = (there.route.link(), transfer.bytes(shape));
        op.is_put = matches!(transfer, Transfer::Put(_));
        op.local = Some(match (self.theirs(link, &transfer, len)?, &transfer) {
            (Some(local), _) => local,
            (None, Transfer::Put(origin)) => {
                let mut local = self.scratch(link, len as usize)?;
                origin.pack(0, local.bytes_mut());
                Local::Scratch(local)
            }
            (None, Transfer::Get(origin)) => {
                op.final_step = FinalStep::to(origin, len as usize);
                Local::Scratch(self.scratch(link, len as usize)?)
            }
        });
        self.issue_blocks(there, shape, len, op, care)
    }

    /// The program's memory, if it is one long block.
    fn theirs(&self, link: &Link, transfer: &Transfer<'_>, len: u64) -> Result<Option<Local>, Status> {
        let block = match transfer {
            Transfer::Put(origin) => origin.one_block().map(<*const u8>::cast_mut),
            Transfer::Get(origin) => origin.one_block(),
        };
        let Some(at) = block.filter(|_| len as usize > SLOT) else { return Ok(None) };
        // SAFETY: the data of a source or a sink stays until its operation is complete, which gets the registration, and is complete behind that.
        unsafe { Local::theirs(self.win.services, link.reach.btl(), at, len) }.map(Some)
    }

    /// Issues an operation whose pieces are the target's blocks, as far as they have the first `len` bytes.
    fn issue_blocks(
        &mut self,
        there: &RemoteTarget<'_>,
        shape: Shape<'_>,
        len: u64,
        op: Draft,
        care: Care,
    ) -> Result<Option<Waiting>, Status> {
        let route = there.route;
        let blocks = there.blocks(shape.count, shape.dtype, len)?;
        let stretches = there.stretches(&blocks)?;
        self.wait_for_writes(route, Kind::TRANSFER, None, &blocks)?;
        let noted = (op.is_put && !route.link().remote_done).then(|| Noted {
            kind: Kind::TRANSFER,
            ends_there: false,
            settled: op.request.is_some(),
            first: false,
            places: blocks.iter().map(|block| (block.at, block.len)),
        });
        Ok(match op.is_put {
            true => self.issue_as(route, op, puts(route, stretches), noted, care),
            false => self.issue_as(route, op, gets(route, stretches), noted, care),
        })
    }

    fn issue_as<'p>(
        &mut self,
        route: Route<'_>,
        op: Draft,
        pieces: impl Iterator<Item = Piece<'p>>,
        noted: Option<Noted<impl Iterator<Item = (u64, u64)>>>,
        care: Care,
    ) -> Option<Waiting> {
        match care {
            Care::Caller => Some(self.set_off(route, op, pieces, noted)),
            Care::Nobody => {
                self.launch(route, op, pieces, noted);
                None
            }
        }
    }
}

impl Transfer<'_> {
    /// Bytes that are moved.
    fn bytes(&self, shape: Shape<'_>) -> u64 {
        match self {
            Transfer::Put(origin) => origin.bytes(),
            Transfer::Get(_) => shape.bytes(),
        }
    }

    /// Carries it out on mapped memory.
    ///
    /// # Safety
    /// Elements of this shape lie at `at`, in memory that can be read and written.
    unsafe fn copy(&self, at: *mut u8, shape: Shape<'_>) {
        // SAFETY: the caller's promise.
        let there = unsafe { shape.at(at) };
        let (from, to) = match self {
            Transfer::Put(origin) => (origin.elements(), there),
            Transfer::Get(origin) => (there, origin.elements()),
        };
        // SAFETY: one side by the caller's promise, the other by that of whoever made a source or a sink of it.
        unsafe { copy(from, to) }
    }
}

/// Copies data between two places of this address space, whose packed bytes are the same.
///
/// # Safety
/// All of `from` can be read, all of `to` written.
pub unsafe fn copy(from: Elements<'_>, to: Elements<'_>) {
    let len = from.bytes().min(to.bytes());
    // SAFETY: the caller's promise.
    unsafe {
        match (from.one_block(), to.one_block()) {
            (Some(from), Some(to)) => copy_block(from, to, len as usize),
            (Some(from), None) => to.unpack(0, from, len),
            (None, Some(to)) => from.pack(0, to, len),
            (None, None) => to.unpack(0, from.packed().as_ptr(), len),
        }
    }
}
