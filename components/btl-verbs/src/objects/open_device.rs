//! An open device, which all other objects belong to, and the addresses by which objects are known.

use crate::library::Api;
use crate::sys::called;
use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use oxmpi_verbs_abi::*;
use std::os::fd::RawFd;
use std::sync::Arc;

type QueryPort = unsafe extern "C" fn(*mut Context, u8, *mut c_void, usize) -> c_int;

/// A request that the library or the device has refused: the operation and the system's reason.
pub type Refused = String;

/// An object of the library, by its address. Its owner frees it.
pub struct Raw<T>(NonNull<T>);

// SAFETY: the library binds no object to the thread that made it, so its owner may take it to another one.
unsafe impl<T> Send for Raw<T> {}
// SAFETY: what a shared `Raw` gives is the address. Functions of the library may be called with it by several threads at once, but for those that post and
// poll without a lock: of them `Pair` and `Poller` have methods with `&mut self` alone.
unsafe impl<T> Sync for Raw<T> {}

impl<T> Raw<T> {
    /// `None`: the library has answered null.
    ///
    /// # Safety
    /// A function of the library that makes an object has answered that, and the object is the caller's.
    pub unsafe fn of(at: *mut T) -> Option<Raw<T>> {
        NonNull::new(at).map(Raw)
    }
    #[inline(always)]
    pub fn at(&self) -> *mut T {
        self.0.as_ptr()
    }
}

/// An open device.
pub struct OpenDevice {
    pub api: Arc<Api>,
    pub(super) raw: Raw<Context>,
}

impl OpenDevice {
    /// # Safety
    /// A device of the library's list.
    pub unsafe fn open(api: &Arc<Api>, device: *mut Device) -> Result<Arc<OpenDevice>, Refused> {
        // SAFETY: the caller's promise.
        let (raw, why) = called(|| unsafe { (api.open_device)(device) });
        // SAFETY: the library has just opened it, for us.
        let raw = unsafe { Raw::of(raw) }.ok_or_else(|| format!("cannot open the device: {why}"))?;
        Ok(Arc::new(OpenDevice { api: api.clone(), raw }))
    }

    /// Another context of the same device.
    pub fn reopen(&self) -> Result<Arc<OpenDevice>, Refused> {
        // SAFETY: the device of an open context.
        unsafe { OpenDevice::open(&self.api, (*self.raw.at()).device) }
    }

    /// A slot of the context's table.
    pub(super) fn op(&self, slot: usize) -> usize {
        // SAFETY: an open context.
        unsafe { (*self.raw.at()).ops[slot] }
    }

    /// A slot of the extended table in front of the context, if it is there.
    pub(super) fn ext(&self, distance: usize) -> Option<*const ()> {
        // SAFETY: the table is there if the context says so, as long as it says in its last word.
        unsafe {
            if (*self.raw.at()).abi_compat != usize::MAX {
                return None;
            }
            let word = |distance: usize| self.raw.at().byte_sub(distance).cast::<usize>().read();
            if word(ext::SZ) < size_of::<Context>() + distance {
                return None;
            }
            let at = word(distance) as *const ();
            (!at.is_null()).then_some(at)
        }
    }

    pub fn attributes(&self) -> Result<DeviceAttr, Refused> {
        // SAFETY: any bits are attributes.
        let mut attr = unsafe { core::mem::zeroed::<DeviceAttr>() };
        // SAFETY: an open context and a place.
        let (status, why) = called(|| unsafe { (self.api.query_device)(self.raw.at(), &mut attr) });
        if status == 0 { Ok(attr) } else { Err(format!("cannot ask the device: {why}")) }
    }

    pub fn port(&self, number: u8) -> Result<PortAttr, Refused> {
        let mut attr = PortAttr::default();
        let place = (&raw mut attr).cast::<c_void>();
        // SAFETY: an open context; the slot has this type, and fills as much as it is told. The plain function fills the old struct,
        // which is shorter.
        let (status, why) = called(|| unsafe {
            match self.ext(ext::QUERY_PORT) {
                Some(f) => {
                    let f: QueryPort = core::mem::transmute(f);
                    f(self.raw.at(), number, place, size_of::<PortAttr>())
                }
                None => (self.api.query_port)(self.raw.at(), number, place),
            }
        });
        if status == 0 { Ok(attr) } else { Err(format!("cannot ask port {number}: {why}")) }
    }

    /// A GID, with its type where the library can tell.
    pub fn gid(&self, port: u8, index: u32) -> Option<(Gid, Option<u32>)> {
        if let Some(ask) = self.api.query_gid_ex {
            let mut entry = GidEntry::default();
            // SAFETY: an open context and a place of that size.
            let status =
                unsafe { ask(self.raw.at(), port.into(), index, &mut entry, 0, size_of::<GidEntry>()) };
            return (status == 0 && entry.gid != [0; 16]).then_some((entry.gid, Some(entry.gid_type)));
        }
        let mut gid = [0; 16];
        // SAFETY: an open context and a place.
        let status = unsafe { (self.api.query_gid)(self.raw.at(), port, index as c_int, &mut gid) };
        (status == 0 && gid != [0; 16]).then_some((gid, None))
    }

    /// A partition key, in the processor's byte order.
    pub fn partition(&self, port: u8, index: u32) -> Option<u16> {
        let mut key = 0;
        // SAFETY: an open context and a place for a key.
        let status = unsafe { (self.api.query_pkey)(self.raw.at(), port, index as c_int, &mut key) };
        (status == 0).then(|| u16::from_be(key))
    }

    pub fn async_fd(&self) -> RawFd {
        // SAFETY: an open context.
        unsafe { (*self.raw.at()).async_fd }
    }

    /// The next asynchronous event, acknowledged; its descriptor must not block.
    pub fn next_event(&self) -> Option<AsyncEvent> {
        let mut event = AsyncEvent::default();
        // SAFETY: an open context and a place; what was got is acknowledged.
        unsafe {
            if (self.api.get_async_event)(self.raw.at(), &mut event) != 0 {
                return None;
            }
            (self.api.ack_async_event)(&mut event);
        }
        Some(event)
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        // SAFETY: open, and nothing of it is left.
        unsafe { (self.api.close_device)(self.raw.at()) };
    }
}
