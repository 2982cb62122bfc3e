//! Lists of a command, which lie in memory of the client.

use crate::abi::*;
use crate::hints;
use crate::pmpi;
use crate::protocol::record::Record;
use crate::state::Server;

pub const UNWEIGHTED: *const c_int = 10 as *const c_int;
pub const WEIGHTS_EMPTY: *const c_int = 11 as *const c_int;

/// An info object of this process, freed with the value.
pub struct Hints(pub Info);

impl Hints {
    /// None where there are no hints.
    pub fn info(&self) -> Option<Info> {
        (self.0 != INFO_NULL).then_some(self.0)
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        if self.0 != INFO_NULL {
            // SAFETY: made with the value.
            unsafe { pmpi::MPI_Info_free(&raw mut self.0) };
        }
    }
}

impl Server {
    /// `count` words of a command's list as integers, from word `from` on.
    pub fn ints(&self, record: &Record, from: usize, count: i64) -> Vec<c_int> {
        if count <= 0 {
            return Vec::new();
        }
        // SAFETY: the client wrote a list of that length.
        let words = unsafe { core::slice::from_raw_parts(self.list(record).add(from), count as usize) };
        words.iter().map(|w| *w as c_int).collect()
    }

    /// The hints that go with a command as an info object that ends with the value.
    pub fn hints(&self, record: &Record) -> Hints {
        if record.hints == 0 {
            return Hints(INFO_NULL);
        }
        let words: *const i64 = self.here(record.hints).cast_const().cast();
        // SAFETY: the client wrote the length and as many bytes behind it.
        let bytes = unsafe { core::slice::from_raw_parts(words.add(1).cast::<u8>(), *words as usize) };
        let pairs = hints::pairs(bytes);
        // The window is under a lock for its whole life, whatever the program does.
        let kept: Vec<_> = pairs.into_iter().filter(|(key, _)| *key != c"no_locks").collect();
        Hints(hints::info_of(&kept))
    }

    /// Answers with the hints of an info object, and frees it. The client made room for `args[0]` bytes.
    pub fn answer_hints(&self, record: &mut Record, mut info: Info) {
        let mut bytes = hints::pack(info);
        bytes.truncate(record.args[0] as usize);
        record.out[0] = bytes.len() as u64;
        // SAFETY: the client's room; a handle that the library gave to this caller.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.here(record.lists), bytes.len());
            pmpi::MPI_Info_free(&raw mut info);
        }
    }

    pub fn list(&self, record: &Record) -> *mut i64 {
        self.here(record.lists).cast()
    }

    /// Writes integers into a command's list.
    pub fn answer(&self, record: &Record, from: usize, values: &[c_int]) {
        for (i, value) in values.iter().enumerate() {
            // SAFETY: the client made room for that many.
            unsafe { *self.list(record).add(from + i) = i64::from(*value) };
        }
    }
}
