//! From what a component gives to the host's full table: reading as far as sizes say, and functions for verbs that are not there.

use crate::placing::PlaceBy;
use crate::table::*;
use core::ffi::c_void;
use core::mem::size_of;
use oxmpi_mca::{MemKind, SliceRef, Status, StrRef, WaitSet};

/// A component's own state, passed back as the first argument of each of its functions.
type State = *mut c_void;

impl BtlAttrs {
    /// Copies a component's attributes as far as their size says; what an older component does not say keeps its default. The size
    /// is the component's.
    ///
    /// # Safety
    /// `said` must be aligned and readable for the size that its first word says, which is 4 or more.
    pub unsafe fn read(said: *const BtlAttrs) -> BtlAttrs {
        let mut own = BtlAttrs::new();
        // SAFETY: the caller's promise; any bytes are valid integers.
        unsafe { overlay(&mut own, said.cast(), (*said).size as usize) };
        own
    }
}

impl BtlTable {
    /// A table of this version that offers no verb.
    pub const EMPTY: BtlTable = BtlTable {
        size: size_of::<BtlTable>() as u32,
        version: TABLE_VERSION,
        add_procs: None,
        del_procs: None,
        finalize: None,
        send: None,
        progress: None,
        get: None,
        put: None,
        flush: None,
        atomic: None,
        register_mem: None,
        deregister_mem: None,
        arm: None,
        disarm: None,
        get_vector: None,
        hold: None,
        held: None,
        service_open: None,
        service_request: None,
        service_progress: None,
        service_reply: None,
        service_pending: None,
        service_arm: None,
        service_disarm: None,
        list: None,
        partner: None,
        place_by: None,
        send_kept: None,
    };

    /// Copies a component's table as far as its size says; slots behind that are empty. Size and version are the component's.
    ///
    /// # Safety
    /// `table` must be aligned and readable for the size that its first word says, which is 8 or more, and its slots null or
    /// functions.
    pub unsafe fn read(table: *const BtlTable) -> BtlTable {
        let mut own = BtlTable::EMPTY;
        // SAFETY: the caller's promise; a slot is a function or null, which is `None`. No reference to the whole is made,
        // because an older table is shorter.
        unsafe { overlay(&mut own, table.cast(), (*table).size as usize) };
        own
    }

    /// Makes the full handle of a module, which is valid as long as `attrs` and `name`: every verb that is not offered gets a
    /// function that refuses, or does nothing where that is right, and bits of [`cap`] tell which verbs are real. The error is the
    /// name of a mandatory slot that is empty: `send`, `progress` or `add_procs`.
    ///
    /// # Safety
    /// The table's functions may be called with this state, as the contract has it, as long as the handle is used.
    pub unsafe fn complete(
        &self,
        state: State,
        attrs: &BtlAttrs,
        name: StrRef,
    ) -> Result<BtlHandle, &'static str> {
        let offered = self.offered(attrs);
        Ok(BtlHandle {
            size: size_of::<BtlHandle>() as u32,
            caps: offered.caps(),
            state,
            send: offered.send.ok_or("send")?,
            progress: offered.progress.ok_or("progress")?,
            get: offered.get.unwrap_or(absent::rma),
            put: offered.put.unwrap_or(absent::rma),
            flush: offered.flush.unwrap_or(absent::flush),
            atomic: offered.atomic.unwrap_or(absent::atomic),
            register_mem: offered.register_mem.unwrap_or(absent::register),
            deregister_mem: offered.deregister_mem.unwrap_or(absent::deregister),
            arm: offered.arm.unwrap_or(absent::arm),
            disarm: offered.disarm.unwrap_or(absent::disarm),
            get_vector: offered.get_vector.unwrap_or(absent::vector),
            hold: offered.hold.unwrap_or(absent::hold),
            held: offered.held.unwrap_or(absent::held),
            service_open: offered.service_open.unwrap_or(absent::service_open),
            service_request: offered.service_request.unwrap_or(absent::service_request),
            service_progress: offered.service_progress.unwrap_or(absent::service_progress),
            service_reply: offered.service_reply.unwrap_or(absent::service_reply),
            service_pending: offered.service_pending.unwrap_or(absent::service_pending),
            service_arm: offered.service_arm.unwrap_or(absent::service_arm),
            service_disarm: offered.service_disarm.unwrap_or(absent::service_disarm),
            add_procs: offered.add_procs.ok_or("add_procs")?,
            del_procs: offered.del_procs.unwrap_or(absent::del_procs),
            finalize: offered.finalize.unwrap_or(absent::finalize),
            attrs,
            name,
            emulated: 0,
            index: 0,
            list: offered.list.unwrap_or(absent::list),
            partner: offered.partner.unwrap_or(absent::partner),
            place_by: offered.place_by.unwrap_or(absent::place_by),
            send_kept: offered.send_kept.unwrap_or(absent::send_kept),
        })
    }

    /// Empties the slots that offer nothing: half a pair, and links and lists that by the attributes carry nothing.
    fn offered(&self, attrs: &BtlAttrs) -> BtlTable {
        let mut own = *self;
        (own.register_mem, own.deregister_mem) = self.register_mem.zip(self.deregister_mem).unzip();
        (own.arm, own.disarm) = self.arm.zip(self.disarm).unzip();
        (own.hold, own.held) = self.hold.zip(self.held).unzip();
        let asking = self.service_open.zip(self.service_request);
        let answering = self.service_progress.zip(self.service_reply);
        let (asking, answering) = asking.zip(answering).filter(|_| attrs.service_limit > 0).unzip();
        (own.service_open, own.service_request) = asking.unzip();
        (own.service_progress, own.service_reply) = answering.unzip();
        (own.service_arm, own.service_disarm) = self.service_arm.zip(self.service_disarm).unzip();
        own.list = self.list.filter(|_| attrs.list_limit > 0);
        own
    }

    /// The bits of [`cap`] for the slots that are filled, of each pair the first.
    fn caps(&self) -> u32 {
        let caps = [
            (cap::GET, self.get.is_some()),
            (cap::PUT, self.put.is_some()),
            (cap::ATOMIC, self.atomic.is_some()),
            (cap::FLUSH, self.flush.is_some()),
            (cap::REGISTER, self.register_mem.is_some()),
            (cap::SLEEP, self.arm.is_some()),
            (cap::GET_VECTOR, self.get_vector.is_some()),
            (cap::HOLD, self.hold.is_some()),
            (cap::SERVICE, self.service_open.is_some()),
            (cap::SERVICE_SLEEP, self.service_arm.is_some()),
            (cap::LIST, self.list.is_some()),
            (cap::PARTNER, self.partner.is_some()),
            (cap::PLACES, self.place_by.is_some()),
            (cap::KEEPS, self.send_kept.is_some()),
        ];
        caps.iter().filter(|(_, has)| *has).fold(0, |all, (bit, _)| all | bit)
    }
}

impl ProcList {
    /// The list of a slice, for as long as that stays.
    pub fn of(procs: &[ProcInfo]) -> ProcList {
        ProcList { first: procs.as_ptr(), len: procs.len(), stride: size_of::<ProcInfo>() }
    }

    /// The processes, each as far as both sides know it; what the host does not say is 0.
    ///
    /// # Safety
    /// `len` entries of `stride` bytes, aligned as a [`ProcInfo`], are readable from `first` while the result lives.
    pub unsafe fn iter(self) -> impl Iterator<Item = ProcInfo> {
        (0..self.len).map(move |i| {
            let mut own = ProcInfo::default();
            // SAFETY: the caller's promise; any bytes are valid integers.
            unsafe { overlay(&mut own, self.first.cast::<u8>().add(i * self.stride), self.stride) };
            own
        })
    }
}

/// Copies the part of a foreign structure that both sides know into `own`.
///
/// # Safety
/// `from` must be readable for `size` bytes, and any bytes of that layout a value of `T`.
unsafe fn overlay<T>(own: &mut T, from: *const u8, size: usize) {
    // SAFETY: the caller's promise; `own` has as many bytes as its type.
    unsafe {
        core::ptr::copy_nonoverlapping(from, (own as *mut T).cast::<u8>(), size.min(size_of::<T>()));
    }
}

/// Functions in the place of verbs that a module does not offer. They look at none of their arguments, so a caller owes them nothing: they are
/// unsafe for their types alone.
mod absent {
    use super::*;

    /// Stands in for a missing `del_procs`: nothing is kept for each process, so it succeeds.
    pub unsafe extern "C" fn del_procs(_: State, _: SliceRef<*mut Endpoint>) -> Status {
        Status::OK
    }
    /// Stands in for a missing `partner`: each module reaches that of its own number.
    pub unsafe extern "C" fn partner(_: State, _: *mut Endpoint) -> u32 {
        SAME_NUMBER
    }
    /// Stands in for a missing `place_by`: refuses with NOT_SUPPORTED, so each message is delivered from the transport's memory.
    pub unsafe extern "C" fn place_by(_: State, _: *const PlaceBy) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `send_kept`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn send_kept(_: State, _: *mut Endpoint, _: u32, _: *const KeptDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `finalize`: nothing is to be given back, so it succeeds.
    pub unsafe extern "C" fn finalize(_: State) -> Status {
        Status::OK
    }
    /// Stands in for a missing `get` or `put`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn rma(_: State, _: *mut Endpoint, _: u32, _: *const RmaDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `get_vector`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn vector(_: State, _: *mut Endpoint, _: u32, _: *const RmaVectorDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `flush`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn flush(_: State, _: *mut Endpoint, _: u32, _: *const FlushDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `atomic`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn atomic(_: State, _: *mut Endpoint, _: u32, _: *const AtomicDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `list`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn list(_: State, _: *mut Endpoint, _: u32, _: *const ListDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `register_mem`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn register(
        _: State,
        _: *mut u8,
        _: u64,
        _: u32,
        _: MemKind,
        _: *mut RegHandle,
    ) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `deregister_mem`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn deregister(_: State, _: *const RegHandle) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `arm`: refuses with NOT_SUPPORTED, so no thread sleeps on the transport.
    pub unsafe extern "C" fn arm(_: State, _: u32, _: *mut WaitSet) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `disarm`: does nothing, since `arm` never succeeds.
    pub unsafe extern "C" fn disarm(_: State, _: u32) {}
    /// Stands in for a missing `hold`: the receiver is told nothing of messages that wait here.
    pub unsafe extern "C" fn hold(_: State, _: *mut Endpoint, _: u64) {}
    /// Stands in for a missing `held`: answers 0, no message of the peer is known to wait.
    pub unsafe extern "C" fn held(_: State, _: *mut Endpoint) -> u64 {
        0
    }
    /// Stands in for a missing `service_open`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn service_open(_: State) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `service_request`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn service_request(
        _: State,
        _: *mut Endpoint,
        _: u32,
        _: *const SendDesc,
    ) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `service_progress`: answers 0 events.
    pub unsafe extern "C" fn service_progress(_: State) -> i32 {
        0
    }
    /// Stands in for a missing `service_reply`: refuses with NOT_SUPPORTED.
    pub unsafe extern "C" fn service_reply(_: State, _: u64, _: *const SendDesc) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `service_pending`: answers null, so requests are found by `service_progress` alone.
    pub unsafe extern "C" fn service_pending(_: State) -> *const u32 {
        core::ptr::null()
    }
    /// Stands in for a missing `service_arm`: refuses with NOT_SUPPORTED, so nobody sleeps on the service context.
    pub unsafe extern "C" fn service_arm(_: State, _: *mut WaitSet) -> Status {
        Status::NOT_SUPPORTED
    }
    /// Stands in for a missing `service_disarm`: does nothing, since `service_arm` never succeeds.
    pub unsafe extern "C" fn service_disarm(_: State) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use core::ptr::null_mut;

    unsafe extern "C" fn add_procs(_: State, _: ProcList, _: *mut *mut Endpoint) -> Status {
        Status::OK
    }
    unsafe extern "C" fn send(_: State, _: *mut Endpoint, _: u32, _: *const SendDesc) -> Status {
        Status::OK
    }
    unsafe extern "C" fn progress(_: State, _: u32) -> i32 {
        0
    }
    unsafe extern "C" fn open(_: State) -> Status {
        Status::OK
    }
    unsafe extern "C" fn reply(_: State, _: u64, _: *const SendDesc) -> Status {
        Status::OK
    }

    const LEAST: BtlTable = BtlTable {
        add_procs: Some(add_procs),
        send: Some(send),
        progress: Some(progress),
        ..BtlTable::EMPTY
    };

    unsafe extern "C" fn serve(_: State) -> i32 {
        0
    }

    fn complete(table: &BtlTable, attrs: &BtlAttrs) -> Result<BtlHandle, &'static str> {
        // SAFETY: the functions above look at no state.
        unsafe { table.complete(null_mut(), attrs, StrRef::new("part")) }
    }

    #[test]
    fn what_is_no_offer_is_refused() {
        let mut attrs = BtlAttrs { service_limit: 4096, ..BtlAttrs::new() };
        let mut table = BtlTable { service_open: Some(open), service_request: Some(send), ..LEAST };
        let answer = |table: &BtlTable, attrs: &BtlAttrs| {
            let handle = complete(table, attrs).expect("the mandatory slots are filled");
            // SAFETY: the function above, or one that refuses: neither looks at its state.
            (handle.caps, unsafe { (handle.service_open)(null_mut()) })
        };
        assert_eq!(answer(&table, &attrs), (0, Status::NOT_SUPPORTED), "requests without replies");
        table.service_progress = Some(serve);
        table.service_reply = Some(reply);
        assert_eq!(answer(&table, &attrs), (cap::SERVICE, Status::OK));
        attrs.service_limit = 0;
        assert_eq!(answer(&table, &attrs), (0, Status::NOT_SUPPORTED), "links that carry nothing");
    }

    #[test]
    fn mandatory_slots_are_named() {
        let attrs = BtlAttrs::new();
        let missing = |table: BtlTable| complete(&table, &attrs).err();
        assert_eq!(missing(LEAST), None);
        assert_eq!(missing(BtlTable { send: None, ..LEAST }), Some("send"));
        assert_eq!(missing(BtlTable { progress: None, ..LEAST }), Some("progress"));
        assert_eq!(missing(BtlTable { add_procs: None, ..LEAST }), Some("add_procs"));
    }
}
