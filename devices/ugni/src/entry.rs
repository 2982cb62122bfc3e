//! Bits of a completion entry, and the functions by which a program reads them.
//!
//! Gemini's layout is the documented one. That of Aries is not public; ours has the documented widths (24 bits of instance in local
//! events, 6 bits of status, 2 of info): data 0 to 47, of which 32 to 47 are the request where there is one, info 48 to 49, type
//! 50 to 51, status 52 to 57, source 58 to 60, remote overrun 61, overrun 63. Programs go through the functions.

use crate::config::config;
use crate::numbers::status;

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A bulk transfer of ours.
    Bte,
    /// A fast operation of ours.
    Ssid,
    /// A peer's put.
    Remote,
    /// A peer's write into the queue.
    CqWrite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// 32 bits, 48 of a write into the queue.
    pub data: u64,
    /// The request, 0 of a remote event.
    pub tid: u32,
    /// GNI_CQ_EVENT_TYPE_*.
    pub kind: u64,
    pub source: Source,
    /// As on Aries.
    pub status: u8,
}

const OVERRUN: u64 = 1 << 63;
const DATA_48: u64 = (1 << 48) - 1;

/// A status of Aries in the four bits of Gemini.
fn gemini_status(of: u8) -> u64 {
    match of {
        status::OKAY => 0,
        status::AT_MDD_INV => 7,
        status::AT_BOUNDS => 9,
        status::AT_MDD_WR_PERMISSION => 10,
        status::SSID_TIMEOUT | status::ENDPOINT_UNREACHABLE => 11,
        _ => 8,
    }
}

impl Entry {
    pub fn pack(&self, gemini: bool) -> u64 {
        let source = match (self.source, gemini) {
            (Source::Bte, true) => 4,
            (Source::Ssid, true) | (Source::Bte, false) => 1,
            (Source::Remote | Source::CqWrite, true) => 5,
            (Source::Ssid, false) => 2,
            (Source::Remote | Source::CqWrite, false) => 3,
        };
        if self.source == Source::CqWrite {
            let at = if gemini { 56 } else { 58 };
            return (self.data & DATA_48) | source << at;
        }
        let data = self.data & 0xffff_ffff;
        if gemini {
            let tid = u64::from(self.tid & 0x3f_ffff) << 32;
            return data | tid | self.kind << 54 | source << 56 | gemini_status(self.status) << 59;
        }
        let info = u64::from(self.source != Source::Bte);
        let tid = u64::from(self.tid & 0xffff) << 32;
        data | tid | info << 48 | self.kind << 50 | u64::from(self.status) << 52 | source << 58
    }
}

/// Marks an entry as the last one before others were lost.
pub fn with_overrun(entry: u64) -> u64 {
    entry | OVERRUN
}

fn bits(entry: u64, gemini: (u32, u32), aries: (u32, u32)) -> u64 {
    let (at, width) = if config().is_gemini() { gemini } else { aries };
    entry >> at & ((1 << width) - 1)
}

/// The request; 0 of a remote event, whose data may lie there.
pub fn tid(entry: u64) -> u32 {
    if is_remote(entry) { 0 } else { bits(entry, (32, 22), (32, 16)) as u32 }
}
fn is_remote(entry: u64) -> bool {
    let first = if config().is_gemini() { 5 } else { 3 };
    source(entry) >= first
}
pub fn kind(entry: u64) -> u64 {
    bits(entry, (54, 2), (50, 2))
}
pub fn source(entry: u64) -> u64 {
    bits(entry, (56, 3), (58, 3))
}
pub fn status_of(entry: u64) -> u64 {
    bits(entry, (59, 4), (52, 6))
}
pub fn is_overrun(entry: u64) -> bool {
    entry & OVERRUN != 0
}

/// Whether what the status says may be tried again. `None`: there is no error.
pub fn is_recoverable(entry: u64) -> Option<bool> {
    let (status, source) = (status_of(entry), source(entry));
    if status == 0 || source == 0 {
        return None;
    }
    if config().is_gemini() {
        let codes: &[u64] = match source {
            1 | 4 => &[10, 11, 13],
            2 | 6 => &[2, 11, 13, 14],
            3 => &[11, 13],
            5 => &[2, 10, 11, 13],
            7 => &[11, 14],
            _ => &[],
        };
        return Some(codes.contains(&status));
    }
    let code = |s| matches!(s, 0x06..=0x09 | 0x0b | 0x18 | 0x1d | 0x20..=0x23 | 0x26..=0x2c | 0x2e | 0x2f | 0x39 | 0x3b..=0x3d);
    Some(code(status))
}

/// A line about an entry's error.
pub fn describe(entry: u64) -> String {
    let source = match (source(entry), config().is_gemini()) {
        (1, true) | (2, false) => "FMA",
        (4, true) | (1, false) => "BTE",
        (5, true) | (3, false) => "RMT",
        _ => "UNKNOWN",
    };
    let status = match (status_of(entry) as u8, config().is_gemini()) {
        (0, _) => "OKAY",
        (7, true) | (status::AT_MDD_INV, false) => "AT_MDD_INV",
        (9, true) | (status::AT_BOUNDS, false) => "AT_BOUNDS",
        (10, true) | (status::AT_MDD_WR_PERMISSION, false) => "AT_MDD_WR_PERMISSION",
        (11, true) => "REQUEST_TIMEOUT",
        (status::AT_PROTECTION, false) => "AT_PROTECTION",
        (status::SSID_TIMEOUT, false) => "SSID_TIMEOUT",
        (status::CQ_OVERRUN, false) => "CQ_OVERRUN",
        (status::AMO_CACHE, false) => "AMO_CACHE",
        (status::ENDPOINT_UNREACHABLE, false) => "ENDPOINT_UNREACHABLE",
        _ => "OTHER",
    };
    format!("{source}:{status} ({:#x})", status_of(entry))
}

macro_rules! accessors {
    ($($(#[$doc:meta])* $name:ident($entry:ident) = $value:expr;)*) => {
        $($(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($entry: u64) -> u64 { $value })*
    };
}

accessors! {
    /// All data of an entry: 48 bits of a write into the queue, else 32.
    gni_cq_get_data(e) = if is_remote(e) { e & DATA_48 } else { e & 0xffff_ffff };
    gni_cq_get_source(e) = source(e);
    gni_cq_get_status(e) = status_of(e);
    gni_cq_get_info(e) = bits(e, (54, 2), (48, 2));
    /// Instance or event data: 24 bits on Aries, 32 on Gemini.
    gni_cq_get_inst_id(e) = bits(e, (0, 32), (0, 24));
    gni_cq_get_rem_inst_id(e) = e & 0xffff_ffff;
    gni_cq_get_tid(e) = tid(e).into();
    gni_cq_get_msg_id(e) = e & 0xffff_ffff;
    gni_cq_get_type(e) = kind(e);
    gni_cq_overrun(e) = is_overrun(e).into();
    gni_cq_rem_overrun(e) = u64::from(status_of(e) == u64::from(status::CQ_OVERRUN));
}

/// Writes `value` into `width` bits at `at`.
///
/// # Safety
/// `entry` points to an entry.
unsafe fn set(entry: *mut u64, at: u32, width: u32, value: u64) {
    let mask = ((1u64 << width) - 1) << at;
    // SAFETY: the caller's promise.
    unsafe { *entry = *entry & !mask | value << at & mask }
}

macro_rules! setters {
    ($($name:ident: $gemini:expr, $aries:expr;)*) => {
        $(/// Writes a field of an entry.
        /// # Safety
        /// `entry` points to an entry.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(entry: *mut u64, value: u64) {
            let (at, width): (u32, u32) = if config().is_gemini() { $gemini } else { $aries };
            // SAFETY: the caller's promise.
            unsafe { set(entry, at, width, value) }
        })*
    };
}

setters! {
    gni_cq_set_inst_id: (0, 32), (0, 24);
    gni_cq_set_rem_inst_id: (0, 32), (0, 32);
    gni_cq_set_tid: (32, 22), (32, 16);
    gni_cq_set_msg_id: (0, 32), (0, 32);
    gni_cq_set_type: (54, 2), (50, 2);
}

/// Takes the status out of an entry.
///
/// # Safety
/// `entry` points to an entry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gni_cq_clr_status(entry: *mut u64) {
    let (at, width) = if config().is_gemini() { (59, 4) } else { (52, 6) };
    // SAFETY: the caller's promise.
    unsafe { set(entry, at, width, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::event;

    #[test]
    fn the_documented_entry_of_gemini() {
        let entry = Entry { data: 1, tid: 2, kind: event::POST, source: Source::Ssid, status: status::OKAY };
        assert_eq!(entry.pack(true), 0x0100_0002_0000_0001);
    }

    #[test]
    fn fields_of_aries_are_apart() {
        let entry =
            Entry { data: 0xffff_ffff, tid: 0xffff, kind: event::SMSG, source: Source::Bte, status: 0x3d };
        let e = entry.pack(false);
        assert_eq!((tid(e), kind(e), source(e), status_of(e)), (0xffff, event::SMSG, 1, 0x3d));
        assert_eq!((gni_cq_get_inst_id(e), gni_cq_get_rem_inst_id(e)), (0xff_ffff, 0xffff_ffff));
        assert!(!is_overrun(e) && is_overrun(with_overrun(e)));
        assert_eq!(is_recoverable(e), Some(true));
    }

    #[test]
    fn a_write_into_a_queue_carries_48_bits() {
        let entry = Entry { data: u64::MAX, tid: 0, kind: 0, source: Source::CqWrite, status: 0 };
        assert_eq!(gni_cq_get_data(entry.pack(false)), (1 << 48) - 1);
    }
}
