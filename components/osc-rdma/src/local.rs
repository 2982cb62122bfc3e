//! Memory of the origin's that a transport may use: slots of registered pools for what is short, registered memory else.
//!
//! Every verb's local memory has a registration. Short operations are copied through a slot (512 of 1 KiB for each transport, made
//! when it is first used), so they register nothing; long ones acquire the program's memory for as long as they are under way, which the
//! host may keep registered.
//! When there is no slot left, memory is made and registered for the one operation.
//!
//! **Whose it is.** An operation owns its local memory while it is under way (`op.rs`), so whoever has a [`Scratch`] by itself may read and write it.

use core::ffi::c_void;
use oxmpi_btl::{BtlHandle, BtlServices, Listener, RegHandle, Registration, access, cap};
use oxmpi_mca::Status;
use oxmpi_mca::sync::unmodelled::AtomicU64;
use oxmpi_osc_support::Address;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes of a slot.
pub const SLOT: usize = 1024;
const SLOTS: u32 = 512;
/// Transports of a process, at most.
const TRANSPORTS: usize = 32;

/// The host's services around transports. Any thread may call them.
#[derive(Clone, Copy)]
pub struct Services(Address<BtlServices>);

impl Services {
    /// # Safety
    /// The services live as long as the result, or a copy of it, is used.
    pub unsafe fn new(services: *const BtlServices) -> Services {
        // SAFETY: they live (the caller's promise), and any thread may call them.
        Services(unsafe { Address::of(services) })
    }

    fn table(&self) -> &BtlServices {
        // SAFETY: they live (`new`).
        unsafe { &*self.0.get() }
    }
}

/// A registration that ends when dropped. May be dropped with a CRI held.
pub struct Registered {
    services: Services,
    btl: &'static BtlHandle,
    registration: Address<Registration>,
    /// It may stay when this is dropped.
    acquired: bool,
}

/// A registration that the host's services have given.
fn given(registration: *const Registration) -> Address<Registration> {
    // SAFETY: it is constant until it is given back, which any thread may do.
    unsafe { Address::of(registration) }
}

impl Registered {
    /// Makes memory accessible by a transport.
    ///
    /// # Safety
    /// The memory is there until the result is dropped.
    pub unsafe fn new(
        services: Services,
        btl: &'static BtlHandle,
        at: *mut u8,
        len: u64,
        access: u32,
    ) -> Result<Registered, Status> {
        let table = services.table();
        let mut registration = core::ptr::null();
        (table.register)(table.instance, btl, at, len, access, &mut registration).ok()?;
        Ok(Registered { services, btl, registration: given(registration), acquired: false })
    }

    /// The same for memory that only operations of this process's use, all of which are over when this is dropped.
    ///
    /// # Safety
    /// As [`Registered::new`].
    pub unsafe fn acquire(
        services: Services,
        btl: &'static BtlHandle,
        at: *mut u8,
        len: u64,
    ) -> Result<Registered, Status> {
        let table = services.table();
        if !table.keeps() {
            // SAFETY: the caller's promise.
            return unsafe { Registered::new(services, btl, at, len, access::LOCAL_WRITE) };
        }
        let mut registration = core::ptr::null();
        (table.acquire)(table.instance, btl, at, len, access::LOCAL_WRITE, &mut registration).ok()?;
        Ok(Registered { services, btl, registration: given(registration), acquired: true })
    }

    /// Has a function carry out what peers ask there, where the transport has somebody who calls it.
    ///
    /// # Safety
    /// The function keeps to its contract with this context until this is dropped.
    pub unsafe fn listen(&self, listener: Listener, ctx: *mut c_void) -> Result<(), Status> {
        let table = self.services.table();
        if !table.listens() || !self.btl.can(cap::ASK) {
            return Ok(());
        }
        // SAFETY: the registration is there; the rest is the caller's promise.
        unsafe { (table.listen)(table.instance, self.btl, self.registration.get(), listener, ctx) }
            .ok()
            .map(|_| ())
    }

    pub fn handle(&self) -> *const RegHandle {
        self.registration().handle
    }

    fn registration(&self) -> &Registration {
        // SAFETY: the host's, which keeps it as it is until it is given back.
        unsafe { &*self.registration.get() }
    }

    /// Handle and its bytes; none where the transport needs none.
    pub fn bytes(&self) -> &[u8] {
        let Registration { handle, handle_size, .. } = *self.registration();
        if handle.is_null() {
            return &[];
        }
        // SAFETY: a registration's handle has so many bytes, as long as the registration.
        unsafe { core::slice::from_raw_parts(handle.cast(), handle_size as usize) }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let table = self.services.table();
        let end = if self.acquired { table.release } else { table.deregister };
        // Once. A failure would be of a registration that is not there any more.
        end(table.instance, self.btl, self.registration.get());
    }
}

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
