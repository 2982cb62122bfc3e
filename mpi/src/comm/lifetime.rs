//! Communicators come and go.
//!
//! MPI_Comm_free makes the handle stale at once, but operations that are under way go
//! on. A request whose handle is alive, or that was freed while pending, carries the address of its
//! [`CommObject`] in its header ([`crate::request`]), and a matched message carries it too. So nothing
//! is counted on the path of a message; instead `retire` looks through the requests, and what is still
//! used waits in a list that is looked at again when the next communicator goes and at MPI_Finalize.

use super::object::{CommObject, PREDEFINED, TABLE, get, require, wrong};
use crate::buffered::Slot;
use crate::call::process::Process;
use crate::constants::*;
use crate::error::handler::Handler;
use crate::error::{Failure, Res, initial};
use crate::tool::event;
use crate::types::Comm;
use crate::{probe, request};
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::Ordering;
use oxmpi_mca::Entry;
use oxmpi_runtime::Communicator;
use parking_lot::Mutex;
use std::sync::Arc;

/// Freed by the user, used by operations under way.
static RETIRED: Mutex<Vec<Retired>> = Mutex::new(Vec::new());

/// Boxed as it was in the table: requests hold its address.
struct Retired(Box<CommObject>);

/// Makes one of the two predefined communicators; `which` is its handle.
pub fn install(which: usize, comm: Arc<Communicator>, name: &str) {
    comm.set_name(name);
    let object = Box::new(CommObject::new(comm, initial()));
    object.handle.store(which, Ordering::Relaxed);
    // SYNC POINT with `get`.
    PREDEFINED[which - MPI_COMM_WORLD].store(Box::into_raw(object), Ordering::Release);
}

/// The buffers of the communicators that the user has not freed, of those that `of` wants.
pub fn buffers(of: impl Fn(&CommObject) -> bool) -> Vec<Arc<Slot>> {
    let predefined = [MPI_COMM_WORLD, MPI_COMM_SELF];
    let objects = predefined.into_iter().chain(TABLE.handles()).filter_map(|h| get(Comm(h)));
    objects.filter(|object| of(object)).map(|object| object.buffer.clone()).collect()
}

/// At the end of a session, or of the world: takes down its communicators. No call on them can be under
/// way.
pub fn take_down(process: &Process, of: impl Fn(&CommObject) -> bool) {
    for handle in TABLE.handles() {
        if TABLE.get(handle).is_some_and(&of)
            && let Some(object) = TABLE.remove(handle)
        {
            retire(process, object);
        }
    }
}

/// At the end of the world: the two predefined communicators go.
pub fn uninstall(process: &Process) {
    for place in &PREDEFINED {
        let object = place.swap(null_mut(), Ordering::AcqRel);
        if !object.is_null() {
            // SAFETY: from Box::into_raw in `install`.
            retire(process, unsafe { Box::from_raw(object) });
        }
    }
}

/// Gives a communicator that `parent` gave birth to its handle; it inherits the error handler.
pub fn adopt(entry: &mut Entry, parent: &CommObject, comm: Arc<Communicator>) -> Res<Comm> {
    adopt_with(entry, parent.handler(), comm)
}

/// As [`adopt`], for a communicator without a parent.
pub fn adopt_with(entry: &mut Entry, handler: Handler, comm: Arc<Communicator>) -> Res<Comm> {
    let object = Box::new(CommObject::new(comm, handler));
    let Some(handle) = TABLE.insert(object) else {
        return Failure::err(MPI_ERR_NO_MEM, "too many communicators");
    };
    if let Some(object) = TABLE.get(handle) {
        object.handle.store(handle, Ordering::Relaxed);
        let facts = || [handle as c_int, object.comm.size() as c_int, object.comm.rank() as c_int];
        event::raise_in_call(entry, event::Kind::CommCreated, || facts().to_vec());
    }
    Ok(Comm(handle))
}

/// Frees what is behind a handle now, or as soon as nothing uses it.
pub fn free(process: &Process, entry: &mut Entry, comm: Comm) -> Res {
    if comm.0 == MPI_COMM_WORLD || comm.0 == MPI_COMM_SELF {
        return Failure::err(MPI_ERR_COMM, "the predefined communicators cannot be freed");
    }
    let object = require(comm)?;
    object.attributes.delete_all(entry, comm.0)?;
    object.buffer.empty(process, entry);
    let Some(object) = TABLE.remove(comm.0) else { return Err(wrong(comm)) };
    retire(process, object);
    event::raise_in_call(entry, event::Kind::CommFreed, || vec![comm.0 as c_int]);
    Ok(())
}

/// Drops an object without a handle now, or when nothing uses it any more.
fn retire(process: &Process, object: Box<CommObject>) {
    let mut retired = std::mem::take(&mut *RETIRED.lock());
    retired.push(Retired(object));
    // A communicator that nothing uses any more is dropped outside the lock: that tells the PML.
    let in_use = |o: &Retired| request::uses(process, &o.0, false) || probe::uses(&o.0);
    let kept: Vec<Retired> = retired.into_iter().filter(in_use).collect();
    RETIRED.lock().extend(kept);
}
