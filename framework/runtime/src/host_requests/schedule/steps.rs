//! Steps of a plan, and how far it is.

use super::memory::Memory;
use crate::objects::Communicator;
use crate::request::Header;
use core::ffi::c_void;
use core::ptr::null;
use oxmpi_coll::{ExtendFn, StepFn};
use oxmpi_datatype::TypeDesc;
use oxmpi_datatype::kernel::OpDesc;
use oxmpi_mca::sync::unmodelled::AtomicU64;
use oxmpi_mca::{MsgStatus, Status, WakingWord};
use oxmpi_waiting::Awaited;
use std::any::Any;
use std::sync::Arc;

/// Objects that a request holds until it is given up: types, the operation.
pub type Kept = Option<Box<dyn Any + Send>>;

/// Elements at a place.
#[derive(Clone, Copy)]
pub(crate) struct Data {
    pub(crate) at: *mut u8,
    pub(crate) count: u64,
    pub(crate) dtype: *const TypeDesc,
}

/// Whom a message goes to or comes from.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) rank: i32,
    /// In the local group of an inter-communicator.
    pub(crate) local: bool,
}

/// A step: work that is done at one time. Messages have slots, in which waiting finds them.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Send {
        peer: Peer,
        data: Data,
        slot: u32,
    },
    Recv {
        peer: Peer,
        data: Data,
        slot: u32,
        /// It has to fill its place.
        whole: bool,
    },
    /// For the messages in these slots.
    Wait {
        first: u32,
        end: u32,
    },
    /// For all messages that are under way, those of steps that were written meanwhile, too: the last step of what was recorded, with
    /// which the plan is over.
    WaitForRest,
    Pack {
        data: Data,
        from: u64,
        dst: *mut u8,
        len: u64,
    },
    Unpack {
        data: Data,
        from: u64,
        src: *const u8,
        len: u64,
    },
    Copy {
        data: Data,
        to: *mut u8,
    },
    /// `right[i] = left[i] op right[i]`.
    Reduce {
        left: *const u8,
        right: Data,
    },
    /// The component's own.
    Own {
        function: StepFn,
        ctx: *mut c_void,
    },
    /// Until the word has changed; while it has not, who sleeps for the transports sleeps on it, too.
    Word {
        awaited: Awaited,
    },
    /// Wakes those who sleep on a word that a step before changes.
    Wake {
        word: *const WakingWord,
    },
    /// Has the component write further steps, which are done next.
    Extend {
        function: ExtendFn,
        ctx: *mut c_void,
    },
    /// Behind steps that were written so: on to the step behind the one at `at`.
    Return {
        at: usize,
    },
}

/// How long the lists of a plan are that its component has recorded; what lies beyond was written by its steps.
#[derive(Clone, Copy, Default)]
pub(crate) struct Recorded {
    pub(crate) steps: usize,
    pub(crate) slots: u32,
    pub(crate) memory: usize,
}

/// A message under way; by default a slot without one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Message {
    /// `None`: there is none.
    pub(crate) req: Option<Header>,
    /// The status that it has to fill.
    pub(crate) whole: Option<Data>,
}

/// A message that did not fill its place. It is the operation's error, and goes on as it came: those behind wait for
/// one, and those that ask for the wrong length, too, hear of it.
pub(crate) struct LengthMismatch {
    pub(crate) place: Data,
    /// Packed; one byte more than there is room for where there was too much.
    pub(crate) bytes: Vec<u8>,
}

/// A plan and how far it is.
pub(crate) struct Core {
    pub(crate) comm: *const Communicator,
    pub(crate) tag: i32,
    pub(crate) steps: Vec<Step>,
    pub(crate) slots: u32,
    pub(crate) recorded: Recorded,
    pub(crate) op: Option<OpDesc>,
    pub(crate) memory: Memory,
    pub(crate) kept: Kept,
    /// The bytes that the status tells, for operations whose status does.
    pub(crate) bytes: Option<Arc<AtomicU64>>,
    pub(crate) at: usize,
    /// The step at `at`, the component's own or one for a word, has begun.
    pub(crate) begun: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) wrong: Vec<LengthMismatch>,
    pub(crate) error: Status,
    /// Data of the plan is missing: a receive failed, or work on data. The sends that follow say so in place of their messages.
    pub(crate) spoiled: bool,
    /// The first message that was longer than its place.
    pub(crate) truncated: Option<MsgStatus>,
}

impl Default for Core {
    fn default() -> Core {
        Core {
            comm: null(),
            tag: 0,
            steps: Vec::new(),
            slots: 0,
            recorded: Recorded::default(),
            op: None,
            memory: Memory::default(),
            kept: None,
            bytes: None,
            at: 0,
            begun: false,
            messages: Vec::new(),
            wrong: Vec::new(),
            error: Status::OK,
            spoiled: false,
            truncated: None,
        }
    }
}
