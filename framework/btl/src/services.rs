//! Services of the host around transports: which reach a process, and registered memory.

use crate::table::{BtlHandle, Endpoint, RegHandle};
use core::ffi::c_void;
use oxmpi_mca::{SliceRef, Status};

/// A transport that reaches a process, with the endpoint that the host has made. Valid as long as the instance.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reach {
    /// The transport's table; valid as long as the instance.
    pub btl: *const BtlHandle,
    /// The process as the transport's verbs take it; never null, and valid until the instance ends.
    pub endpoint: *mut Endpoint,
    /// Contexts that the two processes may use between them: the least of both sides' CRIs and both sides' contexts of this
    /// transport, at least 1. The other process has the same number.
    pub width: u32,
    /// 0 from the host.
    pub reserved: u32,
}

impl Reach {
    /// The transport.
    #[inline(always)]
    pub fn btl(&self) -> &'static BtlHandle {
        // SAFETY: valid as long as the instance, which outlives the components that see it.
        unsafe { &*self.btl }
    }
}

// SAFETY: handles and endpoints may be used from any thread under the serialisation of the contract.
unsafe impl Send for Reach {}
// SAFETY: as above.
unsafe impl Sync for Reach {}

/// Memory registered by the host's registration service.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Registration {
    /// For the verbs of the module it was registered with, and for peers; null where that needs none.
    pub handle: *const RegHandle,
    /// Bytes of the handle, `BtlAttrs::registration_handle_size`; 0 where `handle` is null.
    pub handle_size: u64,
    /// The registration: it covers all that was asked for, and perhaps more.
    pub base: *mut u8,
    /// Bytes of the registration, from `base` on.
    pub len: u64,
}

/// `RecvDesc::ctx` of a request on a service link.
pub const SERVICE_CTX: u32 = u32::MAX;

/// In `ListEntry::op`, with [`cap::ASK`](crate::cap::ASK): the data is for whoever listens at the registration ([`BtlServices::listen`]), whose
/// answer has as many bytes as `compare` says; `remote` is 0. A list ends at the first entry that is refused, with the listener's status: those before it have
/// been carried out. NOT_AVAILABLE: not now, ask again.
pub const LIST_ASK: u32 = 65;

/// A question of a peer's for a [`Listener`].
#[repr(C)]
pub struct AskDesc {
    /// The bytes that the peer sent, which nobody has looked at; readable during the call.
    pub data: *const u8,
    /// How many.
    pub len: u64,
    /// Room for the answer, which is filled with zeros.
    pub answer: *mut u8,
    /// Bytes of the answer.
    pub answer_len: u64,
}

/// Carries out what a peer asks ([`LIST_ASK`]) with memory of this process, under the service lock, in whichever thread serves. It loads and stores, neither
/// waits nor calls the host, and has believed nothing of what it was sent. OK: the answer is there, and what was done is visible to all processors
/// behind the call. NOT_AVAILABLE: not now; any other failure: never. Then nothing has been done.
pub type Listener = unsafe extern "C" fn(ctx: *mut c_void, ask: *const AskDesc) -> Status;

/// The host's services around transports, for PML and OSC. Any thread, holding nothing unless it says so.
#[repr(C)]
pub struct BtlServices {
    /// Bytes of this table as the host was built with it.
    pub size: u32,
    /// 0 from the host.
    pub reserved: u32,
    /// First argument of every function below.
    pub instance: *mut c_void,
    /// The transports that reach a process, best first, in the order in which the other process has them, too, whatever
    /// parameters each has. The first one carries headers, in both directions. Endpoints are made by the
    /// first call for the process and are the host's; later calls answer from a table. UNREACHABLE: none. BAD_PARAM: there is no such process. May be called with
    /// a CRI held.
    pub reach: extern "C" fn(*mut c_void, proc: u32, out: *mut SliceRef<Reach>) -> Status,
    /// Registers memory with a module, or finds it registered. NO_RESOURCE: the module's limit is reached; other failures are those of
    /// [`BtlTable::register_mem`](crate::BtlTable::register_mem). May be
    /// called with a CRI held. Every OK is undone by one `deregister`.
    pub register: extern "C" fn(
        *mut c_void,
        *const BtlHandle,
        addr: *mut u8,
        len: u64,
        access: u32,
        out: *mut *const Registration,
    ) -> Status,
    /// Peers do not write to the memory any more when this returns, and read it only while others have the same
    /// registration acquired. Undoes `acquire` as well. A failure is the module's, and the registration is gone in any case. May be called with a
    /// CRI held.
    pub deregister: extern "C" fn(*mut c_void, *const BtlHandle, *const Registration) -> Status,
    /// As `register`, for memory that may stay registered behind its use: the host may keep it, and gives it again to
    /// whoever asks for the same memory with the same access. A registration with REMOTE_WRITE or REMOTE_ATOMIC has one user at a
    /// time. The memory stays mapped until the registration is given back, by `release` or by `deregister`.
    pub acquire: extern "C" fn(
        *mut c_void,
        *const BtlHandle,
        addr: *mut u8,
        len: u64,
        access: u32,
        out: *mut *const Registration,
    ) -> Status,
    /// Undoes `acquire` where no access of a peer's can be under way any more: peers that keep the handle may reach the memory
    /// behind this. Undoes `register` as `deregister` does, and fails as that. May be called with a CRI held.
    pub release: extern "C" fn(*mut c_void, *const BtlHandle, *const Registration) -> Status,
    /// Has a function carry out what peers ask at a registration ([`LIST_ASK`]), until that is given back: it is not called behind
    /// that, and `ctx` stays until then. Once for each registration. NOT_SUPPORTED: the module has not [`cap::ASK`](crate::cap::ASK).
    pub listen: unsafe extern "C" fn(
        *mut c_void,
        *const BtlHandle,
        *const Registration,
        listener: Listener,
        ctx: *mut c_void,
    ) -> Status,
}

impl BtlServices {
    /// True where the host is new enough for `acquire` and `release` (contract 2.1).
    #[inline]
    pub fn keeps(&self) -> bool {
        self.size as usize >= core::mem::offset_of!(BtlServices, listen)
    }
    /// True where the host is new enough for `listen`.
    #[inline]
    pub fn listens(&self) -> bool {
        self.size as usize >= core::mem::size_of::<BtlServices>()
    }
}

const _: () = {
    assert!(core::mem::size_of::<Reach>() == 24);
    assert!(core::mem::size_of::<Registration>() == 32);
    assert!(core::mem::size_of::<BtlServices>() == 64);
    assert!(core::mem::size_of::<AskDesc>() == 32);
};
