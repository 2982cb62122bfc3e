//! The cache of an instance: look-up, registration, room, and giving back (the essay is in `mod.rs`).

use super::index::{Index, Range};
use super::slots::{Life, Marked, Slot};
use super::watch::{Watch, WatchedSlots};
use oxmpi_btl::{BtlHandle, RegHandle, Registration, access, cap};
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicU64, Ordering};
use oxmpi_mca::{MemKind, Status};
use oxmpi_system::locks::Mutex;
use std::sync::Arc;

/// The device that memory is registered with. Its functions may be called from any thread.
pub trait Device {
    /// Registers memory with the device and writes its handle to `handle`, as `register_mem` of a BTL.
    ///
    /// # Safety
    /// `handle` is a place for `handle_size` bytes, or null where memory is not registered.
    unsafe fn register(&self, addr: u64, len: u64, access: u32, handle: *mut RegHandle) -> Status;
    /// Ends a registration of the device by its handle, as `deregister_mem` of a BTL.
    ///
    /// # Safety
    /// `handle` is one that `register` wrote and that was not given here before, or null where memory is not registered.
    unsafe fn deregister(&self, handle: *const RegHandle) -> Status;
    /// The number of bytes of a handle.
    fn handle_size(&self) -> usize;
    /// Whether memory has to be registered at all; where not, handles are null.
    fn registers(&self) -> bool {
        true
    }
}

impl Device for BtlHandle {
    unsafe fn register(&self, addr: u64, len: u64, access: u32, handle: *mut RegHandle) -> Status {
        // SAFETY: a verb for any thread; the place has as many bytes as `handle_size` says, which the trait asks for.
        unsafe { (self.register_mem)(self.state, addr as *mut u8, len, access, MemKind::HOST, handle) }
    }
    unsafe fn deregister(&self, handle: *const RegHandle) -> Status {
        // SAFETY: a verb for any thread; the handle is one that `register` wrote, which the trait asks for.
        unsafe { (self.deregister_mem)(self.state, handle) }
    }
    fn handle_size(&self) -> usize {
        self.attrs().registration_handle_size as usize
    }
    fn registers(&self) -> bool {
        self.can(cap::REGISTER)
    }
}

/// A registration with the handle that it points to.
pub struct Registered<D> {
    out: Registration,
    handle: Box<[u64]>,
    device: *const D,
    /// Of the cache, or [`OWN`].
    slot: u32,
}

/// A registration that is nobody else's.
const OWN: u32 = u32::MAX;

impl<D: Device> Registered<D> {
    /// Registers memory with a device for one user; no cache has the registration.
    pub fn new(device: &D, addr: u64, len: u64, access: u32) -> Result<Box<Registered<D>>, Status> {
        let size = device.handle_size();
        let mut handle: Box<[u64]> = vec![0; size.div_ceil(8)].into();
        let mut place: *mut RegHandle = std::ptr::null_mut();
        if device.registers() {
            place = handle.as_mut_ptr().cast();
            // SAFETY: a place for so many bytes as the device says.
            unsafe { device.register(addr, len, access, place) }.ok()?;
        }
        let out = Registration { handle: place, handle_size: size as u64, base: addr as *mut u8, len };
        Ok(Box::new(Registered { out, handle, device, slot: OWN }))
    }

    /// Hands the registration out as the pointer that components get; [`Registered::of`] finds the whole by it.
    pub fn give(self: Box<Self>) -> *const Registration {
        // `of` finds the whole by its part.
        Box::into_raw(self).cast_const().wrapping_byte_add(std::mem::offset_of!(Self, out)).cast()
    }

    /// Finds the whole by the pointer that [`Registered::give`] has handed out.
    fn of(registration: *const Registration) -> *mut Registered<D> {
        registration.cast_mut().wrapping_byte_sub(std::mem::offset_of!(Self, out)).cast()
    }

    /// Ends the registration with its device; OK where the device registers nothing.
    fn end(&self) -> Status {
        if self.out.handle.is_null() {
            return Status::OK;
        }
        // SAFETY: devices outlive what was registered with them.
        unsafe { (*self.device).deregister(self.handle.as_ptr().cast()) }
    }

    /// Ends and frees a registration that no cache has.
    ///
    /// # Safety
    /// It was given by [`Registered::give`], and is given back once.
    pub unsafe fn end_own(registration: *const Registration) -> Status {
        // SAFETY: the caller's promise.
        unsafe { Box::from_raw(Registered::<D>::of(registration)) }.end()
    }
}

/// How much may be kept. 0 bytes: as much as the device takes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub entries: usize,
    pub bytes: u64,
    pub page: u64,
}

/// The counts so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Found.
    pub hits: u64,
    /// Not found, and therefore registered.
    pub misses: u64,
    /// Given up for others.
    pub evictions: u64,
    /// Ended because memory was unmapped, moved or emptied.
    pub invalidations: u64,
    /// Looked for while a change of mappings was under way, and registered for the one operation.
    pub bypasses: u64,
    /// Of a kind of memory that cannot be watched, and registered for the one operation.
    pub unwatched: u64,
    /// There now, and their bytes.
    pub entries: u64,
    pub bytes: u64,
}

impl Counts {
    /// The counts with the names that tools see.
    pub fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("rcache_base_hits", self.hits),
            ("rcache_base_misses", self.misses),
            ("rcache_base_evictions", self.evictions),
            ("rcache_base_invalidations", self.invalidations),
            ("rcache_base_bypasses", self.bypasses),
            ("rcache_base_unwatched", self.unwatched),
            ("rcache_base_entries", self.entries),
            ("rcache_base_bytes", self.bytes),
        ]
    }
}

/// The cache's own counters.
#[derive(Default)]
struct Counters {
    /// Of lives that have ended; those of living slots stand there.
    hits: AtomicU64,
    misses: AtomicU64,
    evictions: AtomicU64,
    bypasses: AtomicU64,
    unwatched: AtomicU64,
}

/// Adds one to a counter.
fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Kinds of access that there may be.
pub const KINDS: usize = 16;

/// Registrations of an instance. Any thread.
pub struct Cache<D> {
    shared: Arc<WatchedSlots>,
    watch: Watch,
    /// By device and kind of access.
    indexes: Box<[Index]>,
    /// Empty slots that have been used before. A leaf.
    free: Mutex<Vec<u32>>,
    bytes: AtomicU64,
    limits: Limits,
    /// Goes on with each registration, so that hits read it and do not write it.
    clock: AtomicU64,
    counters: Counters,
    closed: AtomicBool,
    _devices: std::marker::PhantomData<*const D>,
}

// SAFETY: everything is atomic or under a lock; devices may be called from any thread.
unsafe impl<D> Send for Cache<D> {}
// SAFETY: as above.
unsafe impl<D> Sync for Cache<D> {}

/// The range to register: whole pages.
#[derive(Clone, Copy)]
struct RequestedRange<'a, D> {
    device: &'a D,
    base: u64,
    end: u64,
    access: u32,
}

impl<D: Device> Cache<D> {
    /// Makes an empty cache for so many devices, numbered from 0, and starts its watcher by `watch`, whose failure is
    /// returned.
    pub fn start(
        devices: usize,
        limits: Limits,
        watch: impl FnOnce(Arc<WatchedSlots>) -> Result<Watch, String>,
    ) -> Result<Cache<D>, String> {
        let shared = Arc::new(WatchedSlots::new(limits.entries));
        Ok(Cache {
            watch: watch(Arc::clone(&shared))?,
            shared,
            indexes: (0..devices * KINDS).map(|_| Index::default()).collect(),
            free: Mutex::default(),
            bytes: AtomicU64::new(0),
            limits,
            clock: AtomicU64::new(1),
            counters: Counters::default(),
            closed: AtomicBool::new(false),
            _devices: std::marker::PhantomData,
        })
    }

    /// Finds a live registration that covers the memory and adds a user, or registers the memory and keeps that. Given
    /// back by [`Cache::release`] or [`Cache::deregister`]; the caller has the memory mapped until then.
    pub fn acquire(
        &self,
        device: &D,
        number: usize,
        addr: u64,
        len: u64,
        access: u32,
    ) -> Result<*const Registration, Status> {
        self.claim_stale();
        let page = self.limits.page;
        let end = addr.checked_add(len.max(1)).and_then(|end| end.checked_next_multiple_of(page));
        let end = end.ok_or(Status::BAD_PARAM)?;
        let requested = RequestedRange { device, base: addr & !(page - 1), end, access };
        let index = self.indexes.get(number * KINDS + access as usize).filter(|_| (access as usize) < KINDS);
        if let Some(index) = index.filter(|_| !self.closed.load(Ordering::Relaxed))
            && let Some(found) = self.look_up(index, requested)
        {
            return Ok(found);
        }
        self.register(device, addr, len, access)
    }

    /// Finds a live registration of the requested pages, or makes and keeps one, if no change of mappings is under way.
    /// `None`: the caller registers for itself alone.
    fn look_up(&self, index: &Index, requested: RequestedRange<'_, D>) -> Option<*const Registration> {
        let Some(seen) = self.watch.quiet_soon() else {
            count(&self.counters.bypasses);
            return None;
        };
        let alone = requested.access & (access::REMOTE_WRITE | access::REMOTE_ATOMIC) != 0;
        if let Some(number) = index.find(&self.shared.slots, requested.base, requested.end, alone) {
            let slot = &self.shared.slots[number as usize];
            slot.hits.fetch_add(1, Ordering::Relaxed);
            slot.used.store(self.clock.load(Ordering::Relaxed), Ordering::Relaxed);
            return Some(slot.content() as *const Registration);
        }
        count(&self.counters.misses);
        self.fill(index, requested, seen)
    }

    /// Watches and registers the requested pages, and puts the registration into an index; `seen` is the watcher's
    /// number from before. `None`: it cannot be kept.
    fn fill(
        &self,
        index: &Index,
        requested: RequestedRange<'_, D>,
        seen: u64,
    ) -> Option<*const Registration> {
        // Watched before it is registered, so that no change between the two is missed.
        if !self.watch.cover(requested.base, requested.end) {
            count(&self.counters.unwatched);
            return None;
        }
        let bytes = requested.end - requested.base;
        let number = self.take_slot(bytes)?;
        let made =
            self.with_room(|| Registered::new(requested.device, requested.base, bytes, requested.access));
        let Ok(mut made) = made else {
            self.give_slot_back(number, bytes);
            return None;
        };
        made.slot = number;
        let (slot, out) = (&self.shared.slots[number as usize], made.give());
        slot.used.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let life = slot.publish(requested.base, requested.end, out as u64);
        let range = Range { base: requested.base, end: requested.end, slot: number, life };
        // An event may have been handled before the slot was live.
        let kept = self.watch.is_still(seen)
            && index.insert(&self.shared.slots, range, |old| self.give_up(old.slot, old.life));
        if !kept || self.closed.load(Ordering::SeqCst) {
            slot.mark(life);
        }
        Some(out)
    }

    /// Registers memory for the caller alone, outside of the cache.
    pub fn register(
        &self,
        device: &D,
        addr: u64,
        len: u64,
        access: u32,
    ) -> Result<*const Registration, Status> {
        self.with_room(|| Registered::new(device, addr, len, access)).map(Registered::give)
    }

    /// Calls `register`, and again after unused registrations have been ended, where the device says that it has no
    /// room: first after some, then after all.
    fn with_room<T>(&self, register: impl Fn() -> Result<T, Status>) -> Result<T, Status> {
        match register() {
            Err(Status::NO_RESOURCE) => {
                self.claim_stale();
                // Some of it first, then all.
                let some = self.shared.filled().len() as u64 / 8 + 1;
                if self.evict(some, 0)
                    && let Ok(made) = register()
                {
                    return Ok(made);
                }
                self.evict(u64::MAX, 0);
                register()
            }
            other => other,
        }
    }

    /// Takes a user from a registration after its operation; it stays in the cache if it is live, and ends with its
    /// last user if it is stale or in no cache.
    ///
    /// # Safety
    /// The caller has got it from `acquire` or `register` of this cache, and gives it back once.
    pub unsafe fn release(&self, registration: *const Registration) -> Status {
        let made: *mut Registered<D> = Registered::of(registration);
        // SAFETY: the caller's promise: it is there as long as it has a user.
        let number = unsafe { (*made).slot };
        if number == OWN {
            // SAFETY: nobody else has it, and the caller gives it back.
            return unsafe { Registered::<D>::end_own(registration) };
        }
        if self.shared.slots[number as usize].release() { self.take_back(number) } else { Status::OK }
    }

    /// Marks a registration stale and takes the caller from its users. When it returns, peers do not write to the
    /// memory by it any more; they may read it while others have it acquired.
    ///
    /// # Safety
    /// As for [`Cache::release`].
    pub unsafe fn deregister(&self, registration: *const Registration) -> Status {
        let made: *mut Registered<D> = Registered::of(registration);
        // SAFETY: the caller's promise: it is there as long as it has a user.
        let number = unsafe { (*made).slot };
        if number != OWN {
            let slot = &self.shared.slots[number as usize];
            slot.mark(slot.life());
        }
        // SAFETY: the caller's promise.
        unsafe { self.release(registration) }
    }

    /// Ends the stale registrations without users that the watcher has marked, if it has raised its flag.
    fn claim_stale(&self) {
        // SYNC POINT with `WatchedSlots::invalidate`.
        if !self.shared.to_claim.load(Ordering::Relaxed)
            || !self.shared.to_claim.swap(false, Ordering::AcqRel)
        {
            return;
        }
        for (number, slot) in (0..).zip(self.shared.filled()) {
            if slot.claim() {
                self.take_back(number);
            }
        }
    }

    /// Marks a life of a slot stale, so that nobody finds its registration any more, and ends that, now or with its
    /// last user.
    fn give_up(&self, number: u32, life: Life) {
        let slot = &self.shared.slots[number as usize];
        if slot.mark(life) == Marked::Idle && slot.claim() {
            self.take_back(number);
        }
    }

    /// Ends the registration of a slot that the caller has emptied.
    fn take_back(&self, number: u32) -> Status {
        let slot = &self.shared.slots[number as usize];
        self.counters.hits.fetch_add(slot.hits.load(Ordering::Relaxed), Ordering::Relaxed);
        slot.hits.store(0, Ordering::Relaxed);
        let made: *mut Registered<D> = Registered::of(slot.content() as *const Registration);
        // SAFETY: put there by `fill`; nobody else has it.
        let status = unsafe { Box::from_raw(made) }.end();
        self.give_slot_back(number, slot.bytes());
        status
    }

    /// Takes an empty slot for a registration of so many bytes, evicting others where a limit is reached. `None`: there
    /// is no room.
    fn take_slot(&self, bytes: u64) -> Option<u32> {
        let taken = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let most = if self.limits.bytes == 0 { u64::MAX } else { self.limits.bytes };
        let fits = bytes <= most && (taken <= most || self.evict(0, taken - most));
        let slot = if fits { self.empty_slot() } else { None };
        if slot.is_none() {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        slot
    }

    /// Takes an empty slot, evicting some unused registrations where all slots are full; `None`: all are in use.
    fn empty_slot(&self) -> Option<u32> {
        if let Some(number) = self.unused_slot() {
            return Some(number);
        }
        self.evict(self.shared.slots.len() as u64 / 16 + 1, 0);
        self.unused_slot()
    }

    /// Takes a slot from the free list, or the first that has never been filled; `None`: there is none.
    fn unused_slot(&self) -> Option<u32> {
        let mut free = self.free.lock();
        if let Some(number) = free.pop() {
            return Some(number);
        }
        let most = self.shared.most.load(Ordering::Relaxed);
        // SYNC POINT with `WatchedSlots::filled`; the lock keeps others from here.
        (most < self.shared.slots.len()).then(|| {
            self.shared.most.store(most + 1, Ordering::Release);
            most as u32
        })
    }

    /// Puts an empty slot of the caller's on the free list and takes its bytes from the sum.
    fn give_slot_back(&self, number: u32, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.free.lock().push(number);
    }

    /// Ends registrations without users, those unused for the longest time first, until `entries` of them and `bytes`
    /// bytes are gone. False: none could be ended, or fewer bytes.
    fn evict(&self, entries: u64, bytes: u64) -> bool {
        let idle = (0u32..).zip(self.shared.filled()).filter(|(_, slot)| slot.is_idle());
        let mut idle: Vec<(u64, u32)> =
            idle.map(|(n, slot)| (slot.used.load(Ordering::Relaxed), n)).collect();
        idle.sort_unstable();
        let (mut gone, mut gone_bytes) = (0, 0);
        for (_, number) in idle {
            if gone >= entries && gone_bytes >= bytes {
                break;
            }
            let slot: &Slot = &self.shared.slots[number as usize];
            if slot.evict() {
                count(&self.counters.evictions);
                (gone, gone_bytes) = (gone + 1, gone_bytes + slot.bytes());
                self.take_back(number);
            }
        }
        gone > 0 && gone_bytes >= bytes
    }

    /// Ends all registrations, those in use with their last user, and watches nothing any more. `for_good`: from now on
    /// none is kept.
    pub fn empty(&self, for_good: bool) {
        if for_good {
            self.closed.store(true, Ordering::SeqCst);
        }
        for (number, slot) in (0..).zip(self.shared.filled()) {
            self.give_up(number, slot.life());
        }
        self.claim_stale();
        self.watch.uncover();
    }

    /// Ends the watcher's thread. Nobody uses the cache any more.
    pub fn end(&self) {
        self.watch.end();
    }

    /// Closes the watcher's descriptor in a forked child, which has no part in the cache.
    pub fn forget(&self) {
        self.watch.forget();
    }

    /// Reads the counts.
    pub fn counts(&self) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let filled = self.shared.filled();
        Counts {
            hits: get(&self.counters.hits)
                + filled.iter().map(|s| s.hits.load(Ordering::Relaxed)).sum::<u64>(),
            misses: get(&self.counters.misses),
            evictions: get(&self.counters.evictions),
            invalidations: get(&self.shared.invalidations),
            bypasses: get(&self.counters.bypasses),
            unwatched: get(&self.counters.unwatched),
            entries: (filled.len() - self.free.lock().len()) as u64,
            bytes: get(&self.bytes),
        }
    }

    #[cfg(test)]
    pub(super) fn shared(&self) -> &WatchedSlots {
        &self.shared
    }

    #[cfg(test)]
    pub(super) fn ranges(&self, number: usize, access: u32) -> Vec<(u64, u64)> {
        self.indexes[number * KINDS + access as usize].ranges()
    }
}
