//! Limits of a node, counted over its processes in a table of shared memory.
//!
//! The first process of a node makes the table, listens at an abstract name and hands it to those who come later. They keep the connection:
//! where it ends, one of them listens in its place with the same table. So nothing has a name that could be left behind. A slot
//! belongs to a process by its number; slots of processes that are gone are swept when a limit is met. The lock word holds the
//! number of the process that has it and is taken from one that is gone.

use crate::config::config;
use crate::sys::{self, SharedMemory};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Resources that are counted.
#[derive(Clone, Copy)]
pub enum Resource {
    Fma,
    Queues,
    Memory,
    Pages,
}

const KINDS: usize = 4;
const SLOTS: usize = 256;

#[repr(C)]
struct Slot {
    pid: AtomicU32,
    used: [AtomicU64; KINDS],
}

#[repr(C)]
struct NodeTable {
    lock: AtomicU32,
    slots: [Slot; SLOTS],
}

/// How this process came by the table.
enum Seat {
    /// With the connections of those who follow, which end with this process.
    Listens(OwnedFd, Vec<OwnedFd>),
    /// Connected to who listens.
    Follows(OwnedFd),
}

struct Node {
    memory: SharedMemory,
    /// Descriptor of the table, for later processes.
    fd: OwnedFd,
    slot: usize,
    seat: Mutex<Seat>,
}

static NODE: OnceLock<Node> = OnceLock::new();

fn name() -> String {
    let c = config();
    format!("oxmpi-ugni-{}-{}-node-{}", sys::user(), c.fabric, c.node)
}

/// Joins the node's table; done once, by the first domain. The engine serves it from then on.
pub fn join() -> io::Result<()> {
    if NODE.get().is_some() {
        return Ok(());
    }
    let (memory, fd, seat) = find_table()?;
    let node = Node { memory, fd, slot: 0, seat: Mutex::new(seat) };
    let slot = {
        let _held = Held::take(node.table());
        node.table().sweep();
        let free = node.table().slots.iter().position(|s| s.pid.load(Ordering::Relaxed) == 0);
        let slot = free.ok_or(io::Error::other("the node has too many processes"))?;
        node.table().slots[slot].pid.store(std::process::id(), Ordering::Relaxed);
        slot
    };
    let _ = NODE.set(Node { slot, ..node });
    Ok(())
}

fn find_table() -> io::Result<(SharedMemory, OwnedFd, Seat)> {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        match sys::connect(&name()) {
            Ok(socket) => {
                if let Some(fd) = take_table(&socket) {
                    return Ok((SharedMemory::of(&fd, size_of::<NodeTable>())?, fd, Seat::Follows(socket)));
                }
            }
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => match sys::listen(&name()) {
                Ok(listener) => {
                    let (memory, fd) = SharedMemory::make(size_of::<NodeTable>())?;
                    return Ok((memory, fd, Seat::Listens(listener, Vec::new())));
                }
                // Another was faster.
                Err(e) if e.kind() == io::ErrorKind::AddrInUse => {}
                Err(e) => return Err(e),
            },
            // The holder has many callers, and no core to answer them.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            Err(e) => return Err(e),
        }
        if Instant::now() > end {
            return Err(io::Error::other(
                "nobody handed over the node's table, and it could not be made, for ten seconds",
            ));
        }
    }
}

/// The table's descriptor from its holder, which may be stopped or have no core for as long as it likes. `None`: it has ended.
fn take_table(holder: &OwnedFd) -> Option<OwnedFd> {
    loop {
        sys::wait(&[holder.as_raw_fd()], None);
        match sys::recv(holder, &mut [0; 8]) {
            // A signal ended the wait.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            answer => return answer.ok()?.1,
        }
    }
}

impl Node {
    fn table(&self) -> &NodeTable {
        // SAFETY: the mapping has a table's size and consists of atomics.
        unsafe { &*self.memory.base().cast::<NodeTable>() }
    }
}

impl NodeTable {
    /// Empties the slots of processes that are gone. Under the lock.
    fn sweep(&self) {
        for slot in &self.slots {
            let pid = slot.pid.load(Ordering::Relaxed);
            if pid != 0 && !sys::is_alive(pid) {
                slot.used.iter().for_each(|u| u.store(0, Ordering::Relaxed));
                slot.pid.store(0, Ordering::Relaxed);
            }
        }
    }

    fn sum(&self, kind: Resource) -> u64 {
        self.slots.iter().map(|s| s.used[kind as usize].load(Ordering::Relaxed)).sum()
    }
}

/// The table's lock while this lives.
struct Held<'a>(&'a AtomicU32);

impl Held<'_> {
    fn take(table: &NodeTable) -> Held<'_> {
        let own = std::process::id();
        loop {
            match table.lock.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Held(&table.lock),
                Err(holder) if holder != own && !sys::is_alive(holder) => {
                    let _ = table.lock.compare_exchange(holder, 0, Ordering::Relaxed, Ordering::Relaxed);
                }
                Err(_) => std::thread::yield_now(),
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Takes `n` of a node's resource. False: that would be over the limit.
pub fn take(kind: Resource, n: u64, limit: u64) -> bool {
    let Some(node) = NODE.get() else { return true };
    let table = node.table();
    let _held = Held::take(table);
    if table.sum(kind) + n > limit {
        table.sweep();
        if table.sum(kind) + n > limit {
            return false;
        }
    }
    table.slots[node.slot].used[kind as usize].fetch_add(n, Ordering::Relaxed);
    true
}

/// Gives back what [`take`] took.
pub fn give(kind: Resource, n: u64) {
    if let Some(node) = NODE.get() {
        let used = &node.table().slots[node.slot].used[kind as usize];
        // Resources taken before the node was joined were not counted.
        let _ = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |u| Some(u.saturating_sub(n)));
    }
}

/// How much of a resource the node's processes have.
pub fn used(kind: Resource) -> u64 {
    NODE.get().map_or(0, |n| n.table().sum(kind))
}

/// The descriptor that the engine watches for the table's sake.
pub fn descriptor() -> Option<RawFd> {
    NODE.get().map(|n| match &*n.seat.lock().unwrap_or_else(|e| e.into_inner()) {
        Seat::Listens(fd, _) | Seat::Follows(fd) => fd.as_raw_fd(),
    })
}

/// Hands the table to who asks, or takes the place of who is gone. The engine calls it whenever it looks around.
pub fn serve() {
    let Some(node) = NODE.get() else { return };
    let mut seat = node.seat.lock().unwrap_or_else(|e| e.into_inner());
    match &mut *seat {
        Seat::Listens(listener, followers) => {
            while let Ok(socket) = sys::accept(listener) {
                if sys::send(&socket, [b"table", b""], Some(&node.fd)).is_ok() {
                    followers.push(socket);
                }
            }
        }
        Seat::Follows(socket) => {
            let gone = match sys::recv(socket, &mut [0; 8]) {
                Ok((0, _)) => true,
                Ok(_) => false,
                Err(e) => e.kind() != io::ErrorKind::WouldBlock,
            };
            if gone {
                if let Ok(listener) = sys::listen(&name()) {
                    *seat = Seat::Listens(listener, Vec::new());
                } else if let Ok(socket) = sys::connect(&name()) {
                    *seat = Seat::Follows(socket);
                }
            }
        }
    }
}
