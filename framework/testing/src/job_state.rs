//! Data that the ranks of a job in one process share: addresses by name, memory of the node, the job's secret.

use crate::held::held;
use core::mem::replace;
use oxmpi_mca::Status;
use oxmpi_mca::services::{AUTH_BYTES, NodeMemory};
use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::sync::Mutex;

/// See the file's head.
pub struct JobState {
    blobs: Mutex<HashMap<(String, u32), Vec<u8>>>,
    /// Memory of the node by its key.
    memory: Mutex<HashMap<String, Piece>>,
    secret: [u64; 2],
}

/// Memory of the node. Never moves, and stays until all who asked for it have freed it.
struct Piece {
    words: Box<[u64]>,
    /// How often it was asked for and not freed.
    asked: u64,
}

impl Default for JobState {
    fn default() -> JobState {
        let random = || RandomState::new().build_hasher().finish();
        JobState { blobs: Mutex::default(), memory: Mutex::default(), secret: [random(), random()] }
    }
}

impl JobState {
    pub fn put(&self, key: &str, rank: u32, data: &[u8]) {
        held(&self.blobs).insert((key.to_owned(), rank), data.to_vec());
    }

    /// # Safety
    /// `len` is readable and writable, `data` writable for as much as it says.
    pub unsafe fn get(&self, key: &str, rank: u32, data: *mut u8, len: *mut usize) -> Status {
        let map = held(&self.blobs);
        let Some(blob) = map.get(&(key.to_owned(), rank)) else { return Status::NOT_FOUND };
        // SAFETY: the caller's promise.
        unsafe {
            let capacity = replace(&mut *len, blob.len());
            if blob.len() > capacity {
                return Status::NO_RESOURCE;
            }
            core::ptr::copy_nonoverlapping(blob.as_ptr(), data, blob.len());
        }
        Status::OK
    }

    /// Memory under a key, zero when it is made; MISMATCH where it exists with another size.
    pub fn node_memory(&self, key: &str, bytes: u64) -> Result<NodeMemory, Status> {
        if bytes == 0 {
            return Err(Status::BAD_PARAM);
        }
        let (mut all, words) = (held(&self.memory), bytes.div_ceil(8) as usize);
        let first = !all.contains_key(key);
        let piece =
            all.entry(key.to_owned()).or_insert_with(|| Piece { words: vec![0; words].into(), asked: 0 });
        if piece.words.len() != words {
            return Err(Status::MISMATCH);
        }
        piece.asked += 1;
        Ok(NodeMemory { base: piece.words.as_mut_ptr().cast(), bytes, first: first.into(), reserved: 0 })
    }

    /// Gives back what `node_memory` gave once.
    pub fn node_memory_free(&self, key: &str) -> Status {
        let mut all = held(&self.memory);
        let Some(piece) = all.get_mut(key) else { return Status::NOT_FOUND };
        piece.asked -= 1;
        if piece.asked == 0 {
            all.remove(key);
        }
        Status::OK
    }

    /// Whether so many bytes at an address are memory of the node.
    pub fn is_node_memory(&self, address: u64, bytes: u64) -> bool {
        held(&self.memory).values().any(|piece| {
            let (base, len) = (piece.words.as_ptr() as u64, piece.words.len() as u64 * 8);
            address >= base && bytes <= len && address - base <= len - bytes
        })
    }

    /// A keyed digest; good enough where nobody attacks.
    pub fn proof(&self, challenge: &[u8], context: &[u8]) -> [u8; AUTH_BYTES] {
        let mut out = [0; AUTH_BYTES];
        for (lane, bytes) in out.chunks_mut(8).enumerate() {
            let mut hasher = DefaultHasher::new();
            (self.secret, lane, challenge, context).hash(&mut hasher);
            bytes.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        out
    }
}
