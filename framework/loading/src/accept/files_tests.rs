//! Modules of the frameworks of files of older and newer components.

use super::accept_fs;
use crate::accept::accepted::{FsComponent, Refusal};
use oxmpi_fs::{FsModule, FsTable, TABLE_VERSION};
use oxmpi_mca::abi::Opened;
use std::mem::size_of;

extern "C" fn never_called() {
    panic!("a slot was called");
}

const FUNCTION: fn() -> usize = || never_called as *const () as usize;

/// A table of file systems with so many filled slots, as words.
fn table(slots: usize) -> Vec<usize> {
    let mut words = vec![(8 + 8 * slots) | (TABLE_VERSION as usize) << 32];
    words.extend(std::iter::repeat_n(FUNCTION(), slots));
    words
}

/// All that the host makes of a component with this table, whose module has `more` words behind those that it must have.
fn accept(table: *const usize, more: usize) -> Result<Option<FsComponent>, Refusal> {
    let size = size_of::<FsModule>() + 8 * more;
    let mut module = vec![size, 7, table as usize, FUNCTION(), FUNCTION()];
    module.resize(size / 8, 0);
    let opened = Opened {
        size: size_of::<Opened>() as u32,
        priority: 0,
        modules: module.as_ptr().cast(),
        count: 1,
        stride: size,
    };
    // SAFETY: one module of that size, and a table with as many bytes as it says; nobody calls its functions.
    unsafe { accept_fs(&opened, "x", "here") }
}

const SLOTS: usize = (size_of::<FsTable>() - 8) / 8;

#[test]
fn a_whole_table_passes_and_so_does_a_longer_one() {
    for more in [0, 3] {
        let words = table(SLOTS + more);
        let own = accept(words.as_ptr(), more).expect("it passes").expect("there is a module");
        assert_eq!((own.name, own.module.state as usize), ("x", 7));
        assert_eq!(own.table.refresh as *const () as usize, FUNCTION());
    }
}

#[test]
fn what_is_missing_or_of_another_version_is_refused() {
    let field = |words: &[usize]| accept(words.as_ptr(), 0).err().map(|refusal| refusal.field);
    assert_eq!(field(&table(SLOTS - 1)), Some("table size"));
    let mut hole = table(SLOTS);
    hole[SLOTS] = 0;
    assert_eq!(field(&hole), Some("table"));
    let mut newer = table(SLOTS);
    newer[0] += 1 << 32;
    assert_eq!(field(&newer), Some("table version"));
    let mut odd = table(SLOTS + 1);
    odd[0] -= 1;
    assert_eq!(field(&odd), Some("table size"));
    assert_eq!(accept(std::ptr::null(), 0).err().map(|refusal| refusal.field), Some("table"));
}
