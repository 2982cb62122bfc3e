//! Lists of a command, which lie in memory of the client.

use crate::abi::*;
use crate::protocol::record::Record;
use crate::state::Server;

pub const UNWEIGHTED: *const c_int = 10 as *const c_int;
pub const WEIGHTS_EMPTY: *const c_int = 11 as *const c_int;

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
