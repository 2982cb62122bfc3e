//! Memory of the origin's that a transport may use: slots of registered pools for what is short, registered memory else.
//!
//! Every verb's local memory has a registration. Short operations are copied through a slot (512 of 1 KiB for each transport, made
//! when it is first used), so they register nothing; long ones acquire the program's memory for as long as they are under way, which the
//! host may keep registered.
//! When there is no slot left, memory is made and registered for the one operation.
//!
//! **Whose it is.** An operation owns its local memory while it is under way (`op.rs`), so whoever has a [`Scratch`] by itself may read and write it.

use oxmpi_btl::{BtlHandle, RegHandle, access};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::AtomicU64;
use oxmpi_osc_support::{Address, Registered, Results, Services};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes of a slot.
pub const SLOT: usize = 1024;
const SLOTS: u32 = 512;
/// Transports of a process, at most.
const TRANSPORTS: usize = 32;

/// The pools of an instance.
#[derive(Default)]
pub struct Pools {
    by_transport: [OnceLock<Option<Pool>>; TRANSPORTS],
}

pub struct Pool {
    /// Before the slots: it ends before they go.
    memory: Registered,
    slots: Box<[[AtomicU64; SLOT / 8]]>,
    free: Mutex<Vec<u32>>,
}

/// Memory for one operation.
pub struct Scratch {
    place: Place,
    len: usize,
}

enum Place {
    Slot {
        pool: Address<Pool>,
        index: u32,
    },
    Made {
        /// Before the memory, as above.
        registered: Registered,
        memory: Box<[[AtomicU64; 1]]>,
    },
}

/// Local memory of one operation.
pub enum Local {
    Scratch(Scratch),
    /// The program's.
    Theirs {
        at: Address<u8>,
        len: u64,
        registered: Registered,
    },
}

/// So many pieces of memory, which nobody has touched yet.
fn zeroed<const WORDS: usize>(pieces: usize) -> Box<[[AtomicU64; WORDS]]> {
    // SAFETY: zeros are words.
    unsafe { Box::new_zeroed_slice(pieces).assume_init() }
}

impl Pools {
    fn of(&self, services: Services, btl: &'static BtlHandle) -> Option<&Pool> {
        let place = self.by_transport.get(btl.index as usize)?;
        place.get_or_init(|| Pool::new(services, btl)).as_ref()
    }

    /// Memory of `bytes` bytes.
    ///
    /// # Safety
    /// The result goes before the pools do.
    pub unsafe fn scratch(
        &self,
        services: Services,
        btl: &'static BtlHandle,
        bytes: usize,
    ) -> Result<Scratch, Status> {
        if bytes <= SLOT
            && let Some(pool) = self.of(services, btl)
            && let Some(index) = pool.free.lock().unwrap_or_else(PoisonError::into_inner).pop()
        {
            // SAFETY: a pool is shared by threads; it is there for longer than the result (the caller's promise).
            let pool = unsafe { Address::of(pool) };
            return Ok(Scratch { place: Place::Slot { pool, index }, len: bytes });
        }
        let memory = zeroed(bytes.div_ceil(8).max(1));
        let at = memory.as_ptr().cast_mut().cast();
        // SAFETY: the memory stays beside the registration, and goes behind it.
        let registered =
            unsafe { Registered::new(services, btl, at, bytes.max(1) as u64, access::LOCAL_WRITE) }?;
        Ok(Scratch { place: Place::Made { registered, memory }, len: bytes })
    }
}

impl Pool {
    fn new(services: Services, btl: &'static BtlHandle) -> Option<Pool> {
        let slots = zeroed(SLOTS as usize);
        let (at, len) = (slots.as_ptr().cast_mut().cast(), size_of_val(&*slots) as u64);
        // SAFETY: the slots stay beside the registration, and go behind it.
        let memory = unsafe { Registered::new(services, btl, at, len, access::LOCAL_WRITE) }.ok()?;
        Some(Pool { memory, slots, free: Mutex::new((0..SLOTS).collect()) })
    }
}

impl Place {
    fn at(&self) -> *mut u8 {
        let words: &[AtomicU64] = match self {
            // SAFETY: the pools are still there (`Pools::scratch`).
            Place::Slot { pool, index } => &unsafe { &*pool.get() }.slots[*index as usize],
            Place::Made { memory, .. } => memory.as_flattened(),
        };
        words.as_ptr().cast_mut().cast()
    }

    fn handle(&self) -> *const RegHandle {
        match self {
            // SAFETY: the pools are still there (`Pools::scratch`).
            Place::Slot { pool, .. } => unsafe { &*pool.get() }.memory.handle(),
            Place::Made { registered, .. } => registered.handle(),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Place::Slot { pool, index } = self {
            // SAFETY: the pools are still there (`Pools::scratch`).
            let pool = unsafe { &*pool.get() };
            pool.free.lock().unwrap_or_else(PoisonError::into_inner).push(*index);
        }
    }
}

impl Scratch {
    /// No operation under way has it: what it was used for is over.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a slot, or memory of its own, which this has to itself, of at least that many bytes; it is aligned for more than them.
        unsafe { core::slice::from_raw_parts(self.place.at(), self.len) }
    }

    /// To be written before an operation gets it.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: a slot, or memory of its own, which this has to itself, of at least that many bytes; it is cells, so a shared reference on the way is none to bytes.
        unsafe { core::slice::from_raw_parts_mut(self.place.at(), self.len) }
    }
}

impl Local {
    /// The program's memory.
    ///
    /// # Safety
    /// The memory is there until the result is dropped, and only operations of this process's use it meanwhile.
    pub unsafe fn theirs(
        services: Services,
        btl: &'static BtlHandle,
        at: *mut u8,
        len: u64,
    ) -> Result<Local, Status> {
        // SAFETY: the caller's promise.
        let registered = unsafe { Registered::acquire(services, btl, at, len) }?;
        // SAFETY: the program's memory, which belongs to no thread.
        Ok(Local::Theirs { at: unsafe { Address::of(at) }, len, registered })
    }

    pub fn at(&self) -> *mut u8 {
        match self {
            Local::Scratch(scratch) => scratch.place.at(),
            Local::Theirs { at, .. } => at.get(),
        }
    }

    /// The memory as results of a list go there.
    pub fn results(&self) -> Results {
        // SAFETY: the operation's, which has it, and its registration, until its last piece has ended.
        unsafe { Results::new(self.at(), self.len(), self.handle()) }
    }

    pub fn len(&self) -> u64 {
        match self {
            Local::Scratch(scratch) => scratch.len as u64,
            Local::Theirs { len, .. } => *len,
        }
    }

    /// Locks that taking it and giving it back needs.
    pub fn locks(&self) -> u64 {
        if matches!(self, Local::Scratch(Scratch { place: Place::Slot { .. }, .. })) { 2 } else { 0 }
    }

    pub fn handle(&self) -> *const RegHandle {
        match self {
            Local::Scratch(scratch) => scratch.place.handle(),
            Local::Theirs { registered, .. } => registered.handle(),
        }
    }
}
