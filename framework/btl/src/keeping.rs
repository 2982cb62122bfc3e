//! Messages whose payload the sender keeps where it lies until the transport needs it no more.

use crate::table::{Done, SendDesc};
use core::ffi::c_void;

/// A message to send whose payload lies in memory that stays: see [`BtlTable::send_kept`](crate::BtlTable::send_kept). The descriptor and the header are read during the call only; the payload
/// until completion, behind a PENDING.
#[repr(C)]
pub struct KeptDesc {
    /// The message. Its payload lies at `payload`; there is no `pack`, and no [`MAY_WAIT`](crate::MAY_WAIT).
    pub message: SendDesc,
    /// The function that is told the end of a message that answered PENDING, as of a one-sided verb: OK, the payload is not read any more, and the message is visible to
    /// its receiver; a failure, the process is lost, and the payload is not read any more either. Not `None`.
    pub done: Option<Done>,
    /// First argument of `done`.
    pub done_ctx: *mut c_void,
}

const _: () = assert!(core::mem::size_of::<KeptDesc>() == 64);
