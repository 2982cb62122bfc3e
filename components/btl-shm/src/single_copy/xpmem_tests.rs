//! The whole path over a stand-in for the kernel module: what a process "has" is a file that both map.

#[path = "../../tests/common/mod.rs"]
mod common;

use crate::single_copy::mapper::Device;
use crate::single_copy::xpmem::{Attachments, MOST, PAGE, UNIT};
use crate::sys;
use common::{Node, PeerEndpoint, Rank};
use oxmpi_btl::{Piece, ProcInfo, RmaVectorDesc};
use oxmpi_mca::{SharedSegment, SliceRef, Status};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

thread_local! {
    /// The process of the next rank that this thread opens, if another is to be pretended.
    static OWN_PID: Cell<Option<u32>> = const { Cell::new(None) };
    /// Its device.
    static STAND_IN: Cell<Option<Box<dyn Device>>> = const { Cell::new(None) };
    /// The others' steps while the first rank attaches memory.
    static MEANWHILE: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
}

pub fn own_pid() -> u32 {
    OWN_PID.take().unwrap_or_else(sys::pid)
}

/// A stand-in, where a test has put one.
pub fn open_xpmem() -> Result<Box<dyn Device>, Errno> {
    STAND_IN.take().map_or_else(|| Ok(Box::new(sys::Xpmem::open()?) as Box<dyn Device>), Ok)
}

/// The memory of a process, and what was done with it.
struct Memory {
    file: OwnedFd,
    /// The memory and what lies around it.
    room: *mut u8,
    base: *mut u8,
    len: usize,
    grants: AtomicUsize,
    attached: AtomicUsize,
    attachments: AtomicUsize,
    refuses: AtomicBool,
}

// SAFETY: a mapping belongs to the process, so any thread may use it and unmap it.
unsafe impl Send for Memory {}
// SAFETY: its counters are atomic, and these tests touch what is mapped from one thread each.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(len: usize) -> Arc<Memory> {
        let file = memfd_create("memory", MemfdFlags::CLOEXEC).expect("memfd");
        ftruncate(&file, len as u64).expect("size");
        let (access, null) = (ProtFlags::READ | ProtFlags::WRITE, core::ptr::null_mut());
        let reserved = len + UNIT_BYTES;
        // SAFETY: a new mapping, and in it another, at a multiple of a range's length: how many ranges something needs
        // does not depend on where the kernel puts it.
        let (room, base) = unsafe {
            let room = mmap_anonymous(null, reserved, ProtFlags::empty(), MapFlags::PRIVATE).expect("room");
            let at = room.byte_add(room.align_offset(UNIT_BYTES));
            (room, mmap(at, len, access, MapFlags::SHARED | MapFlags::FIXED, &file, 0).expect("map").cast())
        };
        let (grants, attached, attachments) = Default::default();
        let refuses = AtomicBool::new(false);
        Arc::new(Memory { file, room: room.cast(), base, len, grants, attached, attachments, refuses })
    }
    #[expect(clippy::mut_from_ref, reason = "shared memory is; each test has one thread")]
    fn bytes(&self) -> &mut [u8] {
        // SAFETY: mapped as long as this is; one thread.
        unsafe { core::slice::from_raw_parts_mut(self.base, self.len) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: made by `new`.
        unsafe { munmap(self.room.cast(), self.len + UNIT_BYTES) }.expect("unmap");
    }
}

/// Memory of rank `segment - 1`.
struct StandIn {
    own: i64,
    memories: Vec<Arc<Memory>>,
}

impl StandIn {
    fn memory(&self, number: i64) -> Result<&Memory, Errno> {
        let memory = &self.memories[number as usize - 1];
        if memory.refuses.load(Ordering::Relaxed) { Err(Errno::NOMEM) } else { Ok(memory) }
    }
    /// Memory of the other of two ranks.
    fn others(&self) -> &Memory {
        &self.memories[2 - self.own as usize]
    }
}

impl Device for StandIn {
    fn make(&self) -> Result<i64, Errno> {
        Ok(self.own)
    }
    fn get(&self, segment: i64) -> Result<i64, Errno> {
        self.memory(segment)?.grants.fetch_add(1, Ordering::Relaxed);
        Ok(segment)
    }
    fn attach(&self, grant: i64, from: u64, len: u64) -> Result<*mut u8, Errno> {
        assert!(from.is_multiple_of(PAGE) && len.is_multiple_of(PAGE));
        let memory = self.memory(grant)?;
        if self.own == 1
            && let Some(meanwhile) = MEANWHILE.take()
        {
            meanwhile();
        }
        memory.attached.fetch_add(1, Ordering::Relaxed);
        memory.attachments.fetch_add(1, Ordering::Relaxed);
        let (start, end) = (memory.base as u64, memory.base as u64 + memory.len as u64);
        let (first, last) = (from.max(start), (from + len).min(end));
        // SAFETY: a range of our own, and over a part of it the file.
        unsafe {
            let range =
                mmap_anonymous(core::ptr::null_mut(), len as usize, ProtFlags::empty(), MapFlags::PRIVATE)?;
            if first < last {
                let (access, flags) =
                    (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
                let at = range.byte_add((first - from) as usize);
                mmap(at, (last - first) as usize, access, flags, &memory.file, first - start)?;
            }
            Ok(range.cast())
        }
    }
    unsafe fn detach(&self, at: *mut u8, len: u64) {
        self.others().attachments.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: what `attach` made.
        unsafe { munmap(at.cast(), len as usize) }.expect("unmap");
    }
    fn release(&self, grant: i64) {
        self.memories[grant as usize - 1].grants.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Two ranks, of which the second has `len` bytes of memory, and a process (a thread of this one) that CMA finds.
struct Pair {
    near: Rank,
    far: Rc<Rank>,
    /// The first one's, 1 MiB.
    own: Arc<Memory>,
    memory: Arc<Memory>,
    _node: Node,
    _alive: mpsc::Sender<()>,
}

impl Pair {
    fn new(len: usize, options: &[(&str, &str)]) -> Pair {
        let memories = vec![Memory::new(1 << 20), Memory::new(len)];
        let (own, memory) = (memories[0].clone(), memories[1].clone());
        let (alive, ended) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).expect("told");
            let _ = ended.recv();
        });
        let node = Node::new(2);
        STAND_IN.set(Some(Box::new(StandIn { own: 1, memories: memories.clone() })));
        let near = node.open(0, options);
        STAND_IN.set(Some(Box::new(StandIn { own: 2, memories })));
        OWN_PID.set(Some(told.recv().expect("a thread")));
        let far = Rc::new(node.open(1, options));
        Pair { near, far, own, memory, _node: node, _alive: alive }
    }
    fn peer(&self) -> PeerEndpoint {
        self.near.to(1)
    }
    fn address(&self, offset: usize) -> u64 {
        self.memory.base as u64 + offset as u64
    }
    fn attached(&self) -> usize {
        self.memory.attached.load(Ordering::Relaxed)
    }

    /// The first rank reads all that the second has into its own memory, and the second, while the first has begun with
    /// its share and has copied nothing, is asked for help and does it; `helped` is called then.
    fn read_with_help(&self, helped: impl FnOnce(&[u8]) + 'static) {
        self.read_with_help_of(self.peer(), helped);
    }

    /// The same by an endpoint to the second.
    fn read_with_help_of(&self, peer: PeerEndpoint, helped: impl FnOnce(&[u8]) + 'static) {
        let expected = pattern(self.memory.len);
        self.memory.bytes().copy_from_slice(&expected);
        let (far, own, len) = (self.far.clone(), self.own.clone(), expected.len());
        MEANWHILE.set(Some(Box::new(move || {
            assert!(own.bytes()[..len].iter().all(|&b| b == 0), "nobody has copied yet");
            assert!(far.progress() > 0, "a call for help");
            helped(&own.bytes()[..len]);
        })));
        let here = &mut self.own.bytes()[..len];
        assert_eq!(self.near.rma(false, peer, here, self.address(0)), Status::OK);
        assert!(MEANWHILE.take().is_none(), "the helper came");
        assert!(here == expected);
        here.fill(0);
    }
}

/// The part that a helper leaves to do: the reader's share is the first half.
fn second_half_came(here: &[u8]) {
    let half = here.len() / 2;
    assert!(here[half..] == pattern(here.len())[half..]);
    assert!(here[..half].iter().all(|&b| b == 0), "the reader's share is its own");
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 256) as u8).collect()
}

const UNIT_BYTES: usize = UNIT as usize;

#[test]
fn copies_go_through_one_attachment() {
    let pair = Pair::new(2 * UNIT_BYTES, &[]);
    let expected = pattern(2 * UNIT_BYTES);
    pair.memory.bytes().copy_from_slice(&expected);
    let peer = pair.peer();
    // Short, and long enough to be shared with a helper, which does not come.
    for (at, len) in [(0, 1), (5000, 10_000), (70_001, 64 << 10), (100, 1 << 20)] {
        let mut copy = vec![0; len];
        assert_eq!(pair.near.rma(false, peer, &mut copy, pair.address(at)), Status::OK);
        assert!(copy == expected[at..at + len], "{len} bytes at {at}");
    }
    assert_eq!(pair.attached(), 1);
    let mut written = vec![7; 3000];
    assert_eq!(pair.near.rma(true, peer, &mut written, pair.address(99)), Status::OK);
    assert!(pair.memory.bytes()[99..3099].iter().all(|&b| b == 7));
    assert_eq!(pair.memory.bytes()[98..3100][3001], expected[3099]);
    assert_eq!(pair.memory.grants.load(Ordering::Relaxed), 1);
    assert!(pair.near.reports().help.is_empty());
    let memory = pair.memory.clone();
    drop(pair);
    let left = (memory.attachments.load(Ordering::Relaxed), memory.grants.load(Ordering::Relaxed));
    assert_eq!(left, (0, 0), "everything is given back");
}

#[test]
fn a_helper_writes_through_an_attachment_of_its_own() {
    let pair = Pair::new(512 << 10, &[]);
    pair.read_with_help(second_half_came);
    let count = |memory: &Memory| memory.attached.load(Ordering::Relaxed);
    assert!(count(&pair.own) > 0 && count(&pair.memory) > 0);
    assert!(pair.near.reports().help.is_empty() && pair.far.reports().help.is_empty());
    assert_eq!(pair.own.grants.load(Ordering::Relaxed), 1, "asked for once");
}

/// Both sides work on a read of memory of another job's process, by the words of the segment in which they meet; with that all
/// is given back.
#[test]
fn a_process_of_another_job_helps() {
    let (pair, fd) =
        (Pair::new(512 << 10, &[]), memfd_create("meeting", MemfdFlags::CLOEXEC).expect("memfd"));
    for (rank, local_rank) in [(&pair.near, 2), (&*pair.far, 0)] {
        let default = SharedSegment::default();
        rank.give_segment(1, SharedSegment { fd: fd.as_raw_fd(), local_rank, local_size: 3, ..default });
    }
    let guest = |proc, local_rank| ProcInfo { proc, local_rank, local: 1, segment: 1, ..ProcInfo::default() };
    let peer = pair.near.reach(guest(70, 0)).expect("reachable");
    let back = pair.far.reach(guest(80, 2)).expect("reachable");
    pair.read_with_help_of(peer, second_half_came);
    let count = |memory: &Memory| memory.grants.load(Ordering::Relaxed);
    assert_eq!((count(&pair.own), count(&pair.memory)), (1, 1));
    pair.near.part(peer);
    pair.far.part(back);
    assert_eq!((pair.near.drain(), pair.far.drain()), (vec![], vec![]));
    assert_eq!((count(&pair.own), count(&pair.memory)), (0, 0));
    pair.read_with_help(second_half_came);
}

#[test]
fn a_helper_that_may_not_map_writes_by_a_system_call() {
    let pair = Pair::new(512 << 10, &[("single_copy_mechanism", "xpmem")]);
    pair.own.refuses.store(true, Ordering::Relaxed);
    pair.read_with_help(second_half_came);
    assert_eq!(pair.own.attached.load(Ordering::Relaxed), 0);
    assert_eq!(pair.far.reports().help[0].0, "xpmem");
    assert!(pair.attached() > 0 && pair.near.reports().help.is_empty(), "the reader still maps");
}

#[test]
fn what_a_helper_cannot_write_is_read_by_the_reader() {
    // No process has that number, so CMA does not find it either.
    OWN_PID.set(Some(i32::MAX as u32));
    let pair = Pair::new(512 << 10, &[]);
    pair.own.refuses.store(true, Ordering::Relaxed);
    pair.read_with_help(|here| assert!(here.iter().all(|&b| b == 0)));
    // Nobody is asked a second time.
    pair.own.bytes().fill(0);
    let mut again = vec![0; 512 << 10];
    assert_eq!(pair.near.rma(false, pair.peer(), &mut again, pair.address(0)), Status::OK);
    assert!(again == pattern(again.len()));
    assert_eq!(pair.far.progress(), 0);
}

#[test]
fn who_reads_is_not_asked_for_help() {
    const LEN: usize = 512 << 10;
    let pair = Pair::new(LEN, &[]);
    pair.memory.bytes().copy_from_slice(&pattern(LEN));
    let (far, address) = (pair.far.clone(), pair.own.base as u64);
    let backwards = move || {
        let mut copy = vec![0; LEN];
        assert_eq!(far.rma(false, far.to(0), &mut copy, address), Status::OK);
    };
    let mut copy = vec![0; LEN];
    MEANWHILE.set(Some(Box::new(backwards.clone())));
    assert_eq!(pair.near.rma(false, pair.peer(), &mut copy, pair.address(0)), Status::OK);
    assert!(MEANWHILE.take().is_none() && copy == pattern(LEN));
    assert_eq!(pair.near.progress(), 0, "the second one read while the first one did, and has not asked");
    backwards();
    assert_eq!(pair.near.progress(), 1, "now it has");
}

#[test]
fn pieces_are_gathered() {
    let pair = Pair::new(1 << 20, &[]);
    let expected = pattern(1 << 20);
    pair.memory.bytes().copy_from_slice(&expected);
    let mut copy = vec![0u8; 5000];
    let local = [
        Piece { addr: copy.as_mut_ptr() as u64, len: 1500 },
        Piece { addr: copy[1500..].as_mut_ptr() as u64, len: 3500 },
    ];
    let remote = [Piece { addr: pair.address(10), len: 4000 }, Piece { addr: pair.address(9000), len: 1000 }];
    let of = |list: &[Piece]| SliceRef { ptr: list.as_ptr(), len: list.len() };
    let desc = RmaVectorDesc { local: of(&local), remote: of(&remote), len: 5000 };
    assert_eq!(pair.near.get_vector(pair.peer(), &desc), Status::OK);
    assert!(copy[..4000] == expected[10..4010] && copy[4000..] == expected[9000..10_000]);
    assert!(pair.attached() > 0);
}

#[test]
fn attachments_are_bounded() {
    let units = MOST + 20;
    let pair = Pair::new(units * UNIT_BYTES, &[]);
    let peer = pair.peer();
    for round in 0..2 {
        for unit in 0..units {
            let at = unit * UNIT_BYTES + 17;
            pair.memory.bytes()[at] = (unit + round) as u8;
            let mut byte = [0];
            assert_eq!(pair.near.rma(false, peer, &mut byte, pair.address(at)), Status::OK);
            assert_eq!(byte[0], (unit + round) as u8);
        }
    }
    assert!(pair.memory.attachments.load(Ordering::Relaxed) <= MOST);
    assert!(pair.attached() > 2 * MOST, "the oldest goes first, so nothing is found again");
}

#[test]
fn a_refusal_is_told_once_and_copies_go_on() {
    let pair = Pair::new(1 << 20, &[("single_copy_mechanism", "xpmem")]);
    let expected = pattern(1 << 20);
    pair.memory.bytes().copy_from_slice(&expected);
    pair.memory.refuses.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let mut copy = vec![0; 20_000];
        assert_eq!(pair.near.rma(false, pair.peer(), &mut copy, pair.address(3)), Status::OK);
        assert!(copy == expected[3..20_003]);
    }
    let topics: Vec<String> = pair.near.reports().help.iter().map(|(topic, _)| topic.clone()).collect();
    assert_eq!(topics, ["xpmem"]);
    assert_eq!(pair.attached(), 0);
}

#[test]
fn a_peer_that_begins_anew_is_asked_anew() {
    let memories = vec![Memory::new(4096), Memory::new(1 << 20)];
    let device = StandIn { own: 1, memories: memories.clone() };
    let mut attachments = Attachments::default();
    let at = memories[1].base as u64;
    attachments.find(&device, (1, 2), at, 10).expect("attached");
    assert_eq!(memories[1].grants.load(Ordering::Relaxed), 1);
    attachments.find(&device, (1, 1), memories[0].base as u64, 10).expect("attached");
    let grants = |i: usize| memories[i].grants.load(Ordering::Relaxed);
    assert_eq!((grants(0), grants(1)), (1, 0));
    attachments.clear(&device);
    assert_eq!((grants(0), grants(1)), (0, 0));
    assert!(attachments.ranges.is_empty());
    assert_eq!(attachments.find(&device, (1, 2), u64::MAX - 3, 10), Err(Errno::FAULT));
}

#[test]
fn where_there_is_no_module_cma_serves() {
    let node = Node::new(2);
    let quiet = node.open(0, &[]);
    assert!(quiet.reports().help.is_empty(), "nobody asked for it by name");
    let asked = node.open(1, &[("single_copy_mechanism", "xpmem")]);
    if std::fs::exists("/dev/xpmem").is_ok_and(|there| !there) {
        assert_eq!(asked.reports().help[0].0, "xpmem");
    }
}
