//! Counters of objects and events since the process began: one array that anybody reads by name.
//!
//! Process-wide, as the device is. Locks counted are those that the mlx5 library would take, not those of this file's neighbours.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A counter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter { $($(#[$doc])* $name,)* }
        const NAMES: &[&str] = &[$($text,)*];
        static VALUES: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];
    };
}

counters! {
    /// Objects that exist.
    Contexts = "contexts",
    Pds = "pds",
    ParentDomains = "parent_domains",
    Mrs = "mrs",
    Qps = "qps",
    Cqs = "cqs",
    Srqs = "srqs",
    Tds = "tds",
    /// Pages of doorbell registers, and registers for data on them.
    UarPages = "uar_pages",
    Uuars = "uuars",
    /// Bytes of contexts, queue pairs and completion queues, as the paper counts them.
    Bytes = "bytes",
    /// Writes to doorbell registers; of these, those that carry the request.
    Doorbells = "doorbells",
    BlueFlames = "blue_flames",
    /// Of these, on a register of several pairs without a domain; on a page whose other register is in use.
    SharedDoorbells = "shared_doorbells",
    SharedPages = "shared_pages",
    /// Reads and writes of host memory that the device makes.
    WqeReads = "wqe_reads",
    PayloadReads = "payload_reads",
    CqeWrites = "cqe_writes",
    /// Locks taken by posting and polling.
    QpLocks = "qp_locks",
    UuarLocks = "uuar_locks",
    CqLocks = "cq_locks",
    /// Two threads at once where the user promised one.
    Violations = "violations",
    /// Another thread than the time before where the user promised one at a time.
    Handovers = "handovers",
    Packets = "packets",
    Dropped = "dropped",
    Retries = "retries",
    RnrNaks = "rnr_naks",
}

pub fn add(counter: Counter, n: u64) {
    VALUES[counter as usize].fetch_add(n, Ordering::Relaxed);
}
pub fn sub(counter: Counter, n: u64) {
    VALUES[counter as usize].fetch_sub(n, Ordering::Relaxed);
}
pub fn get(counter: Counter) -> u64 {
    VALUES[counter as usize].load(Ordering::Relaxed)
}
/// Devices of a process at most.
pub const DEVICES: usize = 8;
/// Bytes of requests that each device has carried: of sends and writes, and what reads have brought.
static CARRIED: [AtomicU64; DEVICES] = [const { AtomicU64::new(0) }; DEVICES];

pub fn carried(device: usize, bytes: u64) {
    CARRIED[device].fetch_add(bytes, Ordering::Relaxed);
}
/// `carried_` and the number of a device, or a counter above.
pub fn by_name(name: &str) -> Option<u64> {
    if let Some(device) = name.strip_prefix("carried_") {
        return CARRIED.get(device.parse::<usize>().ok()?).map(|n| n.load(Ordering::Relaxed));
    }
    NAMES.iter().position(|n| *n == name).map(|i| VALUES[i].load(Ordering::Relaxed))
}

/// Bytes of mlx5's objects (Scalable Communication Endpoints, table I).
pub mod bytes {
    pub const CONTEXT: u64 = 256 * 1024;
    pub const QP: u64 = 80 * 1024;
    pub const CQ: u64 = 9 * 1024;
}
