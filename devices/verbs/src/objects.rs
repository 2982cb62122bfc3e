//! The objects of the device and their fields: contexts, completion queues, queue pairs, and the device itself. They refer to each other, so they
//! stand together; what each does is in the file that is named for it.

use crate::channel::{Channel, Events};
use crate::config::Config;
use crate::links::{Links, Quiet};
use crate::lock::ModelLock;
use crate::memory::Memory;
use crate::packet::Packet;
use crate::requests::{Recv, RecvQueue, Wqe};
use crate::uar::{Uars, Uuar};
use oxmpi_verbs_abi::{CqEx, QpAttr, QpCap, Wc};
use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

/// An entry: what the program sees, and how far its send queue is free when it has seen it.
pub struct Entry {
    pub wc: Wc,
    pub frees: Option<(Arc<QpCore>, u64)>,
    pub solicited: bool,
}

/// State that the device and the handle share.
pub struct CqCore {
    pub number: u64,
    pub capacity: AtomicU32,
    pub entries: Mutex<VecDeque<Entry>>,
    /// 1: the next one is reported; 2: the next solicited one.
    pub armed: AtomicU32,
    pub channel: Option<Arc<Channel>>,
    pub lock: ModelLock,
    pub overrun: AtomicBool,
    pub full_at: u64,
    pub taken: AtomicU64,
}

#[repr(C)]
pub struct FakeCq {
    pub raw: CqEx,
    pub core: Arc<CqCore>,
    /// The entry that an extended poll is at.
    pub current: Mutex<Option<Wc>>,
    pub channel: Option<Arc<Channel>>,
    pub acked: AtomicU32,
    pub context: Arc<ContextCore>,
}

/// Of a queue pair, what the device and the handle share.
pub struct QpCore {
    pub num: u32,
    pub pd: u64,
    pub kind: u32,
    pub send_cq: Arc<CqCore>,
    pub recv_cq: Arc<CqCore>,
    pub recv: Arc<RecvQueue>,
    pub has_srq: bool,
    pub cap: QpCap,
    pub sig_all: bool,
    pub state: AtomicU32,
    pub attr: Mutex<QpAttr>,
    pub posted: AtomicU64,
    pub freed: AtomicU64,
    pub incoming: Mutex<VecDeque<Wqe>>,
    pub uuar: Uuar,
    pub lock: ModelLock,
    pub context: Arc<ContextCore>,
    /// Address of the handle, for events.
    pub handle: AtomicU64,
}

/// State that a context and its objects share.
pub struct ContextCore {
    pub nic: Arc<Nic>,
    /// Number of its device.
    pub device: usize,
    pub uars: Mutex<Uars>,
    pub events: Events,
    /// `MLX5_SHUT_UP_BF`.
    pub no_blue_flame: bool,
}

/// Queue pairs of the device, by number.
#[derive(Default)]
pub struct Pairs {
    pub all: HashMap<u32, Pair>,
    pub active: Vec<u32>,
    pub next: u32,
}

/// Data of the engine's holder.
pub struct Engine {
    pub pairs: Pairs,
    pub links: Links,
}

/// The device of a process (`nic.rs`).
pub struct Nic {
    pub config: Config,
    pub memory: Memory,
    pub engine: Mutex<Engine>,
    pub wake: OwnedFd,
    pub asleep: AtomicBool,
    /// The thread waits for a limited time only. Written and read with the engine held.
    pub timed: AtomicBool,
    pub polls: AtomicU64,
    pub rung: Mutex<Vec<u32>>,
    pub port_up: AtomicBool,
    /// It has gone down by order.
    pub has_gone_down: AtomicBool,
    /// Numbers of objects.
    pub numbers: AtomicU64,
    pub contexts: Mutex<Vec<Weak<ContextCore>>>,
    /// The process that made it: a child has none of it.
    pub process: u32,
}

/// Answers that the responder owes.
pub enum Reply {
    Packet(Packet),
    /// `again`: the request has been answered before, so its sender may have it, and the memory may be gone.
    Read {
        psn: u32,
        addr: u64,
        rkey: u32,
        len: u64,
        sent: u64,
        again: bool,
    },
}

/// A queue pair in the device (`rc/`).
pub struct Pair {
    pub core: Arc<QpCore>,
    pub is_active: bool,
    // --- requester ---
    pub queue: VecDeque<Wqe>,
    /// The request that is being sent, and how far.
    pub current: usize,
    pub offset: u64,
    pub next_psn: u32,
    pub retries: u8,
    pub rnr_retries: u8,
    pub rnr_until: Option<Instant>,
    pub quiet: Option<Quiet>,
    // --- responder ---
    pub expected: u32,
    pub expected_offset: u64,
    pub receiving: Option<Recv>,
    /// Has said where to go on; what does not fit is dropped until then.
    pub told: bool,
    pub replies: VecDeque<Reply>,
    pub atomics: VecDeque<(u32, u64)>,
}
