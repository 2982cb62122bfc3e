//! Tables of windows of older and newer components.

use super::read_osc_table;
use oxmpi_mca::Status;
use oxmpi_osc::{OscTable, OscWindow, TABLE_VERSION, WinCounts};
use std::mem::{offset_of, size_of};
use std::ptr::{null, null_mut};

extern "C" fn never_called() {
    panic!("a slot was called");
}

/// A table with so many filled slots, as words.
fn table(slots: usize) -> Vec<usize> {
    let size = 8 + 8 * slots;
    let mut words = vec![size | (TABLE_VERSION as usize) << 32];
    words.extend(std::iter::repeat_n(never_called as *const () as usize, slots));
    words
}

fn read(words: &[usize]) -> Result<OscTable, super::Refusal> {
    // SAFETY: as many bytes as it says; the slots are functions, which nobody calls.
    unsafe { read_osc_table(words.as_ptr().cast(), "here") }
}

const MANDATORY: usize = (offset_of!(OscTable, put_notify) - 8) / 8;
const ALL: usize = (size_of::<OscTable>() - 8) / 8;

#[test]
fn an_older_table_of_a_window_passes_with_what_it_has() {
    let own = read(&table(MANDATORY)).expect("all that is mandatory");
    let (win, mut value) = (null_mut(), 7);
    let mut made = OscWindow { window: null_mut(), table: null() };
    let mut counts = WinCounts { size: size_of::<WinCounts>() as u32, ..WinCounts::default() };
    for status in [
        (own.put_notify)(win, null(), 0),
        (own.get_notify)(win, null(), 0),
        (own.notify_read)(win, null_mut(), 0, 0, &mut value),
        (own.notify_wait)(win, null_mut(), 0, 0, &mut value),
        (own.dup)(win, null(), null_mut(), &mut made),
        (own.counts)(win, &mut counts),
        (own.flush_begin)(win, null_mut(), 0),
    ] {
        assert_eq!(status, Status::NOT_SUPPORTED);
    }
    assert_eq!((value, made.window.is_null()), (7, true), "nothing is written");
    assert!(read(&table(MANDATORY - 1)).is_err(), "one is missing");
    let mut hole = table(MANDATORY);
    hole[MANDATORY] = 0;
    assert!(read(&hole).is_err(), "one is empty");
}

#[test]
fn a_table_with_gaps_or_more_passes() {
    let mut gap = table(ALL);
    let counts = offset_of!(OscTable, counts) / 8;
    gap[counts] = 0;
    let own = read(&gap).expect("an optional slot is empty");
    let mut out = WinCounts { size: size_of::<WinCounts>() as u32, ..WinCounts::default() };
    assert_eq!((own.counts)(null_mut(), &mut out), Status::NOT_SUPPORTED);
    assert_eq!(own.flush_begin as *const () as usize, never_called as *const () as usize);
    let own = read(&table(ALL + 3)).expect("a newer one");
    assert_eq!(own.counts as *const () as usize, never_called as *const () as usize);
}
