//! Files in memory, in one folder, with byte-range locks: what all machines share that mount it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of an error of the system.
pub type Errno = i32;
/// An answer to the kernel.
pub type Answer<T> = Result<T, Errno>;

/// One file.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    pub bytes: Vec<u8>,
    /// Counts changes.
    pub change: u64,
    pub permissions: u16,
}

/// The one who has a lock: a machine, and its kernel's word for an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub machine: u64,
    pub word: u64,
}

/// A locked range, its last byte included.
#[derive(Clone, Copy, Debug)]
struct Lock {
    file: u64,
    owner: Owner,
    /// The machine's number of the open file, which takes its locks with it.
    handle: u64,
    first: u64,
    last: u64,
    exclusive: bool,
}

#[derive(Debug, Default)]
struct State {
    names: BTreeMap<OsString, u64>,
    files: BTreeMap<u64, Stored>,
    locks: Vec<Lock>,
    next: u64,
}

/// The files; clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Server {
    state: Arc<Mutex<State>>,
}

/// The number of the folder.
const FOLDER: u64 = 1;

impl Server {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of a name.
    pub fn find(&self, name: &OsStr) -> Answer<u64> {
        self.state().names.get(name).copied().ok_or(libc::ENOENT)
    }

    /// Names and numbers of all files.
    pub fn list(&self) -> Vec<(OsString, u64)> {
        self.state().names.iter().map(|(name, file)| (name.clone(), *file)).collect()
    }

    /// Makes a file.
    pub fn create(&self, name: &OsStr, permissions: u16) -> Answer<u64> {
        let mut state = self.state();
        if state.names.contains_key(name) {
            return Err(libc::EEXIST);
        }
        state.next += 1;
        let file = FOLDER + state.next;
        state.names.insert(name.to_owned(), file);
        state.files.insert(file, Stored { permissions, ..Stored::default() });
        Ok(file)
    }

    /// Takes a name away; who has the file open still has it.
    pub fn unlink(&self, name: &OsStr) -> Answer<()> {
        self.state().names.remove(name).map(|_| ()).ok_or(libc::ENOENT)
    }

    /// Looks at a file, or changes it.
    pub fn with<T>(&self, file: u64, act: impl FnOnce(&mut Stored) -> T) -> Answer<T> {
        self.state().files.get_mut(&file).map(act).ok_or(libc::ESTALE)
    }

    /// Up to `len` bytes of a file.
    pub fn read(&self, file: u64, offset: u64, len: usize) -> Answer<Vec<u8>> {
        self.with(file, |stored| {
            let from = stored.bytes.len().min(offset as usize);
            let end = stored.bytes.len().min(from + len);
            stored.bytes[from..end].to_vec()
        })
    }

    /// Writes bytes.
    pub fn write(&self, file: u64, offset: u64, data: &[u8]) -> Answer<()> {
        self.with(file, |stored| {
            let (from, end) = (offset as usize, offset as usize + data.len());
            if stored.bytes.len() < end {
                stored.bytes.resize(end, 0);
            }
            stored.bytes[from..end].copy_from_slice(data);
            stored.change += 1;
        })
    }

    /// Cuts or extends a file.
    pub fn resize(&self, file: u64, bytes: u64) -> Answer<()> {
        self.with(file, |stored| {
            stored.bytes.resize(bytes as usize, 0);
            stored.change += 1;
        })
    }

    /// Takes a lock, with the owner's own on that range replaced. EAGAIN: somebody else has one that excludes it.
    pub fn lock(
        &self,
        (file, handle, owner): (u64, u64, Owner),
        (first, last): (u64, u64),
        exclusive: bool,
    ) -> Answer<()> {
        let mut state = self.state();
        let excluded = state.locks.iter().any(|lock| {
            let meets = lock.file == file && lock.first <= last && first <= lock.last;
            meets && lock.owner != owner && (exclusive || lock.exclusive)
        });
        if excluded {
            return Err(libc::EAGAIN);
        }
        state.cut(file, owner, (first, last));
        state.locks.push(Lock { file, owner, handle, first, last, exclusive });
        Ok(())
    }

    /// Gives a range back.
    pub fn unlock(&self, file: u64, owner: Owner, range: (u64, u64)) {
        self.state().cut(file, owner, range);
    }

    /// An open file of a machine has been closed.
    pub fn closed(&self, machine: u64, handle: u64) {
        self.state().locks.retain(|lock| lock.owner.machine != machine || lock.handle != handle);
    }

    /// Whether a machine has any lock of a file.
    pub fn is_locked_by(&self, file: u64, machine: u64) -> bool {
        self.state().locks.iter().any(|lock| lock.file == file && lock.owner.machine == machine)
    }

    /// Number of locks that somebody has.
    pub fn locks(&self) -> usize {
        self.state().locks.len()
    }
}

impl State {
    /// Takes a range out of the owner's locks.
    fn cut(&mut self, file: u64, owner: Owner, (first, last): (u64, u64)) {
        let mut kept = Vec::new();
        for lock in self.locks.drain(..) {
            if lock.file != file || lock.owner != owner || lock.first > last || first > lock.last {
                kept.push(lock);
                continue;
            }
            if lock.first < first {
                kept.push(Lock { last: first - 1, ..lock });
            }
            if lock.last > last {
                kept.push(Lock { first: last + 1, ..lock });
            }
        }
        self.locks = kept;
    }
}
