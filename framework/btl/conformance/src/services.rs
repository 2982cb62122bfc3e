//! The host's services as a component sees them: names, places, exchange per module, proofs of the job's secret, memory of
//! the node and of peers. The ranks of a job share an [`Exchange`].

use crate::host::{held, host, random, text};
use core::ffi::c_void;
use core::mem::size_of;
use oxmpi_mca::services::{
    AUTH_BYTES, HostServices, NodeMemory, PeerFailed, Predicate, ProcName, ProcPlace, distance,
};
use oxmpi_mca::sync::AtomicU32;
use oxmpi_mca::{SliceRef, Status, StrRef, ThreadCtx};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

/// State that the ranks of one job share.
pub struct Exchange {
    blobs: Mutex<HashMap<(String, u32), Vec<u8>>>,
    /// Memory of the node by its key. Never moves, and stays as long as the job.
    memory: Mutex<HashMap<String, NodePiece>>,
    secret: [u64; 2],
}

impl Default for Exchange {
    fn default() -> Exchange {
        Exchange { blobs: Mutex::default(), memory: Mutex::default(), secret: [random(), random()] }
    }
}

impl Exchange {
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
            let capacity = std::mem::replace(&mut *len, blob.len());
            if blob.len() > capacity {
                return Status::NO_RESOURCE;
            }
            core::ptr::copy_nonoverlapping(blob.as_ptr(), data, blob.len());
        }
        Status::OK
    }

    /// A keyed digest; good enough where nobody attacks.
    fn proof(&self, challenge: &[u8], context: &[u8]) -> [u8; AUTH_BYTES] {
        let mut out = [0; AUTH_BYTES];
        for (lane, bytes) in out.chunks_mut(8).enumerate() {
            let mut hasher = DefaultHasher::new();
            (self.secret, lane, challenge, context).hash(&mut hasher);
            bytes.copy_from_slice(&hasher.finish().to_le_bytes());
        }
        out
    }
}

pub const SERVICES: HostServices = HostServices {
    size: size_of::<HostServices>() as u32,
    reserved: 0,
    name_of,
    index_of,
    place_of,
    exchange_put,
    exchange_try,
    auth_make,
    auth_check,
    node_memory,
    peer_read,
    peer_write,
    peer_pointer,
    wait_until,
    wait_word,
    on_peer_failure,
    off_peer_failure,
    peer_failed,
    osc_tags,
    node_memory_free,
};

extern "C" fn name_of(instance: *mut c_void, proc: u32, out: *mut ProcName) -> Status {
    let job = &host(instance).job;
    if proc >= job.job_size {
        return Status::NOT_FOUND;
    }
    let mut name = ProcName::default();
    name.bytes[..8].copy_from_slice(&job.job_id.to_le_bytes());
    name.bytes[8..12].copy_from_slice(&proc.to_le_bytes());
    name.bytes[12..].copy_from_slice(b"name");
    // SAFETY: the caller's out pointer.
    unsafe { out.write(name) };
    Status::OK
}

extern "C" fn index_of(instance: *mut c_void, name: *const ProcName, out: *mut u32) -> Status {
    let job = &host(instance).job;
    // SAFETY: the caller's name.
    let bytes = unsafe { (*name).bytes };
    let proc = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if bytes[..8] != job.job_id.to_le_bytes() || &bytes[12..] != b"name" || proc >= job.job_size {
        return Status::BAD_PARAM;
    }
    // SAFETY: the caller's out pointer.
    unsafe { out.write(proc) };
    Status::OK
}

extern "C" fn place_of(instance: *mut c_void, proc: u32, out: *mut ProcPlace) -> Status {
    if proc >= host(instance).job.job_size {
        return Status::NOT_FOUND;
    }
    let distance = distance::SAME_NUMA | distance::SAME_SOCKET;
    // SAFETY: the caller's out pointer.
    unsafe { out.write(ProcPlace { node: 0, local_rank: proc, local: 1, distance }) };
    Status::OK
}

/// Modules' addresses do not meet those of components.
fn key(module: StrRef) -> String {
    format!("module {}", text(module))
}

extern "C" fn exchange_put(instance: *mut c_void, module: StrRef, data: SliceRef<u8>) -> Status {
    let host = host(instance);
    // SAFETY: borrowed for the call.
    host.exchange.put(&key(module), host.job.rank, unsafe { data.get() });
    Status::OK
}

extern "C" fn exchange_try(
    instance: *mut c_void,
    module: StrRef,
    proc: u32,
    data: *mut u8,
    len: *mut usize,
) -> Status {
    // SAFETY: the caller's buffer and capacity.
    unsafe { host(instance).exchange.get(&key(module), proc, data, len) }
}

extern "C" fn auth_make(
    instance: *mut c_void,
    challenge: SliceRef<u8>,
    context: SliceRef<u8>,
    out: *mut u8,
) -> Status {
    // SAFETY: borrowed for the call.
    let proof = unsafe { host(instance).exchange.proof(challenge.get(), context.get()) };
    // SAFETY: the caller's buffer has `AUTH_BYTES`.
    unsafe { core::ptr::copy_nonoverlapping(proof.as_ptr(), out, AUTH_BYTES) };
    Status::OK
}

extern "C" fn auth_check(
    instance: *mut c_void,
    challenge: SliceRef<u8>,
    context: SliceRef<u8>,
    answer: SliceRef<u8>,
) -> Status {
    // SAFETY: borrowed for the call.
    let (proof, answer) =
        unsafe { (host(instance).exchange.proof(challenge.get(), context.get()), answer.get()) };
    let differs = proof.iter().zip(answer).fold(0, |all, (a, b)| all | (a ^ b));
    if answer.len() == AUTH_BYTES && differs == 0 { Status::OK } else { Status::NO_PERMISSION }
}

extern "C" fn node_memory(instance: *mut c_void, key: StrRef, bytes: u64, out: *mut NodeMemory) -> Status {
    if bytes == 0 {
        return Status::BAD_PARAM;
    }
    let (mut all, words) = (held(&host(instance).exchange.memory), bytes.div_ceil(8) as usize);
    let key = text(key);
    let first = !all.contains_key(&key);
    let piece = all.entry(key).or_insert_with(|| NodePiece { words: vec![0; words].into(), asked: 0 });
    if piece.words.len() != words {
        return Status::MISMATCH;
    }
    piece.asked += 1;
    let base = piece.words.as_mut_ptr().cast();
    // SAFETY: the caller's out pointer.
    unsafe { out.write(NodeMemory { base, bytes, first: first as u32, reserved: 0 }) };
    Status::OK
}

extern "C" fn node_memory_free(instance: *mut c_void, key: StrRef) -> Status {
    let (mut all, key) = (held(&host(instance).exchange.memory), text(key));
    let Some(piece) = all.get_mut(&key) else { return Status::NOT_FOUND };
    piece.asked -= 1;
    if piece.asked == 0 {
        all.remove(&key);
    }
    Status::OK
}

/// All ranks are this process, so a peer's memory is a copy away.
extern "C" fn peer_read(instance: *mut c_void, proc: u32, remote: u64, local: *mut u8, bytes: u64) -> Status {
    if proc >= host(instance).job.job_size {
        return Status::NOT_FOUND;
    }
    // SAFETY: the caller names memory of a rank of this process.
    unsafe { core::ptr::copy(remote as *const u8, local, bytes as usize) };
    Status::OK
}

extern "C" fn peer_write(
    instance: *mut c_void,
    proc: u32,
    remote: u64,
    local: *const u8,
    bytes: u64,
) -> Status {
    if proc >= host(instance).job.job_size {
        return Status::NOT_FOUND;
    }
    // SAFETY: as above.
    unsafe { core::ptr::copy(local, remote as *mut u8, bytes as usize) };
    Status::OK
}

/// As on a real node: a process's own memory, and the node's.
extern "C" fn peer_pointer(
    instance: *mut c_void,
    proc: u32,
    remote: u64,
    bytes: u64,
    out: *mut *mut u8,
) -> Status {
    let host = host(instance);
    let shared = held(&host.exchange.memory).values().any(|piece| {
        let base = piece.words.as_ptr() as u64;
        remote >= base
            && bytes <= piece.words.len() as u64 * 8
            && remote - base <= piece.words.len() as u64 * 8 - bytes
    });
    if proc != host.job.rank && !shared {
        return Status::NOT_SUPPORTED;
    }
    // SAFETY: the caller's out pointer.
    unsafe { out.write(remote as *mut u8) };
    Status::OK
}

extern "C" fn wait_until(
    instance: *mut c_void,
    _: *mut ThreadCtx,
    _: Predicate,
    _ctx: *mut c_void,
) -> Status {
    host(instance).violation("waited for a predicate: a BTL never waits".into());
    Status::NOT_SUPPORTED
}

extern "C" fn wait_word(
    instance: *mut c_void,
    _: *mut ThreadCtx,
    _word: *const AtomicU32,
    _value: u32,
) -> Status {
    host(instance).violation("waited for a word: a BTL never waits".into());
    Status::NOT_SUPPORTED
}

extern "C" fn on_peer_failure(instance: *mut c_void, f: PeerFailed, ctx: *mut c_void) -> Status {
    let host = host(instance);
    held(&host.failed_watchers).push((f, ctx as usize));
    for (proc, status) in host.failures() {
        f(ctx, proc, status);
    }
    Status::OK
}

extern "C" fn off_peer_failure(instance: *mut c_void, f: PeerFailed, ctx: *mut c_void) -> Status {
    let mut list = held(&host(instance).failed_watchers);
    let before = list.len();
    list.retain(|(g, c)| !(core::ptr::fn_addr_eq(*g, f) && *c == ctx as usize));
    if list.len() < before { Status::OK } else { Status::NOT_FOUND }
}

extern "C" fn peer_failed(instance: *mut c_void, proc: u32, status: Status, message: StrRef) -> Status {
    host(instance).failed(proc, status, &text(message));
    Status::OK
}

/// Memory by key, and how often it was asked for and not freed.
struct NodePiece {
    words: Box<[u64]>,
    asked: u64,
}

extern "C" fn osc_tags(_: *mut c_void, _: *mut u8) -> Status {
    Status::NOT_FOUND
}
