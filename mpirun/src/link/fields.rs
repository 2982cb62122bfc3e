//! Lists and texts in the frames of the link.

use oxmpi_wireup::frame::{Builder, Fields, Malformed};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

pub(super) fn put_list<T>(b: Builder, items: &[T], put: impl Fn(Builder, &T) -> Builder) -> Builder {
    items.iter().fold(b.count(items.len()), put)
}

pub(super) fn os(f: &mut Fields<'_>, field: &'static str) -> Result<OsString, Malformed> {
    Ok(OsString::from_vec(f.bytes(field)?.to_vec()))
}

pub(super) fn text(f: &mut Fields<'_>, field: &'static str) -> Result<String, Malformed> {
    Ok(f.text(field)?.to_owned())
}
