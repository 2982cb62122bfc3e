//! Collective modules: asked for every new communicator, laid over one another by priority, called
//! through one table of our own.
//!
//! Each component that wants a communicator gives a module and the collectives it has. From lowest to
//! highest priority they overwrite the slots, so each collective may come from a different component.
//! A collective that no component has answers NOT_SUPPORTED. A component that served nothing in the end gets its module
//! back at once.
//!
//! The functions that make plans (`host_requests::schedule`) are laid over one another in the same way.
//!
//! Components talk through [`CollServices`]: point-to-point on the communicator with negative tags, and what `parts` has about nodes.

mod in_plans_only;
pub(crate) mod parts;
pub(crate) mod slot;

use crate::coll::slot::{NAMES, SLOTS};
use crate::group::Group;
use crate::host_requests::schedule::numbers::Numbers;
use crate::objects::{CollStack, Communicator, Instance, Layer, Served, StackParts};
use crate::plan::{ExcludedComponents, Plan};
use crate::spc::Counter;
use oxmpi_coll::{CollArgs, CollComm, CollFn, CollOffer, CollServices, CollTable, flag};
use oxmpi_datatype::TypeDesc;
use oxmpi_loading::accept::accepted::CollComponent;
use oxmpi_mca::{MsgStatus, RequestHeader, Status, ThreadCtx};
use oxmpi_pml::mode;
pub use slot::Slot;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// The functions of a component's table as an array in the order of [`Slot`]; `None`: the component has no such
/// collective.
fn slots(table: &CollTable) -> [Option<CollFn>; SLOTS] {
    [
        table.barrier,
        table.bcast,
        table.reduce,
        table.allreduce,
        table.allgather,
        table.gather,
        table.scatter,
        table.alltoall,
        table.gatherv,
        table.scatterv,
        table.allgatherv,
        table.alltoallv,
        table.alltoallw,
        table.scan,
        table.exscan,
        table.reduce_scatter,
        table.reduce_scatter_block,
        table.neighbor_allgather,
        table.neighbor_allgatherv,
        table.neighbor_alltoall,
        table.neighbor_alltoallv,
        table.neighbor_alltoallw,
    ]
}

/// Stands in the stack for a collective that no component has: answers NOT_SUPPORTED.
extern "C" fn not_supported(_: *mut c_void, _: *const CollComm, _: *const CollArgs) -> Status {
    Status::NOT_SUPPORTED
}

/// A layer in which no component serves any collective.
const NOBODY: Layer = [(not_supported as CollFn, null_mut()); SLOTS];

/// A component's offer for a communicator.
struct Offer {
    priority: i32,
    served: Served,
    table: CollTable,
    plans: CollTable,
}

/// Reads a component's table, however long it is, into one of ours.
///
/// # Safety
/// `table` must point to at least as many bytes as its size field says, if that can be read.
unsafe fn read_table(table: *const CollTable) -> Option<CollTable> {
    const HEAD: usize = 8;
    if table.is_null() || !table.is_aligned() {
        return None;
    }
    // SAFETY: the size field is the first four bytes of every version of the table.
    let size = unsafe { *(table as *const u32) } as usize;
    if size < HEAD || !size.is_multiple_of(8) {
        return None;
    }
    let mut own = CollTable::default();
    // SAFETY: both are readable and writable for the smaller size; an absent slot is a null pointer,
    // which is `None`.
    unsafe {
        let n = size.min(size_of::<CollTable>());
        std::ptr::copy_nonoverlapping(table as *const u8, (&raw mut own).cast::<u8>(), n);
    }
    Some(own)
}

impl CollStack {
    /// An empty stack, for communicators of the library's own: every collective answers NOT_SUPPORTED.
    pub fn none(instance: &Instance) -> CollStack {
        let components = instance.coll_components();
        let numbers = Numbers::default();
        let parts = StackParts::default();
        CollStack {
            slots: NOBODY,
            plans: NOBODY,
            served: Vec::new(),
            numbers,
            components,
            oversubscribed: 0,
            parts,
        }
    }

    /// Asks every collective component about a new communicator and lays their offers over one another; for an
    /// inter-communicator (`num_remote` is not 0) asks those that take such. Components may not communicate yet.
    pub fn build(instance: &Instance, plan: &Plan, rank: u32, num_remote: u32) -> CollStack {
        let components = instance.coll_components();
        let (num_nodes, node) = nodes(instance, &plan.group, rank);
        let name = plan.name.as_str();
        // The launcher's word, not this process's parameter: ranks choose algorithms by it.
        let oversubscribed = instance.facts().oversubscribed.into();
        let comm = CollComm {
            size: size_of::<CollComm>() as u32,
            num_ranks: plan.group.size(),
            rank,
            oversubscribed,
            comm: null_mut(),
            thread: null_mut(),
            services: services(),
            num_remote,
            planning: 0,
            local: null(),
            num_nodes,
            node,
        };
        let mut offers = Vec::new();
        for (i, c) in components.iter().enumerate() {
            if num_remote > 0 && c.module.flags & flag::INTER == 0 || is_left_out(c, &plan.excluded) {
                continue;
            }
            let mut offer = CollOffer::NONE;
            let status = (c.module.comm_query)(c.module.state, &comm, &mut offer);
            if status == Status::NOT_AVAILABLE {
                continue;
            }
            // Ranks that go on would choose otherwise than this one, and wait for it.
            if status == Status::PANICKED {
                instance.component_panicked("coll", c.name, "being asked about a communicator");
            }
            // SAFETY: a component's tables are statics of it; it may have none of plans.
            let (table, plans) = unsafe { (read_table(offer.table), read_table(offer.plans)) };
            match table {
                Some(table) if !status.is_err() => offers.push(Offer {
                    priority: offer.priority,
                    served: Served { component: i, module: offer.module },
                    table,
                    plans: plans.unwrap_or_default(),
                }),
                _ => {
                    let why = if status.is_err() { status.name() } else { "its table cannot be read" };
                    instance
                        .logger()
                        .warn("coll", &format!("{}: does not serve communicator {name}: {why}", c.name));
                }
            }
        }
        Self::lay(instance, offers, components, oversubscribed, name)
    }

    /// Makes the stack from the components' offers: by ascending priority each overwrites the slots of those before it.
    /// Modules of components that serve nothing in the end are given back.
    fn lay(
        instance: &Instance,
        mut offers: Vec<Offer>,
        components: &[CollComponent],
        oversubscribed: u32,
        name: &str,
    ) -> CollStack {
        // Stable: at equal priority the component that was found first wins, so it is laid last.
        offers.reverse();
        offers.sort_by_key(|offer| offer.priority);
        let mut used = vec![false; offers.len()];
        let mut layer = |what: &str, table: fn(&Offer) -> &CollTable| {
            let mut out = NOBODY;
            let mut chosen: [Option<usize>; SLOTS] = [None; SLOTS];
            for (at, offer) in offers.iter().enumerate() {
                for (i, f) in slots(table(offer)).into_iter().enumerate() {
                    if let Some(f) = f {
                        (out[i], chosen[i]) = ((f, offer.served.module), Some(at));
                    }
                }
            }
            for (i, at) in chosen.iter().enumerate() {
                let by = at.map_or("nobody", |at| components[offers[at].served.component].name);
                instance.logger().debug("coll", &format!("communicator {name}: {what}{} by {by}", NAMES[i]));
            }
            chosen.into_iter().flatten().for_each(|at| used[at] = true);
            out
        };
        let (slots, plans) = (layer("", |offer| &offer.table), layer("plan of ", |offer| &offer.plans));
        let mut served = Vec::new();
        for (offer, used) in offers.into_iter().zip(used) {
            if used {
                served.push(offer.served);
            } else {
                let c = &components[offer.served.component].module;
                (c.comm_free)(c.state, offer.served.module);
            }
        }
        let (numbers, parts) = (Numbers::default(), StackParts::default());
        CollStack { slots, plans, served, numbers, components, oversubscribed, parts }
    }

    /// Calls the component that serves this collective on communicator `c`, in the calling thread, and returns its
    /// status.
    #[inline]
    pub fn run(&self, slot: Slot, c: &Communicator, thread: *mut ThreadCtx, args: &CollArgs) -> Status {
        let mut comm = self.seen(c, thread);
        let (f, module) = self.slots[slot as usize];
        match c.local() {
            None => f(module, &comm, args),
            Some(local) => {
                let local = self.seen(local, thread);
                (comm.num_remote, comm.local) = (c.num_peers(), &local);
                f(module, &comm, args)
            }
        }
    }

    /// Calls the component's planning function of a collective, which writes the steps of a plan down through
    /// `services`. `places` are what the component gets as its communicator and as that of the local group.
    pub fn plan(
        &self,
        slot: Slot,
        c: &Communicator,
        thread: *mut ThreadCtx,
        args: &CollArgs,
        services: *const CollServices,
        places: [*mut c_void; 2],
    ) -> Status {
        let seen = |c: &Communicator, comm| CollComm { comm, services, planning: 1, ..self.seen(c, thread) };
        let mut comm = seen(c, places[0]);
        let (f, module) = self.plans[slot as usize];
        match c.local() {
            None => f(module, &comm, args),
            Some(local) => {
                let local = seen(local, places[1]);
                (comm.num_remote, comm.local) = (c.num_peers(), &local);
                f(module, &comm, args)
            }
        }
    }

    /// Makes the description of a communicator that a component gets as argument of a call.
    #[inline]
    fn seen(&self, c: &Communicator, thread: *mut ThreadCtx) -> CollComm {
        let (num_nodes, node) = c.nodes();
        CollComm {
            size: size_of::<CollComm>() as u32,
            num_ranks: c.size(),
            rank: c.rank(),
            oversubscribed: self.oversubscribed,
            comm: c.host_comm_ptr(),
            thread,
            services: services(),
            num_remote: 0,
            planning: 0,
            local: null(),
            num_nodes,
            node,
        }
    }

    /// Gives the components' modules and the parts of the communicator back; no collective is called afterwards.
    pub fn free(&self) {
        // SAFETY: components live as long as the instance, which the communicator keeps alive.
        let components = unsafe { &*self.components };
        for s in &self.served {
            let c = &components[s.component].module;
            (c.comm_free)(c.state, s.module);
        }
        self.parts.close();
    }
}

/// Whether the plan of a communicator excludes this component from being asked.
fn is_left_out(component: &CollComponent, excluded: &ExcludedComponents) -> bool {
    match excluded {
        ExcludedComponents::Nobody => false,
        ExcludedComponents::Named(name) => component.name == name,
        ExcludedComponents::Nesting => component.module.flags & flag::NESTS != 0,
    }
}

/// Number of nodes that have ranks of a group, and the number of the node of rank `rank` among them.
fn nodes(instance: &Instance, group: &Group, rank: u32) -> (u32, u32) {
    if instance.facts().map.nodes() == 1 {
        return (1, 0);
    }
    let places = group.places(|proc| instance.place_of(proc));
    (places.num_nodes(), places.get(rank).map_or(0, |place| place.node))
}

/// The table of services that components get for calls outside of a plan.
fn services() -> *const CollServices {
    const SERVICES: &CollServices = &CollServices {
        size: size_of::<CollServices>() as u32,
        reserved: 0,
        send,
        recv,
        isend,
        irecv,
        wait_all,
        memory: in_plans_only::memory,
        pack: in_plans_only::pack,
        unpack: in_plans_only::unpack,
        copy: in_plans_only::copy,
        reduce: in_plans_only::reduce,
        step: in_plans_only::step,
        place: parts::place,
        node_memory: parts::node_memory,
        peer_read: parts::peer_read,
        peer_write: parts::peer_write,
        peer_pointer: parts::peer_pointer,
        wait_word: parts::wait_word,
        sub_comm: parts::sub_comm,
        sub_view: parts::sub_view,
        call: parts::call,
        send_failure,
    };
    SERVICES
}

/// The communicator a component got in `run`, and the arguments as the PML's types want them.
macro_rules! at {
    ($comm:expr) => {{
        // SAFETY: the component passes on what `run` gave it; `comm` is the communicator of the call.
        let c = unsafe { &*$comm };
        // SAFETY: as above.
        (unsafe { &*(c.comm as *const Communicator) }, c.thread)
    }};
}
/// The datatype behind a component's pointer.
macro_rules! dtype {
    ($d:expr) => {
        // SAFETY: the component passes a type of the call's arguments or one of its own.
        unsafe { &*$d }
    };
}

/// Converts a component's rank to the PML's type; one that does not fit answers BAD_PARAM.
fn rank(r: u32) -> Result<i32, Status> {
    i32::try_from(r).map_err(|_| Status::BAD_PARAM)
}

/// Component service: blocking standard send on the communicator of the call; its bytes are counted.
extern "C" fn send(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    dst: u32,
    tag: i32,
) -> Status {
    let (c, thread) = at!(comm);
    c.note_own(thread, Counter::BytesSentMpi, count.saturating_mul(dtype!(dtype).packed));
    match rank(dst) {
        Ok(dst) => c.send(thread, buf, count, dtype!(dtype), dst, tag, mode::STANDARD),
        Err(e) => e,
    }
}

/// Component service: blocking receive on the communicator of the call; `status` may be null. Answers the error of the
/// message, if it had one.
extern "C" fn recv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    src: u32,
    tag: i32,
    status: *mut MsgStatus,
) -> Status {
    let (c, thread) = at!(comm);
    let mut own = MsgStatus::EMPTY;
    let answer = match rank(src) {
        Ok(src) => match c.can_come_from(src) {
            Ok(()) => c.recv(thread, buf, count, dtype!(dtype), src, tag, &mut own),
            Err(e) => e,
        },
        Err(e) => e,
    };
    c.note_own(thread, Counter::BytesReceivedMpi, own.bytes);
    if !status.is_null() {
        // SAFETY: the component's out pointer.
        unsafe { *status = own };
    }
    if own.error == Status::TRUNCATED {
        c.note_truncated(&own);
    }
    if answer.is_ok() { own.error } else { answer }
}

/// Component service: starts a standard send and stores its request in `out`, to be completed by `wait_all`.
extern "C" fn isend(
    comm: *const CollComm,
    buf: *const u8,
    count: u64,
    dtype: *const TypeDesc,
    dst: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let (c, thread) = at!(comm);
    c.note_own(thread, Counter::BytesSentMpi, count.saturating_mul(dtype!(dtype).packed));
    let req = rank(dst).and_then(|dst| c.isend(thread, buf, count, dtype!(dtype), dst, tag, mode::STANDARD));
    hand_out(req, out)
}

/// Component service: starts a receive and stores its request in `out`, to be completed by `wait_all`.
extern "C" fn irecv(
    comm: *const CollComm,
    buf: *mut u8,
    count: u64,
    dtype: *const TypeDesc,
    src: u32,
    tag: i32,
    out: *mut *mut RequestHeader,
) -> Status {
    let (c, thread) = at!(comm);
    let req = rank(src).and_then(|src| {
        c.can_come_from(src)?;
        c.irecv(thread, buf, count, dtype!(dtype), src, tag)
    });
    hand_out(req, out)
}

/// Component service: starts a message that ends its receive with `error`, and stores its request in `out`.
extern "C" fn send_failure(
    comm: *const CollComm,
    dst: u32,
    tag: i32,
    error: Status,
    out: *mut *mut RequestHeader,
) -> Status {
    let (c, thread) = at!(comm);
    hand_out(rank(dst).and_then(|dst| c.isend_failure(thread, dst, tag, error)), out)
}

/// Stores a new request in the component's out pointer and answers OK, or passes the error on.
fn hand_out(req: Result<*mut RequestHeader, Status>, out: *mut *mut RequestHeader) -> Status {
    match req {
        Ok(req) => {
            // SAFETY: the component's out pointer.
            unsafe { *out = req };
            Status::OK
        }
        Err(e) => e,
    }
}

/// Component service: waits for `n` requests (null ones are skipped), releases them and sets them to null. Answers the
/// first error.
extern "C" fn wait_all(comm: *const CollComm, reqs: *mut *mut RequestHeader, n: usize) -> Status {
    let (c, thread) = at!(comm);
    if n == 0 {
        return Status::OK;
    }
    // SAFETY: the component gives `n` requests that `isend` and `irecv` made (or null).
    let reqs = unsafe { std::slice::from_raw_parts_mut(reqs, n) };
    c.instance().wait_all(thread, reqs);
    let (mut first, mut bytes) = (Status::OK, 0);
    for req in reqs {
        if req.is_null() {
            continue;
        }
        // SAFETY: complete, and ours until released.
        let (error, received) = unsafe {
            let status = (**req).status;
            if status.error == Status::TRUNCATED {
                c.note_truncated(&status);
            }
            let received = if (**req).kind == RequestHeader::RECV { status.bytes } else { 0 };
            ((*(**req).ops).release)(*req, thread);
            (status.error, received)
        };
        bytes += received;
        *req = null_mut();
        if first.is_ok() {
            first = error;
        }
    }
    c.note_own(thread, Counter::BytesReceivedMpi, bytes);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn one(_: *mut c_void, _: *const CollComm, _: *const CollArgs) -> Status {
        Status::OK
    }

    #[test]
    fn a_short_table_is_read_as_far_as_it_goes() {
        #[repr(C)]
        struct Short {
            size: u32,
            version: u32,
            barrier: Option<CollFn>,
            bcast: Option<CollFn>,
            /// Bytes behind the table that are not slots.
            noise: [u64; 8],
        }
        let mut short = Short { size: 24, version: 1, barrier: Some(one), bcast: None, noise: [7; 8] };
        let read = |s: &Short| {
            // SAFETY: `s` is longer than any size the test writes into it.
            unsafe { read_table((s as *const Short).cast()) }
        };
        let table = read(&short).expect("readable");
        assert!(table.barrier.is_some() && table.bcast.is_none() && table.reduce.is_none());
        for bad in [0, 4, 7, 13] {
            short.size = bad;
            assert!(read(&short).is_none(), "size {bad}");
        }
        // SAFETY: null is answered without a look.
        assert!(unsafe { read_table(null()) }.is_none());
    }
}
