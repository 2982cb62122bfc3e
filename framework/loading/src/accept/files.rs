//! Modules and tables of the frameworks of files: all slots are mandatory in version 1, a newer component's further ones are not looked at.

use super::accepted::{FbtlComponent, FcollComponent, FileComponent, FsComponent, Refusal};
use super::tables::{TABLE_LIMIT, accept_module, no_null, size_at};
use oxmpi_fbtl::{FbtlModule, FbtlTable};
use oxmpi_fcoll::{FcollModule, FcollTable};
use oxmpi_fs::{FsModule, FsTable};
use oxmpi_mca::abi::Opened;
use std::mem::offset_of;

/// Copies a component's table of functions, which begins with its size and its version.
///
/// # Safety
/// `table` must be null or readable for the size it says; `T` is two numbers of four bytes and functions behind them.
unsafe fn read_table<T: Copy>(table: *const T, version: u32, place: &str) -> Result<T, Refusal> {
    let refuse = |field, theirs: String, ours: String| Err(Refusal::new(field, theirs, ours, place));
    if table.is_null() || !table.is_aligned() {
        return refuse("table", format!("{table:p}"), "an aligned address that is not null".into());
    }
    let (base, least) = (table.cast::<u8>(), size_of::<T>());
    // SAFETY: every table begins with size and version.
    let (size, theirs) = unsafe { (size_at(base), *base.add(4).cast::<u32>()) };
    if size < least || size > TABLE_LIMIT || !size.is_multiple_of(8) {
        let ours = format!("a multiple of 8 from {least} to {TABLE_LIMIT} bytes");
        return refuse("table size", format!("{size} bytes"), ours);
    }
    if theirs != version {
        return refuse("table version", theirs.to_string(), version.to_string());
    }
    // SAFETY: `least` bytes are there, and no slot is null.
    unsafe {
        no_null(base, 8, least, place)?;
        Ok(table.read())
    }
}

/// Makes the function that accepts the module of one framework.
macro_rules! accept {
    ($(#[$doc:meta])* $name:ident, $module:ty, $component:ty, $version:expr) => {
        $(#[$doc])*
        /// `None`: the component opened none.
        ///
        /// # Safety
        /// As [`accept_btl`](super::accept_btl).
        pub unsafe fn $name(
            opened: &Opened,
            name: &'static str,
            place: &str,
        ) -> Result<Option<$component>, Refusal> {
            // SAFETY: the caller's promise; up to `query` a module is numbers and plain pointers.
            let module = unsafe { accept_module::<$module>(opened, offset_of!($module, query)..size_of::<$module>(), place)? };
            let Some(module) = module else { return Ok(None) };
            // SAFETY: the caller's promise.
            let table = unsafe { read_table(module.table, $version, place)? };
            Ok(Some(FileComponent { name, module, table }))
        }
    };
}

accept! {
    /// Makes the host's copies of a file system component's module and table.
    accept_fs, FsModule, FsComponent, oxmpi_fs::TABLE_VERSION
}
accept! {
    /// Makes the host's copies of the module and table of a component that transfers file data.
    accept_fbtl, FbtlModule, FbtlComponent, oxmpi_fbtl::TABLE_VERSION
}
accept! {
    /// Makes the host's copies of the module and table of a component that plans collective file access.
    accept_fcoll, FcollModule, FcollComponent, oxmpi_fcoll::TABLE_VERSION
}

const _: () = {
    assert!(
        offset_of!(FsTable, open) == 8
            && offset_of!(FbtlTable, open) == 8
            && offset_of!(FcollTable, plan) == 8
    );
};

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
