//! Put, get and flush. Both go from the context's endpoint to the target that the peer has for them (`target.rs`).
//!
//! A put asks for delivery: it is complete when the data is at the target, so a flush waits for what is under way and asks nobody.
//!
//! **Tried once more.** Over a provider that refuses an operation by ending the connection (tcp), one that the target does not allow takes others with it.
//! Those are puts and gets that do no harm twice: whichever fails is issued again, one at a time and with no other beside it; what fails then
//! has failed by itself, unless the connection is not there yet (ENOTCONN, before anything was sent).

use crate::abi::{DELIVERY_COMPLETE, IoVec, RmaIov, RmaMessage, err};
use crate::context::Context;
use crate::issue::{Issue, Transfer, refused};
use crate::link::Core;
use crate::memory::{CHANGES, Handle};
use crate::rail::Rail;
use core::ffi::c_void;
use core::ptr::with_exposed_provenance_mut;
use core::time::Duration;
use oxmpi_btl::{Completion, RmaDesc, Vouched, access};
use oxmpi_mca::Status;
use std::time::Instant;

/// How long a connection may take to be made anew.
const PATIENCE: Duration = Duration::from_secs(10);

/// Errors that say that there is nobody at the other end.
fn is_nobody(code: i32) -> bool {
    const CONNREFUSED: i32 = 111;
    const HOSTUNREACH: i32 = 113;
    const NETUNREACH: i32 = 101;
    const TIMEDOUT: i32 = 110;
    matches!(code, CONNREFUSED | HOSTUNREACH | NETUNREACH | TIMEDOUT | err::NOTCONN)
}

impl Rail {
    /// Put or get.
    pub fn transfer(
        &self,
        cx: &mut Context,
        (to, target): (&Core, u64),
        rma: Vouched<'_, RmaDesc>,
        done: Completion,
        is_put: bool,
    ) -> Status {
        if rma.len > self.traits.longest || rma.local_handle.is_null() || rma.remote_handle.is_null() {
            return Status::BAD_PARAM;
        }
        if rma.len == 0 {
            return Status::OK;
        }
        // SAFETY: the descriptor is vouched for: what it names, and is not null, are the bytes of a handle of this module.
        let local = Handle::read(unsafe { &*rma.local_handle.cast() });
        // SAFETY: the same of a peer's handle.
        let remote = Handle::read(unsafe { &*rma.remote_handle.cast() });
        let right = if is_put { access::REMOTE_WRITE } else { access::REMOTE_READ };
        if !remote.allows(rma.remote, rma.len, right) {
            return Status::NO_PERMISSION;
        }
        let place = rma.local.expose_provenance() as u64;
        if !local.allows(place, rma.len, 0) || (!is_put && local.rights & CHANGES == 0) {
            return Status::BAD_PARAM;
        }
        if to.is_out() {
            return Status::PEER_FAILED;
        }
        if !cx.operations.again.is_empty() || cx.operations.alone.is_some() {
            return Status::NO_RESOURCE;
        }
        let transfer = Transfer {
            is_put,
            local: place,
            desc: self.memory.desc(&local, cx.device).expose_provenance() as u64,
            len: rma.len as usize,
            target,
            remote: self.remote_address(rma.remote, &remote),
            key: remote.key,
        };
        let (_, record) = cx.operations.next();
        // SAFETY: local memory by the contract of operations.
        match unsafe { start(cx, &transfer, record) } {
            Ok(()) => {
                cx.operations.began(to.proc, done, Issue::Transfer(transfer));
                Status::PENDING
            }
            Err(code) => {
                let status = refused(code);
                if status == Status::NO_RESOURCE {
                    cx.starves();
                }
                status
            }
        }
    }

    /// How the provider wants remote memory to be named.
    pub fn remote_address(&self, address: u64, handle: &Handle) -> u64 {
        if self.traits.virtual_addresses { address } else { address - handle.base }
    }

    /// An operation is over.
    pub fn end(&self, cx: &mut Context, ticket: u32, status: Status) {
        if cx.operations.alone == Some(ticket) {
            cx.operations.alone = None;
        }
        if let Some(issued) = cx.operations.issued(ticket)
            && let Issue::Atomic(place) = issued.what
        {
            // SAFETY: the operation is over and the host has not been told: the place of its result is its memory still.
            unsafe { place.finish(&mut cx.buffers, status) };
        }
        cx.operations.ended(ticket, status);
    }

    #[cold]
    pub fn operation_failed(&self, cx: &mut Context, ticket: u32, code: i32, text: &str) {
        let Some(issued) = cx.operations.issued(ticket) else { return };
        let core = self.core(issued.proc);
        if matches!(issued.what, Issue::Transfer(_)) && !core.is_out() {
            let is_first = issued.failed.is_none();
            let since = issued.failed.get_or_insert_with(Instant::now).elapsed();
            if is_first || (code == err::NOTCONN && since < PATIENCE) {
                if cx.operations.alone == Some(ticket) {
                    cx.operations.alone = None;
                    cx.operations.again.push_front(ticket);
                } else {
                    cx.operations.again.push_back(ticket);
                }
                return;
            }
        }
        self.host.debug(&format!("an operation to process {} has failed: {text}", core.proc));
        if is_nobody(code) {
            self.fail(&core, &format!("it does not take or answer puts and gets: {text}"));
        }
        let status = self.status_of_failed(&core, code);
        self.end(cx, ticket, status);
    }

    fn status_of_failed(&self, core: &Core, code: i32) -> Status {
        match refused(code) {
            _ if core.is_out() => Status::PEER_FAILED,
            // No provider's error of an operation that was taken.
            Status::NO_RESOURCE => Status::INTERNAL,
            Status::INTERNAL => Status::NO_PERMISSION,
            status => status,
        }
    }

    /// Issues the next of the transfers that are tried once more.
    #[cold]
    pub fn try_again(&self, cx: &mut Context) {
        if cx.operations.alone.is_some() {
            return;
        }
        let Some(&ticket) = cx.operations.again.front() else { return };
        let record = cx.operations.context(ticket);
        let Some(issued) = cx.operations.issued(ticket) else { return };
        let Issue::Transfer(transfer) = issued.what else { return };
        // SAFETY: local memory by the contract of operations, since the host has not been told an end.
        match unsafe { start(cx, &transfer, record) } {
            Ok(()) => {
                cx.operations.alone = Some(ticket);
                cx.operations.again.pop_front();
            }
            Err(err::AGAIN | err::NOMEM) => cx.starves(),
            Err(code) => {
                cx.operations.again.pop_front();
                let text = self.api.text(code);
                self.operation_failed(cx, ticket, code, &text);
            }
        }
    }
}

/// Issues a transfer.
///
/// # Safety
/// The local memory is the operation's until its completion.
unsafe fn start(cx: &Context, t: &Transfer, record: *mut c_void) -> Result<(), i32> {
    let ep = &cx.ep;
    let local = with_exposed_provenance_mut::<c_void>(t.local as usize);
    let mut desc = with_exposed_provenance_mut::<c_void>(t.desc as usize);
    let code = if t.is_put {
        let iov = IoVec { base: local, len: t.len };
        let there = RmaIov { addr: t.remote, len: t.len, key: t.key };
        let message = RmaMessage {
            iov: &iov,
            desc: &mut desc,
            iov_count: 1,
            addr: t.target,
            rma: &there,
            rma_count: 1,
            context: record,
            data: 0,
        };
        let write = ep.write.ok_or(err::NOSYS)?;
        // SAFETY: the endpoint lives; the message is read during the call, memory by the caller's promise; the record stays.
        unsafe { write(ep.object, &message, DELIVERY_COMPLETE) }
    } else {
        let read = ep.read.ok_or(err::NOSYS)?;
        // SAFETY: as above.
        unsafe { read(ep.object, local, t.len, desc, t.target, t.remote, t.key, record) }
    };
    if code == 0 { Ok(()) } else { Err((-code) as i32) }
}
