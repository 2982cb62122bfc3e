//! Memory of the origin's that a transport may use: slots of registered pools for what is short, registered memory else.
//!
//! Every verb's local memory has a registration. Short operations are copied through a slot (512 of 1 KiB for each transport, made
//! when it is first used), so they register nothing; long ones acquire the program's memory for as long as they are under way, which the
//! host may keep registered.
//! When there is no slot left, memory is made and registered for the one operation.

use oxmpi_btl::{BtlHandle, BtlServices, RegHandle, Registration, access};
use oxmpi_mca::Status;
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
    memory: Registered,
    slots: *mut u8,
    free: Mutex<Vec<u32>>,
    _bytes: Box<[u64]>,
}

// SAFETY: slots belong to whoever took them from the list.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

/// A registration that ends when dropped. May be dropped with a CRI held.
pub struct Registered {
    services: *const BtlServices,
    btl: *const BtlHandle,
    registration: *const Registration,
    /// It may stay when this is dropped.
    acquired: bool,
}

// SAFETY: the services may be called from any thread.
unsafe impl Send for Registered {}
// SAFETY: as above.
unsafe impl Sync for Registered {}

impl Registered {
    /// Makes memory accessible by a transport; it stays where it is until the registration ends.
    pub fn new(
        services: *const BtlServices,
        btl: &BtlHandle,
        at: *mut u8,
        len: u64,
        access: u32,
    ) -> Result<Registered, Status> {
        // SAFETY: the services live as long as the instance.
        let table = unsafe { &*services };
        let mut registration = core::ptr::null();
        (table.register)(table.instance, btl, at, len, access, &mut registration).ok()?;
        Ok(Registered { services, btl, registration, acquired: false })
    }

    /// The same for memory that only operations of this process's use, all of which are over when this is dropped.
    pub fn acquire(
        services: *const BtlServices,
        btl: &BtlHandle,
        at: *mut u8,
        len: u64,
    ) -> Result<Registered, Status> {
        // SAFETY: as above.
        let table = unsafe { &*services };
        if !table.keeps() {
            return Registered::new(services, btl, at, len, access::LOCAL_WRITE);
        }
        let mut registration = core::ptr::null();
        (table.acquire)(table.instance, btl, at, len, access::LOCAL_WRITE, &mut registration).ok()?;
        Ok(Registered { services, btl, registration, acquired: true })
    }

    pub fn handle(&self) -> *const RegHandle {
        // SAFETY: registered until dropped.
        unsafe { (*self.registration).handle }
    }

    /// Handle and its bytes; none where the transport needs none.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: as above; the handle has so many bytes.
        unsafe {
            let Registration { handle, handle_size, .. } = *self.registration;
            if handle.is_null() {
                &[]
            } else {
                core::slice::from_raw_parts(handle.cast(), handle_size as usize)
            }
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // SAFETY: as above.
        let table = unsafe { &*self.services };
        let end = if self.acquired { table.release } else { table.deregister };
        // Once. A failure would be of a registration that is not there any more.
        end(table.instance, self.btl, self.registration);
    }
}

/// Local memory of one operation.
pub enum Local {
    Slot {
        pool: *const Pool,
        index: u32,
    },
    Made {
        memory: Box<[u64]>,
        registered: Registered,
    },
    /// The program's.
    Theirs {
        at: *mut u8,
        registered: Registered,
    },
}

// SAFETY: used by one operation at a time, whichever thread ends it.
unsafe impl Send for Local {}

impl Pools {
    fn of(&self, services: *const BtlServices, btl: &BtlHandle) -> Option<&Pool> {
        let place = self.by_transport.get(btl.index as usize)?;
        place.get_or_init(|| Pool::new(services, btl)).as_ref()
    }

    /// Memory of `bytes` bytes.
    pub fn scratch(
        &self,
        services: *const BtlServices,
        btl: &BtlHandle,
        bytes: usize,
    ) -> Result<Local, Status> {
        if bytes <= SLOT
            && let Some(pool) = self.of(services, btl)
            && let Some(index) = pool.free.lock().unwrap_or_else(PoisonError::into_inner).pop()
        {
            return Ok(Local::Slot { pool, index });
        }
        let mut memory: Box<[u64]> = vec![0; bytes.div_ceil(8).max(1)].into();
        let at = memory.as_mut_ptr().cast();
        let registered = Registered::new(services, btl, at, bytes.max(1) as u64, access::LOCAL_WRITE)?;
        Ok(Local::Made { memory, registered })
    }

    /// The program's memory.
    pub fn theirs(
        &self,
        services: *const BtlServices,
        btl: &BtlHandle,
        at: *mut u8,
        len: u64,
    ) -> Result<Local, Status> {
        let registered = Registered::acquire(services, btl, at, len)?;
        Ok(Local::Theirs { at, registered })
    }
}

impl Pool {
    fn new(services: *const BtlServices, btl: &BtlHandle) -> Option<Pool> {
        let mut bytes: Box<[u64]> = vec![0; SLOT / 8 * SLOTS as usize].into();
        let slots: *mut u8 = bytes.as_mut_ptr().cast();
        let len = (SLOT * SLOTS as usize) as u64;
        let memory = Registered::new(services, btl, slots, len, access::LOCAL_WRITE).ok()?;
        Some(Pool { memory, slots, free: Mutex::new((0..SLOTS).collect()), _bytes: bytes })
    }
}

impl Local {
    pub fn at(&self) -> *mut u8 {
        match self {
            // SAFETY: pools live as long as the instance's component; the index is below `SLOTS`.
            Local::Slot { pool, index } => unsafe { (**pool).slots.add(*index as usize * SLOT) },
            Local::Made { memory, .. } => memory.as_ptr().cast_mut().cast(),
            Local::Theirs { at, .. } => *at,
        }
    }

    /// Locks that taking it and giving it back needs.
    pub fn locks(&self) -> u64 {
        if matches!(self, Local::Slot { .. }) { 2 } else { 0 }
    }

    pub fn handle(&self) -> *const RegHandle {
        match self {
            // SAFETY: as above.
            Local::Slot { pool, .. } => unsafe { (**pool).memory.handle() },
            Local::Made { registered, .. } | Local::Theirs { registered, .. } => registered.handle(),
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        if let Local::Slot { pool, index } = self {
            // SAFETY: as above.
            let pool = unsafe { &**pool };
            pool.free.lock().unwrap_or_else(PoisonError::into_inner).push(*index);
        }
    }
}
