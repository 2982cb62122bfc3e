//! Memory is registered with transports by the host's services, and others know a registration by the bytes of its handle.
//!
//! A function may listen at a registration ([`Registered::listen`]): the host calls it with what peers ask there.

use crate::address::Address;
use crate::listener::{Carrier, serve};
use oxmpi_btl::{BtlHandle, BtlServices, RegHandle, Registration, access, cap};
use oxmpi_mca::Status;

/// Transports by which a rank can be reached, at most.
pub const TRANSPORTS: usize = 3;
/// Bytes of a registration handle, at most.
pub const HANDLE: usize = 56;

/// The registration of memory by which one transport reaches it, as it travels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RemoteRegistration {
    /// [`module_key`]; 0: none.
    pub module: u64,
    /// The bytes of the handle come first.
    pub handle: [u8; HANDLE],
}

impl RemoteRegistration {
    /// No transport reaches it.
    pub const NONE: RemoteRegistration = RemoteRegistration { module: 0, handle: [0; HANDLE] };

    /// Gives the handle, for a transport's verb.
    pub fn handle(&self) -> *const RegHandle {
        self.handle.as_ptr().cast()
    }
}

/// The registration with the transport of this [`module_key`], if there is one.
pub fn registration_by(
    registrations: &[RemoteRegistration; TRANSPORTS],
    module: u64,
) -> Option<&RemoteRegistration> {
    registrations.iter().find(|registration| registration.module == module)
}

/// A transport's name as a number that is alike in all processes, and not 0.
pub fn module_key(btl: &BtlHandle) -> u64 {
    // FNV-1a.
    btl.name()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
        | 1
}

/// The host's services around transports. Any thread may call them.
#[derive(Clone, Copy)]
pub struct Services(Address<BtlServices>);

impl Services {
    /// Wraps what the host provides.
    ///
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
    /// Makes memory accessible by a transport, as bits of [`access`] say.
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

    /// Has a carrier carry out what peers ask there, where the transport has somebody who calls it; each registration has one at most.
    ///
    /// # Safety
    /// The carrier is there, and stays where it is, until this is dropped.
    pub unsafe fn listen<C: Carrier>(&self, carrier: *const C) -> Result<(), Status> {
        let table = self.services.table();
        if !table.listens() || !self.btl.can(cap::ASK) {
            return Ok(());
        }
        let (registration, ctx) = (self.registration.get(), carrier.cast_mut().cast());
        // SAFETY: the registration is there; the rest is the caller's promise.
        unsafe { (table.listen)(table.instance, self.btl, registration, serve::<C>, ctx) }.ok().map(|_| ())
    }

    /// Gives the handle, for a verb whose local memory this is.
    pub fn handle(&self) -> *const RegHandle {
        self.registration().handle
    }

    fn registration(&self) -> &Registration {
        // SAFETY: the host's, which keeps it as it is until it is given back.
        unsafe { &*self.registration.get() }
    }

    /// Gives the bytes of the handle; there are none where the transport needs none.
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
