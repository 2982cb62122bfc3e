//! The table of a rank's host: functions that come back as methods of its rank.

use crate::desk::{Desk, FakeHost};
use crate::held::held;
use crate::services::Served;
use crate::setup::text;
use core::ffi::c_void;
use core::ptr::from_ref;
use oxmpi_mca::host::{HostTable, ProgressFn};
use oxmpi_mca::{
    AmEntry, AmParts, LayerFunction, LockServices, LockTable, RequestHeader, SliceRef, Status, StrRef,
    ThreadCtx,
};

impl Desk {
    /// The table for the component of a rank, which stays where it is and owns this desk.
    pub fn table<H: FakeHost>(&self, rank: &H) -> HostTable {
        HostTable {
            size: size_of::<HostTable>() as u32,
            abi_minor: oxmpi_mca::ABI_MINOR as u32,
            instance: from_ref(rank).cast_mut().cast(),
            job: &*self.job,
            threaded: from_ref(&*self.threaded).cast(),
            cris: self.cris.as_ptr(),
            num_cris: self.cris.len() as u32,
            cri_modes: 0,
            am_table: self.rows.get().cast(),
            log: log::<H>,
            help: help::<H>,
            fatal: fatal::<H>,
            am_register: am_register::<H>,
            progress_register: progress_register::<H>,
            progress_unregister: progress_unregister::<H>,
            progress: progress::<H>,
            sync_update: sync_update::<H>,
            request_slot: request_slot::<H>,
            wait: wait::<H>,
            exchange_put: exchange_put::<H>,
            exchange_get: exchange_get::<H>,
            peer_error: peer_error::<H>,
            am_parts: self.parts.get().cast(),
            am_register_parts: am_register_parts::<H>,
            services: H::SERVICES.unwrap_or(Served::<H>::SERVICES),
            locking: LockTable::without_calls(LockServices::WITHOUT_OWNERS),
            expect: expect::<H>,
        }
    }
}

extern "C" fn log<H: FakeHost>(i: *mut c_void, level: i32, component: StrRef, message: StrRef) {
    H::of(i).log(level, text(component), text(message));
}

extern "C" fn help<H: FakeHost>(i: *mut c_void, component: StrRef, topic: StrRef, args: SliceRef<StrRef>) {
    // SAFETY: borrowed for the call.
    let args: Vec<&str> = unsafe { args.get() }.iter().map(|a| text(*a)).collect();
    H::of(i).help(text(component), text(topic), &args);
}

extern "C" fn fatal<H: FakeHost>(i: *mut c_void, component: StrRef, message: StrRef) -> ! {
    let host = H::of(i);
    let (rank, component, message) = (host.desk().job.rank, text(component), text(message));
    eprintln!("rank {rank}: fatal error of {component}: {message}\n{}", host.last_words());
    std::process::abort()
}

extern "C" fn am_register<H: FakeHost>(i: *mut c_void, tag: u8, entry: AmEntry) -> Status {
    H::of(i).am_register(tag, entry)
}

extern "C" fn am_register_parts<H: FakeHost>(i: *mut c_void, tag: u8, take: AmParts) -> Status {
    H::of(i).am_register_parts(tag, take)
}

extern "C" fn progress_register<H: FakeHost>(i: *mut c_void, function: *const LayerFunction) -> Status {
    // SAFETY: the component's registration, readable during the call.
    H::of(i).progress_register(unsafe { &*function })
}

extern "C" fn expect<H: FakeHost>(i: *mut c_void, thread: *mut ThreadCtx, set: u64) {
    H::of(i).expect(thread, set)
}

extern "C" fn progress_unregister<H: FakeHost>(i: *mut c_void, f: ProgressFn, ctx: *mut c_void) -> Status {
    H::of(i).progress_unregister(f, ctx)
}

extern "C" fn progress<H: FakeHost>(i: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    H::of(i).progress(thread)
}

extern "C" fn sync_update<H: FakeHost>(i: *mut c_void, _: usize) {
    H::of(i).sync_update();
}

extern "C" fn request_slot<H: FakeHost>(i: *mut c_void, req: *mut RequestHeader) -> Status {
    // SAFETY: the component's promise.
    unsafe { H::of(i).request_slot(req) }
}

extern "C" fn wait<H: FakeHost>(i: *mut c_void, _: *mut ThreadCtx, _: *mut RequestHeader) -> Status {
    H::of(i).wait()
}

extern "C" fn exchange_put<H: FakeHost>(i: *mut c_void, component: StrRef, data: SliceRef<u8>) -> Status {
    let desk = H::of(i).desk();
    // SAFETY: borrowed for the call.
    desk.shared.put(text(component), desk.job.rank, unsafe { data.get() });
    Status::OK
}

extern "C" fn exchange_get<H: FakeHost>(
    i: *mut c_void,
    component: StrRef,
    proc: u32,
    data: *mut u8,
    len: *mut usize,
) -> Status {
    // SAFETY: the caller's capacity and buffer.
    unsafe { H::of(i).desk().shared.get(text(component), proc, data, len) }
}

extern "C" fn peer_error<H: FakeHost>(i: *mut c_void, _: StrRef, proc: u32, fatal: u32, message: StrRef) {
    let status = if fatal != 0 { Status::PEER_FAILED } else { Status::OK };
    H::of(i).failed(proc, status, text(message));
}

impl Desk {
    /// Notes a failure and tells those who subscribed.
    pub fn tell_failure(&self, proc: u32, status: Status) {
        held(&self.failures).push((proc, status));
        // Outside of the lock: a subscriber may come or go meanwhile.
        let watchers = held(&self.watchers).clone();
        watchers.into_iter().for_each(|(f, ctx)| f(ctx as *mut c_void, proc, status));
    }
}
