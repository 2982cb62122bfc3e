//! Shared file pointers: a word at rank 0 of a file that all its ranks reach by fetch-and-add, one way for all of them.
//!
//! Where all ranks share a node the word lies in memory of the node and the processor's atomics do; a rank that is alone has it in its own memory. Elsewhere the word is in a
//! window, and rank 0's goes there, too: two ways to one word would not be atomic towards each other. Nothing is a file, nothing has a name, and rank 0 may compute meanwhile.
//!
//! **Words are shared by files.** A piece of memory has [`SLOTS`] words, is made by the first file of a group and kept for the next ones, so that opening many files makes it once.
//! Ranks tell each other which piece they would use; only if all say the same it is used, otherwise a new one is made. Rank 0 knows which words of it are free.

use crate::group::{Group, GroupCompare};
use crate::info::Info;
use crate::objects::{Communicator, Instance, Window};
use crate::shared_memory::{SharedMemory, Wish};
use crate::window::{Operation, Wanted, WantedMemory};
use oxmpi_datatype::kernel::{OpDesc, op};
use oxmpi_datatype::{Base, TypeDesc};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::{RmaArgs, assertion};
use oxmpi_system::locks::Mutex;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a piece of memory.
const SLOTS: u32 = 64;
/// Pieces that are kept though no file uses them.
const KEPT: usize = 16;

/// Where the words are.
enum Memory {
    Node(SharedMemory),
    Window(Arc<Window>),
}

/// A piece of memory with words.
pub(super) struct Words {
    /// Equal in all ranks, and of no other piece.
    id: u64,
    group: Group,
    /// Whose it is: several ranks may live in one process.
    rank: u32,
    memory: Memory,
    /// Bits of the words that are in use; kept by rank 0.
    used: Mutex<u64>,
}

/// A file's word.
pub(super) enum Pointer {
    /// Of a rank that is alone.
    Own(AtomicU64),
    Shared {
        words: Arc<Words>,
        slot: u32,
        hosts: bool,
    },
}

/// The type of a word. A static of an immutable value, which nothing counts: it is a predefined type.
static WORD: TypeDesc = match TypeDesc::basic(Base::U64) {
    Some(desc) => desc,
    None => panic!("64 bits are a basic type"),
};

impl Words {
    /// Makes a piece; called by all ranks.
    fn make(comm: &Communicator, entry: &mut Entry) -> Result<Arc<Words>, Error> {
        let bytes = if comm.rank() == 0 { u64::from(SLOTS) * 8 } else { 0 };
        let memory = if comm.places().num_nodes() == 1 {
            Memory::Node(comm.share_memory(entry, Wish { bytes, disp_unit: 8, apart: true })?)
        } else {
            let wanted = Wanted { disp_unit: 8, memory: WantedMemory::Allocated { bytes, align: 64 } };
            // SAFETY: the memory is the window's own.
            let window = unsafe { Window::make(comm, entry, wanted, &Info::new())? };
            let status = match window.verbs() {
                Some(verbs) => verbs.lock_all(entry, assertion::NOCHECK),
                None => Status::NOT_SUPPORTED,
            };
            if status.is_err() {
                return Err(Error::status(status, "memory for shared file pointers"));
            }
            Memory::Window(window)
        };
        let [high, low] = comm.gid();
        let (id, group) = (high ^ low.rotate_left(32) ^ comm.next_child(), comm.group().clone());
        Ok(Arc::new(Words { id: id.max(1), group, rank: comm.rank(), memory, used: Mutex::new(0) }))
    }

    /// Takes a free word, sets it to 0 and answers its number; `None`: all are in use. For rank 0.
    fn take_slot(&self) -> Option<u32> {
        let slot = {
            let mut used = self.used.lock();
            let slot = used.trailing_ones();
            if slot >= SLOTS {
                return None;
            }
            *used |= 1 << slot;
            slot
        };
        // Nobody else knows it yet.
        if let Some(word) = self.here(slot) {
            word.store(0, Ordering::Release);
        }
        Some(slot)
    }

    /// Gives a word back. For rank 0.
    fn free_slot(&self, slot: u32) {
        *self.used.lock() &= !(1 << slot);
    }

    /// A word in this process's memory, if it is there.
    fn here(&self, slot: u32) -> Option<&AtomicU64> {
        let base = match &self.memory {
            Memory::Node(memory) => memory.at(memory.parts().first()?),
            Memory::Window(window) => window.own().base,
        };
        if base.is_null() {
            return None;
        }
        // SAFETY: the memory has that many words of 8 bytes, is aligned to 64, and stays as long as this; all accesses are atomic.
        Some(unsafe { AtomicU64::from_ptr(base.cast::<u64>().add(slot as usize)) })
    }

    /// Carries out an operation on a word and answers what it was before.
    fn operate(&self, entry: &mut Entry, slot: u32, code: u32, value: u64) -> Result<u64, Status> {
        match &self.memory {
            Memory::Node(_) => {
                let word = self.here(slot).ok_or(Status::INTERNAL)?;
                Ok(match code {
                    op::SUM => word.fetch_add(value, Ordering::AcqRel),
                    op::REPLACE => word.swap(value, Ordering::AcqRel),
                    _ => word.load(Ordering::Acquire),
                })
            }
            Memory::Window(window) => {
                let verbs = window.verbs().ok_or(Status::NOT_SUPPORTED)?;
                let (mut origin, mut before) = (value, 0u64);
                let operation = OpDesc {
                    size: size_of::<OpDesc>() as u32,
                    code,
                    commutative: u32::from(code != op::REPLACE),
                    reserved: 0,
                    user: None,
                    ctx: null_mut(),
                };
                let args = RmaArgs {
                    thread: entry.thread(),
                    origin: (&raw mut origin).cast(),
                    origin_count: 1,
                    origin_type: &WORD,
                    result: (&raw mut before).cast(),
                    result_count: 1,
                    result_type: &WORD,
                    compare: null(),
                    target: 0,
                    reserved: 0,
                    disp: slot.into(),
                    target_count: 1,
                    target_type: &WORD,
                    op: &operation,
                };
                // SAFETY: the types are statics, and the buffers there until the flush that follows.
                let started = unsafe { verbs.start(Operation::FetchAndOp, &args) };
                let flushed = verbs.flush(entry, Some(0), false);
                match [started, flushed].into_iter().find(|status| status.is_err()) {
                    Some(status) => Err(status),
                    None => Ok(before),
                }
            }
        }
    }
}

/// All that a rank would use for its next file, as it tells the others.
pub(super) struct Offer {
    words: Option<Arc<Words>>,
    slot: Option<u32>,
}

/// Number of words of an offer.
pub(super) const OFFER: usize = 2;

impl Offer {
    /// The piece of the communicator's group, if there is one; rank 0 takes a word of it.
    pub(super) fn new(comm: &Communicator) -> Offer {
        let instance = comm.instance();
        let same = |words: &&Arc<Words>| {
            words.rank == comm.rank() && words.group.compare(comm.group()) == GroupCompare::Ident
        };
        let list = instance.files().pointers.lock();
        let all = list.iter().rev().filter_map(|any| any.clone().downcast::<Words>().ok());
        let found: Vec<Arc<Words>> = all.filter(|words| same(&words)).take(1).collect();
        drop(list);
        let words = found.into_iter().next();
        let slot = words.as_ref().filter(|_| comm.rank() == 0).and_then(|words| words.take_slot());
        Offer { words, slot }
    }

    /// As it travels.
    pub(super) fn encode(&self) -> [u64; OFFER] {
        let id = self.words.as_ref().map_or(0, |words| words.id);
        [id, self.slot.map_or(u64::MAX, u64::from)]
    }

    /// The file's word, of what all ranks have told; called by all ranks.
    pub(super) fn settle(
        mut self,
        comm: &Communicator,
        entry: &mut Entry,
        told: &[[u64; OFFER]],
    ) -> Result<Pointer, Error> {
        if comm.size() == 1 {
            return Ok(Pointer::Own(AtomicU64::new(0)));
        }
        let [id, slot] = told.first().copied().unwrap_or([0, u64::MAX]);
        let (agreed, hosts) = (id != 0 && told.iter().all(|theirs| theirs[0] == id), comm.rank() == 0);
        if agreed
            && let (Some(words), Ok(number)) = (self.words.clone(), u32::try_from(slot))
            && number < SLOTS
        {
            self.slot = None;
            return Ok(Pointer::Shared { words, slot: number, hosts });
        }
        drop(self);
        let words = Words::make(comm, entry)?;
        // Of a new one it is the first, in all ranks.
        let slot = if hosts { words.take_slot() } else { Some(0) };
        comm.instance().keep_words(&words);
        match slot {
            Some(slot) => {
                // Nobody uses it before it is 0.
                comm.least(entry, Status::OK)?;
                Ok(Pointer::Shared { words, slot, hosts })
            }
            None => Err(Error::new(ErrorKind::Intern, "a new piece of memory has no free word")),
        }
    }
}

impl Drop for Offer {
    fn drop(&mut self) {
        if let (Some(words), Some(slot)) = (&self.words, self.slot) {
            words.free_slot(slot);
        }
    }
}

impl Instance {
    /// Keeps a piece for the next files of its group; old ones that no file uses go.
    fn keep_words(&self, words: &Arc<Words>) {
        let mut list = self.files().pointers.lock();
        while list.len() >= KEPT
            && let Some(at) = list.iter().position(|old| Arc::strong_count(old) == 1)
        {
            list.remove(at);
        }
        list.push(words.clone());
    }
}

impl Pointer {
    /// Carries out an operation.
    fn operate(&self, entry: &mut Entry, code: u32, value: u64) -> Result<u64, Status> {
        match self {
            Pointer::Own(word) => Ok(match code {
                op::SUM => word.fetch_add(value, Ordering::AcqRel),
                op::REPLACE => word.swap(value, Ordering::AcqRel),
                _ => word.load(Ordering::Acquire),
            }),
            Pointer::Shared { words, slot, .. } => words.operate(entry, *slot, code, value),
        }
    }

    /// Adds to it, and answers what it was.
    pub(super) fn fetch_add(&self, entry: &mut Entry, etypes: u64) -> Result<u64, Status> {
        self.operate(entry, op::SUM, etypes)
    }

    /// Reads it.
    pub(super) fn load(&self, entry: &mut Entry) -> Result<u64, Status> {
        self.operate(entry, op::NO_OP, 0)
    }

    /// Sets it. For one rank, while no other uses it.
    pub(super) fn store(&self, entry: &mut Entry, etypes: u64) -> Status {
        self.operate(entry, op::REPLACE, etypes).err().unwrap_or(Status::OK)
    }
}

impl Drop for Pointer {
    fn drop(&mut self) {
        if let Pointer::Shared { words, slot, hosts: true } = self {
            words.free_slot(*slot);
        }
    }
}
