//! Windows of endpoints: made, freed, and what they tell of themselves.
//!
//! A window exposes memory of the process in the proxy: `MPI_Win_allocate` takes it from the shared heap, `MPI_Win_create` and
//! `MPI_Win_attach` make the program's own reachable (`expose`), and memory that ranks share is in the segment of the first rank's process.
//! An error of one rank is one of all ranks.

use super::attribute::WINDOW_KEYS;
use super::buffers::Buffer;
use super::collective::{Plan, blocking};
use super::comm::{self, EpComm, from_facts};
use super::communicator::hints_in_use;
use super::expose::{Runs, expose};
use super::state::Words;
use super::window::{self, Facts, Share, Window};
use super::{error, group, heap, lock, neighbors};
use crate::abi::*;
use crate::hints;
use crate::pmpi;
use crate::protocol::record::{Record, access, op};
use core::ffi::CStr;
use std::sync::atomic::Ordering;

/// Memory of a window that is to be made.
struct Memory {
    base: *mut u8,
    bytes: isize,
    unit: isize,
    flavor: c_int,
    /// It is a block of the heap that goes with the window.
    owned: *mut u8,
    runs: Runs,
    /// The process in whose segment it lies, and where.
    place: Option<(usize, usize)>,
    shares: Vec<Share>,
    /// An error of this rank.
    class: c_int,
}

impl Memory {
    fn new(bytes: isize, unit: isize, flavor: c_int) -> Memory {
        let class = match () {
            () if bytes < 0 => ERR_SIZE,
            () if unit <= 0 => ERR_DISP,
            () => SUCCESS,
        };
        let (base, owned) = (core::ptr::null_mut(), core::ptr::null_mut());
        Memory { base, bytes, unit, flavor, owned, runs: Runs::new(), place: None, shares: Vec::new(), class }
    }

    /// A block of the heap.
    fn allocate(&mut self) {
        if self.class == SUCCESS {
            self.owned = heap::allocate((self.bytes as usize).max(1), 4096);
            self.base = self.owned;
            if self.base.is_null() {
                self.class = ERR_NO_MEM;
            }
        }
    }

    /// Memory of the program.
    fn take(&mut self, comm: &EpComm, name: &str, base: *mut u8) {
        self.base = base;
        if self.class != SUCCESS {
            return;
        }
        // Memory that ranks share already is in the segment of one of them.
        self.place = neighbors::find(base, self.bytes as usize);
        if self.place.is_some() {
            return;
        }
        match expose(comm.client.heap, base, self.bytes as usize) {
            Ok(runs) => self.runs = runs,
            Err(why) => self.class = refuse(name, why),
        }
    }
}

fn refuse(name: &str, why: &str) -> c_int {
    report!(
        "{name} is not built for this memory: {why}. MPI_Win_allocate, MPI_Alloc_mem and OXMPI_EP_MALLOC_MIN give memory \
         that the proxies reach"
    );
    ERR_UNSUPPORTED_OPERATION
}

/// Writes where the memory is into a command.
fn locate(record: &mut Record, base: *mut u8, bytes: isize, runs: usize, place: Option<(usize, usize)>) {
    let (at, process) = match place {
        Some((process, offset)) => (offset, process as i64 + 1),
        None => (base as usize, 0),
    };
    record.args[0] = at as i64;
    record.args[1] = bytes as i64;
    record.args[5] = runs as i64;
    record.args[6] = process;
}

/// Has the proxies make the window; gives its handle.
fn make(ep: &'static EpComm, info: Info, memory: Memory) -> Result<Win, c_int> {
    if ep.is_inter() {
        return Err(ERR_COMM);
    }
    let runs = memory.runs.concat();
    let (words, hints) = (Words::new(&runs)?, Words::of_hints(info)?);
    let fill = |r: &mut Record| {
        r.lists = words.address();
        r.hints = hints.as_ref().map_or(0, Words::address);
        locate(r, memory.base, memory.bytes, memory.runs.len(), memory.place);
        r.args[2] = memory.unit as i64;
        r.args[4] = memory.class.into();
        r.args[7] = memory.flavor.into();
    };
    let made = ep.command(op::WIN_CREATE, fill, |r| {
        // Errors of windows end the job unless the program says otherwise, whatever the communicator's do.
        let handle = from_facts(ep.client, ep.proxy, r, ERRORS_ARE_FATAL)?;
        let comm = comm::find(handle).ok_or(ERR_INTERN)?;
        let Memory { base, bytes, unit, flavor, .. } = memory;
        let facts = Facts { base, bytes, unit: unit as c_int, flavor, model: r.out[2] as c_int };
        let packed = hints::pack(info);
        let no_locks = no_locks(&hints::pairs(&packed)).unwrap_or(false);
        window::register(comm, r.out[1] as i64, facts, memory.owned, memory.shares.clone(), no_locks)
    });
    if made.is_err() && !memory.owned.is_null() {
        // SAFETY: allocated for this window, which is not there.
        unsafe { heap::free(memory.owned) };
    }
    made
}

/// The program's hint that it locks nothing, which the proxy keeps to itself: its window is under a lock.
fn no_locks(pairs: &[(&CStr, &CStr)]) -> Option<bool> {
    let (_, value) = pairs.iter().find(|(key, _)| *key == c"no_locks")?;
    match value.to_bytes() {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

macro_rules! create {
    ($name:ident, $unit:ty) => {
        on_endpoints! {
            fn [$name] (base: *mut c_void, size: isize, disp_unit: $unit, info: Info, comm: Comm, win: *mut Win) on comm, ep {
                let mut memory = Memory::new(size, disp_unit as isize, FLAVOR_CREATE);
                memory.take(ep, NAME, base.cast());
                *win = make(ep, info, memory)?;
                Ok(())
            }
        }
    };
}

// fn [MPI_Win_create, MPI_Win_create_c]
create!(MPI_Win_create, c_int);
create!(MPI_Win_create_c, isize);

macro_rules! allocate {
    ($name:ident, $unit:ty) => {
        on_endpoints! {
            fn [$name] (size: isize, disp_unit: $unit, info: Info, comm: Comm, baseptr: *mut c_void, win: *mut Win) on comm, ep {
                let mut memory = Memory::new(size, disp_unit as isize, FLAVOR_ALLOCATE);
                memory.allocate();
                let base = memory.base;
                *win = make(ep, info, memory)?;
                *baseptr.cast::<*mut u8>() = base;
                Ok(())
            }
        }
    };
}

// fn [MPI_Win_allocate, MPI_Win_allocate_c]
allocate!(MPI_Win_allocate, c_int);
allocate!(MPI_Win_allocate_c, isize);

/// Values that a rank tells the others about its part of shared memory.
const TOLD: usize = 4;

fn gather(ep: &EpComm, name: &'static str, mine: [i64; TOLD]) -> Result<Vec<[i64; TOLD]>, c_int> {
    let mut all = vec![[0; TOLD]; ep.size as usize];
    let first = (Buffer::plain(mine.as_ptr().cast(), TOLD as i64, INT64), access::READ);
    let to = Buffer::times(all.as_mut_ptr().cast(), TOLD as i64, ep.size, INT64);
    blocking(ep, name, Plan::new(op::ALLGATHER, first, (to, access::WRITE)))?;
    Ok(all)
}

/// One block in the segment of the first rank's process, its parts one behind the other.
fn share(ep: &EpComm, name: &'static str, bytes: isize, unit: isize) -> Result<Memory, c_int> {
    if ep.is_inter() {
        return Err(ERR_COMM);
    }
    let mut memory = Memory::new(bytes, unit, FLAVOR_SHARED);
    let mine = [bytes as i64, unit as i64, ep.client.rank as i64, memory.class.into()];
    let all = gather(ep, name, mine)?;
    memory.class = all.iter().map(|m| m[3] as c_int).max().unwrap_or(SUCCESS);
    let process = all[0][2] as usize;
    let total = all.iter().try_fold(0i64, |sum, m| sum.checked_add(m[0].max(0)));
    let mut told = [-1i64];
    if ep.rank == 0
        && memory.class == SUCCESS
        && let Some(total) = total
    {
        memory.owned = heap::allocate((total as usize).max(1), 4096);
        if !memory.owned.is_null() {
            told[0] = (memory.owned as usize - ep.client.heap.segment.base as usize) as i64;
        }
    }
    let used = if ep.rank == 0 { access::READ } else { access::WRITE };
    let first = (Buffer::plain(told.as_mut_ptr().cast(), 1, INT64), used);
    blocking(ep, name, Plan::new(op::BCAST, first, super::collective::NOTHING))?;
    let segment = neighbors::segment(ep.client, process);
    memory.class = match (memory.class, told[0], segment) {
        (SUCCESS, ..0, _) => ERR_NO_MEM,
        (SUCCESS, _, None) => ERR_RMA_SHARED,
        (class, ..) => class,
    };
    let (Some(segment), SUCCESS) = (segment, memory.class) else { return Ok(memory) };
    let mut offset = told[0] as usize;
    for (rank, part) in all.iter().enumerate() {
        // A rank without memory has no address.
        let base = if part[0] > 0 { segment.base.wrapping_add(offset) } else { core::ptr::null_mut() };
        memory.shares.push(Share { bytes: part[0] as isize, unit: part[1] as c_int, base });
        if rank == ep.rank as usize {
            (memory.base, memory.place) = (base, Some((process, offset)));
        }
        offset += part[0] as usize;
    }
    Ok(memory)
}

macro_rules! allocate_shared {
    ($name:ident, $unit:ty) => {
        on_endpoints! {
            fn [$name] (size: isize, disp_unit: $unit, info: Info, comm: Comm, baseptr: *mut c_void, win: *mut Win) on comm, ep {
                let memory = share(ep, NAME, size, disp_unit as isize)?;
                let base = memory.base;
                *win = make(ep, info, memory)?;
                *baseptr.cast::<*mut u8>() = base;
                Ok(())
            }
        }
    };
}

// fn [MPI_Win_allocate_shared, MPI_Win_allocate_shared_c]
allocate_shared!(MPI_Win_allocate_shared, c_int);
allocate_shared!(MPI_Win_allocate_shared_c, isize);

on_endpoints! {
    fn [MPI_Win_create_dynamic] (info: Info, comm: Comm, win: *mut Win) on comm, ep {
        *win = make(ep, info, Memory::new(0, 1, FLAVOR_DYNAMIC))?;
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_attach] (win: Win, base: *mut c_void, size: isize) on win, w {
        if w.facts.flavor != FLAVOR_DYNAMIC {
            return Err(ERR_RMA_FLAVOR);
        }
        if size < 0 {
            return Err(ERR_SIZE);
        }
        let runs = expose(w.comm.client.heap, base.cast(), size as usize).map_err(|why| refuse(NAME, why))?;
        let words = Words::new(&runs.concat())?;
        let fill = |r: &mut Record| {
            r.lists = words.address();
            locate(r, base.cast(), size, runs.len(), None);
        };
        w.command(op::WIN_ATTACH, fill, |_| Ok(()))
    }
}

on_windows! {
    fn [MPI_Win_detach] (win: Win, base: *const c_void) on win, w {
        if w.facts.flavor != FLAVOR_DYNAMIC {
            return Err(ERR_RMA_FLAVOR);
        }
        w.command(op::WIN_DETACH, |r| r.args[0] = base as i64, |_| Ok(()))
    }
}

/// The delete functions of attributes run first, and may refuse. Gives an error of an operation that nothing has completed before.
fn free(w: &'static Window) -> Result<Result<(), c_int>, c_int> {
    let open = lock(&w.epoch).is_open();
    if !open {
        WINDOW_KEYS.delete_all(w.comm)?;
    }
    let settled = w.settle(None);
    let class = if open { ERR_RMA_SYNC } else { SUCCESS };
    w.command(op::WIN_FREE, |r| r.args[4] = class.into(), |_| Ok(()))?;
    let comm = w.comm;
    window::forget(w);
    comm::forget(comm);
    Ok(settled)
}

mpi! {
    fn MPI_Win_free(win: *mut Win) {
        let Some(w) = window::find(*win) else {
            let mut native = window::native(*win);
            let error = pmpi::MPI_Win_free(&raw mut native);
            *win = native;
            return error;
        };
        let (handler, handle) = (w.comm.errhandler.load(Ordering::Relaxed), *win);
        let freed = free(w);
        if freed.is_ok() {
            *win = WIN_NULL;
        }
        match freed.flatten() {
            Ok(()) => SUCCESS,
            Err(class) => error::raise(handler, handle, "MPI_Win_free", class),
        }
    }
}

on_windows! {
    fn [MPI_Win_get_group] (win: Win, group: *mut Group) on win, w {
        *group = group::group_of(w.comm, 0)?;
        Ok(())
    }
}

/// The part of a rank, or of the first that has any.
fn part(w: &Window, rank: c_int) -> Result<Share, c_int> {
    let nothing = Share { bytes: 0, unit: 1, base: core::ptr::null_mut() };
    if rank == PROC_NULL {
        return Ok(w.shares.iter().find(|s| s.bytes > 0).copied().unwrap_or(nothing));
    }
    if !(0..w.comm.size).contains(&rank) {
        return Err(ERR_RANK);
    }
    if rank == w.comm.rank && w.shares.is_empty() {
        return Ok(Share { bytes: w.facts.bytes, unit: w.facts.unit, base: w.facts.base });
    }
    Ok(w.shares.get(rank as usize).copied().unwrap_or(nothing))
}

macro_rules! query {
    ($name:ident, $unit:ty) => {
        on_windows! {
            fn [$name] (win: Win, rank: c_int, size: *mut isize, disp_unit: *mut $unit, baseptr: *mut c_void) on win, w {
                if w.facts.flavor == FLAVOR_DYNAMIC {
                    return Err(ERR_RMA_FLAVOR);
                }
                let part = part(w, rank)?;
                *size = part.bytes;
                *disp_unit = part.unit as $unit;
                *baseptr.cast::<*mut u8>() = part.base;
                Ok(())
            }
        }
    };
}

// fn [MPI_Win_shared_query, MPI_Win_shared_query_c]
query!(MPI_Win_shared_query, c_int);
query!(MPI_Win_shared_query_c, isize);

on_windows! {
    fn [MPI_Win_get_attr] (win: Win, win_keyval: c_int, attribute_val: *mut c_void, flag: *mut c_int) on win, w {
        let facts = &w.facts;
        let value = match win_keyval {
            WIN_BASE => facts.base as usize,
            WIN_SIZE => (&raw const facts.bytes) as usize,
            WIN_DISP_UNIT => (&raw const facts.unit) as usize,
            WIN_CREATE_FLAVOR => (&raw const facts.flavor) as usize,
            WIN_MODEL => (&raw const facts.model) as usize,
            keyval => {
                let found = lock(&w.comm.attributes).get(&keyval).copied();
                *flag = found.is_some().into();
                if let Some(found) = found {
                    *attribute_val.cast::<usize>() = found;
                }
                return Ok(());
            }
        };
        *flag = 1;
        *attribute_val.cast::<usize>() = value;
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_set_attr] (win: Win, win_keyval: c_int, attribute_val: *mut c_void) on win, w {
        WINDOW_KEYS.put(w.comm, win_keyval, attribute_val as usize)
    }
}

on_windows! {
    fn [MPI_Win_delete_attr] (win: Win, win_keyval: c_int) on win, w { WINDOW_KEYS.delete(w.comm, win_keyval) }
}

on_windows! {
    fn [MPI_Win_set_name] (win: Win, win_name: *const c_char) on win, w {
        let name = CStr::from_ptr(win_name).to_bytes();
        *lock(&w.comm.name) = name[..name.len().min(MAX_OBJECT_NAME - 1)].to_vec();
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_get_name] (win: Win, win_name: *mut c_char, resultlen: *mut c_int) on win, w {
        let name = lock(&w.comm.name);
        core::ptr::copy_nonoverlapping(name.as_ptr().cast(), win_name, name.len());
        *win_name.add(name.len()) = 0;
        *resultlen = name.len() as c_int;
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_set_info] (win: Win, info: Info) on win, w {
        if info == INFO_NULL {
            return Err(ERR_INFO);
        }
        let hints = Words::of_hints(info)?;
        w.command(op::WIN_SET_INFO, |r| r.hints = hints.as_ref().map_or(0, Words::address), |_| Ok(()))?;
        let packed = hints::pack(info);
        if let Some(value) = no_locks(&hints::pairs(&packed)) {
            w.no_locks.store(value, Ordering::Relaxed);
        }
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_get_info] (win: Win, info_used: *mut Info) on win, w {
        let own = if w.no_locks.load(Ordering::Relaxed) { c"true" } else { c"false" };
        *info_used = hints_in_use(w.comm, op::WIN_GET_INFO, |r| r.args[3] = w.number, &[(c"no_locks", own)])?;
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_set_errhandler] (win: Win, errhandler: Errhandler) on win, w {
        w.comm.errhandler.store(errhandler, Ordering::Relaxed);
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_get_errhandler] (win: Win, errhandler: *mut Errhandler) on win, w {
        *errhandler = w.comm.errhandler.load(Ordering::Relaxed);
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_call_errhandler] (win: Win, errorcode: c_int) on win, w {
        let mut class = errorcode;
        pmpi::MPI_Error_class(errorcode, &raw mut class);
        error::raise(w.comm.errhandler.load(Ordering::Relaxed), w.handle, NAME, class);
        Ok(())
    }
}
