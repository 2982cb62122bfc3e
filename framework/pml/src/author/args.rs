//! Arguments of verbs as authors see them: their pointers are vouched for by the host.

use crate::polling::Polling;
use crate::simple::Links;
use crate::table::{CommDesc, RecvArgs, SendArgs, Transports};
use core::ops::Deref;
use oxmpi_btl::{BtlAttrs, PlaceBy, cap};
use oxmpi_datatype::TypeDesc;
use oxmpi_mca::{RecvDesc, SliceRef};

/// Arguments of a send. The fields are reached by deref; the buffer stays until the operation is complete.
#[derive(Clone, Copy)]
pub struct Outgoing<'a>(&'a SendArgs);

impl<'a> Outgoing<'a> {
    /// Vouches for arguments.
    ///
    /// # Safety
    /// The pointers are valid as [`SendArgs`] says: communicator, type and thread for `'a`, the buffer until the operation is complete.
    #[inline(always)]
    pub unsafe fn new(args: &'a SendArgs) -> Outgoing<'a> {
        Outgoing(args)
    }

    /// The type of an element.
    #[inline(always)]
    pub fn dtype(self) -> &'a TypeDesc {
        // SAFETY: vouched for.
        unsafe { &*self.0.dtype }
    }

    /// Bytes of the packed message. `None`: more than a number can say.
    #[inline(always)]
    pub fn packed(self) -> Option<u64> {
        self.dtype().packed.checked_mul(self.0.count)
    }

    /// Packs as many bytes as `to` has, or as there are, from byte `from` of the packed message on; returns how many.
    pub fn pack(self, from: u64, to: &mut [u8]) -> u64 {
        let len = to.len() as u64;
        // SAFETY: the buffer is vouched for, and during the verb it is there.
        unsafe { oxmpi_datatype::pack(self.dtype(), self.0.count, self.0.buf, from, to.as_mut_ptr(), len) }
    }
}

impl Deref for Outgoing<'_> {
    type Target = SendArgs;
    #[inline(always)]
    fn deref(&self) -> &SendArgs {
        self.0
    }
}

/// Arguments of a receive, or of a probe, which has no buffer.
#[derive(Clone, Copy)]
pub struct Incoming<'a>(&'a RecvArgs);

impl<'a> Incoming<'a> {
    /// Vouches for arguments.
    ///
    /// # Safety
    /// The pointers are valid as [`RecvArgs`] says: communicator, type and thread for `'a`, and, but for a probe, the buffer until the operation is
    /// complete, writable and nobody else's.
    #[inline(always)]
    pub unsafe fn new(args: &'a RecvArgs) -> Incoming<'a> {
        Incoming(args)
    }

    /// The type of an element. Not of a probe.
    #[inline(always)]
    pub fn dtype(self) -> &'a TypeDesc {
        // SAFETY: vouched for.
        unsafe { &*self.0.dtype }
    }
}

impl Deref for Incoming<'_> {
    type Target = RecvArgs;
    #[inline(always)]
    fn deref(&self) -> &RecvArgs {
        self.0
    }
}

/// A message of the layer's own as it came in.
#[derive(Clone, Copy)]
pub struct Arrived<'a> {
    message: &'a RecvDesc,
    /// Number of its bytes that are here.
    len: u64,
}

impl<'a> Arrived<'a> {
    /// Vouches for a message of which so many bytes are here.
    ///
    /// # Safety
    /// They are readable for `'a`, and nobody writes them meanwhile. Of none the address may be any.
    #[inline(always)]
    pub unsafe fn new(message: &'a RecvDesc, len: u64) -> Arrived<'a> {
        Arrived { message, len }
    }

    /// Index of the process it came from.
    #[inline(always)]
    pub fn proc(self) -> u32 {
        self.message.proc
    }

    /// The name of a message that was [claimed](super::Pml::claim), where its place is asked for or its payload lies there; 0: it was not.
    pub fn name(self) -> u64 {
        self.message.link
    }

    /// Header and payload.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        match self.len {
            0 => &[],
            // SAFETY: vouched for.
            len => unsafe { core::slice::from_raw_parts(self.message.data, len as usize) },
        }
    }

    /// A header of that length, and what comes behind it. `None`: the message is shorter.
    #[inline(always)]
    pub fn split<const N: usize>(self) -> Option<(&'a [u8; N], &'a [u8])> {
        if self.len < N as u64 {
            return None;
        }
        self.bytes().split_first_chunk()
    }
}

/// A communicator that is to be made. The fields are reached by deref.
#[derive(Clone, Copy)]
pub struct Described<'a>(&'a CommDesc);

impl<'a> Described<'a> {
    /// Vouches for a description.
    ///
    /// # Safety
    /// The pointers are valid as [`CommDesc`] says: both lists have `num_peers` entries, until `del_comm`.
    pub unsafe fn new(desc: &'a CommDesc) -> Described<'a> {
        Described(desc)
    }

    /// The process of each rank that sends may name.
    pub fn procs(self) -> &'a [u32] {
        // SAFETY: vouched for, and so many.
        unsafe { SliceRef { ptr: self.0.procs, len: self.0.num_peers as usize }.get() }
    }

    /// Their endpoints within these processes; empty: all 0.
    pub fn endpoints(self) -> &'a [u16] {
        let len = if self.0.endpoints.is_null() { 0 } else { self.0.num_peers as usize };
        // SAFETY: vouched for, and so many where there are any.
        unsafe { SliceRef { ptr: self.0.endpoints, len }.get() }
    }
}

impl Deref for Described<'_> {
    type Target = CommDesc;
    fn deref(&self) -> &CommDesc {
        self.0
    }
}

/// The transports that `enable` gives. The fields are reached by deref.
#[derive(Clone, Copy)]
pub struct Given<'a>(&'a Transports);

impl<'a> Given<'a> {
    /// Vouches for transports.
    ///
    /// # Safety
    /// The pointers are valid as [`Transports`] says, for as long as the instance.
    pub unsafe fn new(transports: &'a Transports) -> Given<'a> {
        Given(transports)
    }

    /// The ways to processes.
    pub fn links(self) -> Links {
        // SAFETY: vouched for.
        unsafe { Links::of(self.0) }
    }

    /// True if one of them may deliver a message in parts while it comes.
    pub fn deliver_parts(self) -> bool {
        // SAFETY: vouched for.
        let btls = unsafe { self.0.btls.get() };
        btls.iter().any(|btl| {
            // SAFETY: as above, for as long as the instance.
            let btl = unsafe { &**btl };
            btl.attrs().flags & BtlAttrs::PARTIAL_DELIVERY != 0
        })
    }

    /// Hands the layer's functions for placing to the transports that place; one that has somebody for the tag stays as it is.
    ///
    /// # Safety
    /// They may be called with their context until the transports have ended.
    pub(super) unsafe fn place_by(self, by: &PlaceBy) {
        // SAFETY: vouched for, as long as the instance.
        for btl in unsafe { self.0.btls.get() } {
            // SAFETY: as above, for as long as the instance.
            let btl = unsafe { &**btl };
            if btl.can(cap::PLACES) {
                // SAFETY: the caller's promise. Without it messages are delivered as ever.
                let _ = unsafe { (btl.place_by)(btl.state, by) };
            }
        }
    }

    /// The polling of transports.
    pub fn polling(self) -> &'static Polling {
        // SAFETY: vouched for, as long as the instance.
        unsafe { &*self.0.polling }
    }
}

impl Deref for Given<'_> {
    type Target = Transports;
    fn deref(&self) -> &Transports {
        self.0
    }
}
