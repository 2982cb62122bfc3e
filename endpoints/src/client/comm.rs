//! Communicators of endpoints: handles, and what the client keeps of each.
//!
//! A handle is an address inside a range that this process reserved, so no handle of the MPI library (small numbers, or
//! addresses of its own objects) can be equal to one, and a look-up is a subtraction. The object behind it lives from
//! the making of the communicator until it is freed; MPI forbids to free what another thread uses.
//!
//! MPI_COMM_WORLD is translated: it means the application's ranks, not the job's; or, with OXMPI_EP_WORLD, a communicator of
//! one endpoint for each of them.

use super::lock;
use super::state::{Client, Proxy, Words, client};
use crate::abi::*;
use crate::protocol::record::{Record, op};
use crate::protocol::sys;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// Values by key.
pub type Attributes = BTreeMap<c_int, usize>;

/// The topology that a communicator keeps.
pub enum Topology {
    Cart { dims: Vec<c_int>, periods: Vec<c_int> },
    Graph { index: Vec<c_int>, edges: Vec<c_int> },
    Dist { sources: Vec<c_int>, source_weights: Vec<c_int>, destinations: Vec<c_int>, weights: Vec<c_int> },
}

pub struct EpComm {
    pub handle: Comm,
    pub proxy: &'static Proxy,
    pub client: &'static Client,
    /// The proxy's handle.
    pub native: u64,
    pub rank: c_int,
    pub size: c_int,
    /// Of an inter-communicator; -1 otherwise.
    pub remote_size: c_int,
    /// Kind and sizes of a topology.
    pub kind: c_int,
    pub sizes: [usize; 3],
    pub topology: OnceLock<Topology>,
    /// World ranks of the proxies of the local and the remote group.
    members: [OnceLock<Vec<c_int>>; 2],
    pub errhandler: AtomicUsize,
    /// The handle that the program's functions get: its own, or that of the window whose communicator it is.
    pub shown: AtomicUsize,
    pub name: Mutex<Vec<u8>>,
    pub attributes: Mutex<Attributes>,
}

const SLOTS: usize = 1 << 16;
const RANGE: usize = SLOTS * size_of::<AtomicPtr<EpComm>>();
/// The integer that MPI_Comm_toint gives for the first slot.
const NUMBERS: c_int = 0x7e00_0000;

static RANGE_AT: AtomicUsize = AtomicUsize::new(usize::MAX);
static FREE: Mutex<(Vec<usize>, usize)> = Mutex::new((Vec::new(), 0));
static WORLD: AtomicUsize = AtomicUsize::new(COMM_WORLD);

/// Reserves the range of handles, and names the communicator that MPI_COMM_WORLD means.
pub fn begin(world: Comm) -> Result<(), String> {
    let at = sys::reserve(RANGE).map_err(|e| format!("cannot reserve {RANGE} bytes: {e}"))?;
    RANGE_AT.store(at as usize, Ordering::Release);
    WORLD.store(world, Ordering::Release);
    Ok(())
}

/// Sets the communicator that MPI_COMM_WORLD means from now on; gives the one that it meant.
pub fn set_world(world: Comm) -> Comm {
    WORLD.swap(world, Ordering::AcqRel)
}

/// The communicator of endpoints with this handle.
#[inline]
pub fn find(comm: Comm) -> Option<&'static EpComm> {
    let offset = native(comm).wrapping_sub(RANGE_AT.load(Ordering::Relaxed));
    if offset >= RANGE {
        return None;
    }
    known(offset)
}

fn known(offset: usize) -> Option<&'static EpComm> {
    let slot = (RANGE_AT.load(Ordering::Relaxed) + offset) as *const AtomicPtr<EpComm>;
    // SAFETY: inside the reserved range; zeros are null pointers, and what is not null is an object.
    unsafe { (*slot).load(Ordering::Acquire).as_ref() }
}

/// A communicator with MPI_COMM_WORLD translated: of a conventional one the library's handle.
#[inline]
pub fn native(comm: Comm) -> Comm {
    if comm == COMM_WORLD { WORLD.load(Ordering::Relaxed) } else { comm }
}

/// A new communicator from what the proxy answered; MPI_COMM_NULL where this endpoint is no member.
pub fn from_facts(
    client: &'static Client,
    proxy: &'static Proxy,
    record: &Record,
    errhandler: Errhandler,
) -> Result<Comm, c_int> {
    let native = record.out[0];
    if native == COMM_NULL as u64 {
        return Ok(COMM_NULL);
    }
    let slot = {
        let mut free = lock(&FREE);
        match free.0.pop() {
            Some(slot) => slot,
            None if free.1 == SLOTS => return Err(ERR_NO_MEM),
            None => {
                free.1 += 1;
                free.1 - 1
            }
        }
    };
    let handle = RANGE_AT.load(Ordering::Relaxed) + slot * size_of::<AtomicPtr<EpComm>>();
    let args = record.args;
    let int = |i: usize| args[i] as c_int;
    let comm = Box::new(EpComm {
        handle,
        proxy,
        client,
        native,
        rank: int(0),
        size: int(1),
        remote_size: int(2),
        kind: int(3),
        sizes: [4, 5, 6].map(|i| args[i].max(0) as usize),
        topology: OnceLock::new(),
        members: [OnceLock::new(), OnceLock::new()],
        errhandler: AtomicUsize::new(errhandler),
        shown: AtomicUsize::new(handle),
        name: Mutex::new(Vec::new()),
        attributes: Mutex::new(Attributes::default()),
    });
    // SAFETY: a slot of the range that was free.
    unsafe { (*(handle as *const AtomicPtr<EpComm>)).store(Box::into_raw(comm), Ordering::Release) };
    Ok(handle)
}

/// Gives a handle up.
pub fn forget(comm: &'static EpComm) {
    let handle = comm.handle;
    // SAFETY: a slot in use; nobody else uses a communicator that is being freed.
    unsafe {
        let object = (*(handle as *const AtomicPtr<EpComm>)).swap(core::ptr::null_mut(), Ordering::AcqRel);
        drop(Box::from_raw(object));
    }
    let slot = (handle - RANGE_AT.load(Ordering::Relaxed)) / size_of::<AtomicPtr<EpComm>>();
    lock(&FREE).0.push(slot);
}

impl EpComm {
    pub fn is_inter(&self) -> bool {
        self.remote_size >= 0
    }

    /// Ranks that a message may go to.
    pub fn peers(&self) -> c_int {
        if self.is_inter() { self.remote_size } else { self.size }
    }

    /// Runs a command without buffers: `fill` completes the record, `read` gets it when it is done.
    pub fn command<R>(
        &self,
        code: u32,
        fill: impl FnOnce(&mut Record),
        read: impl FnOnce(&Record) -> Result<R, c_int>,
    ) -> Result<R, c_int> {
        let fill = |record: &mut Record| {
            record.comm = self.native;
            fill(record);
        };
        run(self.client, self.proxy, code, fill, read)
    }

    /// World ranks of the proxies of its local group (0) or remote group (1).
    pub fn members(&self, which: usize) -> Result<&[c_int], c_int> {
        if let Some(members) = self.members[which].get() {
            return Ok(members);
        }
        let size = if which == 0 { self.size } else { self.remote_size.max(0) } as usize;
        let words = Words::new(&vec![0; size])?;
        let fill = |record: &mut Record| {
            record.lists = words.address();
            record.args[0] = which as i64;
            record.args[1] = size as i64;
        };
        self.command(op::COMM_GROUP, fill, |_| Ok(()))?;
        Ok(self.members[which].get_or_init(|| words.read(size)))
    }
}

/// Runs a command of a proxy that has no buffers and waits for it.
pub fn run<R>(
    client: &'static Client,
    proxy: &'static Proxy,
    code: u32,
    fill: impl FnOnce(&mut Record),
    read: impl FnOnce(&Record) -> Result<R, c_int>,
) -> Result<R, c_int> {
    let index = proxy.take()?;
    let record = client.record(proxy.number, index);
    // SAFETY: the record is this thread's until it is issued, and again when it is done.
    let result = unsafe {
        blank(&mut *record, code);
        fill(&mut *record);
        proxy.issue(record, index);
        proxy.wait(client, record);
        match (*record).error {
            SUCCESS => read(&*record),
            class => Err(class),
        }
    };
    proxy.give_back(index);
    result
}

/// A record without anything of its last command that the next one might not set.
pub fn blank(record: &mut Record, code: u32) {
    record.op = code;
    record.flags = 0;
    record.root = 0;
    record.tag = 0;
    record.comm = 0;
    record.first.mode = 0;
    record.second.mode = 0;
    record.lists = 0;
    record.hints = 0;
    record.args = [0; 8];
}

// SAFETY: the names are the standard's.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn MPI_Comm_toint(comm: Comm) -> c_int {
    match find(comm) {
        Some(ep) => NUMBERS + ((ep.handle - RANGE_AT.load(Ordering::Relaxed)) / size_of::<usize>()) as c_int,
        // SAFETY: the caller's handle.
        None => unsafe { crate::pmpi::MPI_Comm_toint(comm) },
    }
}

// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn MPI_Comm_fromint(comm: c_int) -> Comm {
    let slot = comm.wrapping_sub(NUMBERS);
    if client().is_some()
        && (0..SLOTS as c_int).contains(&slot)
        && known(slot as usize * size_of::<usize>()).is_some()
    {
        return RANGE_AT.load(Ordering::Relaxed) + slot as usize * size_of::<usize>();
    }
    // SAFETY: the caller's number.
    unsafe { crate::pmpi::MPI_Comm_fromint(comm) }
}
