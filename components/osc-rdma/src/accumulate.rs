//! Accumulates: atomics on elements that have them, and read-combine-write under the target's lock for the others.
//!
//! An operation's blocks are of two sorts (`elements.rs`): those whose elements are updated one by one, and those that go under the lock. Under
//! the lock, `ACCUMULATE` of the target's state words (`claim.rs`), is the whole call from reading to writing; it is taken and given back within one
//! call, so nobody who has it is outside of MPI. With a granularity of more than eight bytes (MPI 5.0 §12.3.4) all blocks of all
//! operations on the window go under the lock, each operation alone. They go under the lock by default, too, where some rank's memory is reached by a transport
//! and lists of atomics are not there or slower, since an atomic for each element of a long accumulate costs a hundred times as much;
//! then a few elements are updated by atomics, beside others that do the same, and more than a few alone. Where the transport copies by itself and asks the
//! target for atomics (`Link::copies`), few elements have the lock alone, too: nobody has to be woken.
//!
//! **Order.** On mapped memory an accumulate is done when its call returns, and under the lock, too, unless what it writes is on its way to another node
//! (`combine.rs`). Atomics of a transport may overtake each
//! other, so an accumulate waits for those before it to the same rank, unless they are alike and integers, or the window's info
//! says that nobody asks (`order.rs`).

use crate::call::Call;
use crate::claim::Claim;
use crate::elements::Update;
use crate::issue::{NOTHING, Noted};
use crate::layout::Block;
use crate::local::Local;
use crate::op::{Draft, FinalStep};
use crate::order::Touch;
use crate::peer::Met;
use crate::piece::{Amo, Piece, RemoteAmo, lists};
use crate::shape::Shape;
use crate::spot::{RemoteTarget, Spot, complete};
use crate::task::{FEW, OldElements, Packed, Task, element};
use crate::transfer::{Care, Transfer, copy};
use crate::writes::Kind;
use core::ptr::{null, null_mut};
use oxmpi_btl::amo;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;
use oxmpi_osc::{Asked, Rma, Want};
use oxmpi_osc_support::{Elements, Entries, Entry, Pending, RemoteRegistration, Request, Sink, Source};

/// The program's part in an accumulate: what that takes and gives.
struct Operands<'a> {
    code: u32,
    /// Nothing for MPI_NO_OP.
    origin: Option<Source<'a>>,
    /// Where old elements are wanted.
    result: Option<Sink<'a>>,
    there: Shape<'a>,
}

/// The operands of MPI_Accumulate.
fn accumulate_of<'a>(args: &Rma<'a>) -> Result<Operands<'a>, Status> {
    operands(args, None)
}

/// The operands of MPI_Get_accumulate.
fn get_accumulate_of<'a>(args: &Rma<'a>) -> Result<Operands<'a>, Status> {
    // SAFETY: vouched for, and valid during the call; the result of such an operation is written, and nobody else's until that is complete.
    let result = unsafe {
        Elements::new(args.result, args.result_count, args.result_type).map(|result| result.sink())
    };
    operands(args, result)
}

/// The operands of MPI_Fetch_and_op: one element of the origin's type everywhere.
fn fetch_of<'a>(args: &Rma<'a>) -> Result<Operands<'a>, Status> {
    // SAFETY: vouched for, and valid during the call; the result is one element, which is written.
    let result = unsafe { Elements::new(args.result, 1, args.origin_type).map(|result| result.sink()) };
    // SAFETY: vouched for, or null; the origin is one element.
    unsafe {
        let code = args.op.as_ref().ok_or(Status::BAD_PARAM)?.code;
        let origin = Elements::new(args.origin, 1, args.origin_type).ok_or(Status::BAD_PARAM)?;
        let there = Shape { count: 1, dtype: origin.dtype };
        let origin = if code == op::NO_OP { None } else { Some(origin.source()) };
        Ok(Operands { code, origin, result, there })
    }
}

fn operands<'a>(args: &Rma<'a>, result: Option<Sink<'a>>) -> Result<Operands<'a>, Status> {
    // SAFETY: vouched for, or null, and valid during the call; the origin's data is read, and stays until the operation is complete.
    unsafe {
        let code = args.op.as_ref().ok_or(Status::BAD_PARAM)?.code;
        let dtype = args.target_type.as_ref().ok_or(Status::BAD_PARAM)?;
        let origin = match code {
            op::NO_OP => None,
            _ => Elements::new(args.origin, args.origin_count, args.origin_type).map(|data| data.source()),
        };
        Ok(Operands { code, origin, result, there: Shape { count: args.target_count, dtype } })
    }
}

impl Operands<'_> {
    /// Bytes of the target's that it is about.
    fn len(&self) -> u64 {
        self.origin.map_or(self.there.bytes(), |origin| origin.bytes().min(self.there.bytes()))
    }
}

impl<'a> Call<'a> {
    // Neither is in one with what is tried before it, which needs few registers.
    /// MPI_Accumulate.
    #[inline(never)]
    pub fn accumulate(&mut self, args: &Rma<'_>, want: Want) -> Asked<Request> {
        self.operate_by(args, &accumulate_of(args)?, want)
    }

    /// MPI_Get_accumulate.
    pub fn get_accumulate(&mut self, args: &Rma<'_>, want: Want) -> Asked<Request> {
        self.operate_by(args, &get_accumulate_of(args)?, want)
    }

    /// MPI_Fetch_and_op.
    #[inline(never)]
    pub fn fetch_and_op(&mut self, args: &Rma<'_>) -> Result<(), Status> {
        self.operate_by(args, &fetch_of(args)?, Want::Nothing).map(|_| ())
    }

    fn operate_by(&mut self, args: &Rma<'_>, operands: &Operands<'_>, want: Want) -> Asked<Request> {
        let peer = self.target(args.target)?;
        let Operands { code, origin, result, there: shape } = *operands;
        let len = operands.len();
        if len == 0 || (code == op::NO_OP && result.is_none()) {
            return self.done(want);
        }
        let update = Update::new(code, shape.dtype.base)?;
        let spot = match self.spot(peer, args.disp, shape.count, shape.dtype) {
            Ok(spot) => spot,
            Err(status) => return self.refused(status, want),
        };
        if let (op::NO_OP, true, Some(into)) = (code, self.win.rules.same_op(), result) {
            return self.read_only(peer, &spot, shape, into, want);
        }
        if let Spot::Here(at) = spot {
            // SAFETY: `spot` has found all of it in mapped memory of the window's.
            let apply = || unsafe { apply_at_once(update, shape.at(at), len, operands) };
            let applied = match (self.win.rules.under_lock, self.win.rules.coarse) {
                (false, _) => apply(),
                (true, false) if len <= FEW * update.width => {
                    self.holding(peer, Claim::SHARED, |_| Ok(apply()))?
                }
                _ => false,
            };
            if applied {
                return self.done(want);
            }
        }
        if origin.is_none() && code != op::NO_OP {
            return Err(Status::BAD_PARAM);
        }
        let input = origin.map(|origin| Packed::of(&origin));
        let blocks = spot.blocks(shape.count, shape.dtype, len)?;
        let task = Task { peer, update, blocks, len, input, result, wanted: want == Want::Request };
        if let Spot::There(there) = &spot {
            if !task.wanted && self.join_update(&task, there)? {
                return self.done(want);
            }
            self.wait_for_writes(there.route, Kind::ACCUMULATE, None, &task.blocks)?;
        }
        let request = self.request(want)?;
        let shown = request.as_ref().map(Pending::request);
        // SAFETY: the task's blocks are the spot's.
        if let Some(request) = unsafe { self.carry_out(&task, &spot, request) }? {
            complete(request);
        }
        Ok(shown)
    }

    /// Its request, if it is done; `None`: it is under way, and completes its request.
    ///
    /// # Safety
    /// The task's blocks are of elements at that spot.
    unsafe fn carry_out(
        &mut self,
        task: &Task<'_>,
        spot: &Spot<'_>,
        request: Option<Pending>,
    ) -> Result<Option<Option<Pending>>, Status> {
        let under_lock = self.win.rules.under_lock;
        let one_by_one = |block: &&Block| !under_lock && task.update.has_atomics_in(block);
        let (single, locked): (Vec<&Block>, Vec<&Block>) = task.blocks.iter().partition(one_by_one);
        let there = match spot {
            Spot::Here(_) => None,
            Spot::There(there) => Some(there),
        };
        if let Some(there) = there
            && locked.is_empty()
        {
            let ear = self.ear(there.route);
            // A list names each block by forty bytes, and has operands where nothing is combined; a question does with a few, and none.
            if let Some((amo, kind)) = task.update.amo()
                && there.route.link().has_atomic(amo.op, kind)
                && (ear.is_none() || (task.blocks.len() == 1 && task.input.is_some()))
            {
                return self.start_atomics(task, there, amo, request).map(|()| None);
            }
            if let Some(ear) = ear {
                return self.ask_in_line(task, there.route, ear, request).map(|()| None);
            }
        }
        let mut old = OldElements::of(task.result, task.len);
        if there.is_some() {
            let touch = Touch { kind: Touch::ALONE, ..task.touch() };
            self.wait_for_order(task.peer, touch)?;
            task.peer.ordered.end(touch.into());
        }
        if let Some(there) = there
            && !locked.is_empty()
            && self.ask_alone(task, there.route, &mut old)?
        {
            old.end();
            return Ok(Some(request));
        }
        for block in &single {
            match there {
                // SAFETY: a spot here has its blocks in mapped memory; this one's elements are updated one by one.
                None => unsafe { task.apply_here(block, &mut old) },
                Some(there) => self.swap_there(task, there, block, &mut old)?,
            }
        }
        // SAFETY: a spot here has its blocks in mapped memory.
        unsafe { self.carry_out_locked(task, there, &locked, &mut old) }?;
        old.end();
        Ok(Some(request))
    }

    /// Blocks that are updated under the lock.
    ///
    /// # Safety
    /// As [`Call::combine_alone`].
    unsafe fn carry_out_locked(
        &mut self,
        task: &Task<'_>,
        there: Option<&RemoteTarget<'_>>,
        locked: &[&Block],
        old: &mut OldElements<'_>,
    ) -> Result<(), Status> {
        if locked.is_empty() {
            return Ok(());
        }
        if task.only_reads_bytes() && !self.win.rules.coarse {
            // SAFETY: the caller's promise. Nothing is written.
            return unsafe { self.combined(task, there, locked, old) }.map(|_| ());
        }
        let copies = there.is_some_and(|there| there.route.link().copies);
        let shared = !self.win.rules.coarse && task.is_few() && !copies;
        let claim = if shared { Claim::SHARED } else { Claim::ALONE };
        match (there, task.few_atomics(there)) {
            (Some(there), Some(amo)) => {
                self.holding(task.peer, claim, |call| call.atomics_now(task, there, amo, old))
            }
            (Some(there), None) if shared => self.holding(task.peer, claim, |call| {
                locked.iter().try_for_each(|block| call.swap_there(task, there, block, old))
            }),
            (None, _) if shared => self.holding(task.peer, claim, |_| {
                for block in locked {
                    // SAFETY: the caller's promise; few elements are in their natural places, and under the shared lock everybody updates those by atomics.
                    unsafe { task.apply_here(block, old) };
                }
                Ok(())
            }),
            // SAFETY: the caller's promise.
            _ => unsafe { self.combine_alone(task, there, locked, old) },
        }
    }

    /// Elements that no accumulate changes meanwhile, since all that go on are alike (`accumulate_ops` is `same_op`): read as by MPI_Get, without
    /// a lock, behind and before others as `accumulate_ordering` says.
    fn read_only(
        &mut self,
        peer: Met<'_>,
        spot: &Spot<'_>,
        shape: Shape<'_>,
        into: Sink<'_>,
        want: Want,
    ) -> Asked<Request> {
        let request = self.request(want)?;
        let there = match spot {
            Spot::There(there) => there,
            Spot::Here(at) => {
                // SAFETY: `spot` has found all of it in mapped memory of the window's; the sink can be written.
                unsafe { copy(shape.at(*at), into.elements()) };
                return Ok(complete(request));
            }
        };
        let shown = request.as_ref().map(Pending::request);
        self.wait_for_order(peer, Touch::READ)?;
        let mut op = Draft::default();
        (op.request, op.ordered) = (request, Touch::READ.into());
        let started = self.move_there(Transfer::Get(into), there, shape, op, Care::Nobody);
        started.inspect_err(|_| peer.ordered.end(Touch::READ.into()))?;
        Ok(shown)
    }

    /// Each element by an atomic of the transport; the operation is under way.
    fn start_atomics(
        &mut self,
        task: &Task<'_>,
        there: &RemoteTarget<'_>,
        amo: Amo,
        request: Option<Pending>,
    ) -> Result<(), Status> {
        let (route, width) = (there.route, task.update.width);
        let link = route.link();
        let listed = link.lists > 0 && (task.len > width || link.lines);
        let touch = if link.lines { task.touch().in_line(self.context(link)) } else { task.touch() };
        let mut op = Draft::default();
        (op.request, op.ordered) = (request, touch.into());
        if let Some(result) = &task.result {
            op.local = Some(Local::Scratch(self.scratch(link, task.len as usize)?));
            op.final_step = FinalStep::to(result, task.len as usize);
        }
        let registrations = there.registrations(&task.blocks)?;
        self.wait_for_order(task.peer, touch)?;
        if listed {
            let zeros = vec![0; if task.input.is_none() { link.lists.min(task.len) as usize } else { 0 }];
            let entries = task.entries(amo, &registrations, link.lists, &zeros, op.local.as_ref());
            self.launch(route, op, lists(entries, link.lists), NOTHING);
            return Ok(());
        }
        let noted = (!link.remote_done).then(|| Noted {
            kind: Kind::ACCUMULATE,
            ends_there: false,
            settled: task.wanted,
            first: false,
            places: task.places(),
        });
        let wanted = task.result.is_some();
        self.launch(route, op, atomics(task, &registrations, amo, wanted), noted);
        Ok(())
    }

    /// A few elements by the transport's atomics, while the lock is held.
    fn atomics_now(
        &mut self,
        task: &Task<'_>,
        there: &RemoteTarget<'_>,
        amo: Amo,
        old: &mut OldElements<'_>,
    ) -> Result<(), Status> {
        let local = self.scratch(there.route.link(), task.len as usize)?;
        let registrations = there.registrations(&task.blocks)?;
        let done = self.run(there.route, Some(local), atomics(task, &registrations, amo, true))?;
        old.give(0, done.bytes());
        Ok(())
    }

    /// Elements for whose update the transport has no atomic: by compare-and-swap, all at once, and again those that somebody changed.
    fn swap_there(
        &mut self,
        task: &Task<'_>,
        there: &RemoteTarget<'_>,
        block: &Block,
        old: &mut OldElements<'_>,
    ) -> Result<(), Status> {
        let (route, width) = (there.route, task.update.width as usize);
        let registration = there.registration(block)?;
        let flags = if width == 4 { amo::WIDTH_32 } else { 0 };
        let mut now = self.fetch(route, block.at, registration, block.len as usize)?.bytes().to_vec();
        let mut left: Vec<usize> = (0..now.len()).step_by(width).collect();
        while !left.is_empty() {
            let local = Local::Scratch(self.scratch(route.link(), 8 * left.len())?);
            let changes: Vec<Swap> = left.iter().map(|at| Swap::of(task, block, &now, *at)).collect();
            let remote = |i: usize| block.at + left[i] as u64;
            let limit = route.link().lists;
            let mut entries = Entries::new(changes.len(), Some(local.results()));
            let mut single = Vec::new();
            for (i, change) in changes.iter().enumerate() {
                let result = Some(8 * i as u64);
                if limit > 0 {
                    let data = &change.operand[..width];
                    let entry = Entry::new(amo::COMPARE_SWAP, remote(i), registration, data);
                    entries.push(Entry { flags, compare: change.compare, result, ..entry });
                } else {
                    let (operand, compare) = (u64::from_ne_bytes(change.operand), change.compare);
                    let amo = Amo { op: amo::COMPARE_SWAP, flags, operand, compare };
                    single.push(RemoteAmo { amo, remote: remote(i), registration, result });
                }
            }
            let Local::Scratch(local) = local else { return Err(Status::INTERNAL) };
            let pieces = lists(entries, limit).chain(single.into_iter().map(Piece::Atomic));
            let done = self.run(route, Some(local), pieces)?;
            let mut again = Vec::new();
            for (at, found) in left.iter().zip(done.bytes().chunks(8)) {
                let (known, found) = (&mut now[*at..*at + width], &found[..width]);
                if known != found {
                    known.copy_from_slice(found);
                    again.push(*at);
                }
            }
            left = again;
        }
        old.give(block.packed, &now);
        Ok(())
    }
}

/// A compare-and-swap of one element.
struct Swap {
    compare: u64,
    operand: [u8; 8],
}

impl Swap {
    /// From what is at a place of a block now to what the accumulate makes of it.
    fn of(task: &Task<'_>, block: &Block, now: &[u8], at: usize) -> Swap {
        let compare = element(&now[at..at + task.update.width as usize]);
        let operand = task.update.next(compare, task.operand(block.packed + at as u64));
        Swap { compare, operand: operand.to_ne_bytes() }
    }
}

/// An atomic for each element; with old ones in local memory, if they are wanted, where they are among the packed ones.
fn atomics<'p>(
    task: &'p Task<'_>,
    registrations: &'p [&'p RemoteRegistration],
    amo: Amo,
    wanted: bool,
) -> impl Iterator<Item = Piece<'p>> {
    task.blocks.iter().zip(registrations).flat_map(move |(block, registration)| {
        (0..block.len).step_by(task.update.width as usize).map(move |at| {
            let packed = block.packed + at;
            let amo = Amo { operand: task.operand(packed), ..amo };
            let result = wanted.then_some(packed);
            Piece::Atomic(RemoteAmo { amo, remote: block.at + at, registration, result })
        })
    })
}

/// Elements side by side in mapped memory, one by one: the usual case, which needs no lists. False: it is another case.
///
/// # Safety
/// The target is mapped memory of the window's. Elements that [`Update::is_atomic_at`] names are updated by atomics alone.
unsafe fn apply_at_once(update: Update, target: Elements<'_>, len: u64, operands: &Operands<'_>) -> bool {
    let Some(at) = target.one_block().filter(|at| update.is_atomic_at(*at as u64)) else { return false };
    let input = match (update.code, operands.origin) {
        (op::NO_OP, _) => null(),
        (_, Some(origin)) => match origin.one_block() {
            Some(at) => at,
            None => return false,
        },
        _ => return false,
    };
    let old = match operands.result {
        None => null_mut(),
        Some(result) => match result.one_block() {
            Some(at) => at,
            None => return false,
        },
    };
    // SAFETY: the caller's promise; operands and results have as many elements.
    unsafe { update.apply(at, len / update.width, input, old) };
    true
}
