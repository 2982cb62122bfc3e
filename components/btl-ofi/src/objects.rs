//! Objects of libfabric with their ends: descriptions, fabric, domain, address vector, completion queue. Endpoints and registrations are in `endpoints.rs`.
//!
//! Each object keeps those alive that it stands on, so ends come in the order that the library demands. All of them may be used from any thread:
//! domains are opened with FI_THREAD_SAFE. Calls of a message's path (sending, receiving, reading completions) are read out of the tables
//! once. A call answers the library's error number, positive.

use crate::abi::*;
use crate::library::{Api, text};
use crate::wire::Address;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use std::os::fd::RawFd;
use std::sync::Arc;

/// Most contexts of a scalable endpoint here: a number of one has 16 bits in messages.
const MOST_CONTEXTS: usize = 1 << 10;

/// The answer of a call of the library beside success: an error number.
pub type Code = i32;

/// Answer of a call, as a result.
pub fn answered(code: isize) -> Result<(), Code> {
    if code == 0 { Ok(()) } else { Err((-code) as Code) }
}

/// A function of a table that a provider may leave out.
macro_rules! of_table {
    ($table:expr, $op:ident) => {{
        let table = $table;
        // SAFETY: null, or a table of the library that lives as long as its object.
        let op = if table.is_null() { None } else { unsafe { (*table).$op } };
        op.ok_or($crate::abi::err::NOSYS)
    }};
}
pub(crate) use of_table;

/// Closes an object. One that is in use stays, which the order of ends prevents.
///
/// # Safety
/// An object of the library that nobody uses any more.
pub unsafe fn close(fid: *mut Fid) {
    // SAFETY: the caller's promise.
    if let Ok(close) = of_table!(unsafe { (*fid).ops }, close) {
        // SAFETY: as above.
        unsafe { close(fid) };
    }
}

/// Binds two objects.
///
/// # Safety
/// Two objects of one domain that live.
pub unsafe fn bind(fid: *mut Fid, to: *mut Fid, flags: u64) -> Result<(), Code> {
    // SAFETY: the caller's promise.
    let bind = of_table!(unsafe { (*fid).ops }, bind)?;
    // SAFETY: as above.
    answered(unsafe { bind(fid, to, flags) } as isize)
}

/// Runs a command of an object.
///
/// # Safety
/// The object lives, and `arg` is what the command wants.
pub unsafe fn control(fid: *mut Fid, command: c_int, arg: *mut c_void) -> Result<(), Code> {
    // SAFETY: the caller's promise.
    let control = of_table!(unsafe { (*fid).ops }, control)?;
    // SAFETY: as above.
    answered(unsafe { control(fid, command, arg) } as isize)
}

macro_rules! any_thread {
    ($($type:ty),*) => { $(
        // SAFETY: objects of a domain that is opened with FI_THREAD_SAFE.
        unsafe impl Send for $type {}
        // SAFETY: as above.
        unsafe impl Sync for $type {}
    )* };
}
pub(crate) use any_thread;
any_thread!(Info, Fabric, Domain, Av, Cq);

/// Descriptions of a provider's endpoint, a list that the library has made.
pub struct Info {
    pub list: *mut FiInfo,
    api: Arc<Api>,
}

impl Info {
    /// A description without contents, for hints.
    pub fn new(api: &Arc<Api>) -> Result<Info, Code> {
        // SAFETY: null asks for a new one.
        Info::owned(api, unsafe { (api.dupinfo)(core::ptr::null()) })
    }

    fn owned(api: &Arc<Api>, list: *mut FiInfo) -> Result<Info, Code> {
        if list.is_null() { Err(err::NOMEM) } else { Ok(Info { list, api: api.clone() }) }
    }

    /// Endpoints that match these hints, best first.
    pub fn matching(&self) -> Result<Info, Code> {
        let mut found = null_mut();
        // SAFETY: hints that the library has made, and a place.
        let code = unsafe {
            (self.api.getinfo)(
                crate::library::SPOKEN,
                core::ptr::null(),
                core::ptr::null(),
                0,
                self.list,
                &mut found,
            )
        };
        answered(code as isize)?;
        Info::owned(&self.api, found)
    }

    /// The descriptions of the list, each as one of its own.
    pub fn each(&self) -> Vec<Info> {
        let (mut all, mut at) = (Vec::new(), self.list);
        while !at.is_null() {
            // SAFETY: a member of the list, which the library copies without its followers.
            all.extend(Info::owned(&self.api, unsafe { (self.api.dupinfo)(at) }));
            // SAFETY: as above.
            at = unsafe { (*at).next };
        }
        all
    }

    /// The first description, with its parts.
    pub fn parts(&self) -> Parts<'_> {
        // SAFETY: the library makes all five parts with a description, and they live as long.
        unsafe {
            let info = &*self.list;
            Parts { info, tx: &*info.tx, rx: &*info.rx, ep: &*info.ep, domain: &*info.domain }
        }
    }

    /// Changes the first description and its parts.
    pub fn change(&mut self, change: impl FnOnce(&mut FiInfo, PartsMut<'_>)) {
        // SAFETY: as in `parts`; this is the only reference, and the parts lie apart from each other.
        unsafe {
            let info = &mut *self.list;
            let parts = PartsMut {
                tx: &mut *info.tx,
                rx: &mut *info.rx,
                ep: &mut *info.ep,
                domain: &mut *info.domain,
            };
            change(info, parts);
        }
    }

    /// Name of the provider, of the domain and of the fabric.
    pub fn names(&self) -> [String; 3] {
        let parts = self.parts();
        // SAFETY: as in `parts`; names are null or C strings of the description.
        unsafe {
            let fabric = &*parts.info.fabric;
            [fabric.prov_name, parts.domain.name, fabric.name].map(|name| text(name).unwrap_or_default())
        }
    }

    /// The address from which an endpoint would send.
    pub fn source(&self) -> &[u8] {
        let info = self.parts().info;
        match info.src_addr.is_null() {
            true => &[],
            // SAFETY: so many bytes of the description.
            false => unsafe { core::slice::from_raw_parts(info.src_addr.cast(), info.src_addrlen) },
        }
    }

    /// The description with contexts of scalable endpoints that peers can name. `None`: the provider has none.
    pub fn with_named_contexts(&self) -> Option<Info> {
        let domain = self.parts().domain;
        if domain.max_ep_tx_ctx.min(domain.max_ep_rx_ctx) < 2 {
            return None;
        }
        let mut hints = self.each().into_iter().next()?;
        hints.change(|info, parts| {
            info.caps |= NAMED_RX_CTX;
            parts.tx.caps |= NAMED_RX_CTX;
        });
        let names = self.names();
        let found = hints.matching().ok()?.each();
        found.into_iter().find(|one| one.names() == names && one.source() == self.source())
    }

    /// Most contexts of a scalable endpoint; 0: the description is not one of those.
    pub fn most_contexts(&self) -> usize {
        let parts = self.parts();
        if parts.info.caps & NAMED_RX_CTX == 0 {
            return 0;
        }
        parts.domain.max_ep_tx_ctx.min(parts.domain.max_ep_rx_ctx).min(MOST_CONTEXTS)
    }

    /// Bits that name one of them.
    fn context_bits(&self) -> u32 {
        self.most_contexts().next_power_of_two().trailing_zeros()
    }

    /// A copy of the first description, for a scalable endpoint of so many contexts.
    pub fn of_contexts(&self, count: usize) -> Option<Info> {
        let mut copy = self.each().into_iter().next()?;
        copy.change(|_, parts| (parts.ep.tx_ctx_cnt, parts.ep.rx_ctx_cnt) = (count, count));
        Some(copy)
    }

    /// Bits per second of the card, 0 where it does not say.
    pub fn speed(&self) -> u64 {
        let nic = self.parts().info.nic;
        // SAFETY: null, or parts of the description.
        unsafe {
            if nic.is_null() || (*nic).link.is_null() {
                return 0;
            }
            (*(*nic).link).speed as u64
        }
    }
}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: the library's list, which nobody else has.
        unsafe { (self.api.freeinfo)(self.list) }
    }
}

/// A description's parts.
pub struct Parts<'a> {
    pub info: &'a FiInfo,
    pub tx: &'a TxAttr,
    pub rx: &'a RxAttr,
    pub ep: &'a EpAttr,
    pub domain: &'a DomainAttr,
}

pub struct PartsMut<'a> {
    pub tx: &'a mut TxAttr,
    pub rx: &'a mut RxAttr,
    pub ep: &'a mut EpAttr,
    pub domain: &'a mut DomainAttr,
}

pub struct Fabric {
    object: *mut FabricObject,
    pub api: Arc<Api>,
}

impl Fabric {
    pub fn new(info: &Info) -> Result<Arc<Fabric>, Code> {
        let mut object = null_mut();
        // SAFETY: the description's own part, and a place.
        let code = unsafe { (info.api.fabric)(info.parts().info.fabric, &mut object, null_mut()) };
        answered(code as isize)?;
        Ok(Arc::new(Fabric { object, api: info.api.clone() }))
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        // SAFETY: domains on it have ended, since they keep it.
        unsafe { close(self.object.cast()) }
    }
}

/// A domain with its address vector, which all its endpoints share.
pub struct Domain {
    pub object: *mut DomainObject,
    pub fabric: Arc<Fabric>,
}

impl Domain {
    pub fn new(fabric: &Arc<Fabric>, info: &Info) -> Result<Arc<Domain>, Code> {
        // SAFETY: the fabric lives.
        let open = of_table!(unsafe { (*fabric.object).ops }, domain)?;
        let mut object = null_mut();
        // SAFETY: the fabric and a description of it live; a place.
        answered(unsafe { open(fabric.object, info.list, &mut object, null_mut()) } as isize)?;
        Ok(Arc::new(Domain { object, fabric: fabric.clone() }))
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // SAFETY: objects of it have ended, since they keep it.
        unsafe { close(self.object.cast()) }
    }
}

/// An address vector.
pub struct Av {
    pub object: *mut AvObject,
    /// Bits at the top of its numbers that name the context of a scalable endpoint.
    context_bits: u32,
    _domain: Arc<Domain>,
}

impl Av {
    /// Makes one of the kind that the description names.
    pub fn new(domain: &Arc<Domain>, info: &Info) -> Result<Arc<Av>, Code> {
        // SAFETY: the domain lives.
        let open = of_table!(unsafe { (*domain.object).ops }, av_open)?;
        let kind = if info.parts().domain.av_type == AV_MAP { AV_MAP } else { AV_TABLE };
        let context_bits = info.context_bits();
        let mut attr = AvAttr {
            kind,
            rx_ctx_bits: context_bits as c_int,
            count: 0,
            ep_per_node: 0,
            name: core::ptr::null(),
            map_addr: null_mut(),
            flags: 0,
        };
        let mut object = null_mut();
        // SAFETY: the domain lives; attributes and a place.
        answered(unsafe { open(domain.object, &mut attr, &mut object, null_mut()) } as isize)?;
        Ok(Arc::new(Av { object, context_bits, _domain: domain.clone() }))
    }

    /// The number under which endpoints know an address, which has the length of the provider's.
    pub fn insert(&self, address: &Address) -> Result<u64, Code> {
        // SAFETY: the vector lives.
        let insert = of_table!(unsafe { (*self.object).ops }, insert)?;
        let context = u64::from(address.context);
        if context >> self.context_bits != 0 {
            return Err(err::INVAL);
        }
        let mut number = ADDR_UNSPEC;
        // SAFETY: one address and one place.
        let code =
            unsafe { insert(self.object, address.bytes.as_ptr().cast(), 1, &mut number, 0, null_mut()) };
        match code {
            // As the library's fi_rx_addr puts them together.
            1 if number != ADDR_UNSPEC && context != 0 => Ok(number | context << (64 - self.context_bits)),
            1 if number != ADDR_UNSPEC => Ok(number),
            code if code < 0 => Err(-code),
            _ => Err(err::INVAL),
        }
    }

    /// Forgets a number.
    pub fn remove(&self, number: u64) {
        let mut number = number & (u64::MAX >> self.context_bits);
        // SAFETY: the vector lives.
        if let Ok(remove) = of_table!(unsafe { (*self.object).ops }, remove) {
            // SAFETY: one number of the vector's.
            unsafe { remove(self.object, &mut number, 1, 0) };
        }
    }
}

impl Drop for Av {
    fn drop(&mut self) {
        // SAFETY: endpoints that are bound to it have ended, since they keep it.
        unsafe { close(self.object.cast()) }
    }
}

/// A completion queue.
pub struct Cq {
    pub object: *mut CqObject,
    read: unsafe extern "C" fn(*mut CqObject, *mut c_void, usize) -> isize,
    /// A descriptor that wakes sleepers; `None`: the provider has none.
    pub fd: Option<RawFd>,
    pub domain: Arc<Domain>,
}

/// The result of reading a completion queue.
pub enum Found {
    /// So many entries.
    Entries(usize),
    /// An operation has failed; [`Cq::failure`] tells which.
    Failure,
    /// The queue is of no use any more.
    Broken(Code),
}

/// An operation that has failed.
pub struct Failure {
    pub context: *mut c_void,
    pub code: Code,
    pub text: String,
}

impl Cq {
    /// Makes one with a descriptor, or without where the provider has none or none is wanted.
    pub fn new(domain: &Arc<Domain>, size: usize, sleeps: bool) -> Result<Cq, Code> {
        let with = if sleeps { Cq::open(domain, size, WAIT_FD) } else { Err(err::NOSYS) };
        with.or_else(|_| Cq::open(domain, size, WAIT_NONE))
    }

    fn open(domain: &Arc<Domain>, size: usize, wait_obj: c_int) -> Result<Cq, Code> {
        // SAFETY: the domain lives.
        let open = of_table!(unsafe { (*domain.object).ops }, cq_open)?;
        let mut attr = CqAttr {
            size,
            flags: 0,
            format: CQ_FORMAT_MSG,
            wait_obj,
            signaling_vector: 0,
            wait_cond: 0,
            wait_set: null_mut(),
            beyond: [0; 4],
        };
        let mut object = null_mut();
        // SAFETY: the domain lives; attributes and a place.
        answered(unsafe { open(domain.object, &mut attr, &mut object, null_mut()) } as isize)?;
        // SAFETY: the queue lives.
        let read = of_table!(unsafe { (*object).ops }, read);
        let mut fd: c_int = -1;
        // SAFETY: the command fills in a descriptor.
        let asked =
            (wait_obj == WAIT_FD).then(|| unsafe { control(object.cast(), GETWAIT, (&raw mut fd).cast()) });
        let failed = match (read, asked) {
            (Err(code), _) | (_, Some(Err(code))) => Some(code),
            _ => None,
        };
        if let Some(code) = failed {
            // SAFETY: nobody has it.
            unsafe { close(object.cast()) };
            return Err(code);
        }
        let fd = (wait_obj == WAIT_FD && fd >= 0).then_some(fd);
        Ok(Cq { object, read: read?, fd, domain: domain.clone() })
    }

    /// Takes completions, and has the provider work.
    #[inline]
    pub fn read(&self, entries: &mut [CqEntry]) -> Found {
        // SAFETY: the queue lives, and has entries of this format; so many places.
        let count = unsafe { (self.read)(self.object, entries.as_mut_ptr().cast(), entries.len()) };
        match -count {
            n if n <= 0 => Found::Entries(count as usize),
            n if n == err::AGAIN as isize => Found::Entries(0),
            n if n == err::AVAIL as isize => Found::Failure,
            n => Found::Broken(n as Code),
        }
    }

    /// Has the provider work, and leaves the completions to who reads them. Any thread, beside those who read.
    pub fn work(&self) {
        // SAFETY: the queue lives; no place is needed for no entry.
        unsafe { (self.read)(self.object, null_mut(), 0) };
    }

    /// The operation whose failure the queue reports next. `None`: it is gone.
    pub fn failure(&self) -> Option<Failure> {
        // SAFETY: a structure of numbers and pointers, for which zero is a value.
        let mut entry: CqErrEntry = unsafe { core::mem::zeroed() };
        // SAFETY: the queue lives.
        let ops = unsafe { (*self.object).ops };
        let readerr = of_table!(ops, readerr).ok()?;
        // SAFETY: a place with room for what any version writes.
        let count = unsafe { readerr(self.object, &mut entry, 0) };
        if count != 1 {
            return None;
        }
        let mut words = [0; 128];
        let detail = of_table!(ops, strerror).ok().and_then(|strerror| {
            // SAFETY: numbers and data of the entry, and so many places; the answer is a C string that lives as long as they.
            unsafe {
                let said =
                    strerror(self.object, entry.prov_errno, entry.err_data, words.as_mut_ptr(), words.len());
                text(said)
            }
        });
        let general = self.domain.fabric.api.text(entry.err);
        let text = match detail.filter(|d| !d.is_empty() && *d != general) {
            Some(detail) => format!("{general} ({detail})"),
            None => general,
        };
        Some(Failure { context: entry.context, code: entry.err, text })
    }

    /// Whether one may sleep on the descriptor now.
    pub fn may_sleep(&self) -> bool {
        let fabric = self.domain.fabric.object;
        // SAFETY: the fabric lives.
        let Ok(trywait) = of_table!(unsafe { (*fabric).ops }, trywait) else { return false };
        let mut fids: [*mut Fid; 1] = [self.object.cast()];
        // SAFETY: one object of the fabric that lives.
        unsafe { trywait(fabric, fids.as_mut_ptr(), 1) == 0 }
    }
}

impl Drop for Cq {
    fn drop(&mut self) {
        // SAFETY: the endpoint that is bound to it has ended, since it keeps it.
        unsafe { close(self.object.cast()) }
    }
}
