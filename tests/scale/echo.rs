//! A transport whose every rank is the one process: gets, puts and atomics are carried out on the addresses that they name, at once, and
//! counted; so are registrations. The end of an operation is told at once, or when somebody waits ([`Counts::late`]).

use crate::allocations::apart;
use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use oxmpi_btl::{
    AtomicDesc, BtlAttrs, BtlHandle, BtlServices, Done, Endpoint, FlushDesc, LIST_PUT, ListDesc, Listener,
    Reach, Registration, RmaDesc, amo, cap,
};
use oxmpi_mca::{SliceRef, Status};
use oxmpi_testing::transport;

/// Counts of the host of a process. All of them are one thread's.
#[derive(Default)]
pub struct Counts {
    pub gets: Cell<u64>,
    pub puts: Cell<u64>,
    /// Lists.
    pub lists: Cell<u64>,
    pub flushes: Cell<u64>,
    /// Waits for operations under way.
    pub waits: Cell<u64>,
    /// Atomics that the transport carries out, those of lists not.
    pub atomics: Cell<u64>,
    /// Messages from one process to another.
    pub messages: Cell<u64>,
    /// Bytes of the longest get.
    pub longest_get: Cell<u64>,
    /// Memory of the node that was asked for, and registrations that are there.
    pub node_bytes: Cell<u64>,
    pub registrations: Cell<u64>,
    /// Operations end when somebody waits for any, not at once.
    pub late: Cell<bool>,
    under_way: RefCell<Vec<(Done, *mut c_void)>>,
}

impl Counts {
    /// An operation has been carried out; its end as the verb answers it.
    fn carried_out(&self, done: Option<Done>, done_ctx: *mut c_void) -> Status {
        match done.filter(|_| self.late.get()) {
            Some(done) => {
                apart(|| self.under_way.borrow_mut().push((done, done_ctx)));
                Status::PENDING
            }
            None => Status::OK,
        }
    }

    /// Tells the ends of all operations.
    pub fn end_all(&self) {
        let all = self.under_way.take();
        // SAFETY: the caller of this verb holds the context, and each is told once.
        all.iter().for_each(|(done, ctx)| unsafe { done(*ctx, Status::OK) });
        apart(|| drop(all));
    }
}

pub fn more(count: &Cell<u64>) {
    count.set(count.get() + 1);
}

/// The transport that a component asks: native verbs, atomics of all kinds, a handle of eight bytes. `lists`: bytes of the longest list, 0: none.
pub fn attrs(lists: u64) -> BtlAttrs {
    let mut attrs = BtlAttrs::new();
    attrs.flags = BtlAttrs::AMO_COHERENT;
    attrs.amo_ops = (1 << (amo::COMPARE_SWAP + 1)) - 1;
    attrs.amo_operands = amo::operand::ALL;
    attrs.registration_handle_size = size_of::<u64>() as u32;
    attrs.list_limit = lists;
    attrs
}

fn of<'a>(counts: *mut c_void) -> &'a Counts {
    // SAFETY: the handle's state and the services' instance: the counts of a process that outlives its windows.
    unsafe { &*counts.cast::<Counts>() }
}

// ---- registrations

pub fn services(counts: &Counts) -> BtlServices {
    let size = size_of::<BtlServices>() as u32;
    BtlServices {
        size,
        reserved: 0,
        instance: core::ptr::from_ref(counts).cast_mut().cast(),
        reach,
        register,
        deregister,
        acquire: register,
        release: deregister,
        listen,
    }
}

/// Nobody listens.
unsafe extern "C" fn listen(
    _: *mut c_void,
    _: *const BtlHandle,
    _: *const Registration,
    _: Listener,
    _: *mut c_void,
) -> Status {
    Status::NOT_SUPPORTED
}

extern "C" fn reach(_: *mut c_void, _: u32, _: *mut SliceRef<Reach>) -> Status {
    panic!("windows ask their communicator for ways to ranks")
}

static KEY: u64 = 1;

extern "C" fn register(
    counts: *mut c_void,
    _: *const BtlHandle,
    base: *mut u8,
    len: u64,
    _: u32,
    out: *mut *const Registration,
) -> Status {
    more(&of(counts).registrations);
    let handle = (&raw const KEY).cast();
    let made = Registration { handle, handle_size: size_of::<u64>() as u64, base, len };
    // SAFETY: the component's out pointer.
    unsafe { out.write(apart(|| Box::into_raw(Box::new(made)))) };
    Status::OK
}

extern "C" fn deregister(counts: *mut c_void, _: *const BtlHandle, gone: *const Registration) -> Status {
    let count = &of(counts).registrations;
    count.set(count.get() - 1);
    // SAFETY: made by `register`, ended once.
    apart(|| drop(unsafe { Box::from_raw(gone.cast_mut()) }));
    Status::OK
}

// ---- verbs

extern "C" fn get(counts: *mut c_void, _: *mut Endpoint, _: u32, rma: *const RmaDesc) -> Status {
    // SAFETY: the component's.
    let (rma, counts) = (unsafe { &*rma }, of(counts));
    more(&counts.gets);
    counts.longest_get.set(counts.longest_get.get().max(rma.len));
    // SAFETY: every address is this process's own, and as long as the component says.
    unsafe { core::ptr::copy(rma.remote as *const u8, rma.local, rma.len as usize) };
    counts.carried_out(rma.done, rma.done_ctx)
}

extern "C" fn put(counts: *mut c_void, _: *mut Endpoint, _: u32, rma: *const RmaDesc) -> Status {
    // SAFETY: the component's.
    let rma = unsafe { &*rma };
    more(&of(counts).puts);
    // SAFETY: as above.
    unsafe { core::ptr::copy(rma.local.cast_const(), rma.remote as *mut u8, rma.len as usize) };
    of(counts).carried_out(rma.done, rma.done_ctx)
}

extern "C" fn flush(counts: *mut c_void, _: *mut Endpoint, _: u32, desc: *const FlushDesc) -> Status {
    more(&of(counts).flushes);
    // SAFETY: the component's.
    let desc = unsafe { &*desc };
    of(counts).carried_out(desc.done, desc.done_ctx)
}

extern "C" fn atomic(counts: *mut c_void, _: *mut Endpoint, _: u32, desc: *const AtomicDesc) -> Status {
    // SAFETY: the component's.
    let desc = unsafe { &*desc };
    more(&of(counts).atomics);
    let word = desc.remote as *mut u64;
    assert_eq!(desc.flags & amo::WIDTH_32, 0, "state words have 64 bits");
    // SAFETY: a state word of this process, which one thread uses.
    unsafe {
        let before = word.read();
        match desc.op {
            amo::ADD => word.write(before.wrapping_add(desc.operand)),
            amo::COMPARE_SWAP if before == desc.compare => word.write(desc.operand),
            amo::COMPARE_SWAP => {}
            other => panic!("atomic {other} on a state word"),
        }
        if !desc.result.is_null() {
            desc.result.write(before);
        }
    }
    of(counts).carried_out(desc.done, desc.done_ctx)
}

extern "C" fn list(counts: *mut c_void, _: *mut Endpoint, _: u32, list: *const ListDesc) -> Status {
    more(&of(counts).lists);
    // SAFETY: the component's, with so many entries.
    let (list, entries) = unsafe {
        let list = &*list;
        (list, core::slice::from_raw_parts(list.entries.ptr, list.entries.len))
    };
    for entry in entries {
        // SAFETY: as in `put`, or a word of this process.
        unsafe {
            match entry.op {
                LIST_PUT => core::ptr::copy(entry.data, entry.remote as *mut u8, entry.len as usize),
                amo::ADD if entry.len == 8 => {
                    let word = entry.remote as *mut u64;
                    word.write(word.read().wrapping_add(entry.data.cast::<u64>().read_unaligned()));
                }
                other => panic!("operation {other} in a list"),
            }
        }
    }
    of(counts).carried_out(list.done, list.done_ctx)
}

/// The handle of the transport; valid as long as what it is made of.
pub fn handle(attrs: &BtlAttrs, counts: &Counts) -> BtlHandle {
    BtlHandle {
        caps: cap::GET
            | cap::PUT
            | cap::ATOMIC
            | cap::FLUSH
            | cap::REGISTER
            | if attrs.list_limit > 0 { cap::LIST } else { 0 },
        get,
        put,
        flush,
        atomic,
        list,
        ..transport::bare(counts, attrs, "echo")
    }
}
