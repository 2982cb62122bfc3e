//! Communicators as the C interface has them: the runtime's [`Communicator`] with its error handler,
//! attributes and handle.
//!
//! **Lifetime.** MPI_Comm_free makes the handle stale at once, but operations that are under way go
//! on. A request whose handle is alive, or that was freed while pending, carries the address of its
//! [`CommObject`] in its header ([`crate::request`]), and a matched message carries it too. So nothing
//! is counted on the path of a message; instead `retire` looks through the requests, and what is still
//! used waits in a list that is looked at again when the next communicator goes and at MPI_Finalize.

use crate::attr::Attributes;
use crate::buffered::Slot;
use crate::constants::*;
use crate::errhandler::Handler;
use crate::error::{Failure, Res, call};
use crate::handle::{Kind, Table, is_of};
use crate::memory::{text, write, write_made, write_text};
use crate::process::Process;
use crate::tool::event;
use crate::topo::Placed;
use crate::types::{Comm, Group, Info};
use crate::{group, info, probe, request, thread_rank};
use core::ffi::{c_char, c_int};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use oxmpi_runtime::Communicator;
use oxmpi_runtime::group::GroupCompare;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// The fields that a message needs stand in the first words.
#[repr(C, align(64))]
pub struct CommObject {
    pub comm: Arc<Communicator>,
    /// Ranks that a send or receive may name are below this.
    pub peers: u32,
    handle: AtomicUsize,
    handler: Mutex<Handler>,
    /// The program has given it its handler.
    handler_given: AtomicBool,
    pub attributes: Attributes,
    pub topology: OnceLock<Arc<Placed>>,
    /// The stream that it was made with (`streams`): a handle, or that of none.
    pub stream: OnceLock<usize>,
    /// For buffered sends on this communicator.
    pub buffer: Arc<Slot>,
    /// That of the session it comes from.
    pub session_buffer: OnceLock<Arc<Slot>>,
}

pub static TABLE: Table<CommObject> = Table::new(Kind::Comm);
/// MPI_COMM_WORLD and MPI_COMM_SELF while MPI runs.
static PREDEFINED: [AtomicPtr<CommObject>; 2] = [const { AtomicPtr::new(null_mut()) }; 2];
/// Freed by the user, used by operations under way.
static RETIRED: Mutex<Vec<Retired>> = Mutex::new(Vec::new());

/// Boxed as it was in the table: requests hold its address.
struct Retired(Box<CommObject>);

/// The object of a handle.
#[inline(always)]
pub fn get(comm: Comm) -> Option<&'static CommObject> {
    let predefined = comm.0.wrapping_sub(MPI_COMM_WORLD);
    if predefined < PREDEFINED.len() {
        // SYNC POINT with `install`.
        let object = PREDEFINED[predefined].load(Ordering::Acquire);
        // SAFETY: null, or leaked by `install` and taken back after everything else has ended.
        return unsafe { object.as_ref() };
    }
    TABLE.get(comm.0).or_else(|| TABLE.get(thread_rank::of(comm.0)?))
}

/// The object of a handle, or what to tell the user.
#[inline]
pub fn require(comm: Comm) -> Res<&'static CommObject> {
    get(comm).ok_or_else(|| wrong(comm))
}

#[cold]
pub fn wrong(comm: Comm) -> Failure {
    match comm.0 {
        MPI_COMM_NULL => Failure::new(MPI_ERR_COMM, "comm is MPI_COMM_NULL"),
        other if is_of(Kind::Threadcomm, other) => Failure::new(
            MPI_ERR_COMM,
            "the calling thread has not started the thread communicator (MPIX_Threadcomm_start)",
        ),
        other => Failure::new(MPI_ERR_COMM, format!("comm {other:#x} is no communicator, or was freed")),
    }
}

impl CommObject {
    fn new(comm: Arc<Communicator>, handler: Handler) -> CommObject {
        let session_buffer = OnceLock::new();
        let session = comm.group().session();
        if session != crate::process::WORLD
            && let Some(buffer) = crate::session::buffer_of(session)
        {
            let _ = session_buffer.set(buffer);
        }
        CommObject {
            peers: comm.num_peers(),
            comm,
            handle: AtomicUsize::new(0),
            handler: Mutex::new(handler),
            handler_given: AtomicBool::new(false),
            attributes: Attributes::default(),
            topology: OnceLock::new(),
            stream: OnceLock::new(),
            buffer: Arc::default(),
            session_buffer,
        }
    }

    /// A copy, so that no guard is alive when it is called.
    pub fn handler(&self) -> Handler {
        self.handler.lock().clone()
    }

    /// Whether the handler is one that the program has set, not the first one.
    pub fn handler_given(&self) -> bool {
        self.handler_given.load(Ordering::Relaxed)
    }

    pub fn set_handler(&self, handler: Handler) {
        self.handler_given.store(true, Ordering::Relaxed);
        let old = core::mem::replace(&mut *self.handler.lock(), handler);
        drop(old);
    }

    pub fn handle(&self) -> Comm {
        Comm(self.handle.load(Ordering::Relaxed))
    }

    /// For messages to people.
    pub fn describe(&self) -> String {
        let name = self.comm.name();
        let size = self.comm.size();
        if name.is_empty() {
            let inter = self.comm.remote_group().map(|r| format!(" (remote group: {})", r.size()));
            format!("a communicator of {size} ranks{}, rank {}", inter.unwrap_or_default(), self.comm.rank())
        } else {
            format!("{name}, rank {}", self.comm.rank())
        }
    }
}

/// Makes one of the two predefined communicators; `which` is its handle.
pub fn install(which: usize, comm: Arc<Communicator>, name: &str) {
    comm.set_name(name);
    let object = Box::new(CommObject::new(comm, crate::errhandler::initial()));
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
pub fn adopt(parent: &CommObject, comm: Arc<Communicator>) -> Res<Comm> {
    adopt_with(parent.handler(), comm)
}

/// As [`adopt`], for a communicator without a parent.
pub fn adopt_with(handler: Handler, comm: Arc<Communicator>) -> Res<Comm> {
    let object = Box::new(CommObject::new(comm, handler));
    let Some(handle) = TABLE.insert(object) else {
        return Failure::err(MPI_ERR_NO_MEM, "too many communicators");
    };
    if let Some(object) = TABLE.get(handle) {
        object.handle.store(handle, Ordering::Relaxed);
        let facts = || [handle as c_int, object.comm.size() as c_int, object.comm.rank() as c_int];
        event::raise(event::Kind::CommCreated, || facts().to_vec());
    }
    Ok(Comm(handle))
}

/// Frees what is behind a handle now, or as soon as nothing uses it.
pub fn free(process: &Process, comm: Comm) -> Res {
    if comm.0 == MPI_COMM_WORLD || comm.0 == MPI_COMM_SELF {
        return Failure::err(MPI_ERR_COMM, "the predefined communicators cannot be freed");
    }
    let object = require(comm)?;
    object.attributes.delete_all(comm.0)?;
    object.buffer.empty(process);
    let Some(object) = TABLE.remove(comm.0) else { return Err(wrong(comm)) };
    retire(process, object);
    event::raise(event::Kind::CommFreed, || vec![comm.0 as c_int]);
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

mpi_fn! {
    any_time fn MPI_Comm_rank(comm: Comm, rank: *mut c_int) -> c_int {
        match get(comm) {
            Some(object) if !rank.is_null() => {
                // SAFETY: not null; the caller promises a place for an int.
                unsafe { *rank = object.comm.rank() as c_int };
                MPI_SUCCESS
            }
            _ => call(NAME, Some(comm), |_| write(rank, "rank", require(comm)?.comm.rank() as c_int)),
        }
    }
}
mpi_fn! {
    any_time fn MPI_Comm_size(comm: Comm, size: *mut c_int) -> c_int {
        match get(comm) {
            Some(object) if !size.is_null() => {
                // SAFETY: not null; the caller promises a place for an int.
                unsafe { *size = object.comm.size() as c_int };
                MPI_SUCCESS
            }
            _ => call(NAME, Some(comm), |_| write(size, "size", require(comm)?.comm.size() as c_int)),
        }
    }
}
mpi_fn! {
    fn MPI_Comm_free(comm: *mut Comm) -> c_int {
        // SAFETY: null, or the caller's place of a handle.
        let on = unsafe { comm.as_ref() }.copied();
        call(NAME, on, |process| {
            free(process, crate::memory::read(comm, "comm")?)?;
            write(comm, "comm", Comm(MPI_COMM_NULL))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_disconnect(comm: *mut Comm) -> c_int {
        // SAFETY: null, or the caller's place of a handle.
        let on = unsafe { comm.as_ref() }.copied();
        call(NAME, on, |process| {
            let handle = crate::memory::read(comm, "comm")?;
            let object = require(handle)?;
            process.instance.wait_until(process.thread(), || !request::uses(process, object, true));
            free(process, handle)?;
            write(comm, "comm", Comm(MPI_COMM_NULL))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_compare(comm1: Comm, comm2: Comm, result: *mut c_int) -> c_int {
        call(NAME, Some(comm1), |_| {
            let (a, b) = (require(comm1)?, require(comm2)?);
            let groups = |a: &oxmpi_runtime::Group, b: &oxmpi_runtime::Group| match a.compare(b) {
                GroupCompare::Ident => MPI_CONGRUENT,
                GroupCompare::Similar => MPI_SIMILAR,
                GroupCompare::Unequal => MPI_UNEQUAL,
            };
            let here = groups(a.comm.group(), b.comm.group());
            let value = match (a.comm.remote_group(), b.comm.remote_group()) {
                _ if comm1 == comm2 => MPI_IDENT,
                (None, None) => here,
                (Some(one), Some(other)) => match (here, groups(one, other)) {
                    (MPI_UNEQUAL, _) | (_, MPI_UNEQUAL) => MPI_UNEQUAL,
                    (MPI_SIMILAR, _) | (_, MPI_SIMILAR) => MPI_SIMILAR,
                    _ => MPI_CONGRUENT,
                },
                _ => MPI_UNEQUAL,
            };
            write(result, "result", value)
        })
    }
}
mpi_fn! {
    fn MPI_Comm_group(comm: Comm, group: *mut Group) -> c_int {
        call(NAME, Some(comm), |_| {
            let object = require(comm)?;
            write_made(group, "group", || group::adopt(object.comm.group().clone()))
        })
    }
}
mpi_fn! {
    fn MPI_Comm_get_parent(parent: *mut Comm) -> c_int {
        // Nobody is started by MPI_Comm_spawn in this version.
        call(NAME, None, |_| write(parent, "parent", Comm(MPI_COMM_NULL)))
    }
}
mpi_fn! {
    fn MPI_Comm_set_name(comm: Comm, comm_name: *const c_char) -> c_int {
        call(NAME, Some(comm), |_| {
            let object = require(comm)?;
            object.comm.set_name(&crate::memory::object_name(text(comm_name, "comm_name")?));
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Comm_get_name(comm: Comm, comm_name: *mut c_char, resultlen: *mut c_int) -> c_int {
        call(NAME, Some(comm), |_| {
            let name = match comm.0 {
                // Asked for by the standard since MPI 4.1: null handles have names.
                MPI_COMM_NULL => "MPI_COMM_NULL".to_string(),
                _ => require(comm)?.comm.name(),
            };
            let n = write_text(comm_name, "comm_name", &name, MPI_MAX_OBJECT_NAME as usize)?;
            write(resultlen, "resultlen", n as c_int)
        })
    }
}
/// The calling thread's place in the order of a thread communicator's threads.
fn set_thread_key(comm: Comm, info: &oxmpi_runtime::Info) -> Res {
    let Some(text) = info.get("thread_order") else { return Ok(()) };
    match text.trim().parse() {
        Ok(key) if thread_rank::set_key(comm.0, key) => Ok(()),
        Ok(_) => Failure::err(MPI_ERR_COMM, "the thread communicator was freed"),
        Err(_) => {
            let why = format!("a thread's thread_order is {text}; it has to be an integer");
            Failure::err(MPI_ERR_INFO_VALUE, why)
        }
    }
}

mpi_fn! {
    fn MPI_Comm_set_info(comm: Comm, info: Info) -> c_int {
        call(NAME, Some(comm), |_| {
            if is_of(Kind::Threadcomm, comm.0) {
                set_thread_key(comm, &info::require(info)?)?;
                if thread_rank::of(comm.0).is_none() {
                    return Ok(());
                }
            }
            let object = require(comm)?;
            object.comm.set_info(&info::require(info)?);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_Comm_get_info(comm: Comm, info_used: *mut Info) -> c_int {
        call(NAME, Some(comm), |_| {
            let object = require(comm)?;
            write_made(info_used, "info_used", || info::adopt(object.comm.info()))
        })
    }
}
