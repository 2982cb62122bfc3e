//! Counters of the process: what was posted, how often a doorbell was rung, what went wrong.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($name:ident $text:literal),* $(,)?) => {
        #[derive(Clone, Copy, Debug)]
        pub enum Counter { $($name),* }
        const NAMES: &[&str] = &[$($text),*];
        static VALUES: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];
    };
}

counters! {
    FmaPuts "fma_puts", FmaGets "fma_gets", BtePuts "bte_puts", BteGets "bte_gets", Amos "amos", CqWrites "cq_writes",
    Messages "messages", Datagrams "datagrams", Doorbells "doorbells", Bytes "bytes", Events "events", Overruns "overruns",
    Registrations "registrations", Errors "errors", Refusals "refusals", Resent "resent", Waits "waits", Frames "frames",
    PolledTurns "polled_turns", CallsByTwoThreads "calls_by_two_threads",
}

pub fn add(counter: Counter, n: u64) {
    VALUES[counter as usize].fetch_add(n, Ordering::Relaxed);
}

pub fn get(name: &str) -> Option<u64> {
    NAMES.iter().position(|n| *n == name).map(|i| VALUES[i].load(Ordering::Relaxed))
}

/// Reads a counter by name; all ones for a name that is none. Any thread may call it.
///
/// # Safety
/// `name` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oxmpi_ugni_counter(name: *const c_char) -> u64 {
    if name.is_null() {
        return u64::MAX;
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_str().ok().and_then(get).unwrap_or(u64::MAX)
}
