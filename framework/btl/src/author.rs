//! How an author writes a BTL: safe traits, from which [`module`] makes the table.
//!
//! The basic verbs are [`Btl`]; what a device can do beyond is a trait each ([`BtlGet`],
//! [`BtlPut`], [`BtlFlush`], [`BtlAtomics`], [`BtlLists`], [`BtlMemory`], [`BtlSleep`], [`BtlService`], [`BtlPartner`]) and is added to the table by name:
//! `module(shm).get().sleep().build()`. A trait that is not added is not offered, so capabilities cannot
//! differ from the code.

use crate::table::*;
use core::ffi::c_void;
use core::marker::PhantomData;
use oxmpi_mca::{MemKind, SliceRef, Status, WaitSet};

/// A device. Shared by all threads; hot verbs of one context are serialised by the caller.
pub trait Btl: Send + Sync + Sized + 'static {
    /// One per peer process.
    type Endpoint: Send + Sync + 'static;

    fn attrs(&self) -> BtlAttrs;

    /// `None`: this device does not reach that process.
    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Box<Self::Endpoint>>, Status>;

    /// The endpoint goes after this call.
    fn del_proc(&self, _endpoint: &Self::Endpoint) {}

    /// Sends, or answers `NO_RESOURCE` having done nothing.
    fn send(&self, endpoint: &Self::Endpoint, ctx: u32, msg: &Message<'_>) -> Status;

    /// Takes what arrived and completed on `ctx`; returns how many events it handled.
    fn progress(&self, ctx: u32) -> i32;

    /// Last call; nothing else runs.
    fn finalize(&self) {}
}

/// Reads remote memory.
pub trait BtlGet: Btl {
    fn get(&self, endpoint: &Self::Endpoint, ctx: u32, rma: &RmaDesc) -> Status;
}
/// Reads remote memory that lies in pieces, all of it at once.
pub trait BtlGetVector: Btl {
    fn get_vector(&self, endpoint: &Self::Endpoint, ctx: u32, rma: &RmaVectorDesc) -> Status;
}

impl RmaVectorDesc {
    /// Calls `take` with local address, remote address and length of every stretch that is one piece on
    /// both sides, in order. False: a list has less than `len` bytes, or `take` has answered false.
    ///
    /// # Safety
    /// The lists are readable.
    pub unsafe fn stretches(&self, mut take: impl FnMut(u64, u64, u64) -> bool) -> bool {
        // SAFETY: the caller's promise.
        let (local, remote) = unsafe { (self.local.get(), self.remote.get()) };
        let (mut here, mut there) = (Cursor { list: local, done: 0 }, Cursor { list: remote, done: 0 });
        let mut left = self.len;
        while left > 0 {
            let (Some(l), Some(r)) = (here.rest(), there.rest()) else { return false };
            let len = l.len.min(r.len).min(left);
            if !take(l.addr, r.addr, len) {
                return false;
            }
            here.done += len;
            there.done += len;
            left -= len;
        }
        true
    }
}

/// A place in a list of pieces.
struct Cursor<'a> {
    list: &'a [Piece],
    /// Bytes of the first piece that are dealt with.
    done: u64,
}

impl Cursor<'_> {
    /// The rest of the piece we are in.
    fn rest(&mut self) -> Option<Piece> {
        while self.list.first()?.len <= self.done {
            self.list = &self.list[1..];
            self.done = 0;
        }
        let first = self.list.first()?;
        Some(Piece { addr: first.addr.wrapping_add(self.done), len: first.len - self.done })
    }
}

/// Writes remote memory.
pub trait BtlPut: Btl {
    fn put(&self, endpoint: &Self::Endpoint, ctx: u32, rma: &RmaDesc) -> Status;
}
/// Completes one-sided operations at their targets.
pub trait BtlFlush: Btl {
    /// `endpoint` `None`: to anybody.
    fn flush(&self, endpoint: Option<&Self::Endpoint>, ctx: u32, flush: &FlushDesc) -> Status;
}
/// Updates remote memory.
pub trait BtlAtomics: Btl {
    fn atomic(&self, endpoint: &Self::Endpoint, ctx: u32, op: &AtomicDesc) -> Status;
}
/// Writes and updates remote memory in many places by one request.
pub trait BtlLists: Btl {
    fn list(&self, endpoint: &Self::Endpoint, ctx: u32, list: &ListDesc) -> Status;
}
/// Needs memory registered before remote access.
pub trait BtlMemory: Btl {
    /// Fills `handle`, which has `registration_handle_size` bytes.
    fn register(&self, addr: *mut u8, len: u64, access: u32, kind: MemKind, handle: &mut [u8]) -> Status;
    fn deregister(&self, handle: &[u8]) -> Status;
    /// `BtlAttrs::registration_handle_size`.
    const HANDLE_SIZE: usize;
}
/// Tells receivers what waits for room. With this and [`BtlAttrs::VISIBLE_AT_ONCE`] several contexts keep the order
/// of one flow.
pub trait BtlHold: Btl {
    /// Tells the process at the endpoint the order key of the oldest message to it that waits for room, 0: none.
    fn hold(&self, endpoint: &Self::Endpoint, oldest: u64);
    /// That process's last answer.
    fn held(&self, endpoint: &Self::Endpoint) -> u64;
}
/// Chooses by itself which of a peer's modules each of its own talks to.
pub trait BtlPartner: Btl {
    /// The number of that module among those that the peer's component has opened.
    fn partner(&self, endpoint: &Self::Endpoint) -> u32;
}
/// Lets a waiter sleep.
pub trait BtlSleep: Btl {
    /// PENDING: something has arrived, do not sleep.
    fn arm(&self, ctx: u32, set: &mut WaitSet) -> Status;
    fn disarm(&self, ctx: u32);
}
/// Serves requests of peers on a context of its own (see the verbs of [`BtlTable`]).
pub trait BtlService: Btl {
    fn open(&self) -> Status;
    fn request(&self, endpoint: &Self::Endpoint, ctx: u32, msg: &Message<'_>) -> Status;
    fn serve(&self) -> i32;
    fn reply(&self, link: u64, msg: &Message<'_>) -> Status;
    /// Null: only `serve` finds out.
    fn pending(&self) -> *const u32 {
        core::ptr::null()
    }
}
/// Lets the server of requests sleep.
pub trait BtlServiceSleep: BtlService {
    fn arm_service(&self, set: &mut WaitSet) -> Status;
    fn disarm_service(&self);
}

/// A message to send, as the author sees it.
#[repr(transparent)]
pub struct Message<'a>(SendDesc, PhantomData<&'a ()>);

impl Message<'_> {
    #[inline(always)]
    pub fn tag(&self) -> u8 {
        self.0.tag as u8
    }
    #[inline(always)]
    pub fn header(&self) -> &[u8] {
        // SAFETY: the sender's descriptor is valid for the call.
        unsafe { core::slice::from_raw_parts(self.0.hdr, self.0.hdr_len as usize) }
    }
    /// Bytes of payload behind the header.
    #[inline(always)]
    pub fn payload_len(&self) -> usize {
        self.0.len as usize
    }
    /// Header and payload together.
    #[inline(always)]
    pub fn total_len(&self) -> usize {
        self.0.hdr_len as usize + self.0.len as usize
    }
    /// Writes `payload_len` bytes of payload.
    ///
    /// # Safety
    /// `dst` must be writable for that many bytes.
    #[inline(always)]
    pub unsafe fn write_payload(&self, dst: *mut u8) {
        match self.0.pack {
            None => {
                if self.0.len > 0 {
                    // SAFETY: the sender's payload is readable, `dst` writable by the caller's promise.
                    unsafe { core::ptr::copy_nonoverlapping(self.0.payload, dst, self.0.len as usize) }
                }
            }
            Some(pack) => pack(self.0.pack_ctx, 0, dst, self.0.len),
        }
    }
    /// The raw descriptor.
    #[inline(always)]
    pub fn desc(&self) -> &SendDesc {
        &self.0
    }
}

mod thunk {
    use super::*;

    // SAFETY (all thunks): the host passes the state that `module` made and endpoints that
    // `add_procs` gave, under the serialisation of the contract.
    macro_rules! at {
        ($t:ty, $p:expr) => {
            // SAFETY: see the module's note.
            unsafe { &*($p as *const $t) }
        };
    }

    pub extern "C" fn add_procs<T: Btl>(
        s: *mut c_void,
        procs: SliceRef<ProcInfo>,
        out: *mut *mut Endpoint,
    ) -> Status {
        let run = std::panic::AssertUnwindSafe(|| {
            // SAFETY: the host passes `procs.len` entries in both arrays.
            for (i, p) in unsafe { procs.get() }.iter().enumerate() {
                let ep = match at!(T, s).add_proc(p) {
                    Ok(Some(ep)) => Box::into_raw(ep).cast(),
                    Ok(None) => core::ptr::null_mut(),
                    Err(e) => return e,
                };
                // SAFETY: as above.
                unsafe { *out.add(i) = ep };
            }
            Status::OK
        });
        std::panic::catch_unwind(run).unwrap_or(Status::PANICKED)
    }
    pub extern "C" fn del_procs<T: Btl>(s: *mut c_void, eps: SliceRef<*mut Endpoint>) -> Status {
        let run = std::panic::AssertUnwindSafe(|| {
            // SAFETY: endpoints from `add_procs`, each given back once.
            for &ep in unsafe { eps.get() } {
                if !ep.is_null() {
                    // SAFETY: as above.
                    let ep = unsafe { Box::from_raw(ep as *mut T::Endpoint) };
                    at!(T, s).del_proc(&ep);
                }
            }
            Status::OK
        });
        std::panic::catch_unwind(run).unwrap_or(Status::PANICKED)
    }
    pub extern "C" fn finalize<T: Btl>(s: *mut c_void) -> Status {
        let run = std::panic::AssertUnwindSafe(|| {
            // SAFETY: last call; `module` made it with Box::into_raw.
            let module = unsafe { Box::from_raw(s as *mut T) };
            module.finalize();
            Status::OK
        });
        std::panic::catch_unwind(run).unwrap_or(Status::PANICKED)
    }
    pub extern "C" fn send<T: Btl>(
        s: *mut c_void,
        ep: *mut Endpoint,
        ctx: u32,
        d: *const SendDesc,
    ) -> Status {
        at!(T, s).send(at!(T::Endpoint, ep), ctx, at!(Message<'_>, d))
    }
    pub extern "C" fn progress<T: Btl>(s: *mut c_void, ctx: u32) -> i32 {
        at!(T, s).progress(ctx)
    }
    pub extern "C" fn get<T: BtlGet>(
        s: *mut c_void,
        ep: *mut Endpoint,
        ctx: u32,
        d: *const RmaDesc,
    ) -> Status {
        at!(T, s).get(at!(T::Endpoint, ep), ctx, at!(RmaDesc, d))
    }
    pub extern "C" fn get_vector<T: BtlGetVector>(
        s: *mut c_void,
        ep: *mut Endpoint,
        ctx: u32,
        d: *const RmaVectorDesc,
    ) -> Status {
        at!(T, s).get_vector(at!(T::Endpoint, ep), ctx, at!(RmaVectorDesc, d))
    }
    pub extern "C" fn put<T: BtlPut>(
        s: *mut c_void,
        ep: *mut Endpoint,
        ctx: u32,
        d: *const RmaDesc,
    ) -> Status {
        at!(T, s).put(at!(T::Endpoint, ep), ctx, at!(RmaDesc, d))
    }
    pub extern "C" fn flush<T: BtlFlush>(
        s: *mut c_void,
        ep: *mut Endpoint,
        ctx: u32,
        d: *const FlushDesc,
    ) -> Status {
        let ep = if ep.is_null() { None } else { Some(at!(T::Endpoint, ep)) };
        at!(T, s).flush(ep, ctx, at!(FlushDesc, d))
    }
    pub extern "C" fn atomic<T: BtlAtomics>(
        s: *mut c_void,
        ep: *mut Endpoint,
        ctx: u32,
        d: *const AtomicDesc,
    ) -> Status {
        at!(T, s).atomic(at!(T::Endpoint, ep), ctx, at!(AtomicDesc, d))
    }
    pub extern "C" fn list<T: BtlLists>(
        s: *mut c_void,
        ep: *mut Endpoint,
        ctx: u32,
        d: *const ListDesc,
    ) -> Status {
        at!(T, s).list(at!(T::Endpoint, ep), ctx, at!(ListDesc, d))
    }
    pub extern "C" fn register<T: BtlMemory>(
        s: *mut c_void,
        addr: *mut u8,
        len: u64,
        access: u32,
        kind: MemKind,
        out: *mut RegHandle,
    ) -> Status {
        // SAFETY: the caller's place has as many bytes as the attributes say.
        let handle = unsafe { core::slice::from_raw_parts_mut(out.cast::<u8>(), T::HANDLE_SIZE) };
        at!(T, s).register(addr, len, access, kind, handle)
    }
    pub extern "C" fn deregister<T: BtlMemory>(s: *mut c_void, h: *const RegHandle) -> Status {
        // SAFETY: as above.
        at!(T, s).deregister(unsafe { core::slice::from_raw_parts(h.cast::<u8>(), T::HANDLE_SIZE) })
    }
    pub extern "C" fn arm<T: BtlSleep>(s: *mut c_void, ctx: u32, set: *mut WaitSet) -> Status {
        // SAFETY: the caller's set.
        at!(T, s).arm(ctx, unsafe { &mut *set })
    }
    pub extern "C" fn disarm<T: BtlSleep>(s: *mut c_void, ctx: u32) {
        at!(T, s).disarm(ctx)
    }
    pub extern "C" fn service_open<T: BtlService>(s: *mut c_void) -> Status {
        at!(T, s).open()
    }
    pub extern "C" fn service_request<T: BtlService>(
        s: *mut c_void,
        ep: *mut Endpoint,
        ctx: u32,
        d: *const SendDesc,
    ) -> Status {
        at!(T, s).request(at!(T::Endpoint, ep), ctx, at!(Message<'_>, d))
    }
    pub extern "C" fn service_progress<T: BtlService>(s: *mut c_void) -> i32 {
        at!(T, s).serve()
    }
    pub extern "C" fn service_reply<T: BtlService>(s: *mut c_void, link: u64, d: *const SendDesc) -> Status {
        at!(T, s).reply(link, at!(Message<'_>, d))
    }
    pub extern "C" fn service_pending<T: BtlService>(s: *mut c_void) -> *const u32 {
        at!(T, s).pending()
    }
    pub extern "C" fn service_arm<T: BtlServiceSleep>(s: *mut c_void, set: *mut WaitSet) -> Status {
        // SAFETY: the caller's set.
        at!(T, s).arm_service(unsafe { &mut *set })
    }
    pub extern "C" fn service_disarm<T: BtlServiceSleep>(s: *mut c_void) {
        at!(T, s).disarm_service()
    }
    pub extern "C" fn partner<T: BtlPartner>(s: *mut c_void, ep: *mut Endpoint) -> u32 {
        at!(T, s).partner(at!(T::Endpoint, ep))
    }
    pub extern "C" fn hold<T: BtlHold>(s: *mut c_void, ep: *mut Endpoint, oldest: u64) {
        at!(T, s).hold(at!(T::Endpoint, ep), oldest)
    }
    pub extern "C" fn held<T: BtlHold>(s: *mut c_void, ep: *mut Endpoint) -> u64 {
        at!(T, s).held(at!(T::Endpoint, ep))
    }
}

/// Builds the module of a device: `module(dev).get().sleep().build()`.
pub struct ModuleBuilder<T: Btl> {
    device: T,
    table: BtlTable,
}

/// Starts with the basic verbs of `device`.
pub fn module<T: Btl>(device: T) -> ModuleBuilder<T> {
    ModuleBuilder {
        device,
        table: BtlTable {
            add_procs: Some(thunk::add_procs::<T>),
            del_procs: Some(thunk::del_procs::<T>),
            finalize: Some(thunk::finalize::<T>),
            send: Some(thunk::send::<T>),
            progress: Some(thunk::progress::<T>),
            ..BtlTable::EMPTY
        },
    }
}

impl<T: Btl> ModuleBuilder<T> {
    pub fn get(mut self) -> Self
    where
        T: BtlGet,
    {
        self.table.get = Some(thunk::get::<T>);
        self
    }
    /// Offers `get` only if `yes`: what the machine permits is known when the device opens.
    pub fn get_if(self, yes: bool) -> Self
    where
        T: BtlGet,
    {
        if yes { self.get() } else { self }
    }
    /// Offers `get_vector` only if `yes`.
    pub fn get_vector_if(mut self, yes: bool) -> Self
    where
        T: BtlGetVector,
    {
        self.table.get_vector = yes.then_some(thunk::get_vector::<T>);
        self
    }
    pub fn put(mut self) -> Self
    where
        T: BtlPut,
    {
        self.table.put = Some(thunk::put::<T>);
        self
    }
    /// Offers `put` only if `yes`.
    pub fn put_if(self, yes: bool) -> Self
    where
        T: BtlPut,
    {
        if yes { self.put() } else { self }
    }
    pub fn partner(mut self) -> Self
    where
        T: BtlPartner,
    {
        self.table.partner = Some(thunk::partner::<T>);
        self
    }
    pub fn flush(mut self) -> Self
    where
        T: BtlFlush,
    {
        self.table.flush = Some(thunk::flush::<T>);
        self
    }
    pub fn atomics(mut self) -> Self
    where
        T: BtlAtomics,
    {
        self.table.atomic = Some(thunk::atomic::<T>);
        self
    }
    pub fn lists(mut self) -> Self
    where
        T: BtlLists,
    {
        self.table.list = Some(thunk::list::<T>);
        self
    }
    pub fn memory(mut self) -> Self
    where
        T: BtlMemory,
    {
        self.table.register_mem = Some(thunk::register::<T>);
        self.table.deregister_mem = Some(thunk::deregister::<T>);
        self
    }
    pub fn sleep(mut self) -> Self
    where
        T: BtlSleep,
    {
        self.table.arm = Some(thunk::arm::<T>);
        self.table.disarm = Some(thunk::disarm::<T>);
        self
    }
    pub fn hold(mut self) -> Self
    where
        T: BtlHold,
    {
        self.table.hold = Some(thunk::hold::<T>);
        self.table.held = Some(thunk::held::<T>);
        self
    }
    pub fn service(mut self) -> Self
    where
        T: BtlService,
    {
        self.table.service_open = Some(thunk::service_open::<T>);
        self.table.service_request = Some(thunk::service_request::<T>);
        self.table.service_progress = Some(thunk::service_progress::<T>);
        self.table.service_reply = Some(thunk::service_reply::<T>);
        self.table.service_pending = Some(thunk::service_pending::<T>);
        self
    }
    pub fn service_sleep(mut self) -> Self
    where
        T: BtlServiceSleep,
    {
        self.table.service_arm = Some(thunk::service_arm::<T>);
        self.table.service_disarm = Some(thunk::service_disarm::<T>);
        self
    }
    /// The module for `open`'s list. Device and table live until `finalize` (the table and the attributes for good).
    pub fn build(self) -> BtlModule {
        let attrs = Box::leak(Box::new(self.device.attrs()));
        BtlModule {
            size: core::mem::size_of::<BtlModule>() as u32,
            reserved: 0,
            state: Box::into_raw(Box::new(self.device)).cast(),
            table: Box::leak(Box::new(self.table)),
            attrs,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn list(pieces: &[(u64, u64)]) -> Vec<Piece> {
        pieces.iter().map(|&(addr, len)| Piece { addr, len }).collect()
    }

    fn stretches(local: &[Piece], remote: &[Piece], len: u64) -> Option<Vec<(u64, u64, u64)>> {
        let of = |list: &[Piece]| SliceRef { ptr: list.as_ptr(), len: list.len() };
        let desc = RmaVectorDesc { local: of(local), remote: of(remote), len };
        let mut all = Vec::new();
        // SAFETY: the lists are slices.
        let whole = unsafe {
            desc.stretches(|l, r, n| {
                all.push((l, r, n));
                true
            })
        };
        whole.then_some(all)
    }

    #[test]
    fn two_lists_are_cut_where_either_is() {
        let local = list(&[(100, 10), (200, 0), (300, 5), (400, 85)]);
        let remote = list(&[(1000, 4), (2000, 11), (3000, 100)]);
        let expected = vec![(100, 1000, 4), (104, 2000, 6), (300, 2006, 5), (400, 3000, 85)];
        assert_eq!(stretches(&local, &remote, 100), Some(expected));
        assert_eq!(stretches(&local, &remote, 3), Some(vec![(100, 1000, 3)]));
        assert_eq!(stretches(&local, &remote, 0), Some(vec![]));
        assert_eq!(stretches(&local, &remote, 101), None, "the local list is shorter");
        assert_eq!(stretches(&local, &[], 1), None);
    }
}
