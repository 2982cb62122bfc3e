//! The contract's verbs, carried out by an author's on the window behind them.

use super::author::{Osc, Window};
use super::call::{Call, Meeting, Result};
use super::desk::Desk;
use super::inside::{Core, Inside};
use super::operation::{Kind, Operation};
use super::serve::Common;
use crate::address::Address;
use crate::comm::Comm;
use crate::exposed::Exposed;
use crate::requests::{Pending, Request};
use core::ffi::c_void;
use core::sync::atomic::{Ordering, fence};
use oxmpi_mca::{Entry, Host, Status};
use oxmpi_osc::{Asked, Flush, LockKind, Memory, OscModule, Rma, Vouched, Want, WinDesc, flavor};
use std::sync::Arc;

/// The module of a component, for `open`'s list. Its messages have at most `message_bytes` bytes, the same number at all ranks.
pub fn module<T: Osc>(host: Host, message_bytes: usize, osc: T) -> OscModule {
    let common = Arc::new(Common::new(host));
    oxmpi_osc::module(host, Component { osc, message_bytes, common })
}

struct Component<T: Osc> {
    osc: T,
    message_bytes: usize,
    common: Arc<Common<T::Window>>,
}

impl<T: Osc> oxmpi_osc::Osc for Component<T> {
    type Window = Served<T::Window>;

    fn query(&self, desc: Vouched<'_, WinDesc>) -> Option<i32> {
        self.osc.query(&desc)
    }

    fn create(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Box<Served<T::Window>>> {
        let host = self.common.host;
        // SAFETY: the description is vouched for, and its communicator valid until the window is freed: `Served` goes then, and has all that has the communicator.
        let comm = unsafe { Comm::new(host, desc.comm) };
        let window = self.osc.create(&mut Meeting::new(entry, &comm), &desc)?;
        let exposed = match desc.flavor {
            flavor::DYNAMIC => Exposed::dynamic(),
            // SAFETY: the description is vouched for; the memory stays until the window is freed, and goes with `Served` as the communicator does.
            _ => unsafe { Exposed::whole(Memory { base: desc.base.expose_provenance(), bytes: desc.bytes }) },
        };
        let desk = Desk::new(comm.rank(), comm.num_ranks(), exposed);
        let core = Arc::new(Core::new(host, comm, window, desk));
        // SAFETY: the host's own word for the window, which any thread hands back to it.
        let host_win = unsafe { Address::of(desc.host_win) };
        let made = Served { core, common: self.common.clone(), host_win };
        let served = made.core.listen(entry, self.message_bytes);
        let served = served.and_then(|()| made.common.enlist(made.core.clone()));
        if let Err(status) = served {
            made.vanish(entry);
            return Err(status);
        }
        Ok(Box::new(made))
    }
}

/// A window as the contract sees it.
pub(super) struct Served<W: Window> {
    /// Before what its loans are from.
    core: Arc<Core<W>>,
    common: Arc<Common<W>>,
    /// The host's word for the window, for requests.
    host_win: Address<c_void>,
}

fn status(result: Result) -> Status {
    result.err().unwrap_or(Status::OK)
}

impl<W: Window> Served<W> {
    /// Begins an operation; its request, if one is wanted.
    fn begin(&self, entry: &mut Entry, operation: &Operation<'_>, want: Want) -> Asked<Request> {
        let request = match want {
            Want::Request => Some(self.common.pool.take(self.host_win)?),
            Want::Nothing => None,
        };
        let known = request.as_ref().map(Pending::request);
        let mut call = Call::new(entry, &self.core);
        call.with(|window, desk| {
            let open = desk.loans.lend(operation, request);
            let number = open.number();
            let begun = window.operate(desk, operation, open);
            begun.inspect_err(|_| desk.loans.undo(number))
        })?;
        if self.core.is_crowded() {
            call.progress();
        }
        Ok(known)
    }

    /// Runs a verb.
    fn run(&self, entry: &mut Entry, verb: impl FnOnce(&mut Call<'_, W>) -> Result) -> Status {
        fence(Ordering::SeqCst);
        let done = verb(&mut Call::new(entry, &self.core));
        fence(Ordering::SeqCst);
        status(done)
    }

    /// Runs a verb that completes the operations to a rank (`None`: to all) which were begun before.
    fn finish(
        &self,
        entry: &mut Entry,
        rank: Option<u32>,
        verb: impl FnOnce(&mut Call<'_, W>) -> Result,
    ) -> Status {
        let before = self.core.inside().desk.loans.next();
        let done = self.run(entry, verb);
        if done == Status::RMA_SYNC || done == Status::BAD_PARAM {
            // The call was refused, so nothing is over.
            return done;
        }
        let all_ended = self.core.inside().desk.loans.recall(rank, before);
        if done.is_ok() && !all_ended { Status::INTERNAL } else { done }
    }

    /// Nothing of the window is used any more.
    fn vanish(&self, entry: &mut Entry) {
        self.common.strike(&self.core);
        self.core.leave(entry);
        let Inside { desk, .. } = &mut *self.core.inside();
        desk.loans.recall(None, desk.loans.next());
    }
}

impl<W: Window> oxmpi_osc::Window for Served<W> {
    type Request = Request;

    fn put(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.begin(entry, &Operation::of(Kind::Put, args)?, want)
    }
    fn get(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.begin(entry, &Operation::of(Kind::Get, args)?, want)
    }
    fn accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.begin(entry, &Operation::of(Kind::Accumulate, args)?, want)
    }
    fn get_accumulate(&self, entry: &mut Entry, args: Rma<'_>, want: Want) -> Asked<Request> {
        self.begin(entry, &Operation::of(Kind::Fetch, args)?, want)
    }
    fn fetch_and_op(&self, entry: &mut Entry, args: Rma<'_>) -> Status {
        let operation = Operation::of_one(Kind::Fetch, args);
        status(operation.and_then(|operation| self.begin(entry, &operation, Want::Nothing)).map(drop))
    }
    fn compare_and_swap(&self, entry: &mut Entry, args: Rma<'_>) -> Status {
        let operation = Operation::of_one(Kind::Swap, args);
        status(operation.and_then(|operation| self.begin(entry, &operation, Want::Nothing)).map(drop))
    }

    fn fence(&self, entry: &mut Entry, assert: u32) -> Status {
        self.finish(entry, None, |call| W::fence(call, assert))
    }
    fn post(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
        self.run(entry, |call| W::post(call, ranks, assert))
    }
    fn start(&self, entry: &mut Entry, ranks: &[u32], assert: u32) -> Status {
        self.run(entry, |call| W::start(call, ranks, assert))
    }
    fn complete(&self, entry: &mut Entry) -> Status {
        self.finish(entry, None, W::complete)
    }
    fn wait(&self, entry: &mut Entry) -> Status {
        self.run(entry, W::wait)
    }
    fn test(&self, entry: &mut Entry) -> Status {
        self.run(entry, |call| if W::test(call)? { Ok(()) } else { Err(Status::PENDING) })
    }
    fn lock(&self, entry: &mut Entry, kind: LockKind, rank: u32, assert: u32) -> Status {
        self.run(entry, |call| W::lock(call, kind, rank, assert))
    }
    fn unlock(&self, entry: &mut Entry, rank: u32) -> Status {
        self.finish(entry, Some(rank), |call| W::unlock(call, rank))
    }
    fn lock_all(&self, entry: &mut Entry, assert: u32) -> Status {
        self.run(entry, |call| W::lock_all(call, assert))
    }
    fn unlock_all(&self, entry: &mut Entry) -> Status {
        self.finish(entry, None, W::unlock_all)
    }
    fn flush(&self, entry: &mut Entry, rank: Option<u32>, _: Flush) -> Status {
        self.finish(entry, rank, |call| W::flush(call, rank))
    }
    fn sync(&self, entry: &mut Entry) -> Status {
        self.run(entry, |call| {
            call.progress();
            Ok(())
        })
    }
    fn attach(&self, _: &mut Entry, memory: Memory) -> Status {
        // SAFETY: nobody but the contract's functions calls it, with memory that the program leaves where it is until it is detached or the window is freed.
        unsafe { self.core.inside().desk.exposed.attach(memory) }
    }
    fn detach(&self, _: &mut Entry, base: usize) -> Status {
        self.core.inside().desk.exposed.detach(base)
    }

    fn free(&self, entry: &mut Entry) -> Status {
        let freed = self.finish(entry, None, |call| {
            W::free(call)?;
            // Bytes of messages are read where they lie.
            call.until_sent()
        });
        if freed.is_ok() {
            self.vanish(entry);
        }
        freed
    }
    fn discard(&self, entry: &mut Entry) {
        self.vanish(entry);
    }
}
